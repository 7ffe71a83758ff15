//! ECMAScript's pattern grammar without the `u` flag (ECMA-262 with Annex B), read into a tree.
//!
//! Without `u` a pattern sees UTF-16 code units, and `\p{…}` is no class. Modifiers such as `(?i:…)` are known.

use super::PatternFault;

/// Nested groups (ours: bounds the recursion here and in the engines).
const DEPTH: usize = 60;
/// The largest number in braces (ours: no text in a manifest or frame is longer).
const COUNT: u32 = 5_000_000;

/// Ranges of units, both ends included.
pub(super) type Ranges = Vec<(u32, u32)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Unit {
        unit: u32,
        ignores_case: bool,
    },
    Set {
        ranges: Ranges,
        is_negated: bool,
        ignores_case: bool,
    },
    Start {
        at_lines: bool,
    },
    End {
        at_lines: bool,
    },
    Boundary {
        is_negated: bool,
    },
    /// Numbered from 1.
    Capture(usize, Box<Self>),
    Look {
        behind: bool,
        is_negated: bool,
        inner: Box<Self>,
    },
    Reference(usize),
    Sequence(Vec<Self>),
    Choice(Vec<Self>),
    Repeat {
        inner: Box<Self>,
        least: u32,
        most: Option<u32>,
        is_lazy: bool,
    },
}

#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) root: Node,
    pub(super) groups: usize,
    /// The construct that only a backtracking engine has.
    pub(super) non_linear: Option<&'static str>,
}

/// What a pattern and its text are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    /// Code units, as ECMAScript has it.
    Utf16,
    /// Characters, for an engine that knows only those.
    Whole,
}

pub(super) fn read(pattern: &str, units_are: Units) -> Result<Syntax, PatternFault> {
    let units: Vec<u32> = match units_are {
        Units::Utf16 => pattern.encode_utf16().map(u32::from).collect(),
        Units::Whole => pattern.chars().map(u32::from).collect(),
    };
    let groups = Groups::of(&units);
    if groups.repeats_a_name {
        return Err(fault("two groups have the same name"));
    }
    let count = groups.count;
    let mut parser = Parser { units: &units, units_are, at: 0, groups, next_group: 1, non_linear: None };
    let root = parser.choice(0, Flags::default())?;
    match parser.peek() {
        None => Ok(Syntax { root, groups: count, non_linear: parser.non_linear }),
        Some(_) => Err(fault("unmatched `)`")),
    }
}

fn fault(message: impl Into<String>) -> PatternFault {
    PatternFault { message: message.into() }
}

/// What has to be known of the groups before the first character can be read.
struct Groups {
    count: usize,
    names: Vec<(Vec<u32>, usize)>,
    repeats_a_name: bool,
}

impl Groups {
    fn of(units: &[u32]) -> Self {
        let mut groups = Self { count: 0, names: Vec::new(), repeats_a_name: false };
        let mut in_class = false;
        let mut at = 0;
        while at < units.len() {
            match char::from_u32(units[at]) {
                Some('\\') => at += 1,
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('(') if !in_class => groups.open(&units[at + 1..]),
                _ => {}
            }
            at += 1;
        }
        groups
    }

    fn open(&mut self, rest: &[u32]) {
        let is = |at: usize, c: char| rest.get(at) == Some(&u32::from(c));
        if !is(0, '?') {
            self.count += 1;
        } else if is(1, '<') && !is(2, '=') && !is(2, '!') {
            self.count += 1;
            let name: Vec<u32> = rest[2..].iter().copied().take_while(|unit| *unit != u32::from('>')).collect();
            self.repeats_a_name |= self.names.iter().any(|(known, _)| *known == name);
            self.names.push((name, self.count));
        }
    }
}

/// The modifiers in force.
#[derive(Clone, Copy, Default)]
struct Flags {
    ignores_case: bool,
    at_lines: bool,
    dot_all: bool,
}

struct Parser<'a> {
    units: &'a [u32],
    units_are: Units,
    at: usize,
    groups: Groups,
    next_group: usize,
    non_linear: Option<&'static str>,
}

/// What stands behind a backslash, in a class or not.
enum Escape {
    Set(Ranges),
    Unit(u32),
}

