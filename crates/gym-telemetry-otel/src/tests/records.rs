//! Random spans against a simple model, and what only the way of keeping spans could get wrong.

use std::borrow::Cow;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use gym_telemetry_core::value::StaticStr;
use gym_telemetry_core::{SpanContext, SpanKind, scope};
use opentelemetry::trace::Status as OtelStatus;
use opentelemetry_sdk::trace::SpanData;

use super::{PATIENCE, Rig};
use crate::options::{Parent, SpanOptions, Status};
use crate::recorder::{Recorder, RecorderSettings, SpanLimits};
use crate::span::{Span, set_current_attributes, with_current_span};

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).expect("31 bits fit") % limit
    }

    fn text(&mut self) -> String {
        // Around the sizes that matter: nothing, whole words, the longest that is copied.
        let len = [0, 1, 7, 8, 9, 40, 95, 96, 97, 300][self.below(10)];
        "ä🙂bcdefgh".chars().cycle().take(len).collect()
    }
}

const KEYS: [&str; 6] = ["a", "b.c", "prompt", "n", "long.key.of.an.attribute", ""];

/// The attributes of a span or an event as they should be.
#[derive(Debug, Default, PartialEq)]
struct Attributes {
    items: Vec<(String, String)>,
    dropped: u32,
}

impl Attributes {
    fn set(&mut self, key: &str, value: String, limit: usize) {
        if let Some(known) = self.items.iter_mut().find(|(known, _)| known == key) {
            known.1 = value;
        } else if self.items.len() < limit {
            self.items.push((key.to_owned(), value));
        } else {
            self.dropped += 1;
        }
    }
}

/// A span as it should be.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Model {
    name: String,
    attributes: Attributes,
    events: Vec<(String, Attributes)>,
    dropped_events: u32,
    links: usize,
    status: String,
}

fn shown(span: &SpanData) -> Model {
    let plain = |attributes: &[opentelemetry::KeyValue], dropped| Attributes {
        items: attributes
            .iter()
            .map(|item| (item.key.to_string(), item.value.to_string()))
            .collect(),
        dropped,
    };
    Model {
        name: span.name.to_string(),
        attributes: plain(&span.attributes, span.dropped_attributes_count),
        events: span
            .events
            .iter()
            .map(|event| {
                let attributes = plain(&event.attributes, event.dropped_attributes_count);
                (event.name.to_string(), attributes)
            })
            .collect(),
        dropped_events: span.events.dropped_count,
        links: span.links.len(),
        status: format!("{:?}", span.status),
    }
}

/// Sets a random attribute and returns how it should look.
fn random_attribute(
    numbers: &mut Numbers,
    attributes: &mut crate::Attributes<'_>,
    length: Option<usize>,
) -> (&'static str, String) {
    let key = KEYS[numbers.below(KEYS.len())];
    let cut = |text: &str| text.chars().take(length.unwrap_or(usize::MAX)).collect();
    let hide = |text: String| {
        if key == "prompt" {
            cut("[REDACTED]")
        } else {
            cut(&text)
        }
    };
    let value: String = match numbers.below(8) {
        0 => {
            attributes.set(key, &true);
            "true".to_owned()
        }
        1 => {
            let number = -1 - i64::try_from(numbers.below(1 << 30)).expect("it fits");
            attributes.set(key, &number);
            number.to_string()
        }
        2 => {
            attributes.set(key, &0.5);
            "0.5".to_owned()
        }
        3 => {
            attributes.set(key, &u64::MAX);
            u64::MAX.to_string()
        }
        4 => {
            attributes.set(key, &StaticStr("static text"));
            hide("static text".to_owned())
        }
        5 if numbers.below(8) == 0 => {
            attributes.set(key, &[1_i64, 2]);
            "[1,2]".to_owned()
        }
        6 if numbers.below(8) == 0 => {
            // A key that is not static.
            let text = numbers.text();
            attributes.set(key.to_owned(), &text);
            hide(text)
        }
        _ => {
            let text = numbers.text();
            attributes.set(key, &text);
            hide(text)
        }
    };
    (key, value)
}

