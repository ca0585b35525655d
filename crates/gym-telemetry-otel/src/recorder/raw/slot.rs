//! The record of one span.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use gym_telemetry_core::{SpanId, SpanKind, TraceFlags, TraceId, TraceState, Value, scope};
use parking_lot::Mutex;

use super::super::Recorder;
use super::super::body::Body;
use super::super::clock::Tick;
use super::super::link::Link;
use super::log::{self, About, Entry, MAX_ENTRY, Scratch, Text};
use super::{list, pool};
use crate::options::{SpanOptions, StatusStyle};

/// Words of the log inside a slot.
const WORDS: usize = 17;
/// The most continuations of a log. A span that wants more goes to the heap.
const MAX_PARTS: usize = 7;

/// A record: four cache lines, of which a span with two small attributes touches the first two.
///
/// The plain fields are written by the one thread that may, and read by others only after they have seen the `meta`
/// word that was stored after the writing.
#[repr(C, align(64))]
pub(super) struct Slot {
    trace_id: UnsafeCell<[u8; 16]>,
    span_id: UnsafeCell<[u8; 8]>,
    pub(super) meta: AtomicU64,
    parent: UnsafeCell<[u8; 8]>,
    start: UnsafeCell<Tick>,
    end: UnsafeCell<Tick>,
    name: UnsafeCell<MaybeUninit<*const u8>>,

    /// The next slot of a chain of free ones or of a list of ended ones.
    pub(super) next: AtomicPtr<Slot>,
    name_len: UnsafeCell<usize>,
    log: UnsafeCell<[MaybeUninit<u64>; WORDS]>,
    /// Continuations of the log.
    first_part: UnsafeCell<*mut Part>,
    last_part: UnsafeCell<*mut Part>,
    /// All that can change, if the log could not hold it.
    heap: UnsafeCell<*mut Mutex<Body>>,
    trace_state: UnsafeCell<MaybeUninit<TraceState>>,
}

/// A continuation of a log.
#[repr(C, align(64))]
pub(super) struct Part {
    next: AtomicPtr<Part>,
    words: UnsafeCell<[MaybeUninit<u64>; MAX_ENTRY]>,
}

const _: () = assert!(size_of::<Slot>() == 256 && size_of::<Part>() == 256);

// SAFETY: all fields may be zero: numbers, pointers, and what `meta` says is not there.
unsafe impl pool::Block for Slot {
    #[inline]
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

// SAFETY: as above.
unsafe impl pool::Block for Part {
    #[inline]
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

/// The bits of a slot's `meta` word. It is always written whole, by the slot's one writer.
mod meta {
    pub(super) const STATE: u64 = 3;
    pub(super) const OPEN: u64 = 1;
    pub(super) const ENDED: u64 = 2;
    /// The telemetry thread has it.
    pub(super) const TAKEN: u64 = 3;
    pub(super) const KIND_SHIFT: u32 = 2;
    pub(super) const KIND: u64 = 7 << KIND_SHIFT;
    pub(super) const FLAGS_SHIFT: u32 = 5;
    pub(super) const FLAGS: u64 = 3 << FLAGS_SHIFT;
    pub(super) const HAS_PARENT: u64 = 1 << 7;
    pub(super) const REMOTE_PARENT: u64 = 1 << 8;
    pub(super) const TRACE_STATE: u64 = 1 << 9;
    pub(super) const NO_EXCEPTION: u64 = 1 << 10;
    pub(super) const TYPE_IN_STATUS: u64 = 1 << 11;
    pub(super) const STARTED_PANICKING: u64 = 1 << 12;
    pub(super) const LENS_SCOPE: u64 = 1 << 13;
    /// The heap holds all that can change; the log is history.
    pub(super) const HEAP: u64 = 1 << 14;
    pub(super) const WORDS_SHIFT: u32 = 32;
    /// One word.
    pub(super) const WORD: u64 = 1 << WORDS_SHIFT;

    /// How many words of the log are committed.
    #[inline]
    pub(super) const fn words(meta: u64) -> usize {
        (meta >> WORDS_SHIFT) as usize
    }

