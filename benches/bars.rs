//! The bars of `docs/bars.md`, measured. Run by `scripts/bench`, which builds what is needed and pins it to one core
//! where a row asks for it. Arguments: names of rows to run; none runs all.
//!
//! Each figure is compared with a base that is measured in the same rounds, so that the ratio tells about the program
//! and not about the machine.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "a benchmark starts processes and reads its arguments; it is not part of the program")]

mod child;
mod clock;
mod table;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clock::{Lines, medians, percentile, run};
use table::{Bar, Row};

/// A group of rows that are measured together.
type Group = fn(&Bench, &mut Vec<Row>);

/// What the script hands in.
struct Bench {
    /// The release binary.
    spark: PathBuf,
    /// This program, which also is the child.
    own: PathBuf,
    /// A program that prints one line and ends.
    hello: PathBuf,
    /// A folder for homes and packages, removed by the script.
    folder: PathBuf,
    /// Where the script installed ajv; `None` if it could not.
    ajv: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [word] if word == "--pong" => return pong(),
        [word] if word == "--tool" => {
            child::serve();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(spark), Some(hello), Some(folder)) = (path("BENCH_SPARK"), path("BENCH_HELLO"), path("BENCH_FOLDER")) else {
        println!("run scripts/bench: it builds what is measured");
        return ExitCode::SUCCESS;
    };
    let own = std::env::current_exe().expect("own path");
    let bench = Bench { spark, own, hello, folder, ajv: path("BENCH_AJV") };
    let wanted = |name: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == name);
    let mut rows = Vec::new();
    let groups: [(&str, Group); 8] = [
        ("start", Bench::start),
        ("call", Bench::one_shot),
        ("persistent", Bench::persistent),
        ("frame", Bench::big_frame),
        ("validate", Bench::validate),
        ("install", Bench::install),
        ("trace", Bench::trace),
        ("long", Bench::long_run),
    ];
    for (name, group) in groups {
        if wanted(name) {
            group(&bench, &mut rows);
        }
    }
    if table::print(&rows) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The other end of a bare pipe: a line back for each line, until the end.