pub(super) fn random_span(recorder: &'static Recorder, limits: &SpanLimits, seed: u64) -> Model {
    let mut numbers = Numbers(seed);
    let other =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")
            .expect("is valid");
    let length = limits.value_length;
    let mut model = Model {
        status: format!("{:?}", OtelStatus::Unset),
        ..Model::default()
    };
    let name: Cow<'static, str> = if numbers.below(2) == 0 {
        "static".into()
    } else {
        numbers.text().into()
    };
    model.name.clone_from(&name.clone().into_owned());
    let far = if numbers.below(2) == 0 {
        let state = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"
            .parse()
            .expect("is valid");
        other.clone().with_trace_state(state)
    } else {
        other.clone()
    };
    let links = [far.clone(), other.clone()];
    let options = SpanOptions {
        parent: [Parent::Root, Parent::Current, Parent::Remote(&far)][numbers.below(3)],
        kind: [SpanKind::Internal, SpanKind::Server, SpanKind::Producer][numbers.below(3)],
        scope: [scope::HELPERS, scope::LENS, scope::GYM][numbers.below(3)],
        links: &links[..if numbers.below(8) == 0 { 2 } else { 0 }],
        ..SpanOptions::default()
    };
    model.links = options.links.len().min(limits.links);
    let span = Span::start_on(recorder, name, options, |attributes| {
        for _ in 0..numbers.below(5) {
            let (key, value) = random_attribute(&mut numbers, attributes, length);
            model.attributes.set(key, value, limits.attributes);
        }
    });
    let is_short = numbers.below(4) > 0;
    for _ in 0..numbers.below(if is_short { 6 } else { 60 }) {
        match numbers.below(if is_short { 9 } else { 90 }) {
            0..3 => {
                let mut event = Attributes::default();
                let name = if numbers.below(4) == 0 {
                    Cow::Owned(numbers.text())
                } else {
                    Cow::Borrowed("event")
                };
                span.add_event(name.clone(), |attributes| {
                    for _ in 0..numbers.below(6) {
                        let (key, value) = random_attribute(&mut numbers, attributes, length);
                        event.set(key, value, limits.event_attributes);
                    }
                });
                if model.events.len() < limits.events {
                    model.events.push((name.into_owned(), event));
                } else {
                    model.dropped_events += 1;
                }
            }
            3 => {
                let status = match numbers.below(3) {
                    0 => Status::Ok,
                    1 => Status::Error("static".into()),
                    _ => Status::Error(numbers.text().into()),
                };
                if model.status != "Ok" {
                    model.status = match &status {
                        Status::Error(text) => format!("{:?}", OtelStatus::error(text.clone())),
                        _ => "Ok".to_owned(),
                    };
                }
                span.set_status(status);
            }
            4 => {
                model.name = numbers.text();
                span.update_name(model.name.clone());
            }
            5 if numbers.below(6) == 0 => {
                model.links += usize::from(model.links < limits.links);
                span.add_link(&other, |_| {});
            }
            _ => span.set(|attributes| {
                let (key, value) = random_attribute(&mut numbers, attributes, length);
                model.attributes.set(key, value, limits.attributes);
            }),
        }
    }
    if numbers.below(8) == 0 {
        std::thread::spawn(move || drop(span))
            .join()
            .expect("does not panic");
    } else {
        span.end();
    }
    model
}

#[test]
fn random_spans_are_exported_as_they_were_recorded() {
    for value_length in [None, Some(5)] {
        let limits = SpanLimits {
            attributes: 4,
            event_attributes: 3,
            events: 8,
            links: 1,
            value_length,
            ..SpanLimits::default()
        };
        let rig = Rig::with(RecorderSettings {
            limits,
            ..RecorderSettings::default()
        });
        for seed in 1..=2_000_u64 {
            let expected = random_span(
                rig.recorder,
                &limits,
                seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            );
            rig.flush();
            let spans = rig.memory.take_spans();
            assert_eq!(spans.len(), 1);
            assert_eq!(shown(&spans[0]), expected, "seed {seed}");
        }
        let receipt = rig.shut_down();
        assert_eq!(receipt.exported, 2_000);
        rig.assert_accounted(&receipt);
    }
}

#[test]
fn open_spans_are_cut_off_with_all_that_was_set_until_then() {
    for seed in [3_u64, 7, 50, 400] {
        let rig = Rig::new();
        let count = usize::try_from(seed).expect("it fits");
        let span = rig.start("work").entered();
        for n in 0..count {
            // Each value has a key of its own, so that nothing is replaced.
            let key = ["a", "b", "c"][n % 3];
            span.add_event(key, |attributes| {
                attributes.set("n", &i64::try_from(n).expect("it fits"));
            });
        }
        let receipt = rig.shut_down();
        span.set_attribute("late", true);
        drop(span);
        let span = rig.memory.span("work");
        assert_eq!(span.events.len(), count.min(128) + 1, "{count}");
        assert_eq!(receipt.truncated, 1);
        rig.assert_accounted(&receipt);
        assert_eq!(rig.recorder.held(), 0);
    }
}

