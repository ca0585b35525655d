//! What a provider says a sandbox was given, and where it runs.

use gym_resources::SandboxResourceAmounts;

/// The effective requests and limits of a sandbox, as its provider reports them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocation {
    /// The parts of the sandbox, in the provider's order; a container each, in Kubernetes.
    pub components: Vec<Component>,
    /// Which infrastructure object the sandbox is; `None` unless its identity is complete.
    pub designator: Option<Designator>,
    /// Which machine it runs on; `None` unless its identity is complete.
    pub host: Option<Host>,
}

/// One part of a sandbox and its resources.
///
/// What is scheduled for and what is enforced are different quantities: neither is copied into the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Component {
    /// The part's name. It is reported as a value, never as part of a key.
    pub name: String,
    /// What scheduling set aside.
    pub requests: SandboxResourceAmounts,
    /// What is enforced.
    pub limits: SandboxResourceAmounts,
}

/// The identity of the infrastructure object that a sandbox is.
///
/// It is for diagnosis: nothing connects, routes or authenticates with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Designator {
    /// What kind of object.
    pub kind: DesignatorKind,
    /// Within which deployment the id is meant, such as a control-plane URL without credentials.
    pub scope: String,
    /// Which object.
    pub id: String,
}

/// The kind of an infrastructure object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DesignatorKind {
    /// A pod: `namespaces/<namespace>/pods/<pod>`.
    Kubernetes,
    /// A container of a Docker daemon.
    DockerContainer,
    /// A task of Amazon ECS.
    EcsTask,
    /// A sandbox of a provider that has no finer identity.
    ProviderSandbox,
}

impl DesignatorKind {
    /// Returns the kind's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
            Self::DockerContainer => "docker-container",
            Self::EcsTask => "ecs-task",
            Self::ProviderSandbox => "provider-sandbox",
        }
    }
}

/// The identity of the machine that a sandbox runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What kind of machine.
    pub kind: HostKind,
    /// Within which deployment the id is meant.
    pub scope: String,
    /// Which machine.
    pub id: String,
}

/// The kind of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostKind {
    /// A node of a Kubernetes cluster.
    KubernetesNode,
}

impl HostKind {
    /// Returns the kind's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::KubernetesNode => "kubernetes-node",
        }
    }
}
