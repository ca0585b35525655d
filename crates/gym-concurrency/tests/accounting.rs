//! The counts of a semaphore under cancellation, timeouts, panics, closing and resizing.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};

fn semaphore(limit: usize) -> MeteredSemaphore {
    MeteredSemaphore::new(limit, ConcurrencyComponent::ModelServer, "tests").expect("a valid limit")
}

/// Limit, active, available and queued.
fn state(semaphore: &MeteredSemaphore) -> (usize, usize, usize, usize) {
    (
        semaphore.limit(),
        semaphore.active(),
        semaphore.available(),
        semaphore.queued(),
    )
}

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn a_full_limit_queues_and_serves_in_order() {
    let semaphore = semaphore(1);
    let held = semaphore.acquire().await.expect("free");
    let (mut first, mut second) = (pin!(semaphore.acquire()), pin!(semaphore.acquire()));
    assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
    assert_eq!(state(&semaphore), (1, 1, 0, 2));
    drop(held);
    assert!(
        poll_once(second.as_mut()).is_pending(),
        "the first caller is served first"
    );
    let held = first.await.expect("granted");
    assert_eq!(state(&semaphore), (1, 1, 0, 1));
    drop(held);
    drop(second.await.expect("granted"));
    assert_eq!(state(&semaphore), (1, 0, 1, 0));
}

#[tokio::test]
async fn a_grant_is_active_before_its_caller_runs() {
    let semaphore = semaphore(1);
    let held = semaphore.acquire().await.expect("free");
    let mut waiting = Box::pin(semaphore.acquire());
    assert!(poll_once(waiting.as_mut()).is_pending());
    drop(held);
    assert_eq!(state(&semaphore), (1, 1, 0, 0));
    drop(waiting);
    assert_eq!(state(&semaphore), (1, 0, 1, 0));
    drop(
        semaphore
            .try_acquire()
            .expect("the cancelled grant came back"),
    );
}

#[tokio::test]
async fn slots_parked_for_a_large_request_are_not_active() {
    let semaphore = semaphore(3);
    let (one, two) = (
        semaphore.try_acquire().expect("free"),
        semaphore.try_acquire().expect("free"),
    );
    let mut three = Box::pin(semaphore.acquire_many(3));
    assert!(poll_once(three.as_mut()).is_pending());
    assert_eq!(state(&semaphore), (3, 2, 1, 1));
    drop(one);
    assert_eq!(state(&semaphore), (3, 1, 2, 1));
    drop(three);
    assert_eq!(state(&semaphore), (3, 1, 2, 0));
    drop(two);
    assert_eq!(
        semaphore
            .acquire_many(3)
            .await
            .expect("all are free")
            .slots(),
        3
    );
}

#[tokio::test]
async fn more_than_the_limit_is_an_error_at_once() {
    let semaphore = semaphore(2);
    assert!(
        semaphore
            .acquire_many(3)
            .await
            .expect_err("never possible")
            .is_above_limit()
    );
    assert_eq!(state(&semaphore), (2, 0, 2, 0));
}

