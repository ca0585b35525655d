//! What arrives at a collector, and what is told if nothing does.

pub(crate) mod codecs;
mod deliveries;
mod failures;
#[path = "../../../tests/support/tls.rs"]
mod front;
mod logs;
mod odd;
mod readable;
mod tls;

use std::borrow::Cow;
use std::time::{Duration, UNIX_EPOCH};

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::span::SpanPipe;
use crate::collector::DEADLINE;
use crate::settings::{ExporterKind, Protocol, Settings, Signal};
use crate::test_env::Vars;

const BOTH: [Protocol; 2] = [Protocol::Grpc, Protocol::HttpProtobuf];

fn signal(protocol: Protocol, endpoint: &str, path: &str) -> Signal {
    let endpoint = match protocol {
        Protocol::Grpc => endpoint.to_owned(),
        Protocol::HttpProtobuf | Protocol::HttpJson => format!("{endpoint}{path}"),
    };
    Signal {
        exporter: ExporterKind::Otlp,
        protocol,
        endpoint,
        headers: vec![
            ("X-Team".to_owned(), "rl=1".to_owned()),
            ("authorization".to_owned(), "Bearer S3CR3T".to_owned()),
        ],
        timeout: Duration::from_secs(20),
        ..Signal::off()
    }
}

pub(crate) fn settings(protocol: Protocol, endpoint: &str) -> Settings {
    let enabled = Vars::new(&[("NEMO_GYM_OTEL_ENABLED", "1")]);
    let settings = Settings::resolve(&enabled)
        .expect("valid settings")
        .expect("telemetry is on");
    Settings {
        traces: signal(protocol, endpoint, "/v1/traces"),
        metrics: signal(protocol, endpoint, "/v1/metrics"),
        logs: signal(protocol, endpoint, "/v1/logs"),
        ..settings
    }
}

pub(crate) fn resource() -> Resource {
    Resource::builder_empty()
        .with_attribute(KeyValue::new("service.name", "nemo-gym/agent"))
        .build()
}

fn pipe(settings: &Settings) -> SpanPipe {
    SpanPipe::build(settings, &resource())
        .expect("the settings are fine")
        .expect("traces are on")
}

pub(crate) fn span(name: &'static str) -> SpanData {
    SpanData {
        span_context: SpanContext::new(
            TraceId::from(0xab),
            SpanId::from(0xcd),
            TraceFlags::new(3),
            false,
            TraceState::default(),
        ),
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: Cow::Borrowed(name),
        start_time: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
        end_time: UNIX_EPOCH + Duration::from_secs(1_700_000_001),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("nemo.lens").build(),
    }
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made")
        .block_on(async {
            tokio::time::timeout(DEADLINE, future)
                .await
                .expect("no hang")
        })
}
