//! Spans as the application sees them.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use gym_telemetry_core::{Redaction, SpanContext, ToValue};

use crate::attributes::Attributes;
use crate::contain::contain;
use crate::failure::Failure;
use crate::options::{SpanOptions, Status};
use crate::process;
use crate::recorder::{Event, Link, Node, Recorder, SpanLink, Started};
use crate::stack::{self, Entry, Frame};

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
#[derive(Debug, Default)]
#[must_use = "a span that is dropped at once measures nothing"]
pub struct Span {
    started: Started,
    not_sync: PhantomData<Cell<()>>,
}

impl Span {
    /// A span that is not recorded. Entering it changes nothing.
    pub const fn none() -> Self {
        Self {
            started: Started::Nothing,
            not_sync: PhantomData,
        }
    }

    /// Starts a span.
    ///
    /// `attributes` runs at most once, and only if the span is recorded or a sampler wants to see the attributes.
    /// A panic in it is contained and counted; what it has set before stays.
    #[doc(hidden)]
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

    pub(crate) fn start_on(
        recorder: &'static Recorder,
        name: impl Into<Cow<'static, str>>,
        options: SpanOptions<'_>,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Self {
        Self {
            started: recorder.start(name.into(), &options, attributes),
            not_sync: PhantomData,
        }
    }

    /// Whether the span is recorded, so that attributes are worth computing.
    #[inline]
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.node().is_some_and(|node| node.is_open())
    }

    /// The ids of the span, which it also has if its trace is not sampled.
    #[must_use]
    pub fn context(&self) -> Option<SpanContext> {
        self.link().and_then(Link::span_context)
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
        self.merge(Redaction::custom(keys), attributes);
    }

    /// Sets the attributes that a closure names; what the macros expand to.
    #[doc(hidden)]
    #[inline]
    pub fn set(&self, attributes: impl FnOnce(&mut Attributes<'_>)) {
        if self.node().is_some() {
            self.merge(Redaction::DEFAULT, attributes);
        }
    }

    // Out of line: the places that set attributes stay small.
    #[inline(never)]
    fn merge(&self, redaction: Redaction<'_>, attributes: impl FnOnce(&mut Attributes<'_>)) {
        let Some(node) = self.node() else { return };
        let limit = node.recorder.limits().attributes;
        // Foreign code runs before the span is locked: it may use this very span.
        let list = node.recorder.collect(limit, redaction, attributes);
        node.change(|body| body.attributes.append(list, limit));
    }

    /// Adds an event that happens now.
    pub fn add_event(
        &self,
        name: impl Into<Cow<'static, str>>,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) {
        let Some(node) = self.node() else { return };
        let at = node.recorder.clock.now();
        let limits = node.recorder.limits();
        let attributes =
            node.recorder
                .collect(limits.event_attributes, Redaction::DEFAULT, attributes);
        let event = Event {
            name: name.into(),
            at,
            attributes,
        };
        node.change(|body| body.add_event(event, limits.events));
    }

    /// Adds a link to another span that this one has to do with.
    pub fn add_link(&self, context: &SpanContext, attributes: impl FnOnce(&mut Attributes<'_>)) {
        let Some(node) = self.node() else { return };
        let limits = node.recorder.limits();
        let attributes =
            node.recorder
                .collect(limits.link_attributes, Redaction::DEFAULT, attributes);
        let link = SpanLink {
            context: context.clone(),
            attributes,
        };
        node.change(|body| body.add_link(link, limits.links));
    }

    /// Changes the name.
    pub fn update_name(&self, name: impl Into<Cow<'static, str>>) {
        if let Some(node) = self.node() {
            let name = name.into();
            node.change(|body| body.name = name);
        }
    }

    /// Sets the status, unless it is `Ok` already.
    pub fn set_status(&self, status: Status) {
        if let Some(node) = self.node() {
            node.change(|body| body.set_status(status));
        }
    }

    /// Records that the work failed: the status becomes an error, and unless the span was started without, an
    /// `exception` event tells the type and the message. The message must not hold secrets.
    pub fn record_error<E: Display + ?Sized>(&self, error: &E) {
        let Some(node) = self.node() else { return };
        match contain(|| error.to_string()) {
            Ok(message) => {
                Failure {
                    type_name: std::any::type_name::<E>(),
                    message: Some(message),
                }
                .record(node);
            }
            Err(_) => node.recorder.counts.panics.add(1),
        }
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
        let entry = if self.is_nothing() {
            None
        } else {
            self.enter()
        };
        Entered {
            entry,
            span: self,
            not_send: PhantomData,
        }
    }

    /// Runs `f` with the span as the current one, without ending it.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        let _entered = self.frame().map(stack::enter_scope);
        f()
    }

    #[inline]
    fn is_nothing(&self) -> bool {
        matches!(self.started, Started::Nothing)
    }

    fn enter(&self) -> Option<Entry> {
        self.frame().and_then(stack::enter)
    }

    pub(crate) fn link(&self) -> Option<&Link> {
        match &self.started {
            Started::Nothing => None,
            Started::Recorded(node) => Some(&node.link),
            Started::Passive(link) => Some(link),
        }
    }

    #[inline]
    pub(crate) fn node(&self) -> Option<&Arc<Node>> {
        match &self.started {
            Started::Recorded(node) => Some(node),
            _ => None,
        }
    }

    /// What entering the span puts on the stack.
    pub(crate) fn frame(&self) -> Option<Frame> {
        match &self.started {
            Started::Nothing => None,
            Started::Recorded(node) => Some(Frame::Recorded(Arc::clone(node))),
            Started::Passive(link) => Some(Frame::Passive(Arc::clone(link))),
        }
    }

    fn drop_started(&mut self) {
        if let Some(node) = self.node()
            && std::thread::panicking()
            && !node.started_panicking
        {
            Failure::panic(None).record(node);
        }
        self.finish();
    }

    fn finish(&mut self) {
        if let Started::Recorded(node) = std::mem::take(&mut self.started) {
            Recorder::finish(node);
        }
    }
}