    #[inline]
    pub(super) const fn with_words(meta: u64, words: usize) -> u64 {
        meta & ((1 << WORDS_SHIFT) - 1) | (words as u64) << WORDS_SHIFT
    }
}

/// A log that takes nothing any more has so many words.
const CLOSED: usize = 1 << 20;

/// What a span is started with.
pub(crate) struct Header {
    pub trace_id: TraceId,
    pub span_id: SpanId,
    pub flags: TraceFlags,
    pub parent: Option<SpanId>,
    pub parent_is_remote: bool,
    pub trace_state: TraceState,
    pub kind: SpanKind,
    pub scope: &'static str,
    pub start: Tick,
    pub name: &'static str,
    pub record_exception: bool,
    pub status_style: StatusStyle,
    pub started_panicking: bool,
}

/// What a span is like, of which most places in a program know all before they run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits(u64);

impl Traits {
    /// The traits of a span that has no links and whose scope is one of the usual ones.
    #[inline]
    pub(crate) fn of(options: &SpanOptions<'_>) -> Option<Self> {
        let scope = if is_text(options.scope, scope::HELPERS) {
            0
        } else if is_text(options.scope, scope::LENS) {
            meta::LENS_SCOPE
        } else {
            return None;
        };
        options.links.is_empty().then(|| {
            Self(
                scope
                    | kind_bits(options.kind)
                    | flag(!options.record_exception, meta::NO_EXCEPTION)
                    | flag(
                        options.status_style == StatusStyle::TypeAndMessage,
                        meta::TYPE_IN_STATUS,
                    ),
            )
        })
    }
}

/// Which text it is tells the address already, unless the compiler has made a second copy of it.
#[inline]
fn is_text(text: &'static str, known: &'static str) -> bool {
    std::ptr::eq(text, known) || text == known
}

/// Where a span stands in its trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub trace_id: TraceId,
    /// The span that is above it in this process.
    pub parent: Option<SpanId>,
    pub flags: TraceFlags,
}

/// A slot that is not a span yet.
///
/// The handle of a slot of its own: what is written is not to be seen by others before [`open`](Self::open).
pub(crate) struct Draft(Owned);

impl Draft {
    /// Takes a free slot; `None` if there is none.
    #[inline]
    pub(crate) fn take(recorder: &'static Recorder) -> Option<Self> {
        list::take(recorder).map(|slot| Self(Owned(slot)))
    }

    /// Writes the header of a child that inherits no trace state.
    #[inline]
    pub(crate) fn write_child(
        &self,
        parent: &Owned,
        span_id: SpanId,
        start: Tick,
        name: &'static str,
        traits: Traits,
    ) {
        let (slot, above) = (self.0.slot(), parent.slot());
        let flags = above.meta.load(Ordering::Relaxed) & meta::FLAGS;
        let panicking = flag(std::thread::panicking(), meta::STARTED_PANICKING);
        // SAFETY: the slot is this draft's alone, and the name is static. The parent's header was written before its
        // handle was made.
        unsafe {
            *slot.trace_id.get() = *above.trace_id.get();
            *slot.span_id.get() = span_id.to_bytes();
            *slot.parent.get() = *above.span_id.get();
            *slot.start.get() = start;
            (*slot.name.get()).write(name.as_ptr());
            *slot.name_len.get() = name.len();
        }
        let meta = traits.0 | meta::HAS_PARENT | flags | panicking;
        slot.meta.store(meta, Ordering::Relaxed);
    }

