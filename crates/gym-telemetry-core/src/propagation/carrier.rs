//! Reading context from headers and writing it to them.

use super::ows::trim;
use super::{BAGGAGE, Baggage, SpanContext, TRACEPARENT, TRACESTATE, TraceState, traceparent};

/// What a request brought along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extracted {
    /// The caller's span, unless there is no valid one.
    pub context: Option<SpanContext>,
    /// The caller's baggage, unless there is no valid one.
    pub baggage: Option<Baggage>,
}

/// Reads trace context and baggage.
///
/// `get` returns all values of a header, whose name is given in lower case, in order; it must compare names without
/// regard to case. Space around a value is ignored. A repeated `traceparent` is refused, because nobody can tell which one is
/// right; repeated `tracestate` and `baggage` headers are one list. A `tracestate` without a valid `traceparent` is
/// ignored, and a malformed one does not cost the `traceparent`.
///
/// With the `http` crate, call `extract(|name| headers.get_all(name))`; with a map of strings,
/// `extract(|name| map.get(name))`.
pub fn extract<I>(get: impl Fn(&'static str) -> I) -> Extracted
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    Extracted {
        context: context(&get),
        baggage: baggage(&get),
    }
}

fn context<I>(get: &impl Fn(&'static str) -> I) -> Option<SpanContext>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let mut values = get(TRACEPARENT).into_iter();
    let value = values.next()?;
    if values.next().is_some() {
        return None;
    }
    let context = traceparent::parse(trim(value.as_ref())).ok()?;
    let states: Vec<_> = get(TRACESTATE).into_iter().collect();
    let state = TraceState::from_headers(states.iter().map(AsRef::as_ref));
    Some(context.with_trace_state(state.unwrap_or_default()))
}

fn baggage<I>(get: &impl Fn(&'static str) -> I) -> Option<Baggage>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let values: Vec<_> = get(BAGGAGE).into_iter().collect();
    let values: Vec<_> = values
        .iter()
        .map(|value| trim(value.as_ref()))
        .filter(|value| !value.is_empty())
        .collect();
    match values.as_slice() {
        [] => None,
        [value] => Baggage::from_bytes(value).ok(),
        _ => Baggage::from_bytes(&values.join(&b',')).ok(),
    }
}

/// Writes trace context and baggage.
///
/// `set` is called with each header's name, in lower case, and value, and replaces what the carrier held. Without
/// context no `traceparent` is written; without entries no `tracestate`.
pub fn inject(
    context: Option<&SpanContext>,
    baggage: Option<&Baggage>,
    mut set: impl FnMut(&'static str, &str),
) {
    if let Some(context) = context {
        set(TRACEPARENT, &context.to_traceparent());
        if !context.trace_state().is_empty() {
            set(TRACESTATE, context.trace_state().as_str());
        }
    }
    if let Some(baggage) = baggage {
        set(BAGGAGE, baggage.as_str());
    }
}
