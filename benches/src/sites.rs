//! Single places in a program whose group is off, each beside the same code without telemetry.
//!
//! Every function passes its place [`PASSES`] times. The difference between the two of a pair, divided by that, is what
//! the place costs.

use std::hint::black_box;

use gym_telemetry_api::{
    Span, add_event, enter, in_span, managed_span, set_span_attributes, trace_fn,
};

use crate::executor::{Yield, block_on};
use crate::names::{CHILD, NUMBER, WORD};
use crate::ours::OFF;

/// How often a function passes its place.
pub const PASSES: i64 = 1_000;

/// A place and its twin without telemetry.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// How reports call it.
    pub name: &'static str,
    /// Without telemetry.
    pub plain: fn(),
    /// With it.
    pub instrumented: fn(),
}

/// All places.
pub const SITES: [Site; 9] = [
    Site {
        name: "managed_span",
        plain: || loop_over(computed),
        instrumented: || loop_over(managed),
    },
    Site {
        name: "enter",
        plain: || loop_over(computed),
        instrumented: || loop_over(entered),
    },
    Site {
        name: "enter_around_calls",
        plain: || loop_over(calling),
        instrumented: || loop_over(entered_calling),
    },
    Site {
        name: "trace_fn",
        plain: || loop_over(computed),
        instrumented: || loop_over(traced),
    },
    Site {
        name: "trace_fn_err",
        plain: || loop_over(|number| _ = black_box(fallible(number))),
        instrumented: || loop_over(|number| _ = black_box(traced_fallible(number))),
    },
    Site {
        name: "set_attributes",
        plain: || loop_over(computed),
        instrumented: || {
            let span = Span::none();
            loop_over(|number| set_attributes(&span, number));
        },
    },
    Site {
        name: "add_event",
        plain: || loop_over(computed),
        instrumented: || {
            let span = Span::none();
            loop_over(|number| event(&span, number));
        },
    },
    Site {
        name: "in_span_async",
        plain: || block_on(loop_over_async(nested_asynchronous)),
        instrumented: || block_on(loop_over_async(in_span_asynchronous)),
    },
    Site {
        name: "trace_fn_async",
        plain: || block_on(loop_over_async(asynchronous)),
        instrumented: || block_on(loop_over_async(traced_asynchronous)),
    },
];

fn loop_over(work: impl Fn(i64)) {
    for number in 0..PASSES {
        work(black_box(number));
    }
}

async fn loop_over_async<F: Future<Output = i64>>(work: impl Fn(i64) -> F) {
    for number in 0..PASSES {
        black_box(work(black_box(number)).await);
    }
}

#[inline(never)]
fn opaque(number: i64) -> i64 {
    black_box(number).wrapping_mul(3)
}

#[inline]
fn computed(number: i64) {
    black_box(number.wrapping_mul(7));
}

#[inline]
fn managed(number: i64) {
    let _span = managed_span!(OFF, CHILD, WORD => "measured", NUMBER => number);
    black_box(number.wrapping_mul(7));
}

#[inline]
fn entered(number: i64) {
    let _entered = enter!(OFF, CHILD, WORD => "measured", NUMBER => number);
    black_box(number.wrapping_mul(7));
}

#[inline(never)]
fn calling(number: i64) {
    let first = opaque(number);
    black_box(opaque(first));
}

#[inline(never)]
fn entered_calling(number: i64) {
    let _entered = enter!(OFF, CHILD, WORD => "measured", NUMBER => number);
    let first = opaque(number);
    black_box(opaque(first));
}

#[inline]
#[trace_fn(OFF, CHILD, WORD => "measured", NUMBER => number)]
fn traced(number: i64) {
    black_box(number.wrapping_mul(7));
}

#[inline]
fn fallible(number: i64) -> Result<i64, std::fmt::Error> {
    let product = black_box(number.wrapping_mul(7));
    if product < 0 {
        Err(std::fmt::Error)
    } else {
        Ok(product)
    }
}

#[inline]
#[trace_fn(OFF, CHILD, err, WORD => "measured", NUMBER => number)]
fn traced_fallible(number: i64) -> Result<i64, std::fmt::Error> {
    let product = black_box(number.wrapping_mul(7));
    if product < 0 {
        Err(std::fmt::Error)
    } else {
        Ok(product)
    }
}

#[inline]
fn set_attributes(span: &Span, number: i64) {
    set_span_attributes!(span; NUMBER => number);
    black_box(number.wrapping_mul(7));
}

#[inline]
fn event(span: &Span, number: i64) {
    add_event!(span; CHILD, NUMBER => number);
    black_box(number.wrapping_mul(7));
}

async fn asynchronous(number: i64) -> i64 {
    Yield::default().await;
    number.wrapping_mul(7)
}

async fn nested_asynchronous(number: i64) -> i64 {
    asynchronous(number).await
}

async fn in_span_asynchronous(number: i64) -> i64 {
    in_span!(OFF, CHILD, WORD => "measured", NUMBER => number; asynchronous(number)).await
}

#[trace_fn(OFF, CHILD, WORD => "measured", NUMBER => number)]
async fn traced_asynchronous(number: i64) -> i64 {
    Yield::default().await;
    number.wrapping_mul(7)
}
