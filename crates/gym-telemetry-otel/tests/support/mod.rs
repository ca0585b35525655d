//! A collector inside the test process: OTLP over gRPC and over HTTP, on one port of the loopback interface.
//!
//! ```ignore
//! let collector = Collector::start();
//! // export to collector.endpoint() …
//! collector.wait_until("a span", |received| received.spans().count() == 1);
//! ```
//!
//! It runs on a thread of its own, so that a test may block. It has no dependency on the crates under test and can be
//! included elsewhere with `#[path]`; it needs `http`, `http-body-util`, `hyper`, `hyper-util` (features `http1`,
//! `http2`, `server-auto`, `tokio`), `opentelemetry-proto` (`gen-tonic`, `logs`, `metrics`, `trace`), `prost`, `tokio`
//! (`macros`, `net`, `rt`, `sync`, `time`), `tonic` and `tonic-types`.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "each test that includes this uses a part of it"
)]

mod codecs;
mod received;
mod server;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use self::codecs::Codecs;
pub use self::received::{Received, Request, body, text};
pub use self::server::Shared;

/// How long a wait may take before it counts as a hang.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// What the collector does with requests from now on.
#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// Takes them.
    #[default]
    Accept,
    /// Takes them and never answers.
    Hang,
    /// Takes them and answers after a while.
    Slow(Duration),
    /// Refuses them: with the status over HTTP, with the code over gRPC, and with the message.
    Fail {
        http: u16,
        grpc: i32,
        retry_after: Option<Duration>,
        message: &'static str,
    },
    /// Takes them, and says that it rejected so many items, and why.
    Partial {
        rejected: i64,
        message: &'static str,
    },
}

/// The collector; it stops when dropped.
pub struct Collector {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    /// Starts a collector that accepts everything that is plain protobuf.
    pub fn start() -> Self {
        Self::start_with(Codecs::PLAIN)
    }

    /// Starts a collector that accepts everything that `codecs` can read.
    pub fn start_with(codecs: Codecs) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .expect("the loopback interface has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared::new(codecs));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || server::run(listener, &shared, stopped)
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// `http://127.0.0.1:<port>`, for both transports.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes what happens to later requests.
    pub fn behave(&self, behaviour: Behaviour) {
        self.shared.lock().behaviour = behaviour;
    }

    /// How many requests have begun, refused and unanswered ones included.
    pub fn attempts(&self) -> u64 {
        self.shared.lock().attempts
    }

    /// Everything accepted so far.
    pub fn received(&self) -> Received {
        self.shared.lock().received.clone()
    }

    /// Everything accepted since the last call of this, and keeps none of it.
    pub fn take(&self) -> Received {
        std::mem::take(&mut self.shared.lock().received)
    }

    /// Waits until `done` holds for what was accepted, and returns it.
    ///
    /// # Panics
    ///
    /// After [`DEADLINE`], naming `what`.
    pub fn wait_until(&self, what: &str, done: impl Fn(&Received) -> bool) -> Received {
        self.wait(what, |state| done(&state.received));
        self.received()
    }

    /// Waits until `count` requests have begun.
    pub fn wait_for_attempts(&self, count: u64) {
        self.wait("requests", |state| state.attempts >= count);
    }

    fn wait(&self, what: &str, done: impl Fn(&server::State) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        let mut state = self.shared.lock();
        while !done(&state) {
            let left = deadline.checked_duration_since(Instant::now());
            let left = left.unwrap_or_else(|| {
                panic!(
                    "no {what} within {DEADLINE:?}; received {:?}",
                    state.received
                )
            });
            state = self.shared.wait(state, left);
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // The receiver is gone if the thread has panicked; joining tells.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the collector panicked");
        }
    }
}

/// An endpoint whose connections are accepted by the kernel and never answered.
pub struct BlackHole(TcpListener);

impl BlackHole {
    pub fn start() -> Self {
        Self(
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
                .expect("the loopback interface has a free port"),
        )
    }

    /// `http://127.0.0.1:<port>`.
    pub fn endpoint(&self) -> String {
        format!(
            "http://{}",
            self.0.local_addr().expect("a bound socket has an address")
        )
    }
}

/// An endpoint at which nobody listens.
pub fn refusing_endpoint() -> String {
    // The port was free a moment ago and the system does not hand it out again soon.
    BlackHole::start().endpoint()
}
