//! Makes the span and injects the headers.

use std::fmt::Display;
use std::pin::Pin;
use std::sync::Weak;
use std::task::{Context, Poll};

use gym_telemetry_api::is_span_group_enabled;
use gym_telemetry_core::group;
use http::{Request, Response, Uri};
use pin_project_lite::pin_project;
use tower_service::Service;

use super::call::{Attempts, Call, Outcome, Target};
use super::running::Running;
use crate::failure::Failure;
use crate::{PropagationPolicy, host, url};

pin_project! {
    /// The future of [`ClientService`](crate::ClientService).
    ///
    /// # Panics
    ///
    /// If it is polled again after it was ready.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as the inner future. Dropping it before it is ready ends the span without a status.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are polled"]
    pub struct ClientFuture<F> {
        #[pin]
        running: Running<F>,
    }
}

impl<F, B, E> Future for ClientFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    E: Display,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        self.project().running.poll(task).map(|(answer, call)| {
            if let Some(call) = call {
                call.close(match &answer {
                    Ok(response) => Outcome::Answered(response.status()),
                    Err(error) => Outcome::Failed(Failure::of(error)),
                });
            }
            answer
        })
    }
}

pub(super) fn call<S, B>(
    inner: &mut S,
    policy: &PropagationPolicy,
    mut request: Request<B>,
) -> ClientFuture<S::Future>
where
    S: Service<Request<B>>,
{
    let mut call = begin(policy, &mut request);
    let future = match &mut call {
        Some(call) => call.watch(|| inner.call(request)),
        None => inner.call(request),
    };
    ClientFuture {
        running: Running::new(future, call),
    }
}

fn begin<B>(policy: &PropagationPolicy, request: &mut Request<B>) -> Option<Call> {
    if !is_span_group_enabled(&group::HTTP_CLIENT) {
        return None;
    }
    // Further in, while the same request is under way further out.
    if let Some(attempts) = request
        .extensions()
        .get()
        .and_then(Weak::<Attempts>::upgrade)
    {
        attempts.add();
        return None;
    }
    let method = request.method().clone();
    let uri = request.uri().clone();
    let target = |headers: &_| {
        let to = host::address(&uri, headers);
        let url = url::full(&uri, host::host_header(headers));
        let port = to.port.or_else(|| default_port(&uri));
        Target {
            url,
            host: to.host.map(str::to_owned),
            port,
        }
    };
    let call = Call::begin(policy, &method, request.headers_mut(), target)?;
    request.extensions_mut().insert(call.attempts());
    Some(call)
}

fn default_port(uri: &Uri) -> Option<u16> {
    match uri.scheme_str() {
        Some("https") => Some(443),
        Some("http") | None => Some(80),
        Some(_) => None,
    }
}
