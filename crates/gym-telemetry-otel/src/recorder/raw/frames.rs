//! The current context of each thread.
//!
//! A stack of what was entered and not left. A span that is entered hides the span below it and nothing else; a
//! context hides everything below it. Guards know their entry by a number that is never used again, or by the span that they
//! own and that nobody else can have entered for longer, so dropping them in any order, or on top of entries that a task
//! has left behind, removes the right one or nothing.

use std::cell::{Cell, UnsafeCell};
use std::cmp::Ordering;
use std::mem::ManuallyDrop;
use std::num::NonZeroU64;
use std::ptr::NonNull;

use super::super::link::Link;
use super::slot::{Owned, Slot, Writer};
use crate::context::Context;

/// How many frames need no memory of their own.
const INLINE: usize = 16;

thread_local! {
    // Without a destructor, so that it is reached without a check and works in destructors of other thread locals.
    static FRAMES: Frames = const { Frames::new() };
}

/// What a frame points at, in one word. Whoever pushes the frame keeps that alive and in place until the frame is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target(NonNull<()>);

/// The bits of the word that tell what it is; what it points at is aligned to more. One number is left to
/// [`Handle`](super::Handle), which makes the words of spans.
const KIND: usize = 3;
const SPAN: usize = 0;
const PASSIVE: usize = 1;
const CONTEXT: usize = 3;

/// What a target is.
enum Shown<'a> {
    Span(Writer<'a>),
    Passive(&'a Link),
    Context(&'a Context),
}

impl Target {
    #[inline]
    pub(super) fn span(slot: NonNull<Slot>) -> Self {
        Self(slot.cast())
    }

    pub(super) fn context(context: &Context) -> Self {
        // SAFETY: the context takes more bytes than that.
        Self(unsafe { NonNull::from_ref(context).cast().byte_add(CONTEXT) })
    }

    /// The target that a handle has made the word of.
    #[inline]
    pub(super) fn of_word(word: NonNull<()>) -> Self {
        Self(word)
    }

    #[inline]
    pub(super) fn word(self) -> NonNull<()> {
        self.0
    }

    /// # Safety
    ///
    /// What it points at must be there for as long as this is used.
    #[inline]
    unsafe fn show<'a>(self) -> Shown<'a> {
        const {
            assert!(align_of::<Slot>() > KIND);
            assert!(align_of::<Link>() > KIND && align_of::<Context>() > KIND);
        }
        let kind = self.0.addr().get() & KIND;
        // SAFETY: the word was made of what its kind says, which is there.
        unsafe {
            match kind {
                SPAN => Shown::Span(Writer::borrowed(self.0.cast())),
                PASSIVE => Shown::Passive(self.0.byte_sub(PASSIVE).cast().as_ref()),
                _ => Shown::Context(self.0.byte_sub(CONTEXT).cast().as_ref()),
            }
        }
    }
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
        let len = self.len.get() - 1;
        match self.inline.get(len) {
            Some(below) => {
                self.top.set(below.get());
                self.len.set(len);
            }
            None => self.truncate(len),
        }
    }

    fn place_of(&self, entry: Entry) -> Option<usize> {
        (0..self.len.get())
            .rev()
            .find(|index| self.get(*index).is_some_and(|frame| frame.entry == entry))
    }

    /// Keeps `len` frames, fewer than there are.
    #[cold]
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
        // SAFETY: a frame on the stack points at what is there. The references are gone before anything else happens.
        match unsafe { self.target.show() } {
            Shown::Span(span) => Some(span.link()),
            Shown::Passive(link) => Some(link.clone()),
            Shown::Context(context) => context.link().cloned(),
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

/// Leaves an entry and everything that was entered after it, and tells what the entry was of; `None` if it was left before.
pub(super) fn take_back(entry: Entry) -> Option<Target> {
    FRAMES.with(|frames| {
        let place = frames.place_of(entry)?;
        let target = frames.get(place)?.target;
        frames.truncate(place);
        Some(target)
    })
}

/// What a new span hangs on.
#[inline]
pub(crate) fn current_link() -> Option<Link> {
    // SAFETY: it is on the stack.
    FRAMES.with(|frames| frames.top.get().and_then(|frame| unsafe { frame.link() }))
}

/// What a new span hangs on, looked at without taking anything out of it.
#[derive(Debug)]
pub(crate) enum Above<'a> {
    Nothing,
    /// A span that is recorded.
    Span(Writer<'a>),
    Link(&'a Link),
}

/// Gives `f`, which must not run foreign code, what a new span hangs on.
#[inline]
pub(crate) fn with_above<T>(f: impl FnOnce(Above<'_>) -> T) -> T {
    let top = FRAMES.with(|frames| frames.top.get());
    // SAFETY: the frame is on the stack, and `f` leaves it there.
    f(match top.map(|frame| unsafe { frame.target.show() }) {
        None => Above::Nothing,
        Some(Shown::Span(span)) => Above::Span(span),
        Some(Shown::Passive(link)) => Above::Link(link),
        Some(Shown::Context(context)) => context.link().map_or(Above::Nothing, Above::Link),
    })
}

/// Everything that has to follow the work elsewhere.
pub(crate) fn current_context() -> Context {
    let context = FRAMES.with(|frames| {
        let mut indices = (0..frames.len.get()).rev();
        indices.find_map(|index| {
            // SAFETY: the frame is on the stack, so the context is there.
            match unsafe { frames.get(index)?.target.show() } {
                Shown::Context(context) => Some(context.clone()),
                _ => None,
            }
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
            // SAFETY: it is on the stack.
            let is_current = match unsafe { frame.target.show() } {
                Shown::Span(span) => span.link().span_id == Some(current),
                _ => false,
            };
            is_current.then_some(frame.entry)
        })
    })
}

/// Gives `f`, which must not run foreign code, the span of an entry, if it was not left.
pub(crate) fn with_entry<T>(entry: Entry, f: impl FnOnce(&Owned) -> T) -> Option<T> {
    let frame = FRAMES.with(|frames| frames.get(frames.place_of(entry)?))?;
    // SAFETY: the frame is on the stack, so the span is open and its handle kept on this thread; `f` does not end it.
    match unsafe { frame.target.show() } {
        Shown::Span(span) => Some(f(&span)),
        _ => None,
    }
}
