//! `gym-demo doctor`: what the settings amount to, what is suspicious, and whether the endpoints answer.

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::PathBuf;

use clap::Args;
use gym_telemetry_api::{
    EffectiveConfig, TELEMETRY_COMPILED_IN, configure_telemetry_env, effective_config,
    load_telemetry_config, probe_telemetry,
};
use gym_telemetry_core::ConfigSource;
use gym_telemetry_core::config::{
    Finding, FindingKind, Origin, ProbeOutcome, ProbeReport, SettingSource, Severity,
};
use serde_json::{Value, json};

/// `gym-demo doctor`
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// YAML, TOML or JSON file with a `telemetry` block [default: the environment alone]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Prints one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Prints the report. It succeeds if nothing is wrong and every endpoint that was asked has answered.
///
/// # Errors
///
/// A finding that is an error, an endpoint that refuses a test item, or standard output that cannot be written to.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<(), String> {
    let report = Report::make(args);
    let text = if args.json {
        format!("{:#}\n", report.to_json())
    } else {
        report.to_text()
    };
    stdout()
        .write_all(text.as_bytes())
        .map_err(|error| format!("cannot print: {error}"))?;
    match report.faults() {
        0 => Ok(()),
        1 => Err("telemetry has 1 fault".to_owned()),
        count => Err(format!("telemetry has {count} faults")),
    }
}

struct Report {
    config: EffectiveConfig,
    probes: Vec<ProbeReport>,
}

impl Report {
    fn make(args: &DoctorArgs) -> Self {
        if !TELEMETRY_COMPILED_IN {
            return Self::of_fault(
                "telemetry is not compiled in: build with `--features telemetry`",
            );
        }
        let source = args.config.as_deref().map(ConfigSource::path);
        match source.as_ref().map(load_telemetry_config).transpose() {
            Err(error) => Self::of_fault(error.to_string()),
            Ok(config) => {
                // Only what it leaves behind for this process matters here.
                drop(configure_telemetry_env(config.as_ref()));
                Self {
                    config: effective_config(),
                    probes: probe_telemetry(),
                }
            }
        }
    }

    fn of_fault(message: impl Into<String>) -> Self {
        let mut config = EffectiveConfig::default();
        config
            .findings
            .push(Finding::new(FindingKind::Refused, message));
        Self {
            config,
            probes: Vec::new(),
        }
    }

    fn faults(&self) -> usize {
        let is_error = |finding: &&Finding| finding.severity == Severity::Error;
        let failed = |probe: &&ProbeReport| matches!(probe.outcome, ProbeOutcome::Failed(_));
        self.config.findings.iter().filter(is_error).count()
            + self.probes.iter().filter(failed).count()
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "telemetry is {}\n",
            if self.config.is_enabled { "on" } else { "off" }
        );
        let settings = &self.config.settings;
        let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0).min(48);
        let names = width(&mut settings.iter().map(|setting| setting.name.len()));
        let values = width(&mut settings.iter().map(|setting| setting.value.len()));
        if !settings.is_empty() {
            text.push_str("\nsettings\n");
        }
        for setting in settings {
            let (name, value, source) = (&setting.name, &setting.value, &setting.source);
            let value = if value.is_empty() { "-" } else { value };
            line(
                &mut text,
                format_args!("  {name:names$}  {value:values$}  {source}"),
            );
            for overridden in &setting.overrides {
                let (value, source) = (&overridden.value, &overridden.source);
                line(
                    &mut text,
                    format_args!("  {:names$}  overrides {value} of {source}", ""),
                );
            }
        }
        if !self.config.findings.is_empty() {
            text.push_str("\nfindings\n");
        }
        for finding in &self.config.findings {
            let severity = finding.severity.as_str();
            line(
                &mut text,
                format_args!("  {severity:8} {}", finding.message),
            );
        }
        if !self.probes.is_empty() {
            text.push_str("\nendpoints\n");
        }
        for probe in &self.probes {
            let (outcome, detail) = parts(&probe.outcome);
            let destination = &probe.destination;
            let separator = if detail.is_empty() { "" } else { ": " };
            line(
                &mut text,
                format_args!(
                    "  {:8} {outcome}{separator}{detail} {destination}",
                    probe.signal
                ),
            );
        }
        text
    }

    fn to_json(&self) -> Value {
        let settings: Vec<_> = self
            .config
            .settings
            .iter()
            .map(|setting| {
                let overrides = setting.overrides.iter().map(|overridden| {
                    json!({
                        "value": overridden.value,
                        "source": source(&overridden.source),
                    })
                });
                json!({
                    "name": setting.name,
                    "value": setting.value,
                    "source": source(&setting.source),
                    "overrides": overrides.collect::<Vec<_>>(),
                })
            })
            .collect();
        let findings = self.config.findings.iter().map(|finding| {
            json!({
                "severity": finding.severity.as_str(),
                "kind": finding.kind.as_str(),
                "message": finding.message,
            })
        });
        let endpoints = self.probes.iter().map(|probe| {
            let (outcome, detail) = parts(&probe.outcome);
            json!({
                "signal": probe.signal,
                "destination": probe.destination,
                "outcome": outcome.replace(' ', "_"),
                "detail": detail,
            })
        });
        json!({
            "enabled": self.config.is_enabled,
            "settings": settings,
            "findings": findings.collect::<Vec<_>>(),
            "endpoints": endpoints.collect::<Vec<_>>(),
        })
    }
}

/// Adds a line without white space at its end; writing to a string cannot fail.
fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let start = text.len();
    _ = text.write_fmt(line);
    let end = start + text[start..].trim_end().len();
    text.truncate(end);
    text.push('\n');
}

fn source(source: &SettingSource) -> Value {
    match source {
        SettingSource::Variable(name) => json!({ "kind": "variable", "name": name }),
        SettingSource::Field { field, origin } => {
            let file = origin.as_ref().and_then(|origin| origin.path());
            json!({
                "kind": "field",
                "name": field,
                "file": file.map(|file| file.to_string_lossy()),
                "line": origin.as_ref().and_then(Origin::line),
            })
        }
        other => json!({ "kind": other.to_string() }),
    }
}

/// One word and a sentence.
fn parts(outcome: &ProbeOutcome) -> (&'static str, &str) {
    match outcome {
        ProbeOutcome::Accepted(remark) => ("accepted", remark.as_deref().unwrap_or_default()),
        ProbeOutcome::Failed(reason) => ("failed", reason),
        ProbeOutcome::NotSent(reason) => ("not sent", reason),
        _ => ("unknown", ""),
    }
}
