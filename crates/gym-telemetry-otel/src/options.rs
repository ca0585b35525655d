//! How a span is started and how it can end.

use std::borrow::Cow;

use gym_telemetry_core::{SpanContext, SpanKind, scope};

use crate::context::Context;

/// What a span is started with besides its name and attributes.
///
/// ```
/// use gym_telemetry_otel::{Parent, SpanOptions};
///
/// let options = SpanOptions { parent: Parent::Root, ..SpanOptions::default() };
/// assert!(options.record_exception);
/// ```
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
        Self {
            kind: SpanKind::Internal,
            parent: Parent::Current,
            scope: scope::HELPERS,
            record_exception: true,
            status_style: StatusStyle::Message,
            links: &[],
        }
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
///
/// `Ok` is final. Otherwise the later error replaces the earlier one, and `Unset` changes nothing.
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
