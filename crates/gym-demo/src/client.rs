//! How the processes of the fleet talk to each other.

use std::fmt::{self, Display};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use gym_telemetry_core::RolloutId;
use gym_telemetry_http::{PropagationPolicy, PropagationPolicyBuilder, TelemetryMiddleware};
use reqwest::StatusCode;
use reqwest_middleware::ClientWithMiddleware;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Failure, chain};

/// A server that has not answered by then is given up on.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Posts JSON to the servers of the fleet.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: ClientWithMiddleware,
}

impl Client {
    /// `hosts` are names that resolve to these addresses, whatever the resolver says. `urls` are the servers of
    /// this run, which may see its trace ids wherever they are.
    pub(crate) fn new<'a>(
        hosts: &[(String, IpAddr)],
        urls: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Failure> {
        let policy = urls
            .into_iter()
            .fold(
                PropagationPolicy::builder(),
                PropagationPolicyBuilder::allow_url,
            )
            .build();
        let http = reqwest_middleware::ClientBuilder::new(plain(hosts)?)
            .with(TelemetryMiddleware::new(policy))
            .build();
        Ok(Self { http })
    }

    /// Posts to `base` + `path` on behalf of a rollout, if there is one.
    pub(crate) async fn post<Body, Reply>(
        &self,
        base: &str,
        rollout: Option<&RolloutId>,
        path: &str,
        body: &Body,
    ) -> Result<Reply, ClientError>
    where
        Body: Serialize + Sync,
        Reply: DeserializeOwned,
    {
        let path = rollout.map_or_else(|| path.to_owned(), |rollout| rollout.join_path(path));
        let url = format!("{base}{path}");
        let failed = |kind, what: String| ClientError {
            url: url.clone(),
            kind,
            what,
        };
        let response = self
            .http
            .post(&url)
            .json(body)
            .send()
            .await
            .map_err(|error| failed(ErrorKind::NoAnswer, chain(&error)))?;
        let status = response.status();
        let body = response
            .bytes()
            .await
            .map_err(|error| failed(ErrorKind::NoAnswer, chain(&error)))?;
        if status != StatusCode::OK {
            let what = format!("{status}: {}", String::from_utf8_lossy(&body));
            return Err(failed(ErrorKind::Status(status), what));
        }
        serde_json::from_slice(&body).map_err(|error| {
            failed(
                ErrorKind::UnexpectedAnswer,
                format!("unexpected answer: {error}"),
            )
        })
    }
}

/// A client that leaves requests as they are.
pub(crate) fn plain(hosts: &[(String, IpAddr)]) -> Result<reqwest::Client, Failure> {
    // The fleet is on this machine or in its own network: never by way of a proxy.
    let mut builder = reqwest::Client::builder().no_proxy().timeout(TIMEOUT);
    for (host, address) in hosts {
        builder = builder.resolve(host, SocketAddr::new(*address, 0));
    }
    builder
        .build()
        .map_err(|error| Failure::run(format!("cannot build an HTTP client: {}", chain(&error))))
}

/// A request that brought no usable answer.
#[derive(Debug)]
pub(crate) struct ClientError {
    url: String,
    kind: ErrorKind,
    what: String,
}

#[derive(Clone, Copy, Debug)]
enum ErrorKind {
    /// There was none, or it broke off.
    NoAnswer,
    /// The server refused or failed.
    Status(StatusCode),
    /// The server gave something else than it should.
    UnexpectedAnswer,
}

impl ClientError {
    /// The kind of failure, in a word.
    pub(crate) fn class(&self) -> &'static str {
        match self.kind {
            ErrorKind::NoAnswer => "transport",
            ErrorKind::Status(_) => "status",
            ErrorKind::UnexpectedAnswer => "protocol",
        }
    }

    /// What it was within that kind, if that can be said in a word.
    pub(crate) fn reason(&self) -> Option<String> {
        match self.kind {
            ErrorKind::Status(status) => Some(format!("http_{}", status.as_u16())),
            _ => None,
        }
    }
}

impl Display for ClientError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "POST {}: {}", self.url, self.what)
    }
}

impl std::error::Error for ClientError {}
