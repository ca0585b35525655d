//! The inner layer, which knows the route.

use std::task::{Context, Poll};

use gym_telemetry_api::if_telemetry;
use http::Request;
use tower_layer::Layer;
use tower_service::Service;

/// Names the SERVER span `<METHOD> <route>` and sets `http.route`, by axum's matched path.
///
/// Give it to `Router::layer`, behind which a request has been matched; [`ServerLayer`](crate::ServerLayer), around
/// the router, makes the span. [`ServerLayer::around`](crate::ServerLayer::around) applies both. A request that
/// matches no route keeps the name `<METHOD>`. A router nested as a service has routes of its own: give it the layer
/// too.
///
/// ```
/// use axum::{Router, routing::post};
/// use gym_telemetry_http::RouteLayer;
///
/// let router: Router = Router::new().route("/verify", post(|| async {})).layer(RouteLayer::new());
/// # let _ = router;
/// ```
///
/// # Off build
///
/// Hands requests on; the service has the size of the inner one.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteLayer(());

impl RouteLayer {
    /// Makes the layer.
    #[must_use]
    pub fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for RouteLayer {
    type Service = RouteService<S>;

    fn layer(&self, inner: S) -> RouteService<S> {
        RouteService { inner }
    }
}

/// The service that [`RouteLayer`] makes.
#[derive(Clone, Debug)]
pub struct RouteService<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for RouteService<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> S::Future {
        if_telemetry!({
            let extensions = request.extensions();
            let slot = extensions.get::<std::sync::Arc<crate::route_slot::RouteSlot>>();
            if let (Some(slot), Some(path)) = (slot, extensions.get::<axum::extract::MatchedPath>())
            {
                slot.put(path.as_str());
            }
        });
        self.inner.call(request)
    }
}
