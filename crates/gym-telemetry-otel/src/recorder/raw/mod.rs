//! Where the recorder is unsafe.
#![expect(unsafe_code, reason = "see above")]

pub(crate) mod tsc;
