//! An exporter that keeps what it gets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

/// How long a test waits for what must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Keeps spans, and does with each batch what the test says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    released: Notify,
}

#[derive(Debug, Default)]
struct State {
    spans: Vec<SpanData>,
    batches: Vec<usize>,
    started: usize,
    behaviour: Behaviour,
    is_shut_down: bool,
}

/// What becomes of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Behaviour {
    /// It is kept.
    #[default]
    Keep,
    /// It is refused.
    Refuse,
    /// Its export panics.
    Panic,
    /// Its export ends only when another behaviour is set.
    Hang,
    /// Its export blocks the thread until another behaviour is set.
    Block,
}

impl Memory {
    pub(crate) fn behave(&self, behaviour: Behaviour) {
        self.0.state.lock().behaviour = behaviour;
        self.0.changed.notify_all();
        self.0.released.notify_waiters();
    }

    /// All spans so far.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        self.0.state.lock().spans.clone()
    }

    /// All spans so far, which are then forgotten.
    pub(crate) fn take_spans(&self) -> Vec<SpanData> {
        std::mem::take(&mut self.0.state.lock().spans)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.0
            .state
            .lock()
            .spans
            .iter()
            .map(|span| span.name.to_string())
            .collect()
    }

    /// The only span of this name.
    pub(crate) fn span(&self, name: &str) -> SpanData {
        let mut found: Vec<_> = self
            .spans()
            .into_iter()
            .filter(|span| span.name == name)
            .collect();
        assert_eq!(found.len(), 1, "spans named {name}");
        found.remove(0)
    }

    pub(crate) fn batches(&self) -> Vec<usize> {
        self.0.state.lock().batches.clone()
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.0.state.lock().is_shut_down
    }

    /// Waits until so many exports have begun.
    pub(crate) fn wait_for_exports(&self, count: usize) {
        self.wait_until(|state| state.started >= count);
    }

    /// Waits until so many spans have arrived.
    pub(crate) fn wait_for_spans(&self, count: usize) {
        self.wait_until(|state| state.spans.len() >= count);
    }

    fn wait_until(&self, done: impl Fn(&State) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        let mut state = self.0.state.lock();
        while !done(&state) {
            let result = self.0.changed.wait_until(&mut state, deadline);
            assert!(!result.timed_out(), "waited too long");
        }
    }
}

impl SpanExporter for Memory {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        {
            let mut state = self.0.state.lock();
            state.started += 1;
            self.0.changed.notify_all();
            while state.behaviour == Behaviour::Block {
                self.0.changed.wait(&mut state);
            }
        }
        let behaviour = loop {
            let released = self.0.released.notified();
            let behaviour = self.0.state.lock().behaviour;
            if behaviour != Behaviour::Hang {
                break behaviour;
            }
            released.await;
        };
        match behaviour {
            Behaviour::Refuse => return Err(OTelSdkError::InternalFailure("refused".to_owned())),
            Behaviour::Panic => panic!("the exporter panics as the test wants"),
            Behaviour::Keep | Behaviour::Hang | Behaviour::Block => {}
        }
        let mut state = self.0.state.lock();
        state.batches.push(batch.len());
        state.spans.extend(batch);
        self.0.changed.notify_all();
        Ok(())
    }

    fn shutdown_with_timeout(&self, _budget: Duration) -> OTelSdkResult {
        self.0.state.lock().is_shut_down = true;
        Ok(())
    }
}
