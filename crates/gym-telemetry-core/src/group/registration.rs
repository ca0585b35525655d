//! What a library adds to the span groups of a process.

use std::fmt;

use super::{ALL_GROUPS, SpanGroup};

/// The namespace of the gym's own groups.
pub const NAMESPACE: &str = "nemo_gym";

/// The largest number of differently named groups in a process.
pub const MAX_GROUPS: usize = 64;

/// The preset that selects every registered group; nothing else may have this name.
pub(super) const ALL: &str = "all";

/// The gym's own groups and presets.
pub(super) const OWN: Registration<'static> = Registration {
    namespace: NAMESPACE,
    groups: &ALL_GROUPS,
    presets: &[
        Preset {
            name: "default",
            members: &["job", "server", "http_client", "rollout"],
        },
        Preset {
            name: "per_rollout",
            members: &[
                "server",
                "http_client",
                "rollout",
                "verify",
                "agent",
                "model_call",
            ],
        },
    ],
};

/// The groups and presets of one library.
#[derive(Clone, Copy, Debug)]
pub struct Registration<'a> {
    /// The name of the library. A second registration under one namespace replaces the first.
    pub namespace: &'a str,
    /// The library's groups.
    pub groups: &'a [&'static SpanGroup],
    /// The library's presets. Presets that share a name select the members of all of them.
    pub presets: &'a [Preset<'a>],
}

/// A name that stands for several groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset<'a> {
    /// The name that the `span_groups` setting uses.
    pub name: &'a str,
    /// Names of groups, also of other libraries. One that nobody has registered yet counts once it is.
    pub members: &'a [&'a str],
}

impl Registration<'_> {
    /// Checks everything that does not depend on other registrations.
    pub(super) fn check(&self) -> Result<(), RegisterError> {
        if self.namespace.trim().is_empty() {
            return Err(RegisterError::new(
                RegisterErrorKind::EmptyName,
                "namespace",
                self.namespace,
            ));
        }
        for group in self.groups {
            check_name("group", group.name())?;
        }
        for preset in self.presets {
            check_name("preset", preset.name)?;
            for member in preset.members {
                check_name("preset member", member)?;
            }
        }
        Ok(())
    }
}

/// A setting is split on commas, trimmed and lower-cased: no other name can ever be selected.
fn check_name(role: &'static str, name: &str) -> Result<(), RegisterError> {
    let kind = if name.trim().is_empty() {
        RegisterErrorKind::EmptyName
    } else if name.to_lowercase() == ALL {
        RegisterErrorKind::ReservedName
    } else if name.to_lowercase() != name
        || name.contains(|c: char| c == ',' || c.is_whitespace() || c.is_control())
    {
        RegisterErrorKind::InvalidName
    } else {
        return Ok(());
    };
    Err(RegisterError::new(kind, role, name))
}

/// A registration was refused as a whole; nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterError {
    kind: RegisterErrorKind,
    role: &'static str,
    name: String,
}

/// Why a registration was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RegisterErrorKind {
    /// A namespace, group, preset or member has no name.
    EmptyName,
    /// A group, preset or member is called `all`.
    ReservedName,
    /// A name has upper-case letters, commas or white space, so that no setting could select it.
    InvalidName,
    /// The process would have more than [`MAX_GROUPS`] groups.
    TooManyGroups,
}

impl RegisterError {
    pub(super) fn new(kind: RegisterErrorKind, role: &'static str, name: &str) -> Self {
        Self {
            kind,
            role,
            name: name.to_owned(),
        }
    }

    /// Why the registration was refused.
    #[must_use]
    pub fn kind(&self) -> RegisterErrorKind {
        self.kind
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, name, .. } = self;
        match self.kind {
            RegisterErrorKind::EmptyName => write!(f, "a {role} has no name"),
            RegisterErrorKind::ReservedName => {
                write!(
                    f,
                    "the {role} {name:?} has the name that selects every group"
                )
            }
            RegisterErrorKind::InvalidName => {
                write!(
                    f,
                    "the {role} {name:?} has upper-case letters, commas or white space in its name"
                )
            }
            RegisterErrorKind::TooManyGroups => {
                write!(
                    f,
                    "the {role} {name:?} would be one more than the {MAX_GROUPS} a process can have"
                )
            }
        }
    }
}

impl std::error::Error for RegisterError {}
