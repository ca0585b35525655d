//! The cases of the public W3C trace-context test suite about `traceparent`, and others like them.

use gym_telemetry_core::propagation::ParseErrorKind::{Character, Length, Version, ZeroId};
use gym_telemetry_core::propagation::{ParseErrorKind, extract};
use gym_telemetry_core::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

const TRACE: &str = "12345678901234567890123456789012";
const SPAN: &str = "1234567890123456";

/// Valid texts by the flags that are passed on.
const ACCEPTED: &[(&str, &[&str])] = &[
    (
        "00",
        &[
            "00-12345678901234567890123456789012-1234567890123456-00",
            // Bits without a meaning are not passed on.
            "00-12345678901234567890123456789012-1234567890123456-04",
        ],
    ),
    (
        "01",
        &[
            "00-12345678901234567890123456789012-1234567890123456-01",
            "00-12345678901234567890123456789012-1234567890123456-fd",
            // Later versions: what follows the flags after a hyphen is ignored.
            "01-12345678901234567890123456789012-1234567890123456-01",
            "cc-12345678901234567890123456789012-1234567890123456-01",
            "cc-12345678901234567890123456789012-1234567890123456-01-extra",
            "cc-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
        ],
    ),
    (
        "02",
        &[
            "00-12345678901234567890123456789012-1234567890123456-02",
            "fe-12345678901234567890123456789012-1234567890123456-02-\u{1f642}",
        ],
    ),
    (
        "03",
        &[
            "00-12345678901234567890123456789012-1234567890123456-03",
            "00-12345678901234567890123456789012-1234567890123456-ff",
            "cc-12345678901234567890123456789012-1234567890123456-03-",
        ],
    ),
];

/// Malformed texts by what is wrong with them.
const REFUSED: &[(ParseErrorKind, &[&str])] = &[
    (
        Length,
        &[
            "",
            "00",
            "00-12345678901234567890123456789012-1234567890123456",
            "00-12345678901234567890123456789012-1234567890123456-",
            // Version 00 ends with the flags.
            "00-12345678901234567890123456789012-1234567890123456-01.",
            "00-12345678901234567890123456789012-1234567890123456-01-",
            "00-12345678901234567890123456789012-1234567890123456-01-what-the-future-will-be-like",
            "00-12345678901234567890123456789012-1234567890123456-0100",
            // Later versions go on only after a hyphen.
            "cc-12345678901234567890123456789012-1234567890123456-01.what-the-future-will-not-be-like",
            "cc-12345678901234567890123456789012-1234567890123456-011",
            // Versions.
            "000-12345678901234567890123456789012-1234567890123456-01",
            "0000-12345678901234567890123456789012-1234567890123456-01",
            "0-12345678901234567890123456789012-1234567890123456-01",
            // Trace ids.
            "00-123456789012345678901234567890123-1234567890123456-01",
            "00-1234567890123456789012345678901-1234567890123456-01",
            // Span ids.
            "00-12345678901234567890123456789012-12345678901234567-01",
            "00-12345678901234567890123456789012-123456789012345-01",
            // Flags.
            "00-12345678901234567890123456789012-1234567890123456-001",
            "00-12345678901234567890123456789012-1234567890123456-1",
            // Separators.
            "00_12345678901234567890123456789012-1234567890123456-01",
            "00-12345678901234567890123456789012_1234567890123456-01",
            "00-12345678901234567890123456789012-1234567890123456_01",
            "00-1-1-1",
            // Space is for the header's reader to remove.
            " 00-12345678901234567890123456789012-1234567890123456-01",
            "00-12345678901234567890123456789012-1234567890123456-01 ",
        ],
    ),
    (
        Character,
        &[
            // Versions.
            ".0-12345678901234567890123456789012-1234567890123456-01",
            "0.-12345678901234567890123456789012-1234567890123456-01",
            "+0-12345678901234567890123456789012-1234567890123456-01",
            "CC-12345678901234567890123456789012-1234567890123456-01",
            // Trace ids.
            "00-.2345678901234567890123456789012-1234567890123456-01",
            "00-1234567890123456789012345678901.-1234567890123456-01",
            "00-+2345678901234567890123456789012-1234567890123456-01",
            "00-1234567890123456789012345678901A-1234567890123456-01",
            "00-1234567890123456789012345678901g-1234567890123456-01",
            // Span ids.
            "00-12345678901234567890123456789012-.234567890123456-01",
            "00-12345678901234567890123456789012-123456789012345.-01",
            "00-12345678901234567890123456789012-+234567890123456-01",
            "00-12345678901234567890123456789012-123456789012345F-01",
            // Flags.
            "00-12345678901234567890123456789012-1234567890123456-.0",
            "00-12345678901234567890123456789012-1234567890123456-0.",
            "00-12345678901234567890123456789012-1234567890123456-+1",
            "00-12345678901234567890123456789012-1234567890123456-0A",
            // A character of several bytes where the known part ends.
            "00-12345678901234567890123456789012-1234567890123456-é",
        ],
    ),
    (
        Version,
        &[
            "ff-12345678901234567890123456789012-1234567890123456-01",
            "ff-12345678901234567890123456789012-1234567890123456-01-x",
        ],
    ),
    (
        ZeroId,
        &[
            "00-00000000000000000000000000000000-1234567890123456-01",
            "00-12345678901234567890123456789012-0000000000000000-01",
        ],
    ),
];

