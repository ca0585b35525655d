//! Metrics: handles of instruments, values that are read on collection, and where both go.

mod attributes;
mod gym;
mod handle;
mod host;
mod host_sink;
mod observe;
mod pipe;
mod provider;
#[cfg(test)]
mod tests;

pub use self::gym::{
    record_active_servers, record_http_server_request, record_rollout, record_verify,
};
pub use self::handle::{Counter, Gauge, Histogram, IntegerGauge, UpDownCounter};
pub(crate) use self::host_sink::{HostMeters, HostMetricSink, install_host};
pub use self::observe::{Number, Observation, Observer, observe};
pub(crate) use self::pipe::{MetricsPipe, install, uninstall};
pub use self::provider::are_metrics_exporting;

/// What a new meter holds after `record`.
#[cfg(test)]
pub(crate) fn collected(
    record: impl FnOnce(&opentelemetry::metrics::Meter),
) -> opentelemetry_sdk::metrics::data::ResourceMetrics {
    let provider = provider::Own::new(opentelemetry_sdk::metrics::Temporality::Cumulative);
    record(&provider.meter);
    provider.collect().expect("metrics can be collected")
}
