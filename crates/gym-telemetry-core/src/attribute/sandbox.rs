//! Attribute keys of sandboxes and their resources.
//!
//! Keys of numbered things end in one of [`RESOURCES`] or in a word given here; the functions put them together.

/// Which logical request for sandboxes a span belongs to; retries keep it.
pub const REQUEST_ID: &str = "nemo.gym.sandbox.request.id";
/// How many sandboxes a request asks for.
pub const REQUESTED_COUNT: &str = "nemo.gym.sandbox.requested.count";
/// How many sidecars a request asks for.
pub const REQUESTED_SIDECAR_COUNT: &str = "nemo.gym.sandbox.requested.sidecar_count";
/// The collection of services that a request belongs to.
pub const COLLECTION_ID: &str = "nemo.gym.sandbox.collection.id";
/// The name of the service in its collection.
pub const SERVICE_ID: &str = "nemo.gym.sandbox.service.id";
/// The registered name of the sandbox provider; the only sandbox attribute of metrics.
pub const PROVIDER: &str = "nemo.gym.sandbox.provider";
/// The provider's id of the sandbox; never on a metric.
pub const ID: &str = "nemo.gym.sandbox.id";
/// What a command returned; never the command.
pub const RETURN_CODE: &str = "nemo.gym.sandbox.return_code";
/// `true` on the stop of a sandbox whose owner went away without stopping it.
pub const ABANDONED: &str = "nemo.gym.sandbox.abandoned";

/// How many components an allocation has.
pub const ALLOCATION_COMPONENT_COUNT: &str = "nemo.gym.sandbox.allocation.component_count";
/// What kind of infrastructure object a sandbox is.
pub const ALLOCATION_DESIGNATOR_KIND: &str = "nemo.gym.sandbox.allocation.designator.kind";
/// Within which deployment the designator is meant.
pub const ALLOCATION_DESIGNATOR_SCOPE: &str = "nemo.gym.sandbox.allocation.designator.scope";
/// Which infrastructure object a sandbox is.
pub const ALLOCATION_DESIGNATOR_ID: &str = "nemo.gym.sandbox.allocation.designator.id";
/// What kind of machine a sandbox runs on.
pub const ALLOCATION_HOST_KIND: &str = "nemo.gym.sandbox.allocation.host.kind";
/// Within which deployment the host is meant.
pub const ALLOCATION_HOST_SCOPE: &str = "nemo.gym.sandbox.allocation.host.scope";
/// Which machine a sandbox runs on.
pub const ALLOCATION_HOST_ID: &str = "nemo.gym.sandbox.allocation.host.id";

/// Whether the provider could be read: `available` or `unavailable`.
pub const RESOURCE_STATUS: &str = "nemo.gym.sandbox.resource.status";
/// The value of [`RESOURCE_STATUS`] of a reading.
pub const AVAILABLE: &str = "available";
/// The value of [`RESOURCE_STATUS`] where there is no reading; `error.type` says why.
pub const UNAVAILABLE: &str = "unavailable";
/// Where a reading comes from.
pub const RESOURCE_SOURCE: &str = "nemo.gym.sandbox.resource.source";

/// The provider's own time of a sample, in milliseconds since the Unix epoch.
pub const SAMPLE_TIMESTAMP_MS: &str = "nemo.gym.sandbox.sample.timestamp_ms";
/// The CPUs that a sample counts.
pub const SAMPLE_CPU_COUNT: &str = "nemo.gym.sandbox.sample.cpu_count";
/// The busy share of the CPUs at the time of a sample, in per cent.
pub const SAMPLE_CPU_USED_PERCENTAGE: &str = "nemo.gym.sandbox.sample.cpu_used_percentage";
/// The memory that there is, in MiB.
pub const SAMPLE_MEMORY_TOTAL_MIB: &str = "nemo.gym.sandbox.sample.memory_total_mib";
/// The memory in use at the time of a sample, in MiB.
pub const SAMPLE_MEMORY_USED_MIB: &str = "nemo.gym.sandbox.sample.memory_used_mib";

/// Keys of requested resources, in the order of [`RESOURCES`].
pub const REQUESTED: [&str; 5] = [
    "nemo.gym.sandbox.requested.cpu",
    "nemo.gym.sandbox.requested.memory_mib",
    "nemo.gym.sandbox.requested.disk_gib",
    "nemo.gym.sandbox.requested.gpu",
    "nemo.gym.sandbox.requested.gpu_type",
];
/// Keys of submitted scheduling requests, in the order of [`RESOURCES`].
pub const SUBMITTED_REQUESTS: [&str; 5] = [
    "nemo.gym.sandbox.submitted.requests.cpu",
    "nemo.gym.sandbox.submitted.requests.memory_mib",
    "nemo.gym.sandbox.submitted.requests.disk_gib",
    "nemo.gym.sandbox.submitted.requests.gpu",
    "nemo.gym.sandbox.submitted.requests.gpu_type",
];
/// Keys of submitted limits, in the order of [`RESOURCES`].
pub const SUBMITTED_LIMITS: [&str; 5] = [
    "nemo.gym.sandbox.submitted.limits.cpu",
    "nemo.gym.sandbox.submitted.limits.memory_mib",
    "nemo.gym.sandbox.submitted.limits.disk_gib",
    "nemo.gym.sandbox.submitted.limits.gpu",
    "nemo.gym.sandbox.submitted.limits.gpu_type",
];

/// The names of resources: cores, MiB, GiB, devices and a selector text.
pub const RESOURCES: [&str; 5] = ["cpu", "memory_mib", "disk_gib", "gpu", "gpu_type"];

/// The key of one thing about the sidecar `index` of a request: `name` or a resource.
///
/// ```
/// use gym_telemetry_core::attribute::sandbox::requested_sidecar;
///
/// assert_eq!(requested_sidecar(0, "cpu"), "nemo.gym.sandbox.requested.sidecar.0.cpu");
/// ```
#[must_use]
pub fn requested_sidecar(index: usize, what: &str) -> String {
    format!("nemo.gym.sandbox.requested.sidecar.{index}.{what}")
}

/// The key of the name of the component `index` of an allocation.
#[must_use]
pub fn component_name(index: usize) -> String {
    format!("nemo.gym.sandbox.allocation.component.{index}.name")
}

/// The key of what was set aside of `resource` for the component `index` of an allocation.
#[must_use]
pub fn component_requests(index: usize, resource: &str) -> String {
    format!("nemo.gym.sandbox.allocation.component.{index}.requests.{resource}")
}

/// The key of the limit of `resource` of the component `index` of an allocation.
#[must_use]
pub fn component_limits(index: usize, resource: &str) -> String {
    format!("nemo.gym.sandbox.allocation.component.{index}.limits.{resource}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_resources_end_in_the_names_of_resources() {
        for keys in [REQUESTED, SUBMITTED_REQUESTS, SUBMITTED_LIMITS] {
            for (key, resource) in keys.iter().zip(RESOURCES) {
                assert_eq!(key.rsplit('.').next(), Some(resource));
            }
        }
    }

    #[test]
    fn numbered_keys_are_put_together() {
        assert_eq!(
            component_requests(1, "cpu"),
            "nemo.gym.sandbox.allocation.component.1.requests.cpu"
        );
        assert_eq!(
            component_limits(10, "gpu_type"),
            "nemo.gym.sandbox.allocation.component.10.limits.gpu_type"
        );
        assert_eq!(
            component_name(0),
            "nemo.gym.sandbox.allocation.component.0.name"
        );
    }
}
