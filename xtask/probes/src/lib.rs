//! Twin functions, instrumented and not, for `cargo xtask check-noop`.
//!
//! Each file below `twins` is also compiled on its own, as a crate of one fixed name. The two files of a pair are the same,
//! line for line and column for column, but for the telemetry in one of them.
#![forbid(unsafe_code)]

/// The pairs.
#[allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    unused,
    reason = "probes show what code can look like, not what it should look like"
)]
#[rustfmt::skip]
pub mod twins {
    pub mod attribute {
        pub mod instrumented;
        pub mod plain;
    }
    pub mod macros {
        pub mod instrumented;
        pub mod plain;
    }
    pub mod wrappers {
        pub mod instrumented;
        pub mod plain;
    }
}
