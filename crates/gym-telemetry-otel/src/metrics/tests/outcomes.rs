//! What a collector receives of model calls and of rollouts.

use std::collections::BTreeMap;
use std::time::Duration;

use gym_telemetry_core::outcome::{CallOutcome, Dialect, ModelCall, RolloutOutcome, TokenUsage};
use gym_telemetry_core::{attribute, metric};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_sdk::metrics::Temporality;

use super::super::outcomes::{MAX_CLASSES, record_model_call, record_rollout_outcome};
use super::super::pipe::{MetricsPipe, install};
use super::super::words::MAX_WORDS;
use crate::collector::{Collector, Received, text};
use crate::export::wire_tests::{resource, run, settings};
use crate::settings::Protocol;
use crate::test_process::alone;

/// What a collector receives after `record`.
fn received(record: impl FnOnce()) -> Received {
    let collector = Collector::start();
    let settings = settings(Protocol::Grpc, &collector.endpoint());
    install(Temporality::Cumulative);
    record();
    let report = run(async {
        let pipe = MetricsPipe::build(&settings, &resource())
            .expect("the settings are fine")
            .expect("metrics are on");
        pipe.collect_and_export().await
    });
    assert_eq!(report.failed, 0);
    collector.received()
}

fn label(attributes: &[KeyValue]) -> String {
    let mut parts: Vec<_> = attributes
        .iter()
        .map(|pair| {
            let key = pair
                .key
                .rsplit_once('.')
                .map_or(&*pair.key, |(_, last)| last);
            let value = text(attributes, &pair.key).unwrap_or_default();
            format!("{key}={value}")
        })
        .collect();
    parts.sort();
    parts.join(" ")
}

