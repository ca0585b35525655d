//! A request that is under way.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::call::Call;

pin_project! {
    /// Polls a future inside the span of its call, and hands the call back with the answer.
    #[derive(Debug)]
    pub(crate) struct Running<F> {
        // `None` only while this is being dropped.
        #[pin]
        inner: Option<F>,
        call: Option<Call>,
    }

    impl<F> PinnedDrop for Running<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            match &this.call {
                Some(call) => call.run(|| this.inner.set(None)),
                None => this.inner.set(None),
            }
        }
    }
}

impl<F> Running<F> {
    pub(crate) fn new(inner: F, call: Option<Call>) -> Self {
        Self {
            inner: Some(inner),
            call,
        }
    }
}

impl<F: Future> Future for Running<F> {
    type Output = (F::Output, Option<Call>);

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let inner = this
            .inner
            .as_pin_mut()
            .expect("a future is not polled while it is dropped");
        let polled = match this.call {
            Some(call) => call.watch(|| inner.poll(task)),
            None => inner.poll(task),
        };
        polled.map(|answer| (answer, this.call.take()))
    }
}
