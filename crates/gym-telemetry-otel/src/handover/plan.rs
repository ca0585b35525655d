//! What of a block is published in an environment.

use std::collections::BTreeMap;

use gym_telemetry_core::attribute::SERVICE_NAME;
use gym_telemetry_core::config::{Overridden, TelemetryConfig};
use gym_telemetry_core::env::{self, Setting};
use gym_telemetry_core::mask;

use super::explained::Explained;
use super::fields::{Field, Target, fields};
use super::overlay::{Published, Variable};
use crate::environment::{EnvSource, Source};
use crate::settings::{
    self, BOOLEAN_WORDS, Beaten, Found, Lookup, Protocol, SignalKind, parse_boolean,
};

/// What publishing a block comes to.
#[derive(Debug)]
pub(super) struct Plan {
    /// Everything published so far and now; `None` when telemetry is off.
    pub(super) published: Option<Published>,
    /// The same whether telemetry is on or off, and more about it.
    pub(super) explained: Explained,
    pub(super) warnings: Vec<String>,
}

/// Decides what to publish of `config` in `env`, in which `before` is visible already.
pub(super) fn plan(
    config: &TelemetryConfig,
    env: &dyn EnvSource,
    before: Option<&Published>,
) -> Plan {
    let mut lookup = Lookup::new(env);
    let variables = before
        .map(|before| before.variables.clone())
        .unwrap_or_default();
    let mut publisher = Publisher {
        lookup: &mut lookup,
        variables,
        beaten: Vec::new(),
    };
    let fields = fields(config);
    let is_enabled = publisher.is_enabled(config, &fields);
    let about_the_switch = publisher.lookup.warnings().len();
    let run_id = publisher.publish(&fields);
    let Publisher {
        variables, beaten, ..
    } = publisher;
    let (_, mut warnings) = lookup.finish();
    let all = Published { run_id, variables };
    let explained = Explained::new(all.clone(), beaten, config, &warnings);
    if !is_enabled {
        // Nobody needs to hear about settings of something that is off.
        warnings.truncate(about_the_switch);
    }
    Plan {
        published: is_enabled.then_some(all),
        explained,
        warnings,
    }
}

struct Publisher<'a, 'e> {
    lookup: &'a mut Lookup<'e>,
    variables: BTreeMap<&'static str, Variable>,
    /// Fields that somebody set and that are not heard.
    beaten: Vec<Beaten>,
}

impl Publisher<'_, '_> {
    /// Whether telemetry is on after all, which the environment decides before the block does.
    fn is_enabled(&mut self, config: &TelemetryConfig, fields: &[Field]) -> bool {
        if self.lookup.sdk_disabled() {
            return false;
        }
        for field in fields
            .iter()
            .filter(|field| field.target == Target::Setting(env::ENABLED))
        {
            self.warn_about_lens(env::ENABLED, field);
        }
        match self.lookup.setting(env::ENABLED) {
            None => config.enabled,
            Some(found) => found.boolean().unwrap_or_else(|_| {
                self.lookup
                    .ignore(&found, BOOLEAN_WORDS, "telemetry is off");
                false
            }),
        }
    }

    /// Publishes every field and returns the run id.
    fn publish(&mut self, fields: &[Field]) -> String {
        let mut run_id = None;
        for field in fields {
            match field.target {
                Target::Setting(setting) => {
                    self.warn_about_lens(setting, field);
                    match setting {
                        env::EXPORTER => self.exporter(field),
                        env::RUN_ID => run_id = Some(self.run_id(field)),
                        _ => self.setting(setting, field),
                    }
                }
                Target::Standard(env::OTEL_SERVICE_NAME) => self.service_name(field),
                Target::Standard(name) => self.standard(name, field),
            }
        }
        self.protocols();
        run_id.unwrap_or_default()
    }

