//! The end of spans that the host program's tracer provider takes part in.

use std::sync::Arc;
use std::time::Duration;

use super::sink::{Batch, Delivery, Job, SpanSink};
use crate::recorder::HostSpans;

/// Tells the host's spans how ours have ended.
#[derive(Debug)]
pub(crate) struct HostSpanSink(pub Arc<HostSpans>);

impl SpanSink for HostSpanSink {
    fn export<'a>(&'a self, batch: &Batch<'_>) -> Job<'a, Delivery> {
        let count = batch.len() as u64;
        let batch = batch.to_span_data();
        Box::pin(async move {
            let told = batch.into_iter().map(|data| self.0.finish(data));
            let exported = told.filter(|is_told| *is_told).count() as u64;
            Delivery {
                exported,
                failed: count - exported,
                trouble: (exported < count)
                    .then(|| "the host's tracer provider did not take them".to_owned()),
            }
        })
    }

    fn shut_down(&self, _budget: Duration) -> Result<(), String> {
        // The provider is the host's.
        Ok(())
    }
}
