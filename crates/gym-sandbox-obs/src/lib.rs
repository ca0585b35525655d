//! What a sandbox asked for, was given and used, on record.
#![forbid(unsafe_code)]

mod allocation;
#[cfg(feature = "opensandbox")]
pub mod opensandbox;
mod unavailable;

pub use allocation::{Allocation, Component, Designator, DesignatorKind, Host, HostKind};
pub use unavailable::Unavailable;
