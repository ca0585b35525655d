//! Spans as the application sees them.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use gym_telemetry_core::{Redaction, SpanContext, ToValue};

use crate::attributes::{Attributes, Collector, EventAttributes};
use crate::contain::contain;
use crate::failure::Failure;
use crate::options::{SpanOptions, Status};
use crate::process;
use crate::recorder::{
    Handle, Held, Inside, Link, Owned, Recorder, SpanLink, Started, current_entry, run_in,
    with_entry,
};

/// A piece of work with a beginning and an end.
///
/// A span is a value: it ends when it is dropped, on whatever thread, and is current only while it is entered by
/// [`entered`](Self::entered) or [`in_span`](crate::FutureExt::in_span). It can be sent to another thread but not
/// shared with one.
///
/// Every method does nothing on a span that is not recorded: because telemetry is off, its trace is not sampled,
/// or the limit of spans is reached. What is set after shutdown has cut the span off is lost.
///
/// A span that is dropped by a panic that unwinds through its owner fails: its status becomes an error and it gets
/// an `exception` event.
#[derive(Debug)]
#[must_use = "a span that is dropped at once measures nothing"]
pub struct Span {
    // Dropped by hand, so that nothing is left to drop after that; see `drop_handle`.
    handle: Handle,
    not_sync: PhantomData<Cell<()>>,
}

/// An error that is recorded later, or never.
#[doc(hidden)]
#[derive(Debug)]
pub struct HeldError(Failure);

