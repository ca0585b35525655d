//! Hands the request on.

use http::Request;
use tower_service::Service;

use crate::PropagationPolicy;

/// The future of [`ClientService`](super::ClientService): in this build the inner service's.
pub type ClientFuture<F> = F;

pub(super) fn call<S, B>(
    inner: &mut S,
    _policy: &PropagationPolicy,
    request: Request<B>,
) -> S::Future
where
    S: Service<Request<B>>,
{
    inner.call(request)
}
