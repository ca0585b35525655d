//! A configuration file as a tree of values, each with its line.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use figment::providers::{Format as _, Json, Toml};
use figment::value::{Empty, Value};
use gym_telemetry_core::config::{
    ConfigError, ConfigErrorKind, ConfigFormat, ConfigSource, Origin,
};
use serde_saphyr::figment::Yaml;
use serde_saphyr::options::NonFiniteFloatPolicy;

use super::places::{Places, line_of};

/// Bytes of a configuration that are read at most.
const MAX_BYTES: u64 = 16 << 20;

/// A parsed configuration.
pub(super) struct Document {
    text: String,
    path: Option<PathBuf>,
    root: Value,
    places: Places,
}

impl Document {
    /// Reads and parses `source`.
    pub(super) fn read(source: &ConfigSource) -> Result<Self, ConfigError> {
        match source {
            ConfigSource::Path(path) => {
                let text = read_file(path)?;
                Self::parse(&text, ConfigFormat::from_path(path), Some(path.clone()))
            }
            ConfigSource::Text { text, format } => Self::parse(text, *format, None),
            _ => Err(ConfigError::new(
                ConfigErrorKind::Unreadable,
                "this kind of configuration source is not supported",
            )),
        }
    }

    fn parse(text: &str, format: ConfigFormat, path: Option<PathBuf>) -> Result<Self, ConfigError> {
        // Editors on Windows write a byte order mark, which is no part of any of the formats.
        let content = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = if content.trim().is_empty() {
            Ok(Value::from(Empty::None))
        } else {
            parse(content, format)
        };
        match parsed {
            Ok(root) => {
                let places = Places::find(content, format);
                Ok(Self {
                    text: content.to_owned(),
                    path,
                    root,
                    places,
                })
            }
            Err(Fault { message, line }) => {
                let mut origin = path.map_or_else(Origin::text, Origin::file);
                if let Some(line) = line {
                    origin = origin.at_line(line);
                }
                // It may repeat a key, which may be of any length.
                let message: String = message.chars().take(LONGEST_FAULT).collect();
                let message = format!("not valid {}: {message}", name(format));
                Err(ConfigError::new(ConfigErrorKind::Syntax, message).with_origin(origin))
            }
        }
    }

    /// The outermost value.
    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    /// Where the value at a dotted path stands.
    pub(super) fn origin(&self, path: &str) -> Origin {
        let origin = match &self.path {
            Some(file) => Origin::file(file),
            None => Origin::text(),
        };
        match self.places.line(path) {
            Some(line) => origin.at_line(line),
            None => origin,
        }
    }

    /// The value at a dotted path as it is written in the file.
    pub(super) fn written(&self, path: &str) -> Option<&str> {
        self.places.written(path, &self.text)
    }
}

fn read_file(path: &Path) -> Result<String, ConfigError> {
    let fail = |message: Cow<'static, str>| {
        ConfigError::new(ConfigErrorKind::Unreadable, message).with_origin(Origin::file(path))
    };
    let cannot = |error: std::io::Error| {
        fail(format!("the configuration file cannot be read: {error}").into()).with_source(error)
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > MAX_BYTES) {
        return Err(fail("the configuration file is larger than 16 MiB".into()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = String::from_utf8_lossy(valid).matches('\n').count() + 1;
        ConfigError::new(
            ConfigErrorKind::Syntax,
            "the configuration file is not valid UTF-8",
        )
        .with_origin(Origin::file(path).at_line(line))
    })
}

/// Characters of a parser's message that ours repeats at most.
const LONGEST_FAULT: usize = 300;

/// What a parser has to say, without any text of the file but names.
struct Fault {
    message: String,
    line: Option<usize>,
}

fn parse(text: &str, format: ConfigFormat) -> Result<Value, Fault> {
    match format {
        ConfigFormat::Toml => Toml::from_str(text).map_err(|error| Fault {
            message: error.message().replace('\n', ", "),
            line: error.span().map(|span| line_of(text, span.start)),
        }),
        ConfigFormat::Json => {
            let value = Json::from_str(text).map_err(|error| {
                let message = error.to_string();
                let end = message.find(" at line ").unwrap_or(message.len());
                Fault {
                    message: message[..end].to_owned(),
                    line: Some(error.line()),
                }
            })?;
            // The JSON parser lets the last of equal keys win without a word.
            match serde_saphyr::from_str_with_options::<Value>(text, yaml_options()) {
                Err(error) if is_duplicate(&error) => Err(yaml_fault(&error)),
                _ => Ok(value),
            }
        }
        // The provider refuses a document with `.inf` anywhere, even where it is none of our business.
        _ => match Yaml::from_str(text) {
            Err(error) if is_non_finite(&error) => {
                serde_saphyr::from_str_with_options(text, yaml_options())
                    .map_err(|error| yaml_fault(&error))
            }
            parsed => parsed.map_err(|error| yaml_fault(&error)),
        },
    }
}

fn is_non_finite(error: &serde_saphyr::Error) -> bool {
    matches!(
        error.without_snippet(),
        serde_saphyr::Error::NonFiniteFloat { .. }
    )
}

fn is_duplicate(error: &serde_saphyr::Error) -> bool {
    matches!(
        error.without_snippet(),
        serde_saphyr::Error::DuplicateMappingKey { .. }
    )
}

fn yaml_fault(error: &serde_saphyr::Error) -> Fault {
    let location = error.location();
    let message = match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("the key {key:?} stands there twice")
        }
        serde_saphyr::Error::MultipleDocuments { .. } => {
            "there is more than one document".to_owned()
        }
        other => {
            let message = other.to_string();
            let end = message.find(" at line ").unwrap_or(message.len());
            message[..end].to_owned()
        }
    };
    let line = location.and_then(|location| usize::try_from(location.line()).ok());
    Fault {
        message,
        line: line.filter(|line| *line > 0),
    }
}

/// How YAML is read: as the provider does, with non-finite numbers left for the fields to refuse.
pub(super) fn yaml_options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        with_snippet: false,
        non_finite_float_policy: NonFiniteFloatPolicy::PassThrough,
    }
}

fn name(format: ConfigFormat) -> &'static str {
    match format {
        ConfigFormat::Toml => "TOML",
        ConfigFormat::Json => "JSON",
        _ => "YAML",
    }
}
