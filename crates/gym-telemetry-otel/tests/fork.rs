//! A forked child has a telemetry of its own.
#![expect(unsafe_code, reason = "only the C library can fork a process")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_otel::{Context, Span, SpanOptions, TelemetryHandle, get_telemetry, testing};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

const PATIENCE: Duration = Duration::from_secs(20);

/// Appends a line per span to a file that parent and child share.
#[derive(Clone, Debug)]
struct Shared(Arc<File>);

impl SpanExporter for Shared {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let mut lines = String::new();
        for span in batch {
            let (trace, id) = (span.span_context.trace_id(), span.span_context.span_id());
            let (pid, name, parent) = (std::process::id(), span.name, span.parent_span_id);
            writeln!(lines, "{pid} {name} {trace} {id} {parent}").expect("a string takes all");
        }
        (&*self.0)
            .write_all(lines.as_bytes())
            .expect("the file can be written");
        Ok(())
    }
}

fn start(name: &'static str) -> Span {
    Span::start(name, SpanOptions::default(), |_| {})
}

fn record(count: usize) {
    for _ in 0..count {
        Context::root().run(|| start("root").end());
    }
}

#[test]
fn a_forked_child_exports_its_own_spans_with_fresh_ids_and_none_of_its_parents() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("spans");
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .expect("a file");
    let handle = testing::install(Shared(Arc::new(file))).expect("is the first");

    let open = start("open").entered();
    start("ended").end();
    record(10);
    // SAFETY: the child uses what this test is about and leaves without returning to the harness.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "cannot fork");
    if child == 0 {
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            in_child(handle);
            drop(open);
        }));
        // SAFETY: ends this process without running the exit handlers of the harness.
        unsafe { libc::_exit(i32::from(failed.is_err())) };
    }
    record(2_000);
    let mut status = 0;
    // SAFETY: the child is ours and `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child failed");
    drop(open);
    assert!(handle.shutdown(PATIENCE).is_complete());

    let text = std::fs::read_to_string(&path).expect("was written");
    let spans: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let of = |name: &str| {
        spans
            .iter()
            .filter(|span| span[1] == name)
            .collect::<Vec<_>>()
    };
    let me = std::process::id().to_string();
    for name in ["open", "ended"] {
        let found = of(name);
        assert_eq!((found.len(), found[0][0]), (1, me.as_str()), "{name}");
    }
    let in_child = of("child");
    assert_eq!(in_child.len(), 1);
    assert_eq!(in_child[0][0], child.to_string());
    // The work goes on in the child, so its spans hang on the span that was open.
    assert_eq!(
        (in_child[0][2], in_child[0][4]),
        (of("open")[0][2], of("open")[0][3])
    );
    assert_eq!(of("root").len(), 10 + 2 * 2_000);
    let ids: HashSet<_> = spans.iter().map(|span| span[3]).collect();
    assert_eq!(ids.len(), spans.len());
}

fn in_child(handle: TelemetryHandle) {
    assert_eq!(get_telemetry(), Some(handle));
    start("child").end();
    record(2_000);
    let receipt = handle.shutdown(PATIENCE);
    assert!(receipt.is_complete(), "{receipt:?}");
    assert_eq!(receipt.traces.exported, 2_001);
    assert_eq!(receipt.traces.truncated, 0);
}
