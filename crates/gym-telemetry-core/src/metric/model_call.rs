//! Metrics of model calls.

use super::{MetricDescriptor, MetricKind};
use crate::attribute;

/// Bounds of the durations of model calls in milliseconds, from a tenth of a second to half an hour.
pub const MODEL_CALL_BOUNDS_MS: &[f64] = &[
    100.0,
    250.0,
    500.0,
    1_000.0,
    2_000.0,
    5_000.0,
    10_000.0,
    30_000.0,
    60_000.0,
    120_000.0,
    300_000.0,
    600_000.0,
    1_800_000.0,
];

/// Bounds of the time to the first token in milliseconds, from a twentieth of a second to five minutes.
pub const MODEL_CALL_TTFT_BOUNDS_MS: &[f64] = &[
    50.0, 100.0, 250.0, 500.0, 1_000.0, 2_000.0, 5_000.0, 10_000.0, 30_000.0, 60_000.0, 120_000.0,
    300_000.0,
];

/// Bounds of token counts, from a word to a million tokens.
pub const MODEL_CALL_TOKEN_BOUNDS: &[f64] = &[
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    32_768.0,
    65_536.0,
    131_072.0,
    262_144.0,
    524_288.0,
    1_048_576.0,
];

/// How long each model call took, failed ones included.
pub static MODEL_CALL_DURATION: MetricDescriptor = MetricDescriptor {
    name: "gym.model_call.duration_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Duration of model calls, failed ones included",
    attributes: &[
        attribute::MODEL_CALL_DIALECT,
        attribute::MODEL_CALL_OUTCOME,
        attribute::SERVER_NAME,
    ],
    bounds: MODEL_CALL_BOUNDS_MS,
};

/// How long the first token of each streamed model call took.
pub static MODEL_CALL_TTFT: MetricDescriptor = MetricDescriptor {
    name: "gym.model_call.ttft_ms",
    kind: MetricKind::Histogram,
    unit: "ms",
    description: "Time to the first token of streamed model calls",
    attributes: &[attribute::MODEL_CALL_DIALECT, attribute::SERVER_NAME],
    bounds: MODEL_CALL_TTFT_BOUNDS_MS,
};

/// How many tokens each model call read, wrote and thought, as far as the model said so.
pub static MODEL_CALL_TOKENS: MetricDescriptor = MetricDescriptor {
    name: "gym.model_call.tokens",
    kind: MetricKind::Histogram,
    unit: "{token}",
    description: "Tokens of model calls, as far as the model reported them",
    attributes: &[
        attribute::MODEL_CALL_DIALECT,
        attribute::MODEL_CALL_TOKEN_TYPE,
        attribute::SERVER_NAME,
    ],
    bounds: MODEL_CALL_TOKEN_BOUNDS,
};

/// Why model calls ended, as far as the model said so.
pub static MODEL_CALL_FINISH: MetricDescriptor = MetricDescriptor {
    name: "gym.model_call.finish_total",
    kind: MetricKind::Counter,
    unit: "1",
    description: "Model calls by the reason they ended for, as far as the model reported one",
    attributes: &[
        attribute::MODEL_CALL_DIALECT,
        attribute::MODEL_CALL_FINISH_REASON,
        attribute::SERVER_NAME,
    ],
    bounds: &[],
};
