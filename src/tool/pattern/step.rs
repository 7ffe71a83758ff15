//! The engine for all other patterns: backtracking as ECMA-262 describes it, every step counted.
//!
//! A match that needs more steps than it is given ends without an answer, so its time is bounded whatever pattern and
//! text are. The tree is turned into a list of operations once; a match keeps its choices on a stack of its own, so
//! deep recursion is bounded by the nesting of groups.

use super::StepLimit;
use super::syntax::{Node, Ranges, Syntax, WORD};

/// Units that a run may take for one step: it is a loop of a few instructions.
const RUN: u64 = 16;

enum Op {
    Set(Class),
    /// A set repeated, the most common loop, without a stack entry a round.
    Run {
        class: Class,
        least: u32,
        most: u32,
        is_lazy: bool,
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
    /// Tries the next operation first, then the one named.
    Split(usize),
    Jump(usize),
    /// Notes the place as an end of a group.
    Note(usize),
    Reference {
        group: usize,
        is_backward: bool,
    },
    /// What stands up to the operation named must be found from here, or must not.
    Look {
        is_negated: bool,
        end: usize,
    },
    Found,
    /// Begins to count rounds.
    Enter(usize),
    /// Decides whether another round begins; the operation behind the loop is named.
    Round {
        counter: usize,
        least: u32,
        most: u32,
        is_lazy: bool,
        end: usize,
    },
    /// Begins a round with its groups empty: from the first to the last of them, if there are any.
    Begin {
        counter: usize,
        groups: Option<(usize, usize)>,
    },
    /// Ends a round; the operation that decides is named.
    Again {
        counter: usize,
        round: usize,
    },
}

struct Class {
    ranges: Ranges,
    is_negated: bool,
    ignores_case: bool,
    /// Reads leftwards, in a look-behind.
    is_backward: bool,
}

pub(super) struct Program {
    ops: Vec<Op>,
    notes: usize,
    counters: usize,
}

/// What is undone when a choice turns out wrong.
enum Undo {
    Choice {
        op: usize,
        at: usize,
    },
    /// The run ends at one of these places instead; the next one is `step` away.
    Places {
        op: usize,
        at: usize,
        last: usize,
    },
    Note {
        note: usize,
        was: Option<usize>,
    },
    Counter {
        counter: usize,
        was: (u32, usize),
    },
}

impl Program {
    pub(super) fn of(syntax: &Syntax) -> Self {
        let mut program = Self { ops: Vec::new(), notes: 2 * (syntax.groups + 1), counters: 0 };
        program.add(&syntax.root, false);
        program.ops.push(Op::Found);
        program
    }

    fn add(&mut self, node: &Node, is_backward: bool) {
        match node {
            Node::Unit { .. } | Node::Set { .. } => self.ops.push(Op::Set(Class::of(node, is_backward).expect("a set"))),
            Node::Start { at_lines } => self.ops.push(Op::Start { at_lines: *at_lines }),
            Node::End { at_lines } => self.ops.push(Op::End { at_lines: *at_lines }),
            Node::Boundary { is_negated } => self.ops.push(Op::Boundary { is_negated: *is_negated }),
            Node::Capture(group, inner) => {
                let (first, last) = if is_backward { (2 * group + 1, 2 * group) } else { (2 * group, 2 * group + 1) };
                self.ops.push(Op::Note(first));
                self.add(inner, is_backward);
                self.ops.push(Op::Note(last));
            }
            Node::Look { behind, is_negated, inner } => {
                let look = self.ops.len();
                self.ops.push(Op::Found);
                self.add(inner, *behind);
                self.ops.push(Op::Found);
                self.ops[look] = Op::Look { is_negated: *is_negated, end: self.ops.len() };
            }
            Node::Reference(group) => self.ops.push(Op::Reference { group: *group, is_backward }),
            Node::Sequence(nodes) if is_backward => nodes.iter().rev().for_each(|node| self.add(node, is_backward)),
            Node::Sequence(nodes) => nodes.iter().for_each(|node| self.add(node, is_backward)),
            Node::Choice(nodes) => self.add_choice(nodes, is_backward),
            Node::Repeat { inner, least, most, is_lazy } => {
                let most = most.unwrap_or(u32::MAX);
                match Class::of(inner, is_backward) {
                    Some(class) => self.ops.push(Op::Run { class, least: *least, most, is_lazy: *is_lazy }),
                    None => self.add_loop(inner, *least, most, *is_lazy, is_backward),
                }
            }
        }
    }

