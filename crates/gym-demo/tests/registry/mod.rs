//! Whether the registry of names tells the truth: what a run exports is in it, and what is in it is exported.

mod elsewhere;
mod findings;
mod sandboxes;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gym_telemetry_core::registry::METRICS;

use self::findings::{Entry, Findings, Registry};
use super::collector::{Collector, Received};
use super::support::run::Run;

/// Everything on, each export through the collector.
const CONFIG: &str = "\
telemetry:
  enabled: true
  span_groups: all
  logs_enabled: true
  memory_profiling:
    enabled: true
    interval_seconds: 0.05
  sandbox_resource_sample_interval_seconds: 0.02
";

/// One question for each API of the model.
const TASKS: &str = r#"
{"responses_create_params":{"input":"What is the weather in Oslo?"},"verifier_metadata":{"city":"Oslo"}}
{"responses_create_params":{"input":"What is the weather in Lima?"},"model_api":"chat_completions"}
{"responses_create_params":{"input":"What is the weather in Bonn?"},"model_api":"messages"}
"#;

/// Where a process is said to run, so that its resource says all that there is; and how often it exports.
const SURROUNDINGS: &[(&str, &str)] = &[
    ("CUDA_VISIBLE_DEVICES", "0,1"),
    ("DEPLOYMENT_ENV", "tests"),
    ("K8S_CONTAINER_NAME", "gym"),
    ("K8S_JOB_NAME", "train"),
    ("K8S_NAMESPACE", "rl"),
    ("K8S_NODE_NAME", "node-1"),
    ("K8S_POD_NAME", "gym-0"),
    ("K8S_POD_UID", "0a"),
    ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
    ("NEMO_LENS_USER_ID", "somebody"),
    ("OTEL_METRIC_EXPORT_INTERVAL", "50"),
    ("SLURM_CLUSTER_NAME", "cluster"),
    ("SLURM_JOB_ID", "42"),
    ("SLURM_JOB_NAME", "train"),
    ("SLURM_JOB_NODELIST", "node-[1-2]"),
    ("SLURM_JOB_NUM_NODES", "2"),
    ("SLURM_JOB_PARTITION", "gpu"),
    ("SLURM_NNODES", "2"),
    ("SLURM_NODELIST", "node-[1-2]"),
    ("SLURM_NTASKS", "2"),
    ("WANDB_ENTITY", "entity"),
    ("WANDB_PROJECT", "project"),
];

/// Entries that neither a run nor a test of another crate exports.
fn forgotten(registry: &Registry, met: &BTreeSet<Entry>) -> BTreeSet<Entry> {
    let elsewhere = elsewhere::all();
    let entries = registry.entries.iter().copied();
    entries
        .filter(|entry| !met.contains(entry) && !elsewhere.contains(entry))
        .collect()
}

#[test]
fn what_runs_export_and_what_the_registry_says_are_one() {
    let received = everything();
    let registry = Registry::whole();
    let Findings { wrong, met } = Findings::of(&received, &registry);
    assert_eq!(wrong, BTreeSet::new());
    assert_eq!(
        forgotten(&registry, &met),
        BTreeSet::new(),
        "nothing exports them"
    );
    let elsewhere = elsewhere::all();
    assert_eq!(
        elsewhere
            .iter()
            .filter(|entry| met.contains(entry) && !elsewhere::depends_on_the_machine(**entry))
            .collect::<Vec<_>>(),
        Vec::<&Entry>::new(),
        "the demo exports them itself"
    );

    // Both directions fail where one side lacks or invents something.
    let none = Registry {
        entries: BTreeSet::new(),
    };
    let missed = Findings::of(&received, &none).wrong;
    for entry in &met {
        let complaint = match entry {
            (place, "") => format!("{place} is not registered"),
            (place, key) => format!("attribute {key} of {place} is not registered there"),
        };
        assert!(missed.contains(&complaint), "nobody says: {complaint}");
        let mut others = met.clone();
        others.remove(entry);
        if !elsewhere.contains(entry) {
            assert_eq!(
                forgotten(&registry, &others),
                BTreeSet::from([*entry]),
                "it is not missed in the run"
            );
        }
    }
    for invented in [
        ("gym.sandbox.stop", "error.type"),
        (
            "gym.sandbox.resource.allocation",
            "nemo.gym.sandbox.allocation.bogus",
        ),
    ] {
        let mut more = registry.clone();
        assert!(more.entries.insert(invented), "{invented:?}");
        assert_eq!(forgotten(&more, &met), BTreeSet::from([invented]));
    }
}

