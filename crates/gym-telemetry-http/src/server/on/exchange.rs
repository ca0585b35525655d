//! One request and its answer, as telemetry sees them.

use std::sync::Arc;

use gym_telemetry_api::__private::record_http_server_request;
use gym_telemetry_api::{
    Context, Parent, Span, Status, Stopwatch, managed_span, set_span_attributes, stopwatch,
};
use gym_telemetry_core::value::StaticStr;
use gym_telemetry_core::{SpanKind, attribute, group, scope};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body::Body;

use crate::failure::Failure;
use crate::route_slot::RouteSlot;
use crate::{host, method};

const EVENT_STREAM: &str = "text/event-stream";

/// An exchange that is under way. Dropping it before it is over says that the client went away.
#[derive(Debug)]
pub(super) struct Exchange {
    span: Span,
    /// Tells how long the exchange took; absent when nobody wants to know.
    watch: Option<Stopwatch>,
    method: &'static str,
    slot: Arc<RouteSlot>,
    route: Option<Box<str>>,
    status: Option<StatusCode>,
    /// Bytes that the client still waits for, if their number is known.
    remaining: Option<u64>,
    over: bool,
}

impl Exchange {
    /// Starts to observe `request`, with a span below that of `parent` and, if `timed`, with a clock.
    pub(super) fn start<B>(request: &Request<B>, parent: Option<&Context>, timed: bool) -> Self {
        let method = method::recorded(request.method());
        Self {
            span: parent.map_or_else(Span::none, |parent| server_span(request, method, parent)),
            watch: timed.then(|| stopwatch!()),
            method,
            slot: Arc::default(),
            route: None,
            status: None,
            remaining: None,
            over: false,
        }
    }

    /// Runs `f` with the span as the current one.
    pub(super) fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        self.span.run(f)
    }

    /// Where the route layer leaves the route.
    pub(super) fn slot(&self) -> Arc<RouteSlot> {
        Arc::clone(&self.slot)
    }

    /// Takes over the route if the route layer has left one since the last time.
    pub(super) fn take_route(&mut self) {
        let Some(route) = self.slot.take() else {
            return;
        };
        if self.span.is_recording() {
            self.span
                .update_name(format!("{} {route}", method::in_name(self.method)));
            set_span_attributes!(self.span; attribute::HTTP_ROUTE => &*route);
        }
        self.route = Some(route);
    }

    /// Looks at the head of the answer, which is the end of the exchange if no body follows.
    pub(super) fn head<B: Body>(&mut self, response: &Response<B>) {
        self.take_route();
        let status = response.status();
        self.status = Some(status);
        set_span_attributes!(self.span; attribute::HTTP_RESPONSE_STATUS_CODE => status.as_u16());
        if is_event_stream(response.headers()) {
            self.watch = None;
        }
        if response.body().is_end_stream() || self.is_without_body(status) {
            return self.answered();
        }
        self.remaining =
            content_length(response.headers()).or_else(|| response.body().size_hint().exact());
        if self.remaining == Some(0) {
            self.answered();
        }
    }

    /// Counts bytes of the body. A server does not ask for more than the announced number of them.
    pub(super) fn sent(&mut self, bytes: usize) {
        let Some(remaining) = &mut self.remaining else {
            return;
        };
        *remaining = remaining.saturating_sub(bytes as u64);
        if *remaining == 0 {
            self.answered();
        }
    }

    /// Ends the exchange after a complete answer.
    pub(super) fn answered(&mut self) {
        self.close(|span, status| {
            if let Some(status) = status.filter(StatusCode::is_server_error) {
                set_span_attributes!(span; attribute::ERROR_TYPE => status.as_str());
                // The code says it all, so there is no description.
                span.set_status(Status::Error("".into()));
            }
        });
    }

    /// Ends the exchange after the service or its body failed.
    pub(super) fn failed(&mut self, failure: &Failure) {
        self.close(|span, _| failure.record(span));
    }

    fn close(&mut self, finish: impl FnOnce(&Span, Option<StatusCode>)) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.take_route();
        let span = std::mem::replace(&mut self.span, Span::none());
        finish(&span, self.status);
        span.end();
        if let Some(elapsed) = self.watch.take().and_then(|watch| watch.elapsed()) {
            record_http_server_request(
                elapsed,
                self.method,
                self.route.as_deref(),
                self.status.map(|status| status.as_u16()),
            );
        }
    }

    /// Says whether HTTP sends no body after this head, even if the service gave one.
    fn is_without_body(&self, status: StatusCode) -> bool {
        self.method == "HEAD"
            || (self.method == "CONNECT" && status.is_success())
            || status.is_informational()
            || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.close(|span, _| set_span_attributes!(span; attribute::HTTP_DISCONNECTED => true));
    }
}

fn server_span<B>(request: &Request<B>, method: &'static str, parent: &Context) -> Span {
    let uri = request.uri();
    let to = host::address(uri, request.headers());
    managed_span!(
        group::SERVER,
        method::in_name(method),
        kind: SpanKind::Server,
        parent: Parent::Context(parent),
        scope: scope::GYM,
        attribute::HTTP_REQUEST_METHOD => StaticStr(method),
        attribute::HTTP_REQUEST_METHOD_ORIGINAL => (method == method::OTHER).then(|| request.method().as_str()),
        attribute::URL_PATH => uri.path(),
        attribute::URL_SCHEME => uri.scheme_str().unwrap_or("http"),
        attribute::SERVER_ADDRESS => to.host,
        attribute::SERVER_PORT => to.port,
        attribute::NETWORK_PROTOCOL_VERSION => protocol_version(request.version()).map(StaticStr),
        attribute::ROLLOUT_ID => parent.rollout_id(),
    )
}

fn protocol_version(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_09 => Some("0.9"),
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        Version::HTTP_3 => Some("3"),
        _ => None,
    }
}

fn is_event_stream(headers: &HeaderMap) -> bool {
    let Some(content_type) = headers.get(CONTENT_TYPE) else {
        return false;
    };
    let media_type = content_type
        .as_bytes()
        .split(|byte| *byte == b';')
        .next()
        .unwrap_or_default();
    media_type
        .trim_ascii()
        .eq_ignore_ascii_case(EVENT_STREAM.as_bytes())
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
