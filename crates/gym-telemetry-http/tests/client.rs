//! What a client with `TelemetryMiddleware` exports and sends.

mod support;

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{any, get, post};
use gym_telemetry_api::{Context, FutureExt, enter, in_span, span};
use gym_telemetry_core::{SpanContext, group};
use gym_telemetry_http::{PropagationPolicy, ServerLayer, TelemetryMiddleware};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Next};
use support::{ALL_GROUPS, CALLER, CALLER_SPAN, Look, serve, text};
use tokio::sync::Notify;

/// Answers with the trace headers it was sent, one per line.
fn echo() -> Router {
    let handler = |headers: HeaderMap| async move {
        let line = |name| {
            headers
                .get_all(name)
                .iter()
                .map(move |value| format!("{name}: {value:?}\n"))
        };
        ["traceparent", "tracestate", "baggage"]
            .into_iter()
            .flat_map(line)
            .collect::<String>()
    };
    Router::new().fallback(any(handler))
}

fn client() -> ClientWithMiddleware {
    with(serve::plain_client(), PropagationPolicy::default())
}

fn with(client: reqwest::Client, policy: PropagationPolicy) -> ClientWithMiddleware {
    ClientBuilder::new(client)
        .with(TelemetryMiddleware::new(policy))
        .build()
}

/// Sends again until the answer is another than 503.
fn retry<'a>(
    request: reqwest::Request,
    extensions: &'a mut http::Extensions,
    next: Next<'a>,
) -> Pin<Box<dyn Future<Output = reqwest_middleware::Result<reqwest::Response>> + Send + 'a>> {
    Box::pin(async move {
        loop {
            let request = request.try_clone().expect("a request without a body");
            let response = next.clone().run(request, extensions).await?;
            if response.status() != StatusCode::SERVICE_UNAVAILABLE {
                return Ok(response);
            }
        }
    })
}

async fn body_of(request: reqwest_middleware::RequestBuilder) -> String {
    request
        .send()
        .await
        .expect("an answer")
        .text()
        .await
        .expect("text")
}

