//! The thread that reads.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gym_telemetry_api::__private::tokio;
use gym_telemetry_api::__private::warn;
use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{Instant as TokioInstant, timeout, timeout_at};

use super::contain::contain;
use super::entry::Entry;
use super::reading::{Done, read};
use super::schedule::Schedule;
use super::{READ_BOUND, max_reads_in_flight, reads_are_on};

/// The thread outlives its last sandbox by this much: one that comes and goes costs no thread each time. It is longer
/// than readers keep connections, which end with the runtime that they were made in.
const LINGER: Duration = Duration::from_mins(1);

/// Names are looked up on threads of their own.
const BLOCKING_THREADS: usize = 4;

static OF_PROCESS: Mutex<Option<Driver>> = Mutex::new(None);

/// What the thread is told.
#[derive(Debug)]
pub(super) enum Command {
    Add(Arc<Entry>),
    /// The owner has gone away.
    Remove(u64),
    /// The owner stops the sandbox and waits for the last readings; an answer that is dropped says as much.
    Finish(u64, oneshot::Sender<()>),
    /// A reading has ended, well or not.
    Done(u64, Kind),
}

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Preparation,
    Allocation,
    Sample,
    LastSample,
}

/// The way to the thread.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    commands: UnboundedSender<Command>,
    /// A forked child has a copy of the channel and no thread.
    process: u32,
}

impl Driver {
    /// Gives the command to this process's thread, which is started if there is none. `None` if it cannot be.
    pub(super) fn of_process(command: Command) -> Option<Self> {
        let mut of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        let command = match &*of_process {
            Some(driver) if driver.is_of_this_process() => match driver.offer(command) {
                None => return Some(driver.clone()),
                // The thread has panicked.
                Some(refused) => refused,
            },
            _ => command,
        };
        let driver = Thread::start()?;
        driver.send(command);
        *of_process = Some(driver.clone());
        Some(driver)
    }

    /// Gives the command to the thread; `false` if there is none.
    pub(super) fn send(&self, command: Command) -> bool {
        self.is_of_this_process() && self.offer(command).is_none()
    }

    fn offer(&self, command: Command) -> Option<Command> {
        self.commands.send(command).err().map(|refused| refused.0)
    }

    fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }
}

/// A sandbox that is read.
#[derive(Debug)]
struct Sampled {
    entry: Arc<Entry>,
    /// The allocation was not read yet, or is being read.
    owes_allocation: bool,
    reads: Vec<(Kind, AbortHandle)>,
    finishing: Option<Finishing>,
}

#[derive(Debug)]
struct Finishing {
    /// Dropped, it tells the owner to go on.
    _reply: oneshot::Sender<()>,
    deadline: Instant,
    owes_sample: bool,
}

/// The state of the thread.
struct Thread {
    commands: UnboundedReceiver<Command>,
    own: UnboundedSender<Command>,
    sandboxes: HashMap<u64, Sampled>,
    schedule: Schedule,
    /// Whose last sample comes before anything else: their owners wait, and the first of them has the least time.
    last: VecDeque<u64>,
    /// Readings that come before samples and are never left out.
    urgent: VecDeque<(u64, Kind)>,
    /// Who waits for last readings, in the order of their deadlines.
    finishing: VecDeque<(Instant, u64)>,
    in_flight: usize,
    random: RandomState,
}

impl Thread {
    fn start() -> Option<Driver> {
        Self::start_with(|work| {
            let thread = std::thread::Builder::new().name("gym-sampler".to_owned());
            thread.spawn(work).map(drop)
        })
    }

