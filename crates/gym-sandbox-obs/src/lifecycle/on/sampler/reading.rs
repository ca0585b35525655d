//! One reading.

use std::sync::Arc;

use gym_telemetry_api::__private::tokio;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant as TokioInstant, timeout_at};

use super::driver::{Command, Kind};
use super::entry::Entry;
use crate::unavailable::Unavailable;

/// Reads and records.
pub(super) async fn read(end: Done, deadline: TokioInstant) {
    let reader = end.entry.reader();
    match end.kind {
        // Whoever reads a sample next will meet what went wrong here.
        Kind::Preparation => _ = timeout_at(deadline, reader.prepare()).await,
        Kind::Allocation => {
            let outcome = timeout_at(deadline, reader.allocation()).await;
            let outcome = outcome.unwrap_or(Err(Unavailable::Timeout));
            end.entry.record_allocation(&outcome);
        }
        Kind::Sample | Kind::LastSample => {
            let outcome = timeout_at(deadline, reader.sample()).await;
            let outcome = outcome.unwrap_or(Err(Unavailable::Timeout));
            end.entry.record_sample(&outcome);
        }
    }
}

/// Says that a reading has ended, also if it was aborted or has panicked.
pub(super) struct Done {
    pub(super) entry: Arc<Entry>,
    pub(super) kind: Kind,
    pub(super) commands: UnboundedSender<Command>,
}

impl Drop for Done {
    fn drop(&mut self) {
        if std::thread::panicking() {
            match self.kind {
                Kind::Preparation => {}
                Kind::Allocation => {
                    let outcome = Err(Unavailable::UnrecognizedResponse);
                    self.entry.record_allocation(&outcome);
                }
                Kind::Sample | Kind::LastSample => {
                    self.entry
                        .record_sample(&Err(Unavailable::MalformedReading));
                }
            }
        }
        // An error means that the thread is ending.
        let _ = self
            .commands
            .send(Command::Done(self.entry.id(), self.kind));
    }
}
