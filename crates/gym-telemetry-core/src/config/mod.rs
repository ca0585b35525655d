//! Settings as plain data.
//!
//! Both builds have these types, so that functions that take or return them have one signature. Reading them from
//! a file or from the environment is the back end's work.

mod effective;
mod error;
mod fields;
mod origin;
mod source;

use std::collections::BTreeMap;
use std::fmt;

pub use effective::{
    EffectiveConfig, EffectiveSetting, Finding, FindingKind, Overridden, ProbeOutcome, ProbeReport,
    SettingSource, Severity,
};
pub use error::{ConfigError, ConfigErrorKind};
pub use fields::{FIELDS, Field, FieldKind, FieldVariable};
pub use origin::Origin;
pub use source::{ConfigFormat, ConfigSource};

use crate::mask;
use crate::redaction::REDACTED;

/// The key of the block in a configuration file. It never names a server.
pub const TELEMETRY_KEY_NAME: &str = "telemetry";

/// The `telemetry:` block.
///
/// The default is what a program gets that never mentions telemetry: off.
///
/// ```
/// use gym_telemetry_core::TelemetryConfig;
///
/// let mut config = TelemetryConfig::default();
/// assert!(!config.enabled);
/// config.enabled = true;
/// config.span_groups = "default,sandbox".to_owned();
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the block"
)]
pub struct TelemetryConfig {
    /// The master switch.
    pub enabled: bool,
    /// `otlp`, `console` (one JSON object per line) or `stdout` (for people).
    pub exporter: String,
    /// Whether each outbound request has a span. Trace headers are sent in either case.
    pub instrument_aiohttp: bool,
    /// Whether log records are exported.
    pub logs_enabled: bool,
    /// Sampling of the memory of the host and of each server's processes.
    pub memory_profiling: MemoryProfilingConfig,
    /// Whether metrics are exported.
    pub metrics_enabled: bool,
    /// The collector, unless `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
    pub otlp_endpoint: Option<String>,
    /// Headers for the collector, unless `OTEL_EXPORTER_OTLP_HEADERS` is set.
    pub otlp_headers: Option<String>,
    /// `grpc` or `http/protobuf`, unless `OTEL_EXPORTER_OTLP_PROTOCOL` is set.
    pub otlp_protocol: Option<String>,
    /// The id that all processes of the run share; made up when absent.
    pub run_id: Option<String>,
    /// Seconds between readings of a sandbox's resources; 0 switches the readings off.
    pub sandbox_resource_sample_interval_seconds: f64,
    /// The service name, unless `OTEL_SERVICE_NAME` is set.
    pub service_name: String,
    /// Whether each server appends its own name to the service name.
    pub service_name_per_server: bool,
    /// A preset (`default`, `per_rollout`, `all`), a comma-separated list of groups, or both mixed.
    pub span_groups: String,
    /// Whether spans are exported.
    pub traces_enabled: bool,
    origins: BTreeMap<String, Origin>,
    unknown_keys: Vec<String>,
}

impl TelemetryConfig {
    /// Where the field was set explicitly, or `None` for a field that has its default or was set in code.
    ///
    /// A field of a nested block is named with a dot, as `memory_profiling.interval_seconds`.
    #[must_use]
    pub fn origin(&self, field: &str) -> Option<&Origin> {
        self.origins.get(field)
    }

    /// Remembers where a field was set.
    pub fn set_origin(&mut self, field: impl Into<String>, origin: Origin) {
        self.origins.insert(field.into(), origin);
    }

    /// The keys of the block that were set explicitly and where, sorted by key; also those that mean nothing.
    pub fn origins(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.origins
            .iter()
            .map(|(field, origin)| (field.as_str(), origin))
    }

    /// The keys of the block that mean nothing, in the order in which they were found.
    #[must_use]
    pub fn unknown_keys(&self) -> &[String] {
        &self.unknown_keys
    }

    /// Remembers a key of the block that means nothing.
    pub fn add_unknown_key(&mut self, key: impl Into<String>) {
        self.unknown_keys.push(key.into());
    }

    /// Checks the fields whose type allows more than their meaning.
    ///
    /// # Errors
    ///
    /// If an interval is not a number, infinite or out of range; the error names the field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.memory_profiling
            .validate()
            .map_err(|error| self.locate(error))?;
        let interval = self.sandbox_resource_sample_interval_seconds;
        if !interval.is_finite() || interval < 0.0 {
            let error = ConfigError::new(
                ConfigErrorKind::InvalidValue,
                format!(
                    "{interval} is no interval, expected a finite number of seconds, at least 0"
                ),
            );
            return Err(self.locate(error.with_field("sandbox_resource_sample_interval_seconds")));
        }
        Ok(())
    }

    fn locate(&self, error: ConfigError) -> ConfigError {
        match error.field().and_then(|field| self.origin(field)) {
            Some(origin) => {
                let origin = origin.clone();
                error.with_origin(origin)
            }
            None => error,
        }
    }
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            exporter: "otlp".to_owned(),
            instrument_aiohttp: true,
            logs_enabled: false,
            memory_profiling: MemoryProfilingConfig::default(),
            metrics_enabled: true,
            otlp_endpoint: None,
            otlp_headers: None,
            otlp_protocol: None,
            run_id: None,
            sandbox_resource_sample_interval_seconds: 10.0,
            service_name: "nemo-gym".to_owned(),
            service_name_per_server: true,
            span_groups: "default".to_owned(),
            traces_enabled: true,
            origins: BTreeMap::new(),
            unknown_keys: Vec::new(),
        }
    }
}