/// Count and sum of each series of a histogram, or the sum alone twice of a counter; empty if it is absent.
fn series(received: &Received, name: &str) -> BTreeMap<String, (u64, f64)> {
    let Some(metric) = received.metric(name) else {
        return BTreeMap::new();
    };
    match metric.data.as_ref().expect("metrics have data") {
        Data::Histogram(histogram) => histogram
            .data_points
            .iter()
            .map(|point| {
                let sum = point.sum.expect("histograms of positive values have sums");
                (label(&point.attributes), (point.count, sum))
            })
            .collect(),
        Data::Sum(sum) => sum
            .data_points
            .iter()
            .map(|point| match point.value {
                Some(Value::AsInt(value)) => {
                    let value = u32::try_from(value).expect("small");
                    (label(&point.attributes), (value.into(), value.into()))
                }
                other => panic!("{other:?}"),
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn expected<const N: usize>(rows: [(&str, u64, f64); N]) -> BTreeMap<String, (u64, f64)> {
    rows.into_iter()
        .map(|(label, count, sum)| (label.to_owned(), (count, sum)))
        .collect()
}

#[test]
fn a_model_call_records_what_it_tells_and_leaves_the_rest_out() {
    alone(&[], || {
        let received = received(|| {
            record_model_call(&ModelCall {
                server: Some("policy"),
                dialect: Some(Dialect::Messages),
                duration: Some(Duration::from_millis(900)),
                time_to_first_token: Some(Duration::from_millis(80)),
                tokens: TokenUsage {
                    input: Some(200),
                    output: Some(0),
                    reasoning: None,
                },
                finish_reason: Some("end_turn"),
                ..ModelCall::default()
            });
            record_model_call(&ModelCall {
                server: Some(""),
                outcome: CallOutcome::Error("http_503"),
                duration: Some(Duration::from_millis(30)),
                ..ModelCall::default()
            });
            // Nothing is known of it.
            record_model_call(&ModelCall::default());
        });
        assert_eq!(
            series(&received, "gym.model_call.duration_ms"),
            expected([
                ("dialect=messages name=policy outcome=ok", 1, 900.0),
                ("dialect=unknown name=unknown outcome=http_503", 1, 30.0),
            ])
        );
        assert_eq!(
            series(&received, "gym.model_call.ttft_ms"),
            expected([("dialect=messages name=policy", 1, 80.0)])
        );
        assert_eq!(
            series(&received, "gym.model_call.tokens"),
            expected([
                ("dialect=messages name=policy type=input", 1, 200.0),
                ("dialect=messages name=policy type=output", 1, 0.0),
            ])
        );
        assert_eq!(
            series(&received, "gym.model_call.finish_total"),
            expected([(
                "dialect=messages finish_reason=end_turn name=policy",
                1,
                1.0
            )])
        );
        for descriptor in [
            &metric::MODEL_CALL_DURATION,
            &metric::MODEL_CALL_TTFT,
            &metric::MODEL_CALL_TOKENS,
        ] {
            let metric = received.metric(descriptor.name).expect("it is there");
            let Some(Data::Histogram(histogram)) = &metric.data else {
                panic!("no histogram")
            };
            assert_eq!(metric.unit, descriptor.unit);
            assert_eq!(histogram.data_points[0].explicit_bounds, descriptor.bounds);
            let attributes = &histogram.data_points[0].attributes;
            for key in [attribute::MODEL_CALL_DIALECT, attribute::SERVER_NAME] {
                assert!(attributes.iter().any(|pair| pair.key == key), "{key}");
            }
        }
    });
}

fn failed<'a>(category: &'a str, finish_reason: &'a str) -> ModelCall<'a> {
    ModelCall {
        outcome: CallOutcome::Error(category),
        duration: Some(Duration::ZERO),
        finish_reason: Some(finish_reason),
        ..ModelCall::default()
    }
}

fn dropped(class: Option<&str>, reason: Option<&str>) {
    record_rollout_outcome(RolloutOutcome::Dropped { class, reason });
}

#[test]
fn words_that_callers_make_up_make_a_bounded_number_of_series() {
    alone(&[], || {
        let received = received(|| {
            record_model_call(&failed("cannot connect to 10.0.0.1", "said: enough"));
            for n in 0..1_000 {
                let (reason, category) = (format!("reason_{n}"), format!("error_{n}"));
                record_model_call(&failed(&category, &reason));
            }
        });
        for name in ["gym.model_call.duration_ms", "gym.model_call.finish_total"] {
            let series = series(&received, name);
            assert_eq!(series.len(), MAX_WORDS + 1, "{name}");
            let total: u64 = series.values().map(|(count, _)| count).sum();
            assert_eq!(total, 1_001, "{name}: none is lost");
        }
    });
}

#[test]
fn classes_and_reasons_together_are_no_more_than_the_sdk_keeps() {
    alone(&[], || {
        let received = received(|| {
            record_rollout_outcome(RolloutOutcome::Scored);
            dropped(None, None);
            for class in 0..70 {
                dropped(Some(&format!("class_{class}")), None);
                for reason in 0..70 {
                    let (class, reason) = (format!("class_{class}"), format!("reason_{reason}"));
                    dropped(Some(&class), Some(&reason));
                    dropped(None, Some(&reason));
                }
            }
        });
        let series = series(&received, "gym.rollout.completed_total");
        // None and `other` are classes, too, and none is a reason.
        assert_eq!(series.len(), 1 + (MAX_CLASSES + 2) * (MAX_WORDS + 1));
        assert!(
            series.contains_key("failure_class=other failure_reason=reason_63 outcome=dropped")
        );
        let total: u64 = series.values().map(|(count, _)| count).sum();
        assert_eq!(total, 2 + 70 + 70 * 70 * 2, "none is lost");
    });
}

#[test]
fn every_rollout_counts_and_only_words_tell_why_it_was_dropped() {
    alone(&[], || {
        let received = received(|| {
            record_rollout_outcome(RolloutOutcome::Scored);
            record_rollout_outcome(RolloutOutcome::Scored);
            dropped(Some("transport"), Some("timeout"));
            dropped(Some("transport"), Some("took too long"));
            dropped(Some("transport"), Some(&"a".repeat(90)));
            dropped(Some("no class"), None);
            dropped(None, None);
        });
        assert_eq!(
            series(&received, "gym.rollout.completed_total"),
            expected([
                ("outcome=scored", 2, 2.0),
                (
                    "failure_class=transport failure_reason=timeout outcome=dropped",
                    1,
                    1.0
                ),
                ("failure_class=transport outcome=dropped", 2, 2.0),
                ("failure_class=other outcome=dropped", 1, 1.0),
                ("outcome=dropped", 1, 1.0),
            ])
        );
        let metric = received
            .metric("gym.rollout.completed_total")
            .expect("it is there");
        assert_eq!(metric.unit, "{rollout}");
    });
}
