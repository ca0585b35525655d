//! Where a configuration is read from.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file or a text that holds a configuration.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigSource {
    /// A file; its extension tells the format, see [`ConfigFormat::from_path`].
    Path(PathBuf),
    /// A text.
    Text {
        /// The text.
        text: String,
        /// How to read it.
        format: ConfigFormat,
    },
}

impl ConfigSource {
    /// A file.
    #[must_use]
    pub fn path(path: impl Into<PathBuf>) -> Self {
        Self::Path(path.into())
    }

    /// A text in the given format.
    #[must_use]
    pub fn text(text: impl Into<String>, format: ConfigFormat) -> Self {
        Self::Text {
            text: text.into(),
            format,
        }
    }

    /// A YAML text.
    #[must_use]
    pub fn yaml(text: impl Into<String>) -> Self {
        Self::text(text, ConfigFormat::Yaml)
    }
}

impl fmt::Debug for ConfigSource {
    /// Shows a text's length only: a configuration may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Text { text, format } => f
                .debug_struct("Text")
                .field("text", &format_args!("<{} bytes>", text.len()))
                .field("format", format)
                .finish(),
        }
    }
}

/// The format of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigFormat {
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

impl ConfigFormat {
    /// Tells the format by the extension, in any case: `toml`, `json`, or else YAML.
    ///
    /// ```
    /// use gym_telemetry_core::ConfigFormat;
    ///
    /// assert_eq!(ConfigFormat::from_path("gym.TOML"), ConfigFormat::Toml);
    /// assert_eq!(ConfigFormat::from_path("gym"), ConfigFormat::Yaml);
    /// ```
    #[must_use]
    pub fn from_path(path: impl AsRef<Path>) -> Self {
        match path.as_ref().extension() {
            Some(extension) if extension.eq_ignore_ascii_case("toml") => Self::Toml,
            Some(extension) if extension.eq_ignore_ascii_case("json") => Self::Json,
            _ => Self::Yaml,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_text() {
        let source = ConfigSource::yaml("telemetry: {otlp_headers: S3CR3T}");
        assert_eq!(
            format!("{source:?}"),
            "Text { text: <33 bytes>, format: Yaml }"
        );
    }
}
