//! One server as a child process.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::endpoint::Endpoints;
use super::{ServerSpec, Surroundings};
use crate::failure::Failure;
use crate::servers::{Kind, environment};

/// A child process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) kind: Kind,
    pub(super) name: String,
    child: Child,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Process id, and id of its process group.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has; reaps it then.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            // An error means that there is nothing to wait for: it never happens for an own child.
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }
}

/// Starts one server with its listening socket.
pub(super) fn spawn(
    spec: &ServerSpec,
    listener: TcpListener,
    endpoints: &Endpoints,
    surroundings: Surroundings<'_>,
    prepare: &dyn Fn(&mut Command),
) -> Result<Process, Failure> {
    let mut words = match &spec.command {
        Some(words) => words.clone(),
        None => own_server(surroundings.executable, spec.kind),
    };
    let own_port = replace_address(&mut words, spec, endpoints);
    let mut command = if surroundings.launcher {
        let mut command = Command::new(surroundings.executable);
        command
            .args(["launch", &std::process::id().to_string(), "--"])
            .args(&words);
        command
    } else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    };
    command
        .env(environment::NAME, &spec.name)
        .env(environment::URL, endpoints.url(spec.kind))
        .env(environment::MODEL_URL, endpoints.url(Kind::Model))
        .env(environment::RESOURCES_URL, endpoints.url(Kind::Resources))
        .env(
            environment::LIMITS_FILE,
            limits_file(surroundings.out, &spec.name),
        )
        // Ctrl-C in a terminal goes to the foreground group: the orchestrator alone decides when servers stop.
        .process_group(0);
    match endpoints.hosts() {
        hosts if hosts.is_empty() => command.env_remove(environment::HOSTS),
        hosts => command.env(environment::HOSTS, environment::write_hosts(&hosts)),
    };
    if own_port {
        // The server opens the port by itself.
        drop(listener);
        command.stdin(Stdio::null());
    } else {
        command.stdin(OwnedFd::from(listener));
    }

    direct_output(&mut command, spec, surroundings).map_err(|error| {
        Failure::run(format!(
            "cannot write in {}: {error}",
            surroundings.out.display()
        ))
    })?;
    prepare(&mut command);
    let child = command.spawn().map_err(|error| {
        Failure::run(format!(
            "cannot start {} ({}): {error}",
            spec.name,
            command.get_program().to_string_lossy()
        ))
    })?;
    Ok(Process {
        kind: spec.kind,
        name: spec.name.clone(),
        child,
        ended: None,
    })
}

/// Where the server leaves what its limits saw.
pub(crate) fn limits_file(out: &Path, server: &str) -> PathBuf {
    out.join(format!("{server}.limits.json"))
}

fn own_server(executable: &Path, kind: Kind) -> Vec<String> {
    vec![
        executable.to_string_lossy().into_owned(),
        "serve".to_owned(),
        kind.word().to_owned(),
    ]
}

/// Puts the address in place of `{host}` and `{port}`; says whether the command asked for the port.
fn replace_address(words: &mut [String], spec: &ServerSpec, endpoints: &Endpoints) -> bool {
    let Some(address) = endpoints.address(spec.kind) else {
        return false;
    };
    let mut asked = false;
    for word in words {
        asked |= word.contains("{port}");
        *word = word
            .replace("{host}", &address.ip().to_string())
            .replace("{port}", &address.port().to_string());
    }
    asked
}

fn direct_output(
    command: &mut Command,
    spec: &ServerSpec,
    surroundings: Surroundings<'_>,
) -> io::Result<()> {
    let errors = File::create(surroundings.out.join(format!("{}.log", spec.name)))?;
    let output = if surroundings.telemetry_on_stdout {
        File::create(surroundings.out.join(format!("{}.jsonl", spec.name)))?
    } else {
        errors.try_clone()?
    };
    command.stdout(output).stderr(errors);
    Ok(())
}
