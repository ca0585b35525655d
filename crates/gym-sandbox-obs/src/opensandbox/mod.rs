//! Reading OpenSandbox.

pub mod inspect;
