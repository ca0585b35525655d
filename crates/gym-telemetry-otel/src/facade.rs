//! What the macros of gym-telemetry-api expand to and nobody else calls.

use crate::{contain, process};

/// Whether spans are recorded in this process: the gate of spans that no group gates.
#[must_use]
pub fn is_recording_process() -> bool {
    process::recorder().is_some()
}

/// Whether this process exports telemetry of any kind.
#[must_use]
pub fn is_exporting_process() -> bool {
    process::telemetry().is_some()
}

/// Evaluates an argument of a macro. A panic in it is counted and answered with `None`.
#[inline]
pub fn contain<T>(argument: impl FnOnce() -> T) -> Option<T> {
    let value = contain::contain(argument);
    if value.is_err() {
        count_panic();
    }
    value.ok()
}

#[cold]
#[inline(never)]
fn count_panic() {
    if let Some(recorder) = process::recorder() {
        recorder.counts.panics.add(1);
    }
}
