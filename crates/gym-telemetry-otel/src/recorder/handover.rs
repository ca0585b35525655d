//! From the thread that ends a span to the telemetry thread.
//!
//! Each thread has a list of its own, so that threads do not wait for each other. The telemetry thread empties a
//! list by swapping it out: its lock is held for that moment only, never while something is exported.

use std::cell::RefCell;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Recorder;
use super::node::Node;

thread_local! {
    static LISTS: Lists = const { Lists(RefCell::new(Vec::new())) };
}

/// The lists of one thread: one, unless a process was forked or a test has several recorders.
struct Lists(RefCell<Vec<(&'static Recorder, Arc<ThreadList>)>>);

/// The ended spans of one thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadList {
    spans: Mutex<Vec<Arc<Node>>>,
}

/// The lists of all threads.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    threads: Mutex<Vec<Arc<ThreadList>>>,
    /// Spans of threads that have died or are dying.
    orphans: Mutex<Vec<Arc<Node>>>,
}

impl Handover {
    /// Hands `node` over if `still_open` says so. It is asked while the list is locked, so that a span is either
    /// given back or seen by a [`drain`](Self::drain) that starts after the answer has changed.
    pub(crate) fn push(
        recorder: &'static Recorder,
        node: Arc<Node>,
        still_open: impl FnOnce() -> bool,
    ) -> Result<(), Arc<Node>> {
        match LISTS.try_with(|lists| lists.of(recorder)) {
            Ok(list) => push(&list.spans, node, still_open),
            // The thread's destructors are running and ours is done.
            Err(_) => push(&recorder.handover.orphans, node, still_open),
        }
    }

    /// Takes everything that was handed over, in the order in which each thread ended it.
    pub(crate) fn drain(&self, into: &mut impl Extend<Arc<Node>>) -> usize {
        let mut count = 0;
        let mut take = |spans: Vec<Arc<Node>>| {
            count += spans.len();
            into.extend(spans);
        };
        for list in self.threads.lock().iter() {
            take(std::mem::take(&mut *list.spans.lock()));
        }
        // After the threads: a dying thread holds this lock until all of its spans have arrived here.
        take(std::mem::take(&mut *self.orphans.lock()));
        count
    }

    #[cfg(test)]
    pub(crate) fn thread_count(&self) -> usize {
        self.threads.lock().len()
    }
}

fn push(
    spans: &Mutex<Vec<Arc<Node>>>,
    node: Arc<Node>,
    still_open: impl FnOnce() -> bool,
) -> Result<(), Arc<Node>> {
    let mut spans = spans.lock();
    if !still_open() {
        return Err(node);
    }
    spans.push(node);
    Ok(())
}

impl Lists {
    fn of(&self, recorder: &'static Recorder) -> Arc<ThreadList> {
        let mut lists = self.0.borrow_mut();
        if let Some((_, list)) = lists
            .iter()
            .find(|(owner, _)| std::ptr::eq(*owner, recorder))
        {
            return Arc::clone(list);
        }
        // Lists of before a fork are the parent's.
        lists.retain(|(owner, _)| owner.is_of_this_process());
        let list = Arc::new(ThreadList::default());
        recorder.handover.threads.lock().push(Arc::clone(&list));
        lists.push((recorder, Arc::clone(&list)));
        list
    }
}

impl Drop for Lists {
    /// The thread dies: its spans move to the orphans and nothing of it stays behind.
    fn drop(&mut self) {
        for (recorder, list) in self.0.get_mut().drain(..) {
            if !recorder.is_of_this_process() {
                continue;
            }
            let mut orphans = recorder.handover.orphans.lock();
            orphans.append(&mut list.spans.lock());
            drop(orphans);
            let mut threads = recorder.handover.threads.lock();
            if let Some(place) = threads.iter().position(|other| Arc::ptr_eq(other, &list)) {
                threads.swap_remove(place);
            }
        }
    }
}
