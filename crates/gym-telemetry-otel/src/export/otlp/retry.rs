//! When a failed request is sent again.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

use super::super::report::Cause;

/// A request that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) cause: Cause,
    pub(super) retry: Retry,
}

/// Whether a request may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    /// The same request would fail again.
    Never,
    /// After a pause of our choice.
    Soon,
    /// Not before the time that the collector named.
    After(Duration),
}

/// The pauses between the attempts of one export: few and short, because the next batch waits behind this one.
pub(super) struct Backoff {
    deadline: Option<Instant>,
    pause: Duration,
    left: u32,
}

impl Backoff {
    const RETRIES: u32 = 3;
    const FIRST_PAUSE: Duration = Duration::from_millis(100);
    const JITTER_MS: u64 = 100;

    pub(super) fn new(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            pause: Self::FIRST_PAUSE,
            left: Self::RETRIES,
        }
    }

    /// How long to wait before the next attempt; `None` if there is no point in or no time for one.
    pub(super) fn next(&mut self, retry: Retry) -> Option<Duration> {
        let least = match retry {
            Retry::Never => return None,
            Retry::Soon => Duration::ZERO,
            Retry::After(least) => least,
        };
        self.left = self.left.checked_sub(1)?;
        // Servers of one run fail together; they shall not come back together.
        let jitter = RandomState::new().build_hasher().finish() % Self::JITTER_MS;
        let pause = self.pause.max(least) + Duration::from_millis(jitter);
        self.pause *= 2;
        let in_time = self
            .deadline
            .is_none_or(|deadline| Instant::now() + pause < deadline);
        in_time.then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let mut backoff = Backoff::new(None);
        let pauses: Vec<_> = std::iter::from_fn(|| backoff.next(Retry::Soon))
            .map(|pause| pause.as_millis())
            .collect();
        assert_eq!(pauses.len(), 3);
        for (pause, least) in pauses.into_iter().zip([100, 200, 400]) {
            assert!((least..least + 100).contains(&pause), "{pause} for {least}");
        }
    }

    #[test]
    fn the_collectors_pause_is_kept() {
        let pause = Backoff::new(None)
            .next(Retry::After(Duration::from_secs(7)))
            .expect("a retry");
        assert!(pause >= Duration::from_secs(7), "{pause:?}");
    }

    #[test]
    fn no_retry_starts_after_the_deadline() {
        let deadline = Instant::now() + Duration::from_secs(5);
        assert_eq!(
            Backoff::new(Some(deadline)).next(Retry::After(Duration::from_secs(6))),
            None
        );
        assert!(Backoff::new(Some(deadline)).next(Retry::Soon).is_some());
    }

    #[test]
    fn what_would_fail_again_is_not_retried() {
        assert_eq!(Backoff::new(None).next(Retry::Never), None);
    }
}
