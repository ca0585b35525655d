//! What happens when there is no room.

use std::collections::HashSet;
use std::sync::Barrier;
use std::time::Duration;

use gym_telemetry_core::SpanContext;
use gym_telemetry_core::receipt::DropReason;
use opentelemetry::trace::SpanId;

use super::{Behaviour, Rig};
use crate::context::Context;
use crate::options::{Parent, SpanOptions};
use crate::recorder::RecorderSettings;

fn room_for(max_spans: usize) -> Rig {
    Rig::with(RecorderSettings {
        max_spans,
        ..RecorderSettings::default()
    })
}

#[test]
fn without_room_new_spans_are_dropped_and_counted() {
    let rig = room_for(10);
    rig.memory.behave(Behaviour::Hang);
    for _ in 0..100 {
        rig.start("work").end();
    }
    rig.memory.behave(Behaviour::Keep);
    let receipt = rig.shut_down();
    assert_eq!(
        (receipt.exported, receipt.dropped.as_slice()),
        (10, &[(DropReason::QueueFull, 90)][..])
    );
    rig.assert_accounted(&receipt);
}

#[test]
fn open_spans_take_room_and_give_it_back_once_they_are_exported() {
    let rig = room_for(2);
    rig.memory.behave(Behaviour::Hang);
    let open = rig.start("open");
    rig.start("first").end();
    assert!(!rig.start("no room").is_recording());
    rig.memory.behave(Behaviour::Keep);
    rig.flush();
    rig.start("second").end();
    drop(open);
    let receipt = rig.shut_down();
    assert_eq!(rig.memory.names(), ["first", "second", "open"]);
    assert_eq!(receipt.dropped_total(), 1);
    rig.assert_accounted(&receipt);
}

#[test]
fn children_of_a_dropped_span_hang_on_its_parent() {
    let rig = room_for(1);
    let root = rig.start("root").entered();
    let dropped = rig.start("dropped").entered();
    assert!(!dropped.is_recording());
    assert_eq!(Context::current().span_context(), root.context());
}

#[test]
fn a_dropped_root_gives_its_children_one_trace_and_no_missing_parent() {
    let rig = room_for(2);
    let first = rig.start("first");
    let second = rig.start("second");
    let root = rig.start("root").entered();
    assert!(!root.is_recording() && root.context().is_none());
    drop((first, second));
    rig.flush();
    drop(rig.start("a"));
    drop(rig.start("b"));
    drop(root);
    rig.flush();
    let [a, b] = ["a", "b"].map(|name| rig.memory.span(name));
    assert_eq!(a.span_context.trace_id(), b.span_context.trace_id());
    assert_eq!(
        (a.parent_span_id, b.parent_span_id),
        (SpanId::INVALID, SpanId::INVALID)
    );
    assert_eq!(a.span_context.trace_flags().to_u8(), 3);
}

#[test]
fn a_dropped_server_span_lets_the_callers_trace_go_on() {
    let rig = room_for(0);
    let far =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
            .expect("is valid");
    let options = SpanOptions {
        parent: Parent::Remote(&far),
        ..SpanOptions::default()
    };
    let _server = rig.start_with("server", options).entered();
    assert_eq!(Context::current().span_context(), Some(far));
}

#[test]
fn a_lack_of_room_makes_ended_spans_leave_at_once() {
    let rig = room_for(10);
    for _ in 0..4 {
        rig.start("ended").end();
    }
    // The telemetry thread most likely starts to wait for the delay while there is room. If it is late, this shows less.
    std::thread::sleep(Duration::from_millis(20));
    let open: Vec<_> = (0..6).map(|_| rig.start("open")).collect();
    // Neither a full batch nor the delay would export them.
    assert!(!rig.start("no room").is_recording());
    rig.memory.wait_for_spans(4);
    drop(open);
}

#[test]
fn a_hanging_exporter_bounds_what_is_kept_and_loses_nothing_uncounted() {
    let rig = Rig::with(RecorderSettings {
        max_spans: 100,
        batch_size: 10,
        ..RecorderSettings::default()
    });
    rig.memory.behave(Behaviour::Hang);
    for _ in 0..50 {
        rig.start("before").end();
    }
    rig.memory.wait_for_exports(1);
    for _ in 0..1_000 {
        rig.start("meanwhile").end();
    }
    assert_eq!(rig.recorder.held(), 100);
    rig.memory.behave(Behaviour::Keep);
    let receipt = rig.shut_down();
    assert_eq!((receipt.exported, receipt.dropped_total()), (100, 950));
    assert!(rig.memory.batches().iter().all(|size| *size <= 10));
    rig.assert_accounted(&receipt);
    assert_eq!(rig.recorder.held(), 0);
}

#[test]
fn trees_recorded_in_a_rush_have_no_orphans_and_every_span_is_accounted_for() {
    let rig = Rig::with(RecorderSettings {
        max_spans: 64,
        batch_size: 8,
        ..RecorderSettings::default()
    });
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                for _ in 0..2_000 {
                    let _root = rig.start("root").entered();
                    let _child = rig.start("child").entered();
                    rig.start("grandchild").end();
                }
            });
        }
    });
    let receipt = rig.shut_down();
    rig.assert_accounted(&receipt);
    assert_eq!(rig.recorder.created(), 4 * 2_000 * 3);
    let spans = rig.memory.spans();
    assert_eq!(spans.len() as u64, receipt.exported);
    let ids: HashSet<_> = spans
        .iter()
        .map(|span| span.span_context.span_id())
        .collect();
    assert_eq!(ids.len(), spans.len());
    for span in &spans {
        assert!(span.parent_span_id == SpanId::INVALID || ids.contains(&span.parent_span_id));
    }
}
