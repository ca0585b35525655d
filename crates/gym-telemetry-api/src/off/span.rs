//! Spans that are nothing.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::RefUnwindSafe;

use gym_telemetry_core::{SpanContext, SpanGroup, SpanKind, ToValue, scope};

use super::Context;

/// A span; in this build nothing.
///
/// Like a recorded span it can be sent to another thread, but not shared with one.
#[derive(Debug, Default)]
#[must_use = "a span that is dropped at once measures nothing"]
pub struct Span(PhantomData<Cell<()>>);

/// A span, without a call.
pub const NO_SPAN: Span = Span(PhantomData);

impl Span {
    /// Returns a span that records nothing.
    #[inline(always)]
    pub const fn none() -> Span {
        NO_SPAN
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn start(
        _name: impl Into<Cow<'static, str>>,
        _options: SpanOptions<'_>,
        _attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Span {
        NO_SPAN
    }

    /// Returns `false`.
    #[inline(always)]
    #[must_use]
    pub fn is_recording(&self) -> bool {
        false
    }

    /// Returns `None`.
    #[inline(always)]
    #[must_use]
    pub fn context(&self) -> Option<SpanContext> {
        None
    }

    /// Does nothing.
    #[inline(always)]
    pub fn set_attribute(&self, _key: impl Into<Cow<'static, str>>, _value: impl ToValue) {}

    /// Does nothing.
    #[inline(always)]
    pub fn set_attributes<K, V, const N: usize>(&self, _attributes: [(K, V); N])
    where
        K: Into<Cow<'static, str>>,
        V: ToValue,
    {
    }

    /// Does nothing.
    #[inline(always)]
    pub fn set_attributes_redacting(
        &self,
        _keys: &[&str],
        _attributes: impl FnOnce(&mut Attributes<'_>),
    ) {
    }

    #[doc(hidden)]
    #[inline(always)]
    pub fn set(&self, _attributes: impl FnOnce(&mut Attributes<'_>)) {}

    /// Does nothing.
    #[inline(always)]
    pub fn add_event(
        &self,
        _name: impl Into<Cow<'static, str>>,
        _attributes: impl FnOnce(&mut Attributes<'_>),
    ) {
    }

    /// Does nothing.
    #[inline(always)]
    pub fn add_link(&self, _context: &SpanContext, _attributes: impl FnOnce(&mut Attributes<'_>)) {}

    /// Does nothing.
    #[inline(always)]
    pub fn update_name(&self, _name: impl Into<Cow<'static, str>>) {}

    /// Does nothing.
    #[inline(always)]
    pub fn set_status(&self, _status: Status) {}

    /// Does nothing.
    #[inline(always)]
    pub fn record_error<E: Display + ?Sized>(&self, _error: &E) {}

    /// Does nothing.
    #[inline(always)]
    pub fn end(self) {}

    /// Returns a guard that does nothing.
    #[inline(always)]
    pub fn entered(self) -> Entered {
        NOT_ENTERED
    }

    /// Calls `f`.
    #[inline(always)]
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        f()
    }
}

impl RefUnwindSafe for Span {}

/// A span that is current on this thread; in this build nothing.
#[derive(Debug)]
#[must_use = "the span is current only as long as the guard lives"]
pub struct Entered(Span, PhantomData<*const ()>);

/// A guard, without a call.
pub const NOT_ENTERED: Entered = Entered(NO_SPAN, PhantomData);

impl Entered {
    /// Does nothing.
    #[inline(always)]
    pub fn end(self) {}

    /// Returns a span that records nothing.
    #[inline(always)]
    pub fn exit(self) -> Span {
        NO_SPAN
    }
}

impl Deref for Entered {
    type Target = Span;

    #[inline(always)]
    fn deref(&self) -> &Span {
        &self.0
    }
}

/// What a span is started with besides its name and attributes.
#[derive(Clone, Copy, Debug)]
pub struct SpanOptions<'a> {
    /// The role of the span in its trace.
    pub kind: SpanKind,
    /// What the span is a child of.
    pub parent: Parent<'a>,
    /// The instrumentation scope.
    pub scope: &'static str,
    /// Whether an error also adds an `exception` event.
    pub record_exception: bool,
    /// How an error is told in the status.
    pub status_style: StatusStyle,
    /// Other spans that this one has to do with.
    pub links: &'a [SpanContext],
}

impl Default for SpanOptions<'_> {
    fn default() -> Self {
        MANAGED_SPAN
    }
}

/// What a span is a child of.
#[derive(Clone, Copy, Debug, Default)]
pub enum Parent<'a> {
    /// The current span, or nothing if there is none.
    #[default]
    Current,
    /// Nothing: the span starts a trace.
    Root,
    /// A span of another process.
    Remote(&'a SpanContext),
    /// The span of a context, or nothing if it has none.
    Context(&'a Context),
}

/// How an error is told in the status of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StatusStyle {
    /// The message alone.
    #[default]
    Message,
    /// The name of the type, a colon and the message.
    TypeAndMessage,
}

/// How the work of a span went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nothing is known; what successful spans have unless told otherwise.
    #[default]
    Unset,
    /// It went well, whatever else is reported.
    Ok,
    /// It failed, and this is the description.
    Error(Cow<'static, str>),
}

/// Collects attributes; in this build nothing.
///
/// It stays on its thread, like the span that it writes to in the build with telemetry.
#[derive(Debug)]
pub struct Attributes<'a>(PhantomData<(&'a mut (), *const ())>);

impl Attributes<'_> {
    /// Does nothing.
    #[inline(always)]
    pub fn set<V>(&mut self, _key: impl Into<Cow<'static, str>>, _value: &V)
    where
        V: ToValue + ?Sized,
    {
    }
}

/// Calls `f` with a span that records nothing.
#[inline(always)]
pub fn with_current_span<T>(f: impl FnOnce(&Span) -> T) -> T {
    f(&NO_SPAN)
}

/// Does nothing.
#[inline(always)]
pub fn set_current_attributes(_attributes: impl FnOnce(&mut Attributes<'_>)) {}

/// Whether a span of `group` would be recorded: never in this build.
#[inline(always)]
#[must_use]
pub fn is_span_group_enabled(_group: &SpanGroup) -> bool {
    false
}

// What follows is named in unreachable code only, where the arguments of macros are checked against it.

/// The attributes of a span or event.
pub const NO_ATTRIBUTES: Attributes<'static> = Attributes(PhantomData);

/// The arguments of a span.
pub fn check_start(_name: impl Into<Cow<'static, str>>, _options: SpanOptions<'_>, (): ()) -> Span {
    NO_SPAN
}

/// The name of an event.
pub fn check_name(_name: impl Into<Cow<'static, str>>) {}

/// The options of `managed_span!`.
pub const MANAGED_SPAN: SpanOptions<'static> = SpanOptions {
    kind: SpanKind::Internal,
    parent: Parent::Current,
    scope: scope::HELPERS,
    record_exception: true,
    status_style: StatusStyle::Message,
    links: &[],
};

/// The options of `span!`.
pub const UNGATED_SPAN: SpanOptions<'static> = MANAGED_SPAN;

/// The options of `#[trace_fn]`.
pub const TRACED_FUNCTION: SpanOptions<'static> = MANAGED_SPAN;
