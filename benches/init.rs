//! What `init_telemetry` costs its caller, whatever the collector is like.
//!
//! ```sh
//! cargo bench --package gym-benches --features telemetry --bench init
//! ```
//!
//! Each row is a process of its own that starts telemetry for an endpoint: one that listens, one that refuses, one that
//! no packet reaches, and one whose name server never answers. Instructions are counted by Callgrind on the
//! calling thread, inside the call alone; CPU time is that of the calling thread, the least of several processes. A row
//! that costs more than 1.2 times the one with a collector that listens fails the bench.
//!
//! The name server that never answers needs namespaces (`unshare`, `ip`) and the instructions `valgrind`; what is missing
//! is said and not measured. A process in namespaces of its own is compared with another such process.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::hint::black_box;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use gym_telemetry_api::{ServerIdentity, TelemetryHandle, init_telemetry, span};
use rustix::time::{ClockId, clock_gettime};

/// How much more than with a collector that listens.
const LIMIT: f64 = 1.2;
/// Processes of which the least CPU time counts.
const PROCESSES: usize = 25;
/// Set in the process that is measured, to what is measured.
const CHILD: &str = "GYM_TELEMETRY_BENCH_CHILD";
const CPU: &str = "cpu";
const INSTRUCTIONS: &str = "instructions";
/// Set in a process with a network of its own, where a collector listens and names are asked for and not answered.
const NAMESPACE: &str = "GYM_TELEMETRY_BENCH_NAMESPACE";
const LISTENING: &str = "127.0.0.1:4317";
/// A host whose address nobody tells.
const NAME: &str = "collector.example";
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The name that Callgrind looks for.
#[inline(never)]
fn measured_init(identity: ServerIdentity) -> Option<TelemetryHandle> {
    black_box(init_telemetry(black_box(identity)))
}

fn child() {
    let is_alone = std::env::var_os(NAMESPACE).is_some();
    let _collector = is_alone.then(|| TcpListener::bind(LISTENING).expect("a free port"));
    let name_server = is_alone.then(|| UdpSocket::bind("127.0.0.1:53").expect("a free port"));
    let is_by_name = std::env::var(ENDPOINT).is_ok_and(|endpoint| endpoint.contains(NAME));
    let identity = ServerIdentity::builder().server_name("bench").build();
    // Valgrind has no clock for it.
    let has_clock = std::env::var(CHILD).is_ok_and(|what| what == CPU);
    let before = has_clock.then(thread_cpu);
    let telemetry = measured_init(identity);
    let cpu = before.map(|before| thread_cpu().saturating_sub(before));
    let telemetry = telemetry.expect("telemetry is on");
    if let Some(name_server) = name_server.filter(|_| has_clock && is_by_name) {
        span!(gym_telemetry_core::span::JOB).end();
        let _ = telemetry.flush(Duration::from_millis(100));
        let patience = Some(Duration::from_secs(20));
        name_server.set_read_timeout(patience).expect("a timeout");
        let asked = name_server.recv(&mut [0; 512]);
        assert!(asked.is_ok(), "nobody asked for the name: {asked:?}");
    }
    if let Some(cpu) = cpu {
        println!("cpu {}", cpu.as_nanos());
    }
    let _ = telemetry.shutdown(Duration::ZERO);
}

fn thread_cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).expect("time does not run backwards");
    Duration::from_secs(seconds) + Duration::from_nanos(now.tv_nsec.unsigned_abs())
}

/// A collector of some kind.
struct Row {
    name: &'static str,
    endpoint: String,
    in_namespaces: bool,
}

impl Row {
    /// CPU time of one process, in nanoseconds.
    fn cpu(&self, executable: &str) -> Option<u64> {
        figure(&self.run(CPU, &[executable]), "cpu ")
    }

    fn instructions(&self, executable: &str) -> Option<u64> {
        let callgrind = [
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
            "--toggle-collect=*measured_init*",
            executable,
        ];
        figure(&self.run(INSTRUCTIONS, &callgrind), "Collected : ")
    }

