//! The callers that wait, in the order in which they came.
//!
//! Only callers that found no free slot come here, so this list may have a lock. A caller leaves by its
//! number; where it stood stays empty until the front of the list reaches it or the list is swept.

use std::collections::VecDeque;

/// One caller that waits.
#[derive(Clone, Copy, Debug)]
struct Waiter<Since> {
    ticket: u64,
    /// How many slots it asked for; zero once it has left.
    slots: u32,
    since: Since,
}

/// The waiting callers of one semaphore; `Since` is when a caller came.
#[derive(Debug)]
pub(crate) struct Waiters<Since> {
    queue: VecDeque<Waiter<Since>>,
    next_ticket: u64,
    waiting: usize,
}

impl<Since: Copy> Waiters<Since> {
    pub(crate) fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            next_ticket: 0,
            waiting: 0,
        }
    }

    /// Adds a caller and returns its ticket.
    pub(crate) fn join(&mut self, slots: u32, since: Since) -> u64 {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.queue.push_back(Waiter {
            ticket,
            slots,
            since,
        });
        self.waiting += 1;
        ticket
    }

    /// Removes the caller with `ticket` and returns when it came.
    pub(crate) fn leave(&mut self, ticket: u64) -> Option<Since> {
        let index = self
            .queue
            .binary_search_by_key(&ticket, |waiter| waiter.ticket)
            .ok()?;
        let waiter = &mut self.queue[index];
        if waiter.slots == 0 {
            return None;
        }
        waiter.slots = 0;
        let since = waiter.since;
        self.waiting -= 1;
        while self.queue.front().is_some_and(|waiter| waiter.slots == 0) {
            self.queue.pop_front();
        }
        // A caller that waits for long must not keep the places of all that came and went behind it.
        if self.queue.len() > 2 * self.waiting + 32 {
            self.queue.retain(|waiter| waiter.slots > 0);
        }
        Some(since)
    }

    /// Returns how many callers wait, some of them perhaps granted and not yet awake.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    /// Splits the waiting callers, given how many slots the semaphore has set aside for them.
    ///
    /// The semaphore serves its queue in order and parks what it has with the first caller it cannot serve in
    /// full, so the callers at the front that fit into `aside` are granted, and what is left is parked.
    pub(crate) fn split(&self, mut aside: usize) -> Split<Since> {
        let mut granted = 0;
        let mut oldest = None;
        for waiter in self.queue.iter().filter(|waiter| waiter.slots > 0) {
            let slots = waiter.slots as usize;
            if aside < slots {
                oldest = Some(waiter.since);
                break;
            }
            aside -= slots;
            granted += 1;
        }
        // With nobody in line, nothing is parked: what is set aside is about to be held or given back.
        let parked = if oldest.is_some() { aside } else { 0 };
        Split {
            queued: self.waiting - granted,
            parked,
            oldest,
        }
    }
}

/// What the waiting callers stand for at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split<Since> {
    /// Callers that no slot has been granted to.
    pub(crate) queued: usize,
    /// Slots parked with the first of them, which asked for more.
    pub(crate) parked: usize,
    /// When the first of them came.
    pub(crate) oldest: Option<Since>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_set_aside_are_granted_in_order_and_the_rest_is_parked() {
        let mut waiters = Waiters::new();
        waiters.join(1, 'a');
        waiters.join(3, 'b');
        waiters.join(1, 'c');
        assert_eq!(
            waiters.split(0),
            Split {
                queued: 3,
                parked: 0,
                oldest: Some('a')
            }
        );
        assert_eq!(
            waiters.split(1),
            Split {
                queued: 2,
                parked: 0,
                oldest: Some('b')
            }
        );
        assert_eq!(
            waiters.split(3),
            Split {
                queued: 2,
                parked: 2,
                oldest: Some('b')
            }
        );
        assert_eq!(
            waiters.split(5),
            Split {
                queued: 0,
                parked: 0,
                oldest: None
            }
        );
    }

    #[test]
    fn a_caller_leaves_once() {
        let mut waiters = Waiters::new();
        let (first, second) = (waiters.join(1, 'a'), waiters.join(1, 'b'));
        assert_eq!(waiters.leave(second), Some('b'));
        assert_eq!(waiters.leave(second), None);
        assert_eq!(waiters.leave(first), Some('a'));
        assert_eq!(waiters.len(), 0);
    }

    #[test]
    fn places_behind_a_long_wait_are_swept() {
        let mut waiters = Waiters::new();
        let stuck = waiters.join(1, ());
        for _ in 0..10_000 {
            let ticket = waiters.join(1, ());
            waiters.leave(ticket);
        }
        assert!(waiters.queue.len() < 100, "{} places", waiters.queue.len());
        assert_eq!(waiters.leave(stuck), Some(()));
    }
}
