//! What a span records.

use std::fmt;

use gym_telemetry_core::{SpanContext, SpanKind, attribute, event, scope};
use opentelemetry::trace::{SpanKind as OtelSpanKind, Status as OtelStatus};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::SpanData;

use super::{PATIENCE, Rig};
use crate::options::{SpanOptions, Status, StatusStyle};
use crate::recorder::{RecorderSettings, SpanLimits};
use crate::span::Span;

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Value> {
    let mut found = attributes.iter().filter(|item| item.key.as_str() == key);
    let value = found.next().map(|item| &item.value);
    assert!(found.next().is_none(), "{key} is there twice");
    value
}

/// Records one span and returns what was exported.
fn exported(rig: &Rig, options: SpanOptions<'_>, work: impl FnOnce(&Span)) -> SpanData {
    let span = rig.start_with("work", options);
    work(&span);
    span.end();
    rig.flush();
    rig.memory.span("work")
}

#[test]
fn attributes_of_the_start_and_later_ones_are_exported_and_the_last_value_wins() {
    let rig = Rig::new();
    let span = Span::start_on(rig.recorder, "work", SpanOptions::default(), |attributes| {
        attributes.set("n", &1_i64);
        attributes.set("early", &true);
    });
    span.set_attribute("late", 0.5);
    span.set_attribute("absent", None::<&str>);
    span.set_attribute(String::from("owned"), String::from("text"));
    span.set_attributes([("n", 2_i64), ("m", 3)]);
    span.end();
    rig.flush();
    let span = rig.memory.span("work");
    assert_eq!(value(&span.attributes, "n"), Some(&Value::I64(2)));
    assert_eq!(value(&span.attributes, "m"), Some(&Value::I64(3)));
    assert_eq!(value(&span.attributes, "early"), Some(&Value::Bool(true)));
    assert_eq!(value(&span.attributes, "late"), Some(&Value::F64(0.5)));
    assert_eq!(value(&span.attributes, "owned"), Some(&"text".into()));
    assert_eq!(span.attributes.len(), 5);
}

#[test]
fn secrets_are_redacted_wherever_attributes_go() {
    let rig = Rig::new();
    let other = rig.start("other").context().expect("has ids");
    let span = exported(&rig, SpanOptions::default(), |span| {
        span.set_attribute("api_key", "clear");
        span.set_attributes([("prompt", vec!["clear", "clear"])]);
        span.add_event("event", |attributes| attributes.set("password", "clear"));
        span.add_link(&other, |attributes| attributes.set("token", "clear"));
        span.set_attributes_redacting(&["answer"], |attributes| {
            attributes.set("answer", "clear");
            attributes.set("client_secret", "clear");
            attributes.set("secret", "shown");
        });
    });
    let shown = format!("{span:?}");
    assert!(!shown.contains("clear"), "{shown}");
    assert_eq!(value(&span.attributes, "secret"), Some(&"shown".into()));
    assert_eq!(shown.matches("[REDACTED]").count(), 7);
}

#[test]
fn kind_scope_and_name_are_as_given() {
    let rig = Rig::new();
    let kinds = [
        (SpanKind::Internal, OtelSpanKind::Internal),
        (SpanKind::Server, OtelSpanKind::Server),
        (SpanKind::Client, OtelSpanKind::Client),
        (SpanKind::Producer, OtelSpanKind::Producer),
        (SpanKind::Consumer, OtelSpanKind::Consumer),
    ];
    for (kind, _) in kinds.clone() {
        rig.start_with(
            "kind",
            SpanOptions {
                kind,
                ..SpanOptions::default()
            },
        )
        .end();
    }
    let span = exported(
        &rig,
        SpanOptions {
            scope: scope::GYM,
            ..SpanOptions::default()
        },
        |span| {
            span.update_name("other");
            span.update_name(String::from("work"));
        },
    );
    assert_eq!(span.instrumentation_scope.name(), "nemo.gym");
    let exported: Vec<_> = rig
        .memory
        .spans()
        .iter()
        .take(5)
        .map(|span| span.span_kind.clone())
        .collect();
    assert_eq!(exported, kinds.map(|(_, kind)| kind));
    assert_eq!(
        rig.memory.spans()[0].instrumentation_scope.name(),
        "nemo.lens.helpers"
    );
}

