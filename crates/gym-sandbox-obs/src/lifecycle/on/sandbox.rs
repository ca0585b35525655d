//! A running sandbox.

use std::fmt::Display;
use std::sync::Arc;

use gym_telemetry_api::{
    Attributes, Context, FutureExt, Parent, Span, set_span_attributes, stopwatch,
};
use gym_telemetry_core::attribute::sandbox as key;
use gym_telemetry_core::{attribute, span};

use super::identity::Identity;
use super::provider::Active;
use super::records;
use super::sampler::Sampling;

/// What observes one sandbox, in the hands of whoever created it.
///
/// It counts the sandbox as active and owns its sampling. Dropped without [`stop`](Self::stop) it ends both and
/// leaves a stop span that says the sandbox was abandoned.
#[derive(Debug)]
#[must_use = "dropping the observation ends it"]
pub struct SandboxObservation {
    identity: Arc<Identity>,
    context: Context,
    /// `None` once a stop has been called.
    active: Option<Active>,
    sampling: Option<Sampling>,
}

impl SandboxObservation {
    pub(super) fn new(
        identity: Arc<Identity>,
        context: Context,
        active: Active,
        sampling: Option<Sampling>,
    ) -> Self {
        Self {
            identity,
            context,
            active: Some(active),
            sampling,
        }
    }

    /// Runs a command in the sandbox. `return_code` finds what the command returned; the command itself is not
    /// recorded. An `Err` marks the span as failed, a return code never does.
    ///
    /// # Errors
    ///
    /// What `call` returns.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as `call` itself; a cancelled call is not measured.
    pub async fn exec<F, T, E>(
        &self,
        call: F,
        return_code: impl FnOnce(&T) -> Option<i64>,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        exec(&self.identity, call, return_code).await
    }

    /// Stops the sandbox: sampling ends, one last sample is read within two seconds or given up, then `delete` runs. The sandbox
    /// no longer counts as active, whatever `delete` comes to.
    ///
    /// # Errors
    ///
    /// What `delete` returns.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends sampling, and `delete` may not have run: where it was not even polled, the stop span says
    /// that the sandbox was abandoned.
    pub async fn stop<F, T, E>(mut self, delete: F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        let active = self.active.take();
        let waiting = Waiting(stop_span(&self.identity, Parent::Current));
        let context = Context::current().with_span(&waiting.0);
        if let Some(sampling) = &self.sampling {
            sampling.finish().await;
        }
        let span = waiting.over();
        let outcome = delete.in_context(context).await;
        if let Err(error) = &outcome {
            span.record_error(error);
        }
        drop(active);
        outcome
    }
}

/// A stop that waits for its last sample. Dropped, it has been cancelled before anything was deleted.
struct Waiting(Span);

impl Waiting {
    fn over(mut self) -> Span {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        set_span_attributes!(self.0; key::ABANDONED => true);
    }
}

impl Drop for SandboxObservation {
    fn drop(&mut self) {
        if self.active.is_some() {
            abandoned(&self.identity, &self.context);
        }
    }
}

/// What observes a sandbox that somebody else created and will stop.
///
/// It never samples, and the sandbox is not counted again.
#[derive(Clone, Debug)]
pub struct BorrowedSandbox {
    identity: Arc<Identity>,
}

impl BorrowedSandbox {
    /// Observes a connection to a sandbox of the provider of that registered name.
    #[must_use]
    pub fn connect(provider: &str, sandbox_id: &str) -> Self {
        let mut identity = Identity::new(provider).in_context(&Context::current());
        identity.sandbox_id = Some(sandbox_id.into());
        Self {
            identity: Arc::new(identity),
        }
    }

    /// Runs a command, as [`SandboxObservation::exec`].
    ///
    /// # Errors
    ///
    /// What `call` returns.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as `call` itself; a cancelled call is not measured.
    pub async fn exec<F, T, E>(
        &self,
        call: F,
        return_code: impl FnOnce(&T) -> Option<i64>,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        exec(&self.identity, call, return_code).await
    }
}

async fn exec<F, T, E>(
    identity: &Identity,
    call: F,
    return_code: impl FnOnce(&T) -> Option<i64>,
) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
    E: Display,
{
    let span = records::start(
        span::SANDBOX_EXEC,
        Parent::Current,
        |attributes: &mut Attributes<'_>| {
            identity.describe(attributes);
            if identity.rollout_id.is_none() {
                // Whoever created it may have had none yet.
                attributes.set(attribute::ROLLOUT_ID, &Context::current().rollout_id());
            }
        },
    );
    let context = Context::current().with_span(&span);
    let watch = stopwatch!();
    let outcome = call.in_context(context).await;
    if let Some(elapsed) = watch.elapsed() {
        identity.provider.execs.record_duration(elapsed);
    }
    match &outcome {
        Ok(output) => set_span_attributes!(span; key::RETURN_CODE => return_code(output)),
        Err(error) => span.record_error(error),
    }
    outcome
}

pub(super) fn stop_span(identity: &Identity, parent: Parent<'_>) -> Span {
    records::start(
        span::SANDBOX_STOP,
        parent,
        |attributes: &mut Attributes<'_>| identity.describe(attributes),
    )
}

/// Records that a sandbox lost its owner without a stop.
pub(super) fn abandoned(identity: &Identity, context: &Context) {
    let span = stop_span(identity, Parent::Context(context));
    set_span_attributes!(span; key::ABANDONED => true);
}
