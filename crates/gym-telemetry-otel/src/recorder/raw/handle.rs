//! What a span holds, in one word: a span is made, moved and looked at far more often than it is recorded.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ptr::NonNull;
use std::sync::Arc;

use super::super::link::Link;
use super::super::start::Started;
use super::frames::Entry;
use super::slot::{Owned, Slot, Writer};

/// The bits of the word that tell what it is; what it points at is aligned to more.
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
    pub(crate) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn held(&self) -> Held<'_> {
        let Some(word) = self.0 else {
            return Held::Nothing;
        };
        // SAFETY: the word was made by `from` of what its kind says, and is not taken out while it is borrowed.
        unsafe {
            match word.addr().get() & KIND {
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
        // SAFETY: the word was made by `from` of what its kind says, and is gone now.
        unsafe {
            match word.addr().get() & KIND {
                RECORDED => Started::Recorded(Owned::borrowed(word.cast::<Slot>())),
                PASSIVE => Started::Passive(Arc::from_raw(link(word).as_ptr())),
                _ => entry(word).map_or(Started::Nothing, Started::Borrowed),
            }
        }
    }
}

impl From<Started> for Handle {
    #[inline]
    fn from(started: Started) -> Self {
        Self(match started {
            Started::Nothing => None,
            Started::Recorded(span) => Some(span.address().cast()),
            Started::Passive(link) => {
                let link = NonNull::new(Arc::into_raw(link).cast_mut());
                // SAFETY: the link takes more bytes than that.
                Some(unsafe {
                    link.expect("an Arc is not null")
                        .cast::<()>()
                        .byte_add(PASSIVE)
                })
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

/// # Safety
///
/// The word must be a passive one.
#[inline]
unsafe fn link(word: NonNull<()>) -> NonNull<Link> {
    const { assert!(align_of::<Link>() > KIND && align_of::<Slot>() > KIND) };
    // SAFETY: that was added to the address of a link.
    unsafe { word.byte_sub(PASSIVE) }.cast()
}

fn entry(word: NonNull<()>) -> Option<Entry> {
    let number = word.addr().get() / (KIND + 1);
    NonZeroU64::new(number as u64).map(Entry)
}
