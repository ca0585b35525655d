//! What a parent hands to the processes it starts.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::process::Command;

use super::{SETTINGS, Setting};
use crate::mask;

/// The settings of a run as environment variables for the processes of the run.
///
/// Nothing is written to this process's own environment; [`apply`](Self::apply) adds the variables to a command.
///
/// ```
/// use gym_telemetry_core::ChildEnv;
/// use std::process::Command;
///
/// let env = ChildEnv::new("2f1c", [("NEMO_GYM_OTEL_ENABLED", "1"), ("NEMO_GYM_OTEL_RUN_ID", "2f1c")]);
/// let mut server = Command::new("policy-model");
/// env.apply(&mut server);
/// assert_eq!(server.get_envs().count(), 2);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ChildEnv {
    run_id: String,
    vars: Vec<(Cow<'static, str>, String)>,
}

impl ChildEnv {
    /// Collects the variables of a run.
    pub fn new<K, V>(run_id: impl Into<String>, vars: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<Cow<'static, str>>,
        V: Into<String>,
    {
        Self {
            run_id: run_id.into(),
            vars: vars
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        }
    }

    /// The id that all processes of the run share.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The variables with their values in clear: for the child only.
    #[must_use]
    pub fn vars(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.vars
            .iter()
            .map(|(name, value)| (&**name, value.as_str()))
    }

    /// The variables with secrets hidden: for people.
    #[must_use]
    pub fn masked_vars(&self) -> impl ExactSizeIterator<Item = (&str, Cow<'_, str>)> {
        self.vars()
            .map(|(name, value)| (name, mask::variable(name, value)))
    }

    /// Adds the variables to the environment of a child process.
    ///
    /// A variable that was set on `command` stays, unless it is blank, and so does a setting whose `NEMO_LENS_*`
    /// variable was: the more specific wish wins. With tokio, pass `command.as_std_mut()`.
    pub fn apply(&self, command: &mut Command) {
        for (name, value) in self.vars() {
            let setting = SETTINGS.iter().find(|setting| setting.gym == name);
            let lens = setting.and_then(|Setting { lens, .. }| *lens);
            if !is_set(command, name) && !lens.is_some_and(|lens| is_set(command, lens)) {
                command.env(name, value);
            }
        }
    }
}

fn is_set(command: &Command, name: &str) -> bool {
    let is_blank = |value: &OsStr| value.as_encoded_bytes().trim_ascii().is_empty();
    command
        .get_envs()
        .any(|(known, value)| known == name && value.is_some_and(|value| !is_blank(value)))
}

impl fmt::Debug for ChildEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Vars<'a>(&'a ChildEnv);

        impl fmt::Debug for Vars<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_map().entries(self.0.masked_vars()).finish()
            }
        }

        f.debug_struct("ChildEnv")
            .field("run_id", &self.run_id)
            .field("vars", &Vars(self))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(command: &Command, name: &str) -> Option<String> {
        let (_, value) = command.get_envs().find(|(known, _)| *known == name)?;
        value.map(|value| value.to_str().expect("ASCII").to_owned())
    }

    #[test]
    fn a_variable_of_the_command_stays() {
        let env = ChildEnv::new(
            "r",
            [
                ("NEMO_GYM_OTEL_EXPORTER", "otlp"),
                ("OTEL_SERVICE_NAME", "nemo-gym"),
            ],
        );
        let mut command = Command::new("server");
        command.env("NEMO_GYM_OTEL_EXPORTER", "console");
        env.apply(&mut command);
        assert_eq!(
            value(&command, "NEMO_GYM_OTEL_EXPORTER").as_deref(),
            Some("console")
        );
        assert_eq!(
            value(&command, "OTEL_SERVICE_NAME").as_deref(),
            Some("nemo-gym")
        );
    }

    #[test]
    fn a_blank_or_removed_variable_of_the_command_counts_as_unset() {
        let env = ChildEnv::new(
            "r",
            [
                ("NEMO_GYM_OTEL_EXPORTER", "otlp"),
                ("NEMO_GYM_OTEL_ENABLED", "1"),
            ],
        );
        let mut command = Command::new("server");
        command
            .env("NEMO_GYM_OTEL_EXPORTER", "  ")
            .env_remove("NEMO_GYM_OTEL_ENABLED");
        env.apply(&mut command);
        assert_eq!(
            value(&command, "NEMO_GYM_OTEL_EXPORTER").as_deref(),
            Some("otlp")
        );
        assert_eq!(
            value(&command, "NEMO_GYM_OTEL_ENABLED").as_deref(),
            Some("1")
        );
    }

    #[test]
    fn a_gym_variable_is_not_put_over_a_lens_variable_of_the_command() {
        let env = ChildEnv::new("r", [("NEMO_GYM_OTEL_SPAN_GROUPS", "default")]);
        let mut command = Command::new("server");
        command.env("NEMO_LENS_SPAN_GROUPS", "all");
        env.apply(&mut command);
        assert_eq!(value(&command, "NEMO_GYM_OTEL_SPAN_GROUPS"), None);
    }

    #[test]
    fn debug_shows_no_secret() {
        let env = ChildEnv::new(
            "r",
            [
                ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=S3CR3T"),
                ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "S3CR3T"),
                (
                    "OTEL_EXPORTER_OTLP_ENDPOINT",
                    "http://u:S3CR3T@h:4317?k=S3CR3T",
                ),
                ("OTEL_RESOURCE_ATTRIBUTES", "api_key=S3CR3T"),
                ("NEMO_GYM_OTEL_SPAN_GROUPS", "default"),
            ],
        );
        let text = format!("{env:?}");
        assert!(!text.contains("S3CR3T"), "{text}");
        assert!(
            text.contains("http://h:4317") && text.contains("default"),
            "{text}"
        );
        assert!(
            env.vars().any(|(_, value)| value == "S3CR3T"),
            "the child needs the value"
        );
    }
}
