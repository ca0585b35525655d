//! What the macros expand to.

use std::borrow::Cow;
use std::fmt::Display;

use gym_telemetry_core::{SpanGroup, SpanKind, scope};
use gym_telemetry_otel::facade::contain;
use gym_telemetry_otel::{
    Attributes, Entered, Parent, Span, SpanOptions, StatusStyle, with_current_span,
};

pub use gym_telemetry_otel::facade::is_recording_process;

/// Whether a span of `group` would be recorded.
///
/// Costs one relaxed load. Use it before work that only serves a span and does not fit into a macro's arguments.
///
/// # Off build
///
/// Always `false`.
///
/// ```
/// use gym_telemetry_api::{group, is_span_group_enabled};
///
/// assert!(!is_span_group_enabled(&group::ROLLOUT), "telemetry is off unless it is started");
/// ```
#[inline]
#[must_use]
pub fn is_span_group_enabled(group: &SpanGroup) -> bool {
    group.is_enabled()
}

/// The gate of a macro.
#[inline]
pub fn is_enabled<'a>(group: impl FnOnce() -> &'a SpanGroup) -> bool {
    group().is_enabled()
}

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
pub const UNGATED_SPAN: SpanOptions<'static> = SpanOptions {
    status_style: StatusStyle::TypeAndMessage,
    ..MANAGED_SPAN
};

/// The options of `#[trace_fn]`.
pub const TRACED_FUNCTION: SpanOptions<'static> = SpanOptions {
    scope: scope::LENS,
    ..UNGATED_SPAN
};

/// Starts a span; if one of the arguments panics, there is none.
///
/// Out of line: a place whose group is off is a load and a branch around a call.
#[inline(never)]
pub fn start(start: impl FnOnce() -> Span) -> Span {
    contain(start).unwrap_or_default()
}

/// Starts a span and enters it; if one of the arguments panics, there is none.
#[inline(never)]
pub fn enter(start: impl FnOnce() -> Span) -> Entered {
    contain(start).unwrap_or_default().entered()
}

/// Adds an event; if its name panics, there is none.
#[inline]
pub fn add_event<N: Into<Cow<'static, str>>>(
    span: &Span,
    name: impl FnOnce() -> N,
    attributes: impl FnOnce(&mut Attributes<'_>),
) {
    if span.is_recording() {
        add_recorded_event(span, name, attributes);
    }
}

#[inline(never)]
fn add_recorded_event<N: Into<Cow<'static, str>>>(
    span: &Span,
    name: impl FnOnce() -> N,
    attributes: impl FnOnce(&mut Attributes<'_>),
) {
    if let Some(name) = contain(name) {
        span.add_event(name, attributes);
    }
}

/// Adds an event to the current span.
pub fn add_current_event<N: Into<Cow<'static, str>>>(
    name: impl FnOnce() -> N,
    attributes: impl FnOnce(&mut Attributes<'_>),
) {
    with_current_span(|span| add_event(span, name, attributes));
}

/// The span, if there is anything to it: where there is not, no guard and no wrapper need stand around the work.
#[inline]
#[must_use]
pub fn recorded(span: Span) -> Option<Span> {
    span.into_some()
}

/// Runs a function's body in the span of the function.
///
/// Out of line: where nothing is recorded, the body is called at another place.
#[inline(never)]
pub fn run<T>(span: Span, body: impl FnOnce() -> T) -> (Entered, T) {
    let entered = span.entered();
    let result = body();
    (entered, result)
}

/// Leaves the span of a function and ends it, with the error that the function returns.
pub fn conclude<T, E: Display>(entered: Entered, result: &Result<T, E>) {
    if let Err(error) = result {
        entered.record_error(error);
    }
    drop(entered);
}

/// A closure that this is moved into can be called once only, and so may give away what it has captured.
#[derive(Debug)]
pub struct Once;

/// One of them.
pub const ONCE: Once = Once;

/// A value of the type that a block is to have; never called.
#[must_use]
pub fn never<T>() -> T {
    unreachable!("this only names a type")
}
