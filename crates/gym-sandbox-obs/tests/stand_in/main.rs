//! The reader against a stand-in: OpenSandbox's own control plane over made-up pods and containers, and a server like
//! the one inside a sandbox, with all the faults that either can have.

mod stand;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gym_sandbox_obs::opensandbox::{OpenSandbox, inspect};
use gym_sandbox_obs::{
    Allocation, Designator, Host, HostKind, ResourceReader, Sample, Unavailable,
};
use serde_json::Value;
use stand::{Runtime, Stand};
use tokio::task::JoinSet;

/// What the sampler gives a reading.
const BOUND: Duration = Duration::from_secs(2);
/// A sandbox without any oddity.
const PLAIN: &str = "k8s_one_container";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The names of the made-up sandboxes of a kind.
fn names(kind: &str) -> Vec<String> {
    let entries = fs::read_dir(fixtures().join("inspect/src")).expect("the fixtures are there");
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(&format!(".{kind}.json"))?.to_owned())
    };
    entries.filter_map(Result::ok).filter_map(name).collect()
}

async fn allocation(sandboxes: &OpenSandbox, id: &str) -> Result<Allocation, Unavailable> {
    let reader = sandboxes.reader(id);
    let read = tokio::time::timeout(BOUND, reader.allocation()).await;
    read.unwrap_or(Err(Unavailable::Timeout))
}

