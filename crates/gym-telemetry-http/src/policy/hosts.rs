//! Which hosts may receive trace headers: the rules, without where they come from.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Endings of names that are only ever resolved inside a machine, a site or a cluster.
const INTERNAL_SUFFIXES: [&str; 5] = ["local", "internal", "svc", "cluster.local", "localhost"];

/// One entry of the list of extra hosts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Pattern {
    /// Exactly this host.
    Exact(Host),
    /// Every name below this one, at any depth, but not the name itself.
    Below(Box<str>),
    /// Every host.
    Any,
}

/// A host in the one form that rules compare: an address, or a lower-case name without a final dot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Host {
    Address(IpAddr),
    Name(Box<str>),
}

impl Host {
    /// Reads a host as it stands in a URL or in a list: IPv6 with or without brackets and zone.
    ///
    /// Nothing comes of text that is neither an address nor a possible name. A name that ends in a number is
    /// such a text: resolvers read `134744072` and `0x8.8.2056` as the public address 8.8.8.8.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bare = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
            .unwrap_or(text);
        if bare.contains(':') {
            let address = bare.split('%').next().unwrap_or(bare);
            let address: Ipv6Addr = address.parse().ok()?;
            return Some(Self::Address(address.to_canonical()));
        }
        if bare.len() != text.len() {
            return None;
        }
        if let Ok(address) = bare.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let name = bare.strip_suffix('.').unwrap_or(bare);
        let last = name.rsplit('.').next().unwrap_or(name);
        let acceptable = name.split('.').all(|label| !label.is_empty())
            && name.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') || byte >= 0x80
            })
            && !is_number(last);
        acceptable.then(|| Self::Name(name.to_ascii_lowercase().into()))
    }
}

impl Pattern {
    /// Reads one entry: a host, a host with a port (the port is of no account), `*.suffix`, or `*`.
    pub(super) fn parse(entry: &str) -> Option<Self> {
        if entry == "*" {
            return Some(Self::Any);
        }
        if let Some(suffix) = entry.strip_prefix("*.") {
            return match Host::parse(without_port(suffix))? {
                Host::Name(name) => Some(Self::Below(name)),
                Host::Address(_) => None,
            };
        }
        Host::parse(without_port(entry)).map(Self::Exact)
    }

    pub(super) fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Exact(wanted), host) => wanted == host,
            (Self::Below(suffix), Host::Name(name)) => is_below(name, suffix),
            (Self::Below(_), Host::Address(_)) => false,
        }
    }
}

/// Says whether a host lies inside the machine, the site or the cluster by its very form.
pub(super) fn is_internal(host: &Host) -> bool {
    match host {
        Host::Address(IpAddr::V4(address)) => is_internal_v4(*address),
        Host::Address(IpAddr::V6(address)) => is_internal_v6(*address),
        Host::Name(name) => {
            !name.contains('.')
                || INTERNAL_SUFFIXES
                    .iter()
                    .any(|suffix| is_below(name, suffix))
        }
    }
}

/// Says whether `host` is `domain` or a name below it.
pub(super) fn is_within(host: &Host, domain: &str) -> bool {
    match host {
        Host::Name(name) => **name == *domain || is_below(name, domain),
        Host::Address(_) => false,
    }
}

/// Cuts `:port` off a host; an IPv6 address without brackets has no port.
pub(super) fn without_port(text: &str) -> &str {
    if let Some(end) = text.find(']') {
        return &text[..=end];
    }
    match text.split_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => text,
    }
}

// `0.0.0.0` and `::` reach this machine; servers that listen on them are often addressed by them.
fn is_internal_v4(address: Ipv4Addr) -> bool {
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_unspecified()
}

fn is_internal_v6(address: Ipv6Addr) -> bool {
    match address.to_ipv4_mapped() {
        Some(mapped) => is_internal_v4(mapped),
        None => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
    }
}

fn is_below(name: &str, suffix: &str) -> bool {
    name.strip_suffix(suffix)
        .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

fn is_number(label: &str) -> bool {
    let hex = label
        .strip_prefix("0x")
        .or_else(|| label.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internal(text: &str) -> bool {
        Host::parse(text).is_some_and(|host| is_internal(&host))
    }

    #[test]
    fn hosts_of_the_machine_the_site_and_the_cluster_are_internal() {
        for host in [
            "127.0.0.1",
            "127.8.9.10",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.7.7",
            "169.254.1.1",
            "[::1]",
            "::1",
            "[::]",
            "fe80::1",
            "[fe80::1%25eth0]",
            "fd00:1::2",
            "fc00::1",
            "[::ffff:10.0.0.1]",
            "[::ffff:7f00:1]",
            "localhost",
            "LOCALHOST",
            "policy_model",
            "node-12",
            "x.localhost",
            "printer.local",
            "PRINTER.LOCAL.",
            "ip-10-0-0-1.ec2.internal",
            "judge.gym.svc",
            "judge.gym.svc.cluster.local",
        ] {
            assert!(internal(host), "{host}");
        }
    }

    #[test]
    fn public_and_doubtful_hosts_are_not_internal() {
        for host in [
            "api.openai.com",
            "8.8.8.8",
            "172.32.0.1",
            "172.15.0.1",
            "192.169.0.1",
            "100.64.0.1",
            "11.0.0.1",
            "[2001:4860::8888]",
            "[::ffff:8.8.8.8]",
            "fec0::1",
            "notlocal.com",
            "local.evil.com",
            "evil-local.com",
            "a.notinternal",
            "x.svc.evil",
            "134744072",
            "0x08080808",
            "8.8.2056",
            "0x8.8.8.0x8",
            "",
            ".",
            ".local",
            "a..local",
            "[policy]",
            "[8.8.8.8]",
            "ho st",
            "a@b.local",
            "x.local/y",
        ] {
            assert!(!internal(host), "{host}");
        }
    }

    #[test]
    fn patterns_match_hosts_and_names_below_a_suffix() {
        for (pattern, host, expected) in [
            ("api.example.com", "API.example.com.", true),
            ("api.example.com:8443", "api.example.com", true),
            ("api.example.com", "x.api.example.com", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.Example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "badexample.com", false),
            ("8.8.8.8", "8.8.8.8", true),
            ("8.8.8.8", "[::ffff:8.8.8.8]", true),
            ("[2001:db8::1]:443", "2001:db8::1", true),
            ("2001:db8::1", "[2001:DB8:0::1]", true),
            ("*", "anything.example", true),
            ("*.8.8", "8.8.8.8", false),
        ] {
            let host = Host::parse(host).expect("a host");
            let matched = Pattern::parse(pattern).is_some_and(|pattern| pattern.matches(&host));
            assert_eq!(matched, expected, "{pattern} on {host:?}");
        }
    }

    #[test]
    fn entries_that_are_no_hosts_are_refused() {
        for entry in [
            "",
            "*.",
            "*x.example",
            "a.*.example",
            "http://a.example",
            "a b",
            "*.1.2.3.4",
        ] {
            assert_eq!(Pattern::parse(entry), None, "{entry}");
        }
    }

    #[test]
    fn a_domain_holds_itself_and_the_names_below_it() {
        let within = |host: &str| is_within(&Host::parse(host).expect("a host"), "gpu.example.edu");
        assert!(within("gpu.example.edu") && within("n1.gpu.example.edu"));
        assert!(!within("example.edu") && !within("xgpu.example.edu") && !within("10.0.0.1"));
    }
}
