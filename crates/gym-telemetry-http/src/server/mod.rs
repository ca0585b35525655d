//! The ingress: what goes around a whole server.

use std::fmt::Display;
use std::task::{Context, Poll};

use gym_telemetry_api::if_telemetry;
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use crate::rollout_path;

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

pub use build::{ServerBody, ServerFuture};

/// Routes that report that a server is alive.
const HEALTH_ROUTES: [&str; 5] = ["/health", "/healthz", "/livez", "/readyz", "/ping"];

/// Goes around a whole server, ahead of its routing: strips the rollout id from the path, adopts the caller's trace
/// and makes the SERVER span.
///
/// It must be the outermost layer, because routing must see the stripped path. With axum, `around`
/// does that; `Router::layer` would not, for it adds layers behind the routing.
///
/// For each request:
///
/// - A leading `/ng-rollout/<id>` is removed from the path. The id becomes an extension of the request, of type
///   [`RolloutId`](gym_telemetry_core::RolloutId), and the rollout id of the context the request is handled in. A
///   malformed id is not one: the path is left alone and ends in the router's 404.
/// - With span group `server` on, `traceparent`, `tracestate` and `baggage` are adopted and the request is handled in
///   a SERVER span named after its method; `RouteLayer` adds the route. Status is ERROR only
///   when the answer is a 5xx, or the service or its body fails or panics.
/// - The span ends with the last byte of the body. A body of unknown length gets an event when its head is sent. When
///   the future or the body is dropped before its end, as servers do when a client goes away, the span ends there,
///   is marked `nemo.gym.http.disconnected` and has no status.
/// - While metrics are exported, the duration goes into `http.server.request.duration`, whether or not the group is
///   on. Event streams (`text/event-stream`) are left out of it: they last as long as somebody listens.
/// - Health routes make neither a span nor a metric.
///
/// With the group off nothing is adopted and traces of different processes do not join.
///
/// ```
/// use gym_telemetry_http::ServerLayer;
/// use tower_layer::Layer;
///
/// # #[derive(Clone)] struct Server;
/// let server = ServerLayer::builder().health_routes(["/status"]).build().layer(Server);
/// # let _ = server;
/// ```
///
/// # Off build
///
/// Strips the rollout id and nothing else: the service has the size of the inner one, futures and bodies are the
/// inner ones.
#[derive(Clone, Debug)]
pub struct ServerLayer {
    unobserved: build::Unobserved,
}

impl ServerLayer {
    /// Makes the layer with the usual health routes: `/health`, `/healthz`, `/livez`, `/readyz` and `/ping`.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Starts a layer that differs from [`new`](Self::new).
    pub fn builder() -> ServerLayerBuilder {
        ServerLayerBuilder {
            unobserved: build::Unobserved::new(HEALTH_ROUTES),
        }
    }

    /// Puts this layer around an axum router and [`RouteLayer`](crate::RouteLayer) into it.
    ///
    /// What comes back is a router so that it can be served like one. Do not add routes to it: they would be matched
    /// ahead of this layer.
    ///
    /// ```
    /// use axum::{Router, routing::post};
    /// use gym_telemetry_http::ServerLayer;
    ///
    /// let app: Router = ServerLayer::new().around(Router::new().route("/verify", post(|| async {})));
    /// # let _ = app;
    /// ```
    #[cfg(feature = "axum")]
    pub fn around(&self, router: axum::Router) -> axum::Router {
        let inner = router.layer(crate::RouteLayer::new());
        axum::Router::new().fallback_service(self.layer(inner))
    }
}

impl Default for ServerLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for ServerLayer {
    type Service = ServerService<S>;

    fn layer(&self, inner: S) -> ServerService<S> {
        ServerService {
            inner,
            unobserved: self.unobserved.clone(),
        }
    }
}

/// Builds a [`ServerLayer`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ServerLayerBuilder {
    unobserved: build::Unobserved,
}

impl ServerLayerBuilder {
    /// Replaces the health routes: paths, after the rollout id, whose requests make neither a span nor a metric.
    pub fn health_routes<I>(mut self, routes: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        self.unobserved = build::Unobserved::new(routes);
        self
    }

    /// Finishes the layer.
    #[must_use]
    pub fn build(self) -> ServerLayer {
        ServerLayer {
            unobserved: self.unobserved,
        }
    }
}

/// The service that [`ServerLayer`] makes.
#[derive(Clone, Debug)]
pub struct ServerService<S> {
    inner: S,
    unobserved: build::Unobserved,
}

impl<S, RequestBody, ResponseBody> Service<Request<RequestBody>> for ServerService<S>
where
    S: Service<Request<RequestBody>, Response = Response<ResponseBody>, Error: Display>,
    ResponseBody: Body<Error: Display>,
{
    type Response = Response<ServerBody<ResponseBody>>;
    type Error = S::Error;
    type Future = ServerFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        let rollout = rollout_path::strip(request.uri_mut());
        if let Some(id) = &rollout {
            request.extensions_mut().insert(id.clone());
        }
        build::call(&mut self.inner, &self.unobserved, request, rollout)
    }
}
