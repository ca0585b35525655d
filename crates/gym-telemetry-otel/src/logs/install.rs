//! The global subscriber and logger of programs that have none.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt;

use super::bridge::{Logger, layer};
use crate::contain::contain;
use crate::warn::warn;

/// Whether the program has asked for a layer.
static IS_MADE: AtomicBool = AtomicBool::new(false);
/// Whether a subscriber has a layer of ours.
static IS_IN_USE: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

pub(super) fn layer_is_made() {
    IS_MADE.store(true, Ordering::Relaxed);
}

pub(super) fn layer_is_in_use() {
    IS_IN_USE.store(true, Ordering::Relaxed);
}

/// Listens to `tracing` and `log`, as far as the program has not arranged that itself. Calling it again changes
/// nothing.
pub(crate) fn install() {
    INSTALL.call_once(|| {
        // A subscriber that is set wakes code of the program's.
        if contain(listen).is_err() {
            warn("logs", &"log records are not exported: the logger panicked");
        }
    });
}

fn listen() {
    let is_in_use = IS_IN_USE.load(Ordering::Relaxed);
    if IS_MADE.load(Ordering::Relaxed) && !is_in_use {
        // The program is about to set a subscriber and, as it may, a logger. Neither may be there before.
        return;
    }
    let is_ours = !is_in_use && {
        let subscriber = Registry::default().with(layer(LevelFilter::INFO));
        tracing::subscriber::set_global_default(subscriber).is_ok()
    };
    if !is_in_use && !is_ours {
        warn(
            "tracing subscriber",
            &"events of tracing are not exported as log records: the program's subscriber has no \
              gym_telemetry_otel::log_layer",
        );
    }
    if log::set_boxed_logger(Box::new(Logger::new())).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    } else if is_ours {
        warn(
            "logger",
            &"records of the log crate are not exported: the program has a logger of its own",
        );
    }
}
