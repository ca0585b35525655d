//! What being observed costs a caller: its own calls to a provider, with observation and without, while the readings of its
//! sandboxes meet every fault of the stand-in.
//!
//! `GYM_TEST_PYTHON=… cargo run -p gym-sandbox-obs --features telemetry,opensandbox --example observed_calls`, with a
//! Python that has the packages of `tests/fixtures/requirements.txt`. It takes some minutes, most of them in last readings.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/stand_in/stand.rs"]
mod stand;

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gym_sandbox_obs::opensandbox::OpenSandbox;
use gym_sandbox_obs::{ResourceReader, SandboxRequest, Submitted};
use gym_telemetry_api::__private::testing::Discard;
use serde_json::Value;
use stand::{API_KEY, Runtime, Stand};
use tokio::runtime::Builder;

/// A sandbox without any oddity.
const PLAIN: &str = "k8s_one_container";
/// Sandboxes of each kind for each fault; those without observation are first as often as last.
const ROUNDS: usize = 2;
/// Commands of one sandbox.
const COMMANDS: usize = 20;
/// Much shorter than anybody's, so that readings are under way all the time.
const INTERVAL: Duration = Duration::from_millis(50);

/// The caller's own connection to a provider.
struct Provider(BufReader<TcpStream>);

impl Provider {
    fn connect(stand: &Stand) -> io::Result<Self> {
        let address = stand.control_plane().trim_start_matches("http://");
        let stream = TcpStream::connect(address.trim_end_matches("/v1"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// One call, answered by the real server.
    fn call(&mut self) -> io::Result<i64> {
        let request = format!(
            "GET /v1/sandboxes/{PLAIN}/diagnostics/inspect HTTP/1.1\r\nHost: stand\r\nOPEN-SANDBOX-API-KEY: {API_KEY}\r\n\r\n"
        );
        self.0.get_mut().write_all(request.as_bytes())?;
        let (mut line, mut length, mut is_good) = (String::new(), 0, false);
        loop {
            line.clear();
            self.0.read_line(&mut line)?;
            let header = line.trim().to_ascii_lowercase();
            is_good |= header.starts_with("http/1.1 200");
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            if header.is_empty() {
                break;
            }
        }
        self.0.read_exact(&mut vec![0; length])?;
        is_good
            .then_some(0)
            .ok_or_else(|| io::Error::other("the server refuses"))
    }
}

/// The time of a caller's own calls.
#[derive(Default)]
struct Times {
    create: Vec<Duration>,
    exec: Vec<Duration>,
    delete: Vec<Duration>,
}

fn timed<T>(times: &mut Vec<Duration>, call: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = call();
    times.push(began.elapsed());
    result
}

fn unobserved(provider: &mut Provider, times: &mut Times) -> io::Result<()> {
    timed(&mut times.create, || provider.call())?;
    for _ in 0..COMMANDS {
        timed(&mut times.exec, || provider.call())?;
    }
    timed(&mut times.delete, || provider.call()).map(drop)
}

async fn observed(
    provider: &mut Provider,
    reader: Arc<dyn ResourceReader>,
    times: &mut Times,
) -> io::Result<()> {
    let began = Instant::now();
    let request = SandboxRequest::builder("opensandbox")
        .sample_interval(INTERVAL)
        .record();
    let mut start = request.start();
    start.run(async { provider.call() }).await?;
    times.create.push(began.elapsed());
    start.created(PLAIN, &Submitted::default());
    let sandbox = start.finish(Some(reader));
    for _ in 0..COMMANDS {
        let began = Instant::now();
        sandbox
            .exec(async { provider.call() }, |&code| Some(code))
            .await?;
        times.exec.push(began.elapsed());
    }
    // The last reading comes before the call, within its two seconds.
    let delete = async { timed(&mut times.delete, || provider.call()) };
    sandbox.stop(delete).await.map(drop)
}

/// A part of the times from the shortest on, in microseconds.
fn quantile(times: &[Duration], percent: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6
}

/// The ratio of the medians, and that of the 95th percentiles.
fn ratios(with: &[Duration], without: &[Duration]) -> String {
    let ratio = |percent| quantile(with, percent) / quantile(without, percent);
    format!("{:.3} {:.3}", ratio(50), ratio(95))
}

/// The names of the faults that a part of the stand-in shows.
fn faults(part: &str) -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/faults.json");
    let text = fs::read_to_string(path).expect("the fixtures are there");
    let faults: Value = serde_json::from_str(&text).expect("JSON");
    let cases = faults[part].as_object().expect("an object");
    cases.keys().cloned().collect()
}

/// Measures while the readings meet one fault after the other; `None` without a Python.
#[expect(clippy::print_stdout, reason = "a report for people")]
fn measure(runtime: &tokio::runtime::Runtime, part: &str, all: &mut [Times; 2]) -> Option<()> {
    // The provider of the caller's own calls is a process of its own: what is measured is not how busy the one is whose
    // faults are read. Both end by themselves after ten minutes, so each part has its own.
    let read = Stand::start(Runtime::Kubernetes)?;
    let called = Stand::start(Runtime::Kubernetes)?;
    let mut provider = Provider::connect(&called).expect("the stand-in listens");
    for _ in 0..50 {
        provider.call().expect("the stand-in answers");
    }
    let (control_plane, signpost) = (read.sandboxes(false), read.signpost().sandboxes());
    let reader = |fault: &str| -> Arc<dyn ResourceReader> {
        let (sandboxes, id): (&OpenSandbox, _) = if part == "execd" {
            (&signpost, fault.to_owned())
        } else {
            (&control_plane, format!("{fault}~{PLAIN}"))
        };
        Arc::new(sandboxes.reader(id))
    };
    for fault in faults(part) {
        let (mut with, mut without) = (Times::default(), Times::default());
        for round in 0..ROUNDS {
            if round % 2 == 0 {
                unobserved(&mut provider, &mut without).expect("the stand-in answers");
            }
            let observed = observed(&mut provider, reader(&fault), &mut with);
            runtime.block_on(observed).expect("the stand-in answers");
            if round % 2 == 1 {
                unobserved(&mut provider, &mut without).expect("the stand-in answers");
            }
        }
        let name = format!("{part} {fault}");
        println!("{name:28} {:>12}", ratios(&with.exec, &without.exec));
        for (all, these) in all.iter_mut().zip([with, without]) {
            all.create.extend(these.create);
            all.exec.extend(these.exec);
            all.delete.extend(these.delete);
        }
    }
    Some(())
}

#[expect(clippy::print_stdout, reason = "a report for people")]
fn main() -> ExitCode {
    let telemetry = Discard::install();
    assert!(telemetry.is_some(), "nothing else has settled this process");
    let runtime = Builder::new_current_thread()
        .build()
        .expect("a runtime of one thread");
    println!("ratio of medians and of 95th percentiles, observed : not observed\n");
    println!("{:28} {:>12}", "fault", "commands");
    let mut all = <[Times; 2]>::default();
    for part in ["execd", "inspect"] {
        if measure(&runtime, part, &mut all).is_none() {
            return ExitCode::FAILURE;
        }
    }
    let [with, without] = &all;
    println!();
    for (name, with, without) in [
        ("creations", &with.create, &without.create),
        ("commands", &with.exec, &without.exec),
        ("deletions", &with.delete, &without.delete),
    ] {
        let (calls, median) = (without.len(), quantile(without, 50));
        let ratios = ratios(with, without);
        println!("all {name}: {ratios}; {calls} of each, {median:.0} us without observation");
    }
    ExitCode::SUCCESS
}
