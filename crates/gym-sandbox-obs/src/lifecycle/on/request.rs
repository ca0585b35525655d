//! Requests for sandboxes.

use std::num::NonZeroU32;
use std::time::Duration;

use gym_resources::SandboxResources;
use gym_telemetry_api::{Attributes, Context, Parent, is_span_group_enabled};
use gym_telemetry_core::attribute::sandbox as key;
use gym_telemetry_core::{group, span};

use super::identity::{Identity, new_request_id};
use super::records;
use super::start::SandboxStart;

/// Describes a request for sandboxes; [`SandboxRequest::builder`] makes one.
#[derive(Clone, Debug)]
#[must_use = "a request is on record only once it is recorded"]
pub struct RequestBuilder<'a> {
    provider: &'a str,
    count: NonZeroU32,
    resources: Option<&'a SandboxResources>,
    sidecars: Vec<(&'a str, &'a SandboxResources)>,
    service: Option<(&'a str, &'a str)>,
    sample_interval: Option<Duration>,
}

impl<'a> RequestBuilder<'a> {
    /// Says what each sandbox is to have. What it leaves open stays unspecified on record.
    pub fn resources(mut self, resources: &'a SandboxResources) -> Self {
        self.resources = Some(resources);
        self
    }

    /// Adds a sidecar. Its resources are recorded apart: they are no part of the sandbox's own.
    pub fn sidecar(mut self, name: &'a str, resources: &'a SandboxResources) -> Self {
        self.sidecars.push((name, resources));
        self
    }

    /// Says how many sandboxes are asked for at once; one, unless told otherwise.
    pub fn count(mut self, count: NonZeroU32) -> Self {
        self.count = count;
        self
    }

    /// Says that the sandbox is a service of a collection, such as a Compose file.
    ///
    /// Record the requests of all services before the first one is started: a failed start then still leaves
    /// every request on record.
    pub fn service(mut self, collection: &'a str, service: &'a str) -> Self {
        self.service = Some((collection, service));
        self
    }

    /// Reads the sandbox's resources this often, instead of as often as the configuration says; zero: never.
    /// Where the configuration says zero, nothing is read whatever a request says.
    pub fn sample_interval(mut self, interval: Duration) -> Self {
        self.sample_interval = Some(interval);
        self
    }

    /// Records the request, as a span that is over at once. Call it before the provider is asked.
    #[must_use = "the request is what the sandbox is started with"]
    pub fn record(self) -> SandboxRequest {
        let mut identity = Identity::new(self.provider).in_context(&Context::current());
        identity.service = self
            .service
            .map(|(collection, service)| (collection.into(), service.into()));
        // An id that nothing is recorded with joins nothing.
        identity.request_id = is_span_group_enabled(&group::SANDBOX).then(new_request_id);
        let describe = |attributes: &mut Attributes<'_>| {
            identity.describe(attributes);
            self.describe(attributes);
        };
        records::start(span::SANDBOX_REQUEST, Parent::Current, describe).end();
        SandboxRequest {
            identity,
            sample_interval: self.sample_interval,
        }
    }

    fn describe(&self, attributes: &mut Attributes<'_>) {
        attributes.set(key::REQUESTED_COUNT, &self.count.get());
        if let Some(resources) = self.resources {
            records::set(attributes, key::REQUESTED, records::requested(resources));
        }
        if self.sidecars.is_empty() {
            return;
        }
        attributes.set(key::REQUESTED_SIDECAR_COUNT, &self.sidecars.len());
        for (index, (name, resources)) in self.sidecars.iter().enumerate() {
            attributes.set(key::requested_sidecar(index, "name"), *name);
            records::set_numbered(
                attributes,
                |resource| key::requested_sidecar(index, resource),
                records::requested(resources),
            );
        }
    }
}

/// A request for a sandbox that is on record.
///
/// However often it is tried to start the sandbox, it stays one request with one id: count distinct ids to know
/// what a rollout asked for. A new request object is a new request.
#[derive(Clone, Debug)]
pub struct SandboxRequest {
    identity: Identity,
    sample_interval: Option<Duration>,
}

impl SandboxRequest {
    /// Describes a request to the provider of that registered name.
    pub fn builder(provider: &str) -> RequestBuilder<'_> {
        RequestBuilder {
            provider,
            count: NonZeroU32::MIN,
            resources: None,
            sidecars: Vec::new(),
            service: None,
            sample_interval: None,
        }
    }

    /// The id on record; `None` if the request was not recorded.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.identity.request_id.as_deref()
    }

    /// Begins to start the sandbox.
    pub fn start(&self) -> SandboxStart {
        let context = Context::current();
        let identity = self.identity.clone().in_context(&context);
        SandboxStart::new(identity, context, self.sample_interval)
    }
}
