//! The tables of all names that go over the wire, made from the registry of the vocabulary crate.

use std::collections::HashMap;

use gym_telemetry_core::attribute::sandbox::RESOURCES;
use gym_telemetry_core::metric::MetricKind;
use gym_telemetry_core::registry::{self, ATTRIBUTES, EVENTS, METRICS, RESOURCE, SPANS, ValueKind};
use gym_telemetry_core::{SpanKind, attribute};

use super::source::{text_constant, vocabulary};
use super::tables::{header, row};
use crate::failure::{Failure, Result};

/// Metrics whose names start with one of these.
pub(super) fn metrics(prefixes: &[&str]) -> Result<String> {
    let mut text = header(&["metric", "kind", "unit", "meaning", "attributes"]);
    let listed = METRICS.iter().filter(|metric| {
        prefixes
            .iter()
            .any(|prefix| metric.name.starts_with(prefix))
    });
    for metric in listed {
        let attributes: Vec<String> = metric
            .attributes
            .iter()
            .map(|key| format!("`{key}`"))
            .collect();
        row(
            &mut text,
            &[
                format!("`{}`", metric.name),
                kind(metric.kind)?.to_owned(),
                metric.unit.to_owned(),
                metric.description.to_owned(),
                attributes.join(", "),
            ],
        );
    }
    Ok(text)
}

/// The bounds of histograms, metrics with equal bounds in one row.
pub(super) fn metric_bounds() -> String {
    let mut rows: Vec<(&[f64], &str, Vec<String>)> = Vec::new();
    for metric in METRICS.iter().filter(|metric| !metric.bounds.is_empty()) {
        let name = format!("`{}`", metric.name);
        let same =
            |row: &&mut (&[f64], &str, Vec<String>)| (row.0, row.1) == (metric.bounds, metric.unit);
        match rows.iter_mut().find(same) {
            Some((_, _, names)) => names.push(name),
            None => rows.push((metric.bounds, metric.unit, vec![name])),
        }
    }
    let mut text = header(&["histograms", "unit", "upper bounds of the buckets"]);
    for (bounds, unit, names) in rows {
        let bounds: Vec<_> = bounds.iter().map(f64::to_string).collect();
        row(
            &mut text,
            &[names.join(", "), unit.to_owned(), bounds.join(" ")],
        );
    }
    text
}

/// Spans with the attributes that stand on them, those apart that may stand on any.
pub(super) fn spans() -> Result<String> {
    let meanings = meanings(&["span.rs"])?;
    let mut text = header(&["span", "kind", "group", "meaning", "attributes"]);
    for span in SPANS {
        let meaning = match span.kind {
            SpanKind::Server => "An inbound request; the method alone where no route matched.",
            SpanKind::Client => "An outbound request.",
            _ => meaning_of(&meanings, span.name)?,
        };
        let common = [attribute::SPAN_TRUNCATED];
        let mut keys: Vec<_> = span
            .attributes()
            .filter(|key| !common.contains(key))
            .collect();
        keys.sort_unstable();
        let keys: Vec<_> = compact(&keys);
        row(
            &mut text,
            &[
                format!("`{}`", span.name),
                format!("{:?}", span.kind).to_lowercase(),
                format!("`{}`", span.group.name()),
                meaning.to_owned(),
                keys.join(", "),
            ],
        );
    }
    Ok(text)
}

/// Keys that differ in the resource alone become one.
fn compact(keys: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for key in keys {
        let shown = format!("`{}`", of_any_resource(key).unwrap_or((*key).to_owned()));
        if !all.contains(&shown) {
            all.push(shown);
        }
    }
    all
}

/// The key with `<resource>` for the resource that it ends in, where there is such a key for each resource.
fn of_any_resource(key: &str) -> Option<String> {
    let (stem, last) = key.rsplit_once('.')?;
    let with = |resource: &str| registry::attribute(&format!("{stem}.{resource}")).is_some();
    (RESOURCES.contains(&last) && RESOURCES.into_iter().all(with))
        .then(|| format!("{stem}.<resource>"))
}

/// Attributes of spans and metrics.
pub(super) fn attributes() -> Result<String> {
    let meanings = meanings(&["attribute.rs", "attribute/sandbox.rs"])?;
    let mut text = header(&["attribute", "type", "meaning"]);
    for entry in ATTRIBUTES {
        let on_spans = SPANS
            .iter()
            .any(|span| span.attributes().any(|key| key == entry.key));
        let on_metrics = METRICS
            .iter()
            .any(|metric| metric.attributes.contains(&entry.key));
        if !on_spans && !on_metrics {
            continue;
        }
        let meaning = match numbered(entry.key) {
            Some(meaning) => meaning,
            None => meaning_of(&meanings, entry.key)?.to_owned(),
        };
        row(
            &mut text,
            &[
                format!("`{}`", entry.key),
                value_kind(entry.kind)?.to_owned(),
                meaning,
            ],
        );
    }
    Ok(text)
}

