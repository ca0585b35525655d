//! The registry of open spans.
//!
//! It is read only at shutdown, which exports what is still open. The recorder bounds how many spans are open.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use super::node::Node;

const SHARDS: usize = 16;

/// All spans that were started and not ended.
#[derive(Debug)]
pub(crate) struct OpenSpans {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Debug, Default)]
struct Shard {
    places: Vec<Option<Arc<Node>>>,
    free: Vec<u32>,
}

impl OpenSpans {
    pub(crate) fn new() -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// Registers `node` if `still_open` says so. It is asked while the registry is locked, so that a span is either
    /// refused or seen by a [`take_all`](Self::take_all) that starts after the answer has changed.
    pub(crate) fn insert(&self, node: &Arc<Node>, still_open: impl FnOnce() -> bool) -> bool {
        let mut shard = self.shard_of(node).lock();
        if !still_open() {
            return false;
        }
        let place = if let Some(place) = shard.free.pop() {
            place
        } else {
            let place =
                u32::try_from(shard.places.len()).expect("open spans are limited below 2^32");
            shard.places.push(None);
            place
        };
        node.place.store(place, Ordering::Relaxed);
        shard.places[place as usize] = Some(Arc::clone(node));
        true
    }

    /// Forgets `node`.
    pub(crate) fn remove(&self, node: &Arc<Node>) {
        let mut shard = self.shard_of(node).lock();
        let place = node.place.load(Ordering::Relaxed);
        let Some(slot) = shard.places.get_mut(place as usize) else {
            return;
        };
        // Shutdown may have emptied the registry in the meantime.
        if slot.as_ref().is_some_and(|found| Arc::ptr_eq(found, node)) {
            *slot = None;
            shard.free.push(place);
        }
    }

    /// Empties the registry.
    pub(crate) fn take_all(&self) -> Vec<Arc<Node>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = std::mem::take(&mut *shard.lock());
            all.extend(shard.places.into_iter().flatten());
        }
        all
    }

    fn shard_of(&self, node: &Arc<Node>) -> &Mutex<Shard> {
        // Span ids are random, so their last byte spreads the spans evenly.
        let last = node.link.span_id.map_or(0, |id| id.to_bytes()[7]);
        &self.shards[usize::from(last) % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Recorder, RecorderSettings};
    use crate::{SpanOptions, recorder::Started};

    fn nodes(count: usize) -> Vec<Arc<Node>> {
        let recorder = Recorder::new(RecorderSettings::default());
        let start = || recorder.start("work".into(), &SpanOptions::default(), |_| {});
        let nodes = (0..count).filter_map(|_| match start() {
            Started::Recorded(node) => Some(node),
            _ => None,
        });
        nodes.collect()
    }

    #[test]
    fn a_span_is_refused_once_the_answer_has_changed() {
        let open = OpenSpans::new();
        let nodes = nodes(1);
        assert!(!open.insert(&nodes[0], || false));
        assert!(open.take_all().is_empty());
    }

    #[test]
    fn places_are_used_again_and_only_by_the_span_they_belong_to() {
        let open = OpenSpans::new();
        let nodes = nodes(200);
        for _ in 0..50 {
            for node in &nodes {
                assert!(open.insert(node, || true));
            }
            for node in &nodes[..150] {
                open.remove(node);
                open.remove(node);
            }
            let places: usize = open
                .shards
                .iter()
                .map(|shard| shard.lock().places.len())
                .sum();
            assert!(places <= 200, "{places}");
            nodes[150..].iter().for_each(|node| open.remove(node));
        }
        assert!(open.insert(&nodes[0], || true));
        assert_eq!(open.take_all().len(), 1);
        // What comes after the end finds nothing of its own.
        open.remove(&nodes[0]);
        assert!(open.insert(&nodes[1], || true));
    }
}
