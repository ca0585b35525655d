//! When the span of a streamed or interrupted answer ends, and what it says.

mod support;

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use axum::routing::{get, post};
use gym_telemetry_api::{enter, group};
use gym_telemetry_http::ServerLayer;
use http_body::{Body as _, Frame};
use http_body_util::channel::{Channel, Sender};
use support::{ALL_GROUPS, Look, serve};
use tokio::sync::oneshot;
use tower_layer::Layer;

type Chunks = Sender<Bytes, std::io::Error>;

/// A handler whose first request gets a streamed answer, and the end that feeds it.
fn stream(
    headers: &[(http::HeaderName, &'static str)],
) -> (Chunks, impl Fn() -> Ready + Clone + Send + use<>) {
    let (sender, body) = Channel::new(1);
    let mut response = Response::new(Body::new(body));
    for (name, value) in headers {
        response
            .headers_mut()
            .insert(name, http::HeaderValue::from_static(value));
    }
    let response = Arc::new(Mutex::new(Some(response)));
    let handler = move || {
        std::future::ready(
            response
                .lock()
                .expect("not poisoned")
                .take()
                .expect("one request"),
        )
    };
    (sender, handler)
}

type Ready = std::future::Ready<Response>;

fn marker(name: &'static str) {
    let _marker = enter!(group::SANDBOX, name);
}

/// Sends until the other end is gone.
async fn send_until_dropped(chunks: &mut Chunks) {
    while chunks.send_data(Bytes::from_static(b"chunk")).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_event_stream_is_measured_by_its_span_and_not_by_the_histogram() {
    let test = "an_event_stream_is_measured_by_its_span_and_not_by_the_histogram";
    let outcome = support::run(test, ALL_GROUPS, || async {
        let (mut chunks, handler) = stream(&[(CONTENT_TYPE, "Text/Event-Stream ; charset=utf-8")]);
        let base = serve::serve(Router::new().route("/events", get(handler))).await;
        let mut response = serve::plain_client()
            .get(format!("{base}/events"))
            .send()
            .await
            .expect("a head");
        marker("after the head");
        for _ in 0..5 {
            chunks
                .send_data(Bytes::from_static(b"data: x\n\n"))
                .await
                .expect("somebody listens");
            assert_eq!(
                response.chunk().await.expect("a chunk").as_deref(),
                Some(&b"data: x\n\n"[..])
            );
        }
        marker("before the end");
        drop(chunks);
        assert_eq!(response.chunk().await.expect("the end"), None);
    });
    let Some(outcome) = outcome else { return };

    let span = outcome.span("GET /events");
    assert!(span.start_time_unix_nano <= outcome.span("after the head").start_time_unix_nano);
    assert!(span.end_time_unix_nano >= outcome.span("before the end").start_time_unix_nano);
    assert_eq!(
        (span.status_code(), span.get("nemo.gym.http.disconnected")),
        (0, None)
    );
    assert_eq!(outcome.durations(), []);
}

#[test]
fn another_streamed_answer_is_measured_to_its_end() {
    let outcome = support::run(
        "another_streamed_answer_is_measured_to_its_end",
        ALL_GROUPS,
        || async {
            let (mut chunks, handler) = stream(&[]);
            let base = serve::serve(Router::new().route("/run", post(handler))).await;
            let response = serve::plain_client()
                .post(format!("{base}/run"))
                .send()
                .await
                .expect("a head");
            chunks
                .send_data(Bytes::from_static(b"{}"))
                .await
                .expect("somebody listens");
            marker("before the end");
            drop(chunks);
            response.bytes().await.expect("the end");
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("POST /run");
    assert!(span.end_time_unix_nano >= outcome.span("before the end").start_time_unix_nano);
    assert_eq!(
        (span.status_code(), span.get("nemo.gym.http.disconnected")),
        (0, None)
    );
    assert_eq!(outcome.durations().len(), 1);
}

#[test]
fn a_client_that_leaves_during_the_answer_ends_the_span() {
    let outcome = support::run(
        "a_client_that_leaves_during_the_answer_ends_the_span",
        ALL_GROUPS,
        || async {
            let (mut chunks, handler) = stream(&[(CONTENT_TYPE, "text/event-stream")]);
            let base = serve::serve(Router::new().route("/events", get(handler))).await;
            let mut response = serve::plain_client()
                .get(format!("{base}/events"))
                .send()
                .await
                .expect("a head");
            for _ in 0..2 {
                chunks
                    .send_data(Bytes::from_static(b"chunk"))
                    .await
                    .expect("somebody listens");
                response
                    .chunk()
                    .await
                    .expect("a chunk")
                    .expect("not the end");
            }
            marker("before the end");
            drop(response);
            send_until_dropped(&mut chunks).await;
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("GET /events");
    assert_eq!(
        span.get("nemo.gym.http.disconnected").as_deref(),
        Some("true")
    );
    assert_eq!(
        span.get("http.response.status_code").as_deref(),
        Some("200")
    );
    assert_eq!(
        (span.status_code(), span.get("nemo.span.truncated")),
        (0, None)
    );
    assert!(span.end_time_unix_nano >= outcome.span("before the end").start_time_unix_nano);
}

#[test]
fn a_client_that_leaves_before_the_answer_ends_the_span() {
    /// Tells when the handler is dropped, in a span of its own.
    struct OnDrop(Option<oneshot::Sender<()>>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            marker("handler dropped");
            let _ = self.0.take().map(|sender| sender.send(()));
        }
    }

    let outcome = support::run(
        "a_client_that_leaves_before_the_answer_ends_the_span",
        ALL_GROUPS,
        || async {
            let (started, has_started) = oneshot::channel();
            let (dropped, is_dropped) = oneshot::channel();
            let signals = Arc::new(Mutex::new(Some((started, OnDrop(Some(dropped))))));
            let handler = move || async move {
                let (started, _on_drop) = signals
                    .lock()
                    .expect("not poisoned")
                    .take()
                    .expect("one request");
                started.send(()).expect("the test waits");
                std::future::pending::<()>().await;
            };
            let base = serve::serve(Router::new().route("/run", post(handler))).await;
            let request = tokio::spawn(serve::plain_client().post(format!("{base}/run")).send());
            has_started.await.expect("the handler starts");
            request.abort();
            is_dropped.await.expect("the handler is dropped");
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("POST /run");
    assert_eq!(
        span.get("nemo.gym.http.disconnected").as_deref(),
        Some("true")
    );
    assert_eq!(span.get("http.response.status_code"), None);
    assert_eq!(
        (span.status_code(), span.get("nemo.span.truncated")),
        (0, None)
    );
    assert_eq!(
        outcome.span("handler dropped").parent_span_id,
        span.span_id,
        "dropped in its context"
    );
}

#[test]
fn answers_that_end_without_a_last_poll_are_complete() {
    let outcome = support::run(
        "answers_that_end_without_a_last_poll_are_complete",
        ALL_GROUPS,
        || async {
            let client = serve::plain_client();
            let whole = || async { "whole" };
            let not_modified = || async {
                // The server sends no body after this status, whatever the handler gives.
                Response::builder()
                    .status(304)
                    .body(Body::from("unwanted"))
                    .expect("a response")
            };
            let base = serve::serve(
                Router::new()
                    .route("/whole", get(whole))
                    .route("/cached", get(not_modified)),
            )
            .await;
            for request in [
                client.get(format!("{base}/whole")),
                client.head(format!("{base}/whole")),
            ] {
                request
                    .send()
                    .await
                    .expect("a head")
                    .bytes()
                    .await
                    .expect("a body");
            }
            client
                .get(format!("{base}/cached"))
                .send()
                .await
                .expect("a head")
                .bytes()
                .await
                .expect("a body");

            // Of a body of unknown length behind an announced one, servers do not ask for the end.
            let (mut chunks, handler) = stream(&[(CONTENT_LENGTH, "4")]);
            let base = serve::serve(Router::new().route("/announced", get(handler))).await;
            let response = client
                .get(format!("{base}/announced"))
                .send()
                .await
                .expect("a head");
            for _ in 0..2 {
                chunks
                    .send_data(Bytes::from_static(b"ab"))
                    .await
                    .expect("somebody listens");
            }
            assert_eq!(response.bytes().await.expect("a body"), "abab");
            drop(chunks);
        },
    );
    let Some(outcome) = outcome else { return };

    assert_eq!(
        outcome.names(),
        ["GET /announced", "GET /cached", "GET /whole", "HEAD /whole"]
    );
    for span in outcome.spans() {
        assert_eq!(
            span.get("nemo.gym.http.disconnected"),
            None,
            "{}",
            span.name
        );
    }
}

#[test]
fn a_body_that_fails_is_an_error() {
    let outcome = support::run("a_body_that_fails_is_an_error", ALL_GROUPS, || async {
        let (mut chunks, handler) = stream(&[]);
        let base = serve::serve(Router::new().route("/run", get(handler))).await;
        let response = serve::plain_client()
            .get(format!("{base}/run"))
            .send()
            .await
            .expect("a head");
        chunks
            .send_data(Bytes::from_static(b"{"))
            .await
            .expect("somebody listens");
        chunks.abort(std::io::Error::other("the model died"));
        assert!(response.bytes().await.is_err());
    });
    let Some(outcome) = outcome else { return };

    let span = outcome.span("GET /run");
    assert_eq!(
        (
            span.status_code(),
            span.get("http.response.status_code").as_deref()
        ),
        (2, Some("200"))
    );
    assert!(span.event("exception").is_some());
    assert_eq!(span.get("nemo.gym.http.disconnected"), None);
}

#[test]
fn a_body_that_says_it_has_ended_is_complete() {
    /// One chunk of which nobody knows in advance that it is the only one.
    struct Chunk(Option<Bytes>);
    impl http_body::Body for Chunk {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.0.take().map(|chunk| Ok(Frame::data(chunk))))
        }

        fn is_end_stream(&self) -> bool {
            self.0.is_none()
        }
    }

    let outcome = support::run(
        "a_body_that_says_it_has_ended_is_complete",
        ALL_GROUPS,
        || async {
            let answer = |_: http::Request<()>| {
                std::future::ready(Ok::<_, Infallible>(http::Response::new(Chunk(Some(
                    Bytes::from_static(b"x"),
                )))))
            };
            let service = ServerLayer::new().layer(tower::service_fn(answer));
            let request = http::Request::get("/run").body(()).expect("a request");
            let answer = tower::ServiceExt::oneshot(service, request)
                .await
                .expect("infallible");
            let mut body = pin!(answer.into_body());
            let frame = poll_fn(|task| body.as_mut().poll_frame(task)).await;
            assert!(frame.is_some_and(|frame| frame.is_ok_and(|frame| frame.is_data())));
        },
    );
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.span("GET").get("nemo.gym.http.disconnected"), None);
}
