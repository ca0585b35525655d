//! Which spans are sampled.

use gym_telemetry_core::config::ConfigError;
use gym_telemetry_core::env;
use opentelemetry_sdk::trace::Sampler as SdkSampler;

use super::lookup::{Lookup, source_of};

/// The names that the standard variable may hold.
const NAMES: &str = "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or \
                     parentbased_traceidratio";

/// Where the process of rank 0 stands among all ranks, from 0 to 1: the MD5 of "0", modulo 10,000.
///
/// Other implementations sample by this number too, so a fleet keeps or drops a rank as a whole.
const RANK_ZERO: f64 = 0.7850;

/// How it is decided whether a span is sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sampler {
    /// Whether a span with a parent follows it.
    pub(crate) parent_based: bool,
    /// The share of traces that are sampled, from 0 to 1, decided by trace id.
    pub(crate) ratio: f64,
}

impl Sampler {
    /// Samples everything whose parent is sampled.
    pub(crate) const DEFAULT: Self = Self {
        parent_based: true,
        ratio: 1.0,
    };

    /// The sampler of the SDK that decides like this.
    pub(crate) fn to_sdk(self) -> SdkSampler {
        let root = if self.ratio >= 1.0 {
            SdkSampler::AlwaysOn
        } else if self.ratio <= 0.0 {
            SdkSampler::AlwaysOff
        } else {
            SdkSampler::TraceIdRatioBased(self.ratio)
        };
        if self.parent_based {
            SdkSampler::ParentBased(Box::new(root))
        } else {
            root
        }
    }
}

/// The gym's own sampler where it is switched on, else the standard one.
pub(super) fn resolve(lookup: &mut Lookup<'_>) -> Result<Sampler, ConfigError> {
    let by_process = lookup.boolean("sampler_enabled", env::SAMPLER_ENABLED, false)?;
    let rate = lookup.number(
        "export_sample_rate",
        env::EXPORT_SAMPLE_RATE,
        1.0,
        "a number from 0 to 1",
        |rate| (0.0..=1.0).contains(&rate),
    )?;
    if by_process {
        // One decision for the whole process, whoever the parent is.
        let ratio = if rate > RANK_ZERO { 1.0 } else { 0.0 };
        let found = lookup.setting(env::EXPORT_SAMPLE_RATE);
        let standard = lookup.variable(env::OTEL_TRACES_SAMPLER);
        if let (Some(found), Some(standard)) = (&found, &standard) {
            lookup.beat(found, standard);
        }
        let source = source_of(found);
        lookup.record("sampler.parent_based", false, source.clone());
        lookup.record("sampler.ratio", ratio, source);
        return Ok(Sampler {
            parent_based: false,
            ratio,
        });
    }
    Ok(standard(lookup))
}

fn standard(lookup: &mut Lookup<'_>) -> Sampler {
    let found = lookup.variable(env::OTEL_TRACES_SAMPLER);
    let name = found.as_ref().map(|found| found.text.to_ascii_lowercase());
    let name = name.as_deref().unwrap_or("parentbased_always_on");
    let root = name.strip_prefix("parentbased_");
    let ratio = match root.unwrap_or(name) {
        "always_on" => Some(1.0),
        "always_off" => Some(0.0),
        "traceidratio" => Some(ratio(lookup)),
        _ => None,
    };
    let sampler = match (ratio, &found) {
        (Some(ratio), _) => Sampler {
            parent_based: root.is_some(),
            ratio,
        },
        (None, Some(found)) => {
            lookup.ignore(found, NAMES, "parentbased_always_on is used");
            Sampler::DEFAULT
        }
        (None, None) => Sampler::DEFAULT,
    };
    lookup.record(
        "sampler.parent_based",
        sampler.parent_based,
        source_of(found.clone()),
    );
    lookup.record("sampler.ratio", sampler.ratio, source_of(found));
    sampler
}

/// The argument of a ratio sampler.
fn ratio(lookup: &mut Lookup<'_>) -> f64 {
    let Some(found) = lookup.variable(env::OTEL_TRACES_SAMPLER_ARG) else {
        return 1.0;
    };
    let ratio = found.text.parse::<f64>().ok();
    ratio
        .filter(|ratio| (0.0..=1.0).contains(ratio))
        .unwrap_or_else(|| {
            lookup.ignore(&found, "a number from 0 to 1", "all traces are sampled");
            1.0
        })
}