    /// Starts with whatever gives `spawn` its thread. The runtime is built over there: the caller may be inside
    /// another one, where none may be dropped.
    fn start_with(
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<()>,
    ) -> Option<Driver> {
        let thread = Self::new();
        let driver = Driver {
            commands: thread.own.clone(),
            process: std::process::id(),
        };
        let work = move || {
            let runtime = runtime::Builder::new_current_thread()
                .enable_all()
                .max_blocking_threads(BLOCKING_THREADS)
                .build();
            match runtime {
                Ok(runtime) => {
                    runtime.block_on(thread.run());
                    // Not waited for: a look-up of a name may hang in there.
                    runtime.shutdown_background();
                }
                // The channel closes with the thread, so that the next sandbox has another one started.
                Err(error) => complain(&error),
            }
        };
        match spawn(Box::new(work)) {
            Ok(()) => Some(driver),
            Err(error) => {
                complain(&error);
                None
            }
        }
    }

    fn new() -> Self {
        let (own, commands) = unbounded_channel();
        Self {
            commands,
            own,
            sandboxes: HashMap::new(),
            schedule: Schedule::default(),
            last: VecDeque::new(),
            urgent: VecDeque::new(),
            finishing: VecDeque::new(),
            in_flight: 0,
            random: RandomState::new(),
        }
    }

    async fn run(mut self) {
        loop {
            self.turn(Instant::now());
            let command = match self.wake_at() {
                Some(at) => timeout_at(TokioInstant::from_std(at), self.commands.recv()).await,
                None if self.sandboxes.is_empty() => timeout(LINGER, self.commands.recv()).await,
                None => Ok(self.commands.recv().await),
            };
            if let Ok(Some(command)) = command {
                self.take(command);
                while let Ok(command) = self.commands.try_recv() {
                    self.take(command);
                }
            } else if self.sandboxes.is_empty() && self.retire() {
                return;
            }
        }
    }

    /// Whether the thread may end: nobody can have told it anything that it has not heard.
    fn retire(&mut self) -> bool {
        let mut of_process = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unused = self.commands.is_empty();
        if is_unused {
            *of_process = None;
        }
        is_unused
    }

    fn wake_at(&self) -> Option<Instant> {
        let deadline = self.finishing.front().map(|(deadline, _)| *deadline);
        self.schedule.wake_at().into_iter().chain(deadline).min()
    }

    fn take(&mut self, command: Command) {
        let now = Instant::now();
        match command {
            Command::Add(entry) => self.add(entry, now),
            Command::Remove(id) => self.remove(id),
            Command::Finish(id, reply) => self.finish(id, reply, now),
            Command::Done(id, kind) => self.done(id, kind, now),
        }
    }

    fn add(&mut self, entry: Arc<Entry>, now: Instant) {
        let id = entry.id();
        // Sandboxes that start together are not to be read together for ever.
        let first = now + part_of(entry.interval(), self.random.hash_one(id));
        self.schedule.add(id, entry.interval(), first);
        let sampled = Sampled {
            entry,
            owes_allocation: true,
            reads: Vec::new(),
            finishing: None,
        };
        self.sandboxes.insert(id, sampled);
        self.urgent.push_back((id, Kind::Allocation));
        self.urgent.push_back((id, Kind::Preparation));
    }

    fn remove(&mut self, id: u64) {
        self.schedule.remove(id);
        if let Some(sampled) = self.sandboxes.remove(&id) {
            for (_, read) in &sampled.reads {
                read.abort();
            }
            // The reader goes first, then its owner goes on: either is foreign code.
            contain(|| drop(sampled));
        }
    }

    /// Ends sampling. What is owed now is the allocation, if it was not read yet, and one last sample.
    fn finish(&mut self, id: u64, reply: oneshot::Sender<()>, now: Instant) {
        self.schedule.remove(id);
        let Some(sampled) = self.sandboxes.get_mut(&id) else {
            return;
        };
        for (kind, read) in &sampled.reads {
            if matches!(kind, Kind::Sample | Kind::Preparation) {
                read.abort();
            }
        }
        let deadline = now + READ_BOUND;
        sampled.finishing = Some(Finishing {
            _reply: reply,
            deadline,
            owes_sample: true,
        });
        self.finishing.push_back((deadline, id));
        self.last.push_back(id);
    }