#[test]
fn ok_is_final_and_the_later_error_wins_otherwise() {
    let error = |text: &'static str| Status::Error(text.into());
    let cases = [
        (vec![], OtelStatus::Unset),
        (vec![error("b"), error("a")], OtelStatus::error("a")),
        (vec![error("a"), Status::Unset], OtelStatus::error("a")),
        (vec![error("a"), Status::Ok], OtelStatus::Ok),
        (vec![Status::Ok, error("a"), Status::Unset], OtelStatus::Ok),
    ];
    for (statuses, expected) in cases {
        let rig = Rig::new();
        let span = exported(&rig, SpanOptions::default(), |span| {
            statuses
                .iter()
                .cloned()
                .for_each(|status| span.set_status(status));
        });
        assert_eq!(span.status, expected, "{statuses:?}");
    }
}

#[derive(Debug)]
struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too late")
    }
}

#[test]
fn an_error_becomes_a_status_and_one_exception_event() {
    let rig = Rig::new();
    let span = exported(&rig, SpanOptions::default(), |span| {
        span.record_error(&Late);
    });
    assert_eq!(span.status, OtelStatus::error("too late"));
    let [event] = &span.events.events[..] else {
        panic!("one event: {:?}", span.events)
    };
    assert_eq!(event.name, event::EXCEPTION);
    let type_name = value(&event.attributes, attribute::EXCEPTION_TYPE).expect("has a type");
    assert!(type_name.as_str().ends_with("::Late"), "{type_name}");
    assert_eq!(
        value(&event.attributes, attribute::EXCEPTION_MESSAGE),
        Some(&"too late".into())
    );
    assert_eq!(
        value(&event.attributes, attribute::EXCEPTION_ESCAPED),
        Some(&"False".into())
    );
    assert!(event.timestamp >= span.start_time && event.timestamp <= span.end_time);
}

#[test]
fn options_decide_about_the_exception_event_and_the_text_of_the_status() {
    let rig = Rig::new();
    let options = SpanOptions {
        record_exception: false,
        status_style: StatusStyle::TypeAndMessage,
        ..SpanOptions::default()
    };
    let span = exported(&rig, options, |span| span.record_error(&Late));
    assert_eq!(span.status, OtelStatus::error("Late: too late"));
    assert!(span.events.events.is_empty());
}

#[test]
fn a_dropped_span_fails_if_a_panic_unwinds_through_its_owner() {
    let rig = Rig::new();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _value = rig.start("value");
        let _entered = rig.start("entered").entered();
        rig.start("ended").end();
        panic!("as the test wants");
    }));
    assert!(outcome.is_err());
    rig.flush();
    for name in ["value", "entered"] {
        let span = rig.memory.span(name);
        assert_eq!(span.status, OtelStatus::error("panic"), "{name}");
        assert_eq!(span.events.events.len(), 1, "{name}");
    }
    assert_eq!(rig.memory.span("ended").status, OtelStatus::Unset);
}

#[test]
fn a_span_made_while_unwinding_does_not_fail_because_of_it() {
    struct Cleanup<'a>(&'a Rig);
    impl Drop for Cleanup<'_> {
        fn drop(&mut self) {
            let _span = self.0.start("cleanup").entered();
        }
    }
    let rig = Rig::new();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _cleanup = Cleanup(&rig);
        panic!("as the test wants");
    }));
    assert!(outcome.is_err());
    rig.flush();
    assert_eq!(rig.memory.span("cleanup").status, OtelStatus::Unset);
}

#[test]
fn panics_in_expressions_are_contained_and_counted() {
    struct Bad;
    impl gym_telemetry_core::ToValue for Bad {
        fn to_value(&self) -> Option<gym_telemetry_core::Value<'_>> {
            panic!("as the test wants");
        }
    }
    impl fmt::Display for Bad {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("as the test wants");
        }
    }
    let rig = Rig::new();
    let missing = std::hint::black_box(None::<i64>);
    let span = Span::start_on(rig.recorder, "work", SpanOptions::default(), |attributes| {
        attributes.set("before", &1_i64);
        attributes.set("after", &missing.expect("as the test wants"));
    });
    span.set_attribute("bad", Bad);
    span.add_event("event", |_| panic!("as the test wants"));
    span.record_error(&Bad);
    span.end();
    rig.flush();
    let span = rig.memory.span("work");
    assert_eq!(value(&span.attributes, "before"), Some(&Value::I64(1)));
    assert_eq!(span.attributes.len(), 1);
    assert_eq!(span.events.events.len(), 1);
    assert_eq!(rig.recorder.counts.panics.get(), 4);
}

#[test]
fn an_expression_may_use_the_very_span_it_is_for() {
    let rig = Rig::new();
    let span = exported(&rig, SpanOptions::default(), |span| {
        span.set(|attributes| {
            span.set_attribute("inner", 1_i64);
            span.add_event("inner", |_| span.update_name("work"));
            attributes.set("outer", &2_i64);
        });
    });
    assert_eq!((span.attributes.len(), span.events.events.len()), (2, 1));
}