impl fmt::Debug for TelemetryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryConfig")
            .field("enabled", &self.enabled)
            .field("exporter", &self.exporter)
            .field("instrument_aiohttp", &self.instrument_aiohttp)
            .field("logs_enabled", &self.logs_enabled)
            .field("memory_profiling", &self.memory_profiling)
            .field("metrics_enabled", &self.metrics_enabled)
            .field(
                "otlp_endpoint",
                &self.otlp_endpoint.as_deref().map(mask::endpoint),
            )
            .field(
                "otlp_headers",
                &self.otlp_headers.as_ref().map(|_| REDACTED),
            )
            .field("otlp_protocol", &self.otlp_protocol)
            .field("run_id", &self.run_id)
            .field(
                "sandbox_resource_sample_interval_seconds",
                &self.sandbox_resource_sample_interval_seconds,
            )
            .field("service_name", &self.service_name)
            .field("service_name_per_server", &self.service_name_per_server)
            .field("span_groups", &self.span_groups)
            .field("traces_enabled", &self.traces_enabled)
            .field("origins", &self.origins)
            .field("unknown_keys", &self.unknown_keys)
            .finish()
    }
}

/// How the memory of the host and of each server's processes is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemoryProfilingConfig {
    /// Whether it is sampled.
    pub enabled: bool,
    /// Seconds between two samples, more than 0.
    pub interval_seconds: f64,
}

impl MemoryProfilingConfig {
    /// Checks the interval.
    ///
    /// # Errors
    ///
    /// If the interval is not a number, infinite, 0 or negative; the error names `memory_profiling.interval_seconds`.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.interval_seconds.is_finite() && self.interval_seconds > 0.0 {
            return Ok(());
        }
        let message = format!(
            "{} is no interval, expected a finite number of seconds above 0",
            self.interval_seconds
        );
        Err(ConfigError::new(ConfigErrorKind::InvalidValue, message)
            .with_field("memory_profiling.interval_seconds"))
    }
}

impl Default for MemoryProfilingConfig {
    fn default() -> Self {
        Self {
            enabled: false,
            interval_seconds: 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let config = TelemetryConfig {
            otlp_headers: Some("authorization=Bearer S3CR3T".to_owned()),
            otlp_endpoint: Some("https://u:S3CR3T@collector:4317/x?api_key=S3CR3T".to_owned()),
            ..TelemetryConfig::default()
        };
        let text = format!("{config:?}");
        assert!(!text.contains("S3CR3T"), "{text}");
        assert!(text.contains("collector:4317"), "{text}");
    }

    #[test]
    fn intervals_out_of_range_are_errors_that_name_the_field() {
        for interval in [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.0,
            -f64::MIN_POSITIVE,
        ] {
            let mut config = TelemetryConfig::default();
            config.memory_profiling.interval_seconds = interval;
            let error = config.validate().expect_err("out of range");
            assert_eq!(error.field(), Some("memory_profiling.interval_seconds"));
            assert_eq!(error.kind(), ConfigErrorKind::InvalidValue);

            let config = TelemetryConfig {
                sandbox_resource_sample_interval_seconds: interval,
                ..TelemetryConfig::default()
            };
            let error = config.validate().expect_err("out of range");
            assert_eq!(
                error.field(),
                Some("sandbox_resource_sample_interval_seconds")
            );
        }
    }

    #[test]
    fn zero_switches_sandbox_readings_off_but_is_no_profiling_interval() {
        let mut config = TelemetryConfig {
            sandbox_resource_sample_interval_seconds: 0.0,
            ..TelemetryConfig::default()
        };
        assert!(config.validate().is_ok());
        config.memory_profiling.interval_seconds = 0.0;
        assert!(config.validate().is_err());
    }

    #[test]
    fn an_error_about_a_field_says_where_it_was_set() {
        let mut config = TelemetryConfig::default();
        config.memory_profiling.interval_seconds = -1.0;
        config.set_origin(
            "memory_profiling.interval_seconds",
            Origin::file("gym.yaml").at_line(7),
        );
        let error = config.validate().expect_err("out of range");
        assert_eq!(error.line(), Some(7));
        assert!(error.to_string().contains("gym.yaml:7"), "{error}");
    }
}
