//! What a gym program is instrumented with: macros and functions that compile to nothing without the `telemetry`
//! feature.
//!
//! A run of a gym is several processes. Instrumented with this crate, one rollout is one trace across all of them, in
//! the names and headers that servers in other languages use too. Telemetry is off by default, twice over:
//!
//! | state | how | cost of an instrumented place |
//! |---|---|---|
//! | compiled out | feature `telemetry` off | none: the machine code is that of the function without it, and no third-party crate is built |
//! | compiled in, off | feature on, group off | one relaxed load and one branch; no argument is evaluated |
//! | on | group on | a record is written; everything else happens on the telemetry thread |
//!
//! ```
//! use gym_telemetry_api::{add_event, attribute, enter, group, in_span, set_span_attributes, span, trace_fn};
//!
//! #[derive(Debug)]
//! struct Unsolvable;
//!
//! impl std::fmt::Display for Unsolvable {
//!     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
//!         f.write_str("the task has no solution")
//!     }
//! }
//!
//! /// An `Err` marks the span as failed, and so does a panic.
//! #[trace_fn(group::AGENT, span::AGENT_RUN, err, "task" => task)]
//! async fn solve(task: &str) -> Result<f64, Unsolvable> {
//!     let steps = plan(task);
//!     set_span_attributes!("steps" => steps);
//!     if steps == 0 { Err(Unsolvable) } else { Ok(1.0) }
//! }
//!
//! fn plan(task: &str) -> usize {
//!     let _entered = enter!(group::AGENT, "plan");
//!     add_event!("planned");
//!     task.split_whitespace().count()
//! }
//!
//! async fn rollout(id: &str) -> Result<f64, Unsolvable> {
//!     in_span!(group::ROLLOUT, span::ROLLOUT, attribute::ROLLOUT_ID => id, err; solve("look outside")).await
//! }
//! # let mut rollout = std::pin::pin!(rollout("3-1"));
//! # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
//! # let std::task::Poll::Ready(reward) = rollout.as_mut().poll(&mut context) else { panic!("pending") };
//! # assert!(matches!(reward, Ok(1.0)));
//! ```
//!
//! # Spans
//!
//! | for | use |
//! |---|---|
//! | a function, asynchronous or not | [`#[trace_fn(GROUP, NAME, KEY => value, …)]`](trace_fn) |
//! | a future | [`in_span!(GROUP, NAME, KEY => value, …; future)`](in_span), or [`future.in_span(span)`](FutureExt::in_span) |
//! | a block of synchronous code | [`enter!(GROUP, NAME, KEY => value, …)`](enter), whose guard must not be held over an `.await` |
//! | anything else | [`managed_span!(GROUP, NAME, KEY => value, …)`](managed_span), a value that ends when it is dropped |
//! | what no group gates | [`span!(NAME, KEY => value, …)`](span!) |
//! | attributes and events that come later | [`set_span_attributes!`], [`add_event!`], the methods of [`Span`] |
//! | work that moves to a task or a thread | [`in_current_context`](FutureExt::in_current_context), [`carry`], [`Context`] |
//!
//! Durations and what came of model calls and rollouts are metrics: [`record_rollout`], [`record_rollout_outcome`],
//! [`record_model_call`] and their relatives.
//!
//! The names of spans and attributes are in [`mod@span`] and [`attribute`], the groups in [`group`]. Work that only
//! serves telemetry belongs into the arguments of the macros, where it is skipped when nothing is recorded; durations
//! come from [`stopwatch!`]. [`is_span_group_enabled`] and [`if_telemetry!`] are for what does not fit there.
//!
//! # In applications
//!
//! A program starts its telemetry once, from the environment, and shuts it down before it ends. The process that starts
//! the others reads the `telemetry:` block of a configuration file and hands it on.
//!
//! ```
//! use gym_telemetry_api::{
//!     ConfigSource, DEFAULT_SHUTDOWN_BUDGET, ServerIdentity, ServerType, configure_telemetry_env, init_telemetry,
//!     shutdown_telemetry, telemetry_config_from_global_config,
//! };
//! use std::process::Command;
//!
//! let config = telemetry_config_from_global_config(&ConfigSource::yaml("telemetry:\n  enabled: false\n"))?;
//! let mut server = Command::new("a-server");
//! if let Some(environment) = configure_telemetry_env(Some(&config)) {
//!     environment.apply(&mut server);
//! }
//!
//! let identity = ServerIdentity::builder().server_type(ServerType::Orchestrator).build();
//! let telemetry = init_telemetry(identity);
//! assert!(telemetry.is_none(), "it is not switched on");
//! // The run.
//! let receipt = shutdown_telemetry(DEFAULT_SHUTDOWN_BUDGET);
//! assert!(receipt.is_complete());
//! # Ok::<(), gym_telemetry_api::ConfigError>(())
//! ```
//!
//! With `logs_enabled`, what the program says through `tracing` and `log` is exported with the ids of the current span, once
//! it has called [`install_log_bridge`]. A program with a subscriber of its own adds `log_layer` of `gym-telemetry-otel` to it
//! instead, which is no part of this crate because the build without telemetry knows nothing of `tracing`.
//!
//! # In libraries
//!
//! A library depends on this crate without the feature; whoever builds the program decides. A library that has code of
//! its own for telemetry offers `telemetry = ["gym-telemetry-api/telemetry"]` and writes [`if_telemetry!`] instead of
//! testing that feature: another crate may have turned the facade's on.
//!
//! # Features
//!
//! - `telemetry`: brings in the OpenTelemetry back end. Without it every macro and function of this crate compiles to
//!   nothing, and [`TELEMETRY_COMPILED_IN`] says so.
//!
//! # What compiled out means
//!
//! Both builds accept and reject the same code, with the exceptions below. Without the feature
//!
//! - arguments of macros are type-checked and borrow-checked in code that cannot be reached. They are not evaluated,
//!   nothing they borrow is kept in a future, and locals that only telemetry uses do not warn;
//! - spans, guards and contexts are zero-sized and have no `Drop`; a wrapped future *is* the future;
//! - functions return what a process without telemetry answers, whatever the environment says.
//!
//! The limits:
//!
//! - A `Send` future must not hold a guard of [`enter!`] over an `.await`. Only the build with the feature says so,
//!   because without `Drop` the guard is gone by then. Check both builds.
//! - Where a future's type is written out, `InSpan<F>` and `F` are one type without the feature and two with it.
//! - A variable that a closure or an `async` block names only in a telemetry macro is captured there all the same. The
//!   parameters of an `async fn` are captured anyway.
//! - A closure or an `async` block that is written inside the parentheses of a macro, such as the future of
//!   [`in_span!`], is numbered when the macro is expanded, as with any macro. If the function has other closures after
//!   it, symbol names differ from those of the function without the macro; the code does not.
//! - Methods such as [`in_span`](FutureExt::in_span) and [`entered`](Span::entered) are calls. They are inlined, but
//!   may leave a jump without optimisation, and may change which small functions are inlined elsewhere. The macros and
//!   the attribute leave nothing at any level: `in_span!(span; future)` and `enter!(span)` do the same.
//! - A jump that another macro hides in an argument is found in the build with the feature only.
#![forbid(unsafe_code)]

