//! One logical request: its span, its headers, and how often it was sent.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use gym_telemetry_api::__private::{PropagationSettings, propagation_settings};
use gym_telemetry_api::{Context, Span, managed_span, set_span_attributes};
use gym_telemetry_core::value::StaticStr;
use gym_telemetry_core::{SpanKind, attribute, group, propagation, scope, span};
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};

use crate::failure::{Failure, Panic};
use crate::{PropagationPolicy, method};

/// Where a request goes.
#[derive(Debug)]
pub(crate) struct Target {
    /// Without user-info, query and fragment.
    pub(crate) url: String,
    pub(crate) host: Option<String>,
    pub(crate) port: Option<u16>,
}

/// How often a logical request was sent, counted where it is sent.
#[derive(Debug, Default)]
pub(crate) struct Attempts(AtomicU32);

impl Attempts {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What came of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answered(StatusCode),
    Failed(Failure),
}

/// A logical request that is under way. Dropping it is giving it up: the span ends without a status.
#[derive(Debug)]
pub(crate) struct Call {
    span: Span,
    method: Method,
    target: Target,
    /// Sends that were counted further in.
    attempts: Arc<Attempts>,
    /// Resends that were seen here.
    resends: u32,
    outcome: Option<Outcome>,
}

impl Call {
    /// Starts the span and sets the headers, where the group is on. `None` if there is no span.
    pub(crate) fn begin(
        policy: &PropagationPolicy,
        method: &Method,
        headers: &mut HeaderMap,
        target: impl FnOnce(&HeaderMap) -> Target,
    ) -> Option<Self> {
        let settings = propagation_settings()?;
        let target = target(headers);
        let context = Context::current();
        if !settings.client_spans() {
            inject(policy, settings, &context, &target, headers);
            return None;
        }
        let span = client_span(method, &target, &context);
        inject(
            policy,
            settings,
            &context.with_span(&span),
            &target,
            headers,
        );
        let method = method.clone();
        Some(Self {
            span,
            method,
            target,
            attempts: Arc::default(),
            resends: 0,
            outcome: None,
        })
    }

    /// Says whether a request to `url` can be this one, sent again.
    #[cfg_attr(
        not(feature = "reqwest"),
        expect(dead_code, reason = "only reqwest's middleware resumes calls")
    )]
    pub(crate) fn is_to(&self, method: &Method, url: &str) -> bool {
        self.method == *method && self.target.url == url
    }

    /// Takes the request up again, in a new copy without the headers.
    #[cfg_attr(
        not(feature = "reqwest"),
        expect(dead_code, reason = "only reqwest's middleware resumes calls")
    )]
    pub(crate) fn resend(&mut self, policy: &PropagationPolicy, headers: &mut HeaderMap) {
        self.resends += 1;
        if let Some(settings) = propagation_settings() {
            let context = Context::current().with_span(&self.span);
            inject(policy, settings, &context, &self.target, headers);
        }
    }

    /// Says whether sends are counted further in, so that the whole request is seen from here.
    #[cfg_attr(
        not(feature = "reqwest"),
        expect(dead_code, reason = "only reqwest's middleware resumes calls")
    )]
    pub(crate) fn is_counted_inside(&self) -> bool {
        self.attempts.get() > 0
    }

    /// The counter for whoever sends the request; it is gone when the request is over.
    pub(crate) fn attempts(&self) -> Weak<Attempts> {
        Arc::downgrade(&self.attempts)
    }

    /// Runs `f` with the span as the current one.
    pub(crate) fn run<T>(&self, f: impl FnOnce() -> T) -> T {
        self.span.run(f)
    }

    /// Does the same; a panic is a failure of the request.
    pub(crate) fn watch<T>(&mut self, f: impl FnOnce() -> T) -> T {
        match Panic::catch(|| self.run(f)) {
            Ok(value) => value,
            Err(panic) => {
                self.outcome = Some(Outcome::Failed(panic.failure()));
                panic.resume()
            }
        }
    }

    /// Remembers what came of the request, until it is sent again or closed.
    pub(crate) fn settle(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    /// Ends the span.
    pub(crate) fn close(mut self, outcome: Outcome) {
        self.settle(outcome);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let span = std::mem::replace(&mut self.span, Span::none());
        let resends = self.resends + self.attempts.get().saturating_sub(1);
        if resends > 0 {
            set_span_attributes!(span; attribute::HTTP_REQUEST_RESEND_COUNT => resends);
        }
        match &self.outcome {
            Some(Outcome::Answered(status)) => {
                set_span_attributes!(span; attribute::HTTP_RESPONSE_STATUS_CODE => status.as_u16());
            }
            Some(Outcome::Failed(failure)) => failure.record(&span),
            None => {}
        }
        span.end();
    }
}

fn client_span(method: &Method, target: &Target, context: &Context) -> Span {
    let recorded = method::recorded(method);
    managed_span!(
        group::HTTP_CLIENT,
        span::http_client(method.as_str()),
        kind: SpanKind::Client,
        scope: scope::GYM,
        attribute::HTTP_REQUEST_METHOD => StaticStr(recorded),
        attribute::HTTP_REQUEST_METHOD_ORIGINAL => (recorded == method::OTHER).then(|| method.as_str()),
        attribute::URL_FULL => &target.url,
        attribute::SERVER_ADDRESS => target.host.as_deref(),
        attribute::SERVER_PORT => target.port,
        attribute::ROLLOUT_ID => context.rollout_id(),
    )
}

/// Writes the trace headers; the one place that does.
fn inject(
    policy: &PropagationPolicy,
    settings: &PropagationSettings,
    context: &Context,
    target: &Target,
    headers: &mut HeaderMap,
) {
    let span = context.span_context();
    let baggage = context.baggage();
    if !settings.propagate() || (span.is_none() && baggage.is_none()) {
        return;
    }
    if !target
        .host
        .as_deref()
        .is_some_and(|host| policy.permits(host, settings))
    {
        return;
    }
    // What the caller has written stays. A `tracestate` goes with its `traceparent` only.
    let span = span.filter(|_| !headers.contains_key(propagation::TRACEPARENT));
    let baggage = baggage.filter(|_| !headers.contains_key(propagation::BAGGAGE));
    propagation::inject(span.as_ref(), baggage, |name, value| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    });
}
