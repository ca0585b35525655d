//! The current context of each thread.
//!
//! A stack of what was entered and not left. A span that is entered hides the span below it and nothing else; a
//! context hides everything below it. Guards remember their entry by a number that is never used again, so
//! dropping them in any order, or on top of entries that a task has left behind, removes the right one or nothing.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::super::link::Link;
use super::slot::{Owned, Slot};
use crate::context::Context;

/// How many frames need no memory of their own.
const INLINE: usize = 16;

thread_local! {
    // Without a destructor, so that it is reached without a check and works in destructors of other thread locals.
    static FRAMES: Frames = const { Frames::new() };
}

/// What a frame points at. Whoever pushes the frame keeps that alive and in place until the frame is gone.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Span(NonNull<Slot>),
    Passive(NonNull<Link>),
    Context(NonNull<Context>),
}

/// Identifies one frame for as long as the thread lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

#[derive(Clone, Copy)]
struct Frame {
    entry: Entry,
    target: Target,
}

struct Frames {
    len: Cell<usize>,
    next: Cell<u64>,
    inline: [Cell<Option<Frame>>; INLINE],
    /// Frames beyond; empty in normal life.
    more: UnsafeCell<ManuallyDrop<Vec<Frame>>>,
}

impl Frames {
    const fn new() -> Self {
        Self {
            len: Cell::new(0),
            next: Cell::new(0),
            inline: [const { Cell::new(None) }; INLINE],
            more: UnsafeCell::new(ManuallyDrop::new(Vec::new())),
        }
    }

    #[inline]
    fn get(&self, index: usize) -> Option<Frame> {
        match self.inline.get(index) {
            Some(frame) => frame.get(),
            None => self.beyond(index),
        }
    }

    #[cold]
    fn beyond(&self, index: usize) -> Option<Frame> {
        // SAFETY: this thread alone has access, and no reference is kept.
        let more = unsafe { &*self.more.get() };
        more.get(index - INLINE).copied()
    }

    #[inline]
    fn push(&self, target: Target) -> Entry {
        let entry = Entry(self.next.get());
        self.next.set(entry.0 + 1);
        let len = self.len.get();
        let frame = Frame { entry, target };
        match self.inline.get(len) {
            Some(place) => place.set(Some(frame)),
            None => self.push_beyond(frame),
        }
        self.len.set(len + 1);
        entry
    }

    #[cold]
    fn push_beyond(&self, frame: Frame) {
        // SAFETY: as in `beyond`.
        let more = unsafe { &mut *self.more.get() };
        more.push(frame);
    }

    #[inline]
    fn top(&self) -> Option<Frame> {
        self.get(self.len.get().checked_sub(1)?)
    }

    fn place_of(&self, entry: Entry) -> Option<usize> {
        (0..self.len.get())
            .rev()
            .find(|index| self.get(*index).is_some_and(|frame| frame.entry == entry))
    }

    #[inline]
    fn truncate(&self, len: usize) {
        if self.len.get() > INLINE {
            self.truncate_beyond(len);
        }
        self.len.set(len);
    }

    #[cold]
    fn truncate_beyond(&self, len: usize) {
        // SAFETY: as in `beyond`.
        let more = unsafe { &mut *self.more.get() };
        more.truncate(len.saturating_sub(INLINE));
        if more.is_empty() {
            // Nobody else would give the memory back.
            **more = Vec::new();
        }
    }

    #[cold]
    #[inline(never)]
    fn remove(&self, entry: Entry) {
        let Some(place) = self.place_of(entry) else {
            return;
        };
        let above: Vec<_> = (place + 1..self.len.get())
            .filter_map(|index| self.get(index))
            .collect();
        self.truncate(place);
        for frame in above {
            match self.inline.get(self.len.get()) {
                Some(place) => place.set(Some(frame)),
                None => self.push_beyond(frame),
            }
            self.len.set(self.len.get() + 1);
        }
    }
}

impl Frame {
    /// # Safety
    ///
    /// The frame must be on the stack of this thread.
    #[inline]
    unsafe fn link(&self) -> Option<Link> {
        // SAFETY: a frame on the stack points at what is there. The handle is gone before anything else happens.
        unsafe {
            match self.target {
                Target::Span(slot) => Some(Owned::borrowed(slot).link()),
                Target::Passive(link) => Some(link.as_ref().clone()),
                Target::Context(context) => context.as_ref().link().cloned(),
            }
        }
    }
}

/// Makes something current.
///
/// # Safety
///
/// What `target` points at must stay until the frame is gone.
#[inline]
pub(super) unsafe fn push(target: Target) -> Entry {
    FRAMES.with(|frames| frames.push(target))
}

/// Leaves one entry, wherever it is in the stack.
#[inline]
pub(super) fn leave(entry: Entry) {
    FRAMES.with(|frames| match frames.top() {
        Some(top) if top.entry == entry => frames.truncate(frames.len.get() - 1),
        _ => frames.remove(entry),
    });
}

/// Leaves an entry and everything that was entered after it and not left.
#[inline]
pub(super) fn leave_scope(entry: Entry) {
    FRAMES.with(|frames| match frames.top() {
        Some(top) if top.entry == entry => frames.truncate(frames.len.get() - 1),
        _ => {
            if let Some(place) = frames.place_of(entry) {
                frames.truncate(place);
            }
        }
    });
}

/// What a new span hangs on.
#[inline]
pub(crate) fn current_link() -> Option<Link> {
    // SAFETY: it is on the stack.
    FRAMES.with(|frames| frames.top().and_then(|frame| unsafe { frame.link() }))
}

/// Everything that has to follow the work elsewhere.
pub(crate) fn current_context() -> Context {
    let context = FRAMES.with(|frames| {
        let mut indices = (0..frames.len.get()).rev();
        indices.find_map(|index| match frames.get(index)?.target {
            // SAFETY: the frame is on the stack, so the context is there.
            Target::Context(context) => Some(unsafe { context.as_ref() }.clone()),
            _ => None,
        })
    });
    context.unwrap_or_default().with_link(current_link())
}

/// The entry of the current span, if it is recorded and was entered on this thread, and not merely carried to it.
pub(crate) fn current_entry() -> Option<Entry> {
    let current = current_link()?.span_id?;
    FRAMES.with(|frames| {
        (0..frames.len.get()).rev().find_map(|index| {
            let frame = frames.get(index)?;
            let is_span = matches!(frame.target, Target::Span(_));
            // SAFETY: it is on the stack.
            let is_current =
                || unsafe { frame.link() }.is_some_and(|link| link.span_id == Some(current));
            (is_span && is_current()).then_some(frame.entry)
        })
    })
}

/// Gives `f`, which must not run foreign code, the span of an entry, if it was not left.
pub(crate) fn with_entry<T>(entry: Entry, f: impl FnOnce(&Owned) -> T) -> Option<T> {
    let frame = FRAMES.with(|frames| frames.get(frames.place_of(entry)?))?;
    match frame.target {
        // SAFETY: the frame is on the stack, so the span is open and its handle kept on this thread; `f` does not end it.
        Target::Span(slot) => Some(f(&unsafe { Owned::borrowed(slot) })),
        _ => None,
    }
}