    /// Writes the header of a span with nothing special about it.
    #[inline]
    pub(crate) fn write_plain(
        &self,
        family: Family,
        span_id: SpanId,
        start: Tick,
        name: &'static str,
        traits: Traits,
    ) {
        let slot = self.0.slot();
        let meta = traits.0
            | u64::from(family.flags.bits()) << meta::FLAGS_SHIFT
            | flag(family.parent.is_some(), meta::HAS_PARENT)
            | flag(std::thread::panicking(), meta::STARTED_PANICKING);
        // SAFETY: the slot is this draft's alone, and the name is static.
        unsafe {
            *slot.trace_id.get() = family.trace_id.to_bytes();
            *slot.span_id.get() = span_id.to_bytes();
            if let Some(parent) = family.parent {
                *slot.parent.get() = parent.to_bytes();
            }
            *slot.start.get() = start;
            (*slot.name.get()).write(name.as_ptr());
            *slot.name_len.get() = name.len();
        }
        slot.meta.store(meta, Ordering::Relaxed);
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn write(&self, header: Header) {
        let slot = self.0.slot();
        let mut meta = kind_bits(header.kind)
            | u64::from(header.flags.bits()) << meta::FLAGS_SHIFT
            | flag(header.parent.is_some(), meta::HAS_PARENT)
            | flag(header.parent_is_remote, meta::REMOTE_PARENT)
            | flag(!header.record_exception, meta::NO_EXCEPTION)
            | flag(header.started_panicking, meta::STARTED_PANICKING)
            | flag(
                header.status_style == StatusStyle::TypeAndMessage,
                meta::TYPE_IN_STATUS,
            );
        // SAFETY: the slot is this draft's alone, and the texts are static.
        unsafe {
            *slot.trace_id.get() = header.trace_id.to_bytes();
            *slot.span_id.get() = header.span_id.to_bytes();
            if let Some(parent) = header.parent {
                *slot.parent.get() = parent.to_bytes();
            }
            *slot.start.get() = header.start;
            (*slot.name.get()).write(header.name.as_ptr());
            *slot.name_len.get() = header.name.len();
            if !header.trace_state.is_empty() {
                (*slot.trace_state.get()).write(header.trace_state);
                meta |= meta::TRACE_STATE;
            }
        }
        if is_text(header.scope, scope::HELPERS) {
            slot.meta.store(meta, Ordering::Relaxed);
        } else if header.scope == scope::LENS {
            slot.meta.store(meta | meta::LENS_SCOPE, Ordering::Relaxed);
        } else {
            slot.meta.store(meta, Ordering::Relaxed);
            self.0.append_text(About::Scope, Text::Static(header.scope));
        }
    }

    /// What can already be written as to an open span.
    #[inline]
    pub(crate) fn record(&self) -> &Owned {
        &self.0
    }

    /// Makes it an open span: from here on a shutdown sees it.
    #[inline]
    pub(crate) fn open(self) -> Owned {
        let slot = self.0.slot();
        let meta = slot.meta.load(Ordering::Relaxed);
        slot.meta.store(meta | meta::OPEN, Ordering::Release);
        self.0
    }
}

#[inline]
const fn flag(is_set: bool, bit: u64) -> u64 {
    if is_set { bit } else { 0 }
}

#[inline]
const fn kind_bits(kind: SpanKind) -> u64 {
    let number = match kind {
        SpanKind::Internal => 0,
        SpanKind::Server => 1,
        SpanKind::Client => 2,
        SpanKind::Producer => 3,
        SpanKind::Consumer => 4,
    };
    number << meta::KIND_SHIFT
}

/// The only handle of an open span. It can be sent to another thread, and not be shared with one.
///
/// Dropping it does not end the span: it stays open.
#[derive(Debug)]
pub(crate) struct Owned(NonNull<Slot>);

// SAFETY: a slot belongs to no thread, and whoever sends the handle does not keep one.
unsafe impl Send for Owned {}

// A panic can leave a span without what was to be set on it, which is no more than a panic says anyway.
impl UnwindSafe for Owned {}
impl RefUnwindSafe for Owned {}

/// A copy of the handle while that is borrowed, to be passed on in a register.
#[derive(Debug)]
pub(crate) struct Writer<'a>(ManuallyDrop<Owned>, PhantomData<&'a Owned>);

impl Writer<'_> {
    /// # Safety
    ///
    /// As for [`Owned::borrowed`].
    #[inline]
    pub(super) unsafe fn borrowed(slot: NonNull<Slot>) -> Self {
        Self(ManuallyDrop::new(Owned(slot)), PhantomData)
    }

    #[inline]
    pub(crate) fn copy(&self) -> Self {
        Self(ManuallyDrop::new(Owned(self.0.0)), PhantomData)
    }
}

impl<'a> From<&'a Owned> for Writer<'a> {
    #[inline]
    fn from(owned: &'a Owned) -> Self {
        Self(ManuallyDrop::new(Owned(owned.0)), PhantomData)
    }
}

impl Deref for Writer<'_> {
    type Target = Owned;

    #[inline]
    fn deref(&self) -> &Owned {
        &self.0
    }
}

impl Owned {
    /// A second handle for a moment.
    ///
    /// # Safety
    ///
    /// The slot must be that of an open span, and its true handle must stay where it is, on this thread, for as long as
    /// this one is used.
    #[inline]
    pub(super) unsafe fn borrowed(slot: NonNull<Slot>) -> Self {
        Self(slot)
    }

