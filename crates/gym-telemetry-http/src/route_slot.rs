//! How the route gets from the inner layer to the outer one.

use std::sync::{Mutex, PoisonError};

/// An extension of the request in which the route layer leaves the route it was matched to.
///
/// The outer layer owns the span and the inner one only knows the request; between them there may be layers with
/// spans of their own, so the current span is not the way.
#[derive(Debug, Default)]
pub(crate) struct RouteSlot(Mutex<Option<Box<str>>>);

impl RouteSlot {
    /// Leaves a route. Of nested routers the innermost comes last and knows the whole route.
    #[cfg_attr(
        not(feature = "axum"),
        expect(dead_code, reason = "only the axum layer knows routes")
    )]
    pub(crate) fn put(&self, route: &str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(route.into());
    }

    pub(crate) fn take(&self) -> Option<Box<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
