//! The body of the answer: keeps the span open to its end.

use std::fmt::Display;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Buf;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::scene::Scene;
use crate::failure::Failure;

pin_project! {
    /// The body of [`ServerService`](crate::ServerService).
    ///
    /// Dropping it before its end marks the span as disconnected.
    #[derive(Debug)]
    pub struct ServerBody<B> {
        // Gone once it has ended.
        #[pin]
        inner: Option<B>,
        scene: Scene,
    }

    impl<B> PinnedDrop for ServerBody<B> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            this.scene.run(|| this.inner.set(None));
        }
    }
}

impl<B> ServerBody<B> {
    pub(super) fn new(inner: B, scene: Scene) -> Self {
        Self {
            inner: Some(inner),
            scene,
        }
    }
}

impl<B> Body for ServerBody<B>
where
    B: Body<Error: Display>,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let Some(mut inner) = this.inner.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let polled = this.scene.watch(|| inner.as_mut().poll_frame(task));
        if let Some(exchange) = &mut this.scene.exchange {
            match &polled {
                Poll::Pending => {}
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(data) = frame.data_ref() {
                        exchange.sent(data.remaining());
                    }
                    // Servers need not ask again for the end of a body that says it has ended.
                    if inner.is_end_stream() {
                        exchange.answered();
                    }
                }
                Poll::Ready(Some(Err(error))) => exchange.failed(&Failure::of(error)),
                Poll::Ready(None) => exchange.answered(),
            }
        }
        if matches!(polled, Poll::Ready(None)) {
            this.scene.run(|| this.inner.set(None));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(B::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner
            .as_ref()
            .map_or_else(|| SizeHint::with_exact(0), B::size_hint)
    }
}
