//! The global subscriber and logger of programs that have none.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;

use super::bridge::{Logger, layer};
use super::logger::queue;
use crate::contain::contain;
use crate::warn::warn;

/// Whether a subscriber has, or had, a layer of ours.
static IS_IN_USE: AtomicBool = AtomicBool::new(false);
/// Whether the logger is ours.
static IS_LOGGER: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

pub(super) fn layer_is_in_use() {
    IS_IN_USE.store(true, Ordering::Relaxed);
}

/// Exports what a program says through `tracing` and `log` at `INFO` and above, for programs that have neither a subscriber
/// nor a logger of their own.
///
/// Call it once telemetry has started: if log records are not exported it leaves the program as it is. Otherwise it
/// sets the logger of `log` and the global subscriber of `tracing`, which a process can have one of each, so a program that
/// tries to set its own *later* is refused. Nothing is set, and that is warned about, where the program
/// has one already; use [`log_layer`](crate::log_layer) then. Calling it again changes nothing.
///
/// ```
/// use gym_telemetry_core::ServerIdentity;
/// use gym_telemetry_otel::{init_telemetry, install_log_bridge};
///
/// let _telemetry = init_telemetry(ServerIdentity::default());
/// install_log_bridge();
/// assert_eq!(log::max_level(), log::LevelFilter::Off, "log records are not exported by default");
/// ```
pub fn install_log_bridge() {
    if queue().is_none() {
        return;
    }
    INSTALL.call_once(|| {
        // A subscriber that is set wakes code of the program's.
        if contain(listen).is_err() {
            warn("logs", &"log records are not exported: the logger panicked");
        }
    });
}

fn listen() {
    let is_layer = IS_IN_USE.load(Ordering::Relaxed);
    if log::set_boxed_logger(Box::new(Logger::new())).is_err() {
        if !is_layer {
            // Its logger may live on what `tracing` repeats to it, which a subscriber would end.
            warn(
                "logger",
                &"log records are not exported: the program has a logger of its own and no subscriber with \
                  gym_telemetry_otel::log_layer",
            );
        }
        return;
    }
    log::set_max_level(log::LevelFilter::Info);
    IS_LOGGER.store(true, Ordering::Relaxed);
    let subscriber = Registry::default().with(layer(LevelFilter::INFO));
    if !is_layer && tracing::subscriber::set_global_default(subscriber).is_err() {
        warn(
            "tracing subscriber",
            &"events of tracing are not exported as log records: the program's subscriber has no \
              gym_telemetry_otel::log_layer",
        );
    }
}

/// Warns if log records are to be exported and nothing has ever listened to any.
pub(crate) fn warn_if_deaf() {
    if !IS_IN_USE.load(Ordering::Relaxed) && !IS_LOGGER.load(Ordering::Relaxed) {
        warn(
            "deaf",
            &"no log records are exported although they are switched on: the program has neither called \
              install_log_bridge nor added gym_telemetry_otel::log_layer to its subscriber",
        );
    }
}