impl Span {
    /// A span that is not recorded. Entering it changes nothing.
    #[inline]
    pub const fn none() -> Self {
        Self {
            handle: Handle::NOTHING,
            not_sync: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn of(handle: Handle) -> Self {
        Self {
            handle,
            not_sync: PhantomData,
        }
    }

    /// Starts a span.
    ///
    /// `attributes` runs at most once, and only if the span is recorded or a sampler wants to see the attributes.
    /// A panic in it is contained and counted; what it has set before stays.
    #[doc(hidden)]
    #[inline]
    pub fn start(
        name: impl Into<Cow<'static, str>>,
        options: SpanOptions<'_>,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Self {
        match process::recorder() {
            Some(recorder) => Self::start_on(recorder, name, options, attributes),
            None => Self::none(),
        }
    }

    #[inline]
    pub(crate) fn start_on(
        recorder: &'static Recorder,
        name: impl Into<Cow<'static, str>>,
        options: SpanOptions<'_>,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Self {
        Self::of(recorder.start(name.into(), options, attributes))
    }

    /// Whether the span is recorded, so that attributes are worth computing.
    #[inline]
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.with_record(|record| record.recorder().is_open())
            .unwrap_or(false)
    }

    /// The ids of the span, which it also has if its trace is not sampled.
    #[must_use]
    pub fn context(&self) -> Option<SpanContext> {
        self.link()?.span_context()
    }

    /// Sets an attribute. The last value of a key wins; `None` values are skipped.
    pub fn set_attribute(&self, key: impl Into<Cow<'static, str>>, value: impl ToValue) {
        self.set(|attributes| attributes.set(key, &value));
    }

    /// Sets attributes, replacing texts that the default rules of redaction call secret.
    pub fn set_attributes<K, V, const N: usize>(&self, attributes: [(K, V); N])
    where
        K: Into<Cow<'static, str>>,
        V: ToValue,
    {
        self.set(|list| {
            for (key, value) in attributes {
                list.set(key, &value);
            }
        });
    }

    /// Sets attributes, replacing texts whose key is in `keys` in place of the default keys. Credentials stay
    /// redacted.
    pub fn set_attributes_redacting(
        &self,
        keys: &[&str],
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) {
        self.merge(Some(Redaction::custom(keys)), attributes);
    }

    /// Sets the attributes that a closure names; what the macros expand to.
    #[doc(hidden)]
    #[inline]
    pub fn set(&self, attributes: impl FnOnce(&mut Attributes<'_>)) {
        if self.is_record() {
            self.merge(None, attributes);
        }
    }

    // Out of line: the places that set attributes stay small.
    #[inline(never)]
    fn merge(
        &self,
        redaction: Option<Redaction<'_>>,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) {
        // Each attribute is set on its own, with no foreign code in between, so an expression may use this very span.
        let mut collector;
        let mut target = match (self.held(), redaction) {
            (Held::Recorded(record), None) => Attributes::of_record(record),
            (Held::Recorded(record), Some(redaction)) => {
                collector = Collector::of_record(record, redaction);
                Attributes::through(&mut collector)
            }
            (Held::Borrowed(entry), redaction) => {
                collector = Collector::of_entry(entry, redaction);
                Attributes::through(&mut collector)
            }
            (Held::Nothing | Held::Passive(_), _) => return,
        };
        if contain(|| attributes(&mut target)).is_err() {
            self.count_panic();
        }
    }

    /// Adds an event that happens now.
    pub fn add_event(
        &self,
        name: impl Into<Cow<'static, str>>,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) {
        let Some(recorder) = self.recorder() else {
            return;
        };
        let at = recorder.clock.now();
        let mut event = EventAttributes::new(recorder.limits());
        let mut collector = Collector::of_event(&mut event);
        if contain(|| attributes(&mut Attributes::through(&mut collector))).is_err() {
            recorder.counts.panics.add(1);
        }
        let name = name.into();
        self.with_record(|record| record.add_event(name, at, event));
    }

    /// Adds a link to another span that this one has to do with.
    pub fn add_link(&self, context: &SpanContext, attributes: impl FnOnce(&mut Attributes<'_>)) {
        let Some(recorder) = self.recorder() else {
            return;
        };
        let link = SpanLink {
            context: context.clone(),
            attributes: recorder.collect(recorder.limits().link_attributes, attributes),
        };
        self.with_record(|record| record.add_link(link));
    }

    /// Changes the name.
    pub fn update_name(&self, name: impl Into<Cow<'static, str>>) {
        if self.is_record() {
            let name = name.into();
            self.with_record(|record| record.set_name(name));
        }
    }

    /// Sets the status, unless it is `Ok` already.
    pub fn set_status(&self, status: Status) {
        self.with_record(|record| record.set_status(status));
    }

    /// Records that the work failed: the status becomes an error, and unless the span was started without, an
    /// `exception` event tells the type and the message. The message must not hold secrets.
    pub fn record_error<E: Display + ?Sized>(&self, error: &E) {
        if let Some(error) = self.hold_error(error) {
            self.record_held_error(error);
        }
    }

    /// Keeps an error that may have to be recorded on this span later; `None` if nothing is recorded.
    #[doc(hidden)]
    pub fn hold_error<E: Display + ?Sized>(&self, error: &E) -> Option<HeldError> {
        if !self.is_record() {
            return None;
        }
        let message = contain(|| error.to_string());
        if message.is_err() {
            self.count_panic();
        }
        message.ok().map(|message| {
            HeldError(Failure {
                type_name: std::any::type_name::<E>(),
                message: Some(message),
            })
        })
    }

    /// Records an error that was kept, as [`record_error`](Self::record_error) does.
    #[doc(hidden)]
    pub fn record_held_error(&self, error: HeldError) {
        self.with_record(|record| error.0.record(record));
    }

    /// Ends the span now; the same as dropping it, except that a panic that unwinds meanwhile is not its own.
    pub fn end(mut self) {
        self.finish();
    }

    /// Makes the span current on this thread until the guard is dropped, which also ends it.
    ///
    /// Never hold the guard over an `.await`: use [`in_span`](crate::FutureExt::in_span) there.
    #[inline]
    pub fn entered(self) -> Entered {
        Entered(Inside::enter(self))
    }

    /// Runs `f` with the span as the current one, without ending it.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        run_in(self, f)
    }

    /// The span, unless entering it would change nothing.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn into_some(self) -> Option<Self> {
        (!self.is_nothing()).then_some(self)
    }

    #[inline]
    pub(crate) fn is_nothing(&self) -> bool {
        self.handle.is_nothing()
    }

    #[inline]
    fn is_record(&self) -> bool {
        self.handle.is_record()
    }

    #[inline]
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    #[inline]
    fn held(&self) -> Held<'_> {
        self.handle.held()
    }

