//! What the spans of sandboxes hold.

use gym_resources::{Cores, Gibibytes, Mebibytes, SandboxResourceAmounts, SandboxResources};
use gym_telemetry_api::{Attributes, Context, Parent, Span, SpanOptions, is_span_group_enabled};
use gym_telemetry_core::attribute::sandbox as key;
use gym_telemetry_core::value::StaticStr;
use gym_telemetry_core::{Value, attribute, group, span};

use super::identity::Identity;
use crate::allocation::Allocation;
use crate::sample::Sample;
use crate::unavailable::Unavailable;

/// Starts a span of the sandbox group, if that is on.
pub(super) fn start(
    name: &'static str,
    parent: Parent<'_>,
    describe: impl FnOnce(&mut Attributes<'_>),
) -> Span {
    if is_span_group_enabled(&group::SANDBOX) {
        let options = SpanOptions {
            parent,
            ..SpanOptions::default()
        };
        Span::start(name, options, describe)
    } else {
        Span::none()
    }
}

/// Whole numbers, as a request states them.
pub(super) fn requested(resources: &SandboxResources) -> [Option<Value<'_>>; 5] {
    [
        resources.cpu.map(|cpu| Value::F64(Cores::get(cpu))),
        resources.memory_mib.map(whole),
        resources.disk_gib.map(whole),
        resources.gpu.map(whole),
        resources.gpu_type.as_deref().map(Value::Str),
    ]
}

fn whole(number: u64) -> Value<'static> {
    i64::try_from(number).map_or(Value::U64(number), Value::I64)
}

/// Floating-point numbers, as everything is told that was not requested.
pub(super) fn amounts(amounts: &SandboxResourceAmounts) -> [Option<Value<'_>>; 5] {
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 devices")]
    let devices = |count: u64| Value::F64(count as f64);
    [
        amounts.cpu.map(|cpu| Value::F64(Cores::get(cpu))),
        amounts
            .memory_mib
            .map(|memory| Value::F64(Mebibytes::get(memory))),
        amounts
            .disk_gib
            .map(|disk| Value::F64(Gibibytes::get(disk))),
        amounts.gpu.map(devices),
        amounts.gpu_type.as_deref().map(Value::Str),
    ]
}

/// Sets the values that are there, with the keys in the same order.
pub(super) fn set(
    attributes: &mut Attributes<'_>,
    keys: [&'static str; 5],
    values: [Option<Value<'_>>; 5],
) {
    for (key, value) in keys.into_iter().zip(values) {
        attributes.set(key, &value);
    }
}

/// As [`set`], with keys that a number is part of.
pub(super) fn set_numbered(
    attributes: &mut Attributes<'_>,
    key: impl Fn(&str) -> String,
    values: [Option<Value<'_>>; 5],
) {
    for (resource, value) in key::RESOURCES.into_iter().zip(values) {
        if let Some(value) = value {
            attributes.set(key(resource), &value);
        }
    }
}

/// Records what came of reading the allocation.
pub(super) fn allocation(
    identity: &Identity,
    parent: &Context,
    source: Option<&'static str>,
    outcome: &Result<Allocation, Unavailable>,
) {
    let describe = |attributes: &mut Attributes<'_>| {
        identity.describe(attributes);
        status(attributes, source, outcome.as_ref().err());
        if let Ok(allocation) = outcome {
            describe_allocation(attributes, allocation);
        }
    };
    start(
        span::SANDBOX_RESOURCE_ALLOCATION,
        Parent::Context(parent),
        describe,
    )
    .end();
}

/// Records what came of reading a sample.
pub(super) fn sample(
    identity: &Identity,
    parent: &Context,
    source: Option<&'static str>,
    outcome: &Result<Sample, Unavailable>,
) {
    let describe = |attributes: &mut Attributes<'_>| {
        identity.describe(attributes);
        status(attributes, source, outcome.as_ref().err());
        if let Ok(sample) = outcome {
            attributes.set(key::SAMPLE_TIMESTAMP_MS, &sample.timestamp_ms);
            attributes.set(key::SAMPLE_CPU_COUNT, &sample.cpu_count);
            attributes.set(key::SAMPLE_CPU_USED_PERCENTAGE, &sample.cpu_used_percentage);
            attributes.set(key::SAMPLE_MEMORY_TOTAL_MIB, &sample.memory_total_mib);
            attributes.set(key::SAMPLE_MEMORY_USED_MIB, &sample.memory_used_mib);
        }
    };
    start(
        span::SANDBOX_RESOURCE_SAMPLE,
        Parent::Context(parent),
        describe,
    )
    .end();
}

fn status(attributes: &mut Attributes<'_>, source: Option<&'static str>, error: Option<&Unavailable>) {
    let word = if error.is_some() {
        key::UNAVAILABLE
    } else {
        key::AVAILABLE
    };
    attributes.set(key::RESOURCE_STATUS, &StaticStr(word));
    attributes.set(key::RESOURCE_SOURCE, &source.map(StaticStr));
    attributes.set(
        attribute::ERROR_TYPE,
        &error.map(|error| error.error_type()),
    );
}

fn describe_allocation(attributes: &mut Attributes<'_>, allocation: &Allocation) {
    // Identities first: a span has room for so many attributes, and components can be many.
    if let Some(designator) = &allocation.designator {
        let kind = StaticStr(designator.kind.as_str());
        attributes.set(key::ALLOCATION_DESIGNATOR_KIND, &kind);
        attributes.set(key::ALLOCATION_DESIGNATOR_SCOPE, &designator.scope);
        attributes.set(key::ALLOCATION_DESIGNATOR_ID, &designator.id);
    }
    if let Some(host) = &allocation.host {
        attributes.set(key::ALLOCATION_HOST_KIND, &StaticStr(host.kind.as_str()));
        attributes.set(key::ALLOCATION_HOST_SCOPE, &host.scope);
        attributes.set(key::ALLOCATION_HOST_ID, &host.id);
    }
    let known = || {
        let is_known = |component: &&crate::allocation::Component| {
            !component.requests.is_empty() || !component.limits.is_empty()
        };
        allocation.components.iter().filter(is_known)
    };
    attributes.set(key::ALLOCATION_COMPONENT_COUNT, &known().count());
    for (index, component) in known().enumerate() {
        attributes.set(key::component_name(index), &component.name);
        set_numbered(
            attributes,
            |resource| key::component_requests(index, resource),
            amounts(&component.requests),
        );
        set_numbered(
            attributes,
            |resource| key::component_limits(index, resource),
            amounts(&component.limits),
        );
    }
}
