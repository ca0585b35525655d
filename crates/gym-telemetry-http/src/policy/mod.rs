//! Which hosts may receive trace headers.

use gym_telemetry_api::if_telemetry;

// Named once more for rustfmt, which does not look into macros.
#[cfg(rustfmt)]
mod hosts;
#[cfg(rustfmt)]
mod off;
#[cfg(rustfmt)]
mod on;

if_telemetry!(items {
    mod hosts;
    mod on;
    use on as build;
} else {
    mod off;
    use off as build;
});

/// Decides which hosts may receive `traceparent`, `tracestate` and `baggage`.
///
/// Trace headers tell a stranger how a run is put together, so they go only to
///
/// - loopback, private and link-local addresses, and the unspecified ones that stand for this machine;
/// - names of a single label, and names that end in `.local`, `.internal`, `.svc`, `.cluster.local` or
///   `.localhost`;
/// - names in this machine's own domain;
/// - the hosts of URLs given to [`allow_url`](PropagationPolicyBuilder::allow_url): give every server of the run;
/// - the hosts listed in `NEMO_GYM_OTEL_PROPAGATION_HOSTS`, separated by commas: `host`, `*.suffix` (any name
///   below it) or `*`.
///
/// Decisions are made on the name in the URL, not on the address it resolves to. The first refusal of each host is
/// warned about once per process; the text names that variable.
///
/// ```
/// use gym_telemetry_http::PropagationPolicy;
///
/// let policy = PropagationPolicy::builder().allow_url("https://judge.example.com:8443/v1").build();
/// # let _ = policy;
/// ```
///
/// # Off build
///
/// Zero-sized; nothing is ever sent, so nothing is decided.
#[derive(Clone, Debug, Default)]
#[allow(dead_code, reason = "read in one build only")]
pub struct PropagationPolicy {
    known: build::KnownHosts,
}

impl PropagationPolicy {
    /// Starts a policy with the rules above.
    pub fn builder() -> PropagationPolicyBuilder {
        PropagationPolicyBuilder {
            known: build::KnownHosts::default(),
        }
    }
}

/// Builds a [`PropagationPolicy`].
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct PropagationPolicyBuilder {
    known: build::KnownHosts,
}

impl PropagationPolicyBuilder {
    /// Adds the host of `url`, which may also be a bare `host` or `host:port`.
    ///
    /// The port is of no account: every port of the host may receive headers. Text without a host adds nothing.
    pub fn allow_url(mut self, url: &str) -> Self {
        self.known.add(url);
        self
    }

    /// Finishes the policy.
    #[must_use]
    pub fn build(self) -> PropagationPolicy {
        PropagationPolicy { known: self.known }
    }
}
