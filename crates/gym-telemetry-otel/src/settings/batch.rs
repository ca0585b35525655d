//! How many items wait for an export, and for how long.

use std::time::Duration;

use gym_telemetry_core::env;

use super::lookup::{Found, Lookup, Zero, source_of};
use crate::environment::Source;

/// How items are gathered into exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// The most items in memory.
    pub(crate) queue: usize,
    /// The most items of one export, never more than [`queue`](Self::queue).
    pub(crate) size: usize,
    /// How long an item waits for others.
    pub(crate) delay: Duration,
    /// How long an export is waited for, zero for ever; `None` if nobody says.
    pub(crate) export_timeout: Option<Duration>,
}

/// Names and defaults of one signal's batches.
struct Rules {
    signal: &'static str,
    queue: &'static str,
    size: &'static str,
    delay: &'static str,
    timeout: &'static str,
    default: Batch,
}

/// Open spans count as well, so that memory is bounded; therefore more than the 2,048 of the specification.
const SPANS: Rules = Rules {
    signal: "traces",
    queue: env::OTEL_BSP_MAX_QUEUE_SIZE,
    size: env::OTEL_BSP_MAX_EXPORT_BATCH_SIZE,
    delay: env::OTEL_BSP_SCHEDULE_DELAY,
    timeout: env::OTEL_BSP_EXPORT_TIMEOUT,
    default: Batch {
        queue: 32_768,
        size: 512,
        delay: Duration::from_secs(5),
        export_timeout: None,
    },
};

const LOGS: Rules = Rules {
    signal: "logs",
    queue: env::OTEL_BLRP_MAX_QUEUE_SIZE,
    size: env::OTEL_BLRP_MAX_EXPORT_BATCH_SIZE,
    delay: env::OTEL_BLRP_SCHEDULE_DELAY,
    timeout: env::OTEL_BLRP_EXPORT_TIMEOUT,
    default: Batch {
        queue: 2_048,
        size: 512,
        delay: Duration::from_secs(1),
        export_timeout: None,
    },
};

/// How spans are gathered.
pub(super) fn spans(lookup: &mut Lookup<'_>) -> Batch {
    resolve(lookup, &SPANS)
}

/// How log records are gathered.
pub(super) fn logs(lookup: &mut Lookup<'_>) -> Batch {
    resolve(lookup, &LOGS)
}

fn resolve(lookup: &mut Lookup<'_>, rules: &Rules) -> Batch {
    let name = |part| format!("{}.{part}", rules.signal);
    let (queue, source) = positive(lookup, rules.queue, rules.default.queue);
    lookup.record(name("max_queue_size"), queue, source);
    let size = size(lookup, rules, queue);
    let (delay, source) = lookup.milliseconds(&[rules.delay], rules.default.delay, Zero::AtOnce);
    lookup.record(name("schedule_delay_ms"), delay.as_millis(), source);
    Batch {
        queue,
        size,
        delay,
        export_timeout: export_timeout(lookup, name("export_timeout_ms"), rules.timeout),
    }
}

/// The size of an export, which cannot be more than there is room for.
fn size(lookup: &mut Lookup<'_>, rules: &Rules, queue: usize) -> usize {
    let (size, source) = positive(lookup, rules.size, rules.default.size);
    if size > queue {
        if source != Source::Default {
            lookup.warn(format!(
                "{source} is {size}, more than the {queue} items that the queue holds; {queue} is used"
            ));
        }
        lookup.record(
            format!("{}.max_export_batch_size", rules.signal),
            queue,
            source,
        );
        return queue;
    }
    lookup.record(
        format!("{}.max_export_batch_size", rules.signal),
        size,
        source,
    );
    size
}

/// How long an export is waited for, if somebody says so.
pub(super) fn export_timeout(
    lookup: &mut Lookup<'_>,
    name: String,
    variable: &'static str,
) -> Option<Duration> {
    let found = lookup.variable(variable)?;
    let parsed = found.text.parse().ok().map(Duration::from_millis);
    match parsed {
        Some(timeout) => lookup.record(name, timeout.as_millis(), found.source),
        None => lookup.ignore(
            &found,
            Zero::NoLimit.accepted(),
            "the limit of the exporter is used",
        ),
    }
    parsed
}

/// A number of items above zero; what is none is ignored with a warning.
fn positive(lookup: &mut Lookup<'_>, variable: &'static str, default: usize) -> (usize, Source) {
    let found = lookup.variable(variable);
    let number = found.as_ref().map(|found: &Found| {
        found
            .text
            .parse::<usize>()
            .ok()
            .filter(|number| *number > 0)
    });
    match (number, found) {
        (Some(None), Some(found)) => {
            lookup.ignore(
                &found,
                "a whole number above 0",
                &format!("{default} is used"),
            );
            (default, Source::Default)
        }
        (number, found) => (number.flatten().unwrap_or(default), source_of(found)),
    }
}
