//! A number of slots that a semaphore can have.

use std::convert::Infallible;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::sync::Semaphore;

/// A number of slots: at least one, at most [`Limit::MAX`].
///
/// Parses from text and converts from numbers, so that a configured value that cannot be a limit is an error
/// and never "no limit".
///
/// ```
/// use gym_concurrency::Limit;
///
/// let limit: Limit = "100".parse()?;
/// assert_eq!(limit.get(), 100);
/// for text in ["0", "-1", "1e3", "many", "99999999999999999999"] {
///     assert!(text.parse::<Limit>().is_err(), "{text}");
/// }
/// # Ok::<(), gym_concurrency::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit(NonZeroU32);

impl Limit {
    /// Largest number of slots: what one call can acquire, and what `tokio::sync::Semaphore` can hold.
    pub const MAX: u32 = if Semaphore::MAX_PERMITS < u32::MAX as usize {
        #[expect(clippy::cast_possible_truncation, reason = "smaller than u32::MAX")]
        {
            Semaphore::MAX_PERMITS as u32
        }
    } else {
        u32::MAX
    };

    /// Creates a limit of `slots` slots.
    ///
    /// # Errors
    ///
    /// When `slots` is zero or above [`Limit::MAX`].
    pub fn new(slots: usize) -> Result<Self, LimitError> {
        u32::try_from(slots)
            .ok()
            .filter(|slots| (1..=Self::MAX).contains(slots))
            .and_then(NonZeroU32::new)
            .map(Self)
            .ok_or_else(|| LimitError {
                value: slots.to_string(),
            })
    }

    /// Returns the number of slots.
    #[must_use]
    pub fn get(self) -> usize {
        // A u32 fits a usize on every platform that tokio supports.
        self.0.get() as usize
    }
}

macro_rules! try_from_integer {
    ($($integer:ty)*) => {$(
        impl TryFrom<$integer> for Limit {
            type Error = LimitError;

            fn try_from(slots: $integer) -> Result<Self, LimitError> {
                let error = |_| LimitError { value: slots.to_string() };
                usize::try_from(slots).map_err(error).and_then(Self::new)
            }
        }
    )*};
}

try_from_integer! { i32 i64 u32 u64 usize }

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let error = || LimitError {
            value: format!("{:?}", text.chars().take(40).collect::<String>()),
        };
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(error());
        }
        text.parse()
            .ok()
            .and_then(|slots| Self::new(slots).ok())
            .ok_or_else(error)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value that is no number of slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitError {
    value: String,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} is no concurrency limit: a whole number from 1 to {} is",
            self.value,
            Limit::MAX
        )
    }
}

impl std::error::Error for LimitError {}

impl From<Infallible> for LimitError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
