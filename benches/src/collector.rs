//! A collector in a process of its own, so that its work does not count as that of the process that is measured.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// Set in the process that is the collector, to the address it listens on.
const ADDRESS: &str = "GYM_TELEMETRY_BENCH_COLLECTOR";
/// How many spans the collector has got.
const COUNT: &str = "count";
/// How long it thinks about each request, in milliseconds.
const PAUSE: &str = "pause";
/// It refuses every request.
const REFUSE: &str = "refuse";
/// It takes every request.
const ACCEPT: &str = "accept";

/// Becomes the collector, if this process was started as one, and then never returns.
///
/// To be called first in the `main` of whatever starts a [`Collector`].
///
/// # Panics
///
/// If it cannot listen.
pub fn serve_if_asked() {
    if let Ok(address) = std::env::var(ADDRESS) {
        let address = address.parse().expect("the parent gives an address");
        serve(address);
        std::process::exit(0);
    }
}

/// The collector, as seen by the process that started it; it ends when this is dropped.
#[derive(Debug)]
pub struct Collector {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Collector {
    /// Starts a collector on a free port of this machine.
    ///
    /// # Panics
    ///
    /// If it does not start, like all functions here: there is nothing to measure then.
    #[must_use]
    pub fn start() -> Self {
        Self::listen(SocketAddr::from(([127, 0, 0, 1], 0)))
    }

    fn listen(address: SocketAddr) -> Self {
        let executable = std::env::current_exe().expect("a program knows where it is");
        let mut process = Command::new(executable)
            .env(ADDRESS, address.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be started again");
        let orders = process.stdin.take().expect("the input is a pipe");
        let answers = process.stdout.take().expect("the output is a pipe");
        let mut collector = Self {
            process,
            orders,
            answers: BufReader::new(answers),
            address,
        };
        collector.address = collector.answer();
        collector
    }

    /// Where it listens, as the standard variable for endpoints wants it.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many spans it has got.
    ///
    /// # Panics
    ///
    /// If it is gone.
    pub fn count(&mut self) -> u64 {
        self.order(COUNT);
        self.answer()
    }

    /// Makes it think about each request for so long.
    ///
    /// # Panics
    ///
    /// If it is gone.
    pub fn pause(&mut self, pause: Duration) {
        self.order(&format!("{PAUSE} {}", pause.as_millis()));
    }

    /// Makes it refuse every request, as overloaded, or take requests again.
    ///
    /// # Panics
    ///
    /// If it is gone.
    pub fn refuse(&mut self, refuse: bool) {
        self.order(if refuse { REFUSE } else { ACCEPT });
    }

    /// Kills it and starts another one on the same port; returns how many spans the old one had got.
    ///
    /// # Panics
    ///
    /// If it is gone or the port cannot be had again.
    pub fn restart(&mut self, pause_between: Duration) -> u64 {
        let count = self.count();
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it can be waited for");
        std::thread::sleep(pause_between);
        *self = Self::listen(self.address);
        count
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders, "{order}").expect("the collector reads its orders");
    }

    fn answer<T: std::str::FromStr>(&mut self) -> T {
        let mut line = String::new();
        self.answers
            .read_line(&mut line)
            .expect("the collector answers");
        let Ok(answer) = line.trim().parse() else {
            panic!("the collector answers `{}`", line.trim());
        };
        answer
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug, Default)]
struct Behaviour {
    spans: AtomicU64,
    pause_ms: AtomicU64,
    refuses: AtomicBool,
}

struct Service(Arc<Behaviour>);

#[tonic::async_trait]
impl TraceService for Service {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let pause = self.0.pause_ms.load(Ordering::Relaxed);
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        if self.0.refuses.load(Ordering::Relaxed) {
            return Err(Status::unavailable("told to refuse"));
        }
        let spans = request.into_inner().resource_spans.into_iter();
        let spans = spans
            .flat_map(|resource| resource.scope_spans)
            .map(|scope| scope.spans.len() as u64);
        self.0.spans.fetch_add(spans.sum(), Ordering::Relaxed);
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn serve(address: SocketAddr) {
    let behaviour = Arc::new(Behaviour::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let listener = runtime
        .block_on(TcpListener::bind(address))
        .expect("the port is free");
    say(&listener.local_addr().expect("a listener has an address"));
    let orders = Arc::clone(&behaviour);
    std::thread::spawn(move || {
        obey(&orders);
        std::process::exit(0);
    });
    let service = TraceServiceServer::new(Service(behaviour)).max_decoding_message_size(usize::MAX);
    let server = tonic::transport::Server::builder().add_service(service);
    runtime
        .block_on(server.serve_with_incoming(TcpIncoming::from(listener)))
        .expect("the server runs");
}

/// Follows orders until there are no more to come.
fn obey(behaviour: &Behaviour) {
    for order in std::io::stdin().lines() {
        let Ok(order) = order else { return };
        match order.split_once(' ').unwrap_or((&order, "")) {
            (COUNT, _) => say(&behaviour.spans.load(Ordering::Relaxed)),
            (PAUSE, pause) => behaviour
                .pause_ms
                .store(pause.parse().unwrap_or(0), Ordering::Relaxed),
            (REFUSE, _) => behaviour.refuses.store(true, Ordering::Relaxed),
            (ACCEPT, _) => behaviour.refuses.store(false, Ordering::Relaxed),
            _ => {}
        }
    }
}

#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn say(answer: &impl std::fmt::Display) {
    println!("{answer}");
}
