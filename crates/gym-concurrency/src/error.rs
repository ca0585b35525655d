//! Why a slot was not acquired.

use std::fmt;

/// A slot was not acquired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquireError {
    kind: AcquireErrorKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcquireErrorKind {
    /// The admission timeout passed.
    Timeout,
    /// The semaphore is closed.
    Closed,
    /// More slots were asked for than the limit has.
    ExceedsLimit { asked: u32, limit: usize },
    /// No slot is free, and the caller does not wait.
    Full,
}

impl AcquireError {
    pub(crate) fn new(kind: AcquireErrorKind) -> Self {
        Self { kind }
    }

    /// Returns whether the limit's own admission timeout passed.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind == AcquireErrorKind::Timeout
    }

    /// Returns whether the semaphore was closed, before the call or while it waited.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.kind == AcquireErrorKind::Closed
    }

    /// Returns whether more slots were asked for than the limit has, so that waiting would never end.
    #[must_use]
    pub fn is_above_limit(&self) -> bool {
        matches!(self.kind, AcquireErrorKind::ExceedsLimit { .. })
    }

    /// Returns whether no slot was free for a caller that does not wait.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.kind == AcquireErrorKind::Full
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            AcquireErrorKind::Timeout => {
                f.write_str("no slot became free within the admission timeout")
            }
            AcquireErrorKind::Closed => f.write_str("the semaphore is closed"),
            AcquireErrorKind::ExceedsLimit { asked, limit } => {
                write!(f, "{asked} slots were asked for and the limit is {limit}")
            }
            AcquireErrorKind::Full => f.write_str("no slot is free"),
        }
    }
}

impl std::error::Error for AcquireError {}
