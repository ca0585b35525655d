//! The block as variables.

use gym_telemetry_core::config::TelemetryConfig;
use gym_telemetry_core::env::{self, Setting};

use crate::environment::Source;

/// The variables that a field becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A setting of the gym's own.
    Setting(Setting),
    /// A standard variable.
    Standard(&'static str),
}

/// A field of the block as it is published.
pub(super) struct Field {
    /// Its name in the block, with a dot for a nested one.
    pub(super) name: &'static str,
    pub(super) target: Target,
    /// Its value as text; empty for none.
    pub(super) value: String,
    /// Its value, if it is a boolean.
    pub(super) boolean: Option<bool>,
    /// Whether somebody set it, as far as that can be told.
    pub(super) explicit: bool,
    /// Who gave the value.
    pub(super) source: Source,
}

/// All fields of the block.
pub(super) fn fields(config: &TelemetryConfig) -> Vec<Field> {
    let mut fields = values(config);
    for (field, default) in fields.iter_mut().zip(values(&TelemetryConfig::default())) {
        let origin = config.origin(field.name);
        field.explicit = origin.is_some() || field.value != default.value;
        if field.explicit {
            field.source = Source::Field {
                field: field.name,
                origin: origin.cloned(),
            };
        }
    }
    fields
}

fn values(config: &TelemetryConfig) -> Vec<Field> {
    let field = |name, target, value, boolean| Field {
        name,
        target,
        value,
        boolean,
        explicit: false,
        source: Source::Default,
    };
    let boolean = |name, setting, value: bool| {
        field(
            name,
            Target::Setting(setting),
            u8::from(value).to_string(),
            Some(value),
        )
    };
    let text = |name, setting, value: &str| {
        field(
            name,
            Target::Setting(setting),
            value.trim().to_owned(),
            None,
        )
    };
    let number = |name, setting, value: f64| {
        field(name, Target::Setting(setting), format!("{value:?}"), None)
    };
    let standard = |name, variable, value: Option<&str>| {
        let value = value.unwrap_or_default().trim().to_owned();
        field(name, Target::Standard(variable), value, None)
    };
    let memory = &config.memory_profiling;
    vec![
        boolean("enabled", env::ENABLED, config.enabled),
        text("exporter", env::EXPORTER, &config.exporter),
        text("span_groups", env::SPAN_GROUPS, &config.span_groups),
        boolean("traces_enabled", env::TRACES_ENABLED, config.traces_enabled),
        boolean(
            "metrics_enabled",
            env::METRICS_ENABLED,
            config.metrics_enabled,
        ),
        boolean("logs_enabled", env::LOGS_ENABLED, config.logs_enabled),
        text(
            "run_id",
            env::RUN_ID,
            config.run_id.as_deref().unwrap_or_default(),
        ),
        boolean(
            "service_name_per_server",
            env::SERVICE_NAME_PER_SERVER,
            config.service_name_per_server,
        ),
        boolean(
            "instrument_aiohttp",
            env::INSTRUMENT_AIOHTTP,
            config.instrument_aiohttp,
        ),
        boolean(
            "memory_profiling.enabled",
            env::MEMORY_PROFILING_ENABLED,
            memory.enabled,
        ),
        number(
            "memory_profiling.interval_seconds",
            env::MEMORY_PROFILING_INTERVAL_SECONDS,
            memory.interval_seconds,
        ),
        number(
            "sandbox_resource_sample_interval_seconds",
            env::SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS,
            config.sandbox_resource_sample_interval_seconds,
        ),
        standard(
            "service_name",
            env::OTEL_SERVICE_NAME,
            Some(&config.service_name),
        ),
        standard(
            "otlp_endpoint",
            env::OTEL_EXPORTER_OTLP_ENDPOINT,
            config.otlp_endpoint.as_deref(),
        ),
        standard(
            "otlp_headers",
            env::OTEL_EXPORTER_OTLP_HEADERS,
            config.otlp_headers.as_deref(),
        ),
        standard(
            "otlp_protocol",
            env::OTEL_EXPORTER_OTLP_PROTOCOL,
            config.otlp_protocol.as_deref(),
        ),
    ]
}
