//! Where in the source a record comes from, for the appenders that do not tell.

use std::cell::Cell;

thread_local! {
    static CURRENT: Cell<Option<Place>> = const { Cell::new(None) };
}

/// A line of source code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
}

impl Place {
    /// `None` if a part is not known.
    pub(crate) fn new(file: Option<&'static str>, line: Option<u32>) -> Option<Self> {
        Some(Self {
            file: file?,
            line: line?,
        })
    }

    /// The place of the record that is being made on this thread.
    pub(crate) fn current() -> Option<Self> {
        CURRENT.get()
    }

    /// Runs `f`, which makes a record, with `place` as the current one. A value that is written down may log in turn.
    pub(crate) fn during<T>(place: Option<Self>, f: impl FnOnce() -> T) -> T {
        let _guard = Restore(CURRENT.replace(place));
        f()
    }
}

struct Restore(Option<Place>);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}
