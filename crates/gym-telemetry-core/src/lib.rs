//! Names, values, span groups and W3C trace context shared by every build of gym-telemetry.
//!
//! This crate is the vocabulary of the workspace. It has no dependency and no feature: programs with telemetry
//! compiled in and programs without it see the same types, so an argument that type-checks in one build does in
//! the other. It records and exports nothing and never prints.
//!
//! | module | what it holds |
//! |---|---|
//! | [`span`], [`event`], [`scope`], [`attribute`], [`metric`] | every name that goes over the wire |
//! | [`registry`] | all of these names that are built, with types, units and bounds |
//! | [`value`] | attribute values and the trait that makes them |
//! | [`group`] | span groups, presets and the switch of each group |
//! | [`config`], [`identity`], [`env`](mod@env) | settings, who a process is, and the environment that hands both on |
//! | [`propagation`] | `traceparent`, `tracestate` and `baggage` |
//! | [`redaction`], [`mask`] | what never leaves the process in clear |
//! | [`memory`] | whose memory is sampled, and the peaks |
//! | [`receipt`] | what a shutdown managed to export |
//! | [`rollout`] | rollout ids |
//! | [`outcome`] | what came of model calls and rollouts |
//!
//! ```
//! use gym_telemetry_core::{SpanContext, SpanGroup};
//!
//! let resolution = SpanGroup::resolve("default,sandbox");
//! let names: Vec<_> = resolution.groups.iter().map(|group| group.name()).collect();
//! assert_eq!(names, ["http_client", "job", "rollout", "sandbox", "server"]);
//!
//! let caller = SpanContext::from_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03")?;
//! assert!(caller.flags().is_sampled());
//! # Ok::<(), gym_telemetry_core::ParseError>(())
//! ```
#![forbid(unsafe_code)]

pub mod attribute;
pub mod config;
pub mod env;
pub mod event;
pub mod group;
pub mod identity;
pub mod mask;
pub mod memory;
pub mod metric;
pub mod outcome;
pub mod propagation;
pub mod receipt;
pub mod redaction;
pub mod registry;
pub mod rollout;
pub mod scope;
pub mod span;
pub mod value;

pub use config::{
    ConfigError, ConfigFormat, ConfigSource, EffectiveConfig, MemoryProfilingConfig,
    TelemetryConfig,
};
pub use env::ChildEnv;
pub use group::SpanGroup;
pub use identity::{ServerIdentity, ServerType};
pub use memory::{MemoryPeaks, ProfiledServer, ServerPeaks};
pub use metric::MetricDescriptor;
pub use propagation::{Baggage, ParseError, SpanContext, SpanId, TraceFlags, TraceId, TraceState};
pub use receipt::ShutdownReceipt;
pub use redaction::Redaction;
pub use rollout::RolloutId;
pub use span::SpanKind;
pub use value::{ToValue, Value};
