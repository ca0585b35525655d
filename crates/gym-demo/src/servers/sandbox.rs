//! Where the agent runs commands: a process group of its own on this machine.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;

use gym_resources::{Cores, SandboxResources};
use gym_sandbox_obs::{LocalReader, SandboxObservation, SandboxRequest, Submitted};
use gym_telemetry_core::env;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::error::HandlerError;

/// The provider's name on record.
const PROVIDER: &str = "local";

/// A sandbox of one rollout. Dropped, it ends with everything that runs in it.
#[derive(Debug)]
pub(crate) struct Sandbox {
    group: Group,
    observation: SandboxObservation,
}

impl Sandbox {
    /// Asks for a sandbox and starts it.
    pub(crate) async fn start() -> Result<Self, HandlerError> {
        let resources = SandboxResources {
            cpu: Cores::new(1.0).ok(),
            memory_mib: Some(64),
            ..SandboxResources::default()
        };
        let request = SandboxRequest::builder(PROVIDER)
            .resources(&resources)
            .record();
        let mut start = request.start();
        let group = start
            .run(async { Group::start() })
            .await
            .map_err(|error| failed("cannot start a sandbox", &error))?;
        // A process group takes no limits, so there is nothing to submit.
        let id = format!("{PROVIDER}-{}", group.id());
        start.created(&id, &Submitted::default());
        let reader = LocalReader::new(id, group.id());
        Ok(Self {
            group,
            observation: start.finish(Some(Arc::new(reader))),
        })
    }

    /// Runs a shell command with this input; returns what it ended with.
    pub(crate) async fn exec(&self, command: &str, input: &str) -> Result<i32, HandlerError> {
        let ended = self
            .observation
            .exec(self.group.run(command, input), |status| code(*status))
            .await
            .map_err(|error| failed("cannot run a command in the sandbox", &error))?;
        ended
            .code()
            .ok_or_else(|| HandlerError::internal("a command in the sandbox was ended by a signal"))
    }

    /// Ends the sandbox and everything in it.
    pub(crate) async fn stop(self) -> Result<(), HandlerError> {
        let Self { group, observation } = self;
        observation
            .stop(group.end())
            .await
            .map_err(|error| failed("cannot stop the sandbox", &error))
    }
}

fn code(status: ExitStatus) -> Option<i64> {
    status.code().map(i64::from)
}

fn failed(what: &str, error: &io::Error) -> HandlerError {
    HandlerError::internal(format!("{what}: {error}"))
}

/// A process group whose leader waits until it is ended.
#[derive(Debug)]
struct Group {
    leader: Child,
    id: Pid,
}

impl Group {
    fn start() -> io::Result<Self> {
        // It ends by itself when this process is gone, however that went: its standard input ends then.
        let mut leader = command("cat");
        leader.stdin(Stdio::piped()).process_group(0);
        let leader = leader.spawn()?;
        let id = leader
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let id = id.ok_or_else(|| io::Error::other("the process has ended at once"))?;
        Ok(Self { leader, id })
    }

    fn id(&self) -> u32 {
        self.id.as_raw_nonzero().get().unsigned_abs()
    }

    async fn run(&self, script: &str, input: &str) -> io::Result<ExitStatus> {
        let mut shell = command("sh");
        shell
            .args(["-c", script])
            .stdin(Stdio::piped())
            .process_group(self.id.as_raw_nonzero().get());
        let mut shell = shell.spawn()?;
        if let Some(mut stdin) = shell.stdin.take() {
            match stdin.write_all(input.as_bytes()).await {
                // The command need not read what it is given.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
                _ => drop(stdin),
            }
        }
        shell.wait().await
    }

    async fn end(mut self) -> io::Result<()> {
        self.kill();
        self.leader.wait().await.map(drop)
    }

    fn kill(&self) {
        // An error means that nothing is left of the group.
        let _ = kill_process_group(self.id, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Until the leader is waited for, its id is nobody else's.
        if self.leader.id().is_some() {
            self.kill();
        }
    }
}

/// A program that sees nothing of this server's telemetry and writes nothing into its output.
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    env::scrub(command.as_std_mut());
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

#[cfg(test)]
mod tests {
    use super::Sandbox;

    #[tokio::test]
    async fn a_command_runs_in_the_sandboxs_own_group_and_reads_its_input() {
        let sandbox = Sandbox::start().await.expect("a process can be started");
        let group = sandbox.group.id();
        let in_group = format!(
            "test \"$(ps -o pgid= -p $$ | tr -d ' ')\" = {group} || grep -q \" {group} \" /proc/$$/stat"
        );
        assert_eq!(sandbox.exec(&in_group, "").await.ok(), Some(0));
        assert_eq!(
            sandbox.exec("grep -q sun", "rain\nsun\n").await.ok(),
            Some(0)
        );
        assert_eq!(sandbox.exec("grep -q sun", "rain\n").await.ok(), Some(1));
        assert_eq!(
            sandbox.exec("exit 7", &"x".repeat(1 << 20)).await.ok(),
            Some(7)
        );
        sandbox.stop().await.expect("nothing fails");
        assert!(!std::path::Path::new(&format!("/proc/{group}")).exists());
    }

    #[tokio::test]
    async fn a_sandbox_that_is_dropped_ends_with_what_runs_in_it() {
        let sandbox = Sandbox::start().await.expect("a process can be started");
        let group = sandbox.group.id();
        drop(sandbox);
        let stat = format!("/proc/{group}/stat");
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        // Whoever waits for it may not have done so yet.
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(std::time::Instant::now() < deadline, "it still runs");
            tokio::task::yield_now().await;
        }
    }
}
