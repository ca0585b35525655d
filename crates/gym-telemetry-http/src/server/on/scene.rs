//! What the service's future and then its body keep of a request.

use gym_telemetry_api::Context;

use super::exchange::Exchange;
use crate::failure::Panic;

/// The context a request is handled in and the exchange it is part of, as far as telemetry cares about either.
#[derive(Debug, Default)]
pub(super) struct Scene {
    /// What the request brought along.
    pub(super) context: Option<Context>,
    /// Holds the span.
    pub(super) exchange: Option<Exchange>,
}

impl Scene {
    /// Runs `f` in the context and in the span.
    pub(super) fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        let in_span = || match &self.exchange {
            Some(exchange) => exchange.run(f),
            None => f(),
        };
        match &self.context {
            Some(context) => context.run(in_span),
            None => in_span(),
        }
    }

    /// Does the same; a panic is a failure of the exchange.
    pub(super) fn watch<T>(&mut self, f: impl FnOnce() -> T) -> T {
        if self.exchange.is_none() {
            return self.run(f);
        }
        match Panic::catch(|| self.run(f)) {
            Ok(value) => value,
            Err(panic) => {
                if let Some(exchange) = &mut self.exchange {
                    exchange.failed(&panic.failure());
                }
                panic.resume()
            }
        }
    }
}
