//! Timing of whole commands: interleaved rounds, medians, and the memory a process had at its highest.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// One thing to time. Each call does it once and returns how long it took.
pub(crate) type Figure<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// Times figures in turns, so that what else the machine does hits all of them alike; the median of each.
pub(crate) fn medians(rounds: usize, figures: &mut [Figure<'_>]) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(rounds); figures.len()];
    for round in 0..=rounds {
        for (at, figure) in figures.iter_mut().enumerate() {
            let time = figure();
            // The first round warms the caches.
            if round > 0 {
                times[at].push(time);
            }
        }
    }
    times.iter_mut().map(|times| percentile(times, 50)).collect()
}

pub(crate) fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}

/// Runs a command to its end without looking at what it prints.
pub(crate) fn run(command: &mut Command) -> Duration {
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the command starts");
    let time = start.elapsed();
    assert!(status.success(), "{command:?} ended with {status}");
    time
}

/// A process that answers each line with one line.
pub(crate) struct Lines {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Lines {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("the command starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::with_capacity(1 << 16, child.stdout.take().expect("it is piped"));
        Self { child, stdin, stdout, line: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("it is open").write_all(bytes).expect("the process reads");
    }

    pub(crate) fn receive(&mut self) -> &[u8] {
        self.line.clear();
        let read = self.stdout.read_until(b'\n', &mut self.line).expect("the process writes");
        assert!(read > 0, "the process ended");
        &self.line
    }

    pub(crate) fn round_trip(&mut self, bytes: &[u8]) -> Duration {
        let start = Instant::now();
        self.send(bytes);
        self.receive();
        start.elapsed()
    }

    /// A line of `/proc/PID/status` in MB: `VmHWM` is the highest memory it had, `VmRSS` what it has.
    pub(crate) fn memory_mb(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
    }

    pub(crate) fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    pub(crate) fn end(mut self) {
        drop(self.stdin.take());
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "it ended with {status}");
    }
}
