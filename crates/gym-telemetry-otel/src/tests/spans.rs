//! What a span records.

use super::*;

#[test]
fn a_span_is_exported_with_its_name_attributes_and_times() {
    let rig = Rig::new();
    let span = Span::start_on(rig.recorder, "work", SpanOptions::default(), |attributes| {
        attributes.set("n", &7_i64);
    });
    span.set_attribute("late", "yes");
    span.end();
    rig.flush();
    let span = rig.memory.span("work");
    assert_eq!(span.attributes.len(), 2);
    assert!(span.end_time >= span.start_time);
    let receipt = rig.shut_down();
    assert_eq!(receipt.exported, 1);
    rig.assert_accounted(&receipt);
}

#[test]
fn a_span_that_runs_a_closure_is_current_in_it_and_stays_open() {
    let rig = Rig::new();
    let start = |name| Span::start_on(rig.recorder, name, SpanOptions::default(), |_| {});
    let parent = start("parent");
    let child = parent.run(|| {
        crate::set_current_attributes(|attributes| attributes.set("inside", &true));
        start("child")
    });
    assert_eq!(crate::Context::current().span_context(), None);
    assert!(parent.is_recording());
    drop((child, parent));
    rig.flush();
    let parent = rig.memory.span("parent");
    assert_eq!(parent.attributes.len(), 1);
    assert_eq!(
        rig.memory.span("child").parent_span_id,
        parent.span_context.span_id()
    );
    rig.shut_down();
}
