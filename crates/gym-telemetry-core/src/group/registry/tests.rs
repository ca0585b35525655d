//! The registry, with groups of each test's own.

mod reporting;
mod resolving;
mod switching;

use super::*;
use crate::group::registration::OWN;

fn group(name: &'static str) -> &'static SpanGroup {
    Box::leak(Box::new(SpanGroup::new(name)))
}

/// The gym's groups and presets, but with flags of the test's own.
fn own() -> Registry {
    let groups: Vec<_> = OWN.groups.iter().map(|known| group(known.name())).collect();
    let mut registry = Registry::default();
    registry
        .register(&Registration {
            groups: &groups,
            ..OWN
        })
        .expect("the names are valid");
    registry
}

fn library<'a>(groups: &'a [&'static SpanGroup], presets: &'a [Preset<'a>]) -> Registration<'a> {
    Registration {
        namespace: "library",
        groups,
        presets,
    }
}

fn selected(registry: &Registry, spec: &str) -> Vec<&'static str> {
    registry
        .resolve(spec)
        .groups
        .iter()
        .map(|group| group.name())
        .collect()
}

fn enabled(registry: &Registry) -> Vec<&'static str> {
    let mut names: Vec<_> = registry
        .groups()
        .filter(|group| group.is_enabled())
        .map(SpanGroup::name)
        .collect();
    names.sort_unstable();
    names
}

const DEFAULT: [&str; 4] = ["http_client", "job", "rollout", "server"];
