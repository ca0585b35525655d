use super::*;
use crate::test_env::Vars;

struct Fake {
    host: Option<&'static str>,
    pod: bool,
    gpus: Option<i64>,
}

const HERE: Fake = Fake {
    host: Some("node1"),
    pod: false,
    gpus: Some(8),
};

impl Machine for Fake {
    fn host_name(&self) -> Option<String> {
        self.host.map(str::to_owned)
    }

    fn process_id(&self) -> u32 {
        7
    }

    fn is_pod(&self) -> bool {
        self.pod
    }

    fn gpu_count(&self) -> Option<i64> {
        self.gpus
    }
}

/// The attributes as text, a number with its type.
fn attributes(
    machine: &Fake,
    vars: &[(&str, &str)],
    identity: &ServerIdentity,
) -> BTreeMap<String, String> {
    let env = Vars::new(vars).with("NEMO_GYM_OTEL_ENABLED", "1");
    let settings = Settings::resolve(&env).expect("valid").expect("on");
    let resource = detect_on(machine, &env, &settings, identity);
    assert_eq!(resource.schema_url(), None);
    resource
        .iter()
        .map(|(key, value)| {
            let text = match value {
                Value::String(text) => text.to_string(),
                other => format!("{other:?}"),
            };
            (key.to_string(), text)
        })
        .collect()
}

fn plain(vars: &[(&str, &str)]) -> BTreeMap<String, String> {
    attributes(&HERE, vars, &ServerIdentity::default())
}

/// Asserts the values of some keys; an empty value stands for an absent key.
fn assert_has(actual: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    for (key, value) in expected {
        assert_eq!(
            actual.get(*key).map_or("", |text| text),
            *value,
            "{key} in {actual:#?}"
        );
    }
}

#[test]
fn a_process_without_a_name_says_what_it_knows() {
    let actual = plain(&[]);
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        ("host.gpu.count", "I64(8)"),
        ("host.name", "node1"),
        ("nemo.gym.service_group", "nemo-gym"),
        ("nemo.gym.version", version),
        ("nv.dl.rank", "I64(0)"),
        ("nv.dl.world_size", "I64(1)"),
        ("process.pid", "I64(7)"),
        ("service.name", "nemo-gym"),
        ("service.version", version),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.name", "opentelemetry"),
    ];
    assert_has(&actual, &expected);
    let others: Vec<_> = actual
        .keys()
        .filter(|key| !expected.iter().any(|(known, _)| known == key))
        .collect();
    assert_eq!(others, ["telemetry.sdk.version"]);
}

#[test]
fn a_server_appends_its_name_and_keeps_the_group() {
    let identity = ServerIdentity::builder()
        .server_name("policy_model")
        .server_type(ServerType::ResponsesApiModels)
        .build();
    let actual = attributes(&HERE, &[("OTEL_SERVICE_NAME", "run")], &identity);
    assert_has(
        &actual,
        &[
            ("service.name", "run/policy_model"),
            ("nemo.gym.service_group", "run"),
            ("nemo.gym.server.name", "policy_model"),
            ("nemo.gym.server.type", "responses_api_models"),
        ],
    );
    let vars = [("NEMO_GYM_OTEL_SERVICE_NAME_PER_SERVER", "0")];
    let actual = attributes(&HERE, &vars, &identity);
    assert_has(
        &actual,
        &[
            ("service.name", "nemo-gym"),
            ("nemo.gym.service_group", "nemo-gym"),
        ],
    );
    let orchestrator = ServerIdentity::builder()
        .server_type(ServerType::Orchestrator)
        .build();
    let actual = attributes(&HERE, &[], &orchestrator);
    assert_has(
        &actual,
        &[
            ("service.name", "nemo-gym"),
            ("nemo.gym.server.type", "orchestrator"),
            ("nemo.gym.server.name", ""),
        ],
    );
}

