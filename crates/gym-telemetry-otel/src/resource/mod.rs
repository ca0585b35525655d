//! What a process says about itself: the attributes of its resource.
//!
//! Later sources win: built-in values, the caller's, what Slurm and Kubernetes tell, `OTEL_RESOURCE_ATTRIBUTES`, and
//! last the facts that only this process knows (its host, its id, its GPUs), which no environment may overrule.

mod machine;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;

use gym_telemetry_core::identity::ResourceValue;
use gym_telemetry_core::{ServerIdentity, ServerType, attribute, env};
use opentelemetry::{Key, KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{ResourceDetector as _, TelemetryResourceDetector};

use self::machine::{Machine, ThisMachine};
use crate::environment::EnvSource;
use crate::settings::Settings;

/// The version of everything in this workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Names that launch environments use for the rank and size of a distributed job.
const OTHER_RANK_KEYS: [(&str, &str); 2] = [
    ("dl.rank", attribute::RANK),
    ("dl.world_size", attribute::WORLD_SIZE),
];

/// The resource of this process.
///
/// It may run `nvidia-smi` and wait for it up to 5 seconds, so it belongs on the telemetry thread.
pub(crate) fn detect(settings: &Settings, identity: &ServerIdentity) -> Resource {
    crate::handover::with_process_env(|env| detect_on(&ThisMachine, env, settings, identity))
}

fn detect_on(
    machine: &dyn Machine,
    env: &dyn EnvSource,
    settings: &Settings,
    identity: &ServerIdentity,
) -> Resource {
    let mut attributes = Attributes::default();
    for (key, value) in &TelemetryResourceDetector.detect() {
        attributes.set(key.clone(), value.clone());
    }
    attributes.set(attribute::SERVICE_VERSION, VERSION);
    attributes.set(attribute::GYM_VERSION, VERSION);
    attributes.set(attribute::RANK, 0);
    attributes.set(attribute::WORLD_SIZE, 1);
    attributes.set(attribute::SERVICE_GROUP, settings.service_name.clone());
    attributes.set_some(attribute::SERVER_NAME, identity.server_name());
    attributes.set_some(
        attribute::SERVER_TYPE,
        identity.server_type().map(ServerType::as_str),
    );
    attributes.set_some(attribute::USER_ID, settings.user_id.as_deref());
    for (key, names) in [
        (
            attribute::DEPLOYMENT_ENVIRONMENT,
            &[env::DEPLOYMENT_ENV, env::ENVIRONMENT][..],
        ),
        (attribute::WANDB_ENTITY, &[env::WANDB_ENTITY]),
        (attribute::WANDB_PROJECT, &[env::WANDB_PROJECT]),
    ] {
        attributes.set_some(key, names.iter().find_map(|name| env.text(name)));
    }
    for (key, value) in identity.resource_attributes() {
        attributes.set(key.to_owned(), own(value));
    }
    slurm(&mut attributes, env);
    kubernetes(&mut attributes, machine, env);
    launch(&mut attributes, settings);
    local(&mut attributes, machine, env);
    name(&mut attributes, settings, identity);
    Resource::builder_empty()
        .with_attributes(attributes.into_key_values())
        .build()
}

fn slurm(attributes: &mut Attributes, env: &dyn EnvSource) {
    if env.text(env::SLURM_JOB_ID).is_none() {
        return;
    }
    for (key, names) in [
        (attribute::SLURM_JOB_ID, &[env::SLURM_JOB_ID][..]),
        (attribute::SLURM_JOB_NAME, &[env::SLURM_JOB_NAME]),
        (
            attribute::SLURM_NODELIST,
            &[env::SLURM_NODELIST, "SLURM_JOB_NODELIST"],
        ),
        (
            attribute::SLURM_NNODES,
            &[env::SLURM_NNODES, "SLURM_JOB_NUM_NODES"],
        ),
        (attribute::SLURM_NTASKS, &[env::SLURM_NTASKS]),
        (attribute::SLURM_PARTITION, &[env::SLURM_JOB_PARTITION]),
        (attribute::SLURM_CLUSTER_NAME, &[env::SLURM_CLUSTER_NAME]),
    ] {
        attributes.set_some(key, names.iter().find_map(|name| env.text(name)));
    }
}

fn kubernetes(attributes: &mut Attributes, machine: &dyn Machine, env: &dyn EnvSource) {
    if env.text(env::KUBERNETES_SERVICE_HOST).is_none() && !machine.is_pod() {
        return;
    }
    for (key, names) in [
        (attribute::K8S_NAMESPACE_NAME, &[env::K8S_NAMESPACE][..]),
        (attribute::K8S_POD_NAME, &[env::K8S_POD_NAME, env::HOSTNAME]),
        (attribute::K8S_POD_UID, &[env::K8S_POD_UID]),
        (attribute::K8S_NODE_NAME, &[env::K8S_NODE_NAME]),
        (attribute::K8S_CONTAINER_NAME, &[env::K8S_CONTAINER_NAME]),
        (attribute::K8S_JOB_NAME, &[env::K8S_JOB_NAME]),
    ] {
        attributes.set_some(key, names.iter().find_map(|name| env.text(name)));
    }
}

/// What the launch environment gives, ranks under either name and as numbers.
fn launch(attributes: &mut Attributes, settings: &Settings) {
    for (given, value) in &settings.launch_attributes {
        let renamed = OTHER_RANK_KEYS.iter().find(|(other, _)| given == other);
        let key = renamed.map_or(given.as_str(), |(_, key)| key);
        let is_number = [attribute::RANK, attribute::WORLD_SIZE].contains(&key);
        if !is_number {
            attributes.set(key.to_owned(), value.clone());
        } else if let Ok(number) = value.trim().parse::<i64>() {
            attributes.set(key.to_owned(), number);
        }
    }
}

/// What only this process knows.
fn local(attributes: &mut Attributes, machine: &dyn Machine, env: &dyn EnvSource) {
    attributes.replace(attribute::HOST_NAME, machine.host_name());
    attributes.replace(
        attribute::PROCESS_PID,
        Some(i64::from(machine.process_id())),
    );
    attributes.replace(attribute::HOST_GPU_COUNT, gpu_count(machine, env));
}

/// GPUs that this process may use; a blank variable hides them all, so here blank is not unset.
fn gpu_count(machine: &dyn Machine, env: &dyn EnvSource) -> Option<i64> {
    let Some(visible) = env
        .raw(env::CUDA_VISIBLE_DEVICES)
        .map(OsString::into_encoded_bytes)
    else {
        return machine.gpu_count();
    };
    if visible.trim_ascii().is_empty() {
        return Some(0);
    }
    i64::try_from(visible.split(|byte| *byte == b',').count()).ok()
}

/// The names of the service and of this instance of it, which are never anybody else's.
fn name(attributes: &mut Attributes, settings: &Settings, identity: &ServerIdentity) {
    let base = &settings.service_name;
    let name = match identity.server_name() {
        Some(server) if settings.service_name_per_server => format!("{base}/{server}"),
        _ => base.clone(),
    };
    attributes.set(attribute::SERVICE_NAME, name);
    let Some(run_id) = &settings.run_id else {
        return;
    };
    attributes.set(attribute::RUN_ID, run_id.clone());
    // In Kubernetes each replica is process 1, and names of servers and hosts may repeat: only the random part is
    // sure to differ.
    let mut parts = vec![format!("{run_id}-rank{}", attributes.text(attribute::RANK))];
    parts.extend(identity.server_name().map(str::to_owned));
    for key in [attribute::HOST_NAME, attribute::PROCESS_PID] {
        parts.extend(Some(attributes.text(key)).filter(|text| !text.is_empty()));
    }
    parts.push(crate::random::hex8());
    attributes.set(attribute::SERVICE_INSTANCE_ID, parts.join("-"));
}

fn own(value: &ResourceValue) -> Value {
    match value {
        ResourceValue::Bool(value) => (*value).into(),
        ResourceValue::I64(value) => (*value).into(),
        ResourceValue::F64(value) => (*value).into(),
        ResourceValue::Str(value) => value.clone().into(),
        // A kind of a later version of the vocabulary still has a text.
        other => format!("{other:?}").into(),
    }
}

/// Attributes, each key once.
#[derive(Default)]
struct Attributes(BTreeMap<Key, Value>);

impl Attributes {
    fn set(&mut self, key: impl Into<Key>, value: impl Into<Value>) {
        self.0.insert(key.into(), value.into());
    }

    fn set_some(&mut self, key: &'static str, value: Option<impl Into<String>>) {
        if let Some(value) = value {
            self.set(key, value.into());
        }
    }

    /// Sets a value that nobody else may give: without one the key goes.
    fn replace(&mut self, key: &'static str, value: Option<impl Into<Value>>) {
        match value {
            Some(value) => self.set(key, value),
            None => {
                self.0.remove(&Key::from_static_str(key));
            }
        }
    }

    /// The value of `key` as text, empty when there is none.
    fn text(&self, key: &'static str) -> String {
        let value = self.0.get(&Key::from_static_str(key));
        value
            .map(|value| value.as_str().into_owned())
            .unwrap_or_default()
    }

    fn into_key_values(self) -> Vec<KeyValue> {
        self.0
            .into_iter()
            .map(|(key, value)| KeyValue::new(key, value))
            .collect()
    }
}