fn pong() -> ExitCode {
    use std::io::{BufRead as _, Write as _};
    let mut input = std::io::BufReader::with_capacity(1 << 16, std::io::stdin());
    let mut output = std::io::stdout();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if output.write_all(&line).is_err() {
            break;
        }
        line.clear();
    }
    ExitCode::SUCCESS
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn us(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

impl Bench {
    fn spark(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.spark);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("SPARK_TOOL_HOME", home).arg("--no-input");
        command
    }

    /// Runs a command that has to succeed, for set-up.
    fn must(&self, home: &Path, arguments: &[&str]) {
        let output = self.spark(home).args(arguments).output().expect("it starts");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn home(&self, name: &str) -> PathBuf {
        self.folder.join(format!("home-{name}"))
    }

    /// Writes a package around a command line and installs, grants and enables it in `home`.
    fn package(&self, home: &Path, id: &str, command: &[&str], lifecycle: &str) -> PathBuf {
        let folder = self.folder.join(format!("package-{id}"));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("spark-tool.json"), manifest(id, command, lifecycle)).expect("a manifest");
        let path = folder.to_string_lossy().into_owned();
        self.must(home, &["install", &path, "--yes"]);
        self.must(home, &["enable", id, "--yes"]);
        folder
    }

    /// Rows 1 and 2.
    fn start(&self, rows: &mut Vec<Row>) {
        let home = self.home("start");
        for number in 0..20 {
            self.package(&home, &format!("bench.p{number:02}"), &["true"], "per-call");
        }
        let times = medians(
            60,
            &mut [
                Box::new(|| run(&mut Command::new(&self.hello))),
                Box::new(|| run(self.spark(&home).arg("--version"))),
                Box::new(|| run(self.spark(&home).arg("list"))),
            ],
        );
        rows.push(ratio(1, "`--version`", times[1], "hello world", times[0], Bar::AtMost(4.0), Bar::AtMost(2.5), ms));
        rows.push(ratio(1, "`list`, 20 packages", times[2], "hello world", times[0], Bar::AtMost(8.0), Bar::AtMost(4.0), ms));
        let kb = peak_kb(self.spark(&home).arg("--version"));
        rows.push(Row {
            number: 2,
            what: "memory of `--version`".into(),
            figure: format!("{:.1} MB", kb / 1024.0),
            base: "–".into(),
            ratio: Some(kb / 1024.0),
            must: Bar::AtMost(12.0),
            aim: Bar::AtMost(8.0),
        });
    }

    /// Rows 3 and 4.
    fn one_shot(&self, rows: &mut Vec<Row>) {
        let home = self.home("call");
        let tool = self.own.to_string_lossy().into_owned();
        self.package(&home, "bench.compiled", &[&tool, "--tool"], "per-call");
        let times = medians(
            60,
            &mut [
                Box::new(|| bare_child(Command::new(&tool).arg("--tool"))),
                Box::new(|| run(self.spark(&home).args(["call", "bench.compiled/echo", "echo=x"]))),
            ],
        );
        rows.push(ratio(3, "`call` of a compiled child", times[1], "bare child", times[0], Bar::AtMost(4.0), Bar::AtMost(2.5), ms));
        // The interpreter itself: a version manager's shim takes longer than all that is measured.
        let python = text_of(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]));
        for (id, command, must, aim) in [("python", vec![python.as_str(), "-S"], 1.5, 1.2), ("node", vec!["node"], 1.15, 1.05)] {
            let script = self.script(id);
            let mut words = command.clone();
            words.push(&script);
            self.package(&home, &format!("bench.{id}"), &words, "per-call");
            let name = format!("bench.{id}/echo");
            let times = medians(
                30,
                &mut [
                    Box::new(|| bare_child(Command::new(words[0]).args(&words[1..]))),
                    Box::new(|| run(self.spark(&home).args(["call", &name, "echo=x"]))),
                ],
            );
            rows.push(ratio(
                4,
                &format!("`call` of a {id} child"),
                times[1],
                "bare child",
                times[0],
                Bar::AtMost(must),
                Bar::AtMost(aim),
                ms,
            ));
        }
    }

    /// A small tool in a scripting language, outside any package so that its bytes are the same for the bare child.
    fn script(&self, language: &str) -> String {
        let (name, text) = match language {
            "python" => ("echo.py", include_str!("tools/echo.py")),
            _ => ("echo.mjs", include_str!("tools/echo.mjs")),
        };
        let path = self.folder.join(name);
        fs::write(&path, text).expect("a script");
        path.to_string_lossy().into_owned()
    }

    /// Rows 5 and 6.
    fn persistent(&self, rows: &mut Vec<Row>) {
        let home = self.home("persistent");
        self.package(&home, "bench.kept", &[&self.own.to_string_lossy(), "--tool"], "persistent");
        let text = "x".repeat(1_000);
        let line = format!("{{\"echo\":\"{text}\"}}\n");
        let mut bare = Lines::start(Command::new(&self.own).arg("--pong"));
        let mut spark = Lines::start(self.spark(&home).args(["call", "bench.kept/echo", "--each", "-", "--json"]));
        let (mut bare_times, mut spark_times) = (Vec::new(), Vec::new());
        for round in 0..12_000 {
            let (least, figure) = (bare.round_trip(line.as_bytes()), spark.round_trip(line.as_bytes()));
            if round >= 2_000 {
                bare_times.push(least);
                spark_times.push(figure);
            }
        }
        spark.end();
        let (least, p50, p99) = (percentile(&mut bare_times, 50), percentile(&mut spark_times, 50), percentile(&mut spark_times, 99));
        rows.push(ratio(5, "1 KB round trip, persistent, p50", p50, "bare pipe", least, Bar::AtMost(20.0), Bar::AtMost(10.0), us));
        rows.push(Row {
            number: 5,
            what: "the same, p99".into(),
            figure: us(p99),
            base: "–".into(),
            ratio: Some(p99.as_secs_f64() * 1e6),
            must: Bar::AtMost(300.0),
            aim: Bar::AtMost(150.0),
        });
        let bare_rate = rate(&mut bare, &line, 200_000);
        bare.end();
        let mut spark = Lines::start(self.spark(&home).args(["call", "bench.kept/echo", "--each", "-", "--parallel", "32", "--json"]));
        rate(&mut spark, &line, 2_000);
        let spark_rate = rate(&mut spark, &line, 40_000);
        spark.end();
        rows.push(Row {
            number: 6,
            what: "1 KB, 32 in flight".into(),
            figure: format!("{spark_rate:.0}/s"),
            base: format!("bare pipe {bare_rate:.0}/s"),
            ratio: Some(spark_rate / bare_rate),
            must: Bar::AtLeast(0.05),
            aim: Bar::AtLeast(0.125),
        });
    }

    /// Row 11.
    fn big_frame(&self, rows: &mut Vec<Row>) {
        let home = self.home("frame");
        self.package(&home, "bench.big", &[&self.own.to_string_lossy(), "--tool"], "persistent");
        // The frame around the text has some 300 bytes; the answer comes back in one of the same size.
        let line = format!("{{\"echo\":\"{}\"}}\n", "x".repeat(4 * 1024 * 1024 - 1_024));
        let mut bare = Lines::start(Command::new(&self.own).arg("--pong"));
        let mut spark = Lines::start(self.spark(&home).args(["call", "bench.big/echo", "--each", "-", "--json"]));
        let times = medians(20, &mut [Box::new(|| duplex(&mut bare, &line)), Box::new(|| duplex(&mut spark, &line))]);
        let peak = spark.memory_mb("VmHWM");
        spark.end();
        bare.end();
        rows.push(ratio(11, "a 4 MB frame each way", times[1], "bare pipe", times[0], Bar::AtMost(8.0), Bar::AtMost(4.0), ms));
        rows.push(Row {
            number: 11,
            what: "memory of the host".into(),
            figure: format!("{peak:.1} MB"),
            base: "–".into(),
            ratio: Some(peak),
            must: Bar::AtMost(45.0),
            aim: Bar::AtMost(25.0),
        });
    }

    /// Rows 12 and 13, and the whole command against a Node validator.
    fn validate(&self, rows: &mut Vec<Row>) {
        let home = self.home("validate");
        let one = self.folder.join("one").join("spark-tool.json");
        fs::create_dir_all(one.parent().expect("it has one")).expect("a folder");
        fs::write(&one, large_manifest("bench.one")).expect("a manifest");
        let many = self.folder.join("many");
        for number in 0..200 {
            let folder = many.join(format!("p{number:03}"));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("spark-tool.json"), large_manifest(&format!("bench.m{number:03}"))).expect("a manifest");
        }
        let mut figures: Vec<clock::Figure<'_>> = vec![
            Box::new(|| run(&mut Command::new(&self.hello))),
            Box::new(|| run(self.spark(&home).arg("validate").arg(&one))),
            Box::new(|| run(self.spark(&home).args(["validate", "--recursive"]).arg(&many))),
        ];
        if let Some(ajv) = &self.ajv {
            figures.push(Box::new(|| run(Command::new("node").arg(ajv.join("one.cjs")).arg(&one))));
        }
        let times = medians(20, &mut figures);
        drop(figures);
        rows.push(ratio(12, "`validate`, one 8 KB manifest", times[1], "hello world", times[0], Bar::AtMost(6.0), Bar::AtMost(3.0), ms));
        let Some(ajv) = &self.ajv else { return };
        let output = Command::new("node").arg(ajv.join("compiled.cjs")).arg(&one).output().expect("node starts");
        let base_us: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("microseconds a document");
        let base = Duration::from_secs_f64(base_us / 1e6);
        let each = times[2].saturating_sub(times[0]) / 200;
        rows.push(ratio(13, "`validate` of 200 packages, each", each, "ajv, compiled", base, Bar::AtMost(20.0), Bar::AtMost(6.0), us));
        rows.push(Row {
            number: 13,
            what: "a Node validator's whole command against ours".into(),
            figure: ms(times[1]),
            base: format!("node + ajv {}", ms(times[3])),
            ratio: Some(times[3].as_secs_f64() / times[1].as_secs_f64()),
            must: Bar::AtLeast(20.0),
            aim: Bar::AtLeast(30.0),
        });
    }

    /// Rows 16 and 17.
    fn install(&self, rows: &mut Vec<Row>) {
        let folder = self.folder.join("small");
        fs::create_dir_all(&folder).expect("a folder");
        for number in 0..9 {
            fs::write(folder.join(format!("f{number}.txt")), "text\n".repeat(200)).expect("a file");
        }
        let mut round = 0_u32;
        let home = self.home("install");
        let times = medians(
            30,
            &mut [
                Box::new(|| one_fsync(&self.folder.join("fsync"))),
                Box::new(|| {
                    round += 1;
                    fs::write(folder.join("spark-tool.json"), manifest(&format!("bench.i{round:04}"), &["true"], "per-call"))
                        .expect("a manifest");
                    run(self.spark(&home).args(["install", "--yes"]).arg(&folder))
                }),
            ],
        );
        rows.push(ratio(16, "`install` of 10 files", times[1], "one fsync", times[0], Bar::AtMost(10.0), Bar::AtMost(5.0), ms));
        let tree = self.folder.join("tree");
        big_tree(&tree);
        let mut sums = Command::new("/bin/sh");
        sums.arg("-c").arg("find \"$1\" -type f -print0 | xargs -0 sha256sum").arg("sh").arg(&tree);
        let times = medians(5, &mut [Box::new(|| run(&mut sums)), Box::new(|| run(self.spark(&home).arg("inspect").arg(&tree)))]);
        rows.push(ratio(17, "digest of 2 000 files, 200 MB", times[1], "sha256sum", times[0], Bar::AtMost(1.5), Bar::AtMost(1.1), ms));
    }

    /// Row 18.
    fn trace(&self, rows: &mut Vec<Row>) {
        let figures = spark_tool::measure::traces(&self.folder.join("traces"));
        rows.push(ratio(
            18,
            "a trace row in a call's path",
            figures.per_call,
            "one row a commit",
            figures.one_commit,
            Bar::AtMost(2.0),
            Bar::AtMost(1.0),
            us,
        ));
        rows.push(Row {
            number: 18,
            what: "trace rows, sustained".into(),
            figure: format!("{:.0}/s", figures.rows_per_second),
            base: "–".into(),
            ratio: Some(figures.rows_per_second),
            must: Bar::AtLeast(25_000.0),
            aim: Bar::AtLeast(60_000.0),
        });
    }

    /// Row 19.
    fn long_run(&self, rows: &mut Vec<Row>) {
        let home = self.home("long");
        self.package(&home, "bench.long", &[&self.own.to_string_lossy(), "--tool"], "persistent");
        let mut spark = Lines::start(self.spark(&home).args(["call", "bench.long/echo", "--each", "-", "--json"]));
        let calls = |spark: &mut Lines, number: u32| {
            for call in 0..number {
                spark.round_trip(if call % 10 == 0 { b"{\"error\":\"NO\"}\n" } else { b"{\"echo\":\"x\"}\n" });
            }
        };
        // Past the first checkpoint: SQLite keeps the file that it opened for one, and uses it again.
        calls(&mut spark, 3_000);
        let (memory, descriptors) = (spark.memory_mb("VmRSS"), spark.descriptors());
        calls(&mut spark, 10_000);
        let grown = (spark.memory_mb("VmRSS") - memory).max(0.0);
        let until = Instant::now() + Duration::from_secs(5);
        // A checkpoint of the store may have its own open for a moment.
        while spark.descriptors() != descriptors {
            assert!(Instant::now() < until, "descriptors leak");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(spark);
        rows.push(Row {
            number: 19,
            what: "memory after 10 000 calls, 10 % failing; descriptors as before".into(),
            figure: format!("+{grown:.2} MB"),
            base: "–".into(),
            ratio: Some(grown),
            must: Bar::AtMost(5.0),
            aim: Bar::AtMost(1.0),
        });
    }
}

