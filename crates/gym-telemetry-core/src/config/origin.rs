//! Where a setting was written.

use std::fmt;
use std::path::{Path, PathBuf};

/// The place in a configuration file or text where a field was set.
///
/// ```
/// use gym_telemetry_core::config::Origin;
///
/// assert_eq!(Origin::file("gym.yaml").at_line(7).to_string(), "gym.yaml:7");
/// assert_eq!(Origin::text().to_string(), "the configuration text");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    path: Option<PathBuf>,
    line: Option<usize>,
}

impl Origin {
    /// Somewhere in a file.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            path: Some(path.into()),
            line: None,
        }
    }

    /// Somewhere in a text without a file.
    #[must_use]
    pub const fn text() -> Self {
        Self {
            path: None,
            line: None,
        }
    }

    /// Narrows the place to a line, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The file, if the setting came from one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The line, counted from 1, if known.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{}:{line}", path.display()),
            (Some(path), None) => write!(f, "{}", path.display()),
            (None, Some(line)) => write!(f, "line {line} of the configuration text"),
            (None, None) => f.write_str("the configuration text"),
        }
    }
}
