//! The public macros, once for both builds. Each hands its input to `__span_input!` or `__span_rest!`, which bring it
//! into one form; the builds define the few private macros that differ.

mod normal_form;

/// Starts a span of a group; a `Span` that records nothing when the group is off.
///
/// `managed_span!(GROUP, NAME, option: value, …, KEY => value, …)`. The group is asked first, with one relaxed load.
/// Only when it is on are the other arguments evaluated, each once. The span is not current and ends when it is
/// dropped: use [`enter!`](crate::enter) or [`Span::entered`](crate::Span::entered) for synchronous code,
/// [`in_span!`](crate::in_span) or [`#[trace_fn]`](crate::trace_fn) for asynchronous code.
///
/// A value is anything that implements [`ToValue`](crate::ToValue); `None` leaves the attribute out. Sensitive keys are
/// redacted. A panic in an argument is contained and counted. `?`, `return` and `.await` are not allowed in arguments,
/// because these run in a closure.
///
/// | option | type | without it |
/// |---|---|---|
/// | `kind:` | [`SpanKind`](crate::SpanKind) | `Internal` |
/// | `parent:` | [`Parent`](crate::Parent) | the current span |
/// | `scope:` | `&'static str`, the name of the instrumentation scope | `nemo.lens.helpers` |
/// | `record_exception:` | `bool`, whether a failure adds an `exception` event | `true` |
/// | `links:` | `&[SpanContext]` | none |
///
/// # Off build
///
/// The arguments are type-checked and borrow-checked, and no code is generated for them.
///
/// ```
/// use gym_telemetry_api::{attribute, group, managed_span, span, SpanKind};
///
/// fn verify(rollout: &str) -> f64 {
///     let span = managed_span!(
///         group::VERIFY,
///         span::VERIFY,
///         kind: SpanKind::Internal,
///         attribute::ROLLOUT_ID => rollout,
///     );
///     let reward = 1.0;
///     span.set_attribute("reward", reward);
///     reward
/// }
///
/// assert_eq!(verify("3-1"), 1.0);
/// ```
#[macro_export]
macro_rules! managed_span {
    ($($input:tt)*) => {
        $crate::__span_input! { [value] group $($input)* }
    };
}

/// Starts a span that no group gates; it records whenever the process exports spans.
///
/// `span!(NAME, option: value, …, KEY => value, …)`, otherwise as [`managed_span!`](crate::managed_span). The status
/// text of a failure is `Type: message`.
///
/// # Off build
///
/// The arguments are type-checked and borrow-checked, and no code is generated for them.
///
/// ```
/// use gym_telemetry_api::span;
///
/// let span = span!("load tasks", "tasks" => 20);
/// assert_eq!(span.is_recording(), false, "nothing exports in this example");
/// ```
#[macro_export]
macro_rules! span {
    ($($input:tt)*) => {
        $crate::__span_input! { [value] process $($input)* }
    };
}

/// Starts a span and makes it current until the returned [`Entered`](crate::Entered) is dropped.
///
/// `enter!(GROUP, NAME, …)` takes what [`managed_span!`](crate::managed_span) takes; `enter!(span)` enters a span that
/// exists. The guard stays on its thread: it is not `Send`, so a `Send` future cannot hold it over an `.await`.
/// A panic that unwinds through the guard marks the span as failed.
///
/// # Off build
///
/// The arguments are type-checked and borrow-checked, and no code is generated for them.
///
/// ```
/// use gym_telemetry_api::{enter, group, set_span_attributes};
///
/// fn count(words: &str) -> usize {
///     let _entered = enter!(group::AGENT, "count words");
///     let count = words.split(' ').count();
///     set_span_attributes!("words" => count);
///     count
/// }
///
/// assert_eq!(count("one rollout is one trace"), 5);
/// ```
#[macro_export]
macro_rules! enter {
    ($span:expr $(,)?) => {
        $crate::__telemetry! { { $crate::__private::NOT_ENTERED } { $crate::Span::entered($span) } }
    };
    ($($input:tt)*) => {
        $crate::__span_input! { [enter] group $($input)* }
    };
}

