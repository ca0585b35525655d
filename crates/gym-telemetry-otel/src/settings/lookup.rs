//! Reads variables one by one, and remembers what was odd and where each value came from.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use gym_telemetry_core::config::{ConfigError, ConfigErrorKind, Overridden};
use gym_telemetry_core::env::{OTEL_SDK_DISABLED, Setting};
use gym_telemetry_core::mask;

use crate::environment::{EnvSource, EnvValue, Source};

/// The words that mean yes and no, as messages name them.
pub(crate) const BOOLEAN_WORDS: &str = "1, true, yes, on, 0, false, no or off";

/// Characters of a wrong value that a message repeats at most.
const SHOWN: usize = 60;

/// One value and who gave it. Not `Debug`: the value may be a secret.
#[derive(Clone)]
pub(crate) struct Found {
    /// The value, trimmed and not empty.
    pub(crate) text: String,
    /// The variable that holds it.
    pub(crate) name: &'static str,
    /// Who set that variable.
    pub(crate) source: Source,
}

impl Found {
    /// The value as a message may show it: secrets hidden, short, on one line.
    pub(crate) fn shown(&self) -> String {
        let masked: Cow<'_, str> = mask::variable(self.name, &self.text);
        let mut shown: String = masked.chars().take(SHOWN).collect();
        if shown.len() < masked.len() {
            shown.push('…');
        }
        format!("{shown:?}")
    }

    /// An error about this value.
    pub(crate) fn invalid(&self, accepted: &str) -> ConfigError {
        let message = format!("{} is not accepted, use {accepted}", self.shown());
        match &self.source {
            Source::Field { field, origin } => {
                let error =
                    ConfigError::new(ConfigErrorKind::InvalidValue, message).with_field(*field);
                match origin {
                    Some(origin) => error.with_origin(origin.clone()),
                    None => error,
                }
            }
            _ => ConfigError::new(ConfigErrorKind::Variable, message).with_field(self.name),
        }
    }

    /// The value as a boolean.
    pub(crate) fn boolean(&self) -> Result<bool, ConfigError> {
        parse_boolean(&self.text).ok_or_else(|| self.invalid(BOOLEAN_WORDS))
    }

    /// The value as a finite number that `accepts` lets through.
    pub(crate) fn number(
        &self,
        accepted: &str,
        accepts: impl FnOnce(f64) -> bool,
    ) -> Result<f64, ConfigError> {
        let number = self.text.parse::<f64>().ok();
        let finite = number.filter(|number| number.is_finite());
        finite
            .filter(|number| accepts(*number))
            .ok_or_else(|| self.invalid(accepted))
    }
}

/// A setting as it takes effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effective {
    /// The setting, with a dot for one of a group.
    pub(crate) name: Cow<'static, str>,
    /// Its value with secrets hidden.
    pub(crate) value: String,
    /// Who gave it.
    pub(crate) source: Source,
}

/// Reads settings from an environment.
pub(crate) struct Lookup<'a> {
    env: &'a dyn EnvSource,
    warnings: Vec<String>,
    effective: Vec<Effective>,
    beaten: Vec<Beaten>,
}

/// Who won, and what somebody else had said.
pub(crate) type Beaten = (Source, Overridden);

impl<'a> Lookup<'a> {
    pub(crate) fn new(env: &'a dyn EnvSource) -> Self {
        Self {
            env,
            warnings: Vec::new(),
            effective: Vec::new(),
            beaten: Vec::new(),
        }
    }

    /// What was read, and what is odd about it.
    pub(crate) fn finish(self) -> (Vec<Effective>, Vec<String>) {
        (self.effective, self.warnings)
    }

    /// What was read, what is odd about it, and which values were not heard.
    pub(crate) fn finish_with_beaten(self) -> (Vec<Effective>, Vec<String>, Vec<Beaten>) {
        (self.effective, self.warnings, self.beaten)
    }

    /// What was odd so far.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What was read so far.
    pub(crate) fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// Remembers that `winner` is heard and `loser` is not.
    pub(crate) fn beat(&mut self, winner: &Found, loser: &Found) {
        let shown = mask::variable(loser.name, &loser.text).into_owned();
        let overridden = Overridden::new(loser.source.clone(), shown);
        self.beaten.push((winner.source.clone(), overridden));
    }

    /// Remembers something odd; the same text counts once.
    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Remembers that a value is ignored and why.
    pub(crate) fn ignore(&mut self, found: &Found, accepted: &str, instead: &str) {
        self.warn(format!(
            "{} is {}, which is not accepted (use {accepted}); {instead}",
            found.source,
            found.shown()
        ));
    }

    /// Remembers the value that a setting takes.
    pub(crate) fn record(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl fmt::Display,
        source: Source,
    ) {
        self.effective.push(Effective {
            name: name.into(),
            value: value.to_string(),
            source,
        });
    }

