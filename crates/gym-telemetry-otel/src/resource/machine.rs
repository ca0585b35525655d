//! Facts about this machine and process.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long the count of GPUs may take.
const GPU_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of a list of GPUs that are read at most.
const GPU_BYTES: u64 = 64 << 10;

/// Where Kubernetes puts the credentials of a pod.
const POD_DIRECTORY: &str = "/var/run/secrets/kubernetes.io";

/// What a machine knows about itself.
pub(super) trait Machine {
    /// Its name.
    fn host_name(&self) -> Option<String>;
    /// The id of this process.
    fn process_id(&self) -> u32;
    /// Whether this is a pod, going by the file system.
    fn is_pod(&self) -> bool;
    /// How many GPUs there are, or `None` when nobody can tell.
    fn gpu_count(&self) -> Option<i64>;
}

/// The machine that this process runs on.
pub(super) struct ThisMachine;

impl Machine for ThisMachine {
    fn host_name(&self) -> Option<String> {
        let name = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        Some(name).filter(|name| !name.is_empty())
    }

    fn process_id(&self) -> u32 {
        std::process::id()
    }

    fn is_pod(&self) -> bool {
        Path::new(POD_DIRECTORY).exists()
    }

    fn gpu_count(&self) -> Option<i64> {
        let mut command = Command::new("nvidia-smi");
        command.args(["--query-gpu=count", "--format=csv,noheader"]);
        let text = output(command, GPU_LIMIT)?;
        i64::try_from(text.lines().filter(|line| !line.trim().is_empty()).count()).ok()
    }
}

/// What a command prints, or `None` when it fails, cannot be started or is not done within `limit`.
fn output(mut command: Command, limit: Duration) -> Option<String> {
    gym_telemetry_core::env::scrub(&mut command);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let deadline = Instant::now() + limit;
    let (sender, receiver) = mpsc::channel();
    let reader = std::thread::Builder::new()
        .name("gym-telemetry-gpu".to_owned())
        .spawn(move || {
            let mut text = String::new();
            let read = stdout.take(GPU_BYTES).read_to_string(&mut text);
            // Nobody may be left to hear it.
            let _ = sender.send(read.is_ok().then_some(text));
        });
    let text = match reader {
        Ok(_) => receiver.recv_timeout(limit).ok().flatten(),
        Err(_) => None,
    };
    let Some(text) = text else {
        let _ = child.kill();
        reap(child, Duration::ZERO);
        return None;
    };
    reap(child, deadline.saturating_duration_since(Instant::now())).then_some(text)
}

/// Waits for the end of a child on a thread of its own: a process that hangs in a driver cannot even be killed.
/// Says whether it ended well within `limit`.
fn reap(mut child: Child, limit: Duration) -> bool {
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::Builder::new()
        .name("gym-telemetry-gpu".to_owned())
        .spawn(move || {
            let ended_well = child.wait().is_ok_and(|status| status.success());
            let _ = sender.send(ended_well);
        });
    waiter.is_ok() && receiver.recv_timeout(limit).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far more than any of these commands takes.
    const PATIENCE: Duration = Duration::from_mins(1);

    fn shell(script: &str, limit: Duration) -> Option<String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        output(command, limit)
    }

    #[test]
    fn the_output_of_a_command_that_succeeds_counts() {
        assert_eq!(shell("echo 8; echo 8", PATIENCE).as_deref(), Some("8\n8\n"));
        assert_eq!(shell("true", PATIENCE).as_deref(), Some(""));
        assert_eq!(shell("echo 8; exit 9", PATIENCE), None);
        assert_eq!(shell("printf '\\377'", PATIENCE), None);
        assert_eq!(
            output(Command::new("/nonexistent/nvidia-smi"), PATIENCE),
            None
        );
    }

    #[test]
    fn a_command_that_hangs_is_given_up_and_killed() {
        let dir = tempfile::tempdir().expect("a directory");
        let pid_file = dir.path().join("pid");
        let script = format!("echo $$ > '{}'; echo 8; exec sleep 600", pid_file.display());
        // A busy machine may need longer than the limit just to start the shell: then the next limit is for it.
        let pid = [1, 4, 16, 64].into_iter().find_map(|seconds| {
            assert_eq!(shell(&script, Duration::from_secs(seconds)), None);
            std::fs::read_to_string(&pid_file).ok()
        });
        let pid = pid.expect("the command started");
        let proc = format!("/proc/{}", pid.trim());
        let deadline = Instant::now() + PATIENCE;
        while Path::new(&proc).exists() {
            assert!(Instant::now() < deadline, "{proc} is still there");
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_child_sees_no_telemetry_settings() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo \"[$OTEL_EXPORTER_OTLP_HEADERS]\""]);
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "S3CR3T");
        assert_eq!(output(command, PATIENCE).as_deref(), Some("[]\n"));
    }

    #[test]
    fn this_machine_knows_its_name_and_process() {
        assert_eq!(ThisMachine.process_id(), std::process::id());
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux");
        assert_eq!(ThisMachine.host_name().as_deref(), Some(name.trim()));
    }
}
