//! Where the servers of a run listen.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::str::FromStr;

use super::ServerSpec;
use crate::failure::Failure;
use crate::servers::Kind;

/// The address a server listens on and the name others know it by.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Place {
    pub(crate) address: IpAddr,
    pub(crate) host: Option<String>,
}

impl Default for Place {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            host: None,
        }
    }
}

/// `ADDRESS` or `ADDRESS=HOST`.
impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, host) = match text.split_once('=') {
            None => (text, None),
            Some((_, "")) => return Err("no host name after `=`".to_owned()),
            Some((address, host)) => (address, Some(host.to_owned())),
        };
        let address = address
            .parse()
            .map_err(|_| format!("{address:?} is no IP address"))?;
        Ok(Self { address, host })
    }
}

/// One server's address, settled before the server runs.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub(super) kind: Kind,
    pub(super) address: SocketAddr,
    host: Option<String>,
    pub(super) url: String,
}

impl Endpoint {
    /// Has the system choose a port, and keeps it by listening on it.
    pub(super) fn reserve(spec: &ServerSpec) -> Result<(TcpListener, Self), Failure> {
        let Place { address, host } = spec.place.clone();
        let failed =
            |error| Failure::run(format!("{} cannot listen on {address}: {error}", spec.name));
        let listener = TcpListener::bind((address, 0)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let url = match &host {
            Some(host) => format!("http://{host}:{}", address.port()),
            None => format!("http://{address}"),
        };
        Ok((
            listener,
            Self {
                kind: spec.kind,
                address,
                host,
                url,
            },
        ))
    }
}

/// All servers' addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Endpoints(Vec<Endpoint>);

impl Endpoints {
    pub(super) fn push(&mut self, endpoint: Endpoint) {
        self.0.push(endpoint);
    }

    /// Empty for a kind that the fleet does not have.
    pub(super) fn url(&self, kind: Kind) -> &str {
        self.0
            .iter()
            .find(|endpoint| endpoint.kind == kind)
            .map_or("", |endpoint| &endpoint.url)
    }

    pub(super) fn urls(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|endpoint| endpoint.url.as_str())
    }

    pub(super) fn address(&self, kind: Kind) -> Option<SocketAddr> {
        self.0
            .iter()
            .find(|endpoint| endpoint.kind == kind)
            .map(|endpoint| endpoint.address)
    }

    pub(super) fn hosts(&self) -> Vec<(String, IpAddr)> {
        self.0
            .iter()
            .filter_map(|endpoint| Some((endpoint.host.clone()?, endpoint.address.ip())))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_place_is_an_address_and_may_have_a_name() {
        let place: Place = "127.0.0.3=policy.internal".parse().expect("a valid place");
        assert_eq!(place.address.to_string(), "127.0.0.3");
        assert_eq!(place.host.as_deref(), Some("policy.internal"));
        assert_eq!("::1".parse::<Place>().map(|place| place.host), Ok(None));
        assert!("policy.internal".parse::<Place>().is_err());
        assert!("127.0.0.1=".parse::<Place>().is_err());
    }
}
