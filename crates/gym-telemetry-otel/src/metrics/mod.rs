//! Metrics: handles of instruments, values that are read on collection, and where both go.

mod attributes;
mod gym;
mod handle;
mod host;
mod host_sink;
mod observe;
mod outcomes;
mod pipe;
mod provider;
#[cfg(test)]
mod tests;
mod words;

pub use self::gym::{
    record_active_servers, record_http_server_request, record_rollout, record_verify,
};
pub use self::handle::{Counter, Gauge, Histogram, IntegerGauge, UpDownCounter};
pub(crate) use self::host_sink::{HostMeters, HostMetricSink, install_host};
pub use self::observe::{Number, Observation, Observer, observe};
pub use self::outcomes::{record_model_call, record_rollout_outcome};
pub(crate) use self::pipe::{MetricsPipe, install, uninstall};
pub use self::provider::are_metrics_exporting;
#[cfg(test)]
pub(crate) use self::tests::single_values;

/// What a new meter holds after `record`.
#[cfg(test)]
pub(crate) fn collected(
    record: impl FnOnce(&opentelemetry::metrics::Meter),
) -> opentelemetry_sdk::metrics::data::ResourceMetrics {
    let provider = provider::Own::new(opentelemetry_sdk::metrics::Temporality::Cumulative);
    record(&provider.meter);
    provider.collect().expect("metrics can be collected")
}

/// What a collector would get if `report` were the only callback.
#[cfg(test)]
pub(crate) fn observed(
    report: impl FnOnce(&mut Observer<'_>),
) -> opentelemetry_sdk::metrics::data::ResourceMetrics {
    let provider = provider::Own::new(opentelemetry_sdk::metrics::Temporality::Cumulative);
    let mut reports = Vec::new();
    report(&mut Observer::new(&mut reports));
    provider
        .collect_with(reports)
        .expect("metrics can be collected")
}

/// What a collector would get now from this process, which must export metrics.
#[cfg(test)]
pub(crate) fn collect_installed() -> opentelemetry_sdk::metrics::data::ResourceMetrics {
    provider::installed()
        .expect("metrics are exported")
        .collect()
        .expect("metrics can be collected")
}
