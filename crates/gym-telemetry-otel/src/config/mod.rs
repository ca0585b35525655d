//! The `telemetry:` block of a configuration file.

mod block;
mod document;
mod fields;
mod interpolate;
mod nearest;
mod places;
#[cfg(test)]
mod tests;

use figment::value::Value;
use gym_telemetry_core::config::{
    ConfigError, ConfigErrorKind, ConfigSource, TELEMETRY_KEY_NAME, TelemetryConfig,
};

pub(crate) use self::block::unknown_key;
pub(crate) use self::nearest::{did_you_mean, nearest};

use self::block::Loaded;
use self::document::Document;
use crate::environment::{EnvSource, ProcessEnv};
use crate::settings::{EXPORTERS, ExporterKind};
use crate::warn::warn;

/// Reads the `telemetry:` block of the program's merged configuration.
///
/// A configuration without a block, or with a block that is empty or no mapping, gives the defaults: telemetry off.
/// So does a file that cannot be read, with a warning. Strings may hold `${oc.env:NAME}` and
/// `${oc.env:NAME,default}`. A key that is no field has no effect and is warned about once.
///
/// The exporter's name is checked when the exporter is built; [`load_telemetry_config`] checks it at once.
///
/// # Errors
///
/// If the text is not valid in its format, a field has a value of the wrong type or out of range, or a string names
/// a variable that is not set. The error names the field, the file and line, and what is accepted; it never holds
/// the value.
///
/// ```
/// use gym_telemetry_core::ConfigSource;
/// use gym_telemetry_otel::telemetry_config_from_global_config;
///
/// let source = ConfigSource::yaml("telemetry:\n  enabled: true\n  span_groups: default,sandbox\n");
/// let config = telemetry_config_from_global_config(&source)?;
/// assert!(config.enabled);
/// assert_eq!(config.origin("span_groups").and_then(|origin| origin.line()), Some(3));
///
/// let source = ConfigSource::yaml("telemetry:\n  enabled: maybe\n");
/// let error = telemetry_config_from_global_config(&source).expect_err("no boolean");
/// assert_eq!((error.field(), error.line()), (Some("enabled"), Some(2)));
/// # Ok::<(), gym_telemetry_core::ConfigError>(())
/// ```
pub fn telemetry_config_from_global_config(
    source: &ConfigSource,
) -> Result<TelemetryConfig, ConfigError> {
    report(lenient(source, &ProcessEnv))
}

/// Reads the `telemetry:` block of a configuration file that a person named, and refuses what is odd about it.
///
/// As [`telemetry_config_from_global_config`], but for programs that would rather not start than run without
/// telemetry.
///
/// # Errors
///
/// Beyond those of [`telemetry_config_from_global_config`]: if the file cannot be read, the document or the block is
/// no mapping, or the exporter has no known name. A file without a block is no error.
pub fn load_telemetry_config(source: &ConfigSource) -> Result<TelemetryConfig, ConfigError> {
    report(strict(source, &ProcessEnv))
}

fn report(loaded: Result<Loaded, ConfigError>) -> Result<TelemetryConfig, ConfigError> {
    let Loaded { config, warnings } = loaded?;
    for warning in &warnings {
        warn(warning.clone(), warning);
    }
    Ok(config)
}

fn lenient(source: &ConfigSource, env: &dyn EnvSource) -> Result<Loaded, ConfigError> {
    let document = match Document::read(source) {
        Ok(document) => document,
        Err(error) if error.kind() == ConfigErrorKind::Unreadable => {
            let warnings = vec![format!("{error}; telemetry has its defaults")];
            return Ok(Loaded {
                config: TelemetryConfig::default(),
                warnings,
            });
        }
        Err(error) => return Err(error),
    };
    let block = document
        .root()
        .as_dict()
        .and_then(|root| root.get(TELEMETRY_KEY_NAME));
    match block {
        Some(Value::Dict(_, block)) => block::read(&document, block, env),
        _ => Ok(defaults()),
    }
}

fn strict(source: &ConfigSource, env: &dyn EnvSource) -> Result<Loaded, ConfigError> {
    let document = Document::read(source)?;
    let no_mapping = |path, what| {
        let message = format!("{what} is not a mapping");
        ConfigError::new(ConfigErrorKind::NotAMapping, message).with_origin(document.origin(path))
    };
    let root = match document.root() {
        Value::Dict(_, root) => root,
        Value::Empty(..) => return Ok(defaults()),
        _ => return Err(no_mapping("", "the configuration")),
    };
    let loaded = match root.get(TELEMETRY_KEY_NAME) {
        None | Some(Value::Empty(..)) => return Ok(defaults()),
        Some(Value::Dict(_, block)) => block::read(&document, block, env)?,
        Some(_) => return Err(no_mapping(TELEMETRY_KEY_NAME, "the telemetry block")),
    };
    if ExporterKind::parse(&loaded.config.exporter).is_none() {
        let message = format!("no such exporter, use {EXPORTERS}");
        let error = ConfigError::new(ConfigErrorKind::InvalidValue, message).with_field("exporter");
        return Err(match loaded.config.origin("exporter") {
            Some(origin) => error.with_origin(origin.clone()),
            None => error,
        });
    }
    Ok(loaded)
}

fn defaults() -> Loaded {
    Loaded::default()
}
