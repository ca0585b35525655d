//! How long a stop waits, whatever becomes of the thread that reads.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use gym_telemetry_api::__private::tokio::sync::oneshot;

use super::contain::contain;

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    process: 0,
    is_watched: false,
    queue: VecDeque::new(),
});

/// Whose patience ends when. All have the same, so that they stand in the order of their ends.
struct Waiting {
    /// A forked child has a copy of the queue and no thread that watches it.
    process: u32,
    /// A thread looks at the queue. The caller's runtime may have no timers, and the sampler's may be blocked.
    is_watched: bool,
    queue: VecDeque<(Instant, oneshot::Sender<()>)>,
}

/// Waits for `answer`, or until it is dropped, but no longer than `patience`, which must be the same in every call.
pub(super) async fn wait(answer: oneshot::Receiver<()>, patience: Duration) {
    let (sender, over) = oneshot::channel();
    enqueue(Instant::now() + patience, sender);
    let (mut answer, mut over) = (pin!(answer), pin!(over));
    std::future::poll_fn(|context| {
        let is_over = answer.as_mut().poll(context).is_ready();
        if is_over || over.as_mut().poll(context).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

fn enqueue(end: Instant, sender: oneshot::Sender<()>) {
    let mut waiting = lock();
    let process = std::process::id();
    if waiting.process != process {
        waiting.process = process;
        waiting.is_watched = false;
        // Those who wait are in the other process: nobody is to be woken here.
        std::mem::forget(std::mem::take(&mut waiting.queue));
    }
    waiting.queue.push_back((end, sender));
    if !waiting.is_watched {
        // Without a thread there is still the sampler's, which keeps to its own bound.
        let watch = std::thread::Builder::new().name("gym-sandbox-stop".to_owned());
        waiting.is_watched = watch.spawn(watch_queue).is_ok();
    }
}

/// Ends the patience of one after the other, until nobody waits any more.
fn watch_queue() {
    loop {
        let now = Instant::now();
        let mut waiting = lock();
        let is_over = |(end, sender): &mut (Instant, oneshot::Sender<()>)| {
            // Most have their answer long before.
            *end <= now || sender.is_closed()
        };
        let over = waiting.queue.pop_front_if(is_over);
        let next = waiting.queue.front().map(|(end, _)| *end);
        waiting.is_watched = over.is_some() || next.is_some();
        drop(waiting);
        match (over, next) {
            // It wakes a task, which is the executor's code.
            (Some(over), _) => _ = contain(|| drop(over)),
            (None, Some(end)) => std::thread::sleep(end.saturating_duration_since(now)),
            (None, None) => return,
        }
    }
}

fn lock() -> MutexGuard<'static, Waiting> {
    // What it guards is whole after every statement.
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    use gym_telemetry_api::__private::tokio::runtime::{Builder, Runtime};

    use super::{oneshot, wait};

    /// All waits have the same patience.
    const PATIENCE: Duration = Duration::from_millis(20);

    /// It has no timers.
    fn runtime() -> Runtime {
        let runtime = Builder::new_current_thread().build();
        runtime.expect("a runtime can be built")
    }

    #[test]
    fn patience_ends_without_an_answer_and_without_a_timer_of_the_caller() {
        // Kept, never used.
        let (_sender, answer) = oneshot::channel();
        runtime().block_on(wait(answer, PATIENCE));
    }

    #[test]
    fn an_answer_or_its_absence_ends_the_wait_at_once() {
        for answers in [true, false] {
            let (sender, answer) = oneshot::channel();
            if answers {
                sender.send(()).expect("somebody waits");
            } else {
                drop(sender);
            }
            let mut waiting = pin!(wait(answer, PATIENCE));
            let mut context = Context::from_waker(Waker::noop());
            assert!(waiting.as_mut().poll(&mut context).is_ready());
        }
    }
}
