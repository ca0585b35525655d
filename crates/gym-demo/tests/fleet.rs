//! The fleet and its results, in the build with telemetry and in the one without.

mod support;

use std::collections::HashSet;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use support::process::{children_of, eventually, wait_with_deadline, with_environment};
use support::run::Run;

const DEADLINE: Duration = Duration::from_mins(1);
/// Off whatever the configuration says: these tests are not about telemetry.
const OFF: (&str, &str) = ("NEMO_GYM_OTEL_ENABLED", "0");

/// A variable that only the processes of one run have.
fn mark(name: &str) -> (&'static str, String) {
    ("GYM_DEMO_TEST", format!("{name}-{}", std::process::id()))
}

fn processes_of(mark: &(&str, String)) -> Vec<u32> {
    with_environment(&format!("{}={}", mark.0, mark.1))
}

#[test]
fn a_run_writes_one_result_for_each_rollout_and_leaves_no_process_behind() {
    let mark = mark("results");
    let run = Run::new()
        .args(["--rollouts", "9", "--parallel", "3"])
        .env(OFF.0, OFF.1)
        .env(mark.0, &mark.1);
    let run = run.finish().succeeded();

    let results = run.results();
    let ids: HashSet<_> = results
        .iter()
        .map(|result| result["rollout_id"].as_str().expect("an id"))
        .collect();
    assert_eq!(results.len(), 9);
    assert_eq!(
        ids,
        HashSet::from([
            "0-0", "1-0", "2-0", "3-0", "0-1", "1-1", "2-1", "3-1", "0-2"
        ])
    );
    for result in &results {
        assert!(
            result["latency_ms"]
                .as_f64()
                .is_some_and(|latency| latency > 0.0),
            "{result}"
        );
        assert!(result["trace_id"].is_null(), "nothing was traced: {result}");
        // The fourth task names no city, so its answer is worth nothing.
        let worth = if result["rollout_id"]
            .as_str()
            .is_some_and(|id| id.starts_with('3'))
        {
            0.0
        } else {
            1.0
        };
        assert_eq!(result["reward"].as_f64(), Some(worth), "{result}");
    }
    assert_eq!(processes_of(&mark), [0; 0]);
}

#[test]
fn tasks_come_from_a_file_and_keep_their_own_rollout_ids() {
    let task = r#"{"_ng_rollout_id":"mine","responses_create_params":{"input":"Rain in Rome?"},"verifier_metadata":{"city":"Rome"}}"#;
    let run = Run::new()
        .file("tasks.jsonl", task)
        .args(["--tasks", "tasks.jsonl"])
        .env(OFF.0, OFF.1);
    let results = run.finish().succeeded().results();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["rollout_id"], "mine");
    assert_eq!(results[0]["reward"], 1.0);
}

#[test]
fn what_the_user_got_wrong_ends_the_run_before_anything_starts() {
    let bad_task = r#"{"_ng_rollout_id":"a/b","responses_create_params":{"input":"x"}}"#;
    for (arguments, expected) in [
        (["--tasks", "bad.jsonl"], "_ng_rollout_id"),
        (["--tasks", "none.jsonl"], "none.jsonl"),
        (["--model-command", "sh -c 'exit"], "--model-command"),
        (["--agent-at", "nowhere"], "nowhere"),
        (["--parallel", "0"], "--parallel"),
    ] {
        let run = Run::new()
            .file("bad.jsonl", bad_task)
            .args(arguments)
            .env(OFF.0, OFF.1)
            .finish();
        assert_eq!(run.code(), Some(2), "{arguments:?}: {}", run.stderr());
        assert!(
            run.stderr().contains(expected),
            "{arguments:?}: {}",
            run.stderr()
        );
        assert!(!run.out().exists(), "{arguments:?}");
    }
}

#[test]
fn a_server_that_dies_before_it_is_ready_is_reported_with_its_last_words() {
    let mark = mark("early");
    let run = Run::new().args(["--model-command", "sh -c 'echo no model here >&2; exit 3'"]);
    let run = run.env(OFF.0, OFF.1).env(mark.0, &mark.1).finish();
    assert_eq!(run.code(), Some(1));
    let said = run.stderr();
    assert!(said.contains("policy_model: no model here"), "{said}");
    assert!(
        said.contains("policy_model ended before its time (exit status: 3)"),
        "{said}"
    );
    assert_eq!(processes_of(&mark), [0; 0]);
}

#[test]
fn a_failed_rollout_is_tried_again_and_then_fails_the_run() {
    // A model whose answers nobody understands: the health route is all it shares with a model server.
    let not_a_model = format!("{} serve resources", env!("CARGO_BIN_EXE_gym-demo"));
    let run = Run::new().args([
        "--model-command",
        &not_a_model,
        "--rollouts",
        "1",
        "--attempts",
        "2",
    ]);
    let run = run.env(OFF.0, OFF.1).finish();
    assert_eq!(run.code(), Some(1));
    assert!(
        run.stderr().contains("1 of 1 rollouts failed"),
        "{}",
        run.stderr()
    );
    let results = run.results();
    let ids: Vec<_> = results.iter().map(|result| &result["rollout_id"]).collect();
    assert_eq!(ids, ["0-0", "0-0-a1"]);
    assert!(
        results
            .iter()
            .all(|result| result["reward"].is_null() && result["error"].is_string()),
        "{results:?}"
    );
}

#[test]
fn a_server_may_open_its_port_by_itself() {
    let model = format!(
        "{} serve model --listen {{host}}:{{port}}",
        env!("CARGO_BIN_EXE_gym-demo")
    );
    let run = Run::new()
        .args(["--model-command", &model])
        .env(OFF.0, OFF.1)
        .finish()
        .succeeded();
    assert_eq!(run.results().len(), 4);
}

#[test]
fn a_server_that_dies_ends_the_run() {
    let mark = mark("loss");
    let run = Run::new().args(["--rollouts", "10000000"]);
    let (directory, guard) = run.env(OFF.0, OFF.1).env(mark.0, &mark.1).spawn();
    let results = directory.path().join("out/results.jsonl");
    eventually("rollouts run", DEADLINE, || {
        std::fs::metadata(&results)
            .ok()
            .filter(|file| file.len() > 0)
    });
    let server = children_of(guard.id())[0];
    let server = i32::try_from(server)
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process id");
    kill_process(server, Signal::KILL).expect("the server runs");

    let output = wait_with_deadline(guard, DEADLINE);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("ended before its time (signal: 9"), "{said}");
    assert_eq!(processes_of(&mark), [0; 0]);
}

#[test]
fn a_signal_stops_the_servers_before_the_orchestrator_ends() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let mark = mark(&format!("signal-{code}"));
        // More rollouts than the test has time for.
        let run = Run::new()
            .args(["--rollouts", "10000000"])
            .env(OFF.0, OFF.1)
            .env(mark.0, &mark.1);
        let (directory, guard) = run.spawn();
        let results = directory.path().join("out/results.jsonl");
        eventually("rollouts run", DEADLINE, || {
            std::fs::metadata(&results)
                .ok()
                .filter(|file| file.len() > 0)
        });
        assert_eq!(children_of(guard.id()).len(), 3);

        guard.signal(signal);
        let output = wait_with_deadline(guard, DEADLINE);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(processes_of(&mark), [0; 0]);
    }
}
