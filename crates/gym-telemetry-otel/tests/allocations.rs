//! What recording a span allocates on the thread that records it: nothing.

#[path = "support/allocations.rs"]
mod counting;

use std::time::Duration;

use counting::allocations;
use gym_telemetry_core::receipt::Outcome;
use gym_telemetry_core::value::StaticStr;
use gym_telemetry_otel::testing::Discard;
use gym_telemetry_otel::{Span, SpanOptions, Status};

fn start(name: &'static str, number: i64) -> Span {
    Span::start(name, SpanOptions::default(), |attributes| {
        attributes.set("bench.word", &StaticStr("measured"));
        attributes.set("bench.number", &number);
    })
}

fn simple() {
    let _root = start("root", 0).entered();
    for number in 0..50 {
        let _child = start("child", number).entered();
    }
}

/// Eight attributes, three of them owned strings, two events and an error.
fn rich(texts: &[String; 3]) {
    for number in 0..50 {
        let span = start("rich", number).entered();
        for (key, text) in ["rollout", "model", "path"].into_iter().zip(texts) {
            span.set_attribute(key, text);
        }
        span.set_attribute("share", 0.5);
        span.set_attribute("is_first", number == 0);
        span.set_attribute("count", number);
        for name in ["first", "second"] {
            span.add_event(name, |attributes| {
                attributes.set("number", &number);
                attributes.set("word", &StaticStr("event"));
            });
        }
        span.set_status(Status::Error("it did not work".into()));
    }
}

#[test]
fn recording_allocates_nothing() {
    let telemetry = Discard::install().expect("is the first");
    let texts = [
        "rollout-0123456789",
        "a-model-of-some-size",
        "/a/path/to/it",
    ]
    .map(String::from);
    let flush = || {
        let outcome = telemetry.handle().flush(Duration::from_secs(20));
        assert_eq!(outcome, Outcome::Complete);
    };
    // The first spans of a thread allocate what belongs to the thread, and each new height of the pool memory for it.
    for _ in 0..10 {
        simple();
        rich(&texts);
    }
    flush();
    assert_eq!(allocations(simple), 0);
    assert_eq!(allocations(|| rich(&texts)), 0);
    // Longer texts are kept on the heap.
    let long = "long".repeat(100);
    let counted = allocations(|| start("long", 0).set_attribute("text", &long));
    assert!(counted > 0);
    flush();
}