    fn add_choice(&mut self, nodes: &[Node], is_backward: bool) {
        let mut jumps = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            let split = self.ops.len();
            let is_last = at + 1 == nodes.len();
            if !is_last {
                self.ops.push(Op::Found);
            }
            self.add(node, is_backward);
            if !is_last {
                jumps.push(self.ops.len());
                self.ops.push(Op::Found);
                self.ops[split] = Op::Split(self.ops.len());
            }
        }
        let end = self.ops.len();
        for jump in jumps {
            self.ops[jump] = Op::Jump(end);
        }
    }

    fn add_loop(&mut self, inner: &Node, least: u32, most: u32, is_lazy: bool, is_backward: bool) {
        let counter = self.counters;
        self.counters += 1;
        self.ops.push(Op::Enter(counter));
        let round = self.ops.len();
        self.ops.push(Op::Found);
        self.ops.push(Op::Begin { counter, groups: groups_in(inner) });
        self.add(inner, is_backward);
        self.ops.push(Op::Again { counter, round });
        self.ops[round] = Op::Round { counter, least, most, is_lazy, end: self.ops.len() };
    }

    /// Says whether the pattern is found anywhere in `text`. Takes the steps it needs from `steps`.
    pub(super) fn is_match(&self, text: &[u16], steps: &mut u64) -> Result<bool, StepLimit> {
        let mut run =
            Run { program: self, text, notes: vec![None; self.notes], counters: vec![(0, 0); self.counters], undo: Vec::new(), steps };
        for start in 0..=text.len() {
            if run.from(0, start)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the first and last group in a node.
fn groups_in(node: &Node) -> Option<(usize, usize)> {
    match node {
        Node::Capture(group, inner) => Some((*group, groups_in(inner).map_or(*group, |(_, last)| last))),
        Node::Look { inner, .. } | Node::Repeat { inner, .. } => groups_in(inner),
        Node::Sequence(nodes) | Node::Choice(nodes) => {
            let all: Vec<_> = nodes.iter().filter_map(groups_in).collect();
            Some((all.first()?.0, all.last()?.1))
        }
        Node::Unit { .. } | Node::Set { .. } | Node::Start { .. } | Node::End { .. } | Node::Boundary { .. } | Node::Reference(_) => None,
    }
}

impl Class {
    fn of(node: &Node, is_backward: bool) -> Option<Self> {
        match node {
            Node::Unit { unit, ignores_case } => {
                Some(Self { ranges: vec![(*unit, *unit)], is_negated: false, ignores_case: *ignores_case, is_backward })
            }
            Node::Set { ranges, is_negated, ignores_case } => {
                Some(Self { ranges: ranges.clone(), is_negated: *is_negated, ignores_case: *ignores_case, is_backward })
            }
            Node::Sequence(nodes) if nodes.len() == 1 => Self::of(&nodes[0], is_backward),
            _ => None,
        }
    }

    fn has(&self, unit: u16) -> bool {
        let in_ranges = |unit: u32| self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&unit));
        let unit = u32::from(unit);
        let found = in_ranges(unit) || (self.ignores_case && other_cases(unit).into_iter().flatten().any(in_ranges));
        found != self.is_negated
    }

    /// Returns the place behind one unit of the class, if one stands at `at`.
    fn next(&self, text: &[u16], at: usize) -> Option<usize> {
        if self.is_backward {
            let before = at.checked_sub(1)?;
            self.has(text[before]).then_some(before)
        } else {
            self.has(*text.get(at)?).then_some(at + 1)
        }
    }
}

/// Characters that differ from `unit` by case alone, one for one.
fn other_cases(unit: u32) -> [Option<u32>; 2] {
    fn only(mut mapped: impl Iterator<Item = char>) -> Option<u32> {
        mapped.next().filter(|_| mapped.next().is_none()).map(u32::from)
    }
    let Some(c) = char::from_u32(unit) else { return [None, None] };
    [only(c.to_uppercase()), only(c.to_lowercase())]
}

struct Run<'a> {
    program: &'a Program,
    text: &'a [u16],
    notes: Vec<Option<usize>>,
    /// Rounds done, and where the latest one began.
    counters: Vec<(u32, usize)>,
    undo: Vec<Undo>,
    steps: &'a mut u64,
}

