//! Panics of other people's code, kept from spreading.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A panic that was caught.
#[derive(Debug)]
pub(crate) struct Panic {
    /// What it said, if that was text.
    pub message: Option<String>,
}

impl Panic {
    #[cold]
    #[inline(never)]
    fn from_payload(payload: Box<dyn Any + Send>) -> Self {
        let message = message_of(&*payload).map(str::to_owned);
        if message.is_none() {
            // Dropping a payload of an unknown type might panic again.
            std::mem::forget(payload);
        }
        Self { message }
    }
}

impl std::fmt::Display for Panic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.message {
            Some(message) => write!(f, "panicked: {message}"),
            None => f.write_str("panicked"),
        }
    }
}

/// The text of a panic, if it is text.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> Option<&str> {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Runs `f` and catches its panic. What it leaves half done must be fit for use all the same.
#[inline]
pub(crate) fn contain<T>(f: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(f)).map_err(Panic::from_payload)
}

/// Catches the panics of a future. After one it must not be polled again.
#[derive(Debug)]
pub(crate) struct Contained<F>(pub F);

impl<F: Future + Unpin> Future for Contained<F> {
    type Output = Result<F::Output, Panic>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match contain(|| Pin::new(&mut self.0).poll(context)) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_text() {
        assert_eq!(contain(|| 7).ok(), Some(7));
        let message = |result: Result<(), Panic>| result.expect_err("panicked").message;
        assert_eq!(
            message(contain(|| panic!("static"))).as_deref(),
            Some("static")
        );
        assert_eq!(
            message(contain(|| panic!("number {}", 7))).as_deref(),
            Some("number 7")
        );
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_harmless() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let panic = contain(|| std::panic::panic_any(Bomb)).expect_err("panicked");
        assert_eq!(panic.message, None);
    }
}
