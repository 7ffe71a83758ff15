//! Golden results: what cases gave, written into their files as what they demand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::case::{CaseError, CaseSource, with_demand};
use super::run::CaseReport;
use crate::base::files::write_atomically;
use crate::base::text::visible;

/// Writes the results of cases from files into those files, and returns which files changed. Everything else in them
/// stays as it was written.
pub(crate) fn update(reports: &mut [CaseReport]) -> Result<Vec<PathBuf>, CaseError> {
    let mut by_file: BTreeMap<PathBuf, Vec<(usize, &mut CaseReport)>> = BTreeMap::new();
    for report in reports {
        if let CaseSource::File { path, at } = report.case.source.clone() {
            by_file.entry(path).or_default().push((at, report));
        }
    }
    let mut changed = Vec::new();
    for (path, reports) in by_file {
        let unwritable = |source| CaseError::Unwritable { file: visible(&path.to_string_lossy()).into_owned(), source };
        let before = std::fs::read(&path).map_err(unwritable)?;
        let mut text = before.clone();
        let mut written = Vec::new();
        for (at, report) in reports {
            if let Some(demand) = report.golden()
                && let Some(updated) = with_demand(&text, at, &demand)
            {
                text = updated.into_bytes();
                written.push(report);
            }
        }
        if text != before {
            write_atomically(&path, &text).map_err(unwritable)?;
            for report in written {
                report.meets_its_file();
            }
            changed.push(path);
        }
    }
    Ok(changed)
}