#[test]
fn an_instance_is_named_after_its_run_and_is_the_only_one_of_that_name() {
    let identity = ServerIdentity::builder().server_name("agent").build();
    let vars = [("NEMO_GYM_OTEL_RUN_ID", "2f1c")];
    let first = attributes(&HERE, &vars, &identity);
    let id = &first["service.instance.id"];
    let random = id
        .strip_prefix("2f1c-rank0-agent-node1-7-")
        .unwrap_or_else(|| panic!("{id}"));
    assert!(
        random.len() == 8 && random.chars().all(|c| c.is_ascii_hexdigit()),
        "{id}"
    );
    assert_eq!(first["nemo.run.id"], "2f1c");
    let second = attributes(&HERE, &vars, &identity);
    assert_ne!(
        second["service.instance.id"], *id,
        "a replica on an equal machine"
    );
    let nameless = Fake { host: None, ..HERE };
    let actual = attributes(&nameless, &vars, &ServerIdentity::default());
    assert!(actual["service.instance.id"].starts_with("2f1c-rank0-7-"));
}

#[test]
fn labels_come_from_the_environment_and_blank_ones_are_absent() {
    let actual = plain(&[
        ("NEMO_LENS_USER_ID", "kim"),
        ("DEPLOYMENT_ENV", "staging"),
        ("ENVIRONMENT", "production"),
        ("WANDB_ENTITY", "team"),
        ("WANDB_PROJECT", " "),
    ]);
    assert_has(
        &actual,
        &[
            ("nemo.user.id", "kim"),
            ("deployment.environment", "staging"),
            ("wandb.entity", "team"),
            ("wandb.project", ""),
        ],
    );
    let actual = plain(&[("DEPLOYMENT_ENV", ""), ("ENVIRONMENT", "production")]);
    assert_has(&actual, &[("deployment.environment", "production")]);
}

#[test]
fn slurm_speaks_only_inside_a_job() {
    let rest = [
        ("SLURM_JOB_NAME", "train"),
        ("SLURM_NODELIST", "n[1-2]"),
        ("SLURM_NNODES", "2"),
        ("SLURM_NTASKS", "16"),
        ("SLURM_JOB_PARTITION", "batch"),
        ("SLURM_CLUSTER_NAME", ""),
    ];
    let actual = plain(&rest);
    assert!(
        !actual.keys().any(|key| key.starts_with("slurm.")),
        "{actual:#?}"
    );
    let mut vars = rest.to_vec();
    vars.push(("SLURM_JOB_ID", "4242"));
    assert_has(
        &plain(&vars),
        &[
            ("slurm.job.id", "4242"),
            ("slurm.job.name", "train"),
            ("slurm.nodelist", "n[1-2]"),
            ("slurm.nnodes", "2"),
            ("slurm.ntasks", "16"),
            ("slurm.partition", "batch"),
            ("slurm.cluster.name", ""),
            ("nemo.run.id", "4242"),
        ],
    );
}

#[test]
fn kubernetes_speaks_in_a_pod_told_by_variable_or_by_its_files() {
    let rest = [
        ("K8S_NAMESPACE", "gym"),
        ("HOSTNAME", "pod-1"),
        ("K8S_POD_UID", "u"),
        ("K8S_NODE_NAME", "n"),
        ("K8S_CONTAINER_NAME", "c"),
        ("K8S_JOB_NAME", "j"),
    ];
    let expected = [
        ("k8s.namespace.name", "gym"),
        ("k8s.pod.name", "pod-1"),
        ("k8s.pod.uid", "u"),
        ("k8s.node.name", "n"),
        ("k8s.container.name", "c"),
        ("k8s.job.name", "j"),
    ];
    let actual = plain(&rest);
    assert!(
        !actual.keys().any(|key| key.starts_with("k8s.")),
        "{actual:#?}"
    );
    let mut vars = rest.to_vec();
    vars.push(("KUBERNETES_SERVICE_HOST", "10.0.0.1"));
    assert_has(&plain(&vars), &expected);
    let pod = Fake { pod: true, ..HERE };
    assert_has(
        &attributes(&pod, &rest, &ServerIdentity::default()),
        &expected,
    );
    vars.push(("K8S_POD_NAME", "named"));
    assert_has(&plain(&vars), &[("k8s.pod.name", "named")]);
}

