//! Notices that the process was forked.
//!
//! A forked child has only the thread that forked: no telemetry thread, and a copy of the parent's id state and
//! of its open spans. Everything that must not be shared between the two remembers the generation it was made
//! in and is made anew when the generation has moved on.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);
static WATCH: Once = Once::new();

/// Counts the forks that led to this process since [`watch`] was first called.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// Starts to notice forks. Calling it again changes nothing.
pub(crate) fn watch() {
    WATCH.call_once(register);
}

#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "a fork can only be noticed by a handler registered with the C library"
)]
fn register() {
    unsafe extern "C" fn in_child() {
        // Only async-signal-safe work is allowed here: an atomic addition and an atomic store, and stores to
        // thread locals without destructors.
        GENERATION.fetch_add(1, Ordering::Relaxed);
        crate::recorder::forget_lane();
        crate::process::forget_recorder();
    }
    // SAFETY: `in_child` lives as long as the program and keeps the contract of fork handlers: it neither
    // allocates, locks nor unwinds.
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if failed != 0 {
        crate::warn::warn(
            "fork",
            &"cannot watch for forks: a forked child would repeat this process's ids",
        );
    }
}

#[cfg(not(unix))]
fn register() {}
