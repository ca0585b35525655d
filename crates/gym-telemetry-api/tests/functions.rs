//! The functions and methods have one signature in both builds, and are harmless in a process without telemetry.

mod support;

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_api::outcome::{ModelCall, RolloutOutcome};
use gym_telemetry_api::{
    Attributes, Baggage, ChildEnv, ConfigError, ConfigSource, Context, ContextGuard,
    DEFAULT_SHUTDOWN_BUDGET, Entered, FutureExt, InContext, InSpan, InSpanErr, MemoryPeaks,
    MemoryProfiler, MemoryProfilingConfig, Parent, ProfiledServer, ServerIdentity, ServerType,
    ShutdownReceipt, Span, SpanContext, SpanGroup, SpanKind, SpanOptions, Status, StatusStyle,
    Stopwatch, TELEMETRY_COMPILED_IN, TelemetryConfig, TelemetryHandle, carry,
    configure_telemetry_env, get_telemetry, group, init_telemetry, install_log_bridge,
    is_span_group_enabled, is_telemetry_env_enabled, is_telemetry_metrics_enabled,
    load_telemetry_config, memory_profiling_config_from_env, observe_current_runtime,
    record_active_servers, record_model_call, record_rollout, record_rollout_outcome,
    record_verify, set_current_attributes, shutdown_telemetry, shutdown_telemetry_async,
    telemetry_config_from_global_config, with_current_span,
};
use support::block_on;

type ConfigResult = Result<TelemetryConfig, ConfigError>;
type MemoryResult = Result<MemoryProfilingConfig, ConfigError>;

