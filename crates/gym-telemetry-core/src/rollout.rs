//! Rollout ids.
//!
//! A rollout id joins what different processes do for one attempt at one task. It is an attribute of spans,
//! never of metrics, and travels as a prefix of the request's path.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::value::{ToValue, Value};

/// What comes before the id in a request's path.
pub const PATH_PREFIX: &str = "/ng-rollout/";
/// The field of a task or request body that gives an id explicitly.
pub const BODY_FIELD: &str = "_ng_rollout_id";
/// The header that says which logical request an attempt belongs to.
pub const LOGICAL_REQUEST_HEADER: &str = "x-nemo-gym-logical-request-id";

/// The id of one attempt at one task: a letter or digit, then letters, digits, dots, underscores and hyphens.
///
/// ```
/// use gym_telemetry_core::RolloutId;
///
/// assert_eq!(RolloutId::from_parts(3, 1, 0).as_str(), "3-1");
/// assert_eq!(RolloutId::from_parts(3, 1, 2).as_str(), "3-1-a2");
/// assert!(RolloutId::new("run.7_b").is_ok());
/// assert!(RolloutId::new("-7").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RolloutId(Arc<str>);

impl RolloutId {
    /// Checks an explicit id.
    ///
    /// # Errors
    ///
    /// If `text` is empty, begins with anything but an ASCII letter or digit, or has any other character than
    /// ASCII letters, digits, `.`, `_` and `-`.
    pub fn new(text: impl AsRef<str> + Into<Arc<str>>) -> Result<Self, InvalidRolloutId> {
        if is_valid(text.as_ref()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidRolloutId(()))
        }
    }

    /// Makes the id of attempt `attempt` (counted from 0) at rollout `rollout` of task `task`.
    #[must_use]
    pub fn from_parts(task: u64, rollout: u64, attempt: u32) -> Self {
        Self(match attempt {
            0 => format!("{task}-{rollout}").into(),
            _ => format!("{task}-{rollout}-a{attempt}").into(),
        })
    }

    /// Takes the id off the front of a request's path.
    ///
    /// Returns the id and the path that the router should see, which begins with `/`. Returns `None` for a path
    /// without the prefix or with a malformed id: such a path is left alone.
    ///
    /// ```
    /// use gym_telemetry_core::RolloutId;
    ///
    /// let (id, rest) = RolloutId::split_path("/ng-rollout/3-1/v1/responses").expect("has an id");
    /// assert_eq!((id.as_str(), rest), ("3-1", "/v1/responses"));
    /// assert!(RolloutId::split_path("/v1/responses").is_none());
    /// ```
    #[must_use]
    pub fn split_path(path: &str) -> Option<(Self, &str)> {
        let rest = path.strip_prefix(PATH_PREFIX)?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (id, rest) = rest.split_at(end);
        let id = Self::new(id).ok()?;
        Some((id, if rest.is_empty() { "/" } else { rest }))
    }

    /// Puts the id in front of a request's path, which begins with `/`.
    #[must_use]
    pub fn join_path(&self, path: &str) -> String {
        format!("{PATH_PREFIX}{self}{path}")
    }

    /// The text of the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_valid(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

impl AsRef<str> for RolloutId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<RolloutId> for Arc<str> {
    fn from(id: RolloutId) -> Self {
        id.0
    }
}

impl FromStr for RolloutId {
    type Err = InvalidRolloutId;

    fn from_str(text: &str) -> Result<Self, InvalidRolloutId> {
        Self::new(text)
    }
}

impl ToValue for RolloutId {
    fn to_value(&self) -> Option<Value<'_>> {
        Some(Value::Str(&self.0))
    }
}

impl fmt::Display for RolloutId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RolloutId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RolloutId({})", self.0)
    }
}

/// A text is not a rollout id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRolloutId(());

impl fmt::Display for InvalidRolloutId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a rollout id is an ASCII letter or digit, then ASCII letters, digits, dots, underscores and hyphens",
        )
    }
}

impl std::error::Error for InvalidRolloutId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_the_grammar() {
        for text in ["0", "a", "Z", "3-1", "3-1-a2", "a.b_c-d", "0...", "a-"] {
            assert_eq!(
                RolloutId::new(text).map(|id| id.as_str().to_owned()),
                Ok(text.to_owned())
            );
        }
        for text in [
            "", "-", ".a", "_a", "a/b", "a b", "a\n", "\na", "ä", "aä", "a%2f", "a\0", "..", "a:b",
        ] {
            assert!(RolloutId::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn formed_ids_follow_the_grammar() {
        for attempt in [0, 1, u32::MAX] {
            let id = RolloutId::from_parts(u64::MAX, 0, attempt);
            assert_eq!(id.as_str().parse(), Ok(id));
        }
    }

    #[test]
    fn the_path_without_the_id_begins_with_a_slash() {
        let split =
            |path| RolloutId::split_path(path).map(|(id, rest)| (id.to_string(), rest.to_owned()));
        let some = |id: &str, rest: &str| Some((id.to_owned(), rest.to_owned()));
        assert_eq!(split("/ng-rollout/3-1/run"), some("3-1", "/run"));
        assert_eq!(split("/ng-rollout/3-1/"), some("3-1", "/"));
        assert_eq!(split("/ng-rollout/3-1"), some("3-1", "/"));
        assert_eq!(split("/ng-rollout/3-1//run"), some("3-1", "//run"));
    }

    #[test]
    fn other_paths_are_left_alone() {
        for path in [
            "/run",
            "/ng-rollout",
            "/ng-rollout/",
            "/ng-rollout//run",
            "/ng-rollout/%41/run",
            "ng-rollout/1/x",
        ] {
            assert!(RolloutId::split_path(path).is_none(), "{path}");
        }
    }

    #[test]
    fn joining_and_splitting_a_path_are_inverse() {
        let id = RolloutId::from_parts(12, 0, 1);
        assert_eq!(
            RolloutId::split_path(&id.join_path("/v1/responses")),
            Some((id, "/v1/responses"))
        );
    }
}
