//! A context that carries nothing.

use std::marker::PhantomData;
use std::sync::Arc;

use gym_telemetry_core::{Baggage, SpanContext};

use super::Span;

/// What crosses threads, tasks and processes with a piece of work; in this build nothing.
#[derive(Clone, Debug, Default)]
pub struct Context(());

impl Context {
    /// Returns the empty context.
    #[inline(always)]
    #[must_use]
    pub fn current() -> Context {
        Context(())
    }

    /// Returns the empty context.
    #[inline(always)]
    #[must_use]
    pub fn root() -> Context {
        Context(())
    }

    /// Returns the context as it is.
    #[inline(always)]
    #[must_use]
    pub fn with_remote(self, _span: Option<SpanContext>, _baggage: Option<Baggage>) -> Context {
        self
    }

    /// Returns the context as it is.
    #[inline(always)]
    #[must_use]
    pub fn with_span(self, _span: &Span) -> Context {
        self
    }

    /// Returns the context as it is.
    #[inline(always)]
    #[must_use]
    pub fn with_rollout_id(self, _id: impl Into<Arc<str>>) -> Context {
        self
    }

    /// Returns `None`.
    #[inline(always)]
    #[must_use]
    pub fn rollout_id(&self) -> Option<&Arc<str>> {
        None
    }

    /// Returns `None`.
    #[inline(always)]
    #[must_use]
    pub fn baggage(&self) -> Option<&Baggage> {
        None
    }

    /// Returns `None`.
    #[inline(always)]
    #[must_use]
    pub fn span_context(&self) -> Option<SpanContext> {
        None
    }

    /// Returns a guard that does nothing.
    #[inline(always)]
    pub fn attach(&self) -> ContextGuard {
        ContextGuard(PhantomData)
    }

    /// Calls `f`.
    #[inline(always)]
    pub fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        f()
    }
}

/// Keeps a context current on this thread; in this build nothing.
#[derive(Debug)]
#[must_use = "the context is current only as long as the guard lives"]
pub struct ContextGuard(PhantomData<*const ()>);

/// Returns `f` as it is.
#[inline(always)]
pub fn carry<F, T>(f: F) -> impl FnOnce() -> T + use<F, T>
where
    F: FnOnce() -> T,
{
    f
}