#[test]
fn a_span_that_is_updated_for_ever_takes_no_more_memory_for_ever() {
    let rig = Rig::new();
    let span = rig.start("work");
    for n in 0..200_000_i64 {
        span.set_attribute("n", n);
        span.set_status(Status::Error("again".into()));
    }
    // All threads together could have so many spans with as much.
    assert_eq!(rig.recorder.held(), 1);
    span.end();
    rig.flush();
    let span = rig.memory.span("work");
    assert_eq!(span.attributes.len(), 1);
    assert_eq!(span.attributes[0].value, 199_999_i64.into());
}

#[test]
fn the_current_span_may_be_ended_by_whoever_looks_at_it() {
    let rig = Rig::new();
    let mut owner = Some(rig.start("first").entered());
    with_current_span(|current| {
        assert!(current.is_recording());
        current.set_attribute("early", true);
        drop(owner.take());
        // A new span is in the same place now; nothing may reach it.
        let second = rig.start("second");
        assert!(!current.is_recording() && current.context().is_none());
        current.set_attribute("late", true);
        current.add_event("late", |_| {});
        current.set_status(Status::Ok);
        second.end();
    });
    let mut owner = Some(rig.start("third").entered());
    set_current_attributes(|attributes| {
        attributes.set("early", &true);
        drop(owner.take());
        attributes.set("late", &true);
    });
    rig.flush();
    for (name, count) in [("first", 1), ("second", 0), ("third", 1)] {
        let span = rig.memory.span(name);
        assert_eq!(span.attributes.len(), count, "{name}");
        assert_eq!((span.status, span.events.len()), (OtelStatus::Unset, 0));
    }
}

#[test]
fn spans_end_anywhere_while_threads_come_and_go_and_every_one_arrives() {
    let rig = Rig::with(RecorderSettings {
        max_spans: 100_000,
        batch_size: 64,
        ..RecorderSettings::default()
    });
    let (go, stop) = (Barrier::new(3), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2_u64)
            .map(|seed| {
                let (rig, go) = (&rig, &go);
                scope.spawn(move || {
                    let mut numbers = Numbers(seed + 1);
                    let mut kept = Vec::new();
                    go.wait();
                    for _ in 0..300 {
                        for _ in 0..numbers.below(20) {
                            let span = rig.start("work");
                            span.set_attribute("text", "of some length, to be copied");
                            kept.push(span);
                        }
                        let at = numbers.below(kept.len() + 1);
                        let sent = kept.split_off(at);
                        // A thread that only ends spans of others, or does nothing at all.
                        std::thread::scope(|inner| {
                            inner.spawn(move || drop(sent));
                        });
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            go.wait();
            while !stop.load(Ordering::Relaxed) {
                let _ = rig.telemetry.flush(PATIENCE);
            }
        });
        for worker in workers {
            worker.join().expect("does not panic");
        }
        stop.store(true, Ordering::Relaxed);
    });
    let receipt = rig.shut_down();
    assert_eq!(receipt.exported, rig.recorder.created());
    assert!(receipt.is_complete(), "{receipt:?}");
    let spans = rig.memory.spans();
    assert_eq!(spans.len() as u64, receipt.exported);
    assert!(spans.iter().all(|span| span.attributes.len() == 1));
    assert!(rig.recorder.thread_count() <= 3);
}

#[test]
fn more_nested_spans_than_usual_are_left_in_order() {
    let rig = Rig::new();
    let mut guards: Vec<_> = (0..100).map(|_| rig.start("work").entered()).collect();
    let innermost = guards.last().and_then(|guard| guard.context());
    assert_eq!(crate::Context::current().span_context(), innermost);
    // One in the middle goes first.
    drop(guards.remove(50));
    assert_eq!(crate::Context::current().span_context(), innermost);
    while let Some(guard) = guards.pop() {
        drop(guard);
        let current = crate::Context::current().span_context();
        assert_eq!(current, guards.last().and_then(|guard| guard.context()));
    }
    rig.flush();
    assert_eq!(rig.memory.spans().len(), 100);
}
