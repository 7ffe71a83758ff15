//! Flags, environment and platform, read once into values. The only reader of the environment.
//!
//! | variable | what for |
//! | --- | --- |
//! | `SPARK_TOOL_HOME` | the home, unless `--home` names it |
//! | `CI` | set, and not empty, `0` or `false`: nobody is there to ask |
//! | `NO_COLOR` | not empty: no colors, unless `--color always` |
//! | `TERM` | `dumb`: no colors |
//! | `COLUMNS` | the width to write for |
//! | `LC_ALL`, `LC_CTYPE`, `LANG` | on a terminal that isn't UTF-8: no box drawing |
//! | `PATH` | where programs are found; absolute folders alone |

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use etcetera::{AppStrategy as _, AppStrategyArgs};

use super::globals::{ColorArg, GlobalArgs};
use crate::base::clock::Clock;
use crate::ops::{Environment, Home, Interrupt, NoAsking, Settings, SettingsError};
use crate::report::{Log, Look, ReporterSetup};

const HOME: &str = "SPARK_TOOL_HOME";
const CI: &str = "CI";
const NO_COLOR: &str = "NO_COLOR";
const TERM: &str = "TERM";
const COLUMNS: &str = "COLUMNS";
/// Set by the shell code of `completions` when it asks for candidates.
pub(super) const COMPLETE: &str = "COMPLETE";

/// The width where nothing says another (clap's own).
const WIDTH: usize = 100;
/// Wider lines are hard to read (ours).
const WIDTH_MAX: usize = 120;

/// What the process was given, before any flag is known.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) environment: Environment,
    stdin_is_terminal: bool,
    stdout_is_terminal: bool,
    stderr_is_terminal: bool,
    terminal_width: Option<usize>,
}

impl Surroundings {
    #[expect(clippy::disallowed_methods, reason = "the door to the environment and the streams' facts")]
    pub(super) fn read() -> Self {
        Self {
            environment: std::env::vars_os().collect(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            terminal_width: terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
        }
    }

    /// Returns the columns to write for.
    pub(super) fn width(&self) -> usize {
        let said = self.environment.filled(COLUMNS).and_then(|text| text.to_str()).and_then(|text| text.parse().ok());
        said.or(self.terminal_width).filter(|width| *width >= 20).unwrap_or(WIDTH).min(WIDTH_MAX)
    }

    /// Returns the looks of stdout and stderr.
    pub(super) fn looks(&self, color: ColorArg) -> (Look, Look) {
        let look = |is_terminal: bool| Look {
            color: match color {
                ColorArg::Always => true,
                ColorArg::Never => false,
                ColorArg::Auto => is_terminal && self.wants_color(),
            },
            unicode: !is_terminal || self.draws_unicode(),
            width: self.width(),
            is_terminal,
        };
        (look(self.stdout_is_terminal), look(self.stderr_is_terminal))
    }

    fn wants_color(&self) -> bool {
        self.environment.filled(NO_COLOR).is_none() && self.environment.get(TERM).is_none_or(|term| term != "dumb")
    }

    fn draws_unicode(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| self.environment.filled(name));
        let says_utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_string_lossy().to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        says_utf8 || cfg!(any(windows, target_os = "macos"))
    }

    /// Says why nobody can be asked, if so.
    pub(super) fn unable_to_ask(&self, no_input: bool) -> Option<NoAsking> {
        let is_ci = self.environment.filled(CI).is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"));
        if no_input {
            Some(NoAsking::NoInput)
        } else if is_ci {
            Some(NoAsking::Ci)
        } else if self.stdin_is_terminal && self.stderr_is_terminal {
            None
        } else {
            Some(NoAsking::NoTerminal)
        }
    }

    /// Returns the setup of the streams.
    pub(super) fn reporter(&self, command: &str, globals: &GlobalArgs, log: Option<Log>) -> ReporterSetup {
        let (stdout, stderr) = self.looks(globals.color.unwrap_or_default());
        ReporterSetup {
            command: command.to_owned(),
            format: globals.format(),
            quiet: globals.quiet,
            verbose: globals.verbose,
            stdout,
            stderr,
            log,
        }
    }

