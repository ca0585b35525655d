//! Which part of a run owns a limit.

use std::fmt;

/// The kind of component that owns a limit: the value of `nemo.gym.concurrency.component`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConcurrencyComponent {
    /// The driver that runs rollouts.
    RolloutDriver,
    /// An agent server.
    AgentServer,
    /// A model server.
    ModelServer,
    /// A resources server.
    ResourcesServer,
    /// An environment server.
    EnvironmentServer,
}

impl ConcurrencyComponent {
    /// Returns the component's name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RolloutDriver => "rollout_driver",
            Self::AgentServer => "agent_server",
            Self::ModelServer => "model_server",
            Self::ResourcesServer => "resources_server",
            Self::EnvironmentServer => "environment_server",
        }
    }
}

impl fmt::Display for ConcurrencyComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