#[test]
fn a_request_has_a_client_span_and_names_it() {
    let outcome = support::run(
        "a_request_has_a_client_span_and_names_it",
        ALL_GROUPS,
        || async {
            let base = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
            let caller = SpanContext::from_traceparent(CALLER).expect("valid");
            let caller = caller.with_trace_state("vendor=x".parse().expect("valid"));
            let baggage = "a=1;p,b = %20".parse().expect("valid");
            let context = Context::root()
                .with_remote(Some(caller), Some(baggage))
                .with_rollout_id("3-1");
            let request = client().post(format!(
                "http://user:SECRET@{base}/v1/run?api_key=SECRET#SECRET"
            ));
            let sent = body_of(request.header("x-own", "kept"))
                .in_context(context)
                .await;
            assert!(
                sent.contains("\ntracestate: \"vendor=x\"\nbaggage: \"a=1;p,b = %20\"\n"),
                "{sent}"
            );
            let _marker = enter!(group::AGENT, "sent", "what" => &sent);
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("HTTP POST");
    let sent = outcome.span("sent").get("what").expect("an attribute");
    let expected = format!(
        "traceparent: \"00-0af7651916cd43dd8448eb211c80319c-{}-03\"",
        hex(&span.span_id)
    );
    assert_eq!(sent.lines().next(), Some(&*expected));
    assert_eq!(span.parent_span_id, CALLER_SPAN);
    assert_eq!((span.kind(), span.status_code()), (SpanKind::Client, 0));
    assert_eq!(outcome.scope("HTTP POST"), "nemo.gym");

    let url = span.get("url.full").expect("a URL");
    assert!(
        url.starts_with("http://127.0.0.1:") && url.ends_with("/v1/run"),
        "{url}"
    );
    assert!(
        url.contains(&format!(":{}/", span.get("server.port").expect("a port"))),
        "{url}"
    );
    for (key, value) in [
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("nemo.gym.rollout.id", "3-1"),
        ("server.address", "127.0.0.1"),
    ] {
        assert_eq!(span.get(key).as_deref(), Some(value), "{key}");
    }
    assert_eq!(
        span.attributes.len(),
        6,
        "nothing else: {:?}",
        span.attributes
    );
    assert!(!format!("{:?}", outcome.spans()).contains("SECRET"));
}

#[test]
fn one_request_is_one_span_however_often_it_is_sent() {
    let outcome = support::run(
        "one_request_is_one_span_however_often_it_is_sent",
        ALL_GROUPS,
        || async {
            let telemetry = || TelemetryMiddleware::new(PropagationPolicy::default());
            let builder = || ClientBuilder::new(serve::plain_client());
            let clients = [
                (
                    "/around-and-inside",
                    builder()
                        .with(telemetry())
                        .with(retry)
                        .with(telemetry())
                        .build(),
                ),
                ("/inside", builder().with(retry).with(telemetry()).build()),
                ("/around", builder().with(telemetry()).with(retry).build()),
            ];
            for (path, client) in clients {
                let requests = Arc::new(AtomicU32::new(0));
                let seen = Arc::new(Mutex::new(Vec::new()));
                let handler = {
                    let (requests, seen) = (Arc::clone(&requests), Arc::clone(&seen));
                    move |headers: HeaderMap| async move {
                        seen.lock()
                            .expect("not poisoned")
                            .push(headers["traceparent"].clone());
                        match requests.fetch_add(1, Ordering::Relaxed) {
                            0 | 1 => StatusCode::SERVICE_UNAVAILABLE,
                            _ => StatusCode::OK,
                        }
                    }
                };
                let base = serve::serve_at(
                    [127, 0, 0, 1].into(),
                    Router::new().route(path, get(handler)),
                )
                .await;
                assert_eq!(
                    client
                        .get(format!("http://{base}{path}"))
                        .send()
                        .await
                        .expect("an answer")
                        .status(),
                    200
                );
                let seen = seen.lock().expect("not poisoned");
                assert!(
                    seen.len() == 3 && seen.iter().all(|value| value == seen[0]),
                    "{seen:?}"
                );
            }
        },
    );
    let Some(outcome) = outcome else { return };

    assert_eq!(outcome.names(), ["HTTP GET"; 3]);
    for span in outcome.spans() {
        let url = span.get("url.full").expect("a URL");
        let counted = !url.ends_with("/around");
        let resent: Vec<_> = span
            .events
            .iter()
            .map(|event| event.name.as_str())
            .collect();
        let count = span.get("http.request.resend_count");
        assert_eq!(count.as_deref(), counted.then_some("2"), "{url}");
        assert_eq!(
            resent,
            if counted {
                vec!["nemo.gym.http.resend"; 2]
            } else {
                vec![]
            },
            "{url}"
        );
        assert_eq!(
            span.get("http.response.status_code").as_deref(),
            Some("200")
        );
        assert_eq!(span.status_code(), 0);
    }
}

#[test]
fn requests_that_share_extensions_are_told_apart() {
    let test = "requests_that_share_extensions_are_told_apart";
    let outcome = support::run(test, ALL_GROUPS, || async {
        let base = serve::serve_at([127, 0, 0, 1].into(), echo()).await;
        let telemetry = || TelemetryMiddleware::new(PropagationPolicy::default());
        let twice = ClientBuilder::new(serve::plain_client())
            .with(telemetry())
            .with(telemetry());
        for client in [client(), twice.build()] {
            let mut extensions = http::Extensions::new();
            for path in ["a", "b"] {
                let request = client
                    .get(format!("http://{base}/{path}"))
                    .build()
                    .expect("valid");
                let answer = client
                    .execute_with_extensions(request, &mut extensions)
                    .await;
                assert_ne!(answer.expect("an answer").text().await.expect("text"), "");
            }
        }
    });
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), ["HTTP GET"; 4]);
    assert!(
        outcome
            .spans()
            .iter()
            .all(|span| span.get("http.request.resend_count").is_none())
    );
}

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
fn no_answer_is_an_error_without_the_query() {
    let outcome = support::run(
        "no_answer_is_an_error_without_the_query",
        ALL_GROUPS,
        || async {
            let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
            let address = listener.local_addr().expect("bound");
            drop(listener);
            let request = client()
                .get(format!("http://{address}/run?api_key=SECRET"))
                .send();
            let error = request.await.expect_err("nobody listens");
            assert!(
                error.to_string().contains("SECRET"),
                "the error itself stays whole: {error}"
            );
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("HTTP GET");
    assert_eq!(
        (span.status_code(), span.get("error.type").as_deref()),
        (2, Some("connect"))
    );
    assert_eq!(span.get("http.response.status_code"), None);
    let exception = span.event("exception").expect("an event");
    let message = text(&exception.attributes, "exception.message").expect("a message");
    assert!(
        message.contains("/run") && message.contains("refused"),
        "{message}"
    );
    assert!(!format!("{:?}", outcome.spans()).contains("SECRET"));
}

#[test]
fn a_request_that_is_given_up_ends_its_span_without_a_status() {
    let test = "a_request_that_is_given_up_ends_its_span_without_a_status";
    let outcome = support::run(test, ALL_GROUPS, || async {
        let arrived = Arc::new(Notify::new());
        let handler = {
            let arrived = Arc::clone(&arrived);
            move || async move {
                arrived.notify_one();
                std::future::pending::<()>().await;
            }
        };
        let base = serve::serve_at(
            [127, 0, 0, 1].into(),
            Router::new().route("/", get(handler)),
        )
        .await;
        let request = tokio::spawn(client().get(format!("http://{base}/")).send());
        arrived.notified().await;
        request.abort();
        assert!(request.await.expect_err("it was aborted").is_cancelled());
    });
    let Some(outcome) = outcome else { return };
    let span = outcome.span("HTTP GET");
    assert_eq!(
        (
            span.status_code(),
            span.events.len(),
            span.get("nemo.span.truncated")
        ),
        (0, 0, None)
    );
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

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
