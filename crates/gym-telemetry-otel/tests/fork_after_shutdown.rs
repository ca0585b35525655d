//! What has ended stays ended in forked children.
#![expect(unsafe_code, reason = "only the C library can fork a process")]

use std::time::Duration;

use gym_telemetry_otel::{Span, SpanOptions, get_telemetry, shutdown_telemetry, testing};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

#[derive(Clone, Debug)]
struct Nowhere;

impl SpanExporter for Nowhere {
    async fn export(&self, _: Vec<SpanData>) -> OTelSdkResult {
        Ok(())
    }
}

#[test]
fn a_child_forked_after_the_shutdown_starts_no_telemetry() {
    let budget = Duration::from_secs(20);
    let _handle = testing::install(Nowhere).expect("is the first");
    assert!(shutdown_telemetry(budget).is_complete());
    // SAFETY: the child uses what this test is about and leaves without returning to the harness.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "cannot fork");
    if child == 0 {
        let span = Span::start("work", SpanOptions::default(), |_| {});
        let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        let is_off = get_telemetry().is_none() && !span.is_recording() && threads == 1;
        // SAFETY: ends this process without running the exit handlers of the harness.
        unsafe { libc::_exit(i32::from(!is_off)) };
    }
    let mut status = 0;
    // SAFETY: the child is ours and `status` outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child has telemetry");
}