mod literal;
mod macros;

#[cfg(feature = "telemetry")]
#[path = "on.rs"]
mod build;
#[cfg(not(feature = "telemetry"))]
#[path = "off.rs"]
mod build;

pub use build::{
    Attributes, Context, ContextGuard, DEFAULT_SHUTDOWN_BUDGET, Entered, FutureExt, InContext,
    InSpan, InSpanErr, MemoryProfiler, Parent, Span, SpanOptions, Status, StatusStyle, Stopwatch,
    TELEMETRY_COMPILED_IN, TelemetryHandle, carry, configure_telemetry_env, effective_config,
    get_telemetry, init_telemetry, install_log_bridge, is_span_group_enabled,
    is_telemetry_env_enabled, is_telemetry_metrics_enabled, load_telemetry_config,
    memory_profiling_config_from_env, observe_current_runtime, probe_telemetry,
    record_active_servers, record_model_call, record_rollout, record_rollout_outcome,
    record_verify, set_current_attributes, shutdown_telemetry, shutdown_telemetry_async,
    telemetry_config_from_global_config, with_current_span,
};
pub use gym_telemetry_core::{
    Baggage, ChildEnv, ConfigError, ConfigFormat, ConfigSource, EffectiveConfig, MemoryPeaks,
    MemoryProfilingConfig, ProfiledServer, ServerIdentity, ServerPeaks, ServerType,
    ShutdownReceipt, SpanContext, SpanGroup, SpanKind, TelemetryConfig, ToValue, Value, attribute,
    group, outcome, span,
};
/// Records a span around each call of a function or method, and leaves the function as it is otherwise.
///
/// `#[trace_fn(GROUP, NAME, err, option: value, …, KEY => value, …)]` takes what [`managed_span!`] takes; the values
/// may name the parameters. With `err`, an `Err` that the function returns marks the span as failed and is recorded as
/// one `exception` event; the error must implement `Display`. Neither arguments nor results are recorded unless they
/// are named.
///
/// | function | the span |
/// |---|---|
/// | synchronous | is current during the call |
/// | `async` | starts with the first poll, is current during each poll, and ends when the function is done or dropped |
/// | ends in `Box::pin(async move { … })`, as `async_trait` writes it | starts with the call, is current during each poll of the future, and ends with it |
///
/// Other functions that return a future are synchronous: the span covers the making of the future only. A `const fn`
/// and a function without a body are refused. With `err`, the body of a synchronous function is a closure when telemetry
/// is compiled in: `Location::caller` in it does not see the caller of the function. `crate = path` tells the path of this crate where it is not
/// `::gym_telemetry_api`.
///
/// # Off build
///
/// The arguments are type-checked and borrow-checked, and no code is generated for them; the body stays as it is.
///
/// ```
/// use gym_telemetry_api::{attribute, group, span, trace_fn};
///
/// struct Verifier {
///     name: String,
/// }
///
/// impl Verifier {
///     #[trace_fn(group::VERIFY, span::VERIFY, err, attribute::SERVER_NAME => self.name)]
///     async fn verify(&mut self, answer: &str) -> Result<f64, std::num::ParseFloatError> {
///         let value: f64 = answer.parse()?;
///         Ok(if value == 42.0 { 1.0 } else { 0.0 })
///     }
/// }
///
/// let mut verifier = Verifier { name: "arithmetic".to_owned() };
/// let verdict = verifier.verify("42");
/// # let mut verdict = std::pin::pin!(verdict);
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # let std::task::Poll::Ready(verdict) = verdict.as_mut().poll(&mut context) else { panic!("pending") };
/// # // A program awaits it.
/// assert_eq!(verdict, Ok(1.0));
/// ```
pub use gym_telemetry_macros::trace_fn;

#[doc(hidden)]
pub use build::__private;
#[doc(hidden)]
pub use gym_telemetry_macros::__check_arguments;