    #[inline]
    fn slot(&self) -> &Slot {
        // SAFETY: slots are never unmapped.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(super) fn address(&self) -> NonNull<Slot> {
        self.0
    }

    #[inline]
    pub(crate) fn recorder(&self) -> &'static Recorder {
        recorder_of(self.0)
    }

    /// The ids.
    #[inline]
    pub(crate) fn link(&self) -> Link {
        let meta = self.slot().meta.load(Ordering::Relaxed);
        // SAFETY: the header was written before the handle was made, and does not change while there is one.
        unsafe { link(self.slot(), meta) }
    }

    /// Whether its children inherit a trace state.
    #[inline]
    pub(crate) fn has_trace_state(&self) -> bool {
        self.slot().meta.load(Ordering::Relaxed) & meta::TRACE_STATE != 0
    }

    pub(crate) fn records_exceptions(&self) -> bool {
        self.slot().meta.load(Ordering::Relaxed) & meta::NO_EXCEPTION == 0
    }

    pub(crate) fn status_style(&self) -> StatusStyle {
        if self.slot().meta.load(Ordering::Relaxed) & meta::TYPE_IN_STATUS == 0 {
            StatusStyle::Message
        } else {
            StatusStyle::TypeAndMessage
        }
    }

    #[inline]
    pub(crate) fn started_panicking(&self) -> bool {
        self.slot().meta.load(Ordering::Relaxed) & meta::STARTED_PANICKING != 0
    }

    /// Adds an attribute to the log; whether it could be. If not, the [heap](Self::heap) takes it.
    #[inline]
    pub(crate) fn append_attribute(
        &self,
        key: &'static str,
        value: &Value<'_>,
        is_clear: bool,
    ) -> bool {
        let Some(size) = log::size_of_attribute(key, value) else {
            return false;
        };
        self.append(size, |to| {
            // SAFETY: there is room for the size.
            unsafe { log::write_attribute(to, key, value, is_clear, false) };
        })
    }

    /// Adds an event to the log; whether it could be.
    pub(crate) fn append_event(&self, name: &'static str, at: Tick, attributes: &Scratch) -> bool {
        let words = attributes.words();
        log::can_name_event(name)
            && self.append(log::EVENT_WORDS + words.len(), |to| {
                // SAFETY: there is room for the event and the words.
                unsafe {
                    log::write_event(to, name, at);
                    let to = to.add(log::EVENT_WORDS);
                    std::ptr::copy_nonoverlapping(words.as_ptr(), to, words.len());
                }
            })
    }

    /// Adds the status `Ok` to the log; whether it could be.
    pub(crate) fn append_ok(&self) -> bool {
        // SAFETY: there is room for one word.
        self.append(1, |to| unsafe { to.write(log::STATUS_OK) })
    }

    /// Adds an error status to the log; whether it could be.
    pub(crate) fn append_error(&self, description: Text<'_>) -> bool {
        self.append_text(About::Status, description)
    }

    /// Adds a change of the name to the log; whether it could be.
    pub(crate) fn append_name(&self, name: Text<'_>) -> bool {
        self.append_text(About::Name, name)
    }

    fn append_text(&self, about: About, text: Text<'_>) -> bool {
        let Some(size) = log::size_of_text(text) else {
            return false;
        };
        // SAFETY: there is room for the size.
        self.append(size, |to| unsafe { log::write_text(to, about, text) })
    }

    #[inline]
    fn append(&self, size: usize, write: impl FnOnce(*mut u64)) -> bool {
        let slot = self.slot();
        let meta = slot.meta.load(Ordering::Relaxed);
        let words = meta::words(meta);
        let (to, words) = if words + size <= WORDS {
            // SAFETY: the place is inside the log.
            (unsafe { slot.log.get().cast::<u64>().add(words) }, words)
        } else {
            // By value: the handle need not be in memory.
            match Self(self.0).find_room(words, size) {
                Some(room) => room,
                None => return false,
            }
        };
        // What is committed is not touched, and what is not is this handle's alone.
        write(to);
        // The words are the upper half, so that more are added by an addition.
        let meta = meta + ((words + size - meta::words(meta)) as u64) * meta::WORD;
        slot.meta.store(meta, Ordering::Release);
        true
    }

    /// Finds room behind the log's first part.
    #[cold]
    #[inline(never)]
    fn find_room(self, words: usize, size: usize) -> Option<(*mut u64, usize)> {
        if words == CLOSED || size > MAX_ENTRY {
            return None;
        }
        let slot = self.slot();
        let parts = words.saturating_sub(WORDS).div_ceil(MAX_ENTRY);
        let end = WORDS + parts * MAX_ENTRY;
        // SAFETY: the handle is the only one to use these pointers while the span is open, they point at parts that
        // belong to it, and all places are inside of the part or the log that they are in.
        unsafe {
            let place = |words: usize| {
                if parts == 0 {
                    slot.log.get().cast::<u64>().add(words)
                } else {
                    let start = end - MAX_ENTRY;
                    let part = *slot.last_part.get();
                    (*part).words.get().cast::<u64>().add(words - start)
                }
            };
            if words + size <= end {
                return Some((place(words), words));
            }
            if parts == MAX_PARTS {
                return None;
            }
            let part = list::take_part(self.recorder())?;
            part.as_ref()
                .next
                .store(std::ptr::null_mut(), Ordering::Relaxed);
            if words < end {
                place(words).write(log::END_OF_PART);
            }
            if parts == 0 {
                *slot.first_part.get() = part.as_ptr();
            } else {
                (**slot.last_part.get())
                    .next
                    .store(part.as_ptr(), Ordering::Relaxed);
            }
            *slot.last_part.get() = part.as_ptr();
            Some((part.as_ref().words.get().cast(), end))
        }
    }

    /// What can change about the span, moved to the heap if it is not there; `replay` makes it of the log. From then on
    /// the log takes nothing.
    pub(crate) fn heap(&self, replay: impl FnOnce(&Record) -> Body) -> &Mutex<Body> {
        let slot = self.slot();
        let meta = slot.meta.load(Ordering::Relaxed);
        if meta & meta::HEAP == 0 {
            let body = replay(&Record {
                slot: self.0,
                meta,
                cut_off_at: None,
                is_early: true,
            });
            // SAFETY: nobody reads the pointer before the word says so.
            unsafe { *slot.heap.get() = Box::into_raw(Box::new(Mutex::new(body))) };
            let meta = meta::with_words(meta | meta::HEAP, CLOSED);
            slot.meta.store(meta, Ordering::Release);
        }
        // SAFETY: the pointer was set, and is freed only when the slot is, long after this handle.
        unsafe { &**slot.heap.get() }
    }

    /// Ends the span and hands it to the telemetry thread.
    #[inline]
    pub(crate) fn end(self, at: Tick) {
        let slot = self.slot();
        // SAFETY: this handle is the only one, and `end` is read after the word says that the span has ended.
        unsafe { *slot.end.get() = at.max(*slot.start.get()) };
        let meta = slot.meta.load(Ordering::Relaxed);
        slot.meta
            .store(meta & !meta::STATE | meta::ENDED, Ordering::Release);
        list::push(self);
    }
}