    /// Says that a `NEMO_LENS_*` variable overrides what somebody set in the block, where the two differ.
    fn warn_about_lens(&mut self, setting: Setting, field: &Field) {
        let Some(lens) = setting.lens.filter(|_| field.explicit) else {
            return;
        };
        if self.lookup.variable(setting.gym).is_some() {
            return;
        }
        let Some(found) = self.lookup.variable(lens) else {
            return;
        };
        let equal = match field.boolean {
            Some(value) => parse_boolean(&found.text) == Some(value),
            None => field.value == found.text,
        };
        if !equal {
            self.lookup
                .warn(format!("{} is ignored because {lens} is set", field.source));
        }
    }

    /// Puts the gym's own variable of a setting, unless one of the setting's variables is set.
    fn setting(&mut self, setting: Setting, field: &Field) {
        match self.lookup.setting(setting) {
            None => self.put(setting.gym, &field.value, &field.source),
            Some(found) => self.lose(&found, setting.gym, field),
        }
    }

    /// Remembers that `winner` is heard and the field is not.
    fn lose(&mut self, winner: &Found, name: &str, field: &Field) {
        if field.explicit && winner.source != field.source {
            let shown = mask::variable(name, &field.value).into_owned();
            let loser = Overridden::new(field.source.clone(), shown);
            self.beaten.push((winner.source.clone(), loser));
        }
    }

    fn standard(&mut self, name: &'static str, field: &Field) {
        match self.lookup.variable(name) {
            None => self.put(name, &field.value, &field.source),
            Some(found) => self.lose(&found, name, field),
        }
    }

    fn put(&mut self, name: &'static str, value: &str, source: &Source) {
        if !value.is_empty() {
            let variable = Variable {
                value: value.to_owned(),
                source: source.clone(),
            };
            self.variables.insert(name, variable);
        }
    }

    /// The exporter goes to all signals, or to those that name none of their own once one of them does.
    fn exporter(&mut self, field: &Field) {
        let own = SignalKind::ALL.map(|kind| self.lookup.variable(kind.exporter_variable()));
        if own.iter().all(Option::is_none) {
            self.setting(env::EXPORTER, field);
        } else if let Some(found) = self.lookup.setting(env::EXPORTER) {
            self.lose(&found, env::EXPORTER.gym, field);
        } else {
            for kind in SignalKind::ALL {
                self.standard(kind.exporter_variable(), field);
            }
        }
    }

    /// The name goes to the children, unless the launch environment has one among its resource attributes and nobody
    /// wants another.
    fn service_name(&mut self, field: &Field) {
        let launch = settings::launch_attributes(self.lookup);
        let is_launched = launch
            .iter()
            .any(|(key, value)| key == SERVICE_NAME && !value.trim().is_empty());
        if field.explicit || !is_launched {
            self.standard(env::OTEL_SERVICE_NAME, field);
        }
    }

    /// The protocol under each name that somebody may read: programs that know only the signals' own variables
    /// would otherwise speak another protocol than the rest.
    fn protocols(&mut self) {
        let name = env::OTEL_EXPORTER_OTLP_PROTOCOL;
        let (value, source) = match self.variables.get(name) {
            Some(Variable { value, source }) => (value.clone(), source.clone()),
            None => match self.lookup.variable(name) {
                Some(found) => (found.text, found.source),
                None => return,
            },
        };
        if Protocol::parse(&value).is_none() {
            return;
        }
        for kind in SignalKind::ALL {
            if self.lookup.variable(kind.protocol_variable()).is_none() {
                self.put(kind.protocol_variable(), &value, &source);
            }
        }
    }

    /// The id of the run: whoever named one, else the Slurm job, else a new one.
    fn run_id(&mut self, field: &Field) -> String {
        if let Some(found) = self.lookup.setting(env::RUN_ID) {
            self.lose(&found, env::RUN_ID.gym, field);
            return found.text;
        }
        let (id, source) = if !field.value.is_empty() {
            (field.value.clone(), field.source.clone())
        } else if let Some(found) = self.lookup.variable(env::SLURM_JOB_ID) {
            (found.text, found.source)
        } else {
            (crate::random::hex12(), Source::Generated)
        };
        self.put(env::RUN_ID.gym, &id, &source);
        id
    }
}
