//! The names that go over the wire.

use std::collections::HashSet;

use gym_telemetry_core::env::{GYM_PREFIX, LENS_PREFIX, SETTINGS};
use gym_telemetry_core::metric::{self, MetricKind};
use gym_telemetry_core::{MetricDescriptor, span};

#[test]
fn metrics_have_a_name_of_their_own_and_are_sorted() {
    let names = metric::ALL.map(|metric| metric.name);
    assert!(names.is_sorted());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
}

#[test]
fn exactly_the_histograms_have_bounds_and_they_ascend() {
    for MetricDescriptor {
        name, kind, bounds, ..
    } in metric::ALL
    {
        assert_eq!(*kind == MetricKind::Histogram, !bounds.is_empty(), "{name}");
        assert!(bounds.is_sorted_by(|low, high| low < high), "{name}");
        assert!(bounds.iter().all(|bound| bound.is_finite()), "{name}");
    }
}

#[test]
fn no_metric_carries_an_id() {
    for MetricDescriptor {
        name,
        attributes,
        description,
        ..
    } in metric::ALL
    {
        assert!(
            !attributes
                .iter()
                .any(|key| key.split('.').next_back() == Some("id")),
            "{name}"
        );
        assert!(
            !description.is_empty() && !description.ends_with('.'),
            "{name}"
        );
    }
}

#[test]
fn a_long_rollout_and_a_short_request_fall_in_finite_buckets() {
    let finite =
        |metric: &MetricDescriptor, value: f64| metric.bounds.iter().any(|bound| value <= *bound);
    assert!(finite(&metric::ROLLOUT_DURATION, 25.0 * 60.0 * 1000.0));
    assert!(finite(&metric::HTTP_SERVER_REQUEST_DURATION, 0.004));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn metric_names_are_what_dashboards_know() {
    let rows: Vec<_> = metric::ALL
        .iter()
        .map(|m| (m.name, m.kind, m.unit, m.bounds.len()))
        .collect();
    assert_eq!(
        rows,
        [
            (
                "gym.concurrency.active",
                MetricKind::ObservableGauge,
                "{slot}",
                0
            ),
            (
                "gym.concurrency.admission_cancelled_total",
                MetricKind::ObservableCounter,
                "1",
                0
            ),
            (
                "gym.concurrency.admission_timeouts_total",
                MetricKind::ObservableCounter,
                "1",
                0
            ),
            (
                "gym.concurrency.available",
                MetricKind::ObservableGauge,
                "{slot}",
                0
            ),
            (
                "gym.concurrency.limit",
                MetricKind::ObservableGauge,
                "{slot}",
                0
            ),
            (
                "gym.concurrency.oldest_wait_ms",
                MetricKind::ObservableGauge,
                "ms",
                0
            ),
            (
                "gym.concurrency.peak_active",
                MetricKind::ObservableGauge,
                "{slot}",
                0
            ),
            (
                "gym.concurrency.peak_queue_depth",
                MetricKind::ObservableGauge,
                "{caller}",
                0
            ),
            (
                "gym.concurrency.queue_depth",
                MetricKind::ObservableGauge,
                "{caller}",
                0
            ),
            (
                "gym.concurrency.wait_duration_ms",
                MetricKind::Histogram,
                "ms",
                19
            ),
            (
                "gym.host.memory.available",
                MetricKind::ObservableGauge,
                "By",
                0
            ),
            (
                "gym.host.memory.sampled_peak",
                MetricKind::ObservableGauge,
                "By",
                0
            ),
            (
                "gym.host.memory.total",
                MetricKind::ObservableGauge,
                "By",
                0
            ),
            (
                "gym.host.memory.usage",
                MetricKind::ObservableGauge,
                "By",
                0
            ),
            ("gym.rollout.duration_ms", MetricKind::Histogram, "ms", 15),
            (
                "gym.sandbox.active",
                MetricKind::UpDownCounter,
                "{sandbox}",
                0
            ),
            ("gym.sandbox.cpu_count", MetricKind::Gauge, "{cpu}", 0),
            ("gym.sandbox.cpu_used_percentage", MetricKind::Gauge, "%", 0),
            (
                "gym.sandbox.create_retry_total",
                MetricKind::Counter,
                "1",
                0
            ),
            (
                "gym.sandbox.exec_duration_ms",
                MetricKind::Histogram,
                "ms",
                12
            ),
            ("gym.sandbox.memory_total_mib", MetricKind::Gauge, "MiBy", 0),
            ("gym.sandbox.memory_used_mib", MetricKind::Gauge, "MiBy", 0),
            (
                "gym.sandbox.sample_skipped_total",
                MetricKind::Counter,
                "1",
                0
            ),
            (
                "gym.sandbox.startup_duration_ms",
                MetricKind::Histogram,
                "ms",
                12
            ),
            (
                "gym.server.memory.sampled_peak",
                MetricKind::ObservableGauge,
                "By",
                0
            ),
            (
                "gym.server.memory.usage",
                MetricKind::ObservableGauge,
                "By",
                0
            ),
            (
                "gym.server.processes",
                MetricKind::ObservableGauge,
                "{process}",
                0
            ),
            ("gym.servers.active", MetricKind::Gauge, "", 0),
            ("gym.verify.duration_ms", MetricKind::Histogram, "ms", 15),
            ("gym.verify.success_rate", MetricKind::Gauge, "", 0),
            (
                "http.server.request.duration",
                MetricKind::Histogram,
                "s",
                14
            ),
        ]
    );
}

#[test]
fn every_setting_has_the_two_prefixes_and_one_suffix() {
    let mut names = HashSet::new();
    for setting in SETTINGS {
        let suffix = setting
            .gym
            .strip_prefix(GYM_PREFIX)
            .expect("has the prefix");
        assert!(
            setting
                .lens
                .is_none_or(|lens| lens.strip_prefix(LENS_PREFIX) == Some(suffix)),
            "{suffix}"
        );
        assert!(setting.names().all(|name| names.insert(name)), "{suffix}");
        assert_eq!(
            setting.names().next(),
            Some(setting.gym),
            "the own variable comes first"
        );
    }
}

#[test]
fn client_spans_have_a_bounded_number_of_names() {
    for method in [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ] {
        assert_eq!(span::http_client(method), format!("HTTP {method}"));
    }
    for method in ["", "get", "PROPFIND", "POST "] {
        assert_eq!(span::http_client(method), "HTTP", "{method}");
    }
}
