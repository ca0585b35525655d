//! What a tower client behind `ClientLayer` exports and sends.

mod support;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gym_telemetry_api::in_span;
use gym_telemetry_core::group;
use gym_telemetry_http::{ClientLayer, PropagationPolicy};
use http::{Request, Response, StatusCode};
use support::{ALL_GROUPS, CALLER, Look, text};
use tower::retry::{Policy, RetryLayer};
use tower::{ServiceBuilder, ServiceExt, service_fn};

/// Sends again until the answer is another than 503.
#[derive(Clone)]
struct UntilServed;

impl Policy<Request<()>, Response<String>, Infallible> for UntilServed {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _request: &mut Request<()>,
        answer: &mut Result<Response<String>, Infallible>,
    ) -> Option<Ready<()>> {
        let again = answer
            .as_ref()
            .is_ok_and(|response| response.status() == StatusCode::SERVICE_UNAVAILABLE);
        again.then(|| ready(()))
    }

    fn clone_request(&mut self, request: &Request<()>) -> Option<Request<()>> {
        Some(request.clone())
    }
}

/// Answers with the `traceparent` it was sent.
async fn echo(request: Request<()>) -> Result<Response<String>, Infallible> {
    let sent = request
        .headers()
        .get("traceparent")
        .map_or("", |value| value.to_str().expect("text"));
    Ok(Response::new(sent.to_owned()))
}

fn request(uri: &str) -> http::request::Builder {
    Request::get(uri)
}

#[test]
fn a_request_has_a_client_span_and_names_it() {
    let outcome = support::run(
        "a_request_has_a_client_span_and_names_it",
        ALL_GROUPS,
        || async {
            let service = || {
                ServiceBuilder::new()
                    .layer(ClientLayer::default())
                    .service(service_fn(echo))
            };
            let send = |request: http::request::Builder| async {
                let request = request.body(()).expect("a request");
                service()
                    .oneshot(request)
                    .await
                    .expect("infallible")
                    .into_body()
            };
            let absolute = send(request("https://u:SECRET@10.0.0.1/v1/run?SECRET"));
            assert_eq!(in_span!(group::AGENT, "agent"; absolute).await.len(), 55);
            let origin = send(request("/v1/run?SECRET").header("host", "policy_model:8000"));
            assert_eq!(origin.await.len(), 55);
            let own = send(request("http://localhost/").header("traceparent", CALLER));
            assert_eq!(own.await, CALLER);
            assert_eq!(send(request("https://api.example.com/")).await, "");
            assert_eq!(send(request("/nowhere")).await, "");
        },
    );
    let Some(outcome) = outcome else { return };

    assert!(!format!("{:?}", outcome.spans()).contains("SECRET"));
    let describe = |span: &&_| {
        let of = |key| Look::get(*span, key).unwrap_or_default();
        format!(
            "{} {} {}",
            of("url.full"),
            of("server.address"),
            of("server.port")
        )
    };
    let mut seen: Vec<_> = outcome
        .spans()
        .iter()
        .filter(|span| span.name == "HTTP GET")
        .map(describe)
        .collect();
    seen.sort();
    assert_eq!(
        seen,
        [
            "/nowhere  80",
            "http://localhost/ localhost 80",
            "http://policy_model:8000/v1/run policy_model 8000",
            "https://10.0.0.1/v1/run 10.0.0.1 443",
            "https://api.example.com/ api.example.com 443",
        ]
    );
    let agent = outcome.span("agent");
    assert!(
        outcome
            .spans()
            .iter()
            .any(|span| span.parent_span_id == agent.span_id)
    );
}

#[test]
fn one_request_is_one_span_however_often_it_is_sent() {
    let outcome = support::run(
        "one_request_is_one_span_however_often_it_is_sent",
        ALL_GROUPS,
        || async {
            let sends = Arc::new(AtomicU32::new(0));
            let unsteady = move |_: Request<()>| {
                let status = if sends.fetch_add(1, Ordering::Relaxed) < 2 {
                    503
                } else {
                    200
                };
                ready(Ok::<_, Infallible>(
                    Response::builder()
                        .status(status)
                        .body(String::new())
                        .expect("a response"),
                ))
            };
            let service = ServiceBuilder::new()
                .layer(ClientLayer::new(PropagationPolicy::default()))
                .layer(RetryLayer::new(UntilServed))
                .layer(ClientLayer::new(PropagationPolicy::default()))
                .service(service_fn(unsteady));
            let request = request("http://localhost/run").body(()).expect("a request");
            assert_eq!(
                service.oneshot(request).await.expect("infallible").status(),
                200
            );
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("HTTP GET");
    assert_eq!(span.get("http.request.resend_count").as_deref(), Some("2"));
    assert_eq!(
        span.get("http.response.status_code").as_deref(),
        Some("200")
    );
}

#[test]
fn no_answer_is_an_error() {
    let outcome = support::run("no_answer_is_an_error", ALL_GROUPS, || async {
        let broken = |_: Request<()>| {
            ready(Err::<Response<String>, _>(std::io::Error::other(
                "see http://h/?SECRET",
            )))
        };
        let service = ServiceBuilder::new()
            .layer(ClientLayer::default())
            .service(service_fn(broken));
        let request = request("http://localhost/run").body(()).expect("a request");
        assert!(service.oneshot(request).await.is_err());
    });
    let Some(outcome) = outcome else { return };

    let span = outcome.span("HTTP GET");
    assert_eq!(
        (span.status_code(), span.get("error.type").as_deref()),
        (2, Some("std::io::error::Error"))
    );
    let exception = span.event("exception").expect("an event");
    assert_eq!(
        text(&exception.attributes, "exception.message").as_deref(),
        Some("see http://h/")
    );
}
