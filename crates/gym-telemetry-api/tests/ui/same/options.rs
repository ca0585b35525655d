use gym_telemetry_api::{Parent, SpanKind, add_event, enter, group, in_span, managed_span, set_span_attributes, span};

fn main() {
    let _ = managed_span!(group::ROLLOUT, "rollout", level: 3);
    let _ = managed_span!(group::ROLLOUT, "rollout", kind: SpanKind::Client, kind: SpanKind::Server);
    let _ = managed_span!(group::ROLLOUT, "rollout", parent: SpanKind::Client);
    let _ = managed_span!(group::ROLLOUT, "rollout", status_style: Parent::Root);
    let _ = managed_span!(group::ROLLOUT, "rollout", err);
    let _ = managed_span!(group::ROLLOUT, "rollout"; async {});
    let _ = managed_span!(group::ROLLOUT, "rollout", "key");
    let _ = managed_span!(group::ROLLOUT);
    let _ = enter!();
    let _ = span!();
    let _ = in_span!(group::ROLLOUT, "rollout");
    set_span_attributes!(kind: SpanKind::Client);
    add_event!("event", err);
}
