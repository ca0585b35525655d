//! Which requests carry trace headers, and what these say.

mod support;

use axum::Router;
use axum::routing::post;
use gym_telemetry_api::{Context, FutureExt, in_span, span};
use gym_telemetry_core::{SpanContext, group};
use gym_telemetry_http::{PropagationPolicy, ServerLayer};
use support::send::{body_of, client, echo, with};
use support::{ALL_GROUPS, CALLER, Look, serve};

#[test]
fn only_permitted_hosts_receive_headers() {
    let settings = [
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "all"),
        (
            "NEMO_GYM_OTEL_PROPAGATION_HOSTS",
            "api.listed.example, *.wild.example:443 ,,no way",
        ),
    ];
    let outcome = support::run(
        "only_permitted_hosts_receive_headers",
        &settings,
        || async {
            let address = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
            let hosts = [
                ("api.openai.example", false),
                ("API.OpenAI.example", false),
                ("wild.example", false),
                ("a.wild.example", true),
                ("api.listed.example", true),
                ("judge.known.example", true),
                ("policy_model", true),
                ("judge.gym.svc.cluster.local", true),
            ];
            let mut builder = reqwest::Client::builder().no_proxy();
            for (host, _) in hosts {
                builder = builder.resolve(&host.to_ascii_lowercase(), address);
            }
            let policy = PropagationPolicy::builder()
                .allow_url("https://judge.known.example:8443/v1")
                .build();
            let client = with(builder.build().expect("a client can be built"), policy);
            for (host, permitted) in hosts {
                let port = address.port();
                let sent = body_of(client.get(format!("http://{host}:{port}/"))).await;
                assert_eq!(!sent.is_empty(), permitted, "{host} was sent {sent:?}");
            }
        },
    );
    let Some(outcome) = outcome else { return };

    assert_eq!(outcome.names(), ["HTTP GET"; 8]);
    let warnings = |text: &str| {
        outcome
            .stderr
            .lines()
            .filter(|line| line.contains(text))
            .count()
    };
    assert_eq!(
        warnings("requests to api.openai.example carry no trace headers"),
        1,
        "{}",
        outcome.stderr
    );
    assert_eq!(
        warnings("NEMO_GYM_OTEL_PROPAGATION_HOSTS"),
        3,
        "{}",
        outcome.stderr
    );
    assert_eq!(warnings("\"no way\" is ignored"), 1, "{}", outcome.stderr);
}

#[test]
fn with_the_group_off_requests_stay_as_they_are() {
    let settings = [("NEMO_GYM_OTEL_SPAN_GROUPS", "agent,server")];
    let outcome = support::run(
        "with_the_group_off_requests_stay_as_they_are",
        &settings,
        || async {
            let base = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
            let _outer = span!("outer");
            let sent =
                in_span!(group::AGENT, "agent"; body_of(client().get(format!("http://{base}/"))))
                    .await;
            assert_eq!(sent, "");
        },
    );
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), ["agent", "outer"]);
}

#[test]
fn without_instrumentation_the_headers_name_the_current_span() {
    let settings = [
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "all"),
        ("NEMO_GYM_OTEL_INSTRUMENT_AIOHTTP", "0"),
    ];
    let test = "without_instrumentation_the_headers_name_the_current_span";
    let outcome = support::run(test, &settings, || async {
        let base = serve::serve(Router::new().route("/run", post(|| async {}))).await;
        let request = client().post(format!("{base}/run")).send();
        in_span!(group::AGENT, "agent"; request)
            .await
            .expect("an answer");
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), ["POST /run", "agent"]);
    assert_eq!(
        outcome.span("POST /run").parent_span_id,
        outcome.span("agent").span_id
    );
}

#[test]
fn propagation_can_be_switched_off() {
    let settings = [
        ("NEMO_GYM_OTEL_SPAN_GROUPS", "all"),
        ("OTEL_PROPAGATORS", "none"),
    ];
    let outcome = support::run("propagation_can_be_switched_off", &settings, || async {
        let base = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
        assert_eq!(body_of(client().get(format!("http://{base}/"))).await, "");
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), ["HTTP GET"]);
}

#[test]
fn headers_of_the_caller_are_kept() {
    let outcome = support::run("headers_of_the_caller_are_kept", ALL_GROUPS, || async {
        let base = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
        let request = client()
            .get(format!("http://{base}/"))
            .header("traceparent", CALLER)
            .header("baggage", "own=1");
        assert_eq!(
            body_of(request).await,
            format!("traceparent: {CALLER:?}\nbaggage: \"own=1\"\n")
        );
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), ["HTTP GET"]);
}

#[test]
fn an_unsampled_trace_is_handed_on_as_such() {
    let outcome = support::run(
        "an_unsampled_trace_is_handed_on_as_such",
        ALL_GROUPS,
        || async {
            let base = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
            let unsampled = CALLER.replace("-03", "-02");
            let remote = SpanContext::from_traceparent(&unsampled).expect("valid");
            let context = Context::root().with_remote(Some(remote), None);
            let sent = body_of(client().get(format!("http://{base}/")))
                .in_context(context)
                .await;
            assert!(
                sent.starts_with("traceparent: \"00-0af7651916cd43dd8448eb211c80319c-"),
                "{sent}"
            );
            assert!(sent.ends_with("-02\"\n"), "{sent}");
        },
    );
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), [""; 0]);
}

#[test]
fn two_hosts_make_one_trace() {
    let outcome = support::run("two_hosts_make_one_trace", ALL_GROUPS, || async {
        let resources = Router::new().route("/verify", post(|| async { "1.0" }));
        let resources =
            serve::serve_at([127, 0, 0, 3].into(), ServerLayer::new().around(resources)).await;
        let agent = move || async move {
            let request = client().post(format!("http://{resources}/ng-rollout/3-1/verify"));
            in_span!(group::AGENT, "gym.agent.run"; body_of(request)).await
        };
        let agent = Router::new().route("/run", post(agent));
        let agent = serve::serve_at([127, 0, 0, 2].into(), ServerLayer::new().around(agent)).await;
        let request = client().post(format!("http://{agent}/ng-rollout/3-1/run"));
        assert_eq!(
            in_span!(group::ROLLOUT, "gym.rollout"; body_of(request)).await,
            "1.0"
        );
    });
    let Some(outcome) = outcome else { return };

    let clients = |parent: &[u8]| {
        let spans = outcome.spans();
        *spans
            .iter()
            .find(|span| span.name == "HTTP POST" && span.parent_span_id == parent)
            .expect("a client span")
    };
    let rollout = outcome.span("gym.rollout");
    let to_agent = clients(&rollout.span_id);
    let agent = outcome.span("POST /run");
    let run = outcome.span("gym.agent.run");
    let to_resources = clients(&run.span_id);
    let resources = outcome.span("POST /verify");
    assert_eq!(agent.parent_span_id, to_agent.span_id);
    assert_eq!(run.parent_span_id, agent.span_id);
    assert_eq!(resources.parent_span_id, to_resources.span_id);
    assert_eq!(
        to_resources.get("nemo.gym.rollout.id").as_deref(),
        Some("3-1")
    );
    assert!(
        outcome
            .spans()
            .iter()
            .all(|span| span.trace_id == rollout.trace_id)
    );
    assert_eq!(outcome.spans().len(), 6);
}
