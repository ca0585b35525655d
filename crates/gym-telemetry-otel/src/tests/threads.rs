//! Many threads, short and long.

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use super::{Behaviour, PATIENCE, Rig};
use crate::recorder::RecorderSettings;
use crate::thread::Schedule;

#[test]
fn threads_that_die_hand_over_their_spans_and_leave_nothing_behind() {
    let rig = Rig::new();
    for _ in 0..500 {
        std::thread::scope(|scope| {
            scope
                .spawn(|| rig.start("short-lived").end())
                .join()
                .expect("does not panic");
        });
    }
    rig.flush();
    assert_eq!(rig.recorder.thread_count(), 0);
    let receipt = rig.shut_down();
    assert_eq!(receipt.exported, 500);
    rig.assert_accounted(&receipt);
}

#[test]
fn a_flush_finds_what_running_threads_have_ended() {
    let rig = Rig::new();
    std::thread::scope(|scope| {
        let (done, wait) = channel();
        let (stop, stopped) = channel::<()>();
        scope.spawn({
            let rig = &rig;
            move || {
                rig.start("there").end();
                done.send(()).expect("the test waits");
                let _ = stopped.recv_timeout(PATIENCE);
            }
        });
        wait.recv_timeout(PATIENCE).expect("the span ends");
        rig.start("here").end();
        rig.flush();
        assert_eq!(rig.memory.names().iter().collect::<HashSet<_>>().len(), 2);
        drop(stop);
    });
}

#[test]
fn a_full_batch_is_exported_without_being_asked_for() {
    let rig = Rig::with(RecorderSettings {
        batch_size: 4,
        ..RecorderSettings::default()
    });
    for _ in 0..4 {
        rig.start("work").end();
    }
    rig.memory.wait_for_spans(4);
}

#[test]
fn a_lone_span_is_exported_after_the_delay() {
    let schedule = Schedule {
        delay: Duration::from_millis(20),
        ..Schedule::default()
    };
    let rig = Rig::scheduled(RecorderSettings::default(), schedule);
    for count in 1..=3 {
        rig.start("work").end();
        rig.memory.wait_for_spans(count);
    }
}

#[test]
fn spans_that_end_during_an_export_are_exported_after_the_delay() {
    let schedule = Schedule {
        delay: Duration::from_millis(20),
        ..Schedule::default()
    };
    let rig = Rig::scheduled(RecorderSettings::default(), schedule);
    rig.memory.behave(Behaviour::Hang);
    rig.start("first").end();
    rig.memory.wait_for_exports(1);
    rig.start("second").end();
    rig.memory.behave(Behaviour::Keep);
    rig.memory.wait_for_spans(2);
}

#[test]
fn flushes_and_exports_under_load_lose_nothing() {
    let settings = RecorderSettings {
        batch_size: 16,
        ..RecorderSettings::default()
    };
    let schedule = Schedule {
        delay: Duration::from_millis(1),
        ..Schedule::default()
    };
    let rig = Rig::scheduled(settings, schedule);
    let (go, stop) = (Barrier::new(5), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    go.wait();
                    for n in 0..3_000_i64 {
                        let span = rig.start("work").entered();
                        span.set_attribute("n", n);
                        // Some end on a thread of their own that dies at once.
                        if n % 500 == 0 {
                            let span = span.exit();
                            scope.spawn(move || drop(span));
                        }
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
    assert_eq!(receipt.exported, 12_000);
    assert!(receipt.is_complete(), "{receipt:?}");
    rig.assert_accounted(&receipt);
    let ids: HashSet<_> = rig
        .memory
        .spans()
        .iter()
        .map(|span| span.span_context.span_id())
        .collect();
    assert_eq!(ids.len(), 12_000);
}

#[test]
fn no_caller_waits_for_an_export() {
    let rig = Rig::with(RecorderSettings {
        batch_size: 1,
        ..RecorderSettings::default()
    });
    rig.memory.behave(Behaviour::Block);
    rig.start("first").end();
    rig.memory.wait_for_exports(1);
    // The telemetry thread is stuck inside the exporter now.
    let start = Instant::now();
    for _ in 0..1_000 {
        rig.start("work").entered().end();
    }
    assert!(start.elapsed() < PATIENCE / 2);
    rig.memory.behave(Behaviour::Keep);
    assert_eq!(rig.shut_down().exported, 1_001);
}
