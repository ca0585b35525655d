//! Where each signal goes: exporter, protocol, endpoint, headers, timeout.

use std::fmt;
use std::time::Duration;

use gym_telemetry_core::config::ConfigError;
use gym_telemetry_core::{env, mask};

use super::lookup::{Found, Lookup, source_of};
use super::otlp;
use super::transport::{Compression, TlsFiles};
use crate::environment::Source;

/// The exporters that the block and the gym's own variable may name.
pub(crate) const EXPORTERS: &str = "otlp, console or stdout";

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalKind {
    /// Spans.
    Traces,
    /// Metrics.
    Metrics,
    /// Log records.
    Logs,
}

impl SignalKind {
    /// All kinds, in the order in which settings name them.
    pub(crate) const ALL: [Self; 3] = [Self::Traces, Self::Metrics, Self::Logs];

    /// The name of the signal, also the last part of its path at a collector.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Metrics => "metrics",
            Self::Logs => "logs",
        }
    }

    /// The variable that names the signal's exporter.
    pub(crate) const fn exporter_variable(self) -> &'static str {
        match self {
            Self::Traces => env::OTEL_TRACES_EXPORTER,
            Self::Metrics => env::OTEL_METRICS_EXPORTER,
            Self::Logs => env::OTEL_LOGS_EXPORTER,
        }
    }

    /// The variable that names the signal's protocol.
    pub(crate) const fn protocol_variable(self) -> &'static str {
        match self {
            Self::Traces => env::OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
            Self::Metrics => env::OTEL_EXPORTER_OTLP_METRICS_PROTOCOL,
            Self::Logs => env::OTEL_EXPORTER_OTLP_LOGS_PROTOCOL,
        }
    }

    pub(super) const fn endpoint_variable(self) -> &'static str {
        match self {
            Self::Traces => env::OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
            Self::Metrics => env::OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
            Self::Logs => env::OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
        }
    }

    pub(super) const fn headers_variable(self) -> &'static str {
        match self {
            Self::Traces => env::OTEL_EXPORTER_OTLP_TRACES_HEADERS,
            Self::Metrics => env::OTEL_EXPORTER_OTLP_METRICS_HEADERS,
            Self::Logs => env::OTEL_EXPORTER_OTLP_LOGS_HEADERS,
        }
    }

    pub(super) const fn timeout_variable(self) -> &'static str {
        match self {
            Self::Traces => env::OTEL_EXPORTER_OTLP_TRACES_TIMEOUT,
            Self::Metrics => env::OTEL_EXPORTER_OTLP_METRICS_TIMEOUT,
            Self::Logs => env::OTEL_EXPORTER_OTLP_LOGS_TIMEOUT,
        }
    }
}

/// What a signal is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExporterKind {
    /// OTLP to a collector.
    Otlp,
    /// One JSON object per line on standard output.
    Console,
    /// Text for people on standard output.
    Stdout,
    /// Nothing: the signal is off.
    None,
}

impl ExporterKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Otlp => "otlp",
            Self::Console => "console",
            Self::Stdout => "stdout",
            Self::None => "none",
        }
    }

    /// An exporter that the block and the gym's own variable may name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        [Self::Otlp, Self::Console, Self::Stdout]
            .into_iter()
            .find(|kind| text.eq_ignore_ascii_case(kind.name()))
    }

    /// An exporter that a standard variable may name.
    fn parse_standard(text: &str) -> Option<Self> {
        Self::parse(text).or_else(|| text.eq_ignore_ascii_case("none").then_some(Self::None))
    }
}

/// How OTLP is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// gRPC.
    Grpc,
    /// HTTP with protobuf bodies.
    HttpProtobuf,
    /// HTTP with JSON bodies.
    HttpJson,
}

impl Protocol {
    /// The name of the protocol in settings.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Grpc => "grpc",
            Self::HttpProtobuf => "http/protobuf",
            Self::HttpJson => "http/json",
        }
    }

    /// A protocol by its name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        [Self::Grpc, Self::HttpProtobuf, Self::HttpJson]
            .into_iter()
            .find(|kind| text.eq_ignore_ascii_case(kind.name()))
    }
}

