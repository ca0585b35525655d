//! What makes spans and contexts current, and keeps them for as long as they are.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use super::super::start::Started;
use super::frames::{self, Entry, Target};
use super::handle::{Handle, Held};
use crate::context::Context;
use crate::span::Span;

/// A context that is current on this thread until this is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    entry: Entry,
    #[expect(
        dead_code,
        reason = "it is kept for the entry, and dropped after it was left"
    )]
    context: Box<Context>,
    not_send: PhantomData<*const ()>,
}

impl Guard {
    pub(crate) fn enter(context: Box<Context>) -> Self {
        // SAFETY: the context is on the heap, and the guard keeps it until it has left.
        let entry = unsafe { frames::push(Target::context(&context)) };
        Self {
            entry,
            context,
            not_send: PhantomData,
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        frames::leave(self.entry);
    }
}

/// A span that its owner has made current on this thread. It has to be [left](Self::leave).
///
/// One word: where nothing is recorded, none at all. A span has one owner, and is entered by that once at a time, so the
/// span itself tells which entry to leave.
#[derive(Debug)]
pub(crate) struct Inside {
    // Dropping it here would leave the entry behind.
    span: ManuallyDrop<Span>,
    not_send: PhantomData<*const ()>,
}

impl Inside {
    pub(crate) const NOTHING: Self = Self {
        span: ManuallyDrop::new(Span::none()),
        not_send: PhantomData,
    };

    #[inline]
    pub(crate) fn enter(span: Span) -> Self {
        if let Some(target) = span.handle().target() {
            // SAFETY: the span stays in here until it is left. If that is forgotten, the span is never ended.
            unsafe { frames::push(target) };
        }
        Self {
            span: ManuallyDrop::new(span),
            not_send: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Gives the span back, which is not current any more.
    #[inline]
    pub(crate) fn leave(self) -> Span {
        if let Some(target) = self.span.handle().target() {
            frames::leave_span(target);
        }
        ManuallyDrop::into_inner(self.span)
    }
}

/// Runs `f` in a span, and leaves also what `f` has entered and forgotten.
#[inline]
pub(crate) fn run_in<R>(span: &Span, f: impl FnOnce() -> R) -> R {
    // SAFETY: the span is borrowed until this returns.
    let _scope = span
        .handle()
        .target()
        .map(|target| unsafe { Scope::new(target) });
    f()
}

/// Runs `f` in a context.
pub(crate) fn run_in_context<R>(context: &Context, f: impl FnOnce() -> R) -> R {
    // SAFETY: the context is borrowed until this returns.
    let _scope = unsafe { Scope::new(Target::context(context)) };
    f()
}

struct Scope(Entry);

impl Scope {
    /// # Safety
    ///
    /// As for [`frames::push`]; the scope must be dropped.
    #[inline]
    unsafe fn new(target: Target) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { frames::push(target) })
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        frames::leave_scope(self.0);
    }
}

/// A span around the work of what stands before this in a struct, and around its drop.
///
/// Dropping this ends the span.
#[derive(Debug)]
pub(crate) struct Around {
    /// While what stands before is dropped, the entry of the span, which the span is known by alone.
    span: Span,
}

impl Around {
    #[inline]
    pub(crate) const fn new(span: Span) -> Self {
        Self { span }
    }

    #[inline]
    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Takes the span out, so that nothing is left to do.
    pub(crate) fn take(&mut self) -> Span {
        let mut span = std::mem::take(&mut self.span);
        if let Held::Borrowed(entry) = span.handle().held()
            && let Some(target) = frames::take_back(entry)
        {
            // SAFETY: the entry was made in `enter_span`, which has put away the handle that had this target.
            span = Span::of(unsafe { Handle::of_target(target) });
        }
        span
    }

    /// Makes the span current until this is dropped or the span taken out.
    #[inline]
    pub(crate) fn enter(&mut self) {
        if !self.span.is_nothing() {
            self.enter_span();
        }
    }

    #[inline(never)]
    fn enter_span(&mut self) {
        let span = self.take();
        if let Some(target) = span.handle().target() {
            // SAFETY: the span is forgotten, so it stays for good, unless it is taken back together with its entry.
            let entry = unsafe { frames::push(target) };
            std::mem::forget(span);
            self.span = Span::of(Started::Borrowed(entry).into());
        }
    }

    #[inline(never)]
    fn finish(&mut self) {
        // A panic that unwinds meanwhile came from elsewhere.
        self.take().end();
    }
}

impl Drop for Around {
    #[inline]
    fn drop(&mut self) {
        if !self.span.is_nothing() {
            self.finish();
        }
    }
}
