//! A process in which telemetry is compiled in or out, and not started.

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use gym_telemetry_http::{PropagationPolicy, ServerLayer, TelemetryMiddleware};
use reqwest_middleware::ClientBuilder;

#[tokio::test]
async fn requests_and_answers_pass_unchanged() {
    let handler = |headers: HeaderMap| async move {
        assert!(!headers.contains_key("traceparent"), "{headers:?}");
        "1.0"
    };
    let router = ServerLayer::new().around(Router::new().route("/verify", get(handler)));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async { axum::serve(listener, router).await });

    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client can be built");
    let telemetry = TelemetryMiddleware::new(PropagationPolicy::default());
    let client = ClientBuilder::new(client).with(telemetry).build();
    let answer = client
        .get(format!("http://{address}/ng-rollout/3-1/verify"))
        .send()
        .await;
    let answer = answer.expect("an answer");
    assert_eq!(
        (
            answer.status().as_u16(),
            answer.headers().get("content-length").is_some()
        ),
        (200, true)
    );
    assert_eq!(answer.text().await.expect("text"), "1.0");
}
