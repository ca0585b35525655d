//! The current context of each thread.
//!
//! A stack of what was entered and not left. A span that is entered hides the span below it and nothing else; a
//! context hides everything below it. Guards remember their entry by a number that is never used again, so
//! dropping them in any order, or on top of entries that a task has left behind, removes the right one or nothing.

use std::cell::{Cell, UnsafeCell};
use std::cmp::Ordering;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::ptr::NonNull;

use super::super::link::Link;
use super::slot::{Family, Owned, Slot};
use crate::context::Context;

/// How many frames need no memory of their own.
const INLINE: usize = 16;

thread_local! {
    // Without a destructor, so that it is reached without a check and works in destructors of other thread locals.
    static FRAMES: Frames = const { Frames::new() };
}

/// What a frame points at. Whoever pushes the frame keeps that alive and in place until the frame is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Span(NonNull<Slot>),
    Passive(NonNull<Link>),
    Context(NonNull<Context>),
}

/// Identifies one frame for as long as the thread lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(super) NonZeroU64);

#[derive(Clone, Copy)]
struct Frame {
    entry: Entry,
    target: Target,
}

struct Frames {
    /// The last frame, which is looked at most.
    top: Cell<Option<Frame>>,
    /// How many frames are below the last one, and one more if there is a last one.
    len: Cell<usize>,
    next: Cell<NonZeroU64>,
    /// What was the last frame when there were so many: nothing, the first frame, and so on.
    inline: [Cell<Option<Frame>>; INLINE],
    /// Frames beyond; empty in normal life.
    more: UnsafeCell<ManuallyDrop<Vec<Frame>>>,
}

impl Frames {
    const fn new() -> Self {
        Self {
            top: Cell::new(None),
            len: Cell::new(0),
            next: Cell::new(NonZeroU64::MIN),
            inline: [const { Cell::new(None) }; INLINE],
            more: UnsafeCell::new(ManuallyDrop::new(Vec::new())),
        }
    }

    /// The frame above `index` others.
    fn get(&self, index: usize) -> Option<Frame> {
        match (index + 1).cmp(&self.len.get()) {
            Ordering::Less => self.top_of(index + 1),
            Ordering::Equal => self.top.get(),
            Ordering::Greater => None,
        }
    }

    /// What is the last frame of `len`, fewer than there are.
    #[inline]
    fn top_of(&self, len: usize) -> Option<Frame> {
        match self.inline.get(len) {
            Some(frame) => frame.get(),
            None => self.beyond(len),
        }
    }

    #[cold]
    fn beyond(&self, len: usize) -> Option<Frame> {
        // SAFETY: this thread alone has access, and no reference is kept.
        let more = unsafe { &*self.more.get() };
        more.get(len - INLINE).copied()
    }

    #[inline]
    fn push(&self, target: Target) -> Entry {
        let entry = Entry(self.next.get());
        // A thread that enters a billion spans a second has enough of them for centuries.
        self.next.set(entry.0.saturating_add(1));
        self.put(Frame { entry, target });
        entry
    }

    #[inline]
    fn put(&self, frame: Frame) {
        let len = self.len.get();
        match self.inline.get(len) {
            Some(place) => place.set(self.top.get()),
            None => self.put_beyond(),
        }
        self.top.set(Some(frame));
        self.len.set(len + 1);
    }

    #[cold]
    fn put_beyond(&self) {
        // SAFETY: as in `beyond`.
        let more = unsafe { &mut *self.more.get() };
        more.extend(self.top.get());
    }

    /// Removes the last frame, of which there must be one.
    #[inline]
    fn pop(&self) {
        self.truncate(self.len.get() - 1);
    }

    fn place_of(&self, entry: Entry) -> Option<usize> {
        (0..self.len.get())
            .rev()
            .find(|index| self.get(*index).is_some_and(|frame| frame.entry == entry))
    }

    /// Keeps `len` frames, fewer than there are.
    #[inline]
    fn truncate(&self, len: usize) {
        self.top.set(self.top_of(len));
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
            self.put(frame);
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
    FRAMES.with(|frames| match frames.top.get() {
        Some(top) if top.entry == entry => frames.pop(),
        _ => frames.remove(entry),
    });
}

/// Leaves the entry of a span that was entered by its owner, wherever it is in the stack.
#[inline]
pub(super) fn leave_span(target: Target) {
    FRAMES.with(|frames| match frames.top.get() {
        Some(top) if top.target == target => frames.pop(),
        _ => leave_span_below(frames, target),
    });
}

#[cold]
#[inline(never)]
fn leave_span_below(frames: &Frames, target: Target) {
    let entry = (0..frames.len.get())
        .filter_map(|index| frames.get(index))
        .find(|frame| frame.target == target);
    if let Some(frame) = entry {
        frames.remove(frame.entry);
    }
}

/// Leaves an entry and everything that was entered after it and not left.
#[inline]
pub(super) fn leave_scope(entry: Entry) {
    FRAMES.with(|frames| match frames.top.get() {
        Some(top) if top.entry == entry => frames.pop(),
        _ => leave_scope_below(frames, entry),
    });
}

#[cold]
#[inline(never)]
fn leave_scope_below(frames: &Frames, entry: Entry) {
    if let Some(place) = frames.place_of(entry) {
        frames.truncate(place);
    }
}

/// What a new span hangs on.
#[inline]
pub(crate) fn current_link() -> Option<Link> {
    // SAFETY: it is on the stack.
    FRAMES.with(|frames| frames.top.get().and_then(|frame| unsafe { frame.link() }))
}

/// What a new span hangs on, looked at without taking anything out of it.
#[derive(Debug)]
pub(crate) enum Above {
    /// Nothing.
    Nothing,
    /// A span that is recorded, or a trace whose root was dropped, with nothing special about it.
    Span(Family),
    /// A trace that is not sampled, as was decided in this process.
    Unsampled,
    /// Something else.
    Other,
}

impl Above {
    #[inline]
    fn of(link: &Link) -> Self {
        if link.is_remote {
            Self::Other
        } else if !link.flags.is_sampled() {
            Self::Unsampled
        } else if link.trace_state.is_empty() {
            Self::Span(Family {
                trace_id: link.trace_id,
                parent: link.span_id,
                flags: link.flags,
            })
        } else {
            Self::Other
        }
    }
}

/// What a new span hangs on.
#[inline]
pub(crate) fn above() -> Above {
    FRAMES.with(|frames| {
        let Some(frame) = frames.top.get() else {
            return Above::Nothing;
        };
        // SAFETY: a frame on the stack points at what is there. The references are gone before anything else happens.
        unsafe {
            match frame.target {
                Target::Span(slot) => Owned::borrowed(slot)
                    .family()
                    .map_or(Above::Other, Above::Span),
                Target::Passive(link) => Above::of(link.as_ref()),
                Target::Context(context) => {
                    context.as_ref().link().map_or(Above::Nothing, Above::of)
                }
            }
        }
    })
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