/// Where one signal goes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Signal {
    /// What the signal is written with.
    pub(crate) exporter: ExporterKind,
    /// How OTLP is spoken.
    pub(crate) protocol: Protocol,
    /// The URL of the collector, complete with the signal's path where the protocol has paths.
    pub(crate) endpoint: String,
    /// Headers of each request.
    pub(crate) headers: Vec<(String, String)>,
    /// How long an export may take, retries included; zero for no limit.
    pub(crate) timeout: Duration,
    /// How requests are compressed.
    pub(crate) compression: Compression,
    /// The files for TLS, none unless the endpoint is `https`.
    pub(crate) tls: TlsFiles,
}

impl Signal {
    /// A signal that is off.
    pub(crate) const fn off() -> Self {
        Self {
            exporter: ExporterKind::None,
            protocol: Protocol::Grpc,
            endpoint: String::new(),
            headers: Vec::new(),
            timeout: otlp::TIMEOUT,
            compression: Compression::None,
            tls: TlsFiles::NONE,
        }
    }

    /// Whether anything is exported.
    pub(crate) fn is_on(&self) -> bool {
        self.exporter != ExporterKind::None
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Signal")
            .field("exporter", &self.exporter)
            .field("protocol", &self.protocol)
            .field("endpoint", &mask::endpoint(&self.endpoint))
            .field("header_names", &names)
            .field("timeout", &self.timeout)
            .field("compression", &self.compression)
            .field("tls", &self.tls)
            .finish()
    }
}

/// Finds where the signals go; one that is not `enabled` goes nowhere.
pub(super) fn resolve(
    lookup: &mut Lookup<'_>,
    enabled: [bool; 3],
) -> Result<[Signal; 3], ConfigError> {
    let shared = shared_exporter(lookup)?;
    let mut signals = [Signal::off(), Signal::off(), Signal::off()];
    for ((kind, enabled), signal) in SignalKind::ALL.into_iter().zip(enabled).zip(&mut signals) {
        let (exporter, source) = exporter(lookup, kind, enabled, shared.as_ref());
        *signal = match exporter {
            ExporterKind::Otlp => otlp::resolve(lookup, kind),
            ExporterKind::Console | ExporterKind::Stdout | ExporterKind::None => Signal {
                exporter,
                ..Signal::off()
            },
        };
        lookup.record(
            format!("{}.exporter", kind.name()),
            signal.exporter.name(),
            source,
        );
    }
    Ok(signals)
}

/// The exporter that all signals share, and who says so.
fn shared_exporter(lookup: &mut Lookup<'_>) -> Result<Option<(ExporterKind, Found)>, ConfigError> {
    let Some(found) = lookup.setting(env::EXPORTER) else {
        return Ok(None);
    };
    match ExporterKind::parse(&found.text) {
        Some(kind) => Ok(Some((kind, found))),
        None => Err(found.invalid(EXPORTERS)),
    }
}

/// The exporter that all signals share, else the signal's own, else OTLP.
///
/// The block's exporter is never in the way of a signal's own: it is published for all signals only while none has one,
/// and else as the own exporter of those that have none.
fn exporter(
    lookup: &mut Lookup<'_>,
    kind: SignalKind,
    enabled: bool,
    shared: Option<&(ExporterKind, Found)>,
) -> (ExporterKind, Source) {
    if !enabled {
        return (ExporterKind::None, Source::Default);
    }
    let found = lookup.variable(kind.exporter_variable());
    if let Some((exporter, shared)) = shared {
        if let Some(own) = &found {
            lookup.beat(shared, own);
        }
        return (*exporter, shared.source.clone());
    }
    let own = found
        .as_ref()
        .and_then(|found| ExporterKind::parse_standard(&found.text));
    if let Some(own) = own {
        return (own, source_of(found));
    }
    if let Some(found) = found {
        let instead = format!("{} are exported with otlp", kind.name());
        lookup.ignore(&found, "otlp, console, stdout or none", &instead);
    }
    (ExporterKind::Otlp, Source::Default)
}

/// The protocol that `found` names.
pub(super) fn protocol(lookup: &mut Lookup<'_>, found: Option<&Found>) -> Protocol {
    let Some(found) = found else {
        return Protocol::Grpc;
    };
    if let Some(protocol) = Protocol::parse(&found.text) {
        return protocol;
    }
    lookup.ignore(found, "grpc, http/protobuf or http/json", "grpc is used");
    Protocol::Grpc
}
