//! Compiled out: nothing is measured, nothing is registered, nothing is stored.

use std::ops::Deref;

use crate::component::ConcurrencyComponent;
use crate::limit::Limit;
use crate::slots::{Meter, Slots, WaitOutcome};

#[derive(Debug)]
pub(crate) struct SlotMeter;

impl SlotMeter {
    #[inline]
    #[expect(clippy::unused_self, reason = "the same call in both builds")]
    pub(crate) fn key(&self) -> LimitKey {
        LimitKey
    }
}

impl Meter for SlotMeter {
    type Moment = ();
    type Arrival<'a> = ();

    #[inline]
    fn measures_waits(&self) -> bool {
        false
    }
    #[inline]
    fn now(&self) {}
    #[inline]
    fn active(&self, _: impl FnOnce() -> usize) {}
    #[inline]
    fn queued(&self, _: usize, _: impl FnOnce() -> usize) {}
    #[inline]
    fn arrived(&self, _: usize) {}
    #[inline]
    fn departed(&self, (): ()) {}
    #[inline]
    fn waited(&self, _: Option<()>, _: WaitOutcome) {}
}

/// Slots that nobody else reads: they stand in the semaphore itself.
#[derive(Debug)]
pub(crate) struct Registered(Slots<SlotMeter>);

impl Registered {
    #[inline]
    pub(crate) fn new(limit: Limit, _: LimitKey, _can_time_out: bool) -> Self {
        Self(Slots::new(limit, SlotMeter))
    }
}

impl Deref for Registered {
    type Target = Slots<SlotMeter>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// What a limit is called; only the export needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LimitKey;

impl LimitKey {
    #[inline]
    pub(crate) fn new(_: ConcurrencyComponent, _: &'static str) -> Self {
        Self
    }

    #[inline]
    pub(crate) fn server_name(self, _: &str) -> Self {
        self
    }

    #[expect(clippy::unused_self, reason = "the same call in both builds")]
    pub(crate) fn attributes(self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}
