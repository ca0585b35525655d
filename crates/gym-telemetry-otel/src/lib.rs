//! The OpenTelemetry back end of gym-telemetry.
