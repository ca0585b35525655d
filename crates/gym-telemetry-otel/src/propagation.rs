//! What this process has settled on about trace headers, for the crates that send them.

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::OnceLock;

use crate::settings::Settings;

static SETTLED: OnceLock<PropagationSettings> = OnceLock::new();

/// Whether and to whom trace headers are sent.
#[derive(Debug)]
pub struct PropagationSettings {
    propagate: bool,
    client_spans: bool,
    hosts: Vec<String>,
    own_domain: OnceLock<Option<String>>,
}

impl PropagationSettings {
    /// Whether headers are sent at all.
    #[must_use]
    pub fn propagate(&self) -> bool {
        self.propagate
    }

    /// Whether outbound requests have spans of their own.
    #[must_use]
    pub fn client_spans(&self) -> bool {
        self.client_spans
    }

    /// Further hosts that may receive headers, as they were configured.
    #[must_use]
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The domain of this machine, in lower case; `None` if it is not known or has a single label.
    #[must_use]
    pub fn own_domain(&self) -> Option<&str> {
        self.own_domain.get_or_init(own_domain).as_deref()
    }
}

/// What this process has settled on; `None` while telemetry is not started.
#[must_use]
pub fn propagation_settings() -> Option<&'static PropagationSettings> {
    SETTLED.get()
}

/// Warns about something that concerns headers; equal causes are reported once a minute at most.
pub fn warn(cause: impl Into<Cow<'static, str>>, message: &dyn Display) {
    crate::warn::warn(cause, message);
}

/// Makes `settings` those of this process, unless it has some.
pub(crate) fn settle(settings: &Settings) {
    SETTLED.get_or_init(|| PropagationSettings {
        propagate: settings.propagate,
        client_spans: settings.instrument_http_client,
        hosts: settings.propagation_hosts.clone(),
        own_domain: OnceLock::new(),
    });
}

/// The domain in the machine's name or, as most machines only know their own label, that of the resolver.
fn own_domain() -> Option<String> {
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let of_name = name.split_once('.').and_then(|(_, domain)| usable(domain));
    of_name.or_else(|| of_resolver(&std::fs::read_to_string("/etc/resolv.conf").ok()?))
}

/// The domain of a resolver's configuration; its last `domain` or `search` line counts.
fn of_resolver(configuration: &str) -> Option<String> {
    let mut domains = configuration.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        matches!(words.next(), Some("domain" | "search")).then(|| words.next())?
    });
    usable(domains.next_back()?)
}

/// A domain of one label is as good as the whole internet.
fn usable(domain: &str) -> Option<String> {
    let domain = domain.trim_end_matches('.').to_ascii_lowercase();
    domain.contains('.').then_some(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_domain_of_the_resolver_counts_if_it_has_two_labels() {
        let domain = |text| of_resolver(text);
        assert_eq!(
            domain("nameserver 10.0.0.1\nsearch Gpu.Example.edu example.edu\n").as_deref(),
            Some("gpu.example.edu")
        );
        assert_eq!(
            domain("search a.example\ndomain b.example.\n").as_deref(),
            Some("b.example")
        );
        assert_eq!(
            domain("# domain a.example\nsearchx b.example\noptions ndots:5\n"),
            None
        );
        for text in [
            "",
            "search com",
            "search .",
            "search",
            "domain\nnameserver x.y",
        ] {
            assert_eq!(domain(text), None, "{text}");
        }
    }
}
