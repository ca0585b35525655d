//! Makes the span and injects the headers.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gym_telemetry_api::is_span_group_enabled;
use gym_telemetry_core::group;
use http::Extensions;
use reqwest::{Request, Response, Url};
use reqwest_middleware::{Error, Next};

use super::Answer;
use crate::PropagationPolicy;
use crate::client::call::{Attempts, Call, Outcome, Target};
use crate::client::running::Running;
use crate::failure::Failure;

/// The logical request that extensions belong to.
#[derive(Clone, Debug)]
struct Logical {
    /// Holds the call while it is not under way: between two attempts, and after the last one until the extensions
    /// are dropped, which is when the client has its answer.
    parked: Arc<Mutex<Option<Call>>>,
    attempts: Weak<Attempts>,
}

impl Logical {
    fn park(&self, call: Call) {
        *self.parked.lock().unwrap_or_else(PoisonError::into_inner) = Some(call);
    }

    fn unpark(&self) -> Option<Call> {
        self.parked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

pub(super) fn handle<'a>(
    policy: &PropagationPolicy,
    mut request: Request,
    extensions: &'a mut Extensions,
    next: Next<'a>,
) -> Answer<'a> {
    let Some((mut call, logical)) = begin(policy, &mut request, extensions) else {
        return next.run(request, extensions);
    };
    let inner = call.watch(|| next.run(request, extensions));
    let running = Running::new(inner, Some(call));
    Box::pin(async move {
        let (answer, call) = running.await;
        if let Some(mut call) = call {
            call.settle(outcome(&answer));
            if !call.is_counted_inside() {
                logical.park(call);
            }
        }
        answer
    })
}

fn begin(
    policy: &PropagationPolicy,
    request: &mut Request,
    extensions: &mut Extensions,
) -> Option<(Call, Logical)> {
    if !is_span_group_enabled(&group::HTTP_CLIENT) {
        return None;
    }
    let method = request.method().clone();
    let url = request.url().clone();
    if let Some(logical) = extensions.get::<Logical>() {
        // Once more, by a middleware that retries further out.
        if let Some(mut call) = logical
            .unpark()
            .filter(|call| call.is_to(&method, &full(&url)))
        {
            call.resend(policy, request.headers_mut());
            return Some((call, logical.clone()));
        }
        // Further in, while the same request is under way further out.
        if let Some(attempts) = logical.attempts.upgrade() {
            attempts.add();
            return None;
        }
    }
    let call = Call::begin(policy, &method, request.headers_mut(), |_| target(&url))?;
    let logical = Logical {
        parked: Arc::default(),
        attempts: call.attempts(),
    };
    extensions.insert(logical.clone());
    Some((call, logical))
}

fn target(url: &Url) -> Target {
    let host = url.host_str().map(|host| {
        host.trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned()
    });
    Target {
        url: full(url),
        host,
        port: url.port_or_known_default(),
    }
}

/// Formats `url` for `url.full`.
fn full(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // A URL that cannot have user-info has none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

fn outcome(answer: &Result<Response, Error>) -> Outcome {
    match answer {
        Ok(response) => Outcome::Answered(response.status()),
        Err(error) => Outcome::Failed(failure(error)),
    }
}

fn failure(error: &Error) -> Failure {
    let cause = causes(error).find_map(<dyn std::error::Error>::downcast_ref::<reqwest::Error>);
    let kind = match (error, cause) {
        (Error::Reqwest(error), _) | (_, Some(error)) if error.is_timeout() => Some("timeout"),
        (Error::Reqwest(error), _) | (_, Some(error)) if error.is_connect() => Some("connect"),
        _ => None,
    };
    Failure::new(&Chain(error), std::any::type_name::<Error>(), kind)
}

/// An error and what caused it: reqwest's own text says no more than which URL.
struct Chain<'a>(&'a Error);

impl Display for Chain<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self.0, formatter)?;
        causes(self.0).try_for_each(|cause| write!(formatter, ": {cause}"))
    }
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
}
