//! What the sandbox of a rollout asked for, was given and used.

use std::fmt::Write as _;

use gym_telemetry_core::{attribute, span};
use serde_json::{Map, Value};

/// What the spans of one trace tell about sandboxes.
#[derive(Clone, Debug, Default)]
pub(super) struct Sandboxes {
    requested_cpu: Option<f64>,
    requested_mib: Option<f64>,
    allocated_cpu: Option<f64>,
    allocated_mib: Option<f64>,
    /// Why the allocation could not be read.
    unavailable: Option<String>,
    peak_mib: Option<f64>,
    peak_cpu: Option<f64>,
    samples: usize,
}

impl Sandboxes {
    /// Whether there is anything to tell.
    pub(super) fn is_empty(&self) -> bool {
        self.requested_mib.is_none() && self.samples == 0
    }

    /// Takes what a span tells.
    pub(super) fn add(&mut self, name: &str, attributes: &Map<String, Value>) {
        let number = |key: &str| attributes.get(key).and_then(Value::as_f64);
        match name {
            span::SANDBOX_REQUEST => {
                self.requested_cpu = sum(self.requested_cpu, number(REQUESTED_CPU));
                self.requested_mib = sum(self.requested_mib, number(REQUESTED_MIB));
            }
            span::SANDBOX_RESOURCE_ALLOCATION => {
                let limit = |resource| number(&attribute::sandbox::component_limits(0, resource));
                self.allocated_cpu = sum(self.allocated_cpu, limit("cpu"));
                self.allocated_mib = sum(self.allocated_mib, limit("memory_mib"));
                let error = attributes
                    .get(attribute::ERROR_TYPE)
                    .and_then(Value::as_str);
                self.unavailable = self.unavailable.take().or(error.map(str::to_owned));
            }
            span::SANDBOX_RESOURCE_SAMPLE => {
                let used = number(attribute::sandbox::SAMPLE_MEMORY_USED_MIB);
                let busy = number(attribute::sandbox::SAMPLE_CPU_USED_PERCENTAGE);
                self.samples += usize::from(used.is_some());
                self.peak_mib = greatest(self.peak_mib, used);
                self.peak_cpu = greatest(self.peak_cpu, busy);
            }
            _ => {}
        }
    }

    /// One line for a person. What is not known is not told.
    pub(super) fn describe(&self) -> String {
        let mut text = String::from("requested");
        amounts(&mut text, self.requested_cpu, self.requested_mib);
        text.push_str(" · allocated");
        match &self.unavailable {
            Some(error) => _ = write!(text, " unavailable ({error})"),
            None => amounts(&mut text, self.allocated_cpu, self.allocated_mib),
        }
        text.push_str(" · peak used");
        if let Some(mebibytes) = self.peak_mib {
            _ = write!(text, " {mebibytes:.1} MiB");
        }
        if let Some(share) = self.peak_cpu {
            _ = write!(text, ", {share:.0} % of the CPUs");
        }
        _ = write!(text, " in {} samples", self.samples);
        text
    }
}

/// `cpu` and `memory_mib` are the first two resources.
const REQUESTED_CPU: &str = attribute::sandbox::REQUESTED[0];
const REQUESTED_MIB: &str = attribute::sandbox::REQUESTED[1];

fn amounts(text: &mut String, cpu: Option<f64>, mebibytes: Option<f64>) {
    match (cpu, mebibytes) {
        (Some(cpu), Some(mebibytes)) => _ = write!(text, " {cpu} CPU, {mebibytes} MiB"),
        (Some(cpu), None) => _ = write!(text, " {cpu} CPU"),
        (None, Some(mebibytes)) => _ = write!(text, " {mebibytes} MiB"),
        (None, None) => text.push_str(" nothing that is known"),
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

fn greatest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::Sandboxes;

    fn attributes(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn peaks_are_of_all_samples_and_what_is_not_known_is_not_told() {
        let mut sandboxes = Sandboxes::default();
        assert!(sandboxes.is_empty());
        let requested = json!({"nemo.gym.sandbox.requested.cpu": 2.0, "nemo.gym.sandbox.requested.memory_mib": 64});
        sandboxes.add("gym.sandbox.request", &attributes(requested));
        let unavailable = json!({"error.type": "no_supported_resources"});
        sandboxes.add("gym.sandbox.resource.allocation", &attributes(unavailable));
        for used in [3.25, 12.5, 1.0] {
            let sample = json!({"nemo.gym.sandbox.sample.memory_used_mib": used});
            sandboxes.add("gym.sandbox.resource.sample", &attributes(sample));
        }
        sandboxes.add(
            "gym.sandbox.resource.sample",
            &attributes(json!({"error.type": "timeout"})),
        );
        assert_eq!(
            sandboxes.describe(),
            "requested 2 CPU, 64 MiB · allocated unavailable (no_supported_resources) · peak used 12.5 MiB in 3 samples"
        );
    }

    #[test]
    fn limits_are_what_was_allocated() {
        let mut sandboxes = Sandboxes::default();
        let limits = json!({
            "nemo.gym.sandbox.allocation.component.0.limits.cpu": 0.5,
            "nemo.gym.sandbox.allocation.component.0.limits.memory_mib": 256.0
        });
        sandboxes.add("gym.sandbox.resource.allocation", &attributes(limits));
        let line = sandboxes.describe();
        assert!(line.contains("allocated 0.5 CPU, 256 MiB"), "{line}");
    }
}
