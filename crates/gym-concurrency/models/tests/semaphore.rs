//! The semaphore's counts in many interleavings of its callers, measured and not, counted and listed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gym_concurrency_models::{AcquireError, ConcurrencyComponent, EXPORTED, MeteredSemaphore};
use shuttle::future::{JoinHandle, block_on, spawn, yield_now};
use tokio_under_shuttle::time::{clear_triggers, trigger_timeouts};

/// Runs a model in schedules that are random, and in schedules that switch tasks at a few unlikely places; with
/// waits that are measured, and with waits that are not.
fn explore(model: fn(&'static str)) {
    for name in ["not exported", EXPORTED] {
        shuttle::check_random(move || model(name), 1_000);
        shuttle::check_pct(move || model(name), 500, 3);
    }
}

fn semaphore(limit: usize, name: &'static str) -> Arc<MeteredSemaphore> {
    let semaphore = MeteredSemaphore::new(limit, ConcurrencyComponent::ModelServer, name);
    Arc::new(semaphore.expect("a valid limit"))
}

/// Nobody holds a slot, nobody waits, and every slot can be had.
fn assert_all_free(semaphore: &MeteredSemaphore) {
    assert_eq!((semaphore.active(), semaphore.queued()), (0, 0));
    assert!(semaphore.has_no_arrivals());
    let all: Vec<_> = (0..semaphore.limit())
        .map(|_| semaphore.try_acquire().expect("every slot can be had"))
        .collect();
    assert_eq!((semaphore.active(), semaphore.available()), (all.len(), 0));
    let one_more = semaphore.try_acquire();
    assert!(one_more.expect_err("there are no more").is_full());
}

fn join<T>(task: JoinHandle<T>) -> T {
    block_on(task).expect("the task ends by itself")
}

/// A task that takes slots, holds them for a moment and gives them back.
fn holder(semaphore: &Arc<MeteredSemaphore>, slots: u32) -> JoinHandle<Result<(), AcquireError>> {
    let semaphore = Arc::clone(semaphore);
    spawn(async move {
        let permit = match slots {
            1 => semaphore.acquire().await?,
            _ => semaphore.acquire_many(slots).await?,
        };
        yield_now().await;
        drop(permit);
        Ok(())
    })
}

#[test]
fn no_more_slots_are_held_than_there_are() {
    explore(|name| {
        let semaphore = semaphore(2, name);
        let inside = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = [1, 2, 1, 1]
            .map(|slots: u32| {
                let (semaphore, inside) = (Arc::clone(&semaphore), Arc::clone(&inside));
                spawn(async move {
                    let permit = match slots {
                        1 => semaphore.acquire().await,
                        _ => semaphore.acquire_many(slots).await,
                    };
                    let permit = permit.expect("never closed");
                    let slots = slots as usize;
                    let now = inside.fetch_add(slots, Ordering::Relaxed) + slots;
                    assert!(now <= 2);
                    // These slots at least are seen to be held.
                    assert!((slots..=2).contains(&semaphore.active()));
                    yield_now().await;
                    inside.fetch_sub(slots, Ordering::Relaxed);
                    drop(permit);
                })
            })
            .into();
        let (active, queued) = (semaphore.active(), semaphore.queued());
        assert!(
            active <= 2 && queued <= 4,
            "{active} active, {queued} queued"
        );
        callers.into_iter().for_each(join);
        assert_all_free(&semaphore);
        assert_eq!(semaphore.failed_waits(), (0, 0));
    });
}

#[test]
fn a_free_slot_among_held_ones_is_counted_as_free() {
    explore(|name| {
        let semaphore = semaphore(3, name);
        let held = semaphore.try_acquire().expect("free");
        let caller = holder(&semaphore, 1);
        let (active, queued) = (semaphore.active(), semaphore.queued());
        assert!((1..=2).contains(&active), "{active}");
        assert_eq!(queued, 0, "there is room for everybody");
        join(caller).expect("never closed");
        assert_eq!((semaphore.active(), semaphore.available()), (1, 2));
        drop(held);
        assert_all_free(&semaphore);
    });
}

/// Waits in a task that can be aborted while another gives the slot back; a second caller waits behind it.
#[test]
fn a_caller_cancelled_at_its_grant_leaves_the_slot_to_the_next() {
    explore(|name| {
        let semaphore = semaphore(1, name);
        let held = Arc::clone(&semaphore).try_acquire_owned().expect("free");
        let (cancelled, patient) = (holder(&semaphore, 1), holder(&semaphore, 1));
        let releaser = spawn(async move { drop(held) });
        cancelled.abort();
        let outcome = block_on(cancelled);
        join(releaser);
        join(patient).expect("it is admitted whatever becomes of the other");
        let (timeouts, given_up) = semaphore.failed_waits();
        assert_eq!(timeouts, 0);
        assert!(given_up <= usize::from(outcome.is_err()));
        assert_all_free(&semaphore);
    });
}

#[test]
fn a_request_for_several_slots_cancelled_at_its_grant_gives_back_all() {
    explore(|name| {
        let semaphore = semaphore(2, name);
        let held = Arc::clone(&semaphore).try_acquire_owned().expect("free");
        let (cancelled, patient) = (holder(&semaphore, 2), holder(&semaphore, 1));
        let releaser = spawn(async move { drop(held) });
        cancelled.abort();
        let _ = block_on(cancelled);
        join(releaser);
        join(patient).expect("it is admitted whatever becomes of the other");
        assert_all_free(&semaphore);
    });
}

#[test]
fn a_timeout_at_the_grant_is_a_timeout_or_a_grant() {
    explore(|name| {
        clear_triggers();
        let semaphore = MeteredSemaphore::new(1, ConcurrencyComponent::ModelServer, name)
            .expect("a valid limit")
            .with_admission_timeout(Duration::from_secs(1));
        let semaphore = Arc::new(semaphore);
        let held = Arc::clone(&semaphore).try_acquire_owned().expect("free");
        let callers = [holder(&semaphore, 1), holder(&semaphore, 1)];
        let releaser = spawn(async move { drop(held) });
        let clock = spawn(async { trigger_timeouts(|_| true) });
        let timeouts = callers
            .map(join)
            .into_iter()
            .filter_map(Result::err)
            .inspect(|error| assert!(error.is_timeout(), "{error}"))
            .count();
        join(releaser);
        join(clock);
        assert_eq!(semaphore.failed_waits(), (timeouts, 0));
        clear_triggers();
        assert_all_free(&semaphore);
    });
}

#[test]
fn closing_ends_every_wait_and_leaves_permits_valid() {
    explore(|name| {
        let semaphore = semaphore(2, name);
        let held = Arc::clone(&semaphore).try_acquire_owned().expect("free");
        let callers = [1, 2, 1].map(|slots| holder(&semaphore, slots));
        let releaser = spawn(async move {
            yield_now().await;
            drop(held);
        });
        semaphore.close();
        for outcome in callers.map(join) {
            assert!(outcome.is_ok() || outcome.is_err_and(|error| error.is_closed()));
        }
        join(releaser);
        assert_eq!((semaphore.active(), semaphore.queued()), (0, 0));
        assert!(semaphore.try_acquire().expect_err("closed").is_closed());
        assert_eq!(semaphore.failed_waits(), (0, 0));
    });
}

#[test]
fn a_limit_that_changes_under_its_callers_ends_with_as_many_slots_as_it_says() {
    explore(|name| {
        let semaphore = semaphore(3, name);
        let callers = [1, 1, 3, 1].map(|slots| holder(&semaphore, slots));
        let resizer = {
            let semaphore = Arc::clone(&semaphore);
            spawn(async move {
                for limit in [1, 2] {
                    semaphore.resize(limit).expect("a valid limit");
                    yield_now().await;
                }
            })
        };
        let active = semaphore.active();
        assert!(active <= 3, "{active}");
        let [one, two, three, four] = callers.map(join);
        for outcome in [one, two, four] {
            outcome.expect("one slot is always possible");
        }
        assert!(three.is_ok() || three.is_err_and(|error| error.is_above_limit()));
        join(resizer);
        assert_eq!(semaphore.limit(), 2);
        assert_all_free(&semaphore);
    });
}

/// Somebody who wants several slots turns counted callers into listed ones while they come.
#[test]
fn callers_that_come_while_listing_begins_are_counted_once() {
    explore(|name| {
        let semaphore = semaphore(2, name);
        let held = [(); 2].map(|()| Arc::clone(&semaphore).try_acquire_owned().expect("free"));
        let callers = [1, 2, 1].map(|slots| holder(&semaphore, slots));
        let watcher = {
            let semaphore = Arc::clone(&semaphore);
            spawn(async move {
                for _ in 0..2 {
                    assert!(semaphore.active() <= 2);
                    assert!(semaphore.queued() <= 3);
                    yield_now().await;
                }
            })
        };
        join(watcher);
        drop(held);
        for outcome in callers.map(join) {
            outcome.expect("never closed");
        }
        assert_all_free(&semaphore);
    });
}
