//! Code of readers and of executors, whose panics must not end sampling.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `foreign` and returns `None` when it panics; the panic hook has told of it by then.
pub(super) fn contain<T>(foreign: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(foreign)) {
        Ok(value) => Some(value),
        Err(payload) => {
            if !payload.is::<&'static str>() && !payload.is::<String>() {
                // Dropping a payload of an unknown type might panic again.
                std::mem::forget(payload);
            }
            None
        }
    }
}