impl Parser<'_> {
    /// Returns the next unit as a character; half a character as U+FFFD, which means nothing special either.
    fn peek(&self) -> Option<char> {
        self.units.get(self.at).map(|unit| char::from_u32(*unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(offset, c)| self.units.get(self.at + offset) == Some(&u32::from(c)));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn choice(&mut self, depth: usize, flags: Flags) -> Result<Node, PatternFault> {
        if depth > DEPTH {
            return Err(fault(format!("groups are nested deeper than {DEPTH} levels")));
        }
        let mut branches = vec![Vec::new()];
        loop {
            match self.peek() {
                None | Some(')') => break,
                Some('|') => {
                    self.at += 1;
                    branches.push(Vec::new());
                }
                Some(_) => {
                    let term = self.repeated_term(depth, flags)?;
                    branches.last_mut().expect("there is always a branch").push(term);
                }
            }
        }
        let mut nodes: Vec<Node> =
            branches.into_iter().map(|mut terms| if terms.len() == 1 { terms.swap_remove(0) } else { Node::Sequence(terms) }).collect();
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Choice(nodes) })
    }

    fn repeated_term(&mut self, depth: usize, flags: Flags) -> Result<Node, PatternFault> {
        let term = self.term(depth, flags)?;
        let Some((least, most)) = self.quantifier()? else { return Ok(term) };
        // Annex B lets a look-ahead be repeated, and no other assertion.
        if matches!(term, Node::Start { .. } | Node::End { .. } | Node::Boundary { .. } | Node::Look { behind: true, .. }) {
            return Err(fault("an assertion can't be repeated"));
        }
        let is_lazy = self.eat("?");
        Ok(Node::Repeat { inner: Box::new(term), least, most, is_lazy })
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, PatternFault> {
        let range = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.braces(),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(range))
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`; anything else with a brace is a plain character (Annex B).
    fn braces(&mut self) -> Result<Option<(u32, Option<u32>)>, PatternFault> {
        let start = self.at;
        self.at += 1;
        let range = self.number().and_then(|least| {
            if self.eat("}") {
                Some((least, Some(least)))
            } else if self.eat(",}") {
                Some((least, None))
            } else if self.eat(",") {
                self.number().filter(|_| self.eat("}")).map(|most| (least, Some(most)))
            } else {
                None
            }
        });
        match range {
            None => {
                self.at = start;
                Ok(None)
            }
            Some((least, Some(most))) if least > most => Err(fault("the numbers in braces are out of order")),
            Some((least, most)) if most.unwrap_or(least) > COUNT => Err(fault(format!("it repeats more than {COUNT} times"))),
            Some(range) => Ok(Some(range)),
        }
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = Some(number.unwrap_or(0_u32).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        number
    }

    fn term(&mut self, depth: usize, flags: Flags) -> Result<Node, PatternFault> {
        let Some(c) = self.peek() else { return Err(fault("it ends too early")) };
        if c == '{' && self.braces()?.is_some() {
            return Err(fault("there is nothing to repeat"));
        }
        let unit = self.units[self.at];
        self.at += 1;
        Ok(match c {
            '^' => Node::Start { at_lines: flags.at_lines },
            '$' => Node::End { at_lines: flags.at_lines },
            '(' => self.group(depth, flags)?,
            '.' => {
                let ranges = if flags.dot_all { Vec::new() } else { LINE_END.to_vec() };
                Node::Set { ranges, is_negated: true, ignores_case: false }
            }
            '[' => self.class(flags)?,
            '\\' => self.escape(flags)?,
            '*' | '+' | '?' => return Err(fault("there is nothing to repeat")),
            _ => Node::Unit { unit, ignores_case: flags.ignores_case },
        })
    }

    fn group(&mut self, depth: usize, flags: Flags) -> Result<Node, PatternFault> {
        let look = [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)];
        if let Some((_, behind, is_negated)) = look.into_iter().find(|(start, ..)| self.eat(start)) {
            self.non_linear.get_or_insert(if behind { "look-behind" } else { "look-ahead" });
            let inner = Box::new(self.group_end(depth, flags)?);
            return Ok(Node::Look { behind, is_negated, inner });
        }
        if self.eat("?:") {
            return self.group_end(depth, flags);
        }
        if self.eat("?<") {
            self.group_name()?;
        } else if self.eat("?") {
            let flags = self.modifiers(flags)?;
            return self.group_end(depth, flags);
        }
        let group = self.next_group;
        self.next_group += 1;
        Ok(Node::Capture(group, Box::new(self.group_end(depth, flags)?)))
    }

    fn group_end(&mut self, depth: usize, flags: Flags) -> Result<Node, PatternFault> {
        let inner = self.choice(depth + 1, flags)?;
        // A group of one is a sequence, so that what follows repeats the whole and an assertion may be repeated.
        if self.eat(")") { Ok(Node::Sequence(vec![inner])) } else { Err(fault("a group is not closed")) }
    }

    fn group_name(&mut self) -> Result<Vec<u32>, PatternFault> {
        let name: Vec<u32> = self.units[self.at..].iter().copied().take_while(|unit| *unit != u32::from('>')).collect();
        self.at += name.len();
        let may_start = |c: char| c.is_alphabetic() || matches!(c, '$' | '_');
        let may_follow = |c: char| may_start(c) || c.is_alphanumeric() || matches!(c, '\u{200c}' | '\u{200d}');
        // Halves of characters may be letters.
        let is_name = name
            .iter()
            .enumerate()
            .all(|(at, unit)| char::from_u32(*unit).is_none_or(|c| if at == 0 { may_start(c) } else { may_follow(c) }));
        if is_name && !name.is_empty() && self.eat(">") { Ok(name) } else { Err(fault("a group has no proper name")) }
    }

    /// Reads `ims-ims:` of ES2025.
    fn modifiers(&mut self, mut flags: Flags) -> Result<Flags, PatternFault> {
        let mut on = true;
        let mut seen = Vec::new();
        loop {
            let c = self.peek();
            self.at += 1;
            match c {
                Some(':') if !seen.is_empty() => return Ok(flags),
                Some('-') if on => on = false,
                Some(c @ ('i' | 'm' | 's')) if !seen.contains(&c) => {
                    seen.push(c);
                    match c {
                        'i' => flags.ignores_case = on,
                        'm' => flags.at_lines = on,
                        _ => flags.dot_all = on,
                    }
                }
                _ => return Err(fault("`(?` starts no group that ECMAScript knows")),
            }
        }
    }

    fn escape(&mut self, flags: Flags) -> Result<Node, PatternFault> {
        match self.peek() {
            Some(c @ ('b' | 'B')) => {
                self.at += 1;
                return Ok(Node::Boundary { is_negated: c == 'B' });
            }
            Some('k') if !self.groups.names.is_empty() => {
                self.at += 1;
                let name = if self.eat("<") { self.group_name()? } else { Vec::new() };
                let group = self.groups.names.iter().find(|(known, _)| *known == name).map(|(_, group)| *group);
                let group = group.ok_or_else(|| fault("`\\k` names no group"))?;
                return Ok(self.reference(group));
            }
            Some('1'..='9') => {
                let start = self.at;
                let group = self.number().and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX);
                if group <= self.groups.count {
                    return Ok(self.reference(group));
                }
                self.at = start;
            }
            _ => {}
        }
        Ok(match self.class_escape()? {
            Escape::Set(ranges) => Node::Set { ranges, is_negated: false, ignores_case: false },
            Escape::Unit(unit) => Node::Unit { unit, ignores_case: flags.ignores_case },
        })
    }

    fn reference(&mut self, group: usize) -> Node {
        self.non_linear.get_or_insert("a back-reference");
        Node::Reference(group)
    }

    /// Reads what stands behind a backslash and means the same in a class.
    fn class_escape(&mut self) -> Result<Escape, PatternFault> {
        let c = self.peek().ok_or_else(|| fault("it ends in a backslash"))?;
        let itself = self.units[self.at];
        self.at += 1;
        let unit = match c {
            'd' => return Ok(Escape::Set(DIGIT.to_vec())),
            'D' => return Ok(Escape::Set(complement(DIGIT))),
            'w' => return Ok(Escape::Set(WORD.to_vec())),
            'W' => return Ok(Escape::Set(complement(WORD))),
            's' => return Ok(Escape::Set(SPACE.to_vec())),
            'S' => return Ok(Escape::Set(complement(SPACE))),
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            'c' => {
                if let Some(letter) = self.peek().filter(char::is_ascii_alphabetic) {
                    self.at += 1;
                    u32::from(letter) % 32
                } else {
                    self.at -= 1;
                    u32::from('\\')
                }
            }
            'x' => self.hex(2).unwrap_or(itself),
            'u' => self.hex(4).map_or(itself, |unit| self.whole(unit)),
            '0'..='7' => self.octal(itself),
            _ => itself,
        };
        Ok(Escape::Unit(unit))
    }

    fn hex(&mut self, count: usize) -> Option<u32> {
        let digits = self.units.get(self.at..self.at + count)?;
        let digit = |unit: &u32| char::from_u32(*unit).and_then(|c| c.to_digit(16));
        let value = digits.iter().try_fold(0, |sum, unit| digit(unit).map(|digit| sum * 16 + digit))?;
        self.at += count;
        Some(value)
    }

    /// Where the units are whole characters, two escapes in a row may be one.
    fn whole(&mut self, high: u32) -> u32 {
        let start = self.at;
        if self.units_are == Units::Whole
            && (0xd800..0xdc00).contains(&high)
            && self.eat("\\u")
            && let Some(low @ 0xdc00..=0xdfff) = self.hex(4)
        {
            return 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        }
        self.at = start;
        high
    }

    /// Reads up to `\377` (Annex B).
    fn octal(&mut self, first: u32) -> u32 {
        let mut value = first - u32::from('0');
        for _ in 0..2 {
            match self.peek().and_then(|c| c.to_digit(8)) {
                Some(digit) if value * 8 + digit <= 0o377 => {
                    value = value * 8 + digit;
                    self.at += 1;
                }
                _ => break,
            }
        }
        value
    }

    fn class(&mut self, flags: Flags) -> Result<Node, PatternFault> {
        let is_negated = self.eat("^");
        let mut ranges = Ranges::new();
        while self.peek() != Some(']') {
            let first = self.class_atom()?;
            let next = self.units.get(self.at + 1).copied();
            if self.peek() == Some('-') && next.is_some_and(|unit| unit != u32::from(']')) {
                self.at += 1;
                let second = self.class_atom()?;
                match (first, second) {
                    (Escape::Unit(low), Escape::Unit(high)) if low <= high => ranges.push((low, high)),
                    (Escape::Unit(_), Escape::Unit(_)) => return Err(fault("a range in a class is out of order")),
                    // A set at either side makes the hyphen a plain one (Annex B).
                    (first, second) => {
                        ranges.extend(first.ranges());
                        ranges.push((u32::from('-'), u32::from('-')));
                        ranges.extend(second.ranges());
                    }
                }
            } else {
                ranges.extend(first.ranges());
            }
        }
        self.at += 1;
        Ok(Node::Set { ranges, is_negated, ignores_case: flags.ignores_case })
    }

    fn class_atom(&mut self) -> Result<Escape, PatternFault> {
        let c = self.peek().ok_or_else(|| fault("a class is not closed"))?;
        let unit = self.units[self.at];
        self.at += 1;
        if c != '\\' {
            return Ok(Escape::Unit(unit));
        }
        if self.eat("b") {
            return Ok(Escape::Unit(8));
        }
        // In a class `\c` takes digits and `_` too (Annex B).
        if self.peek() == Some('c')
            && let Some(control) = self.units.get(self.at + 1).copied().and_then(char::from_u32)
            && (control.is_ascii_digit() || control == '_')
        {
            self.at += 2;
            return Ok(Escape::Unit(u32::from(control) % 32));
        }
        self.class_escape()
    }
}

impl Escape {
    fn ranges(self) -> Ranges {
        match self {
            Self::Set(ranges) => ranges,
            Self::Unit(unit) => vec![(unit, unit)],
        }
    }
}

const LINE_END: &[(u32, u32)] = &[(0x0a, 0x0a), (0x0d, 0x0d), (0x2028, 0x2029)];
const DIGIT: &[(u32, u32)] = &[(0x30, 0x39)];
pub(super) const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];
const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0d),
    (0x20, 0x20),
    (0xa0, 0xa0),
    (0x1680, 0x1680),
    (0x2000, 0x200a),
    (0x2028, 0x2029),
    (0x202f, 0x202f),
    (0x205f, 0x205f),
    (0x3000, 0x3000),
    (0xfeff, 0xfeff),
];

fn complement(ranges: &[(u32, u32)]) -> Ranges {
    let mut from = 0;
    let mut gaps = Ranges::new();
    for (low, high) in ranges {
        if from < *low {
            gaps.push((from, low - 1));
        }
        from = high + 1;
    }
    gaps.push((from, 0x10_ffff));
    gaps
}
