//! The fields of the block as a table, for loaders, documentation and editors.

use crate::env::{self, Setting};

/// One field of the `telemetry:` block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Its name, with a dot for one of a nested block.
    pub name: &'static str,
    /// What values it takes.
    pub kind: FieldKind,
    /// The value where nobody gives one; `None` for none.
    pub default: Option<&'static str>,
    /// The variable that wins over it.
    pub variable: FieldVariable,
    /// One sentence for people.
    pub meaning: &'static str,
    /// The first version that has it.
    pub since: &'static str,
}

/// What values a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// `true` or `false`.
    Boolean,
    /// Any text.
    Text,
    /// Any text, which may look like a number.
    TextOrNumber,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A finite number of seconds above 0.
    Seconds,
    /// A finite number of seconds, 0 or more.
    SecondsOrZero,
}

/// The variable that wins over a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldVariable {
    /// One of the gym's own.
    Setting(Setting),
    /// A standard one.
    Standard(&'static str),
}

impl FieldVariable {
    /// The variables in order of precedence.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let (first, second) = match self {
            Self::Setting(setting) => (setting.gym, setting.lens),
            Self::Standard(name) => (name, None),
        };
        std::iter::once(first).chain(second)
    }
}

macro_rules! fields {
    ($($name:literal: $kind:expr, $default:expr, $variable:expr, $since:literal, $meaning:literal;)*) => {
        /// Every field of the block, sorted by name.
        pub const FIELDS: &[Field] = &[$(Field {
            name: $name,
            kind: $kind,
            default: $default,
            variable: $variable,
            meaning: $meaning,
            since: $since,
        }),*];
    };
}

use FieldKind::{Boolean, OneOf, Seconds, SecondsOrZero, Text, TextOrNumber};
use FieldVariable::{Setting as Own, Standard};

fields! {
    "enabled": Boolean, Some("false"), Own(env::ENABLED), "0.1",
        "The master switch.";
    "exporter": OneOf(&["otlp", "console", "stdout"]), Some("otlp"), Own(env::EXPORTER), "0.1",
        "`otlp` sends to a collector, `console` writes one JSON object per line to standard output, `stdout` text for people.";
    "instrument_aiohttp": Boolean, Some("true"), Own(env::INSTRUMENT_AIOHTTP), "0.1",
        "Whether each outbound request has a span; trace headers are sent in either case.";
    "logs_enabled": Boolean, Some("false"), Own(env::LOGS_ENABLED), "0.1",
        "Whether log records are exported.";
    "memory_profiling.enabled": Boolean, Some("false"), Own(env::MEMORY_PROFILING_ENABLED), "0.1",
        "Whether the memory of the host and of each server's processes is sampled.";
    "memory_profiling.interval_seconds": Seconds, Some("1.0"), Own(env::MEMORY_PROFILING_INTERVAL_SECONDS), "0.1",
        "Seconds between two samples of memory.";
    "metrics_enabled": Boolean, Some("true"), Own(env::METRICS_ENABLED), "0.1",
        "Whether metrics are exported.";
    "otlp_endpoint": Text, None, Standard(env::OTEL_EXPORTER_OTLP_ENDPOINT), "0.1",
        "The collector; without one, port 4317 of this machine for gRPC and 4318 for HTTP.";
    "otlp_headers": Text, None, Standard(env::OTEL_EXPORTER_OTLP_HEADERS), "0.1",
        "Headers for the collector, `name=value,name=value` with percent-encoded values.";
    "otlp_protocol": Text, None, Standard(env::OTEL_EXPORTER_OTLP_PROTOCOL), "0.1",
        "`grpc`, `http/protobuf` or `http/json`; without one, `grpc`.";
    "run_id": TextOrNumber, None, Own(env::RUN_ID), "0.1",
        "The id that all processes of the run share; without one, the id of the Slurm job, or a new one.";
    "sandbox_resource_sample_interval_seconds": SecondsOrZero, Some("10.0"),
        Own(env::SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS), "0.1",
        "Seconds between two readings of a sandbox's resources; 0 switches the readings off.";
    "service_name": Text, Some("nemo-gym"), Standard(env::OTEL_SERVICE_NAME), "0.1",
        "The service name.";
    "service_name_per_server": Boolean, Some("true"), Own(env::SERVICE_NAME_PER_SERVER), "0.1",
        "Whether each server appends a slash and its own name to the service name.";
    "span_groups": Text, Some("default"), Own(env::SPAN_GROUPS), "0.1",
        "A preset (`default`, `per_rollout`, `all`), a comma-separated list of groups, or both mixed.";
    "traces_enabled": Boolean, Some("true"), Own(env::TRACES_ENABLED), "0.1",
        "Whether spans are exported.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_sorted_and_have_different_names() {
        assert!(FIELDS.windows(2).all(|pair| pair[0].name < pair[1].name));
    }
}