#[test]
fn events_and_links_beyond_the_limits_are_dropped_and_counted() {
    let limits = SpanLimits {
        attributes: 2,
        event_attributes: 1,
        link_attributes: 1,
        events: 3,
        links: 2,
        value_length: None,
    };
    let rig = Rig::with(RecorderSettings {
        limits,
        ..RecorderSettings::default()
    });
    let other = rig.start("other").context().expect("has ids");
    let three = [other.clone(), other.clone(), other.clone()];
    let span = exported(
        &rig,
        SpanOptions {
            links: &three,
            ..SpanOptions::default()
        },
        |span| {
            for n in 0..10_000_i64 {
                span.set_attribute("a", n);
                span.set_attribute("b", n);
                span.set_attribute("c", n);
                span.add_event("event", |attributes| {
                    attributes.set("a", &n);
                    attributes.set("b", &n);
                });
            }
            span.add_link(&other, |_| {});
        },
    );
    assert_eq!(value(&span.attributes, "b"), Some(&Value::I64(9_999)));
    assert_eq!(
        (span.attributes.len(), span.dropped_attributes_count),
        (2, 10_000)
    );
    assert_eq!(
        (span.events.events.len(), span.events.dropped_count),
        (3, 9_997)
    );
    assert_eq!(span.events.events[2].dropped_attributes_count, 1);
    assert_eq!((span.links.links.len(), span.links.dropped_count), (2, 2));
}

#[test]
fn links_keep_their_context_and_attributes() {
    let rig = Rig::new();
    let remote =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")
            .expect("is valid")
            .with_trace_state("rojo=1,congo=t61".parse().expect("is valid"));
    let links = [remote.clone()];
    let span = exported(
        &rig,
        SpanOptions {
            links: &links,
            ..SpanOptions::default()
        },
        |span| {
            span.add_link(&remote, |attributes| attributes.set("why", "retry"));
        },
    );
    let [first, second] = &span.links.links[..] else {
        panic!("two links")
    };
    for link in [first, second] {
        assert_eq!(
            link.span_context.trace_id().to_string(),
            "0af7651916cd43dd8448eb211c80319c"
        );
        assert_eq!(link.span_context.span_id().to_string(), "b7ad6b7169203331");
        assert_eq!(link.span_context.trace_flags().to_u8(), 3);
        assert_eq!(link.span_context.trace_state().header(), "rojo=1,congo=t61");
        assert!(link.span_context.is_remote());
    }
    assert_eq!(value(&second.attributes, "why"), Some(&"retry".into()));
}

#[test]
fn a_span_may_end_on_another_thread() {
    let rig = Rig::new();
    let span = rig.start("work");
    std::thread::spawn(move || {
        span.set_attribute("there", true);
        drop(span);
    })
    .join()
    .expect("does not panic");
    rig.flush();
    assert_eq!(rig.memory.span("work").attributes.len(), 1);
}

#[test]
fn a_span_that_is_not_recorded_does_nothing() {
    let rig = Rig::new();
    let span = Span::none();
    assert!(!span.is_recording() && span.context().is_none());
    span.set_attribute("a", 1_i64);
    span.set(|_| panic!("must not run"));
    span.add_event("event", |_| panic!("must not run"));
    span.record_error("error");
    span.entered().end();
    assert!(rig.start("work").is_recording());
    rig.flush();
    assert_eq!(rig.memory.names(), ["work"]);
    assert!(rig.telemetry.shut_down(PATIENCE).is_complete());
}

#[test]
fn without_telemetry_a_span_is_none_and_its_attributes_are_not_evaluated() {
    let span = Span::start("work", SpanOptions::default(), |_| panic!("must not run"));
    assert!(!span.is_recording());
}

#[test]
fn a_span_that_runs_a_closure_is_current_in_it_and_stays_open() {
    let rig = Rig::new();
    let start = |name| Span::start_on(rig.recorder, name, SpanOptions::default(), |_| {});
    let parent = start("parent");
    let child = parent.run(|| {
        crate::set_current_attributes(|attributes| attributes.set("inside", &true));
        start("child")
    });
    assert_eq!(crate::Context::current().span_context(), None);
    assert!(parent.is_recording());
    drop((child, parent));
    rig.flush();
    let parent = rig.memory.span("parent");
    assert_eq!(parent.attributes.len(), 1);
    assert_eq!(
        rig.memory.span("child").parent_span_id,
        parent.span_context.span_id()
    );
    rig.shut_down();
}
