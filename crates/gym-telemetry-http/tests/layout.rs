//! What is left of the layers in the build without telemetry.

use std::convert::Infallible;
use std::future::Ready;
use std::task::{Context, Poll};

use gym_telemetry_api::if_telemetry;
use gym_telemetry_core::RolloutId;
use gym_telemetry_http::ServerLayer;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

type Body = http_body_util::Empty<bytes::Bytes>;

/// Answers with the path and the rollout id that it was asked for, in headers.
#[derive(Clone, Debug)]
struct Echo(#[allow(dead_code, reason = "gives the service a size")] [u8; 3]);

impl Service<Request<()>> for Echo {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        let rollout = request
            .extensions()
            .get::<RolloutId>()
            .map_or("", RolloutId::as_str);
        let response = Response::builder()
            .header("uri", request.uri().to_string())
            .header("rollout", rollout);
        std::future::ready(Ok(response.body(Body::new()).expect("valid headers")))
    }
}

#[tokio::test]
async fn the_rollout_id_is_stripped_in_every_build() {
    let mut service = ServerLayer::new().layer(Echo([0; 3]));
    for (sent, uri, rollout) in [
        ("/ng-rollout/3-1/run?x=1", "/run?x=1", "3-1"),
        ("/ng-rollout/3-1/health", "/health", "3-1"),
        ("/ng-rollout/-1/run", "/ng-rollout/-1/run", ""),
        ("/run", "/run", ""),
    ] {
        let answer = service
            .call(Request::get(sent).body(()).expect("a request"))
            .await
            .expect("infallible");
        let of = |name: &str| answer.headers()[name].to_str().expect("text");
        assert_eq!((of("uri"), of("rollout")), (uri, rollout), "{sent}");
    }
}

if_telemetry!(items {} else {
    mod without_telemetry {
        use std::any::TypeId;

        use gym_telemetry_http::{ClientLayer, ClientService, ServerService};

        use super::*;

        /// The types that a service brings in.
        fn types<S, B>(_: &S) -> [TypeId; 3]
        where
            S: Service<Request<()>, Response = Response<B>, Future: 'static, Error: 'static>,
            B: 'static,
        {
            [TypeId::of::<S::Future>(), TypeId::of::<B>(), TypeId::of::<S::Error>()]
        }

        #[test]
        fn services_have_the_size_and_the_types_of_the_inner_ones() {
            let inner = Echo([0; 3]);
            assert_eq!(size_of::<ServerService<Echo>>(), size_of::<Echo>());
            assert_eq!(size_of::<ClientService<Echo>>(), size_of::<Echo>());
            assert_eq!(types(&ServerLayer::new().layer(inner.clone())), types(&inner));
            assert_eq!(types(&ClientLayer::default().layer(inner.clone())), types(&inner));
            assert_eq!(size_of::<ServerLayer>() + size_of::<ClientLayer>(), 0);
        }
    }
});
