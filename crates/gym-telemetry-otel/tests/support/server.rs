//! The listening side.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::logs::v1 as logs;
use opentelemetry_proto::tonic::collector::metrics::v1 as metrics;
use opentelemetry_proto::tonic::collector::trace::v1 as trace;
use prost::Message;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::{Response, Status};

use super::Behaviour;
use super::codecs::Codecs;
use super::received::{Received, Request};

pub struct Shared {
    codecs: Codecs,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub struct State {
    pub behaviour: Behaviour,
    pub attempts: u64,
    pub received: Received,
}

impl Shared {
    pub fn new(codecs: Codecs) -> Self {
        Self {
            codecs,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        self.changed
            .wait_timeout(state, limit)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Counts a request and says what to do with it, in one step, so that a test that sees the count may change it.
    fn begin(&self) -> Behaviour {
        let mut state = self.lock();
        state.attempts += 1;
        self.changed.notify_all();
        state.behaviour.clone()
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

pub fn run(
    listener: TcpListener,
    shared: &Arc<Shared>,
    stopped: tokio::sync::oneshot::Receiver<()>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        listener
            .set_nonblocking(true)
            .expect("a socket can be made non-blocking");
        let listener =
            tokio::net::TcpListener::from_std(listener).expect("the runtime takes the socket");
        let accept = async {
            loop {
                let (stream, _) = listener
                    .accept()
                    .await
                    .expect("connections can be accepted");
                let shared = Arc::clone(shared);
                tokio::spawn(async move {
                    let service = service_fn(move |request| answer(Arc::clone(&shared), request));
                    // The client may close its connection at any time.
                    let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        };
        tokio::select! {
            () = accept => {}
            _ = stopped => {}
        }
    });
}

async fn answer(
    shared: Arc<Shared>,
    request: http::Request<Incoming>,
) -> Result<http::Response<Body>, Infallible> {
    let behaviour = shared.begin();
    match behaviour {
        Behaviour::Hang => std::future::pending().await,
        Behaviour::Slow(pause) => tokio::time::sleep(pause).await,
        Behaviour::Accept | Behaviour::Fail { .. } | Behaviour::Partial { .. } => {}
    }
    let is_grpc = request
        .headers()
        .get("content-type")
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    Ok(if is_grpc {
        answer_grpc(shared, &behaviour, request).await
    } else {
        answer_http(&shared, &behaviour, request).await
    })
}

async fn answer_grpc(
    shared: Arc<Shared>,
    behaviour: &Behaviour,
    request: http::Request<Incoming>,
) -> http::Response<Body> {
    if let Behaviour::Fail {
        grpc,
        retry_after,
        message,
        ..
    } = behaviour
    {
        return failed_status(*grpc, *retry_after, message).into_http();
    }
    let (rejected, message) = partial(behaviour);
    let export = Export {
        shared,
        path: request.uri().path().to_owned(),
        rejected,
        message,
    };
    let service = request
        .uri()
        .path()
        .split('/')
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    let compression = export.shared.codecs.grpc;
    macro_rules! serve {
        ($server:path) => {{
            let mut server = <$server>::new(export);
            if let Some(compression) = compression {
                server = server.accept_compressed(compression);
            }
            server.call(request).await
        }};
    }
    let response = match service.as_str() {
        trace::trace_service_server::SERVICE_NAME => {
            serve!(trace::trace_service_server::TraceServiceServer<_>)
        }
        metrics::metrics_service_server::SERVICE_NAME => {
            serve!(metrics::metrics_service_server::MetricsServiceServer<_>)
        }
        logs::logs_service_server::SERVICE_NAME => {
            serve!(logs::logs_service_server::LogsServiceServer<_>)
        }
        _ => Ok(Status::unimplemented("no such service").into_http()),
    };
    response.unwrap_or_else(|never| match never {})
}

fn failed_status(code: i32, retry_after: Option<Duration>, message: &str) -> Status {
    use tonic_types::{ErrorDetails, StatusExt};
    let details = match retry_after {
        Some(pause) => ErrorDetails::with_retry_info(Some(pause)),
        None => ErrorDetails::new(),
    };
    Status::with_error_details(code.into(), message, details)
}

fn partial(behaviour: &Behaviour) -> (i64, &'static str) {
    match behaviour {
        Behaviour::Partial { rejected, message } => (*rejected, message),
        _ => (0, ""),
    }
}

/// The three services in one.
struct Export {
    shared: Arc<Shared>,
    path: String,
    rejected: i64,
    message: &'static str,
}

impl Export {
    fn keep<B>(
        &self,
        request: tonic::Request<B>,
        push: impl FnOnce(&mut Received, Request<B>),
    ) -> bool {
        let (metadata, _, body) = request.into_parts();
        let headers = metadata.into_headers();
        let request = Request {
            path: self.path.clone(),
            headers: header_list(&headers),
            body,
        };
        self.shared
            .update(|state| push(&mut state.received, request));
        self.rejected != 0 || !self.message.is_empty()
    }
}

#[tonic::async_trait]
impl trace::trace_service_server::TraceService for Export {
    async fn export(
        &self,
        request: tonic::Request<trace::ExportTraceServiceRequest>,
    ) -> Result<Response<trace::ExportTraceServiceResponse>, Status> {
        let partly = self.keep(request, |received, request| received.traces.push(request));
        let partial_success = partly.then(|| trace::ExportTracePartialSuccess {
            rejected_spans: self.rejected,
            error_message: self.message.to_owned(),
        });
        Ok(Response::new(trace::ExportTraceServiceResponse {
            partial_success,
        }))
    }
}

#[tonic::async_trait]
impl metrics::metrics_service_server::MetricsService for Export {
    async fn export(
        &self,
        request: tonic::Request<metrics::ExportMetricsServiceRequest>,
    ) -> Result<Response<metrics::ExportMetricsServiceResponse>, Status> {
        let partly = self.keep(request, |received, request| received.metrics.push(request));
        let partial_success = partly.then(|| metrics::ExportMetricsPartialSuccess {
            rejected_data_points: self.rejected,
            error_message: self.message.to_owned(),
        });
        Ok(Response::new(metrics::ExportMetricsServiceResponse {
            partial_success,
        }))
    }
}

#[tonic::async_trait]
impl logs::logs_service_server::LogsService for Export {
    async fn export(
        &self,
        request: tonic::Request<logs::ExportLogsServiceRequest>,
    ) -> Result<Response<logs::ExportLogsServiceResponse>, Status> {
        let partly = self.keep(request, |received, request| received.logs.push(request));
        let partial_success = partly.then(|| logs::ExportLogsPartialSuccess {
            rejected_log_records: self.rejected,
            error_message: self.message.to_owned(),
        });
        Ok(Response::new(logs::ExportLogsServiceResponse {
            partial_success,
        }))
    }
}

async fn answer_http(
    shared: &Shared,
    behaviour: &Behaviour,
    request: http::Request<Incoming>,
) -> http::Response<Body> {
    if let Behaviour::Fail {
        http,
        retry_after,
        message,
        ..
    } = behaviour
    {
        let mut response = http::Response::builder().status(*http);
        if let Some(pause) = retry_after {
            response = response.header("retry-after", pause.as_secs());
        }
        return response
            .body(whole(message.as_bytes().to_vec()))
            .expect("the parts are valid");
    }
    let (parts, body) = request.into_parts();
    let Ok(body) = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
    else {
        return status_only(400);
    };
    if parts.method != http::Method::POST {
        return status_only(405);
    }
    let Some(body) = (shared.codecs.read)(parts.uri.path(), &parts.headers, &body) else {
        return status_only(415);
    };
    let kept = match parts.uri.path() {
        "/v1/traces" => keep(shared, &parts, &body, |received, request| {
            received.traces.push(request);
        }),
        "/v1/metrics" => keep(shared, &parts, &body, |received, request| {
            received.metrics.push(request);
        }),
        "/v1/logs" => keep(shared, &parts, &body, |received, request| {
            received.logs.push(request);
        }),
        _ => return status_only(404),
    };
    if !kept {
        return status_only(400);
    }
    let (rejected, message) = partial(behaviour);
    let partial_success =
        (rejected != 0 || !message.is_empty()).then(|| trace::ExportTracePartialSuccess {
            rejected_spans: rejected,
            error_message: message.to_owned(),
        });
    // In protobuf the responses of the three services have the same fields.
    let answer = trace::ExportTraceServiceResponse { partial_success };
    let answer = (shared.codecs.write)(&parts.headers, &answer);
    let mut response = http::Response::new(whole(answer));
    if let Some(kind) = parts.headers.get("content-type") {
        response.headers_mut().insert("content-type", kind.clone());
    }
    response
}

/// Whether the body could be read.
fn keep<B: Message + Default>(
    shared: &Shared,
    parts: &http::request::Parts,
    body: &[u8],
    push: impl FnOnce(&mut Received, Request<B>),
) -> bool {
    let Ok(body) = B::decode(body) else {
        return false;
    };
    // With the query: a per-signal endpoint may have one.
    let path = parts
        .uri
        .path_and_query()
        .map_or_else(String::new, ToString::to_string);
    let request = Request {
        path,
        headers: header_list(&parts.headers),
        body,
    };
    shared.update(|state| push(&mut state.received, request));
    true
}

fn header_list(headers: &http::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), text(value)))
        .collect()
}

fn status_only(status: u16) -> http::Response<Body> {
    http::Response::builder()
        .status(status)
        .body(Body::empty())
        .expect("the status is valid")
}

fn whole(body: Vec<u8>) -> Body {
    Body::new(Full::new(Bytes::from(body)))
}
