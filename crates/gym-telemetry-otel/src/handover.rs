//! From the block of the orchestrator to the environment of its servers, and to the orchestrator itself.
//!
//! A setting of the block becomes a variable that is put where none is set. Nothing touches the environment of this
//! process: the variables are kept beside it, and every setting is read through [`with_process_env`], so the
//! orchestrator sees what its children see.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use gym_telemetry_core::config::{ConfigError, MemoryProfilingConfig, Origin, TelemetryConfig};
use gym_telemetry_core::env::{self, ChildEnv, Setting};
use parking_lot::{Mutex, RwLock};

use crate::environment::{EnvSource, EnvValue, ProcessEnv, Source};
use crate::settings::{self, BOOLEAN_WORDS, Lookup, Protocol, SignalKind, parse_boolean};
use crate::warn::warn;

/// What was published in this process, beside its environment.
static PUBLISHED: RwLock<Option<Arc<Published>>> = RwLock::new(None);

/// Serialises publishing, so that two threads agree on one run id.
static PUBLISHING: Mutex<()> = Mutex::new(());

/// Hands the `telemetry:` block to the processes that this one is about to start, and to this one.
///
/// Call it once in the orchestrator, before `init_telemetry` and before any server starts,
/// and apply the result to each server's command. A variable that is already set wins over the block, so does a
/// `NEMO_LENS_*` variable; a blank one counts as unset. `None` as configuration stands for the defaults: telemetry is
/// then on if the environment says so.
///
/// Returns the run id and the variables to add to the environment of each child, or `None` when telemetry is off:
/// then there is nothing to add. A second call returns the same run id; what was handed over first stays.
#[must_use = "the children need these variables in their environment"]
pub fn configure_telemetry_env(config: Option<&TelemetryConfig>) -> Option<ChildEnv> {
    let default = TelemetryConfig::default();
    let config = config.unwrap_or(&default);
    let _publishing = PUBLISHING.lock();
    let before = PUBLISHED.read().clone();
    let env = Overlay {
        env: &ProcessEnv,
        published: before.as_deref(),
    };
    let plan = plan(config, &env, before.as_deref());
    for warning in &plan.warnings {
        warn(warning.clone(), warning);
    }
    let published = plan.published?;
    let child = published.child_env();
    *PUBLISHED.write() = Some(Arc::new(published));
    Some(child)
}

/// Whether telemetry is switched on for this process.
///
/// Cheap, and safe to ask before anything else: it looks at no more than the switch and starts nothing. A value of
/// the switch that is no boolean word counts as off here; `init_telemetry` warns about it.
#[must_use]
pub fn is_telemetry_env_enabled() -> bool {
    with_process_env(|env| is_switched_on(env, env::ENABLED, false))
}

/// Whether the metrics switch is on, which it is unless somebody switched it off.
///
/// This is the switch alone: ask [`is_telemetry_env_enabled`] as well to know whether metrics are exported.
#[must_use]
pub fn is_telemetry_metrics_enabled() -> bool {
    with_process_env(|env| is_switched_on(env, env::METRICS_ENABLED, true))
}

/// How memory is sampled in this process: its environment first, then what was handed over, then `defaults`.
///
/// # Errors
///
/// If a variable holds no boolean word or no interval above 0; the error names the variable.
pub fn memory_profiling_config_from_env(
    defaults: MemoryProfilingConfig,
) -> Result<MemoryProfilingConfig, ConfigError> {
    with_process_env(|env| settings::memory_profiling(&mut Lookup::new(env), defaults))
}

/// Runs `read` on the environment of this process with what was published beside it.
pub(crate) fn with_process_env<T>(read: impl FnOnce(&dyn EnvSource) -> T) -> T {
    let published = PUBLISHED.read().clone();
    read(&Overlay {
        env: &ProcessEnv,
        published: published.as_deref(),
    })
}

fn is_switched_on(env: &dyn EnvSource, setting: Setting, default: bool) -> bool {
    let sdk_disabled = env.text(env::OTEL_SDK_DISABLED);
    if sdk_disabled.is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return false;
    }
    let first = setting.names().find_map(|name| env.text(name));
    first.map_or(default, |text| parse_boolean(&text).unwrap_or(false))
}

/// The variables that were put where none was set.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    run_id: String,
    variables: BTreeMap<&'static str, Variable>,
}

#[derive(Clone)]
struct Variable {
    value: String,
    source: Source,
}

impl std::fmt::Debug for Variable {
    /// Leaves the value out: it may be a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Variable")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Published {
    fn child_env(&self) -> ChildEnv {
        let variables = self.variables.iter();
        ChildEnv::new(
            &*self.run_id,
            variables.map(|(name, variable)| (*name, &*variable.value)),
        )
    }
}

