//! Runs a scenario in a process of its own, against a collector in this one.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test that includes this uses a part of it"
)]

#[path = "../../../gym-telemetry-otel/tests/support/mod.rs"]
mod collector;
pub mod send;
pub mod serve;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub use collector::text;
use collector::{Collector, DEADLINE, Received};
use gym_telemetry_api::{init_telemetry, shutdown_telemetry};
use gym_telemetry_core::ServerIdentity;
use opentelemetry_proto::tonic::metrics::v1::HistogramDataPoint;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;

const CHILD: &str = "GYM_TEST_SCENARIO";

/// Settings of the scenario's process, beyond being switched on and exporting to the collector.
pub const ALL_GROUPS: &[(&str, &str)] = &[("NEMO_GYM_OTEL_SPAN_GROUPS", "all")];

/// What a scenario has left behind.
#[derive(Debug)]
pub struct Outcome {
    received: Received,
    /// Its standard error.
    pub stderr: String,
}

/// Runs `scenario` with telemetry on, in a process of its own with the variables `settings`.
///
/// `test` is the name of the calling test, which is how the new process gets to the same place; in there, `None`
/// comes back.
pub fn run<F>(
    test: &str,
    settings: &[(&str, &str)],
    scenario: impl FnOnce() -> F,
) -> Option<Outcome>
where
    F: Future<Output = ()>,
{
    if std::env::var(CHILD).is_ok_and(|name| name == test) {
        let handle = init_telemetry(ServerIdentity::builder().server_name("tested").build());
        assert!(handle.is_some(), "telemetry is on");
        block_on(scenario());
        let receipt = shutdown_telemetry(DEADLINE);
        assert_eq!(receipt.traces.failed, 0, "{receipt:?}");
        return None;
    }
    let collector = Collector::start();
    let child = Command::new(std::env::current_exe().expect("a test knows its program"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
        .envs(settings.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a test can run its program again");
    let stderr = finish(child);
    Some(Outcome {
        received: collector.received(),
        stderr,
    })
}

/// Runs `future`, for at most a deadline that only a hang exceeds.
fn block_on(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime can be built");
    runtime.block_on(async {
        tokio::time::timeout(DEADLINE, future)
            .await
            .expect("the scenario ends");
    });
}

fn finish(mut child: Child) -> String {
    let read = |mut from: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut text = String::new();
            from.read_to_string(&mut text).expect("the output is text");
            text
        })
    };
    let stdout = read(Box::new(child.stdout.take().expect("piped")));
    let stderr = read(Box::new(child.stderr.take().expect("piped")));
    let deadline = Instant::now() + DEADLINE * 3;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if Instant::now() > deadline {
            child.kill().expect("a child can be killed");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let stdout = stdout.join().expect("does not panic");
    let stderr = stderr.join().expect("does not panic");
    assert!(
        status.success(),
        "the scenario failed: {status}\n{stdout}\n{stderr}"
    );
    assert!(
        stdout.contains("1 passed"),
        "no scenario of that name ran:\n{stdout}"
    );
    stderr
}

impl Outcome {
    pub fn spans(&self) -> Vec<&Span> {
        self.received.spans().collect()
    }

    /// The names of all spans, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self
            .received
            .spans()
            .map(|span| span.name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// The one span with this name.
    pub fn span(&self, name: &str) -> &Span {
        let found: Vec<_> = self
            .received
            .spans()
            .filter(|span| span.name == name)
            .collect();
        match found.as_slice() {
            [span] => span,
            _ => panic!("{} spans {name:?} among {:?}", found.len(), self.names()),
        }
    }

    /// The scope of the one span with this name.
    pub fn scope(&self, name: &str) -> &str {
        let found = self
            .received
            .scoped_spans()
            .find(|(_, _, span)| span.name == name);
        &found.expect("the span was exported").1.name
    }

    /// The points of `http.server.request.duration`, as method, route, status and count.
    pub fn durations(&self) -> Vec<(String, Option<String>, Option<String>, u64)> {
        let Some(metric) = self.received.metric("http.server.request.duration") else {
            return Vec::new();
        };
        let Some(Data::Histogram(histogram)) = &metric.data else {
            panic!("a histogram, not {metric:?}")
        };
        assert_eq!(metric.unit, "s");
        let describe = |point: &HistogramDataPoint| {
            let of = |key| text(&point.attributes, key);
            let method = of("http.request.method").expect("every request has a method");
            (
                method,
                of("http.route"),
                of("http.response.status_code"),
                point.count,
            )
        };
        let mut points: Vec<_> = histogram.data_points.iter().map(describe).collect();
        points.sort();
        points
    }
}

/// What tests ask of exported spans.
pub trait Look {
    fn get(&self, key: &str) -> Option<String>;
    fn event(&self, name: &str) -> Option<&opentelemetry_proto::tonic::trace::v1::span::Event>;
    /// 0 unset, 1 ok, 2 error.
    fn status_code(&self) -> i32;
}

impl Look for Span {
    fn get(&self, key: &str) -> Option<String> {
        text(&self.attributes, key)
    }

    fn event(&self, name: &str) -> Option<&opentelemetry_proto::tonic::trace::v1::span::Event> {
        self.events.iter().find(|event| event.name == name)
    }

    fn status_code(&self) -> i32 {
        self.status.as_ref().map_or(0, |status| status.code)
    }
}

/// `traceparent` for a span of another process.
pub const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03";

/// The trace id in [`CALLER`].
pub const CALLER_TRACE: [u8; 16] = [
    0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c,
];

/// The span id in [`CALLER`].
pub const CALLER_SPAN: [u8; 8] = [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31];
