//! Futures that take their span or context with them.
//!
//! Both are entered for each poll and left after it, so that other tasks of the thread never see them.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use pin_project_lite::pin_project;

use crate::contain;
use crate::context::Context;
use crate::failure::Failure;
use crate::recorder::{Around, run_in, run_in_context};
use crate::span::Span;

/// Attaches spans and contexts to futures.
///
/// ```
/// use gym_telemetry_otel::{Context, FutureExt};
///
/// let context = Context::root().with_rollout_id("3-1");
/// let work = async { Context::current().rollout_id().cloned() }.in_context(context);
/// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// assert_eq!(runtime.block_on(work).as_deref(), Some("3-1"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait FutureExt: Future + Sized {
    /// Makes `span` current while this future works, and ends it when the future is done.
    ///
    /// A panic makes the span fail. If the future is dropped before it is done, that is a cancellation: the future
    /// is dropped inside the span, and the status stays unset.
    #[inline]
    fn in_span(self, span: Span) -> InSpan<Self> {
        InSpan {
            future: self,
            around: Around::new(span),
        }
    }

    /// Like [`in_span`](Self::in_span); an `Err` also makes the span fail.
    #[inline]
    fn in_span_err<T, E>(self, span: Span) -> InSpanErr<Self>
    where
        Self: Future<Output = Result<T, E>>,
        E: Display,
    {
        InSpanErr {
            inner: self.in_span(span),
        }
    }

    /// Makes `context` current while this future works.
    fn in_context(self, context: Context) -> InContext<Self> {
        InContext {
            context,
            future: Some(self),
        }
    }

    /// Makes the context that is current now current while this future works: for `tokio::spawn` and the like.
    fn in_current_context(self) -> InContext<Self> {
        self.in_context(Context::current())
    }
}

impl<F: Future> FutureExt for F {}

pin_project! {
    /// A future with a span; see [`FutureExt::in_span`].
    ///
    /// It is as cancel-safe as the future inside.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct InSpan<F> {
        #[pin]
        future: F,
        // Dropped after the future, and ends the span then. Holds nothing when the future is done, and from the
        // beginning if nothing is recorded.
        around: Around,
    }

    impl<F> PinnedDrop for InSpan<F> {
        fn drop(this: Pin<&mut Self>) {
            this.project().around.enter();
        }
    }
}

impl<F> InSpan<F> {
    /// Without a span this is the future's own poll.
    #[inline]
    fn poll_with<T>(
        self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        inspect: impl FnOnce(&Span, &T),
    ) -> Poll<T>
    where
        F: Future<Output = T>,
    {
        let this = self.project();
        if this.around.span().is_nothing() {
            this.future.poll(context)
        } else {
            poll_within(this.around, this.future, context, inspect)
        }
    }
}

// Out of line: where nothing is recorded, polling stays small.
#[inline(never)]
fn poll_within<F: Future>(
    around: &mut Around,
    future: Pin<&mut F>,
    context: &mut TaskContext<'_>,
    inspect: impl FnOnce(&Span, &F::Output),
) -> Poll<F::Output> {
    let polled = run_in(around.span(), || {
        catch_unwind(AssertUnwindSafe(|| future.poll(context)))
    });
    match polled {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => {
            inspect(around.span(), &output);
            around.take().end();
            Poll::Ready(output)
        }
        Err(payload) => {
            let message = contain::message_of(&*payload).map(str::to_owned);
            let span = around.take();
            span.with_record(|record| Failure::panic(message).record(record));
            span.end();
            resume_unwind(payload)
        }
    }
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<F::Output> {
        self.poll_with(context, |_, _| {})
    }
}

pin_project! {
    /// A future with a span that fails with the future; see [`FutureExt::in_span_err`].
    ///
    /// It is as cancel-safe as the future inside.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct InSpanErr<F> {
        #[pin]
        inner: InSpan<F>,
    }
}

impl<F, T, E> Future for InSpanErr<F>
where
    F: Future<Output = Result<T, E>>,
    E: Display,
{
    type Output = Result<T, E>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Result<T, E>> {
        self.project().inner.poll_with(context, |span, output| {
            if let Err(error) = output {
                span.record_error(error);
            }
        })
    }
}

pin_project! {
    /// A future with a context; see [`FutureExt::in_context`].
    ///
    /// It is as cancel-safe as the future inside.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct InContext<F> {
        context: Context,
        // `None` only while this is being dropped.
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for InContext<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            run_in_context(this.context, || this.future.set(None));
        }
    }
}

impl<F: Future> Future for InContext<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<F::Output> {
        let this = self.project();
        let future = this
            .future
            .as_pin_mut()
            .expect("a future is not polled while it is dropped");
        run_in_context(this.context, || future.poll(context))
    }
}