#[test]
fn functions_have_one_signature() {
    let _: bool = TELEMETRY_COMPILED_IN;
    let _: Duration = DEFAULT_SHUTDOWN_BUDGET;
    let _: fn(&SpanGroup) -> bool = is_span_group_enabled;
    let _: fn(Option<&TelemetryConfig>) -> Option<ChildEnv> = configure_telemetry_env;
    let _: fn(ServerIdentity) -> Option<TelemetryHandle> = init_telemetry;
    let _: fn() = install_log_bridge;
    let _: fn() -> Option<TelemetryHandle> = get_telemetry;
    let _: fn(Duration) -> ShutdownReceipt = shutdown_telemetry;
    let _: fn() -> bool = is_telemetry_env_enabled;
    let _: fn() -> bool = is_telemetry_metrics_enabled;
    let _: fn(MemoryProfilingConfig) -> MemoryResult = memory_profiling_config_from_env;
    let _: fn(&ConfigSource) -> ConfigResult = telemetry_config_from_global_config;
    let _: fn(&ConfigSource) -> ConfigResult = load_telemetry_config;
    let _: fn(Duration) = record_rollout;
    let _: fn(Duration, bool) = record_verify;
    let _: fn(u64) = record_active_servers;
    let _: fn(&ModelCall<'_>) = record_model_call;
    let _: fn(RolloutOutcome<'_>) = record_rollout_outcome;
    let _: fn(TelemetryHandle) -> bool = |handle| handle.is_exporting();
    let _: fn(&TelemetryHandle, Duration) -> gym_telemetry_core::receipt::Outcome =
        TelemetryHandle::flush;
    let _: fn(&TelemetryHandle, Duration) -> ShutdownReceipt = TelemetryHandle::shutdown;
    let _ = |handle: TelemetryHandle| async move {
        let _: gym_telemetry_core::receipt::Outcome = handle.flush_async(Duration::ZERO).await;
        let _: ShutdownReceipt = handle.shutdown_async(Duration::ZERO).await;
    };
    let _: fn() = observe_current_runtime;
    let _: fn([ProfiledServer; 1]) -> Option<MemoryProfiler> = MemoryProfiler::start;
    let _: fn(&MemoryProfiler) -> MemoryPeaks = MemoryProfiler::stop;
    let _: fn() -> Stopwatch = Stopwatch::start;
    let _: fn(&Stopwatch) -> Option<Duration> = Stopwatch::elapsed;
}

#[test]
fn methods_of_a_span_that_is_not_recorded_do_nothing() {
    const NONE: Span = Span::none();
    let remote =
        SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03");
    let remote = remote.expect("a valid header");
    let options = SpanOptions {
        kind: SpanKind::Server,
        parent: Parent::Remote(&remote),
        scope: "scope",
        record_exception: false,
        status_style: StatusStyle::TypeAndMessage,
        links: &[],
    };
    let describe = |attributes: &mut Attributes<'_>| {
        attributes.set("key", "value");
        attributes.set(String::from("key"), &1);
    };
    let span = Span::start("name", options, describe);
    span.set_attribute("key", 1);
    span.set_attributes([("key", 1), ("other", 2)]);
    span.set_attributes_redacting(&["other"], describe);
    span.add_event("event", describe);
    span.add_link(&remote, describe);
    span.update_name(String::from("another"));
    span.set_status(Status::Error("description".into()));
    span.record_error("an error");
    span.record_error(&std::fmt::Error);
    assert!(!span.is_recording());
    assert_eq!(span.context(), None);
    assert_eq!(span.run(|| 7), 7);
    let entered: Entered = span.entered();
    let span: Span = entered.exit();
    span.end();
    NONE.entered().end();
    assert!(!Span::default().is_recording());
    assert!(!with_current_span(Span::is_recording));
    set_current_attributes(|_| panic!("no span is current"));
}

#[test]
fn futures_are_wrapped_by_every_method() {
    let in_span: InSpan<_> = ready(1).in_span(Span::none());
    let in_span_err: InSpanErr<_> = ready(Ok::<_, String>(2)).in_span_err(Span::none());
    let in_context: InContext<_> = ready(3).in_context(Context::root());
    let in_current_context: InContext<_> = ready(4).in_current_context();
    assert_eq!((block_on(in_span), block_on(in_span_err)), (1, Ok(2)));
    assert_eq!((block_on(in_context), block_on(in_current_context)), (3, 4));
}

#[test]
fn a_context_can_be_made_and_made_current() {
    let baggage: Option<Baggage> = None;
    let id: Arc<str> = "3-1".into();
    let context = Context::root()
        .with_remote(None, baggage)
        .with_span(&Span::none())
        .with_rollout_id(id);
    let rollout_id: Option<&Arc<str>> = context.rollout_id();
    // Without telemetry nobody asks for it.
    assert_eq!(rollout_id.is_some(), TELEMETRY_COMPILED_IN);
    assert!(context.baggage().is_none());
    assert_eq!(context.span_context(), None);
    let guard: ContextGuard = context.attach();
    assert_eq!(context.run(carry(|| 5)), 5);
    drop(guard);
    assert_eq!(Context::current().rollout_id(), None);
}

#[test]
fn a_process_without_telemetry_answers_at_once() {
    assert!(!is_span_group_enabled(&group::JOB));
    assert!(get_telemetry().is_none());
    record_rollout(Duration::from_secs(1));
    record_verify(Duration::from_secs(1), true);
    record_active_servers(3);
    let own = ProfiledServer::new("own", ServerType::Orchestrator, std::process::id());
    assert!(MemoryProfiler::start([own]).is_none());
    observe_current_runtime();
    assert!(shutdown_telemetry(DEFAULT_SHUTDOWN_BUDGET).is_complete());
    assert!(block_on(shutdown_telemetry_async(DEFAULT_SHUTDOWN_BUDGET)).is_complete());
    let defaults = MemoryProfilingConfig::default();
    assert_eq!(
        memory_profiling_config_from_env(defaults).ok(),
        Some(defaults)
    );
}

#[test]
fn compiled_out_no_setting_switches_anything_on() {
    if TELEMETRY_COMPILED_IN {
        return;
    }
    let source = ConfigSource::yaml("telemetry:\n  enabled: true\n");
    let config = telemetry_config_from_global_config(&source).expect("it is not read");
    assert_eq!(config, TelemetryConfig::default());
    let broken = ConfigSource::yaml("telemetry: [");
    assert_eq!(
        load_telemetry_config(&broken).expect("it is not read"),
        TelemetryConfig::default()
    );
    let mut enabled = TelemetryConfig::default();
    enabled.enabled = true;
    assert!(configure_telemetry_env(Some(&enabled)).is_none());
    assert!(init_telemetry(ServerIdentity::default()).is_none());
    assert!(!is_telemetry_env_enabled());
    assert!(!is_telemetry_metrics_enabled());
}
