//! Becomes another program that ends when the orchestrator does.

use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use rustix::process::{Pid, getppid};

use crate::failure::Failure;

/// Whether the system can tell a process that its parent is gone.
pub(crate) const SUPPORTED: bool = cfg!(target_os = "linux");

/// `gym-demo launch PARENT -- COMMAND…`
#[derive(Debug, Args)]
pub(crate) struct LaunchArgs {
    /// Process id of the orchestrator
    parent: i32,
    /// The program to become, and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Asks for SIGTERM at the parent's end, then becomes the command; a request outlives that.
///
/// # Errors
///
/// Returns only when it fails.
pub(crate) fn launch(args: &LaunchArgs) -> Failure {
    if let Err(error) = follow_parent() {
        return Failure::run(format!("cannot follow the orchestrator: {error}"));
    }
    // The orchestrator may have ended before the request: no signal comes then.
    if getppid() != Pid::from_raw(args.parent) {
        return Failure::run("the orchestrator is gone");
    }
    let error = Command::new(&args.command[0])
        .args(&args.command[1..])
        .exec();
    Failure::run(format!("cannot run {:?}: {error}", args.command[0]))
}

#[cfg(target_os = "linux")]
fn follow_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
}

/// Nothing is started by way of the launcher where it is not supported.
#[cfg(not(target_os = "linux"))]
fn follow_parent() -> rustix::io::Result<()> {
    Err(rustix::io::Errno::NOSYS)
}
