//! Names, values, span groups and W3C trace context shared by every build of gym-telemetry.
