//! The life of a server process: telemetry, socket, requests, an orderly end.

use std::io::stdin;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use axum::serve::ListenerExt;
use clap::Args;
use gym_telemetry_api::observe_current_runtime;
use gym_telemetry_core::ServerIdentity;
use gym_telemetry_http::ServerLayer;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

use super::{HEALTH_PATH, Kind, SizesArgs, access, agent, environment, model, resources};
use crate::client::Client;
use crate::failure::Failure;
use crate::limits::{self, Limit};
use crate::runtime;
use crate::telemetry::{self, Telemetry};

/// Requests that are under way when the server is asked to stop get this long to end.
const DRAIN: Duration = Duration::from_secs(3);
/// What still runs after that is left behind.
const RUNTIME_END: Duration = Duration::from_secs(1);

/// `gym-demo serve KIND`
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// What the server does
    #[arg(value_enum)]
    kind: Kind,
    /// Address to listen on; without it, standard input is the listening socket
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Name of the server in the configuration of the gym
    #[arg(long, env = environment::NAME)]
    name: Option<String>,
    /// Where others reach this server
    #[arg(long, env = environment::URL, value_name = "URL")]
    url: Option<String>,
    /// Where the model server is
    #[arg(long, env = environment::MODEL_URL, value_name = "URL", default_value = "")]
    model_url: String,
    /// Where the resources server is
    #[arg(long, env = environment::RESOURCES_URL, value_name = "URL", default_value = "")]
    resources_url: String,
    /// Host names that stand for an address
    #[arg(long, env = environment::HOSTS, value_name = "NAME=ADDRESS", value_parser = environment::read_host, value_delimiter = ',')]
    hosts: Vec<(String, IpAddr)>,
    /// Where to leave what the limits saw
    #[arg(long, env = environment::LIMITS_FILE, value_name = "FILE")]
    limits_file: Option<PathBuf>,
    #[command(flatten)]
    sizes: SizesArgs,
}

/// Runs a server until SIGTERM or SIGINT.
pub(crate) fn serve(mut args: ServeArgs) -> Result<(), Failure> {
    let name = args
        .name
        .take()
        .unwrap_or_else(|| args.kind.server_name().to_owned());
    telemetry::warn_if_compiled_out();
    let telemetry = Telemetry::start(
        ServerIdentity::builder()
            .server_name(name.as_str())
            .server_type(args.kind.server_type())
            .build(),
    );
    let runtime = runtime::build()?;
    let limits_file = args.limits_file.take();
    let served = runtime.block_on(run(args, name));
    // Spans that end when state is dropped are exported, too.
    runtime.shutdown_timeout(RUNTIME_END);
    // The limits are still there: a limit that is dropped is in no export any more.
    telemetry.shut_down();
    let limits = served?;
    if let Some(file) = limits_file {
        limits::write(&file, &limits);
    }
    Ok(())
}

/// Serves, and returns the limits of the server.
async fn run(args: ServeArgs, name: String) -> Result<Vec<Arc<Limit>>, Failure> {
    observe_current_runtime();
    // Before anything can ask the server to stop.
    let stop = stop_signal()?;
    let listener = listener(args.listen)?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::run(format!("cannot listen: {error}")))?;
    let (router, limits) = router(args, name, address)?;
    let router = router
        .route_layer(from_fn(access::log))
        .route(HEALTH_PATH, get(|| async { "ok" }));
    // Around everything, routing included: it takes the rollout id out of the path.
    let server = ServerLayer::new().around(router);
    let drained = async {
        asked(stop.clone()).await;
        sleep(DRAIN).await;
    };
    // Answers are small: waiting for more to send with them would cost 40 ms each.
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
    let requests = axum::serve(listener, server).with_graceful_shutdown(asked(stop.clone()));
    tokio::select! {
        ended = requests => ended.map_err(|error| Failure::run(format!("cannot serve: {error}")))?,
        () = drained => {}
    }
    Ok(limits)
}

/// The routes of a server, and the limits behind them.
fn router(
    args: ServeArgs,
    name: String,
    address: SocketAddr,
) -> Result<(Router, Vec<Arc<Limit>>), Failure> {
    let own_url = args
        .url
        .filter(|url| !url.is_empty())
        .unwrap_or_else(|| format!("http://{address}"));
    Ok(match args.kind {
        Kind::Resources => (resources::router(name), Vec::new()),
        Kind::Model => {
            let slots = args.sizes.generations(&name);
            let model = model::Model {
                name,
                slots: Arc::clone(&slots),
                latency: args.sizes.latency(),
                leaks: args.sizes.model_leaks.into(),
            };
            (model::router(model), vec![slots])
        }
        Kind::Agent => {
            let upstream = args.sizes.upstream(&name);
            let agent = agent::Agent {
                name,
                client: Client::new(
                    &args.hosts,
                    [own_url.as_str(), &args.model_url, &args.resources_url],
                )?,
                own_url,
                model_url: args.model_url,
                resources_url: args.resources_url,
                upstream: Arc::clone(&upstream),
            };
            (agent::router(agent), vec![upstream])
        }
    })
}

/// Opens the address, or takes over the socket that the orchestrator left on standard input.
fn listener(address: Option<SocketAddr>) -> Result<tokio::net::TcpListener, Failure> {
    let listener = match address {
        Some(address) => TcpListener::bind(address)
            .map_err(|error| Failure::run(format!("cannot listen on {address}: {error}")))?,
        None => inherited().ok_or_else(|| {
            Failure::usage(
                "standard input is no listening socket: give an address with --listen ADDRESS:PORT",
            )
        })?,
    };
    listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener))
        .map_err(|error| Failure::run(format!("cannot listen: {error}")))
}

fn inherited() -> Option<TcpListener> {
    let listener = TcpListener::from(stdin().as_fd().try_clone_to_owned().ok()?);
    // Anything but a socket has no address.
    listener.local_addr().ok()?;
    Some(listener)
}

/// Becomes true at the first SIGTERM or SIGINT.
fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
    let failed = |error| Failure::run(format!("cannot handle signals: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let (sender, receiver) = watch::channel(false);
    // Ends with the runtime, which ends with the server.
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
    });
    Ok(receiver)
}

async fn asked(mut stop: watch::Receiver<bool>) {
    // The other side is gone only when the runtime is.
    let _ = stop.wait_for(|stop| *stop).await;
}
