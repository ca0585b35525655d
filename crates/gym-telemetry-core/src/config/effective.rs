//! What the settings of a process amount to, for people.

use std::fmt;

use super::{Origin, TELEMETRY_KEY_NAME};

/// The settings of a process as they take effect, where each comes from, and what is suspicious about them.
///
/// Nothing in here is a secret: credentials are hidden when it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectiveConfig {
    /// Whether telemetry is on. In a build without telemetry it never is.
    pub is_enabled: bool,
    /// Every setting. If one cannot be used, those that are read after it are missing.
    pub settings: Vec<EffectiveSetting>,
    /// What is suspicious, the worst first.
    pub findings: Vec<Finding>,
}

impl EffectiveConfig {
    /// The setting of that name.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&EffectiveSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// The findings of one kind.
    pub fn of_kind(&self, kind: FindingKind) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(move |finding| finding.kind == kind)
    }
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectiveSetting {
    /// Its name; that of the field in the block if it has one, with a dot for one of a group.
    pub name: String,
    /// Its value as text, secrets hidden.
    pub value: String,
    /// Who gave the value.
    pub source: SettingSource,
    /// Who else gave one and was not heard.
    pub overrides: Vec<Overridden>,
}

impl EffectiveSetting {
    /// A setting that overrides nobody.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>, source: SettingSource) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            source,
            overrides: Vec::new(),
        }
    }
}

/// A value that does not take effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overridden {
    /// Who gave it.
    pub source: SettingSource,
    /// The value as text, secrets hidden.
    pub value: String,
}

impl Overridden {
    /// A value of that source.
    #[must_use]
    pub fn new(source: SettingSource, value: impl Into<String>) -> Self {
        Self {
            source,
            value: value.into(),
        }
    }
}

/// Who gave a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// A variable of the environment.
    Variable(&'static str),
    /// A field of the `telemetry:` block.
    Field {
        /// Its name, with a dot for a nested one.
        field: &'static str,
        /// Where it stands, if the block came from a file or text and has the field.
        origin: Option<Origin>,
    },
    /// Made up for this run.
    Generated,
    /// Nobody: the built-in default.
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Field {
                field,
                origin: Some(origin),
            } => write!(f, "{TELEMETRY_KEY_NAME}.{field} ({origin})"),
            Self::Field {
                field,
                origin: None,
            } => write!(f, "{TELEMETRY_KEY_NAME}.{field}"),
            Self::Generated => f.write_str("generated"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Something suspicious about the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub kind: FindingKind,
    /// A sentence for a person. It names the variable, field or endpoint that is to blame, and no secret.
    pub message: String,
}

impl Finding {
    /// A finding of that kind.
    #[must_use]
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self {
            severity: kind.severity(),
            kind,
            message: message.into(),
        }
    }
}

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Telemetry, or a signal of it, is off or goes nowhere.
    Error,
    /// Something is not as its author will have meant it.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// `error`, `warning` or `note`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal $severity:ident;)*) => {
        /// What is suspicious.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $name,)*
        }

        impl FindingKind {
            /// A word for programs, such as `port_mismatch`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// How bad it is.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)*
                }
            }
        }
    };
}

kinds! {
    /// A value that cannot be used, so that telemetry stays off.
    Refused = "refused" Error;
    /// Nothing is exported although telemetry is on.
    NothingExported = "nothing_exported" Error;
    /// A file that cannot be used.
    UnreadableFile = "unreadable_file" Error;
    /// The sampler drops every trace that starts here.
    NothingSampled = "nothing_sampled" Error;
    /// A value that is ignored, or means something else than it says.
    Ignored = "ignored" Warning;
    /// A key or variable that means nothing.
    UnknownName = "unknown_name" Warning;
    /// A protocol on the port of another one.
    PortMismatch = "port_mismatch" Warning;
    /// Traces of different processes will not join.
    BrokenTraces = "broken_traces" Warning;
    /// A proxy is configured, which telemetry does not use.
    Proxy = "proxy" Warning;
    /// A variable that is set to nothing.
    BlankVariable = "blank_variable" Note;
    /// Telemetry is off.
    Off = "off" Note;
    /// The whole run is one trace.
    OneTrace = "one_trace" Note;
}

/// What one endpoint said to a test item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProbeReport {
    /// `traces`, `metrics` or `logs`.
    pub signal: &'static str,
    /// Where the item was sent, without credentials; empty if nothing is exported.
    pub destination: String,
    /// What came back.
    pub outcome: ProbeOutcome,
}

impl ProbeReport {
    /// A report about one signal.
    #[must_use]
    pub fn new(
        signal: &'static str,
        destination: impl Into<String>,
        outcome: ProbeOutcome,
    ) -> Self {
        Self {
            signal,
            destination: destination.into(),
            outcome,
        }
    }
}

/// What became of a test item.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeOutcome {
    /// It was accepted; the text is a remark of the exporter, if there is one.
    Accepted(Option<String>),
    /// It was not, for this reason.
    Failed(String),
    /// It was not sent, for this reason.
    NotSent(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_severity_comes_first_in_order() {
        let mut severities = [Severity::Note, Severity::Error, Severity::Warning];
        severities.sort();
        assert_eq!(
            severities,
            [Severity::Error, Severity::Warning, Severity::Note]
        );
    }

    #[test]
    fn a_source_names_the_variable_or_the_place_in_the_file() {
        let field = SettingSource::Field {
            field: "exporter",
            origin: Some(Origin::file("gym.yaml").at_line(3)),
        };
        assert_eq!(field.to_string(), "telemetry.exporter (gym.yaml:3)");
        assert_eq!(SettingSource::Variable("OTEL_X").to_string(), "OTEL_X");
    }
}