/// An environment with published variables where it has none.
pub(crate) struct Overlay<'a> {
    env: &'a dyn EnvSource,
    published: Option<&'a Published>,
}

impl Overlay<'_> {
    fn published(&self, name: &str) -> Option<&Variable> {
        let variable = self.published?.variables.get(name)?;
        matches!(self.env.value(name), EnvValue::Unset).then_some(variable)
    }
}

impl EnvSource for Overlay<'_> {
    fn raw(&self, name: &str) -> Option<OsString> {
        match self.published(name) {
            Some(variable) => Some(OsString::from(&variable.value)),
            None => self.env.raw(name),
        }
    }

    fn source(&self, name: &'static str) -> Source {
        match self.published(name) {
            Some(variable) => variable.source.clone(),
            None => self.env.source(name),
        }
    }
}

/// What publishing a block comes to.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Everything published so far and now; `None` when telemetry is off.
    pub(crate) published: Option<Published>,
    pub(crate) warnings: Vec<String>,
}

/// Decides what to publish of `config` in `env`, in which `before` is visible already.
pub(crate) fn plan(
    config: &TelemetryConfig,
    env: &dyn EnvSource,
    before: Option<&Published>,
) -> Plan {
    let mut lookup = Lookup::new(env);
    let mut publisher = Publisher {
        config,
        variables: before
            .map(|before| before.variables.clone())
            .unwrap_or_default(),
        lookup: &mut lookup,
    };
    publisher.warn_about_lens();
    let run_id = publisher.is_enabled().then(|| publisher.publish());
    let variables = std::mem::take(&mut publisher.variables);
    let (_, warnings) = lookup.finish();
    Plan {
        published: run_id.map(|run_id| Published { run_id, variables }),
        warnings,
    }
}

struct Publisher<'a, 'e> {
    config: &'a TelemetryConfig,
    variables: BTreeMap<&'static str, Variable>,
    lookup: &'a mut Lookup<'e>,
}

impl Publisher<'_, '_> {
    /// Whether telemetry is on after all, which the environment decides before the block does.
    fn is_enabled(&mut self) -> bool {
        if self.lookup.sdk_disabled() {
            return false;
        }
        match self.lookup.setting(env::ENABLED) {
            None => self.config.enabled,
            Some(found) => found.boolean().unwrap_or_else(|_| {
                self.lookup
                    .ignore(&found, BOOLEAN_WORDS, "telemetry is off");
                false
            }),
        }
    }

    /// Publishes every field and returns the run id.
    fn publish(&mut self) -> String {
        for field in fields(self.config) {
            // A selector of a single signal is more specific than the block's exporter.
            if field.setting != env::EXPORTER {
                self.setting(field.setting, field.name, &field.value);
            }
        }
        self.exporter();
        let config = self.config;
        let launch_names_service = self.launch_names_service();
        if !launch_names_service || self.is_explicit("service_name") {
            self.standard(env::OTEL_SERVICE_NAME, "service_name", &config.service_name);
        }
        for (name, field, value) in [
            (
                env::OTEL_EXPORTER_OTLP_ENDPOINT,
                "otlp_endpoint",
                &config.otlp_endpoint,
            ),
            (
                env::OTEL_EXPORTER_OTLP_HEADERS,
                "otlp_headers",
                &config.otlp_headers,
            ),
            (
                env::OTEL_EXPORTER_OTLP_PROTOCOL,
                "otlp_protocol",
                &config.otlp_protocol,
            ),
        ] {
            if let Some(value) = value {
                self.standard(name, field, value);
            }
        }
        self.protocols();
        self.run_id()
    }

    /// Says which values of the block a `NEMO_LENS_*` variable overrides, where it was set and differs.
    fn warn_about_lens(&mut self) {
        for field in fields(self.config) {
            let Some(lens) = field.setting.lens else {
                continue;
            };
            if !self.is_explicit(field.name) || self.lookup.variable(field.setting.gym).is_some() {
                continue;
            }
            let Some(found) = self.lookup.variable(lens) else {
                continue;
            };
            let equal = match (field.boolean, parse_boolean(&found.text)) {
                (Some(ours), Some(theirs)) => ours == theirs,
                (Some(_), None) => false,
                (None, _) => field.value.trim() == found.text,
            };
            if !equal {
                let source = self.source(field.name);
                self.lookup
                    .warn(format!("{source} is ignored because {lens} is set"));
            }
        }
    }

    /// Puts the gym's own variable of a setting, unless one of the setting's variables is set.
    fn setting(&mut self, setting: Setting, field: &'static str, value: &str) {
        if self.lookup.setting(setting).is_none() {
            self.put(setting.gym, value, self.source(field));
        }
    }