    /// The variable `name`.
    pub(crate) fn variable(&mut self, name: &'static str) -> Option<Found> {
        match self.env.value(name) {
            EnvValue::Text(text) => Some(Found {
                text,
                name,
                source: self.env.source(name),
            }),
            EnvValue::Unset => None,
            EnvValue::NotUnicode => {
                self.warn(format!("{name} is not valid Unicode and is ignored"));
                None
            }
        }
    }

    /// The first of the variables that is set.
    pub(crate) fn first(&mut self, names: impl IntoIterator<Item = &'static str>) -> Option<Found> {
        let mut names = names.into_iter();
        let first = names.find_map(|name| self.variable(name))?;
        for name in names {
            if let Some(other) = self.variable(name) {
                self.beat(&first, &other);
            }
        }
        Some(first)
    }

    /// The variables of a setting in their order.
    pub(crate) fn setting(&mut self, setting: Setting) -> Option<Found> {
        self.first(setting.names())
    }

    /// A boolean setting.
    pub(crate) fn boolean(
        &mut self,
        name: &'static str,
        setting: Setting,
        default: bool,
    ) -> Result<bool, ConfigError> {
        let found = self.setting(setting);
        let value = found.as_ref().map_or(Ok(default), Found::boolean)?;
        self.record(name, value, source_of(found));
        Ok(value)
    }

    /// A setting that is a finite number.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        setting: Setting,
        default: f64,
        accepted: &str,
        accepts: impl FnOnce(f64) -> bool,
    ) -> Result<f64, ConfigError> {
        let found = self.setting(setting);
        let value = match &found {
            Some(found) => found.number(accepted, accepts)?,
            None => default,
        };
        self.record(name, value, source_of(found));
        Ok(value)
    }

    /// A setting that is any text.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
        found: Option<Found>,
        default: &str,
    ) -> String {
        let value = found
            .as_ref()
            .map_or(default, |found| &found.text)
            .to_owned();
        let shown = match &found {
            Some(found) => mask::variable(found.name, &value).into_owned(),
            None => value.clone(),
        };
        self.record(name, shown, source_of(found));
        value
    }

    /// A variable that holds whole milliseconds; what is none is ignored with a warning.
    pub(crate) fn milliseconds(
        &mut self,
        names: &[&'static str],
        default: Duration,
        zero: Zero,
    ) -> (Duration, Source) {
        let Some(found) = self.first(names.iter().copied()) else {
            return (default, Source::Default);
        };
        match (found.text.parse::<u64>(), zero) {
            (Ok(0), Zero::Refused) | (Err(_), _) => {
                self.ignore(
                    &found,
                    zero.accepted(),
                    &format!("{} ms are used", default.as_millis()),
                );
                (default, Source::Default)
            }
            (Ok(number), _) => (Duration::from_millis(number), found.source),
        }
    }

    /// The most of something, where a variable says so; what is no whole number is ignored with a warning.
    ///
    /// A garbled variable of a pair does not bring the other one into play: nobody could tell which was meant.
    pub(crate) fn count(
        &mut self,
        name: &'static str,
        variables: &[&'static str],
        default: Option<usize>,
    ) -> Option<usize> {
        let shown = |count: Option<usize>| count.map_or("unlimited".to_owned(), |n| n.to_string());
        let found = self.first(variables.iter().copied());
        let parsed = found.as_ref().map(|found| found.text.parse::<usize>());
        let (count, source) = match (parsed, found) {
            (Some(Ok(count)), found) => (Some(count), source_of(found)),
            (Some(Err(_)), Some(found)) => {
                let instead = match default {
                    Some(default) => format!("{default} is used"),
                    None => "there is no limit".to_owned(),
                };
                self.ignore(&found, "a whole number, 0 or more", &instead);
                (default, Source::Default)
            }
            _ => (default, Source::Default),
        };
        self.record(name, shown(count), source);
        count
    }

    /// Whether the standard switch turns everything off. Only `true` does.
    pub(crate) fn sdk_disabled(&mut self) -> bool {
        let Some(found) = self.variable(OTEL_SDK_DISABLED) else {
            return false;
        };
        if found.text.eq_ignore_ascii_case("true") {
            return true;
        }
        if !found.text.eq_ignore_ascii_case("false") {
            self.ignore(&found, "true or false", "telemetry stays on");
        }
        false
    }
}

/// What a duration of zero means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zero {
    /// No limit.
    NoLimit,
    /// No wait.
    AtOnce,
    /// Nothing: it is refused.
    Refused,
}

impl Zero {
    /// The durations that are accepted, for messages.
    pub(crate) const fn accepted(self) -> &'static str {
        match self {
            Self::Refused => "whole milliseconds above 0",
            Self::NoLimit => "whole milliseconds, 0 for no limit",
            Self::AtOnce => "whole milliseconds, 0 for no wait",
        }
    }
}

/// A boolean word.
pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    let text = text.trim();
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["1", "true", "yes", "on"]) {
        Some(true)
    } else if is(["0", "false", "no", "off"]) {
        Some(false)
    } else {
        None
    }
}

/// Who gave a value that may be missing.
pub(crate) fn source_of(found: Option<Found>) -> Source {
    found.map_or(Source::Default, |found| found.source)
}
