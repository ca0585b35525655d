//! The workloads of the `recorder` bench: ours, and the SDK's as the last one.
//!
//! - (a) a root and 100 children, each with a static string and an integer as attributes;
//! - (e) a span with eight attributes, three of them owned strings, two events and an error;
//! - (p) 21 spans as in (a), then a sleep of a millisecond: what is in the processor's caches is gone by then.

pub mod sdk;

use std::hint::black_box;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use gym_telemetry_api::__private::testing::Discard;
use gym_telemetry_api::{Status, add_event, enter, set_span_attributes};
use gym_telemetry_core::group;

use crate::names::{CHILD, NUMBER, ROOT, WORD};

/// One way to record the workloads.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// How reports call it.
    pub name: &'static str,
    /// Workload (a).
    pub sequential: fn(),
    /// Workload (e).
    pub rich: fn(),
    /// Workload (p).
    pub paused: fn(),
    /// Exports what was recorded.
    pub flush: fn(),
    /// How many spans were exported.
    pub exported: fn() -> u64,
}

/// Both stacks, ready to record.
///
/// # Panics
///
/// If this process records already.
#[must_use]
pub fn stacks() -> Vec<Stack> {
    let telemetry = Discard::install_encoding().expect("nothing was set up before");
    assert!(OURS.set(telemetry).is_ok(), "the stacks are made once");
    sdk::install(sdk::Encoding::default());
    vec![
        Stack {
            name: "gym-telemetry",
            sequential: || ours(100),
            rich: ours_rich,
            paused: || {
                ours(20);
                sleep(Duration::from_millis(1));
            },
            flush: || {
                if let Some(ours) = OURS.get() {
                    let _ = ours.handle().flush(Duration::from_secs(30));
                }
            },
            exported: || OURS.get().map_or(0, Discard::exported),
        },
        Stack {
            name: "opentelemetry_sdk",
            sequential: || sdk::root(100),
            rich: sdk::rich,
            paused: || {
                sdk::root(20);
                sleep(Duration::from_millis(1));
            },
            flush: sdk::flush,
            exported: sdk::exported,
        },
    ]
}

static OURS: OnceLock<Discard> = OnceLock::new();

#[inline(never)]
fn child(number: i64) {
    let _entered = enter!(group::ROLLOUT, CHILD, WORD => "measured", NUMBER => number);
    black_box(number);
}

/// A root and so many children.
pub fn ours(children: i64) {
    let _root = enter!(group::ROLLOUT, ROOT);
    for number in 0..children {
        child(number);
    }
}

/// Keys of the further attributes of workload (e).
mod keys {
    pub(super) const TEXTS: [&str; 3] = ["bench.rollout", "bench.model", "bench.path"];
    pub(super) const SHARE: &str = "bench.share";
    pub(super) const IS_FIRST: &str = "bench.is_first";
    pub(super) const COUNT: &str = "bench.count";
}

/// What the owned strings are made of.
const TEXTS: [&str; 3] = [
    "rollout-0123456789",
    "a-model-of-some-size",
    "/a/path/to/something",
];
/// The events of workload (e).
const EVENTS: [&str; 2] = ["first", "second"];
/// The error of workload (e).
const ERROR: &str = "it did not work";

fn ours_rich() {
    let [rollout, model, path] = TEXTS.map(String::from);
    let number = black_box(7_i64);
    let span = enter!(group::ROLLOUT, CHILD,
        WORD => "measured", NUMBER => number,
        keys::TEXTS[0] => rollout, keys::TEXTS[1] => model, keys::TEXTS[2] => path);
    set_span_attributes!(span; keys::SHARE => 0.5, keys::IS_FIRST => true, keys::COUNT => number);
    add_event!(span; EVENTS[0], NUMBER => number, WORD => "event");
    add_event!(span; EVENTS[1], NUMBER => number, WORD => "event");
    span.set_status(Status::Error(ERROR.into()));
}
