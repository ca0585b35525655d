//! Who a sandbox is: what all its spans carry.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::UNIX_EPOCH;

use gym_telemetry_api::{Attributes, Context};
use gym_telemetry_core::attribute;

use super::provider::Provider;

/// What a request and everything that follows from it have in common.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) provider: Arc<Provider>,
    /// `None` for a sandbox that somebody else requested.
    pub(super) request_id: Option<Arc<str>>,
    /// The ids of a collection and of the service in it.
    pub(super) service: Option<(Arc<str>, Arc<str>)>,
    pub(super) rollout_id: Option<Arc<str>>,
    /// `None` until the provider has named the sandbox.
    pub(super) sandbox_id: Option<Arc<str>>,
}

impl Identity {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: Provider::named(provider),
            request_id: None,
            service: None,
            rollout_id: None,
            sandbox_id: None,
        }
    }

    /// Takes the rollout from the context, if that has one.
    pub(super) fn in_context(mut self, context: &Context) -> Self {
        if let Some(rollout) = context.rollout_id() {
            self.rollout_id = Some(Arc::clone(rollout));
        }
        self
    }

    pub(super) fn describe(&self, attributes: &mut Attributes<'_>) {
        attributes.set(attribute::sandbox::PROVIDER, self.provider.name());
        attributes.set(attribute::sandbox::REQUEST_ID, &self.request_id);
        attributes.set(attribute::sandbox::ID, &self.sandbox_id);
        attributes.set(attribute::ROLLOUT_ID, &self.rollout_id);
        if let Some((collection, service)) = &self.service {
            attributes.set(attribute::sandbox::COLLECTION_ID, collection);
            attributes.set(attribute::sandbox::SERVICE_ID, service);
        }
    }
}

/// Makes an id that no other request has, in this process or another.
pub(super) fn new_request_id() -> Arc<str> {
    // Two hashers with keys of their own, which the system chose at random.
    static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);
    static LAST: AtomicU64 = AtomicU64::new(0);
    // A forked child has the same keys and the same count.
    let process = std::process::id();
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    let [high, low] = [0, 1].map(|half: usize| KEYS[half].hash_one((process, now, number)));
    format!("{high:016x}{low:016x}").into()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::new_request_id;

    #[test]
    fn no_two_requests_have_the_same_id() {
        let ids: HashSet<_> = (0..10_000).map(|_| new_request_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 32));
    }
}
