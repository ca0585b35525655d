//! Why a provider's reading is not available.

use std::borrow::Cow;
use std::fmt;

/// Why a reading is not available: the value of `error.type`.
///
/// A reading that is not available is never replaced by what was declared, and never by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unavailable {
    /// The provider did not answer in time.
    Timeout,
    /// No connection to the provider.
    Connection,
    /// No secure connection to the provider.
    Tls,
    /// The provider answered with this HTTP status.
    HttpStatus(u16),
    /// The provider sent the reader elsewhere.
    Redirect,
    /// The answer was cut short.
    Truncated,
    /// The answer was larger than any reading is.
    TooLarge,
    /// The answer is none that this reader knows, or not safe to read.
    UnrecognizedResponse,
    /// The answer holds an amount that is none.
    MalformedQuantity,
    /// The answer to a sample holds no readable sample.
    MalformedReading,
    /// The answer holds no resource of the shared vocabulary.
    NoSupportedResources,
}

impl Unavailable {
    /// Returns the low-cardinality name of the cause.
    #[must_use]
    pub fn error_type(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Tls => "tls",
            Self::HttpStatus(status) => return Cow::Owned(format!("http_{status}")),
            Self::Redirect => "redirect",
            Self::Truncated => "truncated",
            Self::TooLarge => "too_large",
            Self::UnrecognizedResponse => "unrecognized_response",
            Self::MalformedQuantity => "malformed_quantity",
            Self::MalformedReading => "malformed_reading",
            Self::NoSupportedResources => "no_supported_resources",
        })
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the provider's reading is not available: {}",
            self.error_type()
        )
    }
}

impl std::error::Error for Unavailable {}
