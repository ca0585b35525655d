//! The life of a sandbox: recorded when compiled in, passed through when compiled out.

gym_telemetry_api::if_telemetry!(items {
    mod on;
    pub use on::{
        BorrowedSandbox, RequestBuilder, SandboxObservation, SandboxRequest, SandboxStart,
        set_max_reads_in_flight,
    };
} else {
    mod off;
    pub use off::{
        BorrowedSandbox, RequestBuilder, SandboxObservation, SandboxRequest, SandboxStart,
        set_max_reads_in_flight,
    };
});
