//! The process observer: what the process and the application's runtime are doing, while metrics are exported.

mod process;
mod runtime;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use self::runtime::{Runtimes, watch};
use crate::metrics::{are_metrics_exporting, observe};
use crate::{fork, process as settled};

/// A fork may have left the lock locked for ever.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// The way to the observer of this process, with the fork generation it was made in.
static OBSERVER: Mutex<Option<(u32, UnboundedSender<Handle>)>> = Mutex::new(None);

/// Measures how long tasks of a tokio runtime wait for their turn, how many there are and how busy its workers are, as
/// `gym.event_loop.*`, for as long as metrics are exported and the runtime lives.
///
/// The runtime inside which [`init_telemetry`](crate::init_telemetry) is called is observed by itself; this is for one
/// that is made later. Call it after `init_telemetry`. It does nothing if metrics are not exported, or if the runtime is
/// observed already. What several runtimes do is reported as one: tasks are added up, and the longest delay counts.
///
/// One task is spawned on the runtime. It is woken four times a second, never keeps the runtime alive, and is not among
/// the tasks that are reported.
///
/// ```
/// use gym_telemetry_otel::observe_runtime;
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// observe_runtime(runtime.handle());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn observe_runtime(runtime: &Handle) {
    // A forked child starts its own telemetry first.
    if settled::telemetry().is_none() || !are_metrics_exporting() {
        return;
    }
    let Some(observer) = OBSERVER.try_lock_for(LONGEST_WAIT) else {
        return;
    };
    if let Some((generation, observer)) = &*observer
        && *generation == fork::generation()
    {
        // An error means that telemetry has ended.
        let _ = observer.send(runtime.clone());
    }
}

/// As [`observe_runtime`], for the runtime that the caller is in. Does nothing outside one.
pub fn observe_current_runtime() {
    if let Ok(runtime) = Handle::try_current() {
        observe_runtime(&runtime);
    }
}

/// Runtimes to observe, from before there is an observer.
pub(crate) struct Arrivals(UnboundedReceiver<Handle>);

/// Takes runtimes to observe from now on, first the one that this is called in.
///
/// Not in a forked child: there that is the parent's, of which only this thread is left.
pub(crate) fn open() -> Arrivals {
    let (sender, arrivals) = unbounded_channel();
    let generation = fork::generation();
    if generation == 0
        && let Ok(current) = Handle::try_current()
    {
        let _ = sender.send(current);
    }
    if let Some(mut observer) = OBSERVER.try_lock_for(LONGEST_WAIT) {
        *observer = Some((generation, sender));
    }
    Arrivals(arrivals)
}

/// Starts the observer on the telemetry thread, inside whose runtime this must be called and with which it ends.
pub(crate) fn start(Arrivals(mut arrivals): Arrivals) {
    let runtimes = Arc::new(Runtimes::default());
    let read = Arc::clone(&runtimes);
    // From now on: the first export may be the last.
    let observations = [
        observe(process::report),
        observe(move |observer| read.report(observer)),
    ];
    let work = async move {
        let _observations = observations;
        // Ends with the telemetry thread.
        while let Some(runtime) = arrivals.recv().await {
            if let Some(place) = runtimes.add(&runtime) {
                drop(tokio::spawn(watch(runtime, place)));
            }
        }
        std::future::pending::<()>().await;
    };
    // Whoever waits for it would wait for as long as telemetry lives.
    drop(tokio::spawn(work));
}
