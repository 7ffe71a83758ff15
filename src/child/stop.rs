//! Stopping a process and everything it started, by a timetable (design §4, stop).
//!
//! The caller asks politely and keeps reading the pipes; this says when to be firm and sees to it that nothing is left.
//! The tree of a child is its process group, what hangs below it, and the orphans that came to us with its marker.

use std::time::{Duration, Instant};

use super::spawn::{Child, Exit, live};
use super::system::{self, Force, Seen};
use crate::base::limits::{STOP_KILL, STOP_REAP, STOP_TERM};

/// The first pause between two looks at what is left, and the longest.
const PAUSE: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// How long a dropped child's end is waited for (ours: nobody is there to wait longer).
const DROPPED: Duration = Duration::from_millis(100);

/// Where a stop stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    since: Instant,
    step: Step,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Asked,
    Terminated,
    Killed,
}

impl Stop {
    /// A stop that begins with the polite request, which is the caller's to make.
    pub(crate) fn ask(now: Instant) -> Self {
        Self { since: now, step: Step::Asked }
    }

    /// A stop without a polite part: the tree is killed.
    pub(crate) fn kill(child: &mut Child, now: Instant) -> Self {
        child.kill_tree();
        Self { since: now.checked_sub(STOP_KILL).unwrap_or(now), step: Step::Killed }
    }

    /// Returns when [`Self::advance`] is to be called, unless the child ends before.
    pub(crate) fn due(&self) -> Instant {
        match self.step {
            Step::Asked => self.since + STOP_TERM,
            Step::Terminated => self.since + STOP_KILL,
            Step::Killed => self.since + STOP_REAP,
        }
    }

    /// Takes the next step; false if there is none and the child has to be left as it is.
    pub(crate) fn advance(&mut self, child: &mut Child) -> bool {
        match self.step {
            Step::Asked => {
                child.terminate_tree();
                self.step = Step::Terminated;
                true
            }
            Step::Terminated => {
                child.kill_tree();
                self.step = Step::Killed;
                true
            }
            Step::Killed => false,
        }
    }

    /// Says whether the child has been signalled.
    pub(crate) fn is_firm(&self) -> bool {
        self.step != Step::Asked
    }

    /// Returns when all has to be over.
    pub(crate) fn reap_by(&self) -> Instant {
        self.since + STOP_REAP
    }
}

impl Child {
    /// SIGTERM to the group, and to what left the group.
    fn terminate_tree(&mut self) {
        if self.exit.is_some() {
            return;
        }
        let leader = self.process.id();
        self.look();
        system::signal_group(leader, Force::Term);
        for seen in &self.seen {
            if system::seen(seen.pid).as_ref() == Some(seen) && !system::is_in_group(seen.pid, leader) {
                system::signal_one(seen.pid, Force::Term);
            }
        }
    }

    /// SIGKILL to the group. What left it comes to us as its parents die, and [`Self::clear`] finds it there.
    fn kill_tree(&mut self) {
        if self.exit.is_some() {
            return;
        }
        self.look();
        system::signal_group(self.process.id(), Force::Kill);
        self.clear();
    }

    /// Remembers everything that is below the child now, and its orphans that came to us.
    fn look(&mut self) {
        let mut found = system::descendants(self.process.id());
        let live = live();
        let strays = system::own_children().into_iter().filter(|pid| !live.children.contains(pid));
        found.extend(strays.filter(|pid| system::marker(*pid).as_deref() == Some(&self.marker)).filter_map(system::seen));
        drop(live);
        self.remember(found);
    }

    fn remember(&mut self, found: Vec<Seen>) {
        for seen in found {
            if !self.seen.contains(&seen) {
                self.seen.push(seen);
            }
        }
    }

    /// Reaps orphans that have ended and kills those of this child that live; how many still do. Only children of ours
    /// are signalled, whose pids are theirs until we reap them.
    fn clear(&mut self) -> usize {
        let live = live();
        // With nobody else's orphans about, one without a marker can only be this child's.
        let is_alone = live.children.len() <= 1 && !live.has_foreign;
        let mut left = 0;
        for pid in system::own_children() {
            if live.children.contains(&pid) || system::reap_stray(pid) {
                continue;
            }
            let is_ours = match system::marker(pid) {
                Some(marker) => marker == self.marker,
                None => is_alone,
            };
            if is_ours || system::seen(pid).is_some_and(|seen| self.seen.contains(&seen)) {
                let below = system::descendants(pid);
                self.remember(below);
                system::signal_one(pid, Force::Kill);
                left += 1;
            }
        }
        left
    }

    /// Ends what is left of the tree and reaps the child; waits until `until` at most. How the child ended is
    /// remembered. After a clean end this costs one look at our own children.
    pub(crate) async fn finish(&mut self, until: Instant) -> Exit {
        if let Some(exit) = self.exit {
            return exit;
        }
        system::signal_group(self.process.id(), Force::Kill);
        let mut pause = PAUSE;
        while !self.is_over() && Instant::now() < until {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
        let exit = self.reap();
        self.exit = Some(exit);
        exit
    }

    fn is_over(&mut self) -> bool {
        self.has_ended = self.has_ended || system::has_ended(&mut self.process);
        self.clear() == 0 && self.has_ended
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.kill_tree();
            let until = Instant::now() + DROPPED;
            while !self.is_over() && Instant::now() < until {
                std::thread::sleep(PAUSE);
            }
            self.reap();
        }
    }
}
