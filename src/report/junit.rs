//! `JUnit` XML, as CI systems read it: one suite, a case each, at most one failure a case.

use std::fmt::Write as _;

use crate::base::text::visible_lines;

pub(super) struct Suite {
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
}

pub(super) struct Case {
    pub(super) class: String,
    pub(super) name: String,
    pub(super) duration_ms: u64,
    /// What it said; none if empty.
    pub(super) output: String,
    pub(super) verdict: Verdict,
}

pub(super) enum Verdict {
    Passed,
    /// It ran and the answer is no.
    Failed {
        kind: String,
        message: String,
        text: String,
    },
    /// It could not be run to its end.
    Broke {
        kind: String,
        message: String,
        text: String,
    },
    Skipped,
}

impl Suite {
    pub(super) fn to_xml(&self) -> String {
        let count = |is_it: fn(&Verdict) -> bool| self.cases.iter().filter(|case| is_it(&case.verdict)).count();
        let (failures, errors) =
            (count(|verdict| matches!(verdict, Verdict::Failed { .. })), count(|verdict| matches!(verdict, Verdict::Broke { .. })));
        let skipped = count(|verdict| matches!(verdict, Verdict::Skipped));
        let totals = format!(
            "tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{}\"",
            self.cases.len(),
            seconds(self.cases.iter().map(|case| case.duration_ms).sum())
        );
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {totals}>\n  <testsuite name=\"{}\" {totals}>\n",
            escaped(&self.name)
        );
        for case in &self.cases {
            case.write(&mut out);
        }
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }
}

impl Case {
    fn write(&self, out: &mut String) {
        let (class, name, time) = (escaped(&self.class), escaped(&self.name), seconds(self.duration_ms));
        write!(out, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time}\">").expect("a String takes any text");
        match &self.verdict {
            Verdict::Passed => {}
            Verdict::Skipped => out.push_str("<skipped/>"),
            Verdict::Failed { kind, message, text } => write_trouble(out, "failure", kind, message, text),
            Verdict::Broke { kind, message, text } => write_trouble(out, "error", kind, message, text),
        }
        if !self.output.is_empty() {
            write!(out, "<system-out>{}</system-out>", escaped(&self.output)).expect("a String takes any text");
        }
        out.push_str("</testcase>\n");
    }
}

fn write_trouble(out: &mut String, element: &str, kind: &str, message: &str, text: &str) {
    let (kind, message, text) = (escaped(kind), escaped(message), escaped(text));
    write!(out, "<{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>").expect("a String takes any text");
}

/// XML 1.0 can't hold most control characters at all, not even escaped: they are made visible.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_lines(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_well_formed_whatever_the_texts_are() {
        let failed = Verdict::Failed { kind: "k".into(), message: "a<b>\"&\u{1}".into(), text: "two\nlines]]>".into() };
        let cases = vec![
            Case { class: "c".into(), name: "good".into(), duration_ms: 1234, output: "said".into(), verdict: Verdict::Passed },
            Case { class: "c".into(), name: "bad".into(), duration_ms: 5, output: String::new(), verdict: failed },
            Case { class: "c".into(), name: "left".into(), duration_ms: 0, output: String::new(), verdict: Verdict::Skipped },
        ];
        insta::assert_snapshot!(Suite { name: "s".into(), cases }.to_xml(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites tests="3" failures="1" errors="0" skipped="1" time="1.239">
          <testsuite name="s" tests="3" failures="1" errors="0" skipped="1" time="1.239">
            <testcase classname="c" name="good" time="1.234"><system-out>said</system-out></testcase>
            <testcase classname="c" name="bad" time="0.005"><failure type="k" message="a&lt;b&gt;&quot;&amp;\u{1}">two
        lines]]&gt;</failure></testcase>
            <testcase classname="c" name="left" time="0.000"><skipped/></testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
