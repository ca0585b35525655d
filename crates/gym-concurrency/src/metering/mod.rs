//! What is told of a limit: everything when compiled in, nothing when compiled out.

gym_telemetry_api::if_telemetry!(items {
    mod on;
    pub(crate) use on::{LimitKey, Registered, SlotMeter};
} else {
    mod off;
    pub(crate) use off::{LimitKey, Registered, SlotMeter};
});
