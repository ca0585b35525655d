//! What arrives at the other end.

use std::time::Duration;

use gym_telemetry_core::MetricDescriptor;
use gym_telemetry_core::metric::{self, MetricKind};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, HistogramDataPoint, Metric};
use opentelemetry_sdk::metrics::Temporality;

use super::super::gym::{
    record_active_servers, record_http_server_request, record_rollout, record_verify,
};
use super::super::pipe::{MetricsPipe, install};
use super::super::provider::are_metrics_exporting;
use crate::collector::{Collector, Received, text};
use crate::export::wire_tests::{codecs, resource, run, settings};
use crate::export::{BuildError, ExportReport};
use crate::settings::{ExporterKind, Protocol, Settings};
use crate::test_process::alone;
use crate::thread::MetricSink;

static GYM_METRICS: [&MetricDescriptor; 5] = [
    &metric::ROLLOUT_DURATION,
    &metric::VERIFY_DURATION,
    &metric::VERIFY_SUCCESS_RATE,
    &metric::SERVERS_ACTIVE,
    &metric::HTTP_SERVER_REQUEST_DURATION,
];

fn pipe(settings: &Settings) -> MetricsPipe {
    MetricsPipe::build(settings, &resource())
        .expect("the settings are fine")
        .expect("metrics are on")
}

fn record_everything() {
    record_rollout(Duration::from_millis(40));
    record_rollout(Duration::from_mins(25));
    record_verify(Duration::from_millis(150), true);
    record_verify(Duration::from_millis(150), true);
    record_verify(Duration::from_millis(150), false);
    record_active_servers(3);
    record_http_server_request(
        Duration::from_millis(30),
        "POST",
        Some("/verify"),
        Some(200),
    );
    record_http_server_request(Duration::from_millis(30), "post", None, None);
}

