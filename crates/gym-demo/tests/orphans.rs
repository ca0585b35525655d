//! What becomes of the servers when the orchestrator is killed and cannot stop them any more.
//!
//! One test alone: it makes its process the one that inherits orphans.

mod support;

use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, wait};
use support::process::{children_of, eventually};
use support::run::Run;

const DEADLINE: Duration = Duration::from_mins(1);

#[test]
fn servers_stop_in_good_order_when_the_orchestrator_is_killed() {
    set_child_subreaper(Some(Pid::INIT)).expect("a process may inherit orphans");
    let (directory, mut guard) = Run::new()
        .args(["--rollouts", "10000000"])
        .env("NEMO_GYM_OTEL_ENABLED", "0")
        .spawn();
    let results = directory.path().join("out/results.jsonl");
    eventually("rollouts run", DEADLINE, || {
        std::fs::metadata(&results)
            .ok()
            .filter(|file| file.len() > 0)
    });
    let mut servers = children_of(guard.id());
    servers.sort_unstable();
    assert_eq!(servers.len(), 3);
    let _leftovers = Leftovers(servers.clone());

    guard.child().kill().expect("an own child can be killed");
    guard
        .child()
        .wait()
        .expect("an own child can be waited for");

    // Now they are children of this process, which sees how they end.
    let mut ended = Vec::new();
    eventually("all servers end", DEADLINE, || {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let id = pid.as_raw_nonzero().get().unsigned_abs();
            if !servers.contains(&id) {
                // A sandbox that was killed with the rollout it belonged to.
                continue;
            }
            assert_eq!(
                status.exit_status(),
                Some(0),
                "a server ended otherwise than asked to: {status:?}"
            );
            ended.push(id);
        }
        (ended.len() == 3).then_some(())
    });
    ended.sort_unstable();
    assert_eq!(ended, servers);
}

/// Kills what is left of the servers when the test fails.
struct Leftovers(Vec<u32>);

impl Drop for Leftovers {
    fn drop(&mut self) {
        // Inherited ones only: the id of one that was reaped may belong to somebody else.
        for server in children_of(std::process::id())
            .iter()
            .filter(|id| self.0.contains(id))
        {
            if let Some(pid) = i32::try_from(*server).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}
