//! Reads the rules and the settings.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gym_telemetry_api::__private::{PropagationSettings, warn};
use gym_telemetry_core::env;

use super::PropagationPolicy;
use super::hosts::{Host, Pattern, is_internal, is_within, without_port};

/// Refused hosts that are warned about by name; clients can be made to ask for any number of hosts.
const NAMED_REFUSALS: usize = 64;

static SETTING: OnceLock<Vec<Pattern>> = OnceLock::new();
static REFUSED: Mutex<Option<Refused>> = Mutex::new(None);

#[derive(Clone, Debug, Default)]
pub(super) struct KnownHosts(Arc<Vec<Host>>);

impl KnownHosts {
    pub(super) fn add(&mut self, url: &str) {
        let host = host_of(url);
        match Host::parse(host) {
            Some(host) if self.0.contains(&host) => {}
            Some(host) => Arc::make_mut(&mut self.0).push(host),
            None => warn(
                "propagation: URL without a host",
                &format_args!(
                    "a server URL without a valid host, {host:?}, adds nothing to the propagation policy"
                ),
            ),
        }
    }
}

impl PropagationPolicy {
    /// Says whether `host` may receive trace headers, and warns of its first refusal.
    pub(crate) fn permits(&self, host: &str, settings: &PropagationSettings) -> bool {
        let permitted = Host::parse(host).is_some_and(|host| {
            is_internal(&host)
                || self.known.0.contains(&host)
                || patterns(settings)
                    .iter()
                    .any(|pattern| pattern.matches(&host))
                || settings
                    .own_domain()
                    .is_some_and(|domain| is_within(&host, domain))
        });
        if !permitted {
            refuse(host);
        }
        permitted
    }
}

/// Cuts scheme, user-info, port and path off a URL.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    without_port(authority)
}

/// The settings are settled before the first request, so they are read once.
fn patterns(settings: &PropagationSettings) -> &'static [Pattern] {
    SETTING.get_or_init(|| {
        settings
            .hosts()
            .iter()
            .filter_map(|entry| pattern(entry))
            .collect()
    })
}

fn pattern(entry: &str) -> Option<Pattern> {
    let pattern = Pattern::parse(entry);
    if pattern.is_none() {
        warn(
            format!("propagation: entry {entry}"),
            &format_args!(
                "{}: {entry:?} is ignored; an entry is a host name, an address, `*.suffix` or `*`",
                env::PROPAGATION_HOSTS.gym
            ),
        );
    }
    pattern
}

fn refuse(host: &str) {
    let mut refused = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let which = match refused.get_or_insert_default().add(host) {
        Refusal::Known => return,
        Refusal::New => host,
        Refusal::Surplus => "still other hosts",
    };
    drop(refused);
    warn(
        format!("propagation: host {which}"),
        &format_args!(
            "requests to {which} carry no trace headers: not a host of this site or run; list hosts that may receive them in {}",
            env::PROPAGATION_HOSTS.gym
        ),
    );
}

/// The hosts that were refused and warned about.
#[derive(Debug, Default)]
struct Refused(HashSet<Box<str>>);

#[derive(Debug, Eq, PartialEq)]
enum Refusal {
    Known,
    New,
    /// The first of those that are not named any more.
    Surplus,
}

impl Refused {
    fn add(&mut self, host: &str) -> Refusal {
        if self.0.len() > NAMED_REFUSALS || self.0.contains(host) {
            return Refusal::Known;
        }
        self.0.insert(host.into());
        if self.0.len() > NAMED_REFUSALS {
            Refusal::Surplus
        } else {
            Refusal::New
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_cut_down_to_their_host() {
        for (url, host) in [
            ("http://a.example:81/p?q", "a.example"),
            ("https://u:p@a.example?q", "a.example"),
            ("http://[fd00::1]:8/x", "[fd00::1]"),
            ("a.example:81", "a.example"),
            ("a.example", "a.example"),
            ("fd00::1", "fd00::1"),
            ("", ""),
        ] {
            assert_eq!(host_of(url), host, "{url}");
        }
    }

    #[test]
    fn each_refused_host_is_new_once_and_their_number_is_bounded() {
        let mut refused = Refused::default();
        assert_eq!(
            ["a", "b", "a"].map(|host| refused.add(host)),
            [Refusal::New, Refusal::New, Refusal::Known]
        );
        let more: Vec<_> = (0..1000).map(|n| refused.add(&n.to_string())).collect();
        let count = |wanted| more.iter().filter(|refusal| **refusal == wanted).count();
        assert_eq!(
            (count(Refusal::New), count(Refusal::Surplus)),
            (NAMED_REFUSALS - 2, 1)
        );
        assert_eq!(refused.0.len(), NAMED_REFUSALS + 1);
    }
}
