//! The future of the service: polls the inner one in the context of the request.

use std::fmt::Display;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Response;
use http_body::Body;
use pin_project_lite::pin_project;

use super::body::ServerBody;
use super::scene::Scene;
use crate::failure::Failure;

pin_project! {
    /// The future of [`ServerService`](crate::ServerService).
    ///
    /// # Panics
    ///
    /// If it is polled again after it was ready.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as the inner future. Dropping it before it is ready marks the span as disconnected.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are polled"]
    pub struct ServerFuture<F> {
        #[pin]
        inner: Option<F>,
        scene: Scene,
    }

    impl<F> PinnedDrop for ServerFuture<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            this.scene.run(|| this.inner.set(None));
        }
    }
}

impl<F> ServerFuture<F> {
    pub(super) fn new(inner: F, scene: Scene) -> Self {
        Self {
            inner: Some(inner),
            scene,
        }
    }
}

impl<F, B, E> Future for ServerFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Body<Error: Display>,
    E: Display,
{
    type Output = Result<Response<ServerBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let inner = this
            .inner
            .as_mut()
            .as_pin_mut()
            .expect("a future is not polled after it was ready");
        let polled = this.scene.watch(|| inner.poll(task));
        if let Some(exchange) = &mut this.scene.exchange {
            match &polled {
                Poll::Pending => exchange.take_route(),
                Poll::Ready(Ok(response)) => exchange.head(response),
                Poll::Ready(Err(error)) => exchange.failed(&Failure::of(error)),
            }
        }
        polled.map(|answer| {
            this.scene.run(|| this.inner.set(None));
            let scene = std::mem::take(this.scene);
            answer.map(|response| response.map(|body| ServerBody::new(body, scene)))
        })
    }
}
