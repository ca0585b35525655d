//! The start of a sandbox.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use gym_telemetry_api::__private::{HeldError, warn};
use gym_telemetry_api::{
    Attributes, Context, FutureExt, Parent, Span, Stopwatch, set_span_attributes, stopwatch,
};
use gym_telemetry_core::attribute::sandbox as key;
use gym_telemetry_core::span;

use super::identity::Identity;
use super::provider::Active;
use super::sampler::Sampling;
use super::sandbox::{self, SandboxObservation};
use super::{records, sampler};
use crate::reader::ResourceReader;
use crate::submitted::Submitted;

/// A sandbox that is being started; [`SandboxRequest::start`](super::SandboxRequest::start) begins it.
///
/// ```
/// use gym_sandbox_obs::{SandboxObservation, SandboxRequest, Submitted};
/// # struct Created { id: String }
/// # async fn create() -> Result<Created, std::io::Error> { Ok(Created { id: String::from("s-1") }) }
/// # async fn upload(_: &Created) -> Result<(), std::io::Error> { Ok(()) }
///
/// async fn start(request: &SandboxRequest) -> Result<SandboxObservation, std::io::Error> {
///     let mut start = request.start();
///     let created = start.run(create()).await?;
///     start.created(&created.id, &Submitted::default());
///     start.run(upload(&created)).await?;
///     Ok(start.finish(None))
/// }
/// ```
///
/// Dropped before [`finish`](Self::finish), it leaves the start span as what it came to, and stops counting the
/// sandbox. If there is a sandbox by then, that nobody stopped it is on record.
#[derive(Debug)]
#[must_use = "a start that is dropped has not succeeded"]
pub struct SandboxStart {
    identity: Identity,
    /// What was current when the start began: what later readings hang on.
    context: Context,
    sample_interval: Option<Duration>,
    span: Span,
    /// What the last part of the start failed with, unless the provider tries again.
    failure: Option<HeldError>,
    watch: Stopwatch,
    /// From the moment the provider handed back a sandbox until that is owned by an observation.
    active: Option<Active>,
}

impl SandboxStart {
    pub(super) fn new(
        identity: Identity,
        context: Context,
        sample_interval: Option<Duration>,
    ) -> Self {
        let span = records::start(
            span::SANDBOX_START,
            Parent::Current,
            |attributes: &mut Attributes<'_>| identity.describe(attributes),
        );
        Self {
            identity,
            context,
            sample_interval,
            span,
            failure: None,
            watch: stopwatch!(),
            active: None,
        }
    }

    /// Does a part of the start: the creation, the upload of files. An `Err` marks the start as failed, unless it is
    /// [tried again](Self::retried).
    ///
    /// # Errors
    ///
    /// What `work` returns.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as `work` itself.
    pub async fn run<F, T, E>(&mut self, work: F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        let context = Context::current().with_span(&self.span);
        let outcome = work.in_context(context).await;
        if let Err(error) = &outcome {
            self.failure = self.span.hold_error(error);
        }
        outcome
    }

    /// Counts one more try of the provider to create the sandbox. It stays the same request, and what the try before
    /// failed with is no failure of the start.
    pub fn retried(&mut self) {
        self.failure = None;
        self.identity.provider.retried();
    }

    /// Says that the provider has handed back a sandbox, and what it was given to create it.
    pub fn created(&mut self, sandbox_id: &str, submitted: &Submitted) {
        self.identity.sandbox_id = Some(sandbox_id.into());
        set_span_attributes!(self.span; key::ID => sandbox_id);
        self.span.set(|attributes| {
            let requests = records::amounts(&submitted.requests);
            records::set(attributes, key::SUBMITTED_REQUESTS, requests);
            let limits = records::amounts(&submitted.limits);
            records::set(attributes, key::SUBMITTED_LIMITS, limits);
        });
        let provider = &self.identity.provider;
        self.active.get_or_insert_with(|| Active::new(provider));
    }

    /// The sandbox runs. With a reader, its allocation is read now and samples from now on, in the background.
    ///
    /// Nothing is read where the interval is zero, where spans of sandboxes are not exported, or where this start is not
    /// sampled.
    /// It has to be [`created`](Self::created) by then: what is recorded of it has no id otherwise.
    pub fn finish(mut self, reader: Option<Arc<dyn ResourceReader>>) -> SandboxObservation {
        if self.identity.sandbox_id.is_none() {
            let message = format_args!("a sandbox of `{}` runs that was never created", self.identity.provider.name());
            warn("sandbox without an id", &message);
        }
        if let Some(elapsed) = self.watch.elapsed() {
            self.identity.provider.startups.record_duration(elapsed);
        }
        // Where the start has no parent, it is the start that was decided about.
        let decided = self.context.clone().with_span(&self.span);
        self.record_failure();
        std::mem::take(&mut self.span).end();
        let provider = &self.identity.provider;
        let active = self.active.take().unwrap_or_else(|| Active::new(provider));
        let interval = sampler::interval(self.sample_interval, &decided);
        let identity = Arc::new(self.identity.clone());
        let sampling = reader.zip(interval).and_then(|(reader, interval)| {
            Sampling::start(&identity, self.context.clone(), reader, interval)
        });
        SandboxObservation::new(identity, self.context.clone(), active, sampling)
    }

    /// Gives up on a sandbox that was created: `delete` is recorded as its stop. The start counts as failed only if
    /// a part of it did.
    ///
    /// # Errors
    ///
    /// What `delete` returns.
    ///
    /// # Cancel safety
    ///
    /// As cancel-safe as `delete` itself; the sandbox no longer counts as active either way.
    pub async fn stop<F, T, E>(mut self, delete: F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        self.record_failure();
        std::mem::take(&mut self.span).end();
        let active = self.active.take();
        let span = sandbox::stop_span(&self.identity, Parent::Current);
        let context = Context::current().with_span(&span);
        let outcome = delete.in_context(context).await;
        if let Err(error) = &outcome {
            span.record_error(error);
        }
        drop(active);
        outcome
    }

    fn record_failure(&mut self) {
        if let Some(failure) = self.failure.take() {
            self.span.record_held_error(failure);
        }
    }
}

impl Drop for SandboxStart {
    fn drop(&mut self) {
        self.record_failure();
        if self.active.is_some() {
            sandbox::abandoned(&self.identity, &self.context);
        }
    }
}
