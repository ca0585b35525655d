//! Reading context from a request's headers and writing it to them.

use std::collections::HashMap;

use gym_telemetry_core::propagation::{Extracted, extract, inject};

const ONE: &str = "00-12345678901234567890123456789011-1234567890123456-01";
const TWO: &str = "00-12345678901234567890123456789012-1234567890123456-01";

fn from(headers: &[(&str, &str)]) -> Extracted {
    extract(|name| {
        let values = headers
            .iter()
            .filter(|(known, _)| known.eq_ignore_ascii_case(name));
        values.map(|(_, value)| *value).collect::<Vec<_>>()
    })
}

fn traceparent(headers: &[(&str, &str)]) -> Option<String> {
    from(headers)
        .context
        .map(|context| context.to_traceparent().to_string())
}

#[test]
fn a_request_without_headers_brings_nothing() {
    assert_eq!(from(&[]), Extracted::default());
}

#[test]
fn a_repeated_traceparent_is_refused() {
    assert_eq!(
        traceparent(&[("traceparent", ONE), ("traceparent", TWO)]),
        None
    );
    assert_eq!(
        traceparent(&[("traceparent", ONE), ("traceparent", ONE)]),
        None
    );
    assert_eq!(
        traceparent(&[("traceparent", ONE), ("Traceparent", "")]),
        None
    );
    assert_eq!(
        traceparent(&[("traceparent", &format!("{ONE},{TWO}"))]),
        None
    );
}

#[test]
fn only_the_right_name_counts_in_any_case() {
    assert_eq!(
        traceparent(&[("trace-parent", ONE), ("trace.parent", ONE)]),
        None
    );
    for name in ["TraceParent", "TrAcEpArEnT", "TRACEPARENT"] {
        assert_eq!(traceparent(&[(name, ONE)]).as_deref(), Some(ONE));
    }
    let extracted = from(&[
        ("traceparent", ONE),
        ("trace-state", "foo=1"),
        ("trace.state", "foo=1"),
    ]);
    assert!(
        extracted
            .context
            .expect("is valid")
            .trace_state()
            .is_empty()
    );
}

#[test]
fn space_around_a_traceparent_is_ignored() {
    for (before, after) in [(" ", ""), ("\t", ""), ("", " "), ("", "\t"), ("\t ", " \t")] {
        assert_eq!(
            traceparent(&[("traceparent", &format!("{before}{ONE}{after}"))]).as_deref(),
            Some(ONE)
        );
    }
    assert_eq!(traceparent(&[("traceparent", &format!("{ONE}\n"))]), None);
}

#[test]
fn a_tracestate_without_a_valid_traceparent_is_ignored() {
    assert_eq!(from(&[("tracestate", "foo=1")]), Extracted::default());
    assert_eq!(
        from(&[("traceparent", "00-1-1-1"), ("tracestate", "foo=1")]),
        Extracted::default()
    );
}

#[test]
fn each_header_stands_and_falls_alone() {
    let extracted = from(&[
        ("traceparent", ONE),
        ("tracestate", "FOO=1"),
        ("baggage", "a=b"),
    ]);
    assert!(
        extracted
            .context
            .is_some_and(|context| context.trace_state().is_empty())
    );
    assert!(extracted.baggage.is_some());

    let extracted = from(&[
        ("traceparent", ONE),
        ("tracestate", "foo=1"),
        ("baggage", "a"),
    ]);
    assert!(
        extracted
            .context
            .is_some_and(|context| context.trace_state().as_str() == "foo=1")
    );
    assert!(extracted.baggage.is_none());

    let extracted = from(&[("traceparent", "x"), ("baggage", "a=b")]);
    assert!(extracted.context.is_none() && extracted.baggage.is_some());
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let extracted = extract(|name| match name {
        "traceparent" => Some([ONE.as_bytes(), b"\xff"].concat()),
        _ => Some(b"a=\xff".to_vec()),
    });
    assert_eq!(extracted, Extracted::default());
    let extracted = extract(|name| match name {
        "traceparent" => Some(ONE.as_bytes()),
        _ => Some(b"a=\xff".as_slice()),
    });
    assert!(
        extracted
            .context
            .is_some_and(|context| context.trace_state().is_empty())
    );
    assert!(extracted.baggage.is_none());
}

#[test]
fn what_is_written_is_read_back() {
    let before = from(&[
        ("traceparent", ONE),
        ("tracestate", "foo=1,bar=2"),
        ("baggage", "a=b;c,d=e"),
    ]);
    let mut headers = HashMap::new();
    inject(
        before.context.as_ref(),
        before.baggage.as_ref(),
        |name, value| {
            assert!(
                headers.insert(name, value.to_owned()).is_none(),
                "{name} is written once"
            );
        },
    );
    assert_eq!(headers.len(), 3);
    assert_eq!(extract(|name| headers.get(name)), before);
}

#[test]
fn nothing_is_written_without_context() {
    inject(None, None, |name, _| panic!("{name} is written"));
    let extracted = from(&[("traceparent", ONE)]);
    let mut names = Vec::new();
    inject(extracted.context.as_ref(), None, |name, _| names.push(name));
    assert_eq!(names, ["traceparent"]);
}