    fn done(&mut self, id: u64, kind: Kind, now: Instant) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let Some(sampled) = self.sandboxes.get_mut(&id) else {
            return;
        };
        sampled.reads.retain(|(other, _)| *other != kind);
        match kind {
            Kind::Preparation => {}
            Kind::Allocation => sampled.owes_allocation = false,
            Kind::LastSample => {
                if let Some(finishing) = &mut sampled.finishing {
                    finishing.owes_sample = false;
                }
            }
            Kind::Sample => {
                let missed = self.schedule.done(id, now);
                sampled.entry.skipped(missed);
            }
        }
        self.forget_if_finished(id);
    }

    fn forget_if_finished(&mut self, id: u64) {
        let is_finished = self.sandboxes.get(&id).is_some_and(|sampled| {
            let is_read = |finishing: &Finishing| !finishing.owes_sample;
            !sampled.owes_allocation && sampled.finishing.as_ref().is_some_and(is_read)
        });
        if is_finished {
            self.remove(id);
        }
    }

    /// Starts what can be started and gives up what has waited too long.
    fn turn(&mut self, now: Instant) {
        while let Some((deadline, id)) = self.finishing.front().copied() {
            let is_over = !self.sandboxes.contains_key(&id);
            if !is_over && now < deadline {
                break;
            }
            self.finishing.pop_front();
            if !is_over {
                self.give_up(id);
            }
        }
        let most = max_reads_in_flight();
        while self.in_flight < most
            && let Some((id, kind)) = self.next_urgent()
        {
            self.read(id, kind, now);
        }
        let (mut started, mut skipped) = (Vec::new(), Vec::new());
        let free = most.saturating_sub(self.in_flight);
        self.schedule
            .turn(now, free, |id| started.push(id), |id| skipped.push(id));
        for id in skipped {
            if let Some(sampled) = self.sandboxes.get(&id) {
                sampled.entry.skipped(1);
            }
        }
        for id in started {
            self.read(id, Kind::Sample, now);
        }
    }

    fn next_urgent(&mut self) -> Option<(u64, Kind)> {
        let last = self.last.pop_front().map(|id| (id, Kind::LastSample));
        last.or_else(|| self.urgent.pop_front())
    }

    /// The owner of the sandbox has waited long enough: what has not started by now never will. What is under way
    /// has the same deadline and ends by itself.
    fn give_up(&mut self, id: u64) {
        let Some(sampled) = self.sandboxes.get_mut(&id) else {
            return;
        };
        let is_reading = |kind: Kind| sampled.reads.iter().any(|(other, _)| *other == kind);
        let reads_allocation = is_reading(Kind::Allocation);
        let reads_last = is_reading(Kind::LastSample);
        sampled.owes_allocation &= reads_allocation;
        if let Some(finishing) = &mut sampled.finishing
            && !reads_last
        {
            finishing.owes_sample = false;
            sampled.entry.skipped(1);
        }
        self.forget_if_finished(id);
    }

    fn read(&mut self, id: u64, kind: Kind, now: Instant) {
        let Some(sampled) = self.sandboxes.get_mut(&id) else {
            return;
        };
        // The one deadline of a stop is for all of its readings.
        let deadline = sampled
            .finishing
            .as_ref()
            .map(|finishing| finishing.deadline);
        let deadline = deadline.unwrap_or(now + READ_BOUND);
        if deadline <= now {
            return;
        }
        self.in_flight += 1;
        let end = Done {
            entry: Arc::clone(&sampled.entry),
            kind,
            commands: self.own.clone(),
        };
        if !reads_are_on() {
            // Telemetry has ended: nothing is read, and nobody is kept waiting.
            return;
        }
        let read = tokio::spawn(read(end, TokioInstant::from_std(deadline)));
        sampled.reads.push((kind, read.abort_handle()));
    }
}

fn complain(error: &io::Error) {
    let message = format_args!("sandboxes are not read: no thread: {error}");
    warn("sandbox sampler", &message);
}

/// A part of the duration, as large as `number` is among all numbers.
fn part_of(duration: Duration, number: u64) -> Duration {
    let nanos = (duration.as_nanos() * u128::from(number >> 32)) >> 32;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
