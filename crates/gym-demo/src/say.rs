//! Words for the user, on standard error: standard output belongs to the console exporter.

use std::fmt::Display;
use std::io::{Write, stderr};

/// Writes one line; a closed standard error is no reason to stop.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(stderr().lock(), "{text}");
}

/// Writes one line that says who speaks.
pub(crate) fn note(text: impl Display) {
    line(format_args!("gym-demo: {text}"));
}
