//! The current context of each thread.
//!
//! A stack of what was entered and not left. A span that is entered hides the span below it and nothing else; a
//! context hides everything below it. Guards remember their entry by a number that is never used again, so
//! dropping them in any order, or on top of entries that a task has left behind, removes the right one or nothing.

use std::cell::RefCell;
use std::sync::Arc;

use crate::context::Context;
use crate::recorder::{Link, Node};

thread_local! {
    static STACK: RefCell<Stack> = const { RefCell::new(Stack { next: 0, frames: Vec::new() }) };
}

struct Stack {
    next: u64,
    frames: Vec<(Entry, Frame)>,
}

/// Something that was entered.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Recorded(Arc<Node>),
    Passive(Arc<Link>),
    Context(Context),
}

/// Identifies one entry for as long as the thread lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u64);

impl Frame {
    fn link(&self) -> Option<&Link> {
        match self {
            Self::Recorded(node) => Some(&node.link),
            Self::Passive(link) => Some(link),
            Self::Context(context) => context.link(),
        }
    }
}

/// Makes `frame` current. `None` if the thread is dying and has no current context any more.
pub(crate) fn enter(frame: Frame) -> Option<Entry> {
    // No frame runs foreign code when it is dropped, so the stack can stay borrowed.
    STACK
        .try_with(|stack| {
            let mut stack = stack.borrow_mut();
            let entry = Entry(stack.next);
            stack.next += 1;
            stack.frames.push((entry, frame));
            entry
        })
        .ok()
}

/// Leaves one entry, wherever it is in the stack.
pub(crate) fn leave(entry: Entry) {
    with(|frames| {
        if let Some(place) = frames.iter().rposition(|(other, _)| *other == entry) {
            frames.remove(place);
        }
    });
}

/// Leaves an entry and everything that was entered after it and not left.
fn leave_scope(entry: Entry) {
    with(|frames| {
        if let Some(place) = frames.iter().rposition(|(other, _)| *other == entry) {
            frames.truncate(place);
        }
    });
}

/// Makes `frame` current until the scope is dropped, which also leaves what was entered inside and forgotten.
pub(crate) fn enter_scope(frame: Frame) -> Scope {
    Scope(enter(frame))
}

pub(crate) struct Scope(Option<Entry>);

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(entry) = self.0 {
            leave_scope(entry);
        }
    }
}

/// What a new span hangs on.
pub(crate) fn current_link() -> Option<Link> {
    with(|frames| frames.last().and_then(|(_, frame)| frame.link()).cloned()).flatten()
}

/// Everything that has to follow the work elsewhere.
pub(crate) fn current_context() -> Context {
    with(|frames| {
        let context = frames.iter().rev().find_map(|(_, frame)| match frame {
            Frame::Context(context) => Some(context.clone()),
            _ => None,
        });
        let link = frames.last().and_then(|(_, frame)| frame.link()).cloned();
        context.unwrap_or_default().with_link(link)
    })
    .unwrap_or_default()
}

/// The current span, if it is recorded and was entered on this thread, and not merely carried to it.
pub(crate) fn current_node() -> Option<Arc<Node>> {
    with(|frames| {
        let current = frames.last()?.1.link()?.span_id?;
        frames.iter().rev().find_map(|(_, frame)| match frame {
            Frame::Recorded(node) if node.link.span_id == Some(current) => Some(Arc::clone(node)),
            _ => None,
        })
    })
    .flatten()
}

fn with<T>(f: impl FnOnce(&mut Vec<(Entry, Frame)>) -> T) -> Option<T> {
    STACK
        .try_with(|stack| f(&mut stack.borrow_mut().frames))
        .ok()
}
