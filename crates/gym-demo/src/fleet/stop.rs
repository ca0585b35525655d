//! The end of the servers of a run.

use std::process::ExitStatus;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Fleet;
use super::spawn::Process;

/// Time for a server to finish its requests and to export its telemetry.
const GRACE: Duration = Duration::from_secs(10);
/// Time for the kernel to end a killed process.
const KILL_WAIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// How one server ended.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) name: String,
    /// `None`: not even SIGKILL ended it.
    pub(crate) status: Option<ExitStatus>,
    /// It did not stop in time and was killed.
    pub(crate) killed: bool,
}

impl Ending {
    /// It stopped by itself when asked to.
    pub(crate) fn is_clean(&self) -> bool {
        !self.killed && self.status.is_some_and(|status| status.success())
    }
}

impl Fleet {
    /// Asks all servers to stop, waits for them and reaps them; kills those that do not stop in time.
    /// Returns at once when called again.
    ///
    /// Blocks the thread: 10 s until it kills, a little more at the worst.
    pub(crate) fn stop(&mut self) -> Vec<Ending> {
        self.stop_within(GRACE)
    }

    fn stop_within(&mut self, grace: Duration) -> Vec<Ending> {
        let mut processes = std::mem::take(&mut self.processes);
        signal_all(&mut processes, Signal::TERM);
        wait_for_all(&mut processes, grace);
        let late: Vec<_> = processes
            .iter_mut()
            .map(|process| process.ended().is_none())
            .collect();
        if late.contains(&true) {
            signal_all(&mut processes, Signal::KILL);
            wait_for_all(&mut processes, KILL_WAIT);
        }
        let endings = processes.iter_mut().zip(late);
        endings
            .map(|(process, killed)| Ending {
                status: process.ended(),
                name: process.name.clone(),
                killed,
            })
            .collect()
    }
}

/// Signals each process that still runs, with everything in its group.
fn signal_all(processes: &mut [Process], signal: Signal) {
    for process in processes {
        if process.ended().is_some() {
            continue;
        }
        if let Some(group) = i32::try_from(process.id()).ok().and_then(Pid::from_raw) {
            // It may have ended since: then there is nobody to signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

fn wait_for_all(processes: &mut [Process], budget: Duration) {
    let deadline = Instant::now() + budget;
    // `any` stops at the first that still runs, which is enough to know that waiting goes on.
    while processes
        .iter_mut()
        .any(|process| process.ended().is_none())
        && Instant::now() < deadline
    {
        sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::Path;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use crate::fleet::{Fleet, Place, ServerSpec, Surroundings};
    use crate::servers::Kind;

    /// A fleet of one shell that runs the script in the directory and says that it has come to the end of `prepare`.
    fn fleet_of(prepare: &str, directory: &Path) -> (Fleet, u32) {
        let wait = "touch ready; while :; do sleep 0.01; done";
        let script = format!("cd '{}'; {prepare}; {wait}", directory.display());
        let spec = ServerSpec {
            kind: Kind::Model,
            name: "shell".to_owned(),
            place: Place::default(),
            command: Some(vec!["sh".to_owned(), "-c".to_owned(), script]),
        };
        let surroundings = Surroundings {
            executable: Path::new("sh"),
            launcher: false,
            out: directory,
            telemetry_on_stdout: false,
        };
        let fleet = Fleet::start(&[spec], surroundings, &|_| {}).expect("a shell starts");
        let id = fleet.processes[0].id();
        eventually("the shell gets ready", || directory.join("ready").exists());
        (fleet, id)
    }

    fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < deadline, "not in time: {what}");
            sleep(Duration::from_millis(5));
        }
    }

    fn exists(id: u32) -> bool {
        Path::new(&format!("/proc/{id}")).exists()
    }

    #[test]
    fn a_panic_stops_the_servers_in_good_order_and_reaps_them() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (fleet, id) = fleet_of("trap 'touch flushed; exit 0' TERM", directory.path());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _fleet = fleet;
            panic!("a bug in the orchestrator");
        }));
        assert!(panicked.is_err());
        assert!(
            directory.path().join("flushed").exists(),
            "the server could finish its work"
        );
        assert!(!exists(id), "not even a zombie is left");
    }

    #[test]
    fn a_server_that_does_not_stop_is_killed_with_everything_it_started() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (mut fleet, id) = fleet_of(
            "trap '' TERM; sleep 1000 & echo $! > child",
            directory.path(),
        );
        let endings = fleet.stop_within(Duration::from_millis(50));
        assert!(endings[0].killed && !endings[0].is_clean(), "{endings:?}");
        assert!(!exists(id));
        let child = fs::read_to_string(directory.path().join("child")).expect("the shell wrote it");
        eventually("the child of the server ends", || {
            let stat =
                fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
            // Whoever adopted it may not have reaped it yet.
            stat.is_empty() || stat.contains(") Z ")
        });
    }

    #[test]
    fn stopping_twice_is_stopping_once() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (mut fleet, _) = fleet_of("trap 'exit 0' TERM", directory.path());
        assert!(fleet.stop()[0].is_clean());
        assert!(fleet.stop().is_empty());
    }
}
