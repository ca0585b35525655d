//! A server on a loopback address.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::Router;
use gym_telemetry_http::ServerLayer;

/// Serves `router` behind the usual layer and returns `http://127.0.0.1:<port>`.
pub async fn serve(router: Router) -> String {
    format!(
        "http://{}",
        serve_at(
            Ipv4Addr::LOCALHOST.into(),
            ServerLayer::new().around(router)
        )
        .await
    )
}

/// Serves `app` as it is.
pub async fn serve_at(address: IpAddr, app: Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind((address, 0))
        .await
        .expect("the loopback network has a free port");
    let address = listener
        .local_addr()
        .expect("a bound socket has an address");
    tokio::spawn(async { axum::serve(listener, app).await });
    address
}

/// A client without middleware that uses each connection once, so that dropping a response closes it.
pub fn plain_client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .build()
        .expect("a client can be built")
}
