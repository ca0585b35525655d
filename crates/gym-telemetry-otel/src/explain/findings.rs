//! Settings that are valid and still not what their author will have meant.

use gym_telemetry_core::config::{Finding, FindingKind};
use gym_telemetry_core::{SpanGroup, env, group, mask};
use http::uri::Scheme;

use crate::environment::EnvSource;
use crate::export::check_tls;
use crate::settings::{ExporterKind, Protocol, Settings, Signal, SignalKind};

/// The ports on which collectors listen for gRPC and for HTTP.
const GRPC_PORT: u16 = 4317;
const HTTP_PORT: u16 = 4318;

/// The proxies of other programs, of which those for a URL's scheme come first.
const PROXIES: [(&str, [&str; 4]); 2] = [
    (
        "https",
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
    ),
    (
        "http",
        ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    ),
];

/// What is suspicious about settings that are on.
pub(super) fn of_settings(settings: &Settings, env: &dyn EnvSource, findings: &mut Vec<Finding>) {
    let signals = [
        (SignalKind::Traces, &settings.traces),
        (SignalKind::Metrics, &settings.metrics),
        (SignalKind::Logs, &settings.logs),
    ];
    if !settings.traces.is_on() && !settings.metrics.is_on() {
        findings.push(Finding::new(
            FindingKind::NothingExported,
            "telemetry is on, but neither traces nor metrics have an exporter",
        ));
    }
    for (kind, signal) in signals {
        if signal.exporter == ExporterKind::Otlp {
            endpoint(kind, signal, env, findings);
        }
    }
    if settings.traces.is_on() {
        groups(settings, findings);
        sampler(settings, findings);
    }
}

fn endpoint(kind: SignalKind, signal: &Signal, env: &dyn EnvSource, findings: &mut Vec<Finding>) {
    let shown = mask::endpoint(&signal.endpoint);
    let uri: Option<http::Uri> = signal.endpoint.parse().ok();
    let (host, port) = match &uri {
        Some(uri) => (uri.host().unwrap_or_default(), uri.port_u16()),
        None => ("", None),
    };
    let (name, protocol) = (kind.name(), signal.protocol.name());
    let is_grpc = signal.protocol == Protocol::Grpc;
    let usual = match port {
        Some(HTTP_PORT) if is_grpc => Some("HTTP"),
        Some(GRPC_PORT) if !is_grpc => Some("gRPC"),
        _ => None,
    };
    if let (Some(usual), Some(port)) = (usual, port) {
        findings.push(Finding::new(
            FindingKind::PortMismatch,
            format!(
                "{name} go to {shown} with {protocol}, but {port} is the usual port for {usual}"
            ),
        ));
    }
    if let Some(proxy) = proxy(env, &signal.endpoint, host) {
        super::push(
            findings,
            Finding::new(
                FindingKind::Proxy,
                format!(
                    "{proxy} is set, but telemetry does not go through a proxy: {shown} has to be reachable directly \
                     (list {host} in NO_PROXY for other programs of the run)"
                ),
            ),
        );
    }
    if uri.is_some_and(|uri| uri.scheme() == Some(&Scheme::HTTPS))
        && let Err(error) = check_tls(&signal.tls)
    {
        super::push(
            findings,
            Finding::new(FindingKind::UnreadableFile, error.to_string()),
        );
    }
}

/// The proxy variable that programs would heed for this URL.
fn proxy(env: &dyn EnvSource, url: &str, host: &str) -> Option<&'static str> {
    let is_loopback = host.eq_ignore_ascii_case("localhost")
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    if is_loopback || is_exempt(env, host) {
        return None;
    }
    let scheme = url.split("://").next()?;
    let (_, names) = PROXIES.iter().find(|(known, _)| *known == scheme)?;
    names.iter().copied().find(|name| env.text(name).is_some())
}

fn is_exempt(env: &dyn EnvSource, host: &str) -> bool {
    let list = env.text("NO_PROXY").or_else(|| env.text("no_proxy"));
    list.is_some_and(|list| {
        list.split(',').map(str::trim).any(|entry| {
            let suffix = entry.trim_start_matches('*').trim_start_matches('.');
            entry == "*"
                || (!suffix.is_empty()
                    && (host.eq_ignore_ascii_case(suffix)
                        || host
                            .to_ascii_lowercase()
                            .ends_with(&format!(".{}", suffix.to_ascii_lowercase()))))
        })
    })
}

fn groups(settings: &Settings, findings: &mut Vec<Finding>) {
    let resolution = SpanGroup::resolve(&settings.span_groups);
    for unknown in &resolution.unknown {
        let shown: String = unknown.chars().take(60).collect();
        findings.push(Finding::new(
            FindingKind::UnknownName,
            format!(
                "span_groups names {shown:?}, which is no span group{}; there are {}",
                crate::config::did_you_mean(unknown, &resolution.registered),
                resolution.registered.join(", ")
            ),
        ));
    }
    let has = |wanted: &SpanGroup| {
        resolution
            .groups
            .iter()
            .any(|group| group.name() == wanted.name())
    };
    let missing: Vec<_> = [&group::HTTP_CLIENT, &group::SERVER]
        .into_iter()
        .filter(|wanted| !has(wanted))
        .map(SpanGroup::name)
        .collect();
    if !missing.is_empty() {
        findings.push(Finding::new(
            FindingKind::BrokenTraces,
            format!(
                "the span groups {:?} leave out {}: the traces of different processes will not join",
                settings.span_groups,
                missing.join(" and ")
            ),
        ));
    }
    if !settings.propagate {
        findings.push(Finding::new(
            FindingKind::BrokenTraces,
            format!(
                "{} switches trace headers off: the traces of different processes will not join",
                env::OTEL_PROPAGATORS
            ),
        ));
    }
    if has(&group::JOB) {
        findings.push(Finding::new(
            FindingKind::OneTrace,
            "the span groups hold job, so the whole run is one trace: use per_rollout for long runs",
        ));
    }
}

fn sampler(settings: &Settings, findings: &mut Vec<Finding>) {
    if settings.sampler.ratio <= 0.0 {
        let source = settings
            .effective
            .iter()
            .find(|setting| setting.name == "sampler.ratio")
            .map_or_else(String::new, |setting| format!(" ({})", setting.source));
        findings.push(Finding::new(
            FindingKind::NothingSampled,
            format!("the sampler drops every trace that starts in this process{source}"),
        ));
    }
}