    fn standard(&mut self, name: &'static str, field: &'static str, value: &str) {
        if self.lookup.variable(name).is_none() {
            self.put(name, value, self.source(field));
        }
    }

    fn put(&mut self, name: &'static str, value: &str, source: Source) {
        if !value.trim().is_empty() {
            self.variables.insert(
                name,
                Variable {
                    value: value.to_owned(),
                    source,
                },
            );
        }
    }

    /// The exporter goes to all signals, or to those that name none of their own once one of them does.
    fn exporter(&mut self) {
        let value = &self.config.exporter;
        let own = SignalKind::ALL.map(|kind| self.lookup.variable(kind.exporter_variable()));
        if own.iter().all(Option::is_none) {
            self.setting(env::EXPORTER, "exporter", value);
        } else if self.lookup.setting(env::EXPORTER).is_none() {
            for kind in SignalKind::ALL {
                self.standard(kind.exporter_variable(), "exporter", value);
            }
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
                self.put(kind.protocol_variable(), &value, source.clone());
            }
        }
    }

    /// The id of the run: whoever named one, else the Slurm job, else a new one.
    fn run_id(&mut self) -> String {
        if let Some(found) = self.lookup.setting(env::RUN_ID) {
            return found.text;
        }
        let configured = self
            .config
            .run_id
            .as_deref()
            .map(str::trim)
            .filter(|id| !id.is_empty());
        let (id, source) = match configured {
            Some(id) => (id.to_owned(), self.source("run_id")),
            None => match self.lookup.variable(env::SLURM_JOB_ID) {
                Some(found) => (found.text, found.source),
                None => (crate::random::hex12(), Source::Generated),
            },
        };
        self.put(env::RUN_ID.gym, &id, source);
        id
    }

    /// Whether the launch environment names the service in its resource attributes.
    fn launch_names_service(&mut self) -> bool {
        settings::launch_attributes(self.lookup)
            .iter()
            .any(|(key, value)| {
                key == gym_telemetry_core::attribute::SERVICE_NAME && !value.trim().is_empty()
            })
    }

    fn is_explicit(&self, field: &str) -> bool {
        let default = TelemetryConfig::default();
        let differs = || {
            let value = |config| {
                fields(config)
                    .into_iter()
                    .find(|known| known.name == field)
                    .map(|known| known.value)
            };
            match field {
                "service_name" => self.config.service_name != default.service_name,
                _ => value(self.config) != value(&default),
            }
        };
        self.config.origin(field).is_some() || differs()
    }

    fn source(&self, field: &'static str) -> Source {
        let origin: Option<&Origin> = self.config.origin(field);
        if origin.is_none() && !self.is_explicit(field) {
            return Source::Default;
        }
        Source::Field {
            field,
            origin: origin.cloned(),
        }
    }
}

/// A field of the block that has a variable of the gym's own.
struct Field {
    name: &'static str,
    setting: Setting,
    value: String,
    boolean: Option<bool>,
}

/// The fields that have a variable of the gym's own, as they are published.
fn fields(config: &TelemetryConfig) -> Vec<Field> {
    let boolean = |name, setting, value: bool| Field {
        name,
        setting,
        value: u8::from(value).to_string(),
        boolean: Some(value),
    };
    let text = |name, setting, value: String| Field {
        name,
        setting,
        value,
        boolean: None,
    };
    let memory = &config.memory_profiling;
    vec![
        boolean("enabled", env::ENABLED, config.enabled),
        text("exporter", env::EXPORTER, config.exporter.clone()),
        text("span_groups", env::SPAN_GROUPS, config.span_groups.clone()),
        boolean("traces_enabled", env::TRACES_ENABLED, config.traces_enabled),
        boolean(
            "metrics_enabled",
            env::METRICS_ENABLED,
            config.metrics_enabled,
        ),
        boolean("logs_enabled", env::LOGS_ENABLED, config.logs_enabled),
        boolean(
            "service_name_per_server",
            env::SERVICE_NAME_PER_SERVER,
            config.service_name_per_server,
        ),
        boolean(
            "instrument_aiohttp",
            env::INSTRUMENT_AIOHTTP,
            config.instrument_aiohttp,
        ),
        boolean(
            "memory_profiling.enabled",
            env::MEMORY_PROFILING_ENABLED,
            memory.enabled,
        ),
        text(
            "memory_profiling.interval_seconds",
            env::MEMORY_PROFILING_INTERVAL_SECONDS,
            format!("{:?}", memory.interval_seconds),
        ),
        text(
            "sandbox_resource_sample_interval_seconds",
            env::SANDBOX_RESOURCE_SAMPLE_INTERVAL_SECONDS,
            format!("{:?}", config.sandbox_resource_sample_interval_seconds),
        ),
    ]
}
