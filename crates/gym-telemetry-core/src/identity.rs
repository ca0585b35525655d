//! Who a process is.

use std::fmt;

use crate::redaction::{REDACTED, Redaction};

/// The name and kind of a server, and what else its telemetry says about it for as long as it lives.
///
/// ```
/// use gym_telemetry_core::{ServerIdentity, ServerType};
///
/// let identity = ServerIdentity::builder()
///     .server_name("policy_model")
///     .server_type(ServerType::ResponsesApiModels)
///     .resource_attribute("team", "rl")
///     .build();
/// assert_eq!(identity.server_name(), Some("policy_model"));
/// assert_eq!(identity.server_type().map(ServerType::as_str), Some("responses_api_models"));
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct ServerIdentity {
    server_name: Option<String>,
    server_type: Option<ServerType>,
    resource_attributes: Vec<(String, ResourceValue)>,
}

impl ServerIdentity {
    /// Starts an identity that says nothing.
    pub fn builder() -> ServerIdentityBuilder {
        ServerIdentityBuilder::default()
    }

    /// The configured name of the server, such as `policy_model`.
    #[must_use]
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// The kind of the server.
    #[must_use]
    pub fn server_type(&self) -> Option<&ServerType> {
        self.server_type.as_ref()
    }

    /// Further attributes of the process, in the order given, each key once.
    #[must_use]
    pub fn resource_attributes(&self) -> impl ExactSizeIterator<Item = (&str, &ResourceValue)> {
        self.resource_attributes
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }
}

impl fmt::Debug for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Masked<'a>(&'a [(String, ResourceValue)]);

        impl fmt::Debug for Masked<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut map = f.debug_map();
                for (key, value) in self.0 {
                    match value {
                        ResourceValue::Str(_) if Redaction::DEFAULT.is_secret(key) => {
                            map.entry(key, &REDACTED)
                        }
                        _ => map.entry(key, value),
                    };
                }
                map.finish()
            }
        }

        f.debug_struct("ServerIdentity")
            .field("server_name", &self.server_name)
            .field("server_type", &self.server_type)
            .field("resource_attributes", &Masked(&self.resource_attributes))
            .finish()
    }
}

/// Builds a [`ServerIdentity`].
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct ServerIdentityBuilder(ServerIdentity);

impl ServerIdentityBuilder {
    /// Sets the configured name of the server; an empty one counts as none.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.0.server_name = Some(name.into()).filter(|name| !name.is_empty());
        self
    }

    /// Sets the kind of the server.
    pub fn server_type(mut self, server_type: ServerType) -> Self {
        self.0.server_type = Some(server_type);
        self
    }

    /// Adds an attribute of the process; of two with one key the later wins.
    pub fn resource_attribute(
        mut self,
        key: impl Into<String>,
        value: impl Into<ResourceValue>,
    ) -> Self {
        let (key, value) = (key.into(), value.into());
        match self
            .0
            .resource_attributes
            .iter_mut()
            .find(|(known, _)| *known == key)
        {
            Some((_, known)) => *known = value,
            None => self.0.resource_attributes.push((key, value)),
        }
        self
    }

    /// Finishes the identity.
    #[must_use]
    pub fn build(self) -> ServerIdentity {
        self.0
    }
}

/// The kind of a process in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServerType {
    /// A resources server.
    ResourcesServers,
    /// An agent server.
    ResponsesApiAgents,
    /// A model server.
    ResponsesApiModels,
    /// The process that starts the servers and drives the rollouts.
    Orchestrator,
    /// Another kind, passed on as it is.
    Other(String),
}

impl ServerType {
    /// The literal of `nemo.gym.server.type`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::ResourcesServers => "resources_servers",
            Self::ResponsesApiAgents => "responses_api_agents",
            Self::ResponsesApiModels => "responses_api_models",
            Self::Orchestrator => "orchestrator",
            Self::Other(text) => text,
        }
    }
}

impl From<&str> for ServerType {
    fn from(text: &str) -> Self {
        match text {
            "resources_servers" => Self::ResourcesServers,
            "responses_api_agents" => Self::ResponsesApiAgents,
            "responses_api_models" => Self::ResponsesApiModels,
            "orchestrator" => Self::Orchestrator,
            _ => Self::Other(text.to_owned()),
        }
    }
}

impl fmt::Display for ServerType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The value of a resource attribute.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceValue {
    /// A truth value.
    Bool(bool),
    /// An integer.
    I64(i64),
    /// A floating-point number.
    F64(f64),
    /// Text.
    Str(String),
}

impl From<bool> for ResourceValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for ResourceValue {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<i32> for ResourceValue {
    fn from(value: i32) -> Self {
        Self::I64(value.into())
    }
}

impl From<u32> for ResourceValue {
    fn from(value: u32) -> Self {
        Self::I64(value.into())
    }
}

impl From<f64> for ResourceValue {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl From<&str> for ResourceValue {
    fn from(value: &str) -> Self {
        Self::Str(value.to_owned())
    }
}

impl From<String> for ResourceValue {
    fn from(value: String) -> Self {
        Self::Str(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_type_survives_its_literal() {
        for known in [
            ServerType::ResourcesServers,
            ServerType::ResponsesApiAgents,
            ServerType::ResponsesApiModels,
            ServerType::Orchestrator,
        ] {
            assert_eq!(ServerType::from(known.as_str()), known);
        }
    }

    #[test]
    fn an_unknown_type_is_passed_on() {
        assert_eq!(
            ServerType::from("environment_servers").to_string(),
            "environment_servers"
        );
    }

    #[test]
    fn the_later_of_two_attributes_with_one_key_wins() {
        let identity = ServerIdentity::builder()
            .resource_attribute("a", 1)
            .resource_attribute("b", true)
            .resource_attribute("a", "two")
            .build();
        let attributes: Vec<_> = identity.resource_attributes().collect();
        assert_eq!(
            attributes,
            [
                ("a", &ResourceValue::Str("two".to_owned())),
                ("b", &ResourceValue::Bool(true))
            ]
        );
    }

    #[test]
    fn an_empty_name_is_no_name() {
        assert_eq!(
            ServerIdentity::builder()
                .server_name("")
                .build()
                .server_name(),
            None
        );
    }

    #[test]
    fn debug_shows_no_secret() {
        let identity = ServerIdentity::builder()
            .resource_attribute("vendor.api_key", "S3CR3T")
            .resource_attribute("team", "rl")
            .build();
        let text = format!(
            "{identity:?} {:?}",
            ServerIdentity::builder().resource_attribute("password", "S3CR3T")
        );
        assert!(!text.contains("S3CR3T"), "{text}");
        assert!(text.contains("rl"), "{text}");
    }
}
