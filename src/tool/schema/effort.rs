//! How much work it is to tell all problems of a value.
//!
//! Whether a value conforms is found out in time that grows with schema and value. Telling why not is another matter:
//! each alternative tells its own reasons, and a recursive one those of its alternatives, and so on down the value.

use serde_json::Value;

use super::keyword::Reach;
use super::survey::Survey;

/// Schemas met on the way from the top of a value to its bottom, above which problems are not told one by one.
const BEARABLE: u64 = 20_000;

/// Edges of the schemas, by node: to the same value, to parts of it.
pub(super) struct Effort {
    same: Vec<Vec<usize>>,
    part: Vec<Vec<usize>>,
}

impl Effort {
    pub(super) fn of(survey: &Survey<'_>) -> Self {
        let only = |reach: Reach| {
            let edges = |edges: &[(usize, Reach)]| edges.iter().filter(|(_, found)| *found == reach).map(|(to, _)| *to).collect();
            survey.nodes.iter().map(|node| edges(&node.edges)).collect()
        };
        Self { same: only(Reach::Same), part: only(Reach::Part) }
    }

    /// Says whether all problems of a value may be looked for.
    pub(super) fn is_bearable(&self, value: &Value) -> bool {
        let mut below = vec![0; self.same.len()];
        for _ in 0..=depth(value) {
            let mut here = vec![None; self.same.len()];
            for node in 0..self.same.len() {
                self.count(node, &below, &mut here);
            }
            below = here.into_iter().map(Option::unwrap_or_default).collect();
            if below.first().is_some_and(|count| *count > BEARABLE) {
                return false;
            }
        }
        true
    }

    /// References never lead in a circle for the same value, so this ends; a row of them is short.
    fn count(&self, node: usize, below: &[u64], here: &mut Vec<Option<u64>>) -> u64 {
        if let Some(count) = here[node] {
            return count;
        }
        let same = self.same[node].iter().fold(0_u64, |sum, to| sum.saturating_add(self.count(*to, below, here)));
        let part = self.part[node].iter().map(|to| below[*to]).max().unwrap_or_default();
        let count = same.saturating_add(part).saturating_add(1);
        here[node] = Some(count);
        count
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.values().map(depth).max().map_or(0, |depth| depth + 1),
        Value::Array(items) => items.iter().map(depth).max().map_or(0, |depth| depth + 1),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
