//! What a server behind `ServerLayer` and `RouteLayer` exports.

mod support;

use axum::extract::Path;
use axum::http::{StatusCode, Uri};
use axum::routing::{any, get, post};
use axum::{Extension, Router};
use gym_telemetry_api::{Context, enter, set_span_attributes};
use gym_telemetry_core::{RolloutId, group};
use gym_telemetry_http::{RouteLayer, ServerLayer};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use support::{ALL_GROUPS, CALLER, CALLER_SPAN, CALLER_TRACE, Look, serve, text};
use tower_layer::Layer;

async fn status_of(request: reqwest::RequestBuilder) -> u16 {
    let response = request.send().await.expect("an answer");
    let status = response.status().as_u16();
    response.bytes().await.expect("a whole answer");
    status
}

#[test]
fn a_request_becomes_a_server_span_below_its_caller() {
    let outcome = support::run(
        "a_request_becomes_a_server_span_below_its_caller",
        ALL_GROUPS,
        || async {
            let handler = |Path(id): Path<u32>, Extension(rollout): Extension<RolloutId>| async move {
                assert_eq!((id, rollout.as_str()), (7, "3-1-a2"));
                assert_eq!(
                    Context::current()
                        .rollout_id()
                        .map(ToString::to_string)
                        .as_deref(),
                    Some("3-1-a2")
                );
                assert_eq!(
                    Context::current().baggage().expect("baggage").as_str(),
                    "a=1;p,b = %20"
                );
                set_span_attributes!("set.by" => "handler");
                let _verify = enter!(group::VERIFY, "gym.verify");
                "1.0"
            };
            let base = serve::serve(Router::new().route("/verify/{id}", post(handler))).await;
            let request = serve::plain_client()
                .post(format!("{base}/ng-rollout/3-1-a2/verify/7?api_key=SECRET"))
                .header("traceparent", CALLER)
                .header("tracestate", "vendor=x")
                .header("baggage", "a=1;p,b = %20");
            assert_eq!(status_of(request).await, 200);
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("POST /verify/{id}");
    assert_eq!(span.kind(), SpanKind::Server);
    assert_eq!(
        (&*span.trace_id, &*span.parent_span_id),
        (&CALLER_TRACE[..], &CALLER_SPAN[..])
    );
    assert_eq!((span.flags & 0xff, &*span.trace_state), (3, "vendor=x"));
    assert_eq!(span.status_code(), 0);
    let expected = [
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("http.route", "/verify/{id}"),
        ("nemo.gym.rollout.id", "3-1-a2"),
        ("network.protocol.version", "1.1"),
        ("server.address", "127.0.0.1"),
        ("set.by", "handler"),
        ("url.path", "/verify/7"),
        ("url.scheme", "http"),
    ];
    for (key, value) in expected {
        assert_eq!(span.get(key).as_deref(), Some(value), "{key}");
    }
    assert!(span.get("server.port").is_some());
    assert_eq!(
        span.attributes.len(),
        expected.len() + 1,
        "nothing else: {:?}",
        span.attributes
    );
    assert!(!format!("{:?}", outcome.spans()).contains("SECRET"));
    assert_eq!(outcome.scope("POST /verify/{id}"), "nemo.gym");

    let verify = outcome.span("gym.verify");
    assert_eq!(
        (&verify.trace_id, &verify.parent_span_id),
        (&span.trace_id, &span.span_id)
    );
    let route = Some("/verify/{id}".to_owned());
    assert_eq!(
        outcome.durations(),
        [("POST".to_owned(), route, Some("200".to_owned()), 1)]
    );
}

#[test]
fn only_server_errors_and_panics_are_errors() {
    let outcome = support::run(
        "only_server_errors_and_panics_are_errors",
        ALL_GROUPS,
        || async {
            let router = Router::new()
                .route("/gone", get(|| async { StatusCode::GONE }))
                .route(
                    "/broken",
                    get(|| async { (StatusCode::SERVICE_UNAVAILABLE, "no") }),
                )
                .route(
                    "/panic",
                    get(|uri: Uri| async move {
                        assert!(uri.path() != "/panic", "see http://u:SECRET@h/?q=SECRET");
                    }),
                );
            let base = serve::serve(router).await;
            let client = serve::plain_client();
            assert_eq!(status_of(client.get(format!("{base}/gone"))).await, 410);
            assert_eq!(status_of(client.get(format!("{base}/broken"))).await, 503);
            assert_eq!(
                status_of(client.get(format!("{base}/unknown?x"))).await,
                404
            );
            assert_eq!(
                status_of(client.request("BREW".parse().expect("a method"), format!("{base}/pot")))
                    .await,
                404
            );
            assert!(client.get(format!("{base}/panic")).send().await.is_err());
        },
    );
    let Some(outcome) = outcome else { return };

    assert_eq!(
        outcome.names(),
        ["GET", "GET /broken", "GET /gone", "GET /panic", "HTTP"]
    );
    let unknown = outcome.span("GET");
    assert_eq!(
        (
            unknown.get("http.route"),
            unknown.get("url.path").as_deref()
        ),
        (None, Some("/unknown"))
    );
    for name in ["GET", "GET /gone", "HTTP"] {
        let span = outcome.span(name);
        assert_eq!(
            (span.status_code(), span.get("error.type")),
            (0, None),
            "{name}"
        );
        assert_eq!(
            span.parent_span_id, b"",
            "a request without a caller is a root"
        );
    }
    let brew = outcome.span("HTTP");
    assert_eq!(brew.get("http.request.method").as_deref(), Some("_OTHER"));
    assert_eq!(
        brew.get("http.request.method_original").as_deref(),
        Some("BREW")
    );

    let broken = outcome.span("GET /broken");
    assert_eq!(
        (broken.status_code(), broken.get("error.type").as_deref()),
        (2, Some("503"))
    );
    assert!(broken.event("exception").is_none());

    let panic = outcome.span("GET /panic");
    assert_eq!(
        (panic.status_code(), panic.get("error.type").as_deref()),
        (2, Some("panic"))
    );
    assert_eq!(panic.get("nemo.gym.http.disconnected"), None);
    let exception = panic.event("exception").expect("an event");
    assert_eq!(
        text(&exception.attributes, "exception.message").as_deref(),
        Some("see http://h/")
    );
}

#[test]
fn health_routes_make_neither_spans_nor_metrics() {
    let outcome = support::run(
        "health_routes_make_neither_spans_nor_metrics",
        ALL_GROUPS,
        || async {
            let client = serve::plain_client();
            let alive = || Router::new().fallback(any(|| async { "alive" }));
            let base = serve::serve(alive()).await;
            for path in [
                "/health",
                "/healthz",
                "/livez",
                "/readyz",
                "/ping",
                "/ng-rollout/3-1/health?x=1",
            ] {
                assert_eq!(status_of(client.get(format!("{base}{path}"))).await, 200);
            }
            let layer = ServerLayer::builder().health_routes(["/status"]).build();
            let other = serve::serve_at([127, 0, 0, 1].into(), layer.around(alive())).await;
            assert_eq!(
                status_of(client.get(format!("http://{other}/status"))).await,
                200
            );
            assert_eq!(
                status_of(client.get(format!("http://{other}/health"))).await,
                200
            );
        },
    );
    let Some(outcome) = outcome else { return };

    assert_eq!(outcome.names(), ["GET"]);
    assert_eq!(
        outcome.span("GET").get("url.path").as_deref(),
        Some("/health")
    );
    assert_eq!(
        outcome.durations(),
        [("GET".to_owned(), None, Some("200".to_owned()), 1)]
    );
}

#[test]
fn with_the_group_off_only_the_rollout_id_and_the_metrics_are_left() {
    let settings = [("NEMO_GYM_OTEL_SPAN_GROUPS", "verify,http_client")];
    let test = "with_the_group_off_only_the_rollout_id_and_the_metrics_are_left";
    let outcome = support::run(test, &settings, || async {
        let handler = |Extension(rollout): Extension<RolloutId>| async move {
            let _verify = enter!(group::VERIFY, "gym.verify");
            assert_eq!(
                Context::current().rollout_id().map(ToString::to_string),
                Some(rollout.to_string())
            );
            "1.0"
        };
        let base = serve::serve(Router::new().route("/verify", post(handler))).await;
        let request = serve::plain_client().post(format!("{base}/ng-rollout/3-1/verify"));
        assert_eq!(status_of(request.header("traceparent", CALLER)).await, 200);
    });
    let Some(outcome) = outcome else { return };

    assert_eq!(outcome.names(), ["gym.verify"]);
    let verify = outcome.span("gym.verify");
    assert_eq!(verify.parent_span_id, b"");
    assert_ne!(verify.trace_id, CALLER_TRACE);
    let route = Some("/verify".to_owned());
    assert_eq!(
        outcome.durations(),
        [("POST".to_owned(), route, Some("200".to_owned()), 1)]
    );
}

#[test]
fn malformed_headers_and_ids_are_not_taken_over() {
    let outcome = support::run(
        "malformed_headers_and_ids_are_not_taken_over",
        ALL_GROUPS,
        || async {
            let base = serve::serve(Router::new().route("/run", get(|| async {}))).await;
            let client = serve::plain_client();
            let bad = CALLER.replace("00-", "ff-");
            assert_eq!(
                status_of(client.get(format!("{base}/run")).header("traceparent", bad)).await,
                200
            );
            assert_eq!(
                status_of(client.get(format!("{base}/ng-rollout/-1/run"))).await,
                404
            );
        },
    );
    let Some(outcome) = outcome else { return };

    assert_eq!(outcome.span("GET /run").parent_span_id, b"");
    let refused = outcome.span("GET");
    assert_eq!(
        refused.get("url.path").as_deref(),
        Some("/ng-rollout/-1/run")
    );
    assert_eq!(refused.get("nemo.gym.rollout.id"), None);
}

#[test]
fn an_unsampled_caller_is_followed_without_a_span() {
    let outcome = support::run(
        "an_unsampled_caller_is_followed_without_a_span",
        ALL_GROUPS,
        || async {
            let handler = || async {
                let caller = Context::current().span_context().expect("a context");
                assert_eq!(
                    caller.trace_id().to_string(),
                    "0af7651916cd43dd8448eb211c80319c"
                );
                assert_eq!(caller.flags().bits(), 2);
                let _verify = enter!(group::VERIFY, "gym.verify");
            };
            let base = serve::serve(Router::new().route("/run", get(handler))).await;
            let unsampled = CALLER.replace("-03", "-02");
            let request = serve::plain_client().get(format!("{base}/run"));
            assert_eq!(
                status_of(request.header("traceparent", unsampled)).await,
                200
            );
        },
    );
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), [""; 0]);
    assert_eq!(outcome.durations().len(), 1);
}