#[expect(clippy::too_many_arguments, reason = "a row of a table has its columns")]
fn ratio(
    number: u32,
    what: &str,
    figure: Duration,
    base_name: &str,
    base: Duration,
    must: Bar,
    aim: Bar,
    unit: fn(Duration) -> String,
) -> Row {
    Row {
        number,
        what: what.to_owned(),
        figure: unit(figure),
        base: format!("{base_name} {}", unit(base)),
        ratio: Some(figure.as_secs_f64() / base.as_secs_f64()),
        must,
        aim,
    }
}

/// The highest memory of a command in kB. Its output goes into a pipe that is full, so that it is still there to be
/// looked at when it has done all but the last write.
fn peak_kb(command: &mut Command) -> f64 {
    use std::io::{Read as _, Write as _};
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
    writer.write_all(&vec![b' '; 64 * 1024]).expect("what a pipe holds");
    let mut child = command.stdout(writer).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(200));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    *command = Command::new("true");
    let _drained = reader.read_to_end(&mut Vec::new());
    assert!(child.wait().expect("it can be waited for").success());
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("it was waiting to write")
}

/// Starts a child, sends one line, waits for one line, says goodbye and reaps it.
fn bare_child(command: &mut Command) -> Duration {
    let start = Instant::now();
    // As the host starts it: what else is in the environment may make an interpreter work.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let mut child = Lines::start(command);
    child.send(INITIALIZE);
    child.receive();
    child.send(SHUTDOWN);
    child.end();
    start.elapsed()
}

