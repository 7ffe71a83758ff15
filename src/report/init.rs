//! What `init` wrote, or could write.

use std::fmt::Write as _;

use serde::Serialize;

use super::{OutputError, Reporter};
use crate::base::text::visible;
use crate::ops::init::{Initialized, Template};

#[derive(Serialize)]
struct InitializedWire<'a> {
    path: &'a str,
    template: &'a str,
    id: &'a str,
    files: &'a [&'static str],
    next: &'a [String],
}

#[derive(Serialize)]
struct TemplatesWire {
    templates: Vec<TemplateWire>,
}

#[derive(Serialize)]
struct TemplateWire {
    name: &'static str,
    description: &'static str,
}

impl Reporter {
    pub(crate) fn initialized(&self, initialized: &Initialized) -> Result<(), OutputError> {
        let Initialized { path, template, id, files, next } = initialized;
        let data = InitializedWire { path, template, id: id.as_str(), files, next };
        self.answer(true, &data, |_| {
            let mut out = format!("wrote {id} from the template `{template}` to {}\n", visible(path));
            for file in files {
                writeln!(out, "  {file}").expect("a String takes any text");
            }
            out.push_str("next:\n");
            for command in next {
                writeln!(out, "  {}", visible(command)).expect("a String takes any text");
            }
            out
        })
    }

    pub(crate) fn templates(&self, templates: &[&Template]) -> Result<(), OutputError> {
        let wire = |template: &&Template| TemplateWire { name: template.name, description: template.description };
        let data = TemplatesWire { templates: templates.iter().map(wire).collect() };
        self.answer(true, &data, |_| {
            let width = templates.iter().map(|template| template.name.len()).max().unwrap_or(0);
            let lines: Vec<String> =
                templates.iter().map(|template| format!("{:<width$}  {}\n", template.name, template.description)).collect();
            lines.concat()
        })
    }
}
