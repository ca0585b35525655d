//! A span as one line.

use opentelemetry::trace::{Event, Link, SpanContext, SpanId, SpanKind, Status, TraceState};
use opentelemetry_sdk::trace::SpanData;

use super::json::{Json, Object};
use super::resource::ResourceText;
use super::time::timestamp;

/// The line of `span`, without its line break. It names no instrumentation scope.
pub(super) fn line(span: &SpanData, resource: &ResourceText) -> String {
    let mut json = Json::default();
    json.object(|object| {
        object.key("name").string(&span.name);
        object
            .key("context")
            .object(|object| context(object, &span.span_context));
        object.key("kind").string(kind(&span.span_kind));
        match span.parent_span_id {
            SpanId::INVALID => object.key("parent_id").null(),
            parent => object.key("parent_id").string(&format!("0x{parent:016x}")),
        }
        object.key("start_time").string(&timestamp(span.start_time));
        object.key("end_time").string(&timestamp(span.end_time));
        object
            .key("status")
            .object(|object| status(object, &span.status));
        object.key("attributes").attributes(&span.attributes);
        object.key("events").array(span.events.iter(), event);
        object.key("links").array(span.links.iter(), link);
        resource.write(object.key("resource"));
    });
    json.into_string()
}

fn context(object: &mut Object<'_>, context: &SpanContext) {
    object
        .key("trace_id")
        .string(&format!("0x{:032x}", context.trace_id()));
    object
        .key("span_id")
        .string(&format!("0x{:016x}", context.span_id()));
    object
        .key("trace_state")
        .string(&trace_state(context.trace_state()));
}

fn kind(kind: &SpanKind) -> &'static str {
    match kind {
        SpanKind::Client => "SpanKind.CLIENT",
        SpanKind::Server => "SpanKind.SERVER",
        SpanKind::Producer => "SpanKind.PRODUCER",
        SpanKind::Consumer => "SpanKind.CONSUMER",
        SpanKind::Internal => "SpanKind.INTERNAL",
    }
}

fn status(object: &mut Object<'_>, status: &Status) {
    let code = match status {
        Status::Unset => "UNSET",
        Status::Ok => "OK",
        Status::Error { .. } => "ERROR",
    };
    object.key("status_code").string(code);
    if let Status::Error { description } = status
        && !description.is_empty()
    {
        object.key("description").string(description);
    }
}

fn event(json: &mut Json, event: &Event) {
    json.object(|object| {
        object.key("name").string(&event.name);
        object.key("timestamp").string(&timestamp(event.timestamp));
        object.key("attributes").attributes(&event.attributes);
    });
}

fn link(json: &mut Json, link: &Link) {
    json.object(|object| {
        object
            .key("context")
            .object(|object| context(object, &link.span_context));
        object.key("attributes").attributes(&link.attributes);
    });
}

/// The trace state as Python prints it: a list of quoted texts.
fn trace_state(state: &TraceState) -> String {
    let header = state.header();
    let members: Vec<_> = header
        .split(',')
        .filter_map(|member| member.split_once('='))
        .map(|(key, value)| quoted(&format!("{{key={key}, value={value}}}")))
        .collect();
    format!("[{}]", members.join(", "))
}

/// Python's `repr` of a printable ASCII text, which is all that a trace state can hold.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\");
    if text.contains('\'') && !text.contains('"') {
        format!("\"{escaped}\"")
    } else {
        format!("'{}'", escaped.replace('\'', "\\'"))
    }
}