#[inline]
pub(super) fn recorder_of(slot: NonNull<Slot>) -> &'static Recorder {
    let recorder = pool::owner_of(slot).cast::<Recorder>();
    // SAFETY: the pool was told its recorder, which lives as long as the program.
    unsafe { &*recorder }
}

/// # Safety
///
/// The header must have been written and published to this thread.
#[inline]
unsafe fn link(slot: &Slot, meta: u64) -> Link {
    // SAFETY: as the caller promises; the ids are not zero, since they were ids.
    unsafe {
        Link {
            trace_id: TraceId::from_bytes(*slot.trace_id.get()).unwrap_unchecked(),
            span_id: Some(SpanId::from_bytes(*slot.span_id.get()).unwrap_unchecked()),
            flags: flags(meta),
            trace_state: trace_state(slot, meta),
            is_remote: false,
        }
    }
}

#[inline]
fn flags(meta: u64) -> TraceFlags {
    TraceFlags::from_bits(((meta & meta::FLAGS) >> meta::FLAGS_SHIFT) as u8)
}

/// # Safety
///
/// As for [`link`].
#[inline]
unsafe fn trace_state(slot: &Slot, meta: u64) -> TraceState {
    if meta & meta::TRACE_STATE == 0 {
        return TraceState::EMPTY;
    }
    // SAFETY: the bit says that it was written.
    unsafe { (*slot.trace_state.get()).assume_init_ref() }.clone()
}

