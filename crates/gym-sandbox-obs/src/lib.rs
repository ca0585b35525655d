//! What a sandbox asked for, was given and used, on record.
//!
//! An agent's commands run in sandboxes: containers, pods, processes. This crate records the life of each and its
//! resources in four stages that are never mixed up:
//!
//! | stage | recorded by | says |
//! |---|---|---|
//! | requested | [`RequestBuilder::record`] | what the caller asked for, before the provider is asked |
//! | submitted | [`SandboxStart::created`] | what the provider was given, after clamping |
//! | allocated | [`ResourceReader::allocation`] | what the provider says the sandbox got |
//! | used | [`ResourceReader::sample`] | what the sandbox used at one moment |
//!
//! ```
//! use gym_resources::{Cores, SandboxResources};
//! use gym_sandbox_obs::{SandboxRequest, Submitted};
//! # use std::io;
//! # async fn create(_: &SandboxResources) -> io::Result<String> { Ok(String::from("s-1")) }
//! # async fn run(_: &str, _: &str) -> io::Result<i64> { Ok(0) }
//! # async fn delete(_: &str) -> io::Result<()> { Ok(()) }
//!
//! async fn solve() -> io::Result<i64> {
//!     let resources = SandboxResources {
//!         cpu: Cores::new(2.0).ok(),
//!         memory_mib: Some(4096),
//!         ..SandboxResources::default()
//!     };
//!     let request = SandboxRequest::builder("my-provider").resources(&resources).record();
//!
//!     let mut start = request.start();
//!     let id = start.run(create(&resources)).await?;
//!     start.created(&id, &Submitted { limits: resources.amounts(), ..Submitted::default() });
//!     let sandbox = start.finish(None);
//!
//!     let code = sandbox.exec(run(&id, "make test"), |code| Some(*code)).await?;
//!     sandbox.stop(delete(&id)).await?;
//!     Ok(code)
//! }
//! # let mut solve = std::pin::pin!(solve());
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # assert!(matches!(solve.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(0))));
//! ```
//!
//! What is not known is absent, never zero. A provider that can be read implements [`ResourceReader`]; one thread reads
//! for all sandboxes of a process, each reading is over within two seconds, and none delays or fails the caller.
//!
//! # Features
//!
//! - `telemetry`: records. Without it every call passes through to what it wraps and every type here that observes is
//!   zero-sized; nothing is read.
//! - `local`: reads process groups of this machine.
//! - `opensandbox`: reads allocations and samples of OpenSandbox.
#![forbid(unsafe_code)]

mod allocation;
mod lifecycle;
#[cfg(feature = "local")]
mod local;
#[cfg(feature = "opensandbox")]
pub mod opensandbox;
mod reader;
mod sample;
mod submitted;
mod unavailable;

pub use allocation::{Allocation, Component, Designator, DesignatorKind, Host, HostKind};
pub use lifecycle::{
    BorrowedSandbox, RequestBuilder, SandboxObservation, SandboxRequest, SandboxStart,
    set_max_reads_in_flight,
};
#[cfg(feature = "local")]
pub use local::LocalReader;
pub use reader::{Reading, ResourceReader};
pub use sample::Sample;
pub use submitted::Submitted;
pub use unavailable::Unavailable;
