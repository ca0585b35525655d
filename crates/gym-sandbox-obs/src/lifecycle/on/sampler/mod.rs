//! Reads the resources of all sandboxes of the process, on one thread.
//!
//! The thread ends soon after the last sandbox. It is not the application's: a blocked, busy or vanished
//! runtime delays no reading, and a slow provider delays no application.

mod contain;
mod driver;
mod entry;
mod patience;
mod reading;
mod schedule;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gym_telemetry_api::__private::tokio::sync::oneshot;
use gym_telemetry_api::__private::{is_recording_process, sample_interval};
use gym_telemetry_api::{Context, is_span_group_enabled};
use gym_telemetry_core::group;

use self::driver::{Command, Driver};
use self::entry::Entry;
use super::identity::Identity;
use crate::reader::ResourceReader;

pub(super) use self::entry::report;

/// A reading that takes longer is unavailable.
const READ_BOUND: Duration = Duration::from_secs(2);
/// How much later than its reading a stop goes on when the sampler's thread has not answered: a reader blocks it.
const STOP_MARGIN: Duration = Duration::from_millis(250);
/// What the configuration says if nobody else does.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(10);
/// Shorter intervals would read all the time.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// Longer intervals are as good as never, and clocks cannot count them.
const LONGEST_INTERVAL: Duration = Duration::from_hours(24 * 365);

/// Some providers take a second for each reading: ten thousand sandboxes at ten seconds are a thousand readings at
/// once, and twice as many leave room for slow ones.
static MAX_READS_IN_FLIGHT: AtomicUsize = AtomicUsize::new(2048);

/// Bounds how many readings of this process are under way at once; 2,048 unless told otherwise.
///
/// A reading that finds no room waits for it. One that has not started when the next is due is left out and counted
/// in `gym.sandbox.sample_skipped_total`. A bound of zero counts as one.
///
/// # Off build
///
/// Does nothing.
pub fn set_max_reads_in_flight(reads: usize) {
    MAX_READS_IN_FLIGHT.store(reads.max(1), Ordering::Relaxed);
}

fn max_reads_in_flight() -> usize {
    MAX_READS_IN_FLIGHT.load(Ordering::Relaxed)
}

/// How often a sandbox is to be read whose start is the current span of `context`; `None` for never.
pub(super) fn interval(own: Option<Duration>, context: &Context) -> Option<Duration> {
    let interval = chosen(own, sample_interval())?;
    let is_sampled = context
        .span_context()
        .is_none_or(|span| span.flags().is_sampled());
    (is_sampled && reads_are_on()).then_some(interval)
}

/// A request may choose how often it is read, not whether sandboxes of this process are read at all.
fn chosen(own: Option<Duration>, configured: Option<Duration>) -> Option<Duration> {
    let configured = configured.unwrap_or(DEFAULT_INTERVAL);
    let interval = own.unwrap_or(configured);
    (!configured.is_zero() && !interval.is_zero())
        .then(|| interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL))
}

/// Whether anybody would see what a reading finds.
fn reads_are_on() -> bool {
    is_span_group_enabled(&group::SANDBOX) && is_recording_process()
}

/// The sampling of one sandbox; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Sampling {
    entry: Arc<Entry>,
    driver: Driver,
}

impl Sampling {
    /// Reads the allocation as soon as there is room, and a sample in every interval.
    pub(super) fn start(
        identity: &Arc<Identity>,
        context: Context,
        reader: Arc<dyn ResourceReader>,
        interval: Duration,
    ) -> Option<Self> {
        let entry = Arc::new(Entry::new(Arc::clone(identity), context, reader, interval));
        let driver = Driver::of_process(Command::Add(Arc::clone(&entry)))?;
        identity.provider.samples();
        entry::add(&entry);
        Some(Self { entry, driver })
    }

    /// Ends sampling and reads a last sample; returns when that is over, soon after two seconds at the latest.
    pub(super) async fn finish(&self) {
        let (reply, finished) = oneshot::channel();
        if self.driver.send(Command::Finish(self.entry.id(), reply)) {
            // An error means that there is nobody left to read anything.
            patience::wait(finished, READ_BOUND + STOP_MARGIN).await;
        }
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        entry::remove(&self.entry);
        self.driver.send(Command::Remove(self.entry.id()));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{DEFAULT_INTERVAL, SHORTEST_INTERVAL, chosen};

    #[test]
    fn a_zero_on_either_side_ends_reading() {
        let [zero, one, two] = [0, 1, 2].map(Duration::from_secs);
        assert_eq!(chosen(Some(one), Some(two)), Some(one));
        assert_eq!(chosen(None, Some(two)), Some(two));
        assert_eq!(chosen(None, None), Some(DEFAULT_INTERVAL));
        assert_eq!(chosen(Some(zero), Some(two)), None);
        assert_eq!(chosen(Some(one), Some(zero)), None);
        assert_eq!(chosen(None, Some(zero)), None);
        let tiny = Duration::from_nanos(1);
        assert_eq!(chosen(Some(tiny), None), Some(SHORTEST_INTERVAL));
    }
}
