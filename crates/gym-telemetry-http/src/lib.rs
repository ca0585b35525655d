//! Trace propagation and HTTP spans for tower servers and clients.
//!
//! One request that crosses processes is one trace only if each process hands the trace on and takes it up. This crate
//! does both for servers that speak HTTP, and makes the spans in between:
//!
//! | what | where | span group |
//! |---|---|---|
//! | [`ServerLayer`] | around a whole server, ahead of its routing | `server` |
//! | `RouteLayer` (feature `axum`) | in an axum router, behind its routing | `server` |
//! | [`ClientLayer`] | around an HTTP client that is a tower service | `http_client` |
//! | `TelemetryMiddleware` (feature `reqwest`) | in a client of reqwest-middleware | `http_client` |
//!
//! [`PropagationPolicy`] decides which hosts may learn of the trace.
//!
//! # A server
//!
#![cfg_attr(feature = "axum", doc = "```")]
#![cfg_attr(not(feature = "axum"), doc = "```ignore")]
//! use axum::{Router, routing::post};
//! use gym_telemetry_http::ServerLayer;
//!
//! let router = Router::new().route("/verify", post(|| async { "1.0" }));
//! let app: Router = ServerLayer::new().around(router);
//! // axum::serve(listener, app).await
//! # let _ = app;
//! ```
//!
//! # A client
//!
#![cfg_attr(feature = "reqwest", doc = "```")]
#![cfg_attr(not(feature = "reqwest"), doc = "```ignore")]
//! use gym_telemetry_http::{PropagationPolicy, TelemetryMiddleware};
//!
//! let client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new())
//!     .with(TelemetryMiddleware::new(PropagationPolicy::default()))
//!     .build();
//! // client.post("http://policy_model:8000/v1/responses").send().await
//! # let _ = client;
//! ```
//!
//! # Features
//!
//! - `telemetry`: compiles telemetry in. Without it [`ServerLayer`] only strips `/ng-rollout/<id>` from paths, and
//!   everything else hands requests on: services have the size of the inner ones, futures and bodies are the inner
//!   ones.
//! - `axum`: `RouteLayer` and `ServerLayer::around`.
//! - `reqwest`: `TelemetryMiddleware`.
#![forbid(unsafe_code)]

mod client;
#[cfg(feature = "reqwest")]
mod middleware;
mod policy;
mod rollout_path;
#[cfg(feature = "axum")]
mod route;
mod server;

// Named once more for rustfmt, which does not look into macros.
#[cfg(rustfmt)]
mod failure;
#[cfg(rustfmt)]
mod host;
#[cfg(rustfmt)]
mod method;
#[cfg(rustfmt)]
mod route_slot;
#[cfg(rustfmt)]
mod url;

gym_telemetry_api::if_telemetry!(items {
    mod failure;
    mod host;
    mod method;
    mod route_slot;
    mod url;
});

pub use client::{ClientFuture, ClientLayer, ClientService};
#[cfg(feature = "reqwest")]
pub use middleware::TelemetryMiddleware;
pub use policy::{PropagationPolicy, PropagationPolicyBuilder};
#[cfg(feature = "axum")]
pub use route::{RouteLayer, RouteService};
pub use server::{ServerBody, ServerFuture, ServerLayer, ServerLayerBuilder, ServerService};
