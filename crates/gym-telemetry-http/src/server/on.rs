//! Adopts the caller's trace and observes the request.

mod body;
mod exchange;
mod future;
mod scene;

use std::sync::Arc;

use gym_telemetry_api::__private::are_metrics_exporting;
use gym_telemetry_api::{Context, is_span_group_enabled};
use gym_telemetry_core::{RolloutId, group, propagation};
use http::{HeaderMap, Request};
use tower_service::Service;

use exchange::Exchange;
use scene::Scene;

pub use body::ServerBody;
pub use future::ServerFuture;

/// Paths whose requests are not observed.
#[derive(Clone, Debug)]
pub(super) struct Unobserved(Arc<[Box<str>]>);

impl Unobserved {
    pub(super) fn new<I>(routes: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        Self(
            routes
                .into_iter()
                .map(|route| route.as_ref().into())
                .collect(),
        )
    }

    fn has(&self, path: &str) -> bool {
        self.0.iter().any(|route| **route == *path)
    }
}

pub(super) fn call<S, B>(
    inner: &mut S,
    unobserved: &Unobserved,
    mut request: Request<B>,
    rollout: Option<RolloutId>,
) -> ServerFuture<S::Future>
where
    S: Service<Request<B>>,
{
    let mut scene = scene(unobserved, &mut request, rollout);
    let future = scene.watch(|| inner.call(request));
    ServerFuture::new(future, scene)
}

fn scene<B>(
    unobserved: &Unobserved,
    request: &mut Request<B>,
    rollout: Option<RolloutId>,
) -> Scene {
    let (traced, timed) = (
        is_span_group_enabled(&group::SERVER),
        are_metrics_exporting(),
    );
    let observed = (traced || timed) && !unobserved.has(request.uri().path());
    let (traced, timed) = (traced && observed, timed && observed);

    let mut context = traced.then(|| adopted(request.headers()));
    if let Some(id) = rollout {
        context = Some(context.unwrap_or_else(Context::current).with_rollout_id(id));
    }
    let exchange = (traced || timed).then(|| {
        let parent = context.as_ref().filter(|_| traced);
        let exchange = Exchange::start(request, parent, timed);
        request.extensions_mut().insert(exchange.slot());
        exchange
    });
    Scene { context, exchange }
}

/// The context of the caller. A request that names no span starts a trace of its own, whatever is current here.
fn adopted(headers: &HeaderMap) -> Context {
    let caller = propagation::extract(|name| headers.get_all(name));
    Context::root().with_remote(caller.context, caller.baggage)
}
