//! What was wrong with a setting.

use std::error::Error;
use std::fmt;

use super::Origin;

/// A setting that cannot be used.
///
/// The message names the field or variable, its place where known, and the accepted values. Whoever makes one must
/// keep secrets out of the message.
#[derive(Debug)]
pub struct ConfigError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ConfigErrorKind,
    message: String,
    field: Option<String>,
    origin: Option<Origin>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of thing was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigErrorKind {
    /// The file could not be read.
    Unreadable,
    /// The text is not valid in its format.
    Syntax,
    /// The document or the block is no mapping.
    NotAMapping,
    /// A field has a value of the wrong type.
    InvalidType,
    /// A field has a value that its meaning does not allow.
    InvalidValue,
    /// An interpolation names a variable that is not set, or is malformed.
    Interpolation,
    /// An environment variable has an unusable value.
    Variable,
}

impl ConfigError {
    /// Makes an error. The message is lower-case and has no full stop.
    #[must_use]
    pub fn new(kind: ConfigErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            field: None,
            origin: None,
            source: None,
        }))
    }

    /// Names the field, with dots between nested names, or the environment variable.
    #[must_use]
    pub fn with_field(mut self, field: impl Into<String>) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// Says where the value was written.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.0.origin = Some(origin);
        self
    }

    /// Keeps the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What kind of thing was wrong.
    #[must_use]
    pub fn kind(&self) -> ConfigErrorKind {
        self.0.kind
    }

    /// The field, with dots between nested names, or the environment variable.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// Where the value was written.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.0.origin.as_ref()
    }

    /// The line on which the value was written, counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.origin().and_then(Origin::line)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.0.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(origin) = &self.0.origin {
            write!(f, " ({origin})")?;
        }
        Ok(())
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_field_and_place() {
        let error = ConfigError::new(ConfigErrorKind::InvalidType, "expected a boolean")
            .with_field("enabled")
            .with_origin(Origin::file("gym.yaml").at_line(2));
        assert_eq!(
            error.to_string(),
            "enabled: expected a boolean (gym.yaml:2)"
        );
        assert!(error.source().is_none());
    }

    #[test]
    fn the_cause_is_kept() {
        let error = ConfigError::new(ConfigErrorKind::Unreadable, "cannot read the file")
            .with_source("denied");
        assert_eq!(
            error.source().map(ToString::to_string).as_deref(),
            Some("denied")
        );
        assert_eq!(error.to_string(), "cannot read the file");
    }
}
