//! A log record as one line.

use opentelemetry::Key;
use opentelemetry::logs::AnyValue;

use super::json::Json;
use super::resource::ResourceText;
use super::time::timestamp;
use crate::logs::{Record, SpanIds};

/// Stands for no span.
const NO_SPAN: SpanIds = SpanIds {
    trace_id: [0; 16],
    span_id: [0; 8],
    flags: 0,
};

/// The line of `record`, without its line break. It names no instrumentation scope.
pub(super) fn line(record: &Record, resource: &ResourceText) -> String {
    let mut json = Json::default();
    json.object(|object| {
        value_or_null(object.key("body"), record.body.as_ref());
        match record.severity {
            Some(severity) => object.key("severity_number").integer(severity as u8),
            None => object.key("severity_number").null(),
        }
        object.key("severity_text").string(record.severity_text);
        match record.attributes.as_slice() {
            [] => object.key("attributes").null(),
            attributes => map(
                object.key("attributes"),
                attributes.iter().map(|(key, value)| (key, value)),
            ),
        }
        object.key("dropped_attributes").integer(record.dropped);
        object.key("timestamp").string(&timestamp(record.at));
        object
            .key("observed_timestamp")
            .string(&timestamp(record.at));
        let span = record.span.unwrap_or(NO_SPAN);
        object
            .key("trace_id")
            .string(&format!("0x{:032x}", u128::from_be_bytes(span.trace_id)));
        object
            .key("span_id")
            .string(&format!("0x{:016x}", u64::from_be_bytes(span.span_id)));
        object.key("trace_flags").integer(span.flags);
        resource.write(object.key("resource"));
        object
            .key("event_name")
            .string(record.event_name.unwrap_or_default());
    });
    json.into_string()
}

fn value_or_null(json: &mut Json, value: Option<&AnyValue>) {
    match value {
        Some(value) => any(json, value),
        None => json.null(),
    }
}

fn any(json: &mut Json, value: &AnyValue) {
    match value {
        AnyValue::Int(value) => json.integer(*value),
        AnyValue::Double(value) => json.float(*value),
        AnyValue::String(value) => json.string(value.as_str()),
        AnyValue::Boolean(value) => json.bool(*value),
        AnyValue::Bytes(value) => json.string(&String::from_utf8_lossy(value)),
        AnyValue::ListAny(values) => json.array(values.iter(), any),
        AnyValue::Map(values) => {
            // The order of the map differs from process to process.
            let mut values: Vec<_> = values.iter().collect();
            values.sort_unstable_by_key(|(key, _)| *key);
            map(json, values);
        }
        _ => json.null(),
    }
}

fn map<'a>(json: &mut Json, values: impl IntoIterator<Item = (&'a Key, &'a AnyValue)>) {
    json.object(|object| {
        for (key, value) in values {
            any(object.key(key.as_str()), value);
        }
    });
}
