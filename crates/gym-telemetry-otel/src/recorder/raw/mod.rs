//! Where the recorder is unsafe: records that two threads share without a lock.
//!
//! A record lives in a [`slot`], a block of memory of a [`pool`] that is never unmapped, and goes round:
//!
//! ```text
//! pool -> starting thread -> owner of the span, on whatever thread -> list of ended spans -> telemetry thread -> pool
//! ```
//!
//! At each station exactly one thread may write to it, and a release and acquire pair hands it on:
//!
//! - A thread takes free slots from the pool in chains, under the pool's lock.
//! - An open slot is written by the owner of its handle alone: the handle can be sent but not shared. What is committed
//!   never changes and is published by one store of the slot's `meta` word, so the telemetry thread can read an open
//!   slot, up to what the word it has seen says, while its owner goes on.
//! - Ending is one store of `meta` and one store of a pointer to the slot into the ending thread's own [`list`]. No
//!   lock is taken and no read-modify-write instruction executed.
//! - Only the telemetry thread, or whoever holds the lock of the lists in its place, takes slots out of the lists, and
//!   only there slots become free again.
//!
//! What is current on a thread is told by [`frames`] that point at slots, and do not keep them: whatever enters a span
//! owns or borrows it for as long as its frame is there.
#![expect(unsafe_code, reason = "this is the place for it")]

mod entered;
mod frames;
mod handle;
mod lasting;
mod list;
mod log;
mod pool;
mod slot;
pub(crate) mod tsc;

pub(crate) use entered::{Around, Guard, Inside, run_in, run_in_context};
pub(crate) use frames::{
    Above, Entry, current_context, current_entry, current_link, with_above, with_entry,
};
pub(crate) use handle::{Handle, Held};
pub(crate) use lasting::Lasting;
pub(crate) use list::Lanes;
pub(crate) use list::{count_unsampled, forget_lane};
pub(crate) use log::{Entry as LogEntry, Scratch, Text};
pub(crate) use slot::{Draft, Family, Header, Owned, Record, Traits, Writer};
