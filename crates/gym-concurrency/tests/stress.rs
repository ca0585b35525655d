//! A long random run on several threads, checked against its own count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use gym_concurrency::{ConcurrencyComponent, MeteredSemaphore};

const TASKS: u64 = 64;
const STEPS: u64 = 16_000;
const LIMIT: usize = 8;

/// A small deterministic generator: a failing run can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[derive(Default)]
struct Counted {
    granted: AtomicU64,
    refused: AtomicU64,
    cancelled: AtomicU64,
    timed_out: AtomicU64,
    inside: AtomicUsize,
    most_inside: AtomicUsize,
}

impl Counted {
    fn enter(&self, slots: usize) {
        self.granted.fetch_add(1, Ordering::Relaxed);
        let inside = self.inside.fetch_add(slots, Ordering::Relaxed) + slots;
        self.most_inside.fetch_max(inside, Ordering::Relaxed);
    }

    fn leave(&self, slots: usize) {
        self.inside.fetch_sub(slots, Ordering::Relaxed);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_million_random_steps_end_with_every_slot_free() {
    let semaphore = Arc::new(
        MeteredSemaphore::new(LIMIT, ConcurrencyComponent::RolloutDriver, "stress")
            .expect("a valid limit")
            .with_admission_timeout(Duration::from_millis(2)),
    );
    let counted = Arc::new(Counted::default());
    let mut tasks = tokio::task::JoinSet::new();
    for seed in 0..TASKS {
        let (semaphore, counted) = (Arc::clone(&semaphore), Arc::clone(&counted));
        tasks.spawn(async move {
            let mut random = Random(seed);
            for _ in 0..STEPS {
                step(&semaphore, &counted, &mut random).await;
            }
        });
    }
    let resizer = tokio::spawn({
        let semaphore = Arc::clone(&semaphore);
        async move {
            let mut random = Random(u64::MAX);
            loop {
                let limit = 4 + random.below(5);
                semaphore.resize(limit).expect("a valid limit");
                tokio::task::yield_now().await;
            }
        }
    });
    tokio::time::timeout(Duration::from_mins(5), async {
        while let Some(result) = tasks.join_next().await {
            result.expect("no step fails");
        }
    })
    .await
    .expect("the run ends");
    resizer.abort();
    assert!(resizer.await.expect_err("aborted").is_cancelled());

    semaphore.resize(LIMIT).expect("a valid limit");
    assert_eq!(
        (
            semaphore.active(),
            semaphore.queued(),
            semaphore.available()
        ),
        (0, 0, LIMIT)
    );
    let all = u32::try_from(LIMIT).expect("small");
    assert_eq!(
        semaphore
            .acquire_many(all)
            .await
            .expect("every slot is usable")
            .slots(),
        all
    );

    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    assert_eq!(
        count(&counted.granted)
            + count(&counted.refused)
            + count(&counted.cancelled)
            + count(&counted.timed_out),
        TASKS * STEPS
    );
    for counter in [
        &counted.granted,
        &counted.refused,
        &counted.cancelled,
        &counted.timed_out,
    ] {
        assert!(count(counter) > 0, "every outcome occurs");
    }
    assert_eq!(counted.inside.load(Ordering::Relaxed), 0);
    assert!(counted.most_inside.load(Ordering::Relaxed) <= LIMIT);
}

async fn step(semaphore: &Arc<MeteredSemaphore>, counted: &Arc<Counted>, random: &mut Random) {
    let slots = if random.below(4) == 0 { 2 } else { 1 };
    let hold = random.below(3);
    match random.below(8) {
        0 => match semaphore.try_acquire() {
            Ok(permit) => {
                counted.enter(1);
                counted.leave(1);
                drop(permit);
            }
            Err(_) => {
                counted.refused.fetch_add(1, Ordering::Relaxed);
            }
        },
        1 => {
            // Given up after a few polls: before, at or after the grant.
            let polls = random.below(3);
            let mut acquire = Box::pin(semaphore.acquire_many(slots));
            let given_up = async {
                for _ in 0..polls {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                () = given_up => { counted.cancelled.fetch_add(1, Ordering::Relaxed); }
                result = &mut acquire => outcome(result.map(drop), counted, 0),
            }
        }
        2 => {
            // The holder panics.
            let (semaphore, counted_inside) = (Arc::clone(semaphore), Arc::clone(counted));
            let task = tokio::spawn(async move {
                let result = semaphore.acquire_owned().await;
                outcome(
                    result.as_ref().map(|_| ()).map_err(Clone::clone),
                    &counted_inside,
                    1,
                );
                if result.is_ok() {
                    counted_inside.leave(1);
                    std::panic::resume_unwind(Box::new("the holder failed"));
                }
            });
            let _ = task.await;
        }
        _ => match semaphore.acquire_many(slots).await {
            Ok(permit) => {
                counted.enter(slots as usize);
                for _ in 0..hold {
                    tokio::task::yield_now().await;
                }
                counted.leave(slots as usize);
                drop(permit);
            }
            Err(error) => outcome(Err(error), counted, 0),
        },
    }
}

fn outcome(result: Result<(), gym_concurrency::AcquireError>, counted: &Counted, inside: usize) {
    match result {
        Ok(()) => counted.enter(inside),
        Err(error) if error.is_timeout() => {
            counted.timed_out.fetch_add(1, Ordering::Relaxed);
        }
        Err(error) => panic!("unexpected: {error}"),
    }
}