// A panic can leave a span without what was to be set on it, which is no more than a panic says anyway.
impl UnwindSafe for Span {}
impl RefUnwindSafe for Span {}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if !self.is_nothing() {
            self.drop_started();
        }
    }
}

/// A span that is current on this thread; what [`Span::entered`] returns.
///
/// Dropping it makes the context current that was current before, and ends the span. It cannot be sent to another
/// thread. Guards may be dropped in any order.
#[derive(Debug)]
#[must_use = "the span is current only as long as the guard lives"]
pub struct Entered {
    span: Span,
    entry: Option<Entry>,
    not_send: PhantomData<*const ()>,
}

impl Entered {
    /// Ends the span now.
    pub fn end(mut self) {
        self.leave();
        self.span.finish();
    }

    /// Makes the span a mere value again, without ending it.
    pub fn exit(mut self) -> Span {
        self.leave();
        std::mem::take(&mut self.span)
    }

    #[inline]
    fn leave(&mut self) {
        if let Some(entry) = self.entry.take() {
            stack::leave(entry);
        }
    }
}

impl Deref for Entered {
    type Target = Span;

    fn deref(&self) -> &Span {
        &self.span
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        // The span itself ends after this, outside of its own context.
        self.leave();
    }
}

/// Gives `f` the current span, which is not recorded if there is none.
///
/// The current span is one that was entered on this thread. One that was only carried here, by [`carry`](crate::carry)
/// or [`in_current_context`](crate::FutureExt::in_current_context), is a parent for new spans but takes no
/// attributes: start a span of its own for work that moves elsewhere.
pub fn with_current_span<T>(f: impl FnOnce(&Span) -> T) -> T {
    /// Does not end the span it has borrowed.
    struct Borrowed(Span);
    impl Drop for Borrowed {
        fn drop(&mut self) {
            self.0.started = Started::Nothing;
        }
    }
    let started = stack::current_node().map_or(Started::Nothing, Started::Recorded);
    let borrowed = Borrowed(Span {
        started,
        not_sync: PhantomData,
    });
    f(&borrowed.0)
}

/// Sets attributes of the current span, in the sense of [`with_current_span`].
///
/// The closure does not run if no span is current.
pub fn set_current_attributes(attributes: impl FnOnce(&mut Attributes<'_>)) {
    with_current_span(|span| span.set(attributes));
}
