//! Instruments code with arguments that count and panic; fails if one of them was evaluated.
//!
//! With telemetry compiled in they must be evaluated, so the program switches everything on first.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "what it prints is its result")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gym_telemetry_api::{
    ServerIdentity, add_event, enter, group, in_span, init_telemetry, managed_span,
    set_span_attributes, shutdown_telemetry, span, trace_fn,
};

static EVALUATED: AtomicU64 = AtomicU64::new(0);

fn counted(text: &str) -> String {
    EVALUATED.fetch_add(1, Ordering::Relaxed);
    text.to_owned()
}

fn panicking() -> u64 {
    EVALUATED.fetch_add(1, Ordering::Relaxed);
    panic!("an argument was evaluated")
}

#[trace_fn(group::AGENT, counted("traced"), "key" => counted("traced"))]
fn traced() {}

#[trace_fn(group::AGENT, "traced", "key" => panicking())]
fn traced_panic() {}

fn main() -> ExitCode {
    let _telemetry = init_telemetry(ServerIdentity::default());
    let span = managed_span!(group::AGENT, counted("name"), "key" => counted("value"));
    drop(managed_span!(group::AGENT, "name", "key" => panicking()));
    drop(span!(counted("name"), "key" => counted("value")));
    let entered = enter!(group::AGENT, "name", "key" => counted("value"));
    set_span_attributes!(span; "key" => counted("value"));
    set_span_attributes!("key" => counted("value"));
    add_event!(span; counted("name"), "key" => counted("value"));
    add_event!(counted("name"), "key" => panicking());
    drop(in_span!(group::AGENT, "name", "key" => counted("value"); std::future::ready(())));
    traced();
    traced_panic();
    drop(entered);
    drop(span);
    drop(shutdown_telemetry(Duration::from_secs(1)));

    let evaluated = EVALUATED.load(Ordering::Relaxed);
    println!("arguments evaluated: {evaluated}");
    if evaluated == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
