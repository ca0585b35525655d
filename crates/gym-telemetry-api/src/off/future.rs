//! Wrapped futures that are the futures themselves.

use std::fmt::Display;

use super::{Context, Span};

/// A future in a span: in this build the future itself.
pub type InSpan<F> = F;

/// A future in a span that fails with it: in this build the future itself.
pub type InSpanErr<F> = F;

/// A future in a context: in this build the future itself.
pub type InContext<F> = F;

/// Wraps futures; in this build every method returns the future as it is.
#[expect(
    clippy::return_self_not_must_use,
    reason = "a future is `must_use` by itself"
)]
pub trait FutureExt: Future + Sized {
    /// Returns the future.
    #[inline(always)]
    fn in_span(self, _span: Span) -> InSpan<Self> {
        self
    }

    /// Returns the future.
    #[inline(always)]
    fn in_span_err<T, E>(self, _span: Span) -> InSpanErr<Self>
    where
        Self: Future<Output = Result<T, E>>,
        E: Display,
    {
        self
    }

    /// Returns the future.
    #[inline(always)]
    fn in_context(self, _context: Context) -> InContext<Self> {
        self
    }

    /// Returns the future.
    #[inline(always)]
    fn in_current_context(self) -> InContext<Self> {
        self
    }
}

impl<F: Future> FutureExt for F {}

// What follows asks of the type of another arm what `err` needs, in unreachable code.

/// The type of a future.
#[must_use]
pub fn any_future<F: Future>() -> F {
    unreachable!("this only names a type")
}

/// The type of a future that can fail.
#[must_use]
pub fn fallible_future<F, T, E>() -> F
where
    F: Future<Output = Result<T, E>>,
    E: Display,
{
    unreachable!("this only names a type")
}

/// The type of a result.
#[expect(clippy::missing_errors_doc, reason = "never called")]
pub fn fallible<T, E: Display>() -> Result<T, E> {
    unreachable!("this only names a type")
}
