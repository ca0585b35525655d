//! What other threads ask of the telemetry thread.

use std::sync::mpsc::SyncSender;
use std::time::Instant;

use gym_telemetry_core::receipt::{Outcome, SignalReceipt};

/// A request to one signal. The requester waits elsewhere, with a deadline of its own.
#[derive(Debug)]
pub(crate) enum Request {
    /// Export what has been recorded so far.
    Flush {
        /// Gets how it went, once it is done.
        reply: SyncSender<Outcome>,
    },
    /// Export what has been recorded so far and stop.
    ShutDown {
        /// When to give up what is not exported by then.
        deadline: Instant,
        /// Gets what became of everything.
        reply: SyncSender<SignalReceipt>,
    },
}

/// How long `deadline` is away.
pub(crate) fn time_until(deadline: Instant) -> std::time::Duration {
    deadline.saturating_duration_since(Instant::now())
}
