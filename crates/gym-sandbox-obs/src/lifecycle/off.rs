//! Compiled out: what the caller does happens, nothing is recorded, nothing is read, every type is zero-sized.

use std::fmt::Display;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use gym_resources::SandboxResources;

use crate::reader::ResourceReader;
use crate::submitted::Submitted;

/// Does nothing in this build.
#[inline]
pub fn set_max_reads_in_flight(_reads: usize) {}

/// Describes a request for sandboxes; in this build nothing.
#[derive(Clone, Debug)]
#[must_use = "a request is on record only once it is recorded"]
pub struct RequestBuilder<'a>(PhantomData<&'a ()>);

impl<'a> RequestBuilder<'a> {
    /// Returns the builder as it is.
    #[inline]
    pub fn resources(self, _resources: &'a SandboxResources) -> Self {
        self
    }

    /// Returns the builder as it is.
    #[inline]
    pub fn sidecar(self, _name: &'a str, _resources: &'a SandboxResources) -> Self {
        self
    }

    /// Returns the builder as it is.
    #[inline]
    pub fn count(self, _count: NonZeroU32) -> Self {
        self
    }

    /// Returns the builder as it is.
    #[inline]
    pub fn service(self, _collection: &'a str, _service: &'a str) -> Self {
        self
    }

    /// Returns the builder as it is.
    #[inline]
    pub fn sample_interval(self, _interval: Duration) -> Self {
        self
    }

    /// Records nothing.
    #[inline]
    #[must_use = "the request is what the sandbox is started with"]
    pub fn record(self) -> SandboxRequest {
        SandboxRequest(())
    }
}

/// A request for a sandbox; in this build nothing.
#[derive(Clone, Debug)]
pub struct SandboxRequest(());

impl SandboxRequest {
    /// Describes nothing.
    #[inline]
    pub fn builder(_provider: &str) -> RequestBuilder<'_> {
        RequestBuilder(PhantomData)
    }

    /// Returns `None`.
    #[inline]
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        None
    }

    /// Begins nothing.
    #[inline]
    pub fn start(&self) -> SandboxStart {
        SandboxStart(())
    }
}

/// A sandbox that is being started; in this build nothing.
#[derive(Debug)]
#[must_use = "a start that is dropped has not succeeded"]
pub struct SandboxStart(());

impl SandboxStart {
    /// Returns `work`.
    #[inline]
    pub fn run<F, T, E>(&mut self, work: F) -> F
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        work
    }

    /// Does nothing.
    #[inline]
    pub fn retried(&mut self) {}

    /// Does nothing.
    #[inline]
    pub fn created(&mut self, _sandbox_id: &str, _submitted: &Submitted) {}

    /// Drops the reader: nothing is read.
    #[inline]
    pub fn finish(self, _reader: Option<Arc<dyn ResourceReader>>) -> SandboxObservation {
        SandboxObservation(())
    }

    /// Returns `delete`.
    #[inline]
    pub fn stop<F, T, E>(self, delete: F) -> F
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        delete
    }
}

/// What observes one sandbox; in this build nothing.
#[derive(Debug)]
#[must_use = "dropping the observation ends it"]
pub struct SandboxObservation(());

impl SandboxObservation {
    /// Returns `call`.
    #[inline]
    pub fn exec<F, T, E>(&self, call: F, _return_code: impl FnOnce(&T) -> Option<i64>) -> F
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        call
    }

    /// Returns `delete`.
    #[inline]
    pub fn stop<F, T, E>(self, delete: F) -> F
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        delete
    }
}

/// What observes a sandbox of somebody else; in this build nothing.
#[derive(Clone, Debug)]
pub struct BorrowedSandbox(());

impl BorrowedSandbox {
    /// Connects nothing.
    #[inline]
    #[must_use]
    pub fn connect(_provider: &str, _sandbox_id: &str) -> Self {
        Self(())
    }

    /// Returns `call`.
    #[inline]
    pub fn exec<F, T, E>(&self, call: F, _return_code: impl FnOnce(&T) -> Option<i64>) -> F
    where
        F: Future<Output = Result<T, E>>,
        E: Display,
    {
        call
    }
}
