//! What the tests of the demo share: the program in a clean environment, and the traces it leaves behind.
#![allow(dead_code, unreachable_pub, reason = "no test uses all of it")]

pub mod expected;
pub mod http;
pub mod process;
pub mod run;
pub mod server;
pub mod trace;

use std::path::PathBuf;

/// A file that belongs to the tests.
pub fn asset(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(path)
}