/// All numbers of a metric: of a histogram its counts in the buckets.
fn numbers(metric: &Metric) -> Vec<f64> {
    let number = |value: &Option<Value>| match value.as_ref().expect("points have values") {
        Value::AsDouble(value) => *value,
        Value::AsInt(value) => f64::from(i32::try_from(*value).expect("small")),
    };
    match metric.data.as_ref().expect("metrics have data") {
        Data::Gauge(gauge) => gauge
            .data_points
            .iter()
            .map(|point| number(&point.value))
            .collect(),
        Data::Sum(sum) => sum
            .data_points
            .iter()
            .map(|point| number(&point.value))
            .collect(),
        Data::Histogram(histogram) => {
            let counts = histogram
                .data_points
                .iter()
                .flat_map(|point| &point.bucket_counts);
            counts
                .map(|count| f64::from(u32::try_from(*count).expect("small")))
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

/// What a collector receives of [`record_everything`].
fn exported(protocol: Protocol) -> Received {
    let collector = Collector::start_with(codecs::ALL);
    let settings = settings(protocol, &collector.endpoint());
    // Recorded before there is an exporter, and not lost.
    install(Temporality::Cumulative);
    record_everything();
    let report = run(async { pipe(&settings).collect_and_export().await });
    assert_eq!(report, ExportReport::delivered(6));
    collector.received()
}

#[test]
fn the_metrics_of_a_gym_arrive_over_grpc_as_their_descriptors_say() {
    alone(&[], || expect_descriptors(&exported(Protocol::Grpc)));
}

#[test]
fn the_metrics_of_a_gym_arrive_over_http_as_their_descriptors_say() {
    alone(&[], || {
        expect_descriptors(&exported(Protocol::HttpProtobuf));
    });
}

#[test]
fn the_metrics_of_a_gym_arrive_as_json_as_their_descriptors_say() {
    alone(&[], || expect_descriptors(&exported(Protocol::HttpJson)));
}

fn expect_descriptors(received: &Received) {
    let [request] = received.metrics.as_slice() else {
        panic!("not one request: {received:?}")
    };
    assert_eq!(request.header("x-team"), ["rl=1"]);
    let [resource_metrics] = request.body.resource_metrics.as_slice() else {
        panic!("one resource")
    };
    let resource = resource_metrics
        .resource
        .as_ref()
        .expect("metrics come with a resource");
    assert_eq!(
        text(&resource.attributes, "service.name").as_deref(),
        Some("nemo-gym/agent")
    );
    let [scope] = resource_metrics.scope_metrics.as_slice() else {
        panic!("one scope")
    };
    assert_eq!(
        scope.scope.as_ref().map(|scope| scope.name.as_str()),
        Some("nemo.lens")
    );

    for descriptor in GYM_METRICS {
        let name = descriptor.name;
        let metric = received.metric(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(
            (&*metric.unit, &*metric.description),
            (descriptor.unit, descriptor.description)
        );
        match (
            metric.data.as_ref().expect("metrics have data"),
            descriptor.kind,
        ) {
            (Data::Histogram(histogram), MetricKind::Histogram) => {
                assert_eq!(
                    histogram.aggregation_temporality(),
                    AggregationTemporality::Cumulative
                );
                assert_eq!(histogram.data_points[0].explicit_bounds, descriptor.bounds);
            }
            (Data::Gauge(_), MetricKind::Gauge) => {}
            (data, kind) => panic!("{name} is {data:?}, not {kind:?}"),
        }
    }
}

#[test]
fn the_values_are_those_recorded_in_the_units_of_the_descriptors() {
    alone(&[], || {
        let received = exported(Protocol::Grpc);
        let of = |descriptor: &MetricDescriptor| {
            numbers(received.metric(descriptor.name).expect("it is there"))
        };
        let mut rollouts = [0.0; 16];
        // 40 ms and 25 min fall into different buckets, both finite.
        (rollouts[0], rollouts[13]) = (1.0, 1.0);
        assert_eq!(of(&metric::ROLLOUT_DURATION), rollouts);
        let mut verifications = [0.0; 16];
        verifications[1] = 3.0;
        assert_eq!(of(&metric::VERIFY_DURATION), verifications);
        assert_eq!(of(&metric::VERIFY_SUCCESS_RATE), [2.0 / 3.0]);
        assert_eq!(of(&metric::SERVERS_ACTIVE), [3.0]);

        let http = received
            .metric(metric::HTTP_SERVER_REQUEST_DURATION.name)
            .expect("it is there");
        let Some(Data::Histogram(histogram)) = &http.data else {
            panic!("no histogram")
        };
        let label = |point: &HistogramDataPoint, key| text(&point.attributes, key);
        let mut labels: Vec<_> = histogram
            .data_points
            .iter()
            .map(|point| {
                assert_eq!(point.bucket_counts[3], 1, "30 ms, in seconds");
                [
                    "http.request.method",
                    "http.route",
                    "http.response.status_code",
                ]
                .map(|key| label(point, key))
            })
            .collect();
        labels.sort();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            labels,
            [
                [some("POST"), some("/verify"), some("200")],
                [some("_OTHER"), None, None]
            ]
        );
    });
}

#[test]
fn without_measurements_nothing_is_sent() {
    alone(&[], || {
        let collector = Collector::start();
        let settings = settings(Protocol::Grpc, &collector.endpoint());
        let report = run(async { pipe(&settings).collect_and_export().await });
        assert_eq!(report, ExportReport::default());
        assert_eq!(collector.attempts(), 0);
    });
}

#[test]
fn an_export_that_failed_loses_no_values() {
    alone(&[], || {
        let collector = Collector::start();
        let mut settings = settings(Protocol::HttpProtobuf, &collector.endpoint());
        settings.metrics.timeout = Duration::from_millis(100);
        run(async {
            let pipe = pipe(&settings);
            record_rollout(Duration::from_secs(1));
            collector.behave(crate::collector::Behaviour::Hang);
            assert_eq!(pipe.collect_and_export().await.failed, 1);
            collector.behave(crate::collector::Behaviour::Accept);
            record_rollout(Duration::from_secs(1));
            while pipe.collect_and_export().await.exported == 0 {}
        });
        let received = collector.received();
        let rollouts = received
            .metric(metric::ROLLOUT_DURATION.name)
            .expect("it is there");
        assert_eq!(
            numbers(rollouts)[3..4],
            [2.0],
            "both, in the bucket up to a second"
        );
    });
}

#[test]
fn instruments_are_off_without_an_exporter_and_after_the_shutdown() {
    alone(&[], || {
        let mut settings = settings(Protocol::Grpc, "ftp://127.0.0.1:1");
        install(Temporality::Cumulative);
        run(async {
            let error = MetricsPipe::build(&settings, &resource()).err();
            assert_eq!(error, Some(BuildError::UnknownScheme));
            assert!(!are_metrics_exporting());

            settings.metrics.exporter = ExporterKind::None;
            install(Temporality::Cumulative);
            assert!(
                MetricsPipe::build(&settings, &resource())
                    .expect("nothing to fail")
                    .is_none()
            );
            assert!(!are_metrics_exporting());

            settings.metrics.exporter = ExporterKind::Console;
            let pipe = pipe(&settings);
            assert!(are_metrics_exporting());
            pipe.shut_down(Duration::ZERO).expect("nothing to fail");
            assert!(!are_metrics_exporting());
        });
    });
}

#[test]
fn the_console_gets_one_line_per_export() {
    let output = alone(&[], || {
        let mut settings = settings(Protocol::Grpc, "http://127.0.0.1:1");
        settings.metrics.exporter = ExporterKind::Console;
        run(async {
            let pipe = pipe(&settings);
            assert_eq!(pipe.destination(), "standard output");
            record_everything();
            // The second time there is the duration of the first.
            for points in [6, 7] {
                let report = pipe.collect_and_export().await;
                assert_eq!(report, ExportReport::delivered(points));
            }
        });
    });
    let lines: Vec<_> = output
        .lines()
        .filter(|line| line.starts_with("{\"resource_metrics\": ["))
        .collect();
    assert_eq!(lines.len(), 2, "{output}");
    for (line, count) in lines.into_iter().zip([5, 6]) {
        let line: serde_json::Value = serde_json::from_str(line).expect("a JSON object");
        let metrics = &line["resource_metrics"][0]["scope_metrics"][0]["metrics"];
        assert_eq!(metrics.as_array().map(Vec::len), Some(count));
        assert_eq!(
            line["resource_metrics"][0]["resource"]["attributes"]["service.name"],
            "nemo-gym/agent"
        );
    }
}
