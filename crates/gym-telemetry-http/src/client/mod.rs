//! The egress for tower services.

use std::fmt::Display;
use std::task::{Context, Poll};

use gym_telemetry_api::if_telemetry;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use crate::PropagationPolicy;

// Named once more for rustfmt, which does not look into macros.
#[cfg(rustfmt)]
mod call;
#[cfg(rustfmt)]
mod off;
#[cfg(rustfmt)]
mod on;
#[cfg(rustfmt)]
mod running;

if_telemetry!(items {
    pub(crate) mod call;
    mod on;
    pub(crate) mod running;
    use on as build;
} else {
    mod off;
    use off as build;
});

pub use build::ClientFuture;

/// Goes around an HTTP client: makes the CLIENT span of each request and hands the trace on to the server.
///
/// With span group `http_client` on:
///
/// - The request gets a span `HTTP <METHOD>` below the current one. It ends with the head of the answer; its status is
///   ERROR, with an `exception` event, only if there was no answer.
/// - `traceparent`, `tracestate` and `baggage` are set to that span, if the [`PropagationPolicy`] permits the host. A
///   header that the request already has is kept; with a `traceparent` of its own it is given no `tracestate` either.
/// - With `instrument_aiohttp: false` there is no span and the headers name the current one.
/// - A second such layer further in, below a layer that retries, counts what is sent: the span's
///   `http.request.resend_count`. Extensions must survive the retry, as they do when an `http::Request` is cloned.
///
/// With the group off nothing happens, and traces of different processes do not join.
///
/// ```
/// use gym_telemetry_http::{ClientLayer, PropagationPolicy};
/// use tower_layer::Layer;
///
/// # #[derive(Clone)] struct Client;
/// let client = ClientLayer::new(PropagationPolicy::default()).layer(Client);
/// # let _ = client;
/// ```
///
/// # Off build
///
/// Hands requests on: the service has the size of the inner one and its future is the inner one's.
#[derive(Clone, Debug, Default)]
pub struct ClientLayer {
    policy: PropagationPolicy,
}

impl ClientLayer {
    /// Makes the layer; `policy` says which hosts may receive trace headers.
    #[must_use]
    pub fn new(policy: PropagationPolicy) -> Self {
        Self { policy }
    }
}

impl<S> Layer<S> for ClientLayer {
    type Service = ClientService<S>;

    fn layer(&self, inner: S) -> ClientService<S> {
        ClientService {
            inner,
            policy: self.policy.clone(),
        }
    }
}

/// The service that [`ClientLayer`] makes.
#[derive(Clone, Debug)]
pub struct ClientService<S> {
    inner: S,
    policy: PropagationPolicy,
}

impl<S, RequestBody, ResponseBody> Service<Request<RequestBody>> for ClientService<S>
where
    S: Service<Request<RequestBody>, Response = Response<ResponseBody>, Error: Display>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ClientFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        build::call(&mut self.inner, &self.policy, request)
    }
}