#[test]
fn gpus_are_counted_as_far_as_they_are_visible() {
    for (visible, count) in [
        ("", "I64(0)"),
        (" ", "I64(0)"),
        ("0", "I64(1)"),
        ("0,1, 2", "I64(3)"),
    ] {
        let actual = plain(&[("CUDA_VISIBLE_DEVICES", visible)]);
        assert_has(&actual, &[("host.gpu.count", count)]);
    }
    let blind = Fake { gpus: None, ..HERE };
    let actual = attributes(&blind, &[], &ServerIdentity::default());
    assert_has(&actual, &[("host.gpu.count", "")]);
}

#[test]
fn the_list_of_gpus_is_asked_for_only_when_nothing_else_tells() {
    struct Untouchable;

    impl Machine for Untouchable {
        fn host_name(&self) -> Option<String> {
            None
        }

        fn process_id(&self) -> u32 {
            7
        }

        fn is_pod(&self) -> bool {
            false
        }

        fn gpu_count(&self) -> Option<i64> {
            panic!("the variable tells")
        }
    }

    let env = Vars::new(&[
        ("NEMO_GYM_OTEL_ENABLED", "1"),
        ("CUDA_VISIBLE_DEVICES", "0,1"),
    ]);
    let settings = Settings::resolve(&env).expect("valid").expect("on");
    let resource = detect_on(&Untouchable, &env, &settings, &ServerIdentity::default());
    assert_eq!(
        resource.get(&Key::from_static_str("host.gpu.count")),
        Some(2_i64.into())
    );
}

#[test]
fn the_caller_beats_built_in_values_and_the_launch_beats_the_caller() {
    let identity = ServerIdentity::builder()
        .resource_attribute("service.version", "1.2")
        .resource_attribute("team", "rl")
        .resource_attribute("size", 3)
        .resource_attribute("share", 0.5)
        .resource_attribute("flag", true)
        .resource_attribute("both", "caller")
        .resource_attribute("host.name", "caller")
        .build();
    let launch = "both=launch,nemo.gym.version=9,k8s.pod.name=real,host.name=launch,process.pid=1,host.gpu.count=99,\
                  service.instance.id=mine,nemo.run.id=mine,service.name=launched";
    let vars = [
        ("OTEL_RESOURCE_ATTRIBUTES", launch),
        ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
        ("K8S_POD_NAME", "guess"),
        ("NEMO_LENS_RUN_ID", "r"),
    ];
    let blind = Fake { gpus: None, ..HERE };
    let actual = attributes(&blind, &vars, &identity);
    assert_has(
        &actual,
        &[
            ("service.version", "1.2"),
            ("team", "rl"),
            ("size", "I64(3)"),
            ("share", "F64(0.5)"),
            ("flag", "Bool(true)"),
            ("both", "launch"),
            ("nemo.gym.version", "9"),
            ("k8s.pod.name", "real"),
            ("host.name", "node1"),
            ("process.pid", "I64(7)"),
            ("host.gpu.count", ""),
            ("nemo.run.id", "r"),
            ("service.name", "launched"),
            ("nemo.gym.service_group", "launched"),
        ],
    );
    assert!(actual["service.instance.id"].starts_with("r-rank0-node1-7-"));
}

#[test]
fn a_rank_of_the_launch_counts_under_either_name() {
    for (launch, rank) in [("dl.rank=3", 3), ("nv.dl.rank=4", 4), ("nv.dl.rank=x", 0)] {
        let actual = plain(&[
            ("OTEL_RESOURCE_ATTRIBUTES", launch),
            ("NEMO_LENS_RUN_ID", "r"),
        ]);
        assert_has(
            &actual,
            &[("nv.dl.rank", &format!("I64({rank})")), ("dl.rank", "")],
        );
        assert!(
            actual["service.instance.id"].starts_with(&format!("r-rank{rank}-")),
            "{launch}"
        );
    }
}
