//! Twins return the same, in both builds.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use noop_probes::twins::{attribute, macros, wrappers};

/// Polls until ready; the probes are pending a few times at most.
fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..100 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("still pending after 100 polls");
}

macro_rules! twins {
    ($($module:ident::$function:ident($($argument:expr),*);)*) => {$(
        assert_eq!(
            $module::instrumented::$function($($argument),*),
            $module::plain::$function($($argument),*),
        );
    )*};
}

macro_rules! async_twins {
    ($($module:ident::$function:ident($($argument:expr),*);)*) => {$(
        assert_eq!(
            wait($module::instrumented::$function($($argument),*)),
            wait($module::plain::$function($($argument),*)),
        );
    )*};
}

#[test]
fn synchronous_twins_return_the_same() {
    twins! {
        attribute::closures(&[1, 2, 3]);
        attribute::drop_order(String::from("one"), vec![1], vec![2]);
        attribute::early_return(3);
        attribute::early_return(30);
        attribute::generic_instances();
        attribute::lifetimes(" one ", "two");
        attribute::loops(&[1, 7, 9]);
        attribute::patterns((1, 2), [3, 4, 5], String::from("six"));
        attribute::question_mark(0);
        attribute::question_mark(1);
        attribute::question_mark(9);
        attribute::simple(5);
        macros::closures(&[1, 2, 3]);
        macros::clock(1);
        macros::drop_order(String::from("one"), vec![2]);
        macros::early_return(3);
        macros::early_return(30);
        macros::entered(1);
        macros::expression_position(Some(5));
        macros::expression_position(None);
        macros::generic_instances();
        macros::loops(&[1, 7, 9]);
        macros::nested(1);
        macros::question_mark(0);
        macros::question_mark(1);
        macros::question_mark(9);
        macros::simple(1);
        macros::ungated(1);
        wrappers::attached(1);
        wrappers::carried(1);
        wrappers::clock(1);
        wrappers::dropped(1);
        wrappers::ended(1);
        wrappers::entered(1);
        wrappers::gate(1);
    }
}

#[test]
fn asynchronous_twins_return_the_same() {
    async_twins! {
        attribute::early_return_async(&[1, 2]);
        attribute::generic_async_instances(1);
        attribute::large_parameter([1; 64]);
        attribute::nested_async(1);
        attribute::question_mark_async(0);
        attribute::question_mark_async(1);
        attribute::question_mark_async(9);
        attribute::simple_async(1);
        macros::block_async(0);
        macros::block_async(9);
        macros::generic_async_instances(1);
        macros::guard_over_await(1);
        macros::large_local(1);
        macros::loops_async(&[1, 2]);
        macros::nested_async(1);
        macros::owned_local(1);
        macros::question_mark_async(0);
        macros::question_mark_async(9);
        macros::send_future(1);
        macros::simple_async(1);
        wrappers::dropped_between_awaits(1);
        wrappers::in_context(1);
        wrappers::in_span(1);
        wrappers::in_span_err(0);
        wrappers::in_span_err(1);
        wrappers::large_local(1);
    }
}
