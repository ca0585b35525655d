//! The facade: telemetry macros and functions that compile to nothing without the telemetry feature.