#[test]
fn nested_routers_give_the_whole_route() {
    let outcome = support::run(
        "nested_routers_give_the_whole_route",
        ALL_GROUPS,
        || async {
            let inner = Router::new().route("/{id}", get(|| async {}));
            let service = Router::new()
                .route("/{id}", get(|| async {}))
                .layer(RouteLayer::new());
            let router = Router::new()
                .nest("/nested", inner)
                .nest_service("/service", service);
            let base = serve::serve(router).await;
            let client = serve::plain_client();
            assert_eq!(status_of(client.get(format!("{base}/nested/1"))).await, 200);
            assert_eq!(
                status_of(client.get(format!("{base}/service/1"))).await,
                200
            );
        },
    );
    let Some(outcome) = outcome else { return };
    assert_eq!(outcome.names(), ["GET /nested/{id}", "GET /service/{id}"]);
}

#[test]
fn a_failing_service_is_an_error_and_its_error_goes_on() {
    let outcome = support::run(
        "a_failing_service_is_an_error_and_its_error_goes_on",
        ALL_GROUPS,
        || async {
            let failing = tower::service_fn(|_: http::Request<()>| async {
                Err::<http::Response<String>, _>(std::io::Error::other(
                    "no disk at http://h/?token=SECRET",
                ))
            });
            let service = ServerLayer::new().layer(failing);
            let request = http::Request::get("/run").body(()).expect("a request");
            let error = tower::ServiceExt::oneshot(service, request)
                .await
                .expect_err("an error");
            assert_eq!(error.to_string(), "no disk at http://h/?token=SECRET");
        },
    );
    let Some(outcome) = outcome else { return };

    let span = outcome.span("GET");
    let exception = span.event("exception").expect("an event");
    assert_eq!(span.status_code(), 2);
    assert_eq!(
        span.get("error.type").as_deref(),
        Some("std::io::error::Error")
    );
    assert_eq!(
        text(&exception.attributes, "exception.message").as_deref(),
        Some("no disk at http://h/")
    );
}