async fn sample(sandboxes: &OpenSandbox, id: &str) -> Result<Sample, Unavailable> {
    let reader = sandboxes.reader(id);
    // As the sampler does: where to ask is known before the reading begins.
    let prepared = tokio::time::timeout(BOUND * 5, reader.prepare()).await;
    prepared.unwrap_or(Err(Unavailable::Timeout))?;
    let read = tokio::time::timeout(BOUND, reader.sample()).await;
    read.unwrap_or(Err(Unavailable::Timeout))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_inspection_of_the_real_server_is_read_as_its_text() {
    for (runtime, kind) in [(Runtime::Kubernetes, "pod"), (Runtime::Docker, "container")] {
        let Some(stand) = Stand::start(runtime) else {
            return;
        };
        let sandboxes = stand.sandboxes(false);
        let names = names(kind);
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            let text = fs::read_to_string(fixtures().join(format!("inspect/cases/{name}.txt")))
                .expect("the text of each sandbox is there");
            let scope = || stand.control_plane().to_owned();
            let expected = inspect::parse(&text).map(|inspection| Allocation {
                components: inspection.components,
                designator: inspection.designator.map(|(kind, id)| Designator {
                    kind,
                    scope: scope(),
                    id,
                }),
                host: inspection.node.map(|id| Host {
                    kind: HostKind::KubernetesNode,
                    scope: scope(),
                    id,
                }),
            });
            // The real server answers while others work, too: once more, if it was late.
            let mut found = allocation(&sandboxes, &name).await;
            if found == Err(Unavailable::Timeout) {
                found = allocation(&sandboxes, &name).await;
            }
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// What `faults.json` says of one fault, in the words of the wire.
fn expected(case: &Value, of_sample: bool) -> Option<String> {
    let kind = case["error"]["kind"].as_str()?;
    Some(match kind {
        "malformed" | "protocol" | "unrecognized" if of_sample => "malformed_reading".to_owned(),
        "malformed" | "protocol" | "unrecognized" => "unrecognized_response".to_owned(),
        "no_supported_quantity" => "no_supported_resources".to_owned(),
        same => same.to_owned(),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_ends_in_its_error_type_and_never_in_a_zero() {
    let Some(stand) = Stand::start(Runtime::Kubernetes) else {
        return;
    };
    let faults = fs::read_to_string(fixtures().join("faults.json")).expect("readable");
    let faults: BTreeMap<String, Value> = serde_json::from_str(&faults).expect("JSON");
    let (control_plane, signpost) = (stand.sandboxes(false), stand.signpost().sandboxes());
    let mut wrong = Vec::new();
    for part in ["inspect", "execd"] {
        let of_sample = part == "execd";
        let sandboxes = if of_sample { &signpost } else { &control_plane };
        let cases = faults[part].as_object().expect("an object");
        // A few at a time: the real server shares its processors with whatever else runs.
        let mut cases = cases.clone().into_iter();
        let mut readings = JoinSet::new();
        loop {
            while readings.len() < 6
                && let Some((fault, case)) = cases.next()
            {
                readings.spawn(judge(sandboxes.clone(), fault, case, of_sample));
            }
            let Some(outcome) = readings.join_next().await else {
                break;
            };
            wrong.extend(outcome.expect("no reading panics"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What is wrong with what is read under a fault.
async fn judge(
    sandboxes: OpenSandbox,
    fault: String,
    case: Value,
    of_sample: bool,
) -> Option<String> {
    let expected = expected(&case, of_sample);
    let mut found = None;
    // On a busy machine an answer may come too late that is good otherwise.
    for _ in 0..3 {
        found = error_type(&sandboxes, &fault, of_sample).await;
        if found.as_deref() != Some("timeout") || found == expected {
            break;
        }
    }
    let is_tolerated = match fault.as_str() {
        // A field that nobody reads may hold anything.
        "notutf8" => of_sample && found.is_none(),
        // Whichever bound is met first.
        "endless" => found.as_deref() == Some("too_large"),
        _ => false,
    };
    (found != expected && !is_tolerated).then(|| format!("{fault}: {found:?}, not {expected:?}"))
}

async fn error_type(sandboxes: &OpenSandbox, fault: &str, of_sample: bool) -> Option<String> {
    let error = if of_sample {
        let sample = sample(sandboxes, fault).await;
        if let Ok(sample) = &sample {
            let is_said = sample.timestamp_ms.is_some()
                && sample.cpu_count.is_some_and(|cpus| cpus > 0.0)
                && sample.memory_total_mib.is_some_and(|total| total > 0.0);
            assert!(is_said, "{fault}: {sample:?}");
        }
        sample.err()
    } else {
        allocation(sandboxes, &format!("{fault}~{PLAIN}"))
            .await
            .err()
    };
    error.map(|error| error.error_type().into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_api_key_goes_to_the_control_plane_alone() {
    let Some(stand) = Stand::start(Runtime::Kubernetes) else {
        return;
    };
    let (direct, proxied) = (stand.sandboxes(false), stand.sandboxes(true));
    let direct_sample = sample(&direct, PLAIN).await;
    assert!(direct_sample.is_ok(), "{direct_sample:?}");
    assert!(allocation(&direct, PLAIN).await.is_ok());
    let at_sandbox = stand.requests_of_execd();
    assert!(!at_sandbox.is_empty());
    for request in &at_sandbox {
        assert!(!request.to_string().contains(stand::API_KEY), "{request}");
        assert_eq!(request["headers"]["opensandbox-access-renew"], "skip");
    }
    // A sandbox with secure access is reached only with the header that the control plane named.
    let secure = format!("secure~{PLAIN}");
    let through_proxy = sample(&proxied, &secure).await;
    assert!(through_proxy.is_ok(), "{through_proxy:?}");
    let proxied: Vec<_> = stand
        .requests_of_control_plane()
        .into_iter()
        .filter(|request| {
            request["path"]
                .as_str()
                .is_some_and(|path| path.contains("/proxy/"))
        })
        .collect();
    assert!(!proxied.is_empty());
    for request in &proxied {
        assert_eq!(
            request["headers"]["opensandbox-secure-access"],
            "stand-secure-token"
        );
        assert_eq!(request["headers"]["opensandbox-access-renew"], "skip");
    }
    let secrets = [stand::API_KEY, "stand-secure-token"];
    let reader = stand.sandboxes(true).reader(secure);
    assert!(reader.prepare().await.is_ok());
    let shown = format!("{reader:?}");
    assert!(
        secrets.iter().all(|secret| !shown.contains(secret)),
        "{shown}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_gone_or_speaks_no_tls_is_told_apart() {
    let Some(stand) = Stand::start(Runtime::Kubernetes) else {
        return;
    };
    let secure = stand.control_plane().replace("http://", "https://");
    let secure = OpenSandbox::builder(&secure).build().expect("a URL");
    assert_eq!(allocation(&secure, PLAIN).await, Err(Unavailable::Tls));
    let wrong_key = OpenSandbox::builder(stand.control_plane())
        .api_key("other")
        .build();
    let wrong_key = wrong_key.expect("a URL");
    assert_eq!(
        allocation(&wrong_key, PLAIN).await,
        Err(Unavailable::HttpStatus(401))
    );
    let (gone, plane) = (stand.sandboxes(false), stand.control_plane().to_owned());
    drop(stand);
    assert_eq!(
        allocation(&gone, PLAIN).await,
        Err(Unavailable::Connection),
        "{plane}"
    );
}
