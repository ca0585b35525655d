//! The servers of the fleet, each a process of its own.

mod access;
mod agent;
mod chat;
pub(crate) mod environment;
mod error;
mod messages;
mod model;
mod resources;
mod sandbox;
mod script;
mod serve;
mod sizes;
mod weather;
pub(crate) mod wire;

use clap::ValueEnum;
use gym_telemetry_core::ServerType;

pub(crate) use self::serve::{ServeArgs, serve};
pub(crate) use self::sizes::SizesArgs;

/// The route that says whether a server is ready.
pub(crate) const HEALTH_PATH: &str = "/health";

/// What a server does.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Kind {
    Agent,
    Model,
    Resources,
}

impl Kind {
    /// In the order in which the fleet lists them.
    pub(crate) const ALL: [Self; 3] = [Self::Resources, Self::Model, Self::Agent];

    /// The word for it on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Resources => "resources",
        }
    }

    /// The name of the fleet's server of this kind.
    pub(crate) fn server_name(self) -> &'static str {
        match self {
            Self::Agent => "weather_agent",
            Self::Model => "policy_model",
            Self::Resources => "weather",
        }
    }

    /// The word for it in telemetry.
    pub(crate) fn server_type(self) -> ServerType {
        match self {
            Self::Agent => ServerType::ResponsesApiAgents,
            Self::Model => ServerType::ResponsesApiModels,
            Self::Resources => ServerType::ResourcesServers,
        }
    }
}
