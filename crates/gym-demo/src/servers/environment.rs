//! What the orchestrator tells a server through its environment, so that any program can be one.

use std::net::IpAddr;

/// The server's name in the configuration of the gym.
pub(crate) const NAME: &str = "GYM_DEMO_SERVER_NAME";
/// Where the others reach the server.
pub(crate) const URL: &str = "GYM_DEMO_SERVER_URL";
/// Where the model server is.
pub(crate) const MODEL_URL: &str = "GYM_DEMO_MODEL_URL";
/// Where the resources server is.
pub(crate) const RESOURCES_URL: &str = "GYM_DEMO_RESOURCES_URL";
/// Host names of the fleet: `name=address`, with commas between them.
pub(crate) const HOSTS: &str = "GYM_DEMO_HOSTS";

/// Requests that the agent server sends to the model server at the same time.
pub(crate) const UPSTREAM_REQUESTS: &str = "GYM_DEMO_UPSTREAM_REQUESTS";
/// How long such a request waits for its turn, in milliseconds.
pub(crate) const UPSTREAM_TIMEOUT: &str = "GYM_DEMO_UPSTREAM_TIMEOUT_MS";
/// Generations of the model server at the same time.
pub(crate) const MODEL_SLOTS: &str = "GYM_DEMO_MODEL_SLOTS";
/// How long a generation waits for a slot, in milliseconds.
pub(crate) const MODEL_SLOT_TIMEOUT: &str = "GYM_DEMO_MODEL_SLOT_TIMEOUT_MS";
/// How long a generation takes, in milliseconds.
pub(crate) const MODEL_LATENCY: &str = "GYM_DEMO_MODEL_LATENCY_MS";
/// Generations that never give their slot back.
pub(crate) const MODEL_LEAKS: &str = "GYM_DEMO_MODEL_LEAKS";
/// Where an own server leaves what its limits saw.
pub(crate) const LIMITS_FILE: &str = "GYM_DEMO_LIMITS_FILE";

/// Set when the orchestrator has said that telemetry is not compiled in: one line is enough for the whole fleet.
pub(crate) const WARNED: &str = "GYM_DEMO_WARNED";

/// Writes the value of [`HOSTS`].
pub(crate) fn write_hosts(hosts: &[(String, IpAddr)]) -> String {
    let pairs: Vec<_> = hosts
        .iter()
        .map(|(name, address)| format!("{name}={address}"))
        .collect();
    pairs.join(",")
}

/// Reads one part of [`HOSTS`].
pub(crate) fn read_host(text: &str) -> Result<(String, IpAddr), String> {
    let (name, address) = text.split_once('=').ok_or("not of the form name=address")?;
    let address = address
        .parse()
        .map_err(|_| format!("{address:?} is no IP address"))?;
    Ok((name.to_owned(), address))
}
