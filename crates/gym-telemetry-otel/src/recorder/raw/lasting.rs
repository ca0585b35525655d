//! A place for a reference to something that lasts.

use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Refers to a value that lives as long as the program, or to none.
///
/// Looking costs one load. Changing it takes no lock and no memory, so a fork handler may do it.
#[derive(Debug)]
pub(crate) struct Lasting<T: Sync + 'static>(AtomicPtr<T>);

impl<T: Sync + 'static> Lasting<T> {
    pub(crate) const fn none() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: what is not null was a reference to something that lives as long as the program.
        NonNull::new(self.0.load(Ordering::Acquire)).map(|value| unsafe { value.as_ref() })
    }

    pub(crate) fn set(&self, value: Option<&'static T>) {
        let value = value.map_or(null_mut(), |value| std::ptr::from_ref(value).cast_mut());
        self.0.store(value, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_last_is_found() {
        static NUMBER: u32 = 7;
        let lasting = Lasting::none();
        assert_eq!(lasting.get(), None);
        lasting.set(Some(&NUMBER));
        assert_eq!(lasting.get(), Some(&7));
        lasting.set(None);
        assert_eq!(lasting.get(), None);
    }
}
