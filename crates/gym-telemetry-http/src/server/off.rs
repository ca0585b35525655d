//! Hands the request on.

use gym_telemetry_core::RolloutId;
use http::Request;
use tower_service::Service;

/// The future of [`ServerService`](super::ServerService): in this build the inner service's.
pub type ServerFuture<F> = F;

/// The body of [`ServerService`](super::ServerService): in this build the inner service's.
pub type ServerBody<B> = B;

#[derive(Clone, Debug)]
pub(super) struct Unobserved;

impl Unobserved {
    pub(super) fn new<I>(_routes: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        Self
    }
}

pub(super) fn call<S, B>(
    inner: &mut S,
    _unobserved: &Unobserved,
    request: Request<B>,
    _rollout: Option<RolloutId>,
) -> S::Future
where
    S: Service<Request<B>>,
{
    inner.call(request)
}
