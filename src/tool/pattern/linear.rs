//! The engine for patterns without look-around, back-references and high counts: an automaton built as the text needs
//! it, in time linear in the text.
//!
//! The automaton knows characters and the pattern code units, so a character beyond U+FFFF becomes two of a private
//! range, in the pattern and in the text.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Mutex;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Input, util::syntax};

use super::syntax::{Node, Syntax, Units};

/// Counts multiplied out, in characters and classes: above it one state of the automaton may take longer to build
/// than a step-limited match takes as a whole.
const WEIGHT: u64 = 400;
/// Bytes of states that are kept, and how often that much may be built anew in one match. Ordinary patterns need
/// some kilobytes; `[ab]*a[ab]{300}` needs a new state for each character.
const STATES_BYTES: usize = 192 * 1024;
const REBUILDS: usize = 2;

/// Halves of characters stand this far from their code units.
const HALVES: u32 = 0x10_0000;

pub(super) struct Engine {
    dfa: DFA,
    /// States that earlier matches built.
    cache: Mutex<Option<Cache>>,
}

/// The automaton became too large for this text.
pub(super) struct GaveUp;

impl Engine {
    /// Says whether the engine is the right one for a pattern.
    pub(super) fn suits(syntax: &Syntax) -> bool {
        syntax.non_linear.is_none() && weight(&syntax.root) <= WEIGHT
    }

    pub(super) fn build(syntax: &Syntax) -> Option<Self> {
        let states = DFA::config().cache_capacity(STATES_BYTES).skip_cache_capacity_check(true).minimum_cache_clear_count(Some(REBUILDS));
        // Only whole characters can match, but a word boundary of ASCII words is judged between bytes.
        let dfa = DFA::builder()
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false).which_captures(WhichCaptures::None))
            .configure(states)
            .build(&written(syntax, Units::Utf16))
            .ok()?;
        Some(Self { dfa, cache: Mutex::new(None) })
    }

    pub(super) fn is_match(&self, text: &str) -> Result<bool, GaveUp> {
        let text = code_units(text);
        let kept = self.cache.lock().ok().and_then(|mut cache| cache.take());
        let mut cache = kept.unwrap_or_else(|| self.dfa.create_cache());
        let found = self.dfa.try_search_fwd(&mut cache, &Input::new(&*text).earliest(true));
        // Each match may build as much as the first one.
        if cache.clear_count() == 0
            && let Ok(mut place) = self.cache.lock()
        {
            *place = Some(cache);
        }
        found.map(|end| end.is_some()).map_err(|_| GaveUp)
    }
}

/// Returns `text` with each character beyond U+FFFF as two of U+10D800 to U+10DFFF, its halves. Such characters in
/// the text itself are beyond U+FFFF too, so nothing collides.
fn code_units(text: &str) -> Cow<'_, str> {
    // The first byte of every character beyond U+FFFF is F0 or more.
    if text.bytes().all(|byte| byte < 0xf0) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.encode_utf16().filter_map(|unit| unit_char(u32::from(unit))).collect())
}

/// Returns the character that stands for a code unit.
fn unit_char(unit: u32) -> Option<char> {
    char::from_u32(if (0xd800..0xe000).contains(&unit) { unit + HALVES } else { unit })
}

fn weight(node: &Node) -> u64 {
    match node {
        Node::Unit { .. } | Node::Set { .. } => 1,
        // The automaton knows one kind of line end only.
        Node::Start { at_lines } | Node::End { at_lines } => {
            if *at_lines {
                WEIGHT + 1
            } else {
                0
            }
        }
        Node::Boundary { .. } | Node::Reference(_) => 0,
        Node::Capture(_, inner) | Node::Look { inner, .. } => weight(inner),
        Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().fold(0, |sum, node| sum.saturating_add(weight(node))),
        Node::Repeat { inner, least, most, .. } => weight(inner).max(1).saturating_mul(u64::from(most.unwrap_or(*least).max(1))),
    }
}

/// Returns a pattern in the grammar of the `regex` and `fancy-regex` crates.
pub(super) fn written(syntax: &Syntax, units: Units) -> String {
    let mut writer = Writer { out: String::new(), units, has_references: has_references(&syntax.root), open: Vec::new() };
    writer.node(&syntax.root);
    writer.out
}

fn has_references(node: &Node) -> bool {
    match node {
        Node::Reference(_) => true,
        Node::Capture(_, inner) | Node::Look { inner, .. } | Node::Repeat { inner, .. } => has_references(inner),
        Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().any(has_references),
        Node::Unit { .. } | Node::Set { .. } | Node::Start { .. } | Node::End { .. } | Node::Boundary { .. } => false,
    }
}

/// Says whether a node is written as nothing at all.
fn is_empty(node: &Node) -> bool {
    match node {
        Node::Capture(_, inner) => is_empty(inner),
        Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().all(is_empty),
        _ => false,
    }
}

struct Writer {
    out: String,
    units: Units,
    /// Groups are numbered only where something refers to one.
    has_references: bool,
    /// The groups around what is written now.
    open: Vec<usize>,
}

