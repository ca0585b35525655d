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

    /// What there is, which is `value` from now on if there is nothing. It never waits for another thread, which a fork
    /// could have left behind.
    pub(crate) fn set_first(&self, value: Box<T>) -> &'static T {
        let value = Box::into_raw(value);
        let set = self
            .0
            .compare_exchange(null_mut(), value, Ordering::AcqRel, Ordering::Acquire);
        let lasting = match set {
            Ok(_) => value,
            Err(earlier) => {
                // SAFETY: it comes from a box, and nobody else has seen it.
                drop(unsafe { Box::from_raw(value) });
                earlier
            }
        };
        // SAFETY: either it comes from a box that is never freed, or as in `get`.
        unsafe { &*lasting }
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

    #[test]
    fn of_threads_that_set_a_value_first_all_get_the_same_one() {
        static WORD: Lasting<Box<str>> = Lasting::none();
        let together = std::sync::Barrier::new(4);
        let set = |n: usize| {
            together.wait();
            WORD.set_first(Box::new(format!("word {n}").into()))
        };
        let found = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|n| {
                    scope.spawn({
                        let set = &set;
                        move || set(n)
                    })
                })
                .collect();
            let found = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            found.collect::<Result<Vec<_>, _>>().expect("no panic")
        });
        for word in found {
            assert!(std::ptr::eq(word, WORD.get().expect("it was set")));
        }
        let again = WORD.set_first(Box::new("too late".into()));
        assert_ne!(&**again, "too late");
    }
}
