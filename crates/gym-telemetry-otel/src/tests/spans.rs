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
