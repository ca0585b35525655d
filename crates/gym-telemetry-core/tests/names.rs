//! The names that go over the wire.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use gym_telemetry_core::env::{GYM_PREFIX, LENS_PREFIX, SETTINGS};
use gym_telemetry_core::metric::{self, MetricKind};
use gym_telemetry_core::registry::{
    self, ATTRIBUTES, EVENTS, LOG, METRICS, RESOURCE, SPANS, SpanDescriptor,
};
use gym_telemetry_core::{MetricDescriptor, SpanKind, span};

#[test]
fn metrics_have_a_name_of_their_own_and_are_sorted() {
    let names: Vec<_> = METRICS.iter().map(|metric| metric.name).collect();
    assert!(names.is_sorted());
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
}

#[test]
fn exactly_the_histograms_have_bounds_and_they_ascend() {
    for MetricDescriptor {
        name, kind, bounds, ..
    } in METRICS
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
    } in METRICS
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
fn every_attribute_has_an_entry_and_every_entry_a_place() {
    let spans = SPANS.iter().flat_map(SpanDescriptor::attributes);
    let events = EVENTS.iter().flat_map(|event| event.attributes).copied();
    let metrics = METRICS.iter().flat_map(|metric| metric.attributes).copied();
    let placed: BTreeSet<_> = spans
        .chain(events)
        .chain(metrics)
        .chain(RESOURCE.iter().copied())
        .chain(LOG.iter().copied())
        .collect();
    let listed: Vec<_> = ATTRIBUTES.iter().map(|attribute| attribute.key).collect();
    assert_eq!(listed, placed.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_span_is_found_by_its_name_and_kind() {
    let name = |name, kind| registry::span(name, kind).map(|span| span.name);
    for called in ["POST /verify", "GET", "HTTP /v1", "HTTP"] {
        assert_eq!(name(called, SpanKind::Server), Some("<method> <route>"));
    }
    for called in ["HTTP", "HTTP POST"] {
        assert_eq!(name(called, SpanKind::Client), Some("HTTP <method>"));
    }
    for called in [
        "FETCH /verify",
        "gym.verify",
        "/verify",
        "GET ",
        "GET verify",
        "GET /verify?task=1",
        "GET /verify 1",
    ] {
        assert_eq!(name(called, SpanKind::Server), None, "{called}");
        assert_eq!(name(called, SpanKind::Client), None, "{called}");
    }
    assert_eq!(name("HTTP FETCH", SpanKind::Client), None);
    assert_eq!(name("gym.verify", SpanKind::Internal), Some("gym.verify"));
    let names: Vec<_> = SPANS.iter().map(|span| span.name).collect();
    assert!(names.is_sorted_by(|one, other| one < other), "{names:?}");
}

/// The registry as text: what dashboards, queries and servers in other languages rely on.
fn registry() -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(line.trim_end());
        text.push('\n');
    };
    for span in SPANS {
        let kind = format!("{:?}", span.kind).to_lowercase();
        line(format!(
            "span {:?} {kind} group={}",
            span.name,
            span.group.name()
        ));
        for key in span.attributes().collect::<BTreeSet<_>>() {
            line(format!("  {key}"));
        }
    }
    for event in EVENTS {
        line(format!("event {}", event.name));
        event
            .attributes
            .iter()
            .for_each(|key| line(format!("  {key}")));
    }
    for metric in METRICS {
        let MetricDescriptor {
            name, kind, unit, ..
        } = metric;
        line(format!("metric {name} {kind:?} {unit:?}"));
        if !metric.bounds.is_empty() {
            line(format!("  bounds {:?}", metric.bounds));
        }
        metric
            .attributes
            .iter()
            .for_each(|key| line(format!("  {key}")));
    }
    for attribute in ATTRIBUTES {
        let place = match attribute.key {
            key if RESOURCE.contains(&key) => "resource",
            key if LOG.contains(&key) => "log",
            _ => "",
        };
        line(format!(
            "attribute {} {:?} {place}",
            attribute.key, attribute.kind
        ));
    }
    text
}

/// A short name of a text (FNV-1a).
fn digest(text: &str) -> String {
    let add = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    format!("{:08x}", text.bytes().fold(2_166_136_261, add))
}

#[test]
fn the_registry_changes_with_a_line_in_the_changelog_only() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = here.join("tests/registry.golden");
    let now = registry();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &now).expect("the repository can be written to");
    }
    let known = std::fs::read_to_string(&golden).unwrap_or_default();
    let differs = now
        .lines()
        .zip(known.lines())
        .find(|(now, known)| now != known);
    assert!(
        now == known,
        "the registry is not what {} says, first at {differs:?}; if that is meant, run this test with UPDATE_GOLDEN=1 \
         and tell users in CHANGELOG.md",
        golden.display()
    );
    let changelog = std::fs::read_to_string(here.join("../../CHANGELOG.md")).expect("there is one");
    let mark = format!("<!-- registry {} -->", digest(&now));
    assert!(
        changelog.contains(&mark),
        "names, types, units or bounds have changed: tell users in a line of CHANGELOG.md that ends in {mark}"
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
