//! What new spans hang on and what goes out with requests, carried along with the work.

use std::sync::Arc;

use gym_telemetry_core::{Baggage, SpanContext};

use crate::recorder::{Guard, Link, current_context, run_in_context};
use crate::span::Span;

/// The ids of a span, baggage and a rollout id: what has to follow the work into a task or a thread.
///
/// A context holds ids, not the span itself: it does not keep the span open, and attributes cannot be set through
/// it. Cloning is cheap.
///
/// ```
/// use gym_telemetry_otel::Context;
///
/// let context = Context::current().with_rollout_id("3-1");
/// context.run(|| {
///     assert_eq!(Context::current().rollout_id().map(|id| &**id), Some("3-1"));
/// });
/// assert_eq!(Context::current().rollout_id(), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Context {
    link: Option<Link>,
    baggage: Option<Baggage>,
    rollout_id: Option<Arc<str>>,
}

impl Context {
    /// The current context of this thread.
    #[must_use]
    pub fn current() -> Self {
        current_context()
    }

    /// The empty context: spans started in it are roots.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    pub(crate) fn with_link(mut self, link: Option<Link>) -> Self {
        self.link = link;
        self
    }

    /// Continues the trace of another process: its span, if any, becomes the parent of what is started here, and
    /// its baggage is passed on. Without a span the context starts a trace of its own.
    #[must_use]
    pub fn with_remote(mut self, span: Option<SpanContext>, baggage: Option<Baggage>) -> Self {
        self.link = span.map(|span| Link::remote(&span));
        self.baggage = baggage;
        self
    }

    /// Makes `span` the parent of what is started here. A span that is not recorded changes nothing.
    #[must_use]
    pub fn with_span(mut self, span: &Span) -> Self {
        if let Some(link) = span.link() {
            self.link = Some(link);
        }
        self
    }

    /// Says which rollout the work belongs to.
    #[must_use]
    pub fn with_rollout_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.rollout_id = Some(id.into());
        self
    }

    /// The span to name in outgoing requests: the nearest one that has ids, recorded or not sampled.
    #[must_use]
    pub fn span_context(&self) -> Option<SpanContext> {
        self.link.as_ref().and_then(Link::span_context)
    }

    /// The baggage, as it came in.
    #[must_use]
    pub fn baggage(&self) -> Option<&Baggage> {
        self.baggage.as_ref()
    }

    /// The rollout that the work belongs to.
    #[must_use]
    pub fn rollout_id(&self) -> Option<&Arc<str>> {
        self.rollout_id.as_ref()
    }

    /// Makes this context current until the guard is dropped. Use
    /// [`in_context`](crate::FutureExt::in_context) for work that awaits.
    pub fn attach(&self) -> ContextGuard {
        ContextGuard(Guard::enter(Box::new(self.clone())))
    }

    /// Runs `f` with this context as the current one.
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        run_in_context(self, f)
    }

    pub(crate) fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }
}

/// Keeps a context current; what [`Context::attach`] returns.
///
/// It cannot be sent to another thread. Guards may be dropped in any order.
#[derive(Debug)]
#[must_use = "the context is current only as long as the guard lives"]
pub struct ContextGuard(#[expect(dead_code, reason = "it is there to be dropped")] Guard);

/// Wraps `f` so that it runs in the context that is current now: for threads and `spawn_blocking`.
///
/// ```
/// use gym_telemetry_otel::{Context, carry};
///
/// let context = Context::root().with_rollout_id("3-1");
/// let work = context.run(|| carry(|| Context::current().rollout_id().cloned()));
/// let seen = std::thread::spawn(work).join().expect("does not panic");
/// assert_eq!(seen.as_deref(), Some("3-1"));
/// ```
pub fn carry<F, T>(f: F) -> impl FnOnce() -> T + use<F, T>
where
    F: FnOnce() -> T,
{
    let context = Context::current();
    move || context.run(f)
}
