//! What a process with telemetry off or nothing to do does: nothing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use gym_telemetry_core::group;
use gym_telemetry_core::receipt::Outcome;

use super::PATIENCE;
use super::lifecycle::{identity, init, on, start};
use crate::collector::{Collector, refusing_endpoint};
use crate::test_process::alone;
use crate::{
    configure_telemetry_env, get_telemetry, init_telemetry, record_rollout, shutdown_telemetry,
};

/// The names of the threads of this process.
pub(super) fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("is Linux");
    let comm = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
    };
    tasks
        .filter_map(comm)
        .map(|name| name.trim().to_owned())
        .collect()
}

/// What the file descriptors of this process point at.
fn descriptors() -> BTreeSet<String> {
    let open = std::fs::read_dir("/proc/self/fd").expect("is Linux");
    let target =
        |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_link(entry.ok()?.path()).ok();
    open.filter_map(target)
        .map(|path| path.display().to_string())
        .filter(|path| !path.ends_with("/fd"))
        .collect()
}

#[test]
fn off_means_no_handle_no_thread_no_descriptor_and_stays() {
    alone(&[], || {
        let before = (threads().len(), descriptors());
        assert_eq!(get_telemetry(), None);
        assert_eq!(init_telemetry(identity()), None);
        start("work").entered().end();
        record_rollout(Duration::from_secs(1));
        assert!(!group::SERVER.is_enabled());
        assert_eq!(
            shutdown_telemetry(PATIENCE).traces.outcome,
            Outcome::NotConfigured
        );
        assert_eq!((threads().len(), descriptors()), before);
        // The first decision holds.
        let _children = configure_telemetry_env(Some(&on(&refusing_endpoint()))).expect("is on");
        assert_eq!(init_telemetry(identity()), None);
        assert_eq!(get_telemetry(), None);
        assert_eq!((threads().len(), descriptors()), before);
    });
}

/// How often a thread of this process has gone to sleep.
fn sleeps_of(name: &str) -> String {
    let mut tasks = std::fs::read_dir("/proc/self/task")
        .expect("is Linux")
        .flatten();
    let is_it = |path: &std::path::Path| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim() == name)
    };
    let task = tasks
        .find(|task| is_it(&task.path()))
        .expect("the thread lives");
    let status = std::fs::read_to_string(task.path().join("status")).expect("is readable");
    let line = status
        .lines()
        .find(|line| line.starts_with("voluntary_ctxt_switches"));
    line.expect("is told").to_owned()
}

#[test]
fn an_idle_process_sleeps() {
    alone(&[("OTEL_METRICS_EXPORTER", "none")], || {
        let collector = Collector::start();
        let handle = init(&on(&collector.endpoint()));
        start("work").end();
        assert_eq!(handle.flush(PATIENCE), Outcome::Complete);
        // The connection settles down.
        let deadline = Instant::now() + PATIENCE;
        let idle = Duration::from_millis(300);
        loop {
            let before = sleeps_of("gym-telemetry");
            std::thread::sleep(idle);
            if sleeps_of("gym-telemetry") == before {
                break;
            }
            assert!(Instant::now() < deadline, "never sleeps for {idle:?}");
        }
    });
}
