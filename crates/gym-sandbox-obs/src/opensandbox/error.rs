//! Why a control plane cannot be described.

use std::fmt;

/// A control plane that cannot be read.
///
/// It names neither the URL nor a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenSandboxError {
    what: &'static str,
    why: &'static str,
}

impl OpenSandboxError {
    pub(super) fn url(why: &'static str) -> Self {
        Self {
            what: "URL of the control plane",
            why,
        }
    }

    pub(super) fn secret(what: &'static str) -> Self {
        Self {
            what,
            why: "it holds a character that a header cannot",
        }
    }
}

impl fmt::Display for OpenSandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} cannot be used: {}", self.what, self.why)
    }
}

impl std::error::Error for OpenSandboxError {}