    pub(crate) fn link(&self) -> Option<Link> {
        match self.held() {
            Held::Passive(link) => Some(link.clone()),
            _ => self.with_record(Owned::link),
        }
    }

    fn recorder(&self) -> Option<&'static Recorder> {
        self.with_record(Owned::recorder)
    }

    /// Gives `f`, which must not run foreign code, the record. `None` if the span is not recorded.
    #[inline]
    pub(crate) fn with_record<T>(&self, f: impl FnOnce(&Owned) -> T) -> Option<T> {
        match self.held() {
            Held::Recorded(record) => Some(f(&record)),
            Held::Borrowed(entry) => with_entry(entry, f),
            Held::Nothing | Held::Passive(_) => None,
        }
    }

    fn count_panic(&self) {
        if let Some(recorder) = self.recorder() {
            recorder.counts.panics.add(1);
        }
    }

    #[inline]
    fn finish(&mut self) {
        if let Started::Recorded(record) = self.handle.take() {
            finish(record);
        }
    }
}

// A panic can leave a span without what was to be set on it, which is no more than a panic says anyway.
impl UnwindSafe for Span {}
impl RefUnwindSafe for Span {}

impl Default for Span {
    /// A span that is not recorded.
    fn default() -> Self {
        Self::none()
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if !self.is_nothing() {
            drop_handle(std::mem::replace(&mut self.handle, Handle::NOTHING));
        }
    }
}

// This takes a value, and leaves none behind: a place whose group is off has no use for the address of its span then,
// and keeps it in a register or forgets it.
#[inline(never)]
fn drop_handle(handle: Handle) {
    drop_held(handle);
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "both that call it are of one instruction without it"
)]
fn drop_held(mut handle: Handle) {
    match handle.take() {
        Started::Recorded(record) => {
            if std::thread::panicking() {
                fail(&record);
            }
            finish(record);
        }
        other => drop_unrecorded(other),
    }
}

/// A panic unwinds through the owner of the span.
#[cold]
#[inline(never)]
fn fail(record: &Owned) {
    if !record.started_panicking() {
        Failure::panic(None).record(record);
    }
}

#[cold]
#[inline(never)]
fn drop_unrecorded(started: Started) {
    drop(started);
}

#[inline]
fn finish(record: Owned) {
    let now = record.recorder().clock.now();
    record.end(now);
}

#[inline(never)]
fn drop_entered(inside: Inside) {
    let mut span = inside.leave();
    drop_held(std::mem::replace(&mut span.handle, Handle::NOTHING));
}

/// A span that is current on this thread; what [`Span::entered`] returns.
///
/// Dropping it makes the context current that was current before, and ends the span. It cannot be sent to another
/// thread. Guards may be dropped in any order.
#[derive(Debug)]
#[must_use = "the span is current only as long as the guard lives"]
pub struct Entered(Inside);

impl Entered {
    /// Ends the span now.
    pub fn end(self) {
        self.exit().end();
    }

    /// Makes the span a mere value again, without ending it.
    pub fn exit(mut self) -> Span {
        self.take().leave()
    }

    #[inline]
    fn take(&mut self) -> Inside {
        std::mem::replace(&mut self.0, Inside::NOTHING)
    }
}

impl Deref for Entered {
    type Target = Span;

    #[inline]
    fn deref(&self) -> &Span {
        self.0.span()
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        if !self.is_nothing() {
            drop_entered(self.take());
        }
    }
}

/// Gives `f` the current span, which is not recorded if there is none.
///
/// The current span is one that was entered on this thread. One that was only carried here, by [`carry`](crate::carry)
/// or [`in_current_context`](crate::FutureExt::in_current_context), is a parent for new spans but takes no
/// attributes: start a span of its own for work that moves elsewhere.
pub fn with_current_span<T>(f: impl FnOnce(&Span) -> T) -> T {
    let borrowed = current_entry().map_or(Started::Nothing, Started::Borrowed);
    let borrowed = Span::of(borrowed.into());
    f(&borrowed)
}

/// Sets attributes of the current span, in the sense of [`with_current_span`].
///
/// The closure does not run if no span is current.
pub fn set_current_attributes(attributes: impl FnOnce(&mut Attributes<'_>)) {
    with_current_span(|span| span.set(attributes));
}
