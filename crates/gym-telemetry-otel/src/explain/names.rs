//! Variables of the environment that are misspelt or blank.

use gym_telemetry_core::config::{Finding, FindingKind};
use gym_telemetry_core::env::{self, SETTINGS, VARIABLES};

use crate::config::{did_you_mean, nearest};
use crate::environment::EnvSource;

/// Variables of earlier versions, which are set in many scripts and mean nothing.
const RETIRED: [&str; 2] = ["EXPORT_STRATEGY", "EXPORT_RANK"];

/// What is suspicious about the names of variables.
pub(super) fn of_variables(env: &dyn EnvSource, findings: &mut Vec<Finding>) {
    let settings: Vec<&'static str> = SETTINGS
        .iter()
        .flat_map(|setting| setting.names())
        .collect();
    let mut names = env.names();
    names.sort();
    for name in &names {
        let is_known = settings.contains(&&**name) || VARIABLES.contains(&&**name);
        if is_known && env.inherited(name).is_some_and(|value| is_blank(&value)) {
            findings.push(Finding::new(
                FindingKind::BlankVariable,
                format!("{name} is blank, which counts as unset"),
            ));
        }
        if is_known || !env::is_telemetry_variable(name) {
            continue;
        }
        let own = [env::GYM_PREFIX, env::LENS_PREFIX]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix));
        let shown: String = name.chars().take(100).collect();
        let message = match own {
            Some(end) if RETIRED.contains(&end) => format!("{shown} has no effect any more"),
            Some(_) => format!("{shown} is no setting{}", did_you_mean(name, &settings)),
            // There are more standard variables than matter here, and other programs of the run may heed them.
            None if nearest(name, VARIABLES).is_some() => {
                format!("{shown} is not known here{}", did_you_mean(name, VARIABLES))
            }
            None => continue,
        };
        findings.push(Finding::new(FindingKind::UnknownName, message));
    }
}

fn is_blank(value: &std::ffi::OsStr) -> bool {
    value.to_str().is_some_and(|text| text.trim().is_empty())
}
