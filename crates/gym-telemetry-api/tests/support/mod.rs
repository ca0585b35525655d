//! What several test files share.
#![allow(dead_code, reason = "no test file uses everything")]

use std::cell::{Cell, RefCell};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Polls `future` until it is done. The futures of these tests wake themselves by being polled again.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..10_000 {
        if let Poll::Ready(output) = poll(future.as_mut()) {
            return output;
        }
    }
    panic!("the future is still pending");
}

pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Is pending once.
pub(crate) async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

/// Counts how often it is asked for a value.
#[derive(Default)]
pub(crate) struct Counter(Cell<u32>);

impl Counter {
    pub(crate) fn value(&self) -> u32 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.get()
    }
}

/// Writes down what is dropped, and when.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<RefCell<Vec<&'static str>>>);

impl Log {
    pub(crate) fn note(&self, entry: &'static str) {
        self.0.borrow_mut().push(entry);
    }

    pub(crate) fn noisy(&self, name: &'static str) -> Noisy {
        Noisy(name, self.clone())
    }

    pub(crate) fn take(&self) -> Vec<&'static str> {
        self.0.take()
    }
}

/// Writes its name into a log when it is dropped.
pub(crate) struct Noisy(&'static str, Log);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.1.note(self.0);
    }
}

/// An error that says where.
#[derive(Debug, PartialEq)]
pub(crate) struct Failed(pub(crate) u32);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "failed at {}", self.0)
    }
}

impl From<std::num::ParseIntError> for Failed {
    fn from(_: std::num::ParseIntError) -> Failed {
        Failed(0)
    }
}
