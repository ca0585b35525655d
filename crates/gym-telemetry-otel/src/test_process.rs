//! Tests that need a process of their own.

use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Set in the process that runs the body, to the name of the test.
const CHILD: &str = "GYM_TELEMETRY_TEST_CHILD";
/// After this a test counts as hung.
const DEADLINE: Duration = Duration::from_mins(1);

/// Runs `body`, which stands in a test as a closure, in a process of its own with these variables on top, and returns
/// what that wrote to standard output; in that process it does not return.
///
/// # Panics
///
/// If the process fails or hangs.
pub(crate) fn alone<F: FnOnce()>(variables: &[(&str, &str)], body: F) -> String {
    let mut command = command_for(body);
    let (mut reader, writer) = std::io::pipe().expect("a pipe can be made");
    command.envs(variables.iter().copied()).stdout(writer);
    let mut child = spawn(&mut command);
    // The command keeps the writing end of the pipe open.
    drop(command);
    let stdout = read_in_background(move || std::io::read_to_string(&mut reader));
    child.expect_success(&stdout);
    let stdout = stdout
        .recv_timeout(DEADLINE)
        .expect("the pipe closes with the process");
    assert!(
        stdout.contains("running 1 test"),
        "the body did not run\n{stdout}"
    );
    stdout
}

/// The command that runs `body`, which stands in a test as a closure, in another process; in that process this does
/// not return.
pub(crate) fn command_for<F: FnOnce()>(body: F) -> Command {
    let path = std::any::type_name::<F>();
    let test = path
        .split("::{{closure}}")
        .next()
        .and_then(|path| path.split_once("::"));
    let (_, test) = test.expect("the body is a closure in a test");
    if std::env::var_os(CHILD).is_some_and(|child| child == test) {
        body();
        std::process::exit(0);
    }
    let mut command = Command::new(std::env::current_exe().expect("a test has an executable"));
    command
        .args([test, "--exact", "--nocapture", "--include-ignored"])
        .env(CHILD, test)
        .stdin(Stdio::null());
    command
}

/// A process that is killed if a test leaves it.
pub(crate) struct Child {
    process: std::process::Child,
    stderr: mpsc::Receiver<String>,
}

/// Starts `command`, keeping its standard error for messages.
pub(crate) fn spawn(command: &mut Command) -> Child {
    let mut process = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the test executable can be started");
    let stderr = process.stderr.take().expect("it is piped");
    Child {
        process,
        stderr: read_in_background(|| std::io::read_to_string(stderr)),
    }
}

impl Child {
    /// Waits for the end, which must be a success before the deadline; `stdout` is for the message.
    pub(crate) fn expect_success(&mut self, stdout: &mpsc::Receiver<String>) {
        let status = self.wait();
        if !status.success() {
            let text = |receiver: &mpsc::Receiver<String>| {
                receiver.recv_timeout(DEADLINE).unwrap_or_default()
            };
            panic!("{status}\n{}\n{}", text(stdout), text(&self.stderr));
        }
    }

    /// Everything that it wrote to standard error; it has to have ended.
    pub(crate) fn stderr(&self) -> String {
        self.stderr
            .recv_timeout(DEADLINE)
            .expect("the pipe closes with the process")
    }

    /// Waits for the end, which must come before the deadline.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.process.try_wait().expect("it can be waited for") {
                return status;
            }
            assert!(Instant::now() < deadline, "the process hangs");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_in_background(
    read: impl FnOnce() -> std::io::Result<String> + Send + 'static,
) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    // The receiver is gone if the test has failed.
    std::thread::spawn(move || sender.send(read().expect("the output is text")).ok());
    receiver
}