impl Run<'_> {
    fn take(&mut self, steps: u64) -> Result<(), StepLimit> {
        *self.steps = self.steps.checked_sub(steps).ok_or_else(|| {
            *self.steps = 0;
            StepLimit
        })?;
        Ok(())
    }

    /// Runs from an operation to [`Op::Found`]. On success what was noted stays, without its choices; else all is as
    /// before.
    fn from(&mut self, op: usize, at: usize) -> Result<bool, StepLimit> {
        let base = self.undo.len();
        let mut state = Some((op, at));
        loop {
            match state {
                Some((op, at)) => {
                    if matches!(self.program.ops[op], Op::Found) {
                        self.forget_choices(base);
                        return Ok(true);
                    }
                    self.take(1)?;
                    state = self.step(op, at)?;
                }
                None => match self.back(base) {
                    Some(choice) => state = Some(choice),
                    None => return Ok(false),
                },
            }
        }
    }

    fn forget_choices(&mut self, base: usize) {
        let kept: Vec<Undo> = self.undo.drain(base..).filter(|undo| matches!(undo, Undo::Note { .. } | Undo::Counter { .. })).collect();
        self.undo.extend(kept);
    }

    /// Undoes what was done since the latest choice, and takes its other branch.
    fn back(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.undo.len() > base {
            match self.undo.pop()? {
                Undo::Choice { op, at } => return Some((op, at)),
                Undo::Places { op, at, last } => {
                    if at != last {
                        let next = if at < last { at + 1 } else { at - 1 };
                        self.undo.push(Undo::Places { op, at: next, last });
                    }
                    return Some((op, at));
                }
                Undo::Note { note, was } => self.notes[note] = was,
                Undo::Counter { counter, was } => self.counters[counter] = was,
            }
        }
        None
    }

    fn note(&mut self, note: usize, place: Option<usize>) {
        self.undo.push(Undo::Note { note, was: self.notes[note] });
        self.notes[note] = place;
    }

    fn count(&mut self, counter: usize, value: (u32, usize)) {
        self.undo.push(Undo::Counter { counter, was: self.counters[counter] });
        self.counters[counter] = value;
    }

    /// Returns the next operation and place, or nothing if this way is wrong.
    fn step(&mut self, op: usize, at: usize) -> Result<Option<(usize, usize)>, StepLimit> {
        let here = |fits: bool| fits.then_some((op + 1, at));
        Ok(match &self.program.ops[op] {
            Op::Set(class) => class.next(self.text, at).map(|at| (op + 1, at)),
            Op::Run { class, least, most, is_lazy } => return self.run(op, at, class, (*least, *most), *is_lazy),
            Op::Start { at_lines } => here(at == 0 || (*at_lines && is_line_end(self.text[at - 1]))),
            Op::End { at_lines } => here(at == self.text.len() || (*at_lines && is_line_end(self.text[at]))),
            Op::Boundary { is_negated } => {
                let is_word =
                    |unit: Option<&u16>| unit.is_some_and(|unit| WORD.iter().any(|(low, high)| (*low..=*high).contains(&u32::from(*unit))));
                let before = at.checked_sub(1).and_then(|before| self.text.get(before));
                here((is_word(before) != is_word(self.text.get(at))) != *is_negated)
            }
            Op::Split(other) => {
                self.undo.push(Undo::Choice { op: *other, at });
                Some((op + 1, at))
            }
            Op::Jump(op) => Some((*op, at)),
            Op::Note(note) => {
                self.note(*note, Some(at));
                Some((op + 1, at))
            }
            Op::Reference { group, is_backward } => return self.reference(op, at, *group, *is_backward),
            Op::Look { is_negated, end } => {
                let base = self.undo.len();
                let found = self.from(op + 1, at)?;
                if *is_negated && found {
                    let nothing = self.back(base);
                    debug_assert!(nothing.is_none(), "a look-around leaves no choices");
                }
                (found != *is_negated).then_some((*end, at))
            }
            Op::Enter(counter) => {
                self.count(*counter, (0, at));
                Some((op + 1, at))
            }
            Op::Round { counter, least, most, is_lazy, end } => {
                let (rounds, _) = self.counters[*counter];
                let (now, other) = if *is_lazy { (*end, op + 1) } else { (op + 1, *end) };
                if rounds >= *most {
                    return Ok(Some((*end, at)));
                }
                if rounds < *least {
                    return Ok(Some((op + 1, at)));
                }
                self.undo.push(Undo::Choice { op: other, at });
                Some((now, at))
            }
            Op::Begin { counter, groups } => {
                let (rounds, _) = self.counters[*counter];
                self.count(*counter, (rounds, at));
                for note in groups.map_or(0..0, |(first, last)| 2 * first..2 * last + 2) {
                    if self.notes[note].is_some() {
                        self.note(note, None);
                    }
                }
                Some((op + 1, at))
            }
            Op::Again { counter, round } => {
                let (rounds, began) = self.counters[*counter];
                let Op::Round { least, .. } = &self.program.ops[*round] else { return Ok(None) };
                // A round beyond the least that takes no text would go on for ever.
                if at == began && rounds >= *least {
                    return Ok(None);
                }
                self.count(*counter, (rounds + 1, began));
                Some((*round, at))
            }
            Op::Found => None,
        })
    }

    fn run(&mut self, op: usize, at: usize, class: &Class, count: (u32, u32), is_lazy: bool) -> Result<Option<(usize, usize)>, StepLimit> {
        let (least, most) = count;
        let mut first = at;
        let mut done = 0;
        while done < least {
            let Some(next) = class.next(self.text, first) else {
                self.take(u64::from(done) / RUN)?;
                return Ok(None);
            };
            first = next;
            done += 1;
        }
        let mut far = first;
        while done < most
            && let Some(next) = class.next(self.text, far)
        {
            far = next;
            done += 1;
        }
        self.take(u64::from(done) / RUN)?;
        let (now, end) = if is_lazy { (first, far) } else { (far, first) };
        if now != end {
            let next = if now < end { now + 1 } else { now - 1 };
            self.undo.push(Undo::Places { op: op + 1, at: next, last: end });
        }
        Ok(Some((op + 1, now)))
    }

    /// A group that has not taken part matches the empty text.
    fn reference(&mut self, op: usize, at: usize, group: usize, is_backward: bool) -> Result<Option<(usize, usize)>, StepLimit> {
        let (Some(start), Some(end)) = (self.notes[2 * group], self.notes[2 * group + 1]) else {
            return Ok(Some((op + 1, at)));
        };
        let group = &self.text[start.min(end)..end.max(start)];
        self.take(group.len() as u64)?;
        let next = if is_backward { at.checked_sub(group.len()) } else { at.checked_add(group.len()) };
        Ok(next.filter(|next| self.text.get(at.min(*next)..at.max(*next)) == Some(group)).map(|next| (op + 1, next)))
    }
}

const fn is_line_end(unit: u16) -> bool {
    matches!(unit, 0x0a | 0x0d | 0x2028 | 0x2029)
}
