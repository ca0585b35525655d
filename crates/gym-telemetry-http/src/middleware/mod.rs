//! The egress for reqwest.

use std::pin::Pin;

use gym_telemetry_api::if_telemetry;
use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Middleware, Next, Result};

use crate::PropagationPolicy;

// Named once more for rustfmt, which does not look into macros.
#[cfg(rustfmt)]
mod off;
#[cfg(rustfmt)]
mod on;

if_telemetry!(items {
    mod on;
    use on as build;
} else {
    mod off;
    use off as build;
});

/// What [`Middleware::handle`] returns.
type Answer<'a> = Pin<Box<dyn Future<Output = Result<Response>> + Send + 'a>>;

/// Goes into a reqwest client: makes the CLIENT span of each request and hands the trace on to the server.
///
/// It does for reqwest what [`ClientLayer`](crate::ClientLayer) does for tower services. Put it first, before a
/// middleware that retries: one request then has one span, whatever it takes to get the answer. A second one after
/// the retrying middleware counts what is sent, for the span's `http.request.resend_count`. If there is only one and it
/// comes after the retrying middleware, there is still one span per request, which starts with the first attempt. A
/// logical request is known by its extensions: requests to one URL that are made to share them are taken for resends.
///
/// reqwest follows redirects below all middleware, with the headers of the first request. If a server that may
/// receive trace headers might redirect to one that may not, build the client with `redirect::Policy::none()`.
///
/// ```
/// use gym_telemetry_http::{PropagationPolicy, TelemetryMiddleware};
///
/// let policy = PropagationPolicy::builder().allow_url("https://judge.example.com").build();
/// let client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new())
///     .with(TelemetryMiddleware::new(policy))
///     .build();
/// # let _ = client;
/// ```
///
/// # Off build
///
/// Hands requests on.
#[derive(Clone, Debug, Default)]
pub struct TelemetryMiddleware {
    policy: PropagationPolicy,
}

impl TelemetryMiddleware {
    /// Makes the middleware; `policy` says which hosts may receive trace headers.
    #[must_use]
    pub fn new(policy: PropagationPolicy) -> Self {
        Self { policy }
    }
}

// Written out as `async_trait` writes it, so that nothing is boxed beyond what the trait asks for.
impl Middleware for TelemetryMiddleware {
    fn handle<'life0, 'life1, 'life2, 'async_trait>(
        &'life0 self,
        request: Request,
        extensions: &'life1 mut Extensions,
        next: Next<'life2>,
    ) -> Answer<'async_trait>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        Self: 'async_trait,
    {
        build::handle(&self.policy, request, extensions, next)
    }
}