/// The meaning of a key that functions and arrays of the vocabulary make.
fn numbered(key: &str) -> Option<String> {
    let rest = key.strip_prefix("nemo.gym.sandbox.")?;
    let (stem, last) = rest.rsplit_once('.')?;
    let resource = match last {
        "cpu" => "CPU cores",
        "memory_mib" => "memory in MiB",
        "disk_gib" => "disk in GiB",
        "gpu" => "GPUs",
        "gpu_type" => "selector of the GPU type",
        _ => "name",
    };
    let what = match stem {
        "requested" => "that the caller asked for",
        "requested.sidecar.<i>" => "of a requested sidecar",
        "submitted.requests" => "set aside, as submitted to the provider",
        "submitted.limits" => "as a limit, as submitted to the provider",
        "allocation.component.<i>" => "of a component of the allocation",
        "allocation.component.<i>.requests" => "set aside for a component, as the provider says",
        "allocation.component.<i>.limits" => "as a limit of a component, as the provider says",
        _ => return None,
    };
    (RESOURCES.contains(&last) || last == "name").then(|| {
        let mut text = format!("{resource} {what}.");
        text[..1].make_ascii_uppercase();
        text
    })
}

/// Events with their attributes.
pub(super) fn events() -> Result<String> {
    let names = meanings(&["event.rs"])?;
    let keys = meanings(&["attribute.rs"])?;
    let mut text = header(&["event", "meaning", "attributes"]);
    for event in EVENTS {
        let mut attributes = Vec::new();
        for key in event.attributes {
            attributes.push(format!(
                "`{key}`: {}",
                meaning_of(&keys, key)?.trim_end_matches('.')
            ));
        }
        row(
            &mut text,
            &[
                format!("`{}`", event.name),
                meaning_of(&names, event.name)?.to_owned(),
                attributes.join("; "),
            ],
        );
    }
    Ok(text)
}

/// Attributes of the resource.
pub(super) fn resource() -> Result<String> {
    let meanings = meanings(&["attribute.rs"])?;
    let mut text = header(&["attribute", "type", "meaning"]);
    for key in RESOURCE {
        let entry = registry::attribute(key)
            .ok_or_else(|| Failure::new(format!("`{key}` is in no registry")))?;
        let meaning = meaning_of(&meanings, key)?.to_owned();
        row(
            &mut text,
            &[
                format!("`{key}`"),
                value_kind(entry.kind)?.to_owned(),
                meaning,
            ],
        );
    }
    Ok(text)
}

/// What the comments of the vocabulary say of each name.
fn meanings(files: &[&str]) -> Result<HashMap<String, String>> {
    let mut meanings = HashMap::new();
    for file in files {
        for item in vocabulary(file)? {
            if let Some((_, value)) = text_constant(&item) {
                meanings.insert(value.to_owned(), item.meaning.clone());
            }
        }
    }
    Ok(meanings)
}

fn meaning_of<'a>(meanings: &'a HashMap<String, String>, name: &str) -> Result<&'a str> {
    meanings
        .get(name)
        .map(String::as_str)
        .ok_or_else(|| Failure::new(format!("no comment says what `{name}` is")))
}

fn value_kind(kind: ValueKind) -> Result<&'static str> {
    Ok(match kind {
        ValueKind::Text => "text",
        ValueKind::Boolean => "boolean",
        ValueKind::Integer => "integer",
        ValueKind::Float => "float",
        _ => return Err(Failure::new(format!("no word for the type {kind:?}"))),
    })
}

fn kind(kind: MetricKind) -> Result<&'static str> {
    Ok(match kind {
        MetricKind::Counter => "counter",
        MetricKind::UpDownCounter => "up-down counter",
        MetricKind::Histogram => "histogram",
        MetricKind::Gauge => "gauge",
        MetricKind::ObservableCounter => "observable counter",
        MetricKind::ObservableUpDownCounter => "observable up-down counter",
        MetricKind::ObservableGauge => "observable gauge",
        _ => return Err(Failure::new(format!("no word for the instrument {kind:?}"))),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use gym_telemetry_core::registry::SpanDescriptor;

    use super::*;

    #[test]
    fn every_entry_of_the_registry_has_a_row() {
        let rows =
            |table: Result<String>| table.expect("every name has a meaning").lines().count() - 2;
        assert_eq!(rows(metrics(&[""])), METRICS.len());
        assert_eq!(rows(spans()), SPANS.len());
        assert_eq!(rows(events()), EVENTS.len());
        assert_eq!(rows(resource()), RESOURCE.len());
        // Those of events and of log records alone stand elsewhere, as those of the resource do.
        let spans = SPANS.iter().flat_map(SpanDescriptor::attributes);
        let metrics = METRICS.iter().flat_map(|metric| metric.attributes).copied();
        let keys: HashSet<_> = spans.chain(metrics).collect();
        assert_eq!(rows(attributes()), keys.len());
    }

    #[test]
    fn metrics_with_the_same_bounds_share_a_row() {
        let text = metric_bounds();
        let verify = text
            .lines()
            .find(|line| line.contains("`gym.verify.duration_ms`"));
        assert!(
            verify.is_some_and(|line| line.contains("`gym.rollout.duration_ms`")),
            "{text}"
        );
        assert_eq!(text.matches("`gym.verify.duration_ms`").count(), 1);
    }
}