/// What a run that succeeds and one that fails export.
fn everything() -> Received {
    let collector = Collector::start();
    let run = |arguments: &[&str]| {
        let run = Run::new()
            .file("gym.yaml", CONFIG)
            .file("tasks.jsonl", TASKS)
            .args(["--config", "gym.yaml", "--tasks", "tasks.jsonl"])
            .args(arguments)
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint());
        SURROUNDINGS
            .iter()
            .fold(run, |run, (name, value)| run.env(name, value))
            .finish()
    };
    // Long enough for exports while there are sandboxes: their gauges end with them.
    run(&[
        "--rollouts",
        "6",
        "--parallel",
        "3",
        "--upstream-requests",
        "2",
        "--model-latency",
        "150",
    ])
    .succeeded();
    // No generation gives its slot back: rollouts are dropped, with errors on their spans.
    let failed = run(&[
        "--rollouts",
        "3",
        "--model-slots",
        "2",
        "--model-leaks",
        "2",
        "--model-slot-timeout",
        "50",
    ]);
    assert_eq!(failed.code(), Some(1), "{}", failed.stderr());

    collector.received()
}

#[test]
fn every_test_that_stands_in_for_the_demo_runs_and_looks_at_what_it_stands_for() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |file: &str| {
        fs::read_to_string(crates.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let registry = Registry::whole();
    for entry in elsewhere::all() {
        assert!(registry.entries.contains(&entry), "{entry:?} is no entry");
    }
    for ((place, key), mark, file, test) in elsewhere::BY_NAME {
        let text = read(file);
        let code = code_of(&text, test).unwrap_or_else(|wrong| panic!("{file}: {wrong}"));
        assert!(has_word(code, mark), "{test} does not look at {mark}");
        if METRICS.iter().any(|metric| metric.name == *place) {
            assert!(has_word(code, place), "{test} does not look at {place}");
        }
        // The mark is the name itself, or the constant that has it.
        let name = if key.is_empty() { place } else { key };
        assert!(
            mark == name || constant(read, mark) == *name,
            "{mark} is not {name}"
        );
    }
    // This one compares for itself what it exports.
    let text = read("gym-sandbox-obs/tests/export/main.rs");
    let code = code_of(&text, "a_collector_receives_the_life_of_each_sandbox");
    assert!(code.expect("it runs").contains("run.end();"));
    assert!(read("gym-sandbox-obs/tests/export/run.rs").contains("in BY_SANDBOX_TESTS"));
}

/// The text of a test that runs.
fn code_of<'a>(file: &'a str, test: &str) -> Result<&'a str, String> {
    let (before, after) = file
        .split_once(&format!("fn {test}("))
        .ok_or_else(|| format!("there is no {test}"))?;
    let (before, _) = before.rsplit_once('\n').unwrap_or_default();
    let attributes = before.lines().rev();
    let attributes = attributes.take_while(|line| line.trim_start().starts_with(['#', '/']));
    let attributes: Vec<_> = attributes.map(str::trim).collect();
    let is_test = |line: &&str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    if !attributes.iter().any(is_test) {
        return Err(format!("{test} is no test"));
    }
    let is_off = |line: &&str| line.starts_with("#[ignore") || line.starts_with("#[cfg");
    if attributes.iter().any(is_off) {
        return Err(format!("{test} does not run"));
    }
    Ok(after.split_once("\n}\n").map_or(after, |(code, _)| code))
}

/// Whether a name is there that is no part of a longer one.
fn has_word(code: &str, name: &str) -> bool {
    let is_part = |next: char| next.is_alphanumeric() || ['_', '.'].contains(&next);
    let lines = code.lines();
    lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split(name).skip(1))
        .any(|rest| !rest.starts_with(is_part))
}

/// The text that a constant of the vocabulary stands for, such as `attribute::HTTP_ROUTE`.
fn constant(read: impl Fn(&str) -> String, path: &str) -> String {
    let (module, name) = path.split_once("::").unwrap_or_default();
    let text = read(&format!("gym-telemetry-core/src/{module}.rs"));
    let value = text.split_once(&format!("const {name}: &str = \""));
    let value = value.and_then(|(_, rest)| rest.split_once('"'));
    value.map(|(value, _)| value.to_owned()).unwrap_or_default()
}

#[test]
fn a_test_that_is_missing_or_does_not_run_stands_in_for_nothing() {
    let runs = "/// Says.\n#[test]\nfn it() {\n    look();\n}\nfn other() {}\n";
    assert_eq!(code_of(runs, "it"), Ok(") {\n    look();"));
    for text in [
        "#[test]\n#[ignore = \"slow\"]\nfn it() {}\n",
        "#[cfg(any())]\n#[test]\nfn it() {}\n",
        "#[test]\nfn other() {}\nfn it() {}\n",
        "#[test]\nfn it_too() {}\n",
    ] {
        assert!(code_of(text, "it").is_err(), "{text}");
    }
    assert!(has_word("the(\"a.b\")", "a.b"));
    for code in ["the(\"a.b.c\")", "the(\"a.b_c\")", "// a.b"] {
        assert!(!has_word(code, "a.b"), "{code}");
    }
}
