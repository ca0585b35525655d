//! The fields of the `telemetry:` block: their types, ranges and names.

use figment::value::{Dict, Value};
use gym_telemetry_core::config::{
    ConfigError, FIELDS, MemoryProfilingConfig, Origin, TELEMETRY_KEY_NAME, TelemetryConfig,
};

use super::document::Document;
use super::fields::{Reader, is_null};
use super::nearest::nearest;
use crate::environment::EnvSource;

/// What stands before the fields of `memory_profiling`.
const MEMORY_PROFILING: &str = "memory_profiling.";

/// Fields of earlier versions, which load and mean nothing.
const RETIRED: &[&str] = &["export_strategy", "export_rank"];

/// A block and what is odd about it.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) config: TelemetryConfig,
    pub(super) warnings: Vec<String>,
}

/// Reads the block's fields. A field that is missing, null or blank keeps its default.
pub(super) fn read(
    document: &Document,
    block: &Dict,
    env: &dyn EnvSource,
) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded::default();
    let mut reader = Reader::new(document, env, block, "");
    fields(&mut loaded.config, &mut reader)?;
    loaded.take(reader, "");
    if let Some(value) = block
        .get("memory_profiling")
        .filter(|value| !is_null(value))
    {
        let Value::Dict(_, nested) = value else {
            let reader = Reader::new(document, env, block, "");
            return Err(reader.wrong_type("memory_profiling", "a mapping", value));
        };
        let mut reader = Reader::new(document, env, nested, MEMORY_PROFILING);
        memory_profiling(&mut loaded.config.memory_profiling, &mut reader)?;
        loaded.take(reader, MEMORY_PROFILING);
    }
    loaded.config.validate()?;
    Ok(loaded)
}

impl Loaded {
    /// Keeps where the fields stand, and which keys are no fields behind this prefix.
    fn take(&mut self, reader: Reader<'_>, prefix: &str) {
        let known = known(prefix);
        for name in reader
            .keys()
            .filter(|name| !known.contains(name) && !RETIRED.contains(name))
        {
            let field = reader.field(name);
            let origin = reader.origin(name);
            self.warnings.push(unknown_key(&field, Some(&origin)));
            self.config.set_origin(field.clone(), origin);
            self.config.add_unknown_key(field);
        }
        for (field, origin) in reader.into_origins() {
            self.config.set_origin(field, origin);
        }
    }
}

/// The names of the fields behind a prefix, without it; a nested block is one name of the outer one.
fn known(prefix: &str) -> Vec<&'static str> {
    let mut names: Vec<_> = FIELDS
        .iter()
        .filter_map(|field| field.name.strip_prefix(prefix))
        .map(|name| name.split('.').next().unwrap_or(name))
        .collect();
    names.dedup();
    names
}

/// What to say about a key that is no field; one of `memory_profiling` has that and a dot before it.
pub(crate) fn unknown_key(key: &str, origin: Option<&Origin>) -> String {
    let shown: String = key.chars().take(100).collect();
    let (prefix, name) = match key.strip_prefix(MEMORY_PROFILING) {
        Some(name) => (MEMORY_PROFILING, name),
        None => ("", key),
    };
    let place = origin.map_or_else(String::new, |origin| format!(" ({origin})"));
    let hint = nearest(name, &known(prefix))
        .map(|near| format!(", did you mean {prefix}{near}?"))
        .unwrap_or_default();
    format!(
        "{shown:?} is no field of the {TELEMETRY_KEY_NAME} block and means nothing{place}{hint}"
    )
}

fn fields(config: &mut TelemetryConfig, reader: &mut Reader<'_>) -> Result<(), ConfigError> {
    set(&mut config.enabled, reader.boolean("enabled")?);
    set(&mut config.exporter, reader.text("exporter")?);
    set(
        &mut config.instrument_aiohttp,
        reader.boolean("instrument_aiohttp")?,
    );
    set(&mut config.logs_enabled, reader.boolean("logs_enabled")?);
    set(
        &mut config.metrics_enabled,
        reader.boolean("metrics_enabled")?,
    );
    config.otlp_endpoint = reader.text("otlp_endpoint")?;
    config.otlp_headers = reader.text("otlp_headers")?;
    config.otlp_protocol = reader.text("otlp_protocol")?;
    config.run_id = reader.text_or_number("run_id")?;
    set(
        &mut config.sandbox_resource_sample_interval_seconds,
        reader.number("sandbox_resource_sample_interval_seconds")?,
    );
    set(&mut config.service_name, reader.text("service_name")?);
    set(
        &mut config.service_name_per_server,
        reader.boolean("service_name_per_server")?,
    );
    set(&mut config.span_groups, reader.text("span_groups")?);
    set(
        &mut config.traces_enabled,
        reader.boolean("traces_enabled")?,
    );
    Ok(())
}

fn memory_profiling(
    config: &mut MemoryProfilingConfig,
    reader: &mut Reader<'_>,
) -> Result<(), ConfigError> {
    set(&mut config.enabled, reader.boolean("enabled")?);
    set(
        &mut config.interval_seconds,
        reader.number("interval_seconds")?,
    );
    Ok(())
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
