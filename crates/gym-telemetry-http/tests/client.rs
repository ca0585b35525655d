//! What a client with `TelemetryMiddleware` exports.

mod support;

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use gym_telemetry_api::{Context, FutureExt, enter};
use gym_telemetry_core::{SpanContext, group};
use gym_telemetry_http::{PropagationPolicy, TelemetryMiddleware};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use reqwest_middleware::{ClientBuilder, Next};
use support::send::{body_of, client, echo};
use support::{ALL_GROUPS, CALLER, CALLER_SPAN, Look, serve, text};
use tokio::sync::Notify;

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
        let count = span.get("http.request.resend_count");
        assert_eq!(count.as_deref(), counted.then_some("2"), "{url}");
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
            let brew = "BREW".parse().expect("a method");
            let request = client().request(brew, format!("http://{address}/pot"));
            request.send().await.expect_err("nobody listens");
        },
    );
    let Some(outcome) = outcome else { return };

    let brew = outcome.span("HTTP");
    assert_eq!(
        brew.get("http.request.method_original").as_deref(),
        Some("BREW")
    );
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

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
