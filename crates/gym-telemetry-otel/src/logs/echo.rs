//! Records that are told twice, through `tracing` and through `log`.
//!
//! `tracing` can be built to repeat each event as a record of `log`, and a program can pass records of `log` on to
//! `tracing`. The two then come from one line, one right after the other.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};

thread_local! {
    /// What was exported last on this thread.
    static LAST: Cell<Option<Said>> = const { Cell::new(None) };
}

/// Who tells of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Tracing,
    Log,
}

/// Where a record was made, and who told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    source: Source,
    /// A hash of the file's name.
    file: u64,
    line: u32,
}

impl Said {
    /// `None` if the record does not tell where it was made.
    pub(super) fn new(source: Source, file: Option<&str>, line: Option<u32>) -> Option<Self> {
        Self::at(source, file.map(hash), line)
    }

    /// As [`new`](Self::new), with a [`hash`] of the file's name.
    pub(super) fn at(source: Source, file: Option<u64>, line: Option<u32>) -> Option<Self> {
        Some(Self {
            source,
            file: file?,
            line: line?,
        })
    }

    /// Whether this repeats what the other one told just before, which is forgotten in any case.
    pub(super) fn repeats_the_last(said: Option<Self>) -> bool {
        let last = LAST.take();
        said.zip(last).is_some_and(|(said, last)| {
            last.source != said.source && (last.file, last.line) == (said.file, said.line)
        })
    }

    /// Remembers that this was exported.
    pub(super) fn remember(self) {
        LAST.set(Some(self));
    }
}

/// Names may live too short to be kept.
pub(super) fn hash(file: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    file.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_other_side_told_just_before_of_the_same_line_is_an_echo() {
        let (file, other) = ("src/lib.rs", "src/main.rs");
        let said = |source, file: &str, line| {
            let said = Said::new(source, Some(file), Some(line)).expect("it tells where");
            let is_echo = Said::repeats_the_last(Some(said));
            if !is_echo {
                said.remember();
            }
            is_echo
        };
        for round in 0..2 {
            assert!(!said(Source::Tracing, file, 7), "{round}");
            assert!(said(Source::Log, file, 7), "{round}");
        }
        for round in 0..2 {
            assert!(!said(Source::Log, file, 7), "{round}");
            assert!(said(Source::Tracing, file, 7), "{round}");
        }
        assert!(!said(Source::Tracing, file, 7));
        assert!(!said(Source::Tracing, file, 7), "the same line again");
        assert!(!said(Source::Log, file, 8), "another line");
        assert!(!said(Source::Tracing, other, 8), "another file");
        assert_eq!(Said::new(Source::Log, None, Some(1)), None);
    }
}
