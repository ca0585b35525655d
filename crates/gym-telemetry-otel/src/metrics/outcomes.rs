//! The metrics of model calls and of what came of rollouts.

use gym_telemetry_core::outcome::{CallOutcome, ModelCall, RolloutOutcome};
use gym_telemetry_core::{Value, attribute, metric};

use super::handle::{Counter, Histogram};
use super::provider::are_metrics_exporting;
use super::words::Words;

/// How many classes of failure there may be. Each makes as many series as there are reasons and one more, all of which
/// have to fit into what the SDK keeps of a metric, 2,000.
pub(super) const MAX_CLASSES: usize = 16;

/// Stands for a server or a dialect that the caller does not know.
const UNKNOWN: &str = "unknown";
/// Stands for a word that is none, or one too many.
const OTHER: &str = "other";

static DURATION: Histogram = Histogram::new(&metric::MODEL_CALL_DURATION);
static TTFT: Histogram = Histogram::new(&metric::MODEL_CALL_TTFT);
static TOKENS: Histogram = Histogram::new(&metric::MODEL_CALL_TOKENS);
static FINISH: Counter = Counter::new(&metric::MODEL_CALL_FINISH);
static COMPLETED: Counter = Counter::new(&metric::ROLLOUT_COMPLETED);

static CATEGORIES: Words = Words::new();
static FINISH_REASONS: Words = Words::new();
static CLASSES: Words<MAX_CLASSES> = Words::new();
static REASONS: Words = Words::new();

/// Records a call of a model after its end; call it once per call, for a failed one too.
///
/// What the call does not tell is left out. Its error category and finish reason have to be
/// [words](gym_telemetry_core::outcome::is_word); others, and all but the first 64 different ones of each in the process,
/// are recorded as `other`. Does nothing while metrics are not exported.
pub fn record_model_call(call: &ModelCall<'_>) {
    if !are_metrics_exporting() {
        return;
    }
    let server = call.server.filter(|server| !server.is_empty());
    let server = (
        attribute::SERVER_NAME,
        Value::Str(server.unwrap_or(UNKNOWN)),
    );
    let dialect = call.dialect.map_or(UNKNOWN, |dialect| dialect.as_str());
    let dialect = (attribute::MODEL_CALL_DIALECT, Value::Static(dialect));
    let with = |key, word| [server, dialect, (key, Value::Static(word))];
    if let Some(duration) = call.duration {
        let outcome = match call.outcome {
            CallOutcome::Ok => "ok",
            CallOutcome::Error(category) => CATEGORIES.admit(category).unwrap_or(OTHER),
        };
        DURATION.record_duration_with(duration, &with(attribute::MODEL_CALL_OUTCOME, outcome));
    }
    if let Some(time) = call.time_to_first_token {
        TTFT.record_duration_with(time, &[server, dialect]);
    }
    let tokens = [
        ("input", call.tokens.input),
        ("output", call.tokens.output),
        ("reasoning", call.tokens.reasoning),
    ];
    for (kind, count) in tokens {
        let Some(count) = count else { continue };
        #[expect(
            clippy::cast_precision_loss,
            reason = "a bucket needs no more than 53 bits"
        )]
        let count = count as f64;
        TOKENS.record_with(count, &with(attribute::MODEL_CALL_TOKEN_TYPE, kind));
    }
    if let Some(reason) = call.finish_reason {
        let reason = FINISH_REASONS.admit(reason).unwrap_or(OTHER);
        FINISH.add_with(1, &with(attribute::MODEL_CALL_FINISH_REASON, reason));
    }
}

/// Records what came of a rollout; call it once per rollout.
///
/// The class of a failure has to be a [word](gym_telemetry_core::outcome::is_word) and is `other` if it is none, or not
/// among the first 16 different ones of the process. A reason that is no word, or not among the first 64, is left out.
/// The rollout counts all the same. Does nothing while metrics are not exported.
pub fn record_rollout_outcome(outcome: RolloutOutcome<'_>) {
    if !are_metrics_exporting() {
        return;
    }
    let word = |key, word| (key, Value::Static(word));
    let attributes = match outcome {
        RolloutOutcome::Dropped { class, reason } => [
            Some(word(attribute::ROLLOUT_OUTCOME, "dropped")),
            class.map(|class| {
                let class = CLASSES.admit(class).unwrap_or(OTHER);
                word(attribute::FAILURE_CLASS, class)
            }),
            reason
                .and_then(|reason| REASONS.admit(reason))
                .map(|reason| word(attribute::FAILURE_REASON, reason)),
        ],
        _ => [Some(word(attribute::ROLLOUT_OUTCOME, "scored")), None, None],
    };
    let attributes: Vec<_> = attributes.into_iter().flatten().collect();
    COMPLETED.add_with(1, &attributes);
}
