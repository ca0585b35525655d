//! Resolving, registering and applying at once. Alone in its process: the flags are global.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

use gym_telemetry_core::SpanGroup;
use gym_telemetry_core::group::{self, Registration};

static GROUPS: [SpanGroup; 4] = [
    SpanGroup::new("g0"),
    SpanGroup::new("g1"),
    SpanGroup::new("g2"),
    SpanGroup::new("g3"),
];
const NAMESPACES: [&str; 4] = ["l0", "l1", "l2", "l3"];
const ROUNDS: usize = 200;

fn resolve_in_hook(_: &str) {
    assert!(!SpanGroup::resolve("all").groups.is_empty());
}

fn registration<'a>(index: usize, groups: &'a [&'static SpanGroup]) -> Registration<'a> {
    Registration {
        namespace: NAMESPACES[index],
        groups,
        presets: &[],
    }
}

fn race() {
    group::set_report_hook(resolve_in_hook);
    // `g9` never exists, so that reports are made as well.
    let _ = group::apply_spec("all,g9");
    for _ in 0..ROUNDS {
        let (start, done) = (Barrier::new(GROUPS.len() + 2), AtomicBool::new(false));
        thread::scope(|scope| {
            let (start, done) = (&start, &done);
            let registrars: Vec<_> = (0..GROUPS.len())
                .map(|index| {
                    scope.spawn(move || {
                        let groups = [&GROUPS[index]];
                        start.wait();
                        group::register(&registration(index, &groups))
                            .expect("the names are valid");
                        assert!(
                            GROUPS[index].is_enabled(),
                            "a registration is in force when it returns"
                        );
                    })
                })
                .collect();
            for _ in 0..2 {
                scope.spawn(move || {
                    start.wait();
                    while !done.load(Ordering::Relaxed) {
                        let resolution = SpanGroup::resolve("all,g9");
                        let names: Vec<_> =
                            resolution.groups.iter().map(|group| group.name()).collect();
                        assert_eq!(
                            names, resolution.registered,
                            "all of it is seen at one moment"
                        );
                        let text = resolution.warning().expect("g9 is unknown");
                        for name in ["g0", "g1", "g2", "g3"] {
                            assert_eq!(text.contains(name), names.contains(&name), "{text}");
                        }
                    }
                });
            }
            for registrar in registrars {
                registrar.join().expect("registers");
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(GROUPS.iter().all(SpanGroup::is_enabled));
        NAMESPACES.into_iter().for_each(group::unregister);
        assert!(!GROUPS.iter().any(SpanGroup::is_enabled));
    }
}

#[test]
fn nothing_deadlocks_and_every_registration_counts() {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::spawn(move || {
        race();
        sender.send(()).expect("the test waits");
    });
    match receiver.recv_timeout(Duration::from_mins(2)) {
        Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
            worker.join().expect("every check holds");
        }
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("somebody waits for ever"),
    }
}
