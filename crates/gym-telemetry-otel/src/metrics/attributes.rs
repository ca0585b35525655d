//! Attributes of metric points.

use gym_telemetry_core::{MetricDescriptor, Value};
use opentelemetry::{KeyValue, Value as OtelValue};

use crate::warn::warn;

/// The scalar attributes whose keys `descriptor` names.
///
/// All others are left out with a warning: each value of an attribute makes a series, and an id that slipped in
/// would make one for every rollout, request or sandbox.
pub(super) fn declared(
    descriptor: &MetricDescriptor,
    attributes: &[(&'static str, Value<'_>)],
) -> Vec<KeyValue> {
    let keep = |&(key, value): &(&'static str, Value<'_>)| {
        let scalar = descriptor
            .attributes
            .contains(&key)
            .then(|| scalar(value))
            .flatten();
        if scalar.is_none() {
            let name = descriptor.name;
            warn(
                format!("attribute {key} of {name}"),
                &format_args!("the metric {name} has no attribute {key:?}; it is left out"),
            );
        }
        Some(KeyValue::new(key, scalar?))
    };
    attributes.iter().filter_map(keep).collect()
}

fn scalar(value: Value<'_>) -> Option<OtelValue> {
    Some(match value {
        Value::Bool(value) => OtelValue::Bool(value),
        Value::I64(value) => OtelValue::I64(value),
        Value::U64(value) => OtelValue::String(value.to_string().into()),
        Value::F64(value) => OtelValue::F64(value),
        Value::Static(text) => OtelValue::String(text.into()),
        Value::Str(text) => OtelValue::String(text.to_owned().into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use gym_telemetry_core::{attribute, metric};

    use super::*;

    #[test]
    fn undeclared_attributes_and_lists_make_no_series() {
        let attributes = declared(
            &metric::HTTP_SERVER_REQUEST_DURATION,
            &[
                (attribute::HTTP_ROUTE, Value::Str("/verify")),
                (attribute::ROLLOUT_ID, Value::Static("7-0")),
                (attribute::HTTP_REQUEST_METHOD, Value::I64s(&[1])),
                (attribute::HTTP_RESPONSE_STATUS_CODE, Value::I64(200)),
            ],
        );
        assert_eq!(
            attributes,
            [
                KeyValue::new(attribute::HTTP_ROUTE, "/verify"),
                KeyValue::new(attribute::HTTP_RESPONSE_STATUS_CODE, 200),
            ]
        );
    }
}
