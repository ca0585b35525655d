//! What makes spans and contexts current, and keeps them for as long as they are.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::start::Started;
use super::frames::{self, Entry, Target};
use crate::context::Context;
use crate::span::Span;

/// What can be made current.
///
/// # Safety
///
/// What the target points at must stay in place, also when the implementor is moved or forgotten, until the implementor
/// is dropped or used through a mutable reference.
pub(crate) unsafe trait Anchored {
    /// What becomes current; `None` if entering changes nothing.
    #[doc(hidden)]
    fn target(&self) -> Option<TargetOf>;
}

/// Hides what a target is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetOf(Target);

// SAFETY: a slot is never unmapped, its span ends by value only, and the link is on the heap.
unsafe impl Anchored for Span {
    #[inline]
    fn target(&self) -> Option<TargetOf> {
        match self.started() {
            Started::Nothing | Started::Borrowed(_) => None,
            Started::Recorded(span) => Some(TargetOf(Target::Span(span.address()))),
            Started::Passive(link) => Some(TargetOf(Target::Passive(
                NonNull::new(Arc::as_ptr(link).cast_mut()).expect("an Arc is not null"),
            ))),
        }
    }
}

// SAFETY: the context is on the heap.
unsafe impl Anchored for Box<Context> {
    fn target(&self) -> Option<TargetOf> {
        Some(TargetOf(Target::Context(NonNull::from_ref(&**self))))
    }
}

/// Something that is current on this thread until this is dropped.
#[derive(Debug)]
pub(crate) struct Guard<T: Anchored> {
    entry: Option<Entry>,
    target: T,
    not_send: PhantomData<*const ()>,
}

impl<T: Anchored> Guard<T> {
    #[inline]
    pub(crate) fn enter(target: T) -> Self {
        // SAFETY: the guard keeps the target until it leaves, and shows it by shared reference only.
        let entry = target
            .target()
            .map(|TargetOf(target)| unsafe { frames::push(target) });
        Self {
            entry,
            target,
            not_send: PhantomData,
        }
    }

    /// Leaves and gives back what was entered.
    #[inline]
    pub(crate) fn exit(mut self) -> T
    where
        T: Default,
    {
        self.leave();
        std::mem::take(&mut self.target)
    }

    #[inline]
    fn leave(&mut self) {
        if let Some(entry) = self.entry.take() {
            frames::leave(entry);
        }
    }
}

impl<T: Anchored> Deref for Guard<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.target
    }
}

impl<T: Anchored> Drop for Guard<T> {
    #[inline]
    fn drop(&mut self) {
        // What was entered is dropped after this, outside of itself.
        self.leave();
    }
}

/// Runs `f` with `target` as current, and leaves also what `f` has entered and forgotten.
#[inline]
pub(crate) fn run_in<T: Anchored, R>(target: &T, f: impl FnOnce() -> R) -> R {
    // SAFETY: the target is borrowed until this returns.
    let _scope = target
        .target()
        .map(|TargetOf(target)| unsafe { Scope::new(target) });
    f()
}

/// Runs `f` in a context.
pub(crate) fn run_in_context<R>(context: &Context, f: impl FnOnce() -> R) -> R {
    // SAFETY: the context is borrowed until this returns.
    let _scope = unsafe { Scope::new(Target::Context(NonNull::from_ref(context))) };
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
