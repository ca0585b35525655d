//! The stand-in as a process.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use gym_sandbox_obs::opensandbox::OpenSandbox;
use serde_json::Value;
use tempfile::TempDir;

/// What the control plane asks for.
pub(crate) const API_KEY: &str = "S3CR3T-key";
/// Python, a web framework and a client of Kubernetes take their time.
const PATIENCE: Duration = Duration::from_mins(3);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Runtime {
    Kubernetes,
    Docker,
}

pub(crate) struct Stand {
    child: Child,
    ready: Value,
    _directory: TempDir,
}

/// A Python with the packages of `fixtures/requirements.txt`, or none: then these tests do nothing. Under CI there must
/// be one.
#[expect(clippy::print_stderr, reason = "whoever runs the tests shall know")]
fn python() -> Option<PathBuf> {
    let python = std::env::var_os("GYM_TEST_PYTHON").map(PathBuf::from);
    assert!(
        python.is_some() || std::env::var_os("CI").is_none(),
        "no Python with opensandbox-server: name one in GYM_TEST_PYTHON"
    );
    if python.is_none() {
        eprintln!("skipped: no Python with opensandbox-server in GYM_TEST_PYTHON");
    }
    python
}

impl Stand {
    pub(crate) fn start(runtime: Runtime) -> Option<Self> {
        let python = python()?;
        // The server wants to know its port beforehand; another process may take it meanwhile.
        (0..3)
            .find_map(|_| Self::try_start(&python, runtime))
            .or_else(|| {
                panic!("the stand-in does not start");
            })
    }

    fn try_start(python: &PathBuf, runtime: Runtime) -> Option<Self> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let ready = directory.path().join("ready.json");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/osb_server.py");
        let mut command = Command::new(python);
        command
            .arg(script)
            .args(["--port", &free_port().to_string()])
            .args(["--execd-port", "44772", "--pod-ip", &own_address()])
            .args(["--api-key", API_KEY, "--lifetime", "600", "--ready-file"])
            .arg(&ready)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if matches!(runtime, Runtime::Docker) {
            command.args(["--runtime", "docker"]);
        }
        let mut child = command.spawn().expect("Python starts");
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Ok(text) = fs::read_to_string(&ready) {
                let ready = serde_json::from_str(&text).expect("the file is written whole");
                return Some(Self {
                    child,
                    ready,
                    _directory: directory,
                });
            }
            if child.try_wait().expect("an own child").is_some() {
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
        None
    }

    pub(crate) fn control_plane(&self) -> &str {
        self.ready["control_plane"].as_str().expect("a URL")
    }

    pub(crate) fn sandboxes(&self, server_proxy: bool) -> OpenSandbox {
        OpenSandbox::builder(self.control_plane())
            .api_key(API_KEY)
            .server_proxy(server_proxy)
            .build()
            .expect("a URL")
    }

    pub(crate) fn signpost(&self) -> Signpost {
        Signpost::to(self.ready["execd"].as_str().expect("a URL"))
    }

    pub(crate) fn requests_of_execd(&self) -> Vec<Value> {
        requests(self.ready["execd"].as_str().expect("a URL"))
    }

    pub(crate) fn requests_of_control_plane(&self) -> Vec<Value> {
        requests(self.control_plane().trim_end_matches("/v1"))
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address of the loopback interface that no other stand-in has: the port is always the same.
fn own_address() -> String {
    static LAST: AtomicU8 = AtomicU8::new(64);
    let [.., high, low] = std::process::id().to_be_bytes();
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!("127.{number}.{high}.{}", low.clamp(1, 254))
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener
        .local_addr()
        .expect("a bound socket has an address")
        .port()
}

/// A control plane that names an endpoint which shows the fault that a sandbox is called after.
pub(crate) struct Signpost {
    url: String,
}

impl Signpost {
    /// It listens as long as the process lives, on a thread of its own.
    pub(crate) fn to(execd: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let execd = execd.trim_start_matches("http://").to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that is gone by now wants no answer.
                let _ = stream.and_then(|stream| point(stream, &execd));
            }
        });
        Self {
            url: format!("http://{address}/v1"),
        }
    }

    pub(crate) fn sandboxes(&self) -> OpenSandbox {
        OpenSandbox::builder(&self.url).build().expect("a URL")
    }
}

fn point(mut stream: TcpStream, execd: &str) -> std::io::Result<()> {
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !head.ends_with(b"\r\n\r\n") {
        let length = stream.read(&mut part)?;
        if length == 0 {
            return Ok(());
        }
        head.extend_from_slice(&part[..length]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let fault = head.split('/').nth(3).unwrap_or_default();
    let body = format!(r#"{{"endpoint":"{execd}/fault/{fault}"}}"#);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// What a server has been asked so far.
fn requests(url: &str) -> Vec<Value> {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("the server runs");
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a time-out can be set");
    let request =
        format!("GET /__requests HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .expect("the server listens");
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .expect("the server answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    serde_json::from_str(body).expect("JSON")
}
