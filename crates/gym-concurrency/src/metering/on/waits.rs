//! The waits of one limit between two collections.
//!
//! A limit under load can see a million waits between two exports. Instead of keeping each of them the log
//! keeps, for every bucket of the exported histogram, how many there were and their sum: memory is fixed,
//! nothing is lost, and the exported counts and sums are exact.

use std::time::Duration;

use gym_telemetry_api::__private::Histogram;
use gym_telemetry_core::metric::WAIT_BOUNDS_MS;

use crate::slots::WaitOutcome;

const OUTCOMES: [WaitOutcome; 4] =
    [WaitOutcome::Granted, WaitOutcome::Timeout, WaitOutcome::Cancelled, WaitOutcome::Closed];

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
}

/// How long callers waited, by outcome and bucket.
#[derive(Debug, Default)]
pub(super) struct WaitLog {
    buckets: [[Bucket; WAIT_BOUNDS_MS.len() + 1]; OUTCOMES.len()],
}

impl WaitLog {
    pub(super) fn add(&mut self, waited: Duration, outcome: WaitOutcome) {
        let milliseconds = waited.as_secs_f64() * 1_000.0;
        // A bound belongs to the bucket below it.
        let index = WAIT_BOUNDS_MS.partition_point(|&bound| bound < milliseconds);
        let bucket = &mut self.buckets[outcome as usize][index];
        bucket.least = if bucket.count == 0 { milliseconds } else { bucket.least.min(milliseconds) };
        bucket.most = bucket.most.max(milliseconds);
        bucket.count += 1;
        bucket.sum += milliseconds;
    }

    /// Records everything in the histograms that `histogram` returns for an outcome.
    pub(super) fn record(&self, mut histogram: impl FnMut(WaitOutcome, &dyn Fn(&Histogram))) {
        for (outcome, buckets) in OUTCOMES.into_iter().zip(&self.buckets) {
            if buckets.iter().any(|bucket| bucket.count > 0) {
                histogram(outcome, &|histogram| buckets.iter().for_each(|bucket| bucket.record(histogram)));
            }
        }
    }
}

impl Bucket {
    /// Records as many values as there were waits, with the same least, most and sum.
    fn record(&self, histogram: &Histogram) {
        match self.count {
            0 => {}
            1 => histogram.record(self.sum),
            count => {
                histogram.record(self.least);
                histogram.record(self.most);
                #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 waits")]
                let mean = ((self.sum - self.least - self.most) / (count - 2).max(1) as f64)
                    .clamp(self.least, self.most);
                for _ in 2..count {
                    histogram.record(mean);
                }
            }
        }
    }
}

impl WaitOutcome {
    /// Returns the outcome's name on the wire.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Closed => "closed",
        }
    }
}
