//! The binary check: what a compiled-out server of the demo holds, and which threads it runs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::facade::Variant;
use super::names;
use super::report::Finding;
use super::strings::occurring;
use crate::command::{cargo, target_directory};
use crate::failure::{Failure, Result};

const PROGRAM: &str = "gym-demo";

/// Crates of the back end, as symbols have them.
const BACK_ENDS: [&str; 3] = [names::BACK_END, "opentelemetry", "tonic"];

/// What a thread of the program's own may be called: the main thread, and the runtime's.
const THREADS: [&str; 2] = [PROGRAM, "tokio-rt-worker"];

/// Generous: it only has to tell a server that hangs from one that is slow.
const DEADLINE: Duration = Duration::from_mins(1);

/// Builds the demo and looks into it, then at one of its servers while that runs.
pub(super) fn check(variant: Variant) -> Result<Vec<Finding>> {
    let program = build(variant)?;
    Ok(vec![
        Finding::new(
            "binary",
            "symbols and names in gym-demo",
            symbols(&program)?,
        ),
        Finding::new("threads", "a server of gym-demo", threads(&program)?),
    ])
}

/// Builds the workspace's own code with the least optimisation at which calls that do nothing disappear. Other packages stay
/// as they are, so that they need not be built again.
fn build(variant: Variant) -> Result<PathBuf> {
    let mut command =
        cargo(["build", "--quiet", "--package", PROGRAM]).args(variant.features(PROGRAM));
    for package in [
        "gym-concurrency",
        "gym-demo",
        "gym-sandbox-obs",
        "gym-telemetry-api",
        "gym-telemetry-core",
        "gym-telemetry-http",
    ] {
        command = command.args([
            "--config",
            &format!("profile.dev.package.{package}.opt-level=1"),
        ]);
    }
    command.run()?;
    Ok(target_directory().join("debug").join(PROGRAM))
}

fn symbols(program: &Path) -> Result<std::result::Result<String, String>> {
    let own = names::own()?;
    let searched: Vec<&str> = own.iter().map(String::as_str).chain(BACK_ENDS).collect();
    let found = occurring(program, &searched)?;
    if found.is_empty() {
        return Ok(Ok(format!("none of {} names and symbols", searched.len())));
    }
    let found: Vec<&str> = found.into_iter().collect();
    Ok(Err(format!("it holds {}", found.join(", "))))
}

fn threads(program: &Path) -> Result<std::result::Result<String, String>> {
    let listener = TcpListener::bind("127.0.0.1:0")
        .map_err(|error| Failure::new(format!("could not listen: {error}")))?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::new(format!("could not listen: {error}")))?;
    // Told to be observed: compiled out, that changes nothing.
    let child = Command::new(program)
        .args(["serve", "model"])
        .env("NEMO_GYM_OTEL_ENABLED", "1")
        .env("NEMO_GYM_OTEL_EXPORTER", "console")
        .stdin(OwnedFd::from(listener))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| Failure::io("could not run", program, &error))?;
    let mut server = Server(child);
    server.wait_until_it_answers(address)?;
    let names = server.threads()?;
    let other: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| !THREADS.contains(name))
        .collect();
    if other.is_empty() {
        return Ok(Ok(String::from("none but its own")));
    }
    Ok(Err(format!("it also runs {}", other.join(", "))))
}

/// A server that is stopped with this value.
#[derive(Debug)]
struct Server(Child);

impl Server {
    fn wait_until_it_answers(&mut self, address: SocketAddr) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < DEADLINE {
            if is_healthy(address) {
                return Ok(());
            }
            if let Ok(Some(status)) = self.0.try_wait() {
                return Err(Failure::new(format!(
                    "a server of {PROGRAM} ended: {status}"
                )));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(Failure::new(format!(
            "a server of {PROGRAM} did not answer within {DEADLINE:?}"
        )))
    }

    fn threads(&self) -> Result<BTreeSet<String>> {
        let tasks = PathBuf::from(format!("/proc/{}/task", self.0.id()));
        let failed = |error| Failure::io("could not list", &tasks, &error);
        let mut names = BTreeSet::new();
        for task in fs::read_dir(&tasks).map_err(failed)? {
            // A thread may end between the two reads.
            if let Ok(name) = fs::read_to_string(task.map_err(failed)?.path().join("comm")) {
                names.insert(name.trim().to_owned());
            }
        }
        Ok(names)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has no state to save, and there is nobody to tell about a failure.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_healthy(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, DEADLINE)?;
        stream.set_read_timeout(Some(DEADLINE))?;
        stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}
