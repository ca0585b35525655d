//! Spans through a tracer provider that the host program has set up for itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gym_telemetry_core::receipt::Outcome;
use gym_telemetry_core::{SpanContext, group, scope};
use opentelemetry::trace::{Span as _, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context as OtelContext, KeyValue, trace as otel};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};
use parking_lot::Mutex;

use super::PATIENCE;
use super::lifecycle::identity;
use crate::test_process::alone;
use crate::{
    Parent, Providers, Span, SpanOptions, Status, TelemetryHandle, init_telemetry_with_providers,
};

/// The host's exporter: keeps spans and counts shutdowns.
#[derive(Clone, Debug, Default)]
pub(super) struct HostExporter {
    spans: Arc<Mutex<Vec<SpanData>>>,
    resource: Arc<Mutex<Option<Resource>>>,
    shutdowns: Arc<AtomicU32>,
}

impl SpanExporter for HostExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.spans.lock().extend(batch);
        Ok(())
    }

    fn shutdown_with_timeout(&self, _timeout: Duration) -> OTelSdkResult {
        self.shutdowns.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        *self.resource.lock() = Some(resource.clone());
    }
}

impl HostExporter {
    pub(super) fn span(&self, name: &str) -> SpanData {
        let spans = self.spans.lock();
        let found: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
        assert_eq!(found.len(), 1, "{name}");
        found[0].clone()
    }
}

const ON: [(&str, &str); 2] = [
    ("NEMO_GYM_OTEL_ENABLED", "1"),
    ("OTEL_METRICS_EXPORTER", "none"),
];

pub(super) fn host(sampler: Sampler) -> (SdkTracerProvider, HostExporter) {
    let exporter = HostExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .with_sampler(sampler)
        .with_resource(
            Resource::builder_empty()
                .with_service_name("the-host")
                .build(),
        )
        .build();
    (provider, exporter)
}

fn init(provider: &SdkTracerProvider) -> TelemetryHandle {
    let providers = Providers::new().tracer(provider.clone());
    init_telemetry_with_providers(identity(), providers).expect("is on")
}

fn start(name: &'static str, parent: Parent<'_>) -> Span {
    let options = SpanOptions {
        parent,
        ..SpanOptions::default()
    };
    Span::start(name, options, |attributes| attributes.set("k", &1_i64))
}

fn ids(context: &SpanContext) -> (String, String) {
    (
        context.trace_id().to_string(),
        context.span_id().to_string(),
    )
}

fn ids_of(span: &SpanData) -> (String, String) {
    let context = &span.span_context;
    (
        context.trace_id().to_string(),
        context.span_id().to_string(),
    )
}

#[test]
fn spans_arrive_whole_in_the_hosts_exporter_under_the_ids_that_others_were_told() {
    alone(&ON, || {
        let (provider, exporter) = host(Sampler::AlwaysOn);
        let telemetry = init(&provider);
        assert!(telemetry.is_exporting());
        let root = start("root", Parent::Current);
        let told = ids(&root.context().expect("it has ids"));
        let entered = root.entered();
        let child = start("child", Parent::Current);
        child.set_attribute("late", true);
        child.add_event("event", |attributes| attributes.set("e", "x"));
        child.set_status(Status::Error("bad".into()));
        child.end();
        entered.end();
        assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);

        let (root, child) = (exporter.span("root"), exporter.span("child"));
        assert_eq!(ids_of(&root), told);
        assert_eq!(child.span_context.trace_id(), root.span_context.trace_id());
        assert_eq!(child.parent_span_id, root.span_context.span_id());
        assert!(root.start_time <= child.start_time && child.start_time <= child.end_time);
        let attributes = [KeyValue::new("k", 1), KeyValue::new("late", true)];
        assert_eq!(child.attributes, attributes);
        assert_eq!(child.events.events[0].name, "event");
        assert_eq!(child.events.events[0].attributes, [KeyValue::new("e", "x")]);
        assert_eq!(child.status, otel::Status::error("bad"));
        assert_eq!(child.instrumentation_scope.name(), scope::HELPERS);

        let resource = exporter.resource.lock().clone().expect("a resource");
        assert_eq!(resource.len(), 1, "{resource:?}");
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!((receipt.traces.exported, receipt.traces.failed), (2, 0));
    });
}

#[test]
fn the_provider_is_never_shut_down_and_serves_its_owner_afterwards() {
    alone(&ON, || {
        let (provider, exporter) = host(Sampler::AlwaysOn);
        let telemetry = init(&provider);
        let open = start("still open", Parent::Current);
        let receipt = telemetry.shutdown(PATIENCE);
        assert_eq!(receipt.traces.truncated, 1);
        let truncated = exporter.span("still open");
        let mark = KeyValue::new("nemo.span.truncated", true);
        assert!(truncated.attributes.contains(&mark), "{truncated:?}");
        drop(open);
        assert!(!group::ROLLOUT.is_enabled());

        provider.tracer("host").start("afterwards").end();
        exporter.span("afterwards");
        assert_eq!(exporter.shutdowns.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn the_hosts_sampler_decides_and_everybody_below_hears_of_it() {
    alone(&ON, || {
        let (provider, exporter) = host(Sampler::AlwaysOff);
        let telemetry = init(&provider);
        let root = start("root", Parent::Current);
        let context = root.context().expect("ids, so that the decision travels");
        assert!(!root.is_recording() && !context.flags().is_sampled());
        drop(root);
        let remote = start("below", Parent::Remote(&context));
        assert!(!remote.is_recording());
        drop(remote);
        assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);
        assert_eq!(exporter.spans.lock().len(), 0);
    });
}

#[test]
fn spans_of_the_host_can_hang_below_ours() {
    alone(&ON, || {
        let (provider, exporter) = host(Sampler::AlwaysOn);
        let telemetry = init(&provider);
        let ours = start("ours", Parent::Current);
        let context = ours.context().expect("ids");
        let parent = otel::SpanContext::new(
            otel::TraceId::from_bytes(context.trace_id().to_bytes()),
            otel::SpanId::from_bytes(context.span_id().to_bytes()),
            otel::TraceFlags::SAMPLED,
            false,
            otel::TraceState::NONE,
        );
        let parent = OtelContext::new().with_remote_span_context(parent);
        let tracer = provider.tracer("host");
        tracer.start_with_context("theirs", &parent).end();
        ours.end();
        assert_eq!(telemetry.flush(PATIENCE), Outcome::Complete);
        let (ours, theirs) = (exporter.span("ours"), exporter.span("theirs"));
        assert_eq!(theirs.parent_span_id, ours.span_context.span_id());
    });
}

#[test]
fn nothing_is_started_while_telemetry_is_off() {
    alone(&[], || {
        let (provider, exporter) = host(Sampler::AlwaysOn);
        assert_eq!(
            init_telemetry_with_providers(identity(), Providers::new().tracer(provider)),
            None
        );
        start("root", Parent::Current).end();
        assert_eq!(exporter.spans.lock().len(), 0);
    });
}