const INITIALIZE: &[u8] = b"{\"protocolVersion\":\"spark-tool-process-v1\",\"type\":\"initialize\",\"requestId\":\"r\",\"sequence\":0,\"packageId\":\"bench\",\"packageVersion\":\"0.1.0\",\"capabilityProtocolVersion\":1}\n";

const SHUTDOWN: &[u8] = b"{\"protocolVersion\":\"spark-tool-process-v1\",\"type\":\"shutdown\",\"requestId\":\"s\",\"sequence\":1}\n";

/// What a command prints, without its line end.
fn text_of(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Lines a second with 32 on their way at a time.
fn rate(lines: &mut Lines, line: &str, number: u32) -> f64 {
    let start = Instant::now();
    let mut sent = 0;
    for received in 0..number {
        while sent < number && sent < received + 32 {
            lines.send(line.as_bytes());
            sent += 1;
        }
        lines.receive();
    }
    f64::from(number) / start.elapsed().as_secs_f64()
}

/// Sends a line that is larger than a pipe holds while the answer is read.
fn duplex(lines: &mut Lines, line: &str) -> Duration {
    lines.round_trip(line.as_bytes())
}

fn one_fsync(path: &Path) -> Duration {
    use std::io::Write as _;
    let mut file = fs::File::create(path).expect("a file");
    file.write_all(&[b'x'; 4096]).expect("written");
    let start = Instant::now();
    file.sync_all().expect("synced");
    start.elapsed()
}

fn big_tree(folder: &Path) {
    let chunk: Vec<u8> = (0..102_400_u32).map(|at| u8::try_from((at * 7919 + at / 13) % 251).unwrap_or(0)).collect();
    for number in 0..2_000 {
        let sub = folder.join(format!("d{:02}", number % 20));
        fs::create_dir_all(&sub).expect("a folder");
        fs::write(sub.join(format!("f{number:04}.bin")), &chunk).expect("a file");
    }
    fs::write(folder.join("spark-tool.json"), manifest("bench.tree", &["true"], "per-call")).expect("a manifest");
}

fn manifest(id: &str, command: &[&str], lifecycle: &str) -> String {
    let args = command[1..].iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"schemaVersion":1,"id":"{id}","version":"1.0.0","name":"Bench","description":"A package for measuring",
"runtime":{{"adapter":"process","protocol":"spark-tool-process-v1","command":"{}","args":[{args}],"lifecycle":"{lifecycle}"}},
"tools":[{{"name":"echo","title":"Echo","description":"Gives back what it gets",
"inputSchema":{{"type":"object","properties":{{"echo":{{"type":"string"}},"error":{{"type":"string"}}}}}},"outputSchema":{{"type":"object"}},
"risk":"read","effect":"read","idempotency":"safe"}}]}}
"#,
        command[0]
    )
}