    /// Runs the child and returns all that it said; nothing if it failed.
    fn run(&self, what: &str, command: &[&str]) -> String {
        let mut child = if self.in_namespaces {
            let mut unshare = Command::new("unshare");
            let script = "echo nameserver 127.0.0.1 > \"$0\" && mount --bind \"$0\" /etc/resolv.conf \
                          && ip link set lo up && exec \"$@\"";
            let file = std::env::temp_dir().join("gym-telemetry-bench-resolv.conf");
            unshare.args(["--map-root-user", "--mount", "--net", "sh", "-c", script]);
            unshare.arg(file).args(command).env(NAMESPACE, "1");
            unshare
        } else {
            let mut plain = Command::new(command[0]);
            plain.args(&command[1..]);
            plain
        };
        let output = child
            .env(CHILD, what)
            .env("NEMO_GYM_OTEL_ENABLED", "1")
            .env(ENDPOINT, &self.endpoint)
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) if output.status.success() => {
                let both = [output.stdout, output.stderr].concat();
                String::from_utf8_lossy(&both).into_owned()
            }
            Ok(output) => {
                println!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
                String::new()
            }
            Err(error) => {
                println!("{error}");
                String::new()
            }
        }
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| Path::new(&directory).join(program).is_file())
}

/// The number after `label`.
fn figure(said: &str, label: &str) -> Option<u64> {
    let (_, rest) = said.split_once(label)?;
    let digits = rest.split(|char: char| !char.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[expect(clippy::cast_precision_loss, reason = "for a ratio")]
fn ratio(cost: u64, base: u64) -> f64 {
    cost as f64 / base as f64
}

fn main() -> ExitCode {
    if std::env::var_os(CHILD).is_some() {
        child();
        return ExitCode::SUCCESS;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url =
        |listener: &TcpListener| format!("http://{}", listener.local_addr().expect("an address"));
    let refusing = url(&closed);
    drop(closed);
    let row = |name, in_namespaces, endpoint: String| Row {
        name,
        endpoint,
        in_namespaces,
    };
    let rows = [
        row("a collector that listens", false, url(&listener)),
        row("a port that refuses", false, refusing),
        row(
            "an address that nothing reaches",
            false,
            "http://192.0.2.1:4317".to_owned(),
        ),
        row(
            "a collector that listens, apart",
            true,
            format!("http://{LISTENING}"),
        ),
        row(
            "a name server that never answers",
            true,
            format!("http://{NAME}:4317"),
        ),
    ];
    let base = |row: &Row| {
        let is_alike = |other: &Row| other.in_namespaces == row.in_namespaces;
        rows.iter()
            .position(is_alike)
            .expect("the row itself is one")
    };
    let executable = std::env::current_exe().expect("a bench has an executable");
    let executable = executable.to_str().expect("a path of text");
    // In turns, so that all rows have the same good and bad moments of the machine.
    let mut cpu: Vec<Option<u64>> = rows.iter().map(|row| row.cpu(executable)).collect();
    for _ in 1..PROCESSES {
        for (row, least) in rows.iter().zip(&mut cpu) {
            *least = least.and_then(|least| Some(least.min(row.cpu(executable)?)));
        }
    }
    let has_valgrind = is_installed("valgrind");
    let counts: Vec<Option<u64>> = rows
        .iter()
        .map(|row| has_valgrind.then(|| row.instructions(executable)).flatten())
        .collect();
    let mut is_within = true;
    for ((row, cpu_of_row), count) in rows.iter().zip(&cpu).zip(&counts) {
        let mut told = Vec::new();
        for (what, cost, base) in [
            ("instructions", count, &counts[base(row)]),
            ("ns of CPU", cpu_of_row, &cpu[base(row)]),
        ] {
            told.push(match (cost, base) {
                (Some(cost), Some(base)) => {
                    is_within &= ratio(*cost, *base) <= LIMIT;
                    format!("{cost:>8} {what} ({:.2} x)", ratio(*cost, *base))
                }
                _ => format!("{what} cannot be measured here"),
            });
        }
        println!("{:<36} {}", row.name, told.join(", "));
    }
    is_within &= cpu[0].is_some();
    if is_within {
        ExitCode::SUCCESS
    } else {
        println!("more than {LIMIT} times as much as with a collector that listens");
        ExitCode::FAILURE
    }
}
