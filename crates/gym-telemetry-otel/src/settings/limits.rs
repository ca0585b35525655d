//! How much a span or log record may hold.

use gym_telemetry_core::env;

use super::lookup::Lookup;
use crate::recorder::SpanLimits;

/// The limits of spans. A limit of its own beats the general one.
pub(super) fn spans(lookup: &mut Lookup<'_>) -> SpanLimits {
    use env as e;
    let default = SpanLimits::default();
    let mut count = |name, variables: &[&'static str], default| {
        lookup
            .count(name, variables, Some(default))
            .unwrap_or(default)
    };
    SpanLimits {
        attributes: count(
            "limits.span_attributes",
            &[
                e::OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT,
                e::OTEL_ATTRIBUTE_COUNT_LIMIT,
            ],
            default.attributes,
        ),
        event_attributes: count(
            "limits.event_attributes",
            &[
                e::OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT,
                e::OTEL_ATTRIBUTE_COUNT_LIMIT,
            ],
            default.event_attributes,
        ),
        link_attributes: count(
            "limits.link_attributes",
            &[
                e::OTEL_LINK_ATTRIBUTE_COUNT_LIMIT,
                e::OTEL_ATTRIBUTE_COUNT_LIMIT,
            ],
            default.link_attributes,
        ),
        events: count(
            "limits.span_events",
            &[e::OTEL_SPAN_EVENT_COUNT_LIMIT],
            default.events,
        ),
        links: count(
            "limits.span_links",
            &[e::OTEL_SPAN_LINK_COUNT_LIMIT],
            default.links,
        ),
        value_length: lookup.count(
            "limits.span_value_length",
            &[
                e::OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT,
                e::OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT,
            ],
            default.value_length,
        ),
    }
}

/// The limits of log records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogLimits {
    /// Attributes of one record.
    pub(crate) attributes: usize,
    /// Characters of a text value; `None` is no limit.
    pub(crate) value_length: Option<usize>,
}

/// The most attributes of a log record where nobody says otherwise.
const LOG_ATTRIBUTES: usize = 128;

impl Default for LogLimits {
    fn default() -> Self {
        Self {
            attributes: LOG_ATTRIBUTES,
            value_length: None,
        }
    }
}

/// The limits of log records.
pub(super) fn logs(lookup: &mut Lookup<'_>) -> LogLimits {
    let attributes = lookup.count(
        "limits.log_attributes",
        &[
            env::OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT,
            env::OTEL_ATTRIBUTE_COUNT_LIMIT,
        ],
        Some(LOG_ATTRIBUTES),
    );
    let value_length = lookup.count(
        "limits.log_value_length",
        &[
            env::OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT,
            env::OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT,
        ],
        None,
    );
    LogLimits {
        attributes: attributes.unwrap_or(LOG_ATTRIBUTES),
        value_length,
    }
}
