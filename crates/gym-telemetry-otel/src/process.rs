//! What this process has settled on.
//!
//! The first decision holds for good. A forked child inherits it without the telemetry thread, so it starts a
//! telemetry of its own when it first needs one: its generation is appended to that of its parent.

use std::sync::{Arc, OnceLock};

use crate::fork;
use crate::recorder::{Lasting, Recorder};
use crate::thread::Telemetry;

/// The recorder of this process, once somebody has looked for it.
static FOUND: Lasting<Recorder> = Lasting::none();
static SETTLED: OnceLock<Option<Generation>> = OnceLock::new();

/// Starts telemetry for this process; asked again in a forked child. `None` leaves telemetry off.
pub(crate) type Launch = Arc<dyn Fn() -> Option<Telemetry> + Send + Sync>;

/// The telemetry of one process in a line of forks.
struct Generation {
    number: u32,
    telemetry: Option<Telemetry>,
    launch: Launch,
    child: OnceLock<Box<Generation>>,
}

impl Generation {
    fn start(launch: Launch) -> Self {
        let number = fork::generation();
        Self {
            number,
            telemetry: launch(),
            launch,
            child: OnceLock::new(),
        }
    }

    /// The generation after this one. What was off or had ended stays so.
    fn fork(&self) -> Self {
        let is_over = self.telemetry.as_ref().is_none_or(Telemetry::is_shut_down);
        let launch: Launch = if is_over {
            Arc::new(|| None)
        } else {
            Arc::clone(&self.launch)
        };
        Self::start(launch)
    }
}

/// Settles the process unless it is settled already. Threads that come at the same time wait for the first one.
pub(crate) fn settle(decide: impl FnOnce() -> Option<Launch>) {
    SETTLED.get_or_init(|| decide().map(Generation::start));
}

/// The telemetry of this process, if it has settled on having one.
pub(crate) fn telemetry() -> Option<&'static Telemetry> {
    let mut generation = SETTLED.get()?.as_ref()?;
    let number = fork::generation();
    while generation.number != number {
        generation = generation.child.get_or_init(|| Box::new(generation.fork()));
    }
    generation.telemetry.as_ref()
}

/// The recorder of this process, if spans are exported.
#[inline]
pub(crate) fn recorder() -> Option<&'static Recorder> {
    // The way of each span: looked up once in each process.
    FOUND.get().or_else(find_recorder)
}

#[cold]
#[inline(never)]
fn find_recorder() -> Option<&'static Recorder> {
    let recorder = telemetry()?.recorder();
    FOUND.set(recorder);
    recorder
}

/// Makes a forked child look for its own recorder. Safe to call in a fork handler.
pub(crate) fn forget_recorder() {
    FOUND.set(None);
}
