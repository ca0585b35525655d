//! The workloads without telemetry: the code of `ours`, block for block.

use std::hint::black_box;

use crate::executor::{Yield, block_on};
use crate::{CHILDREN, Stack};

/// No telemetry at all.
#[must_use]
pub fn stack() -> Stack {
    Stack {
        name: "uninstrumented",
        sequential,
        asynchronous,
        empty,
        flush: || {},
        exported: None,
    }
}

#[inline(never)]
fn child(number: i64) {
    black_box(number);
}

fn sequential() {
    for number in 0..CHILDREN {
        child(number);
    }
}

#[inline(never)]
async fn child_async(number: i64) {
    async {
        Yield::default().await;
        black_box(number);
    }
    .await;
}

fn asynchronous() {
    block_on(async {
        for number in 0..CHILDREN {
            child_async(number).await;
        }
    });
}

fn empty() {
    black_box(());
}
