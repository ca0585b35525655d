//! The thread without a thread.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gym_telemetry_api::Context;

use super::super::super::identity::Identity;
use super::{Command, Entry, Kind, Thread, oneshot, part_of, runtime};
use crate::allocation::Allocation;
use crate::reader::{Reading, ResourceReader};
use crate::sample::Sample;

#[derive(Debug)]
struct Unread;

impl ResourceReader for Unread {
    fn allocation_source(&self) -> &'static str {
        "unread"
    }

    fn sample_source(&self) -> &'static str {
        "unread"
    }

    fn allocation(&self) -> Reading<'_, Allocation> {
        Box::pin(async { Ok(Allocation::default()) })
    }

    fn sample(&self) -> Reading<'_, Sample> {
        Box::pin(async { Ok(Sample::default()) })
    }
}

#[test]
fn last_samples_come_first_in_the_order_of_the_stops() {
    let mut thread = Thread::new();
    let now = Instant::now();
    let identity = Arc::new(Identity::new("unread"));
    let ids = [(); 3].map(|()| {
        let (identity, context) = (Arc::clone(&identity), Context::root());
        let entry = Entry::new(identity, context, Arc::new(Unread), Duration::from_hours(1));
        let id = entry.id();
        thread.add(Arc::new(entry), now);
        id
    });
    for id in [ids[2], ids[0]] {
        thread.finish(id, oneshot::channel().0, now);
    }
    // Without telemetry a reading that starts is over at once, and says so.
    thread.turn(now);
    let order: Vec<_> = std::iter::from_fn(|| thread.commands.try_recv().ok())
        .map(|command| match command {
            Command::Done(id, kind) => (id, kind),
            other => panic!("unexpected {other:?}"),
        })
        .collect();
    assert_eq!(
        order[..3],
        [
            (ids[2], Kind::LastSample),
            (ids[0], Kind::LastSample),
            (ids[0], Kind::Allocation)
        ]
    );
}

#[test]
fn a_thread_that_is_refused_inside_a_runtime_is_only_missing() {
    let application = runtime::Builder::new_current_thread().build();
    let application = application.expect("a runtime can be built");
    application.block_on(async {
        let driver = Thread::start_with(|work| {
            drop(work);
            Err(io::Error::other("no more threads"))
        });
        assert!(driver.is_none());
    });
}

#[test]
fn first_readings_spread_over_the_interval() {
    let interval = Duration::from_secs(10);
    assert_eq!(part_of(interval, 0), Duration::ZERO);
    assert_eq!(part_of(interval, u64::MAX / 2 + 1), Duration::from_secs(5));
    assert!(part_of(interval, u64::MAX) < interval);
}