#[tokio::test]
async fn an_unpolled_acquire_changes_nothing() {
    let semaphore = semaphore(1);
    drop(semaphore.acquire());
    assert_eq!(state(&semaphore), (1, 0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn the_admission_timeout_ends_a_wait() {
    let semaphore = semaphore(1).with_admission_timeout(Duration::from_millis(50));
    let held = semaphore.acquire().await.expect("free");
    assert!(semaphore.acquire().await.expect_err("full").is_timeout());
    assert_eq!(state(&semaphore), (1, 1, 0, 0));
    drop(held);
    drop(semaphore.acquire().await.expect("free again"));
}

#[tokio::test(start_paused = true)]
async fn a_free_slot_is_given_whatever_the_timeout() {
    let semaphore = semaphore(1).with_admission_timeout(Duration::ZERO);
    let held = semaphore.acquire().await.expect("free");
    assert!(semaphore.acquire().await.expect_err("full").is_timeout());
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn a_slot_that_frees_in_time_is_granted() {
    let semaphore = Arc::new(semaphore(1).with_admission_timeout(Duration::from_secs(4)));
    let held = Arc::clone(&semaphore).acquire_owned().await.expect("free");
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(held);
    });
    drop(
        semaphore
            .acquire()
            .await
            .expect("freed after two of four seconds"),
    );
}

#[tokio::test]
async fn a_panicking_or_aborted_holder_gives_back() {
    let semaphore = Arc::new(semaphore(2));
    let panicking = tokio::spawn({
        let permit = Arc::clone(&semaphore).try_acquire_owned().expect("free");
        async move {
            let _permit = permit;
            panic!("the holder failed");
        }
    });
    let aborted = tokio::spawn({
        let permit = Arc::clone(&semaphore).try_acquire_owned().expect("free");
        async move {
            let _permit = permit;
            std::future::pending::<()>().await;
        }
    });
    assert!(panicking.await.expect_err("it panicked").is_panic());
    aborted.abort();
    assert!(aborted.await.expect_err("it was aborted").is_cancelled());
    assert_eq!(state(&semaphore), (2, 0, 2, 0));
}

#[tokio::test]
async fn closing_fails_all_that_wait_and_all_that_come() {
    let semaphore = semaphore(1);
    let held = semaphore.acquire().await.expect("free");
    let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(semaphore.acquire())).collect();
    for caller in &mut waiting {
        assert!(poll_once(caller.as_mut()).is_pending());
    }
    semaphore.close();
    for caller in waiting {
        assert!(caller.await.expect_err("closed").is_closed());
    }
    assert!(semaphore.acquire().await.expect_err("closed").is_closed());
    assert!(semaphore.try_acquire().expect_err("closed").is_closed());
    assert_eq!(state(&semaphore), (1, 1, 0, 0));
    drop(held);
    assert_eq!(semaphore.active(), 0);
}

#[tokio::test]
async fn a_smaller_limit_takes_held_slots_as_they_return() {
    let semaphore = semaphore(3);
    let held: Vec<_> = (0..3)
        .map(|_| semaphore.try_acquire().expect("free"))
        .collect();
    semaphore.resize(1).expect("valid");
    assert_eq!(state(&semaphore), (1, 3, 0, 0));
    for (permit, active) in held.into_iter().zip([2, 1, 0]) {
        assert!(semaphore.try_acquire().expect_err("full").is_full());
        drop(permit);
        assert_eq!(semaphore.active(), active);
    }
    drop(semaphore.try_acquire().expect("one slot is left"));
    semaphore.resize(2).expect("valid");
    let _two = semaphore.acquire_many(2).await.expect("both slots");
    assert_eq!(state(&semaphore), (2, 2, 0, 0));
}

#[tokio::test]
async fn a_larger_limit_admits_those_that_wait_and_forgives_what_is_owed() {
    let semaphore = semaphore(2);
    let held = semaphore.acquire_many(2).await.expect("free");
    semaphore.resize(1).expect("valid");
    let mut waiting = Box::pin(semaphore.acquire());
    assert!(poll_once(waiting.as_mut()).is_pending());
    semaphore.resize(2).expect("valid");
    assert_eq!(state(&semaphore), (2, 2, 0, 1));
    semaphore.resize(3).expect("valid");
    assert_eq!(state(&semaphore), (3, 3, 0, 0));
    drop(waiting.await.expect("granted"));
    drop(held);
    assert_eq!(state(&semaphore), (3, 0, 3, 0));
}

#[tokio::test]
async fn a_waiter_above_the_new_limit_gets_an_error() {
    let semaphore = Arc::new(semaphore(3));
    let _held = semaphore.try_acquire().expect("free");
    let mut three = Box::pin(semaphore.acquire_many(3));
    assert!(poll_once(three.as_mut()).is_pending());
    semaphore.resize(2).expect("valid");
    assert!(three.await.expect_err("impossible now").is_above_limit());
    assert_eq!(state(&semaphore), (2, 1, 1, 0));
}

#[tokio::test(flavor = "current_thread")]
async fn a_loop_of_acquires_on_a_free_limit_yields() {
    let semaphore = semaphore(1);
    let other_ran = Arc::new(AtomicBool::new(false));
    tokio::spawn({
        let other_ran = Arc::clone(&other_ran);
        async move { other_ran.store(true, Ordering::Relaxed) }
    });
    for _ in 0..1_000 {
        drop(semaphore.acquire().await.expect("free"));
    }
    assert!(other_ran.load(Ordering::Relaxed), "the loop never yielded");
}

#[tokio::test]
async fn dropping_the_runtime_with_callers_waiting_leaves_no_trace() {
    let semaphore = Arc::new(semaphore(1));
    let held = Arc::clone(&semaphore).try_acquire_owned().expect("free");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    for _ in 0..10 {
        runtime.spawn(Arc::clone(&semaphore).acquire_owned());
    }
    tokio::time::timeout(Duration::from_secs(30), async {
        while semaphore.queued() < 10 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("ten callers wait");
    runtime.shutdown_background();
    drop(held);
    tokio::time::timeout(Duration::from_secs(30), async {
        while state(&semaphore) != (1, 0, 1, 0) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("all slots are free");
}
