//! Limits, batches and temporality.

use std::time::Duration;

use opentelemetry_sdk::metrics::Temporality;

use super::{quiet, resolve, warned};
use crate::recorder::SpanLimits;
use crate::settings::{Batch, LogLimits};

#[test]
fn without_a_word_the_limits_are_those_of_the_specification() {
    let settings = quiet(&[]);
    assert_eq!(settings.span_limits, SpanLimits::default());
    let logs = LogLimits {
        attributes: 128,
        value_length: None,
    };
    assert_eq!(settings.log_limits, logs);
}

#[test]
fn a_limit_of_its_own_beats_the_general_one() {
    let count = "OTEL_ATTRIBUTE_COUNT_LIMIT";
    let length = "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT";
    let settings = quiet(&[(count, " 2 "), (length, "5")]);
    let general = SpanLimits {
        attributes: 2,
        event_attributes: 2,
        link_attributes: 2,
        value_length: Some(5),
        ..SpanLimits::default()
    };
    assert_eq!(settings.span_limits, general);
    assert_eq!(settings.log_limits.attributes, 2);
    assert_eq!(settings.log_limits.value_length, Some(5));
    let settings = quiet(&[
        (count, "2"),
        (length, "5"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3"),
        ("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "0"),
        ("OTEL_SPAN_EVENT_COUNT_LIMIT", "6"),
        ("OTEL_SPAN_LINK_COUNT_LIMIT", "7"),
        ("OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "8"),
        ("OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", " "),
        ("OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", "9"),
        ("OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", "10"),
    ]);
    let own = SpanLimits {
        attributes: 3,
        event_attributes: 8,
        link_attributes: 2,
        events: 6,
        links: 7,
        value_length: Some(0),
    };
    assert_eq!(settings.span_limits, own);
    assert_eq!(settings.log_limits.attributes, 9);
    assert_eq!(settings.log_limits.value_length, Some(10));
}

#[test]
fn a_limit_that_is_no_number_is_the_default_and_a_warning() {
    for name in [
        "OTEL_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
        "OTEL_SPAN_EVENT_COUNT_LIMIT",
        "OTEL_SPAN_LINK_COUNT_LIMIT",
        "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT",
        "OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT",
    ] {
        for garbage in ["abc", "-1", "1.5", "1e3", "99999999999999999999"] {
            let settings = warned(&[(name, garbage)], &[name, garbage, "0 or more"]);
            assert_eq!(
                settings.span_limits,
                SpanLimits::default(),
                "{name}={garbage}"
            );
        }
    }
}

#[test]
fn batches_are_what_the_variables_say() {
    let settings = quiet(&[]);
    let default = Batch {
        queue: 32_768,
        size: 512,
        delay: Duration::from_secs(5),
        export_timeout: None,
    };
    assert_eq!(settings.span_batch, default);
    let default = Batch {
        queue: 2_048,
        delay: Duration::from_secs(1),
        ..default
    };
    assert_eq!(settings.log_batch, default);
    for (prefix, is_spans) in [("OTEL_BSP", true), ("OTEL_BLRP", false)] {
        let names = [
            "MAX_QUEUE_SIZE",
            "MAX_EXPORT_BATCH_SIZE",
            "SCHEDULE_DELAY",
            "EXPORT_TIMEOUT",
        ]
        .map(|end| format!("{prefix}_{end}"));
        let values = ["1000", " 10 ", "0", "0"];
        let vars: Vec<_> = names.iter().map(String::as_str).zip(values).collect();
        let settings = quiet(&vars);
        let batch = if is_spans {
            settings.span_batch
        } else {
            settings.log_batch
        };
        let expected = Batch {
            queue: 1000,
            size: 10,
            delay: Duration::ZERO,
            export_timeout: Some(Duration::ZERO),
        };
        assert_eq!(batch, expected, "{prefix}");
    }
}

#[test]
fn sizes_of_batches_that_make_no_sense_are_defaults_and_warnings() {
    for prefix in ["OTEL_BSP", "OTEL_BLRP"] {
        for end in ["MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE"] {
            let name = format!("{prefix}_{end}");
            for garbage in ["0", "-1", "abc", "1.5"] {
                let settings = warned(&[(&name, garbage)], &[&name, garbage, "above 0"]);
                assert_eq!(settings.span_batch, quiet(&[]).span_batch);
                assert_eq!(settings.log_batch, quiet(&[]).log_batch);
            }
        }
        for end in ["SCHEDULE_DELAY", "EXPORT_TIMEOUT"] {
            let name = format!("{prefix}_{end}");
            for garbage in ["5s", "-1", "abc", "1.5"] {
                let settings = warned(&[(&name, garbage)], &[&name, garbage, "milliseconds"]);
                assert_eq!(settings.span_batch, quiet(&[]).span_batch);
                assert_eq!(settings.log_batch, quiet(&[]).log_batch);
            }
        }
    }
}

#[test]
fn a_batch_larger_than_its_queue_is_made_smaller_and_says_so_where_somebody_asked_for_it() {
    let queue = ("OTEL_BSP_MAX_QUEUE_SIZE", "10");
    assert_eq!(quiet(&[queue]).span_batch.size, 10);
    let size = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE";
    let settings = warned(&[queue, (size, "512")], &[size, "512", "10"]);
    assert_eq!(settings.span_batch.size, 10);
}

#[test]
fn the_temporality_is_that_of_the_specification_or_what_somebody_prefers() {
    let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    for (text, expected) in [
        ("", Temporality::Cumulative),
        ("Cumulative", Temporality::Cumulative),
        (" delta ", Temporality::Delta),
        ("LowMemory", Temporality::LowMemory),
    ] {
        assert_eq!(quiet(&[(name, text)]).temporality, expected, "{text}");
    }
    for garbage in ["low_memory", "2", "deltas"] {
        let settings = warned(&[(name, garbage)], &[name, garbage, "lowmemory"]);
        assert_eq!(settings.temporality, Temporality::Cumulative);
    }
    let console = [("OTEL_METRICS_EXPORTER", "console"), (name, "delta")];
    assert_eq!(resolve(&console).temporality, Temporality::Cumulative);
}

#[test]
fn an_export_of_metrics_is_waited_for_as_long_as_somebody_says() {
    let name = "OTEL_METRIC_EXPORT_TIMEOUT";
    assert_eq!(quiet(&[]).metric_export_timeout, None);
    let settings = quiet(&[(name, "250")]);
    assert_eq!(
        settings.metric_export_timeout,
        Some(Duration::from_millis(250))
    );
    assert_eq!(
        warned(&[(name, "5s")], &[name, "5s"]).metric_export_timeout,
        None
    );
}
