//! One server on its own, as `gym-demo run` would start it.

use std::fs::File;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use super::process::{Guard, eventually, wait_with_deadline};
use super::run::json_lines;
use super::trace::{Span, read_spans};

const DEADLINE: Duration = Duration::from_mins(1);

/// A server that runs; its standard output goes to a file.
pub struct Server {
    pub url: String,
    stdout: PathBuf,
    guard: Guard,
}

impl Server {
    /// Starts the command with a listening socket as its standard input and waits until it answers.
    pub fn start(mut command: Command, directory: &Path, name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!(
            "http://{}",
            listener
                .local_addr()
                .expect("a bound socket has an address")
        );
        let stdout = directory.join(format!("{name}.jsonl"));
        let (output, errors) = (
            File::create(&stdout),
            File::create(directory.join(format!("{name}.log"))),
        );
        command
            .stdin(OwnedFd::from(listener))
            .stdout(output.expect("a file"))
            .stderr(errors.expect("a file"));
        let guard = Guard::new(command.spawn().expect("the program starts"));
        // The command holds its own copy of the socket: a server that died must not look like one that is slow.
        drop(command);
        let server = Self { url, stdout, guard };
        eventually("the server answers", DEADLINE, || {
            server
                .get("/health")
                .filter(|answer| answer.starts_with("HTTP/1.1 200"))
        });
        server
    }

    pub fn id(&self) -> u32 {
        self.guard.id()
    }

    /// The raw answer to a GET request, if there is one.
    pub fn get(&self, path: &str) -> Option<String> {
        super::http::request(&self.url, "GET", path, &[], "")
    }

    /// Stops it as the orchestrator would and returns the spans it wrote.
    pub fn stop(self) -> Vec<Span> {
        read_spans(&self.stop_and_read())
    }

    /// Stops it as the orchestrator would and returns the lines it wrote.
    pub fn stop_and_read(self) -> Vec<Value> {
        self.guard.signal(Signal::TERM);
        let output = wait_with_deadline(self.guard, DEADLINE);
        assert!(output.status.success(), "{}", output.status);
        json_lines(&self.stdout)
    }
}
