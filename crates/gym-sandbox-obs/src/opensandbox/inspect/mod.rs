//! The text of OpenSandbox's inspection endpoint.
//!
//! The endpoint answers with a text for people. Parts of it are written by whoever creates the sandbox and by
//! the program that runs in it, so a reader must know which lines those can reach. Both runtimes' texts are
//! read by position: nothing that a label, a message or an environment variable imitates is taken for a field.
//!
//! The text itself goes nowhere: the Docker form lists environment variables.

mod docker;
mod kubernetes;
mod repr;

use crate::allocation::{Component, DesignatorKind};
use crate::unavailable::Unavailable;

/// What an inspection says, before it is known where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// The parts of the sandbox, in the order in which they stand.
    pub components: Vec<Component>,
    /// Which object the sandbox is.
    pub designator: Option<(DesignatorKind, String)>,
    /// Which Kubernetes node it runs on.
    pub node: Option<String>,
}

/// Reads an inspection of the Kubernetes or the Docker runtime.
///
/// `text` must be the whole body: what a program writes stands before the last section, and only the end of
/// the text tells which section is the last. Time is linear in the text.
///
/// # Errors
///
/// [`UnrecognizedResponse`](Unavailable::UnrecognizedResponse) when the text is none of the two forms or
/// cannot be read safely, [`MalformedQuantity`](Unavailable::MalformedQuantity) when an amount of a known
/// resource is none, [`NoSupportedResources`](Unavailable::NoSupportedResources) when there is no amount of a
/// known resource.
pub fn parse(text: &str) -> Result<Inspection, Unavailable> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // Only a line feed ends a line: messages may hold any other separator.
    let lines: Vec<&str> = text.split('\n').collect();
    let inspection = if text.starts_with("Pod Name:") {
        kubernetes::parse(&lines)?
    } else if text.starts_with("Container ID:") {
        docker::parse(&lines)?
    } else {
        return Err(Unavailable::UnrecognizedResponse);
    };
    let known =
        |component: &Component| !component.requests.is_empty() || !component.limits.is_empty();
    if inspection.components.iter().any(known) {
        Ok(inspection)
    } else {
        Err(Unavailable::NoSupportedResources)
    }
}

/// Finds the value of a header field: `<key>:`, padded with spaces.
fn header<'a>(lines: &[&'a str], key: &str) -> Option<&'a str> {
    lines
        .iter()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
        .map(str::trim)
}