/// A manifest of about 8 KB with the usual kinds of fields.
fn large_manifest(id: &str) -> String {
    let mut tools = String::new();
    for number in 0..12 {
        let comma = if number == 0 { "" } else { "," };
        let _written = write!(
            tools,
            r#"{comma}{{"name":"tool_{number}","title":"Tool number {number}","description":"Does the thing that tool number {number} does, and says what it did",
"inputSchema":{{"type":"object","properties":{{"path":{{"type":"string","minLength":1,"maxLength":400,"description":"Where to look"}},
"limit":{{"type":"integer","minimum":1,"maximum":500,"default":50}},"mode":{{"type":"string","enum":["fast","exact"]}},
"tags":{{"type":"array","items":{{"type":"string"}},"maxItems":20}}}},"required":["path"],"additionalProperties":false}},
"risk":"read","effect":"read","idempotency":"safe","guidance":{{"whenToUse":["When the user asks for thing {number}"]}}}}"#
        );
    }
    format!(
        r#"{{"schemaVersion":1,"id":"{id}","version":"1.0.0","name":"Bench","description":"A package for measuring",
"runtime":{{"adapter":"process","protocol":"spark-tool-process-v1","command":"python3","args":["main.py"]}},"tools":[{tools}],
"environment":[{{"name":"API_URL","title":"Where the service is","type":"string","default":"https://example.com"}},
{{"name":"API_KEY","title":"The key","type":"string","secret":true,"required":true}}],
"permissions":{{"declaredOsEffects":["network"]}}}}
"#
    )
}
