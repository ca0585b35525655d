//! One field at a time: its value with variables filled in, its type, its place.

use figment::value::{Dict, Num, Value};
use gym_telemetry_core::config::{ConfigError, ConfigErrorKind, Origin, TELEMETRY_KEY_NAME};

use super::document::Document;
use super::interpolate::interpolate;
use crate::environment::EnvSource;
use crate::settings::{BOOLEAN_WORDS, parse_boolean};

/// Reads the fields of one mapping.
pub(super) struct Reader<'a> {
    document: &'a Document,
    env: &'a dyn EnvSource,
    block: &'a Dict,
    /// What stands before the names of the fields.
    prefix: &'static str,
    origins: Vec<(String, Origin)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        document: &'a Document,
        env: &'a dyn EnvSource,
        block: &'a Dict,
        prefix: &'static str,
    ) -> Self {
        Self {
            document,
            env,
            block,
            prefix,
            origins: Vec::new(),
        }
    }

    /// The keys of the mapping, whether they are fields or not.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.block.keys().map(String::as_str)
    }

    /// Where the fields stand that were read and set.
    pub(super) fn into_origins(self) -> Vec<(String, Origin)> {
        self.origins
    }

    /// A boolean. Text is one only where a variable was filled in, which cannot be anything else.
    pub(super) fn boolean(&mut self, name: &str) -> Result<Option<bool>, ConfigError> {
        match self.scalar(name)? {
            None => Ok(None),
            Some(Scalar::Other(Value::Bool(_, value))) => Ok(Some(value)),
            Some(Scalar::Filled(text)) => match parse_boolean(&text) {
                Some(value) => Ok(Some(value)),
                None => Err(self.wrong_variable(name, BOOLEAN_WORDS)),
            },
            Some(other) => Err(self.wrong_type(name, "true or false", &other.into_value())),
        }
    }

    /// A number; its range is checked with all others.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<f64>, ConfigError> {
        match self.scalar(name)? {
            None => Ok(None),
            Some(Scalar::Other(Value::Num(_, number))) => Ok(Some(float(number))),
            Some(Scalar::Filled(text)) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.wrong_variable(name, "a number of seconds")),
            },
            Some(other) => Err(self.wrong_type(name, "a number of seconds", &other.into_value())),
        }
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, ConfigError> {
        match self.scalar(name)? {
            None => Ok(None),
            Some(Scalar::Plain(text) | Scalar::Filled(text)) => Ok(Some(text)),
            Some(Scalar::Other(value)) => {
                Err(self.wrong_type(name, "text, in quotes if need be", &value))
            }
        }
    }

    /// A text that may look like a number, kept as it is written: `0042` stays that.
    pub(super) fn text_or_number(&mut self, name: &str) -> Result<Option<String>, ConfigError> {
        match self.scalar(name)? {
            Some(Scalar::Other(Value::Num(_, number))) => {
                let written = self.document.written(&self.path(name));
                let is_number = |text: &&str| {
                    text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
                        && !text.contains(char::is_whitespace)
                };
                Ok(Some(match written.filter(is_number) {
                    Some(text) => text.to_owned(),
                    None => show(number),
                }))
            }
            None => Ok(None),
            Some(Scalar::Plain(text) | Scalar::Filled(text)) => Ok(Some(text)),
            Some(Scalar::Other(value)) => {
                Err(self.wrong_type(name, "text, in quotes if need be", &value))
            }
        }
    }

    /// The value of a field with its variables filled in; remembers where it stands.
    fn scalar(&mut self, name: &str) -> Result<Option<Scalar>, ConfigError> {
        let Some(value) = self.block.get(name).filter(|value| !is_null(value)) else {
            return Ok(None);
        };
        let scalar = match value {
            Value::String(_, text) => {
                let filled = interpolate(text, self.env).map_err(|fault| {
                    let kind = ConfigErrorKind::Interpolation;
                    self.error(kind, name, fault.explain())
                })?;
                match filled
                    .text
                    .map(|text| text.trim().to_owned())
                    .filter(|text| !text.is_empty())
                {
                    None => return Ok(None),
                    Some(text) if filled.from_environment => Scalar::Filled(text),
                    Some(text) => Scalar::Plain(text),
                }
            }
            other => Scalar::Other(other.clone()),
        };
        self.origins.push((self.field(name), self.origin(name)));
        Ok(Some(scalar))
    }

    /// The field's name within the block.
    pub(super) fn field(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The field's path in the document.
    fn path(&self, name: &str) -> String {
        format!("{TELEMETRY_KEY_NAME}.{}", self.field(name))
    }

    pub(super) fn origin(&self, name: &str) -> Origin {
        self.document.origin(&self.path(name))
    }

    fn error(&self, kind: ConfigErrorKind, name: &str, message: impl Into<String>) -> ConfigError {
        ConfigError::new(kind, message)
            .with_field(self.field(name))
            .with_origin(self.origin(name))
    }

    /// The value itself is left out: it may be a secret in the wrong place.
    pub(super) fn wrong_type(&self, name: &str, expected: &str, found: &Value) -> ConfigError {
        let message = format!("expected {expected}, found {}", kind_of(found));
        self.error(ConfigErrorKind::InvalidType, name, message)
    }

    fn wrong_variable(&self, name: &str, accepted: &str) -> ConfigError {
        let message = format!("the variable it names is not accepted, use {accepted}");
        self.error(ConfigErrorKind::InvalidValue, name, message)
    }
}

/// A value with its variables filled in.
enum Scalar {
    /// Text of the file.
    Plain(String),
    /// Text with a variable in it.
    Filled(String),
    /// Anything else.
    Other(Value),
}

impl Scalar {
    fn into_value(self) -> Value {
        match self {
            Self::Plain(text) | Self::Filled(text) => Value::from(text),
            Self::Other(value) => value,
        }
    }
}

pub(super) fn is_null(value: &Value) -> bool {
    matches!(value, Value::Empty(..))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(..) | Value::Char(..) => "text",
        Value::Bool(..) => "a boolean",
        Value::Num(..) => "a number",
        Value::Empty(..) => "nothing",
        Value::Dict(..) => "a mapping",
        Value::Array(..) => "a list",
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no interval is long enough for that"
)]
fn float(number: Num) -> f64 {
    number
        .to_f64()
        .or_else(|| number.to_i128().map(|n| n as f64))
        .or_else(|| number.to_u128().map(|n| n as f64))
        .unwrap_or(f64::NAN)
}

fn show(number: Num) -> String {
    match (number.to_u128(), number.to_i128()) {
        (Some(n), _) => n.to_string(),
        (_, Some(n)) => n.to_string(),
        _ => float(number).to_string(),
    }
}