#[test]
fn valid_texts_are_accepted_and_passed_on_as_version_00() {
    for (flags, texts) in ACCEPTED {
        for text in *texts {
            let context = SpanContext::from_traceparent(text)
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(context.is_remote(), "{text}");
            assert!(context.trace_state().is_empty(), "{text}");
            assert_eq!(
                &*context.to_traceparent(),
                format!("00-{TRACE}-{SPAN}-{flags}"),
                "{text}"
            );
        }
    }
}

#[test]
fn malformed_texts_are_refused() {
    for (kind, texts) in REFUSED {
        for text in *texts {
            let result = SpanContext::from_traceparent(text);
            assert_eq!(result.map_err(|error| error.kind()), Err(*kind), "{text}");
        }
    }
}

#[test]
fn a_request_with_a_malformed_text_brings_no_context() {
    for text in REFUSED.iter().flat_map(|(_, texts)| *texts) {
        // Space around the text is the header's, not the text's.
        if !text.starts_with(' ') && !text.ends_with(' ') {
            let extracted = extract(|name| (name == "traceparent").then_some(*text));
            assert_eq!(extracted.context, None, "{text}");
        }
    }
}

#[test]
fn the_random_flag_does_not_make_a_trace_sampled() {
    let context =
        SpanContext::from_traceparent(&format!("00-{TRACE}-{SPAN}-02")).expect("is valid");
    assert!(!context.flags().is_sampled());
    assert!(context.flags().is_random());
}

#[test]
fn a_context_put_together_is_written_with_all_digits() {
    let mut trace = [0; 16];
    trace[15] = 0x0a;
    let context = SpanContext::new(
        TraceId::from_bytes(trace).expect("is not zero"),
        SpanId::from_bytes([0, 0, 0, 0, 0, 0, 0, 1]).expect("is not zero"),
        TraceFlags::SAMPLED | TraceFlags::RANDOM,
        TraceState::EMPTY,
        false,
    );
    assert_eq!(
        &*context.to_traceparent(),
        "00-0000000000000000000000000000000a-0000000000000001-03"
    );
}

#[test]
fn ids_are_read_strictly() {
    assert_eq!(
        TRACE.parse::<TraceId>().map(|id| id.to_string()),
        Ok(TRACE.to_owned())
    );
    assert_eq!(
        SPAN.parse::<SpanId>().map(|id| id.to_string()),
        Ok(SPAN.to_owned())
    );
    for text in [
        "",
        "0000000000000000",
        "123456789012345",
        "123456789012345A",
        "+234567890123456",
        "12345678901234567",
    ] {
        assert!(text.parse::<SpanId>().is_err(), "{text}");
    }
    for text in [
        "",
        "1",
        "00000000000000000000000000000000",
        "1234567890123456789012345678901A",
    ] {
        assert!(text.parse::<TraceId>().is_err(), "{text}");
    }
}
