//! From our types to OpenTelemetry's.

use std::time::SystemTime;

use gym_telemetry_core::{SpanContext, SpanId, SpanKind, TraceId, TraceState, attribute, event};
use opentelemetry::trace::{
    Event as OtelEvent, Link as OtelLink, SpanContext as OtelSpanContext, SpanId as OtelSpanId,
    SpanKind as OtelSpanKind, Status as OtelStatus, TraceFlags as OtelTraceFlags,
    TraceId as OtelTraceId, TraceState as OtelTraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::body::Body;
use super::clock::Anchor;
use super::limits::SpanLimits;
use super::raw::Record;
use crate::options::Status;

pub(crate) fn trace_id(id: TraceId) -> OtelTraceId {
    OtelTraceId::from_bytes(id.to_bytes())
}

fn span_id(id: Option<SpanId>) -> OtelSpanId {
    id.map_or(OtelSpanId::INVALID, |id| {
        OtelSpanId::from_bytes(id.to_bytes())
    })
}

pub(crate) fn span_context(context: &SpanContext) -> OtelSpanContext {
    OtelSpanContext::new(
        trace_id(context.trace_id()),
        span_id(Some(context.span_id())),
        OtelTraceFlags::new(context.flags().bits()),
        context.is_remote(),
        trace_state(context.trace_state()),
    )
}

pub(super) fn trace_state(state: &TraceState) -> OtelTraceState {
    if state.is_empty() {
        return OtelTraceState::NONE;
    }
    // The other side's idea of the grammar is a little narrower than the specification's; what it refuses is
    // passed on to other processes all the same and only missing from the exported span.
    state.as_str().parse().unwrap_or(OtelTraceState::NONE)
}

/// `None` if a sampler made a trace state that is not valid.
pub(crate) fn trace_state_from(state: &OtelTraceState) -> Option<TraceState> {
    let text = state.header();
    if text.is_empty() {
        Some(TraceState::EMPTY)
    } else {
        text.parse().ok()
    }
}

pub(crate) fn kind(kind: SpanKind) -> OtelSpanKind {
    match kind {
        SpanKind::Internal => OtelSpanKind::Internal,
        SpanKind::Server => OtelSpanKind::Server,
        SpanKind::Client => OtelSpanKind::Client,
        SpanKind::Producer => OtelSpanKind::Producer,
        SpanKind::Consumer => OtelSpanKind::Consumer,
    }
}

/// Takes the data of a span.
pub(crate) fn span_data(record: &Record, anchor: &Anchor, limits: &SpanLimits) -> SpanData {
    let mut body = match record.heap() {
        None => Body::replay(record, limits),
        Some(heap) => heap.lock().take(),
    };
    let end_time = anchor.wall_time(record.end());
    let truncated_at = record.is_truncated().then_some(end_time);
    if truncated_at.is_some() {
        mark_truncated(&mut body);
    }
    let link = record.link();
    SpanData {
        span_context: OtelSpanContext::new(
            trace_id(link.trace_id),
            span_id(link.span_id),
            OtelTraceFlags::new(link.flags.bits()),
            false,
            trace_state(&link.trace_state),
        ),
        parent_span_id: span_id(record.parent()),
        parent_span_is_remote: record.parent_is_remote(),
        span_kind: kind(record.kind()),
        name: std::mem::take(&mut body.name),
        start_time: anchor.wall_time(record.start()),
        end_time,
        attributes: std::mem::take(&mut body.attributes.items),
        dropped_attributes_count: body.attributes.dropped,
        events: events(&mut body, anchor, truncated_at),
        links: links(&mut body),
        status: match std::mem::take(&mut body.status) {
            Status::Unset => OtelStatus::Unset,
            Status::Ok => OtelStatus::Ok,
            Status::Error(description) => OtelStatus::Error { description },
        },
        instrumentation_scope: InstrumentationScope::builder(body.scope).build(),
    }
}

/// Says on the span itself that its end was made up. The mark is beyond every limit.
pub(super) fn mark_truncated(body: &mut Body) {
    body.attributes
        .set(attribute::SPAN_TRUNCATED.into(), true.into(), usize::MAX);
}

/// The name and the attribute of the event that tells of a truncation.
pub(super) fn truncation() -> (&'static str, KeyValue) {
    let reason = KeyValue::new(
        attribute::SPAN_TRUNCATED_REASON,
        attribute::SPAN_TRUNCATED_AT_SHUTDOWN,
    );
    (event::SPAN_TRUNCATED, reason)
}

fn events(body: &mut Body, anchor: &Anchor, truncated_at: Option<SystemTime>) -> SpanEvents {
    let mut events: Vec<_> = std::mem::take(&mut body.events)
        .into_iter()
        .map(|event| {
            let at = anchor.wall_time(event.at);
            OtelEvent::new(
                event.name,
                at,
                event.attributes.items,
                event.attributes.dropped,
            )
        })
        .collect();
    if let Some(at) = truncated_at {
        let (name, reason) = truncation();
        events.push(OtelEvent::new(name, at, vec![reason], 0));
    }
    // The type can be made by its default alone.
    let mut result = SpanEvents::default();
    result.events = events;
    result.dropped_count = body.dropped_events;
    result
}

fn links(body: &mut Body) -> SpanLinks {
    let mut result = SpanLinks::default();
    result.links = std::mem::take(&mut body.links)
        .into_iter()
        .map(|link| {
            OtelLink::new(
                span_context(&link.context),
                link.attributes.items,
                link.attributes.dropped,
            )
        })
        .collect();
    result.dropped_count = body.dropped_links;
    result
}
