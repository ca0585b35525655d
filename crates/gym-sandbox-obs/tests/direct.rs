//! Sandboxes of OpenSandbox that are reached directly, by a server that is control plane and sandbox in one.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use gym_sandbox_obs::opensandbox::{OpenSandbox, OpenSandboxReader};
use gym_sandbox_obs::{ResourceReader, Unavailable};

/// How long anything may take before it counts as a hang; shorter than a client keeps a connection.
const PATIENCE: Duration = Duration::from_secs(10);

const METRICS: &str = r#"{"timestamp":1788257472000,"cpu_count":4,"cpu_used_pct":1.5,"mem_total_mib":1024,"mem_used_mib":12}"#;

/// What the server has seen.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Request(String),
    /// The client has closed a connection on which it had asked for something.
    Closed,
}

struct Server {
    address: SocketAddr,
    seen: Receiver<Seen>,
}

impl Server {
    /// Answers requests for metrics or leaves them without an answer. It listens as long as the process lives.
    fn start(answers: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let (sender, seen) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, sender) = (stream.expect("a client connects"), sender.clone());
                // A client that is gone by now wants no answer.
                std::thread::spawn(move || serve(stream, address, answers, &sender));
            }
        });
        Self { address, seen }
    }

    fn reader(&self) -> OpenSandboxReader {
        let url = format!("http://{}/v1", self.address);
        let sandboxes = OpenSandbox::builder(&url).build().expect("a URL");
        sandboxes.reader("sb-1")
    }

    fn next(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).expect("in time")
    }

    /// The next request whose path ends like this.
    fn request(&self, path: &str) -> String {
        loop {
            if let Seen::Request(head) = self.next()
                && head.split(' ').nth(1).is_some_and(|of| of.ends_with(path))
            {
                return head;
            }
        }
    }
}

fn serve(
    mut stream: TcpStream,
    address: SocketAddr,
    answers: bool,
    seen: &Sender<Seen>,
) -> std::io::Result<()> {
    loop {
        let (mut head, mut part) = (Vec::new(), [0; 1024]);
        while !head.ends_with(b"\r\n\r\n") {
            let length = stream.read(&mut part)?;
            if length == 0 {
                // The test may be over.
                let _ = seen.send(Seen::Closed);
                return Ok(());
            }
            head.extend_from_slice(&part[..length]);
        }
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let is_metrics = head.starts_with("get /metrics ");
        let body = if is_metrics {
            METRICS.to_owned()
        } else {
            format!(r#"{{"endpoint":"{address}"}}"#)
        };
        let _ = seen.send(Seen::Request(head));
        if answers || !is_metrics {
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}"
            )?;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_to_a_sandbox_outlives_its_reading() {
    let server = Server::start(true);
    let reader = server.reader();
    let sample = reader.sample().await.expect("the server answers");
    assert_eq!(sample.cpu_count, Some(4.0));
    assert!(
        !server
            .request("/endpoints/44772")
            .contains("connection: close")
    );
    assert!(server.request("/metrics").contains("connection: close"));
    // The control plane's own is kept.
    assert_eq!(server.next(), Seen::Closed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reading_that_was_dropped_has_the_next_one_ask_where_the_sandbox_is() {
    let server = Server::start(false);
    let reader = Arc::new(server.reader());
    let read = || {
        let reader = Arc::clone(&reader);
        tokio::spawn(async move { reader.sample().await })
    };
    let reading = read();
    server.request("/endpoints/44772");
    server.request("/metrics");
    reading.abort();
    assert!(reading.await.is_err_and(|error| error.is_cancelled()));
    let reading = read();
    server.request("/endpoints/44772");
    reading.abort();
}

#[tokio::test]
async fn an_id_that_no_url_can_hold_is_unavailable_in_the_words_of_each_reading() {
    let sandboxes = OpenSandbox::builder("http://127.0.0.1:9/v1").build();
    let reader = sandboxes.expect("a URL").reader("..");
    assert_eq!(reader.sample().await, Err(Unavailable::MalformedReading));
    let allocation = reader.allocation().await;
    assert_eq!(allocation, Err(Unavailable::UnrecognizedResponse));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_that_answers_is_not_looked_for_again() {
    let server = Server::start(true);
    let reader = server.reader();
    for _ in 0..2 {
        assert!(reader.sample().await.is_ok());
    }
    server.request("/endpoints/44772");
    server.request("/metrics");
    let is_request = |seen: &Seen| matches!(seen, Seen::Request(_));
    let second = std::iter::repeat_with(|| server.next()).find(is_request);
    let Some(Seen::Request(head)) = second else {
        panic!("there were two readings");
    };
    assert!(head.starts_with("get /metrics "), "{head}");
}