/// Wraps a future in a span: current during each poll, ended when the future is done or dropped.
///
/// `in_span!(GROUP, NAME, option: value, …, KEY => value, …; future)` takes what
/// [`managed_span!`](crate::managed_span) takes, then the future. With the word `err` as last argument before the
/// semicolon, an `Err` that the future returns marks the span as failed and is recorded as one `exception` event; the
/// error must implement `Display`. `in_span!(span; future)` and `in_span!(span, err; future)` use a span that exists.
///
/// The span starts where the macro stands, before the future expression is evaluated. A future that is dropped before
/// it is done leaves the status unset. Temporaries in the future expression live until the end of the macro.
///
/// # Cancel safety
///
/// As cancel-safe as the future itself, which is dropped inside the span.
///
/// # Off build
///
/// The result *is* the future: same type, same size, same code.
///
/// ```
/// use gym_telemetry_api::{attribute, group, in_span, span};
/// # use std::task::{Context, Poll, Waker};
///
/// let rollout = String::from("3-1");
/// let future = in_span!(group::ROLLOUT, span::ROLLOUT, attribute::ROLLOUT_ID => rollout, err; async {
///     "42".parse::<u32>()
/// });
/// # let mut future = std::pin::pin!(future);
/// # let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!("pending") };
/// # // `let answer = future.await;` in a program.
/// assert_eq!(answer, Ok(42));
/// ```
#[macro_export]
macro_rules! in_span {
    ($span:expr; $future:expr $(,)?) => {
        $crate::__future! { plain { $span } { $future } }
    };
    ($span:expr, err; $future:expr $(,)?) => {
        $crate::__future! { err { $span } { $future } }
    };
    ($($input:tt)*) => {
        $crate::__span_input! { [future] group $($input)* }
    };
}

/// Sets attributes of a span, or of the current one.
///
/// `set_span_attributes!(span; KEY => value, …)` and `set_span_attributes!(KEY => value, …)`. The keys and values are
/// evaluated only if the span is recording. Sensitive keys are redacted.
///
/// # Off build
///
/// The arguments are type-checked and borrow-checked, and no code is generated for them.
///
/// ```
/// use gym_telemetry_api::{managed_span, group, set_span_attributes};
///
/// let span = managed_span!(group::AGENT, "think");
/// let tokens = Some(12);
/// set_span_attributes!(span; "input_tokens" => tokens, "model" => "tiny");
/// set_span_attributes!("of.the.current.span" => true);
/// assert_eq!(tokens, Some(12), "values are borrowed");
/// ```
#[macro_export]
macro_rules! set_span_attributes {
    ($span:expr; $($rest:tt)*) => {
        $crate::__span_rest! { [attributes ($span)] () () [] [] plain $($rest)* }
    };
    ($($rest:tt)*) => {
        $crate::__span_rest! { [attributes ()] () () [] [] plain $($rest)* }
    };
}

/// Adds an event to a span, or to the current one.
///
/// `add_event!(span; NAME, KEY => value, …)` and `add_event!(NAME, KEY => value, …)`. The arguments are evaluated only
/// if the span is recording. Sensitive keys are redacted.
///
/// # Off build
///
/// The arguments are type-checked and borrow-checked, and no code is generated for them.
///
/// ```
/// use gym_telemetry_api::{add_event, managed_span, group};
///
/// let span = managed_span!(group::MODEL_CALL, "call");
/// let attempt = 2;
/// add_event!(span; "retry", "attempt" => attempt);
/// add_event!("first byte");
/// assert_eq!(attempt, 2);
/// ```
#[macro_export]
macro_rules! add_event {
    ($span:expr; $name:expr $(, $($rest:tt)*)?) => {
        $crate::__span_rest! { [event ($span)] () ($name) [] [] plain $($($rest)*)? }
    };
    ($name:expr $(, $($rest:tt)*)?) => {
        $crate::__span_rest! { [event ()] () ($name) [] [] plain $($($rest)*)? }
    };
}

/// Starts a clock that is read only if the process exports telemetry.
///
/// Use it for durations that only telemetry needs; see [`Stopwatch`](crate::Stopwatch).
///
/// # Off build
///
/// No clock is read, and no code is generated.
///
/// ```
/// use gym_telemetry_api::{record_verify, stopwatch};
///
/// let watch = stopwatch!();
/// let reward = 1.0; // the work
/// if let Some(elapsed) = watch.elapsed() {
///     record_verify(elapsed, true);
/// }
/// assert_eq!(reward, 1.0);
/// ```
#[macro_export]
macro_rules! stopwatch {
    () => {
        $crate::__telemetry! { { $crate::__private::STOPPED } { $crate::Stopwatch::start() } }
    };
}