const ANY: &str = r"[\x{0}-\x{10ffff}]";
const NOTHING: &str = r"[^\x{0}-\x{10ffff}]";

impl Writer {
    fn node(&mut self, node: &Node) {
        match node {
            Node::Unit { unit, ignores_case } => self.set(&[(*unit, *unit)], false, *ignores_case),
            Node::Set { ranges, is_negated, ignores_case } => self.set(ranges, *is_negated, *ignores_case),
            Node::Start { at_lines } => self.out.push_str(if *at_lines { "(?m:^)" } else { "^" }),
            Node::End { at_lines } => self.out.push_str(if *at_lines { "(?m:$)" } else { "$" }),
            Node::Boundary { is_negated } => self.out.push_str(match (self.units, is_negated) {
                (Units::Utf16, false) => r"(?-u:\b)",
                (Units::Utf16, true) => r"(?-u:\B)",
                // The backtracking engine has no boundary between ASCII words only.
                (Units::Whole, false) => "(?:(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?![0-9A-Za-z_]))",
                (Units::Whole, true) => "(?:(?<![0-9A-Za-z_])(?![0-9A-Za-z_])|(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_]))",
            }),
            Node::Capture(group, inner) => {
                self.open.push(*group);
                self.group(if self.has_references { "(" } else { "(?:" }, inner);
                self.open.pop();
            }
            // In itself a group has taken no part yet. The engine refuses that.
            Node::Reference(group) if self.open.contains(group) => self.out.push_str("(?:)"),
            Node::Look { behind, is_negated, inner } => self.group(
                match (behind, is_negated) {
                    (false, false) => "(?=",
                    (false, true) => "(?!",
                    (true, false) => "(?<=",
                    (true, true) => "(?<!",
                },
                inner,
            ),
            // A group that has not taken part matches the empty text in ECMAScript, and nothing in the engine, which has no
            // other way to say it.
            Node::Reference(group) => write!(self.out, "(?:\\{group})").expect("a String takes all text"),
            Node::Sequence(nodes) => {
                self.out.push_str("(?:");
                for node in nodes {
                    self.node(node);
                }
                self.out.push(')');
            }
            Node::Choice(nodes) => {
                for (at, node) in nodes.iter().enumerate() {
                    self.out.push_str(if at == 0 { "(?:" } else { "|" });
                    self.node(node);
                }
                self.out.push(')');
            }
            Node::Repeat { inner, least, most, .. } if matches!(**inner, Node::Look { .. }) => {
                // Repeating what takes no text means once, or maybe.
                self.out.push_str("(?:");
                if *most != Some(0) {
                    self.node(inner);
                }
                self.out.push_str(if *least == 0 { "|)" } else { ")" });
            }
            // Once is as often as any; the engine refuses to repeat nothing.
            Node::Repeat { inner, .. } if is_empty(inner) => self.group("(?:", inner),
            Node::Repeat { inner, least, most, is_lazy } => {
                self.group("(?:", inner);
                match (least, most) {
                    (0, None) => self.out.push('*'),
                    (least, None) => write!(self.out, "{{{least},}}").expect("a String takes all text"),
                    (least, Some(most)) => write!(self.out, "{{{least},{most}}}").expect("a String takes all text"),
                }
                if *is_lazy {
                    self.out.push('?');
                }
            }
        }
    }

    fn group(&mut self, start: &str, inner: &Node) {
        self.out.push_str(start);
        self.node(inner);
        self.out.push(')');
    }

    fn set(&mut self, ranges: &[(u32, u32)], is_negated: bool, ignores_case: bool) {
        let mut parts: Vec<(u32, u32)> = Vec::new();
        for &(low, high) in ranges {
            // Below, among and above the surrogates, which are no characters.
            for (from, to, shift) in [(0, 0xd7ff, 0), (0xd800, 0xdfff, HALVES), (0xe000, 0x10_ffff, 0)] {
                let (low, high) = (low.max(from), high.min(to));
                if low <= high && (shift == 0 || self.units == Units::Utf16) {
                    parts.push((low + shift, high + shift));
                }
            }
        }
        if parts.is_empty() {
            return self.out.push_str(if is_negated { ANY } else { NOTHING });
        }
        if ignores_case {
            self.out.push_str("(?i:");
        }
        match (&parts[..], is_negated) {
            ([(low, high)], false) if low == high => push(*low, &mut self.out),
            _ => {
                self.out.push_str(if is_negated { "[^" } else { "[" });
                for (low, high) in parts {
                    push(low, &mut self.out);
                    if low != high {
                        self.out.push('-');
                        push(high, &mut self.out);
                    }
                }
                self.out.push(']');
            }
        }
        if ignores_case {
            self.out.push(')');
        }
    }
}

/// Letters and digits mean themselves everywhere.
fn push(unit: u32, out: &mut String) {
    match char::from_u32(unit) {
        Some(c) if c.is_ascii_alphanumeric() => out.push(c),
        _ => write!(out, "\\x{{{unit:x}}}").expect("a String takes all text"),
    }
}
