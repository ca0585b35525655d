//! Requests that are written straight from records, beside those of `opentelemetry-proto`.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::resource::v1::Resource as ProtoResource;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use parking_lot::Mutex;
use prost::Message as _;

use super::PATIENCE;
use super::records::random_span;
use crate::options::SpanOptions;
use crate::recorder::{Encoder, Recorder, RecorderSettings, SpanLimits};
use crate::span::Span;
use crate::thread::{Batch, Delivery, Job, Plan, Schedule, Sinks, SpanSink, Telemetry};

/// Requests of ours and of theirs.
type Pairs = Arc<Mutex<Vec<[ExportTraceServiceRequest; 2]>>>;

/// Turns each batch into requests both ways.
struct Both {
    resource: Resource,
    encoder: Mutex<Encoder>,
    pairs: Pairs,
}

impl SpanSink for Both {
    fn export<'a>(&'a self, batch: &Batch<'_>) -> Job<'a, Delivery> {
        let exported = batch.len() as u64;
        let ours = batch.to_request(&mut self.encoder.lock());
        let ours = ExportTraceServiceRequest::decode(ours.as_slice()).expect("is a request");
        let resource = ResourceAttributesWithSchema::from(&self.resource);
        let theirs = ExportTraceServiceRequest {
            resource_spans: group_spans_by_resource_and_scope(batch.to_span_data(), &resource),
        };
        self.pairs.lock().push([ours, theirs]);
        Box::pin(async move {
            Delivery {
                exported,
                ..Delivery::default()
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        Ok(())
    }
}

fn start(limits: SpanLimits) -> (Telemetry, &'static Recorder, Pairs) {
    let resource = Resource::builder_empty()
        .with_schema_url(
            [KeyValue::new("service.name", "policy")],
            "https://opentelemetry.io/schemas/1.42.0",
        )
        .build();
    let pairs = Pairs::default();
    let recorder = Recorder::new(RecorderSettings {
        limits,
        batch_size: 50,
        ..RecorderSettings::default()
    });
    let schedule = Schedule {
        delay: Duration::from_hours(1),
        ..Schedule::default()
    };
    let both = pairs.clone();
    let telemetry = Telemetry::start(Plan {
        spans: Some((recorder, schedule)),
        metrics: None,
        logs: None,
        build: Box::new(move || {
            let bytes = ProtoResource::from(&resource).encode_to_vec();
            let encoder = Encoder::new(&bytes, resource.schema_url());
            Sinks {
                spans: Ok(Box::new(Both {
                    resource,
                    encoder: Mutex::new(encoder),
                    pairs: both,
                })),
                metrics: Err("off".to_owned()),
                logs: Err("off".to_owned()),
            }
        }),
    });
    (telemetry.expect("the thread starts"), recorder, pairs)
}

/// Their grouping keeps the order of the first span of each scope, ours that of the first span ever.
fn sorted(mut request: ExportTraceServiceRequest) -> ExportTraceServiceRequest {
    for resource in &mut request.resource_spans {
        resource
            .scope_spans
            .sort_by_key(|spans| spans.scope.as_ref().map(|scope| scope.name.clone()));
    }
    request
}

#[test]
fn random_spans_mean_the_same_in_both_requests() {
    for value_length in [None, Some(5)] {
        let limits = SpanLimits {
            attributes: 5,
            event_attributes: 3,
            events: 6,
            links: 1,
            value_length,
            ..SpanLimits::default()
        };
        let (telemetry, recorder, pairs) = start(limits);
        let mut open = Vec::new();
        for seed in 1..=5_000_u64 {
            random_span(recorder, &limits, seed.wrapping_mul(0xd134_2543_de82_ef95));
            if seed % 500 == 0 {
                let span = Span::start_on(recorder, "open", SpanOptions::default(), |attributes| {
                    attributes.set("n", &1_i64);
                });
                if seed % 1_000 == 0 {
                    span.set_attribute("list", vec!["a", "b"]);
                }
                open.push(span);
            }
        }
        let receipt = telemetry.shut_down(PATIENCE).traces;
        assert_eq!((receipt.exported, receipt.truncated), (5_000, 10));
        let mut count = 0;
        for [ours, theirs] in std::mem::take(&mut *pairs.lock()) {
            let (ours, theirs) = (sorted(ours), sorted(theirs));
            for (ours, theirs) in ours.resource_spans.iter().zip(&theirs.resource_spans) {
                for (ours, theirs) in ours.scope_spans.iter().zip(&theirs.scope_spans) {
                    for (ours, theirs) in ours.spans.iter().zip(&theirs.spans) {
                        assert_eq!(ours, theirs);
                        count += 1;
                    }
                }
            }
            assert_eq!(ours, theirs);
        }
        assert_eq!(count, 5_010);
    }
}