/// A span that the telemetry thread exports: one that has ended, or one that shutdown has cut off.
///
/// It is a view of a slot as one value of the `meta` word describes it.
#[derive(Debug)]
pub(crate) struct Record {
    slot: NonNull<Slot>,
    meta: u64,
    cut_off_at: Option<Tick>,
    /// Whether the span's owner may still use the slot.
    is_early: bool,
}

impl Record {
    /// Takes an ended span that nobody else has.
    ///
    /// # Safety
    ///
    /// Nobody else may use the slot until it is free again, and its end must have been seen.
    pub(super) unsafe fn of_ended(slot: NonNull<Slot>) -> Self {
        // SAFETY: slots are never unmapped.
        let meta = unsafe { slot.as_ref() }.meta.load(Ordering::Acquire);
        let taken = meta | meta::TAKEN;
        // SAFETY: as above.
        unsafe { slot.as_ref() }
            .meta
            .store(taken, Ordering::Relaxed);
        Self {
            slot,
            meta,
            cut_off_at: None,
            is_early: false,
        }
    }

    /// Looks at a slot at shutdown; `None` if there is no span in it that was not taken.
    pub(super) fn of_remaining(slot: NonNull<Slot>, now: Tick) -> Option<Self> {
        // SAFETY: slots are never unmapped.
        let meta = unsafe { slot.as_ref() }.meta.load(Ordering::Acquire);
        let cut_off_at = match meta & meta::STATE {
            meta::OPEN => Some(now),
            meta::ENDED => None,
            _ => return None,
        };
        Some(Self {
            slot,
            meta,
            cut_off_at,
            is_early: true,
        })
    }

    pub(super) fn is_early(&self) -> bool {
        self.is_early
    }

    #[inline]
    fn slot(&self) -> &Slot {
        // SAFETY: slots are never unmapped.
        unsafe { self.slot.as_ref() }
    }

    pub(super) fn address(&self) -> NonNull<Slot> {
        self.slot
    }

    /// Whether shutdown has cut it off.
    pub(crate) fn is_truncated(&self) -> bool {
        self.cut_off_at.is_some()
    }

    pub(crate) fn link(&self) -> Link {
        // SAFETY: the word was loaded with acquire, or by the writer itself, after the header was written.
        unsafe { link(self.slot(), self.meta) }
    }

    pub(crate) fn parent(&self) -> Option<SpanId> {
        if self.meta & meta::HAS_PARENT == 0 {
            return None;
        }
        // SAFETY: as in `link`.
        SpanId::from_bytes(unsafe { *self.slot().parent.get() })
    }

    pub(crate) fn parent_is_remote(&self) -> bool {
        self.meta & meta::REMOTE_PARENT != 0
    }

    pub(crate) fn kind(&self) -> SpanKind {
        match (self.meta & meta::KIND) >> meta::KIND_SHIFT {
            1 => SpanKind::Server,
            2 => SpanKind::Client,
            3 => SpanKind::Producer,
            4 => SpanKind::Consumer,
            _ => SpanKind::Internal,
        }
    }

    pub(crate) fn start(&self) -> Tick {
        // SAFETY: as in `link`.
        unsafe { *self.slot().start.get() }
    }

    pub(crate) fn end(&self) -> Tick {
        match self.cut_off_at {
            Some(at) => at.max(self.start()),
            // SAFETY: the word says that the span has ended, and the end was written before.
            None => unsafe { *self.slot().end.get() },
        }
    }

