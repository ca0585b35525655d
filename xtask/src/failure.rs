//! The one error of this program: a sentence for the person at the terminal.

use std::fmt;

/// What a task returns.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Why a task stopped.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// Makes a failure from its sentence.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }

    /// Says what was tried when an operation on `subject` failed.
    pub(crate) fn io(
        tried: &str,
        subject: impl AsRef<std::path::Path>,
        error: &std::io::Error,
    ) -> Self {
        Self(format!("{tried} {}: {error}", subject.as_ref().display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