    /// Resolves everything that use cases need. `-C` comes first: other relative paths are seen from there.
    pub(super) fn settings(&self, globals: &GlobalArgs, interrupt: Interrupt) -> Result<Settings, SettingsError> {
        let folder = working_folder(globals.working_folder.as_deref())?;
        let home = match globals.home.clone().or_else(|| self.environment.filled(HOME).map(PathBuf::from)) {
            Some(home) => Home::At(folder.join(home)),
            None => platform_home(),
        };
        // A program that was deleted while it runs has no file any more; its name is all there is to say.
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("spark-tool"));
        Ok(Settings { home, program, folder, environment: self.environment.clone(), clock: Clock::System, interrupt })
    }
}

/// Opens the file that `--log` names.
pub(super) fn open_log(globals: &GlobalArgs) -> Result<Option<Log>, SettingsError> {
    let Some(path) = &globals.log else { return Ok(None) };
    Log::open(path, Clock::System).map(Some).map_err(|source| SettingsError::NoLog { path: path.clone(), source })
}

/// Enters the folder of `-C`, so that every relative path, a child's included, starts there.
fn working_folder(named: Option<&Path>) -> Result<PathBuf, SettingsError> {
    let fails = |source| SettingsError::NoFolder { path: named.unwrap_or(Path::new(".")).to_owned(), source };
    if let Some(folder) = named {
        std::env::set_current_dir(folder).map_err(fails)?;
    }
    std::env::current_dir().map_err(fails)
}

/// The data folder of the platform: `~/.local/share/spark-tool`, or `AppData` on Windows.
fn platform_home() -> Home {
    let names = AppStrategyArgs { top_level_domain: String::new(), author: String::new(), app_name: "spark-tool".to_owned() };
    etcetera::choose_app_strategy(names).map_or(Home::Unknown, |strategy| Home::At(strategy.data_dir()))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn surroundings(variables: &[(&str, &str)], is_terminal: bool) -> Surroundings {
        Surroundings {
            environment: variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
            stdin_is_terminal: is_terminal,
            stdout_is_terminal: is_terminal,
            stderr_is_terminal: is_terminal,
            terminal_width: None,
        }
    }

    // H: D-5
    #[test]
    fn nobody_is_asked_without_a_terminal_in_ci_or_where_it_is_forbidden() {
        let unable = |ci: &str, is_terminal, no_input| surroundings(&[("CI", ci)], is_terminal).unable_to_ask(no_input);
        for not_ci in ["", "0", "false", "False"] {
            assert_eq!(unable(not_ci, true, false), None, "{not_ci}");
        }
        for ci in ["1", "true", "yes", "no"] {
            assert_eq!(unable(ci, true, false), Some(NoAsking::Ci), "{ci}");
        }
        assert_eq!(unable("", false, false), Some(NoAsking::NoTerminal));
        assert_eq!(unable("", true, true), Some(NoAsking::NoInput));
    }

    #[test]
    fn colors_follow_the_flag_then_the_environment_then_the_stream() {
        let color = |variables: &[(&str, &str)], is_terminal, flag| surroundings(variables, is_terminal).looks(flag).0.color;
        assert!(color(&[], true, ColorArg::Auto));
        assert!(!color(&[], false, ColorArg::Auto));
        assert!(!color(&[("NO_COLOR", "1")], true, ColorArg::Auto));
        assert!(color(&[("NO_COLOR", "")], true, ColorArg::Auto));
        assert!(!color(&[("TERM", "dumb")], true, ColorArg::Auto));
        assert!(color(&[("NO_COLOR", "1")], false, ColorArg::Always));
        assert!(!color(&[], true, ColorArg::Never));
    }

    #[test]
    fn the_width_is_what_is_said_within_reason() {
        let width = |columns: &str| surroundings(&[("COLUMNS", columns)], false).width();
        assert_eq!([width("80"), width("300"), width("3"), width("x")], [80, WIDTH_MAX, WIDTH, WIDTH]);
    }
}