    /// The name that the span was started with.
    pub(crate) fn name(&self) -> &'static str {
        // SAFETY: the header was written, of a static text.
        unsafe {
            let name = (*self.slot().name.get()).assume_init();
            let bytes = std::slice::from_raw_parts(name, *self.slot().name_len.get());
            std::str::from_utf8_unchecked(bytes)
        }
    }

    /// The scope, unless the log names another one.
    pub(crate) fn scope(&self) -> &'static str {
        if self.meta & meta::LENS_SCOPE == 0 {
            scope::HELPERS
        } else {
            scope::LENS
        }
    }

    /// What can change, if it is on the heap and not in the log.
    pub(crate) fn heap(&self) -> Option<&Mutex<Body>> {
        // SAFETY: the word says that the pointer is set, and it is freed with the slot only.
        (self.meta & meta::HEAP != 0).then(|| unsafe { &**self.slot().heap.get() })
    }

    /// What the log says, in order; nothing if it was moved to the heap.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let words = meta::words(self.meta);
        let mut left = Reader {
            at: self.slot().log.get().cast(),
            base: 0,
            end: WORDS,
            position: 0,
            words: if self.meta & meta::HEAP == 0 {
                words
            } else {
                0
            },
            // SAFETY: the pointer was written before words behind the first part were committed, and is not read before
            // there are some.
            part: if words > WORDS && words != CLOSED {
                unsafe { *self.slot().first_part.get() }
            } else {
                std::ptr::null_mut()
            },
        };
        std::iter::from_fn(move || left.next())
    }

    /// Lets go of what the slot holds. The caller makes it free.
    ///
    /// # Safety
    ///
    /// Nobody may use the slot any more, and this must be the last record of it.
    pub(super) unsafe fn clear(self) -> (NonNull<Slot>, *mut Part) {
        let slot = self.slot();
        let mut parts = std::ptr::null_mut();
        // SAFETY: the caller promises that this is the last use; the word says what was set.
        unsafe {
            if self.meta & meta::TRACE_STATE != 0 {
                (*slot.trace_state.get()).assume_init_drop();
            }
            if self.meta & meta::HEAP != 0 {
                drop(Box::from_raw(*slot.heap.get()));
            }
            if !(*slot.first_part.get()).is_null() {
                parts = *slot.first_part.get();
                *slot.first_part.get() = std::ptr::null_mut();
            }
        }
        slot.meta.store(0, Ordering::Relaxed);
        (self.slot, parts)
    }
}

/// Moves an ended span to another slot, so that the first one is empty and can be kept for its `next`.
///
/// # Safety
///
/// Nobody else may use either slot, except that the `next` of the first may be written to.
pub(super) unsafe fn relocate(from: NonNull<Slot>, to: NonNull<Slot>) {
    // SAFETY: as the caller promises. `next` is left out, the rest is copied bytewise, and the first slot forgets what
    // it owned.
    unsafe {
        let (old, new) = (from.as_ref(), to.as_ref());
        let meta = old.meta.load(Ordering::Acquire);
        *new.trace_id.get() = *old.trace_id.get();
        *new.span_id.get() = *old.span_id.get();
        *new.parent.get() = *old.parent.get();
        *new.start.get() = *old.start.get();
        *new.end.get() = *old.end.get();
        *new.name.get() = *old.name.get();
        *new.name_len.get() = *old.name_len.get();
        *new.log.get() = *old.log.get();
        *new.first_part.get() = *old.first_part.get();
        *new.heap.get() = *old.heap.get();
        let state = old.trace_state.get();
        std::ptr::copy_nonoverlapping(state, new.trace_state.get(), 1);
        *old.first_part.get() = std::ptr::null_mut();
        old.meta.store(0, Ordering::Relaxed);
        new.meta.store(meta, Ordering::Relaxed);
    }
}

/// The part after this one.
///
/// # Safety
///
/// The part must belong to the caller, or to an open span whose log was seen to go on behind it.
pub(super) unsafe fn next_part(part: *mut Part) -> *mut Part {
    // SAFETY: as the caller promises.
    unsafe { (*part).next.load(Ordering::Relaxed) }
}

/// A place in a log.
struct Reader {
    at: *const u64,
    /// Position of the first word of this part.
    base: usize,
    /// Position behind the last word of this part.
    end: usize,
    position: usize,
    /// How many words may be read.
    words: usize,
    /// The part after this one.
    part: *mut Part,
}

impl Reader {
    fn next<'a>(&mut self) -> Option<Entry<'a>> {
        while self.position < self.words {
            if self.position < self.end {
                // SAFETY: the position is below what was committed and inside of this part.
                let read = unsafe { log::read(self.at.add(self.position - self.base)) };
                if let Some((entry, size)) = read {
                    self.position += size;
                    return Some(entry);
                }
            }
            // SAFETY: words behind this part are committed, so there is a part, and a next one if they go on.
            unsafe {
                self.at = (*self.part).words.get().cast();
                self.base = self.end;
                self.position = self.end;
                self.end += MAX_ENTRY;
                if self.words > self.end {
                    self.part = next_part(self.part);
                }
            }
        }
        None
    }
}
