//! What a span holds, in one word: a span is made, moved and looked at far more often than it is recorded.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::link::Link;
use super::super::start::Started;
use super::frames::{Entry, Target};
use super::slot::{Owned, Writer};

/// The bits of the word that tell what it is; what it points at is aligned to more. The first two are those of a
/// [`Target`].
const KIND: usize = 3;
const RECORDED: usize = 0;
const PASSIVE: usize = 1;
const BORROWED: usize = 2;

/// A [`Started`] in one word. Whatever holds it has to [`take`](Self::take) it out in the end.
#[derive(Debug)]
pub(crate) struct Handle(Option<NonNull<()>>);

// SAFETY: everything that it can hold can be sent.
unsafe impl Send for Handle where Started: Send {}

/// What a handle holds.
#[derive(Debug)]
pub(crate) enum Held<'a> {
    Nothing,
    Recorded(Writer<'a>),
    Passive(&'a Link),
    Borrowed(Entry),
}

impl Handle {
    pub(crate) const NOTHING: Self = Self(None);

    #[inline]
    pub(crate) fn recorded(span: &Owned) -> Self {
        Self(Some(Target::span(span.address()).word()))
    }

    #[inline]
    pub(crate) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it holds a record, of its own or somebody else's.
    #[inline]
    pub(crate) fn is_record(&self) -> bool {
        self.0.is_some_and(|word| kind(word) != PASSIVE)
    }

    /// What becomes current when it is entered; `None` if nothing changes.
    ///
    /// It stays in place until the handle is dropped or used through a mutable reference: a slot is never unmapped, its
    /// span ends by value only, and a link is on the heap.
    #[inline]
    pub(super) fn target(&self) -> Option<Target> {
        self.0
            .filter(|word| kind(*word) & BORROWED == 0)
            .map(Target::of_word)
    }

    /// The handle that had a target.
    ///
    /// # Safety
    ///
    /// There must be no other handle any more of what the target points at.
    pub(super) unsafe fn of_target(target: Target) -> Self {
        Self(Some(target.word()))
    }

    #[inline]
    pub(crate) fn held(&self) -> Held<'_> {
        let Some(word) = self.0 else {
            return Held::Nothing;
        };
        // SAFETY: the word was made of what its kind says, which is not taken out while it is borrowed.
        unsafe {
            match kind(word) {
                RECORDED => Held::Recorded(Writer::borrowed(word.cast())),
                PASSIVE => Held::Passive(link(word).as_ref()),
                _ => entry(word).map_or(Held::Nothing, Held::Borrowed),
            }
        }
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Started {
        let Some(word) = self.0.take() else {
            return Started::Nothing;
        };
        // SAFETY: the word was made of what its kind says, and is gone now.
        unsafe {
            match kind(word) {
                RECORDED => Started::Recorded(Owned::borrowed(word.cast())),
                PASSIVE => Started::Passive(Arc::from_raw(link(word).as_ptr())),
                _ => entry(word).map_or(Started::Nothing, Started::Borrowed),
            }
        }
    }
}

impl From<Started> for Handle {
    fn from(started: Started) -> Self {
        Self(match started {
            Started::Nothing => None,
            Started::Recorded(span) => return Self::recorded(&span),
            Started::Passive(link) => {
                // Not by way of a reference, which does not know of the counts in front of the link.
                let link = NonNull::new(Arc::into_raw(link).cast_mut());
                let link = link.expect("an Arc is not null").cast::<()>();
                // SAFETY: the link takes more bytes than that.
                Some(unsafe { link.byte_add(PASSIVE) })
            }
            Started::Borrowed(entry) => usize::try_from(entry.0.get())
                .ok()
                .and_then(|number| number.checked_mul(KIND + 1)?.checked_add(BORROWED))
                .and_then(NonZeroUsize::new)
                // Where addresses are short there is a last number; what comes after it is not found.
                .map(NonNull::without_provenance),
        })
    }
}

#[inline]
fn kind(word: NonNull<()>) -> usize {
    word.addr().get() & KIND
}

/// # Safety
///
/// The word must be a passive one.
#[inline]
unsafe fn link(word: NonNull<()>) -> NonNull<Link> {
    // SAFETY: that was added to the address of a link.
    unsafe { word.byte_sub(PASSIVE) }.cast()
}

fn entry(word: NonNull<()>) -> Option<Entry> {
    let number = word.addr().get() / (KIND + 1);
    NonZeroU64::new(number as u64).map(Entry)
}
