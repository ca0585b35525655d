//! The private macros that differ between the builds, and the public one that is the difference.

// `{ what the other build evaluates to } { what this build evaluates to }`
#[doc(hidden)]
#[macro_export]
macro_rules! __telemetry {
    ({ $off:expr } { $($on:tt)* }) => {
        $($on)*
    };
}

// `(gate) (name) [option: value, …] [key => value, …]`. The closures keep panics of the arguments from the caller.
#[doc(hidden)]
#[macro_export]
macro_rules! __start_span {
    (($($gate:tt)*) $name:tt $options:tt $attributes:tt) => {
        if $crate::__gate!($($gate)*) {
            $crate::__private::start($crate::__span! { ($($gate)*) $name $options $attributes })
        } else {
            $crate::Span::none()
        }
    };
}

// The same for a span that is entered at once. The guard of a span that is not recorded is a constant, so that nothing
// is left to do where it is dropped.
#[doc(hidden)]
#[macro_export]
macro_rules! __enter_span {
    (($($gate:tt)*) $name:tt $options:tt $attributes:tt) => {
        if $crate::__gate!($($gate)*) {
            $crate::__private::enter($crate::__span! { ($($gate)*) $name $options $attributes })
        } else {
            $crate::Span::entered($crate::Span::none())
        }
    };
}

// A closure that starts the span.
#[doc(hidden)]
#[macro_export]
macro_rules! __span {
    (($($gate:tt)*) ($name:expr) [$($option:ident: $value:expr,)*] [$($key:expr => $attribute:expr,)*]) => {
        || {
            $crate::Span::start(
                $name,
                $crate::SpanOptions { $($option: $value,)* ..$crate::__defaults!($($gate)*) },
                |attributes| { $(attributes.set($key, &$attribute);)* },
            )
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __gate {
    (process) => {
        $crate::__private::is_recording_process()
    };
    ($mode:ident $group:expr) => {
        $crate::__private::is_enabled(|| &$group)
    };
}

// `(span)` or `()`, `[key => value, …]`
#[doc(hidden)]
#[macro_export]
macro_rules! __set_attributes {
    (() [$($key:expr => $attribute:expr,)*]) => {
        $crate::set_current_attributes(|attributes| { $(attributes.set($key, &$attribute);)* })
    };
    (($span:expr) [$($key:expr => $attribute:expr,)*]) => {
        $crate::Span::set(&$span, |attributes| { $(attributes.set($key, &$attribute);)* })
    };
}

// `(span)` or `()`, `(name) [key => value, …]`
#[doc(hidden)]
#[macro_export]
macro_rules! __add_event {
    (() ($name:expr) [$($key:expr => $attribute:expr,)*]) => {
        $crate::__private::add_current_event(|| $name, |attributes| { $(attributes.set($key, &$attribute);)* })
    };
    (($span:expr) ($name:expr) [$($key:expr => $attribute:expr,)*]) => {
        $crate::__private::add_event(&$span, || $name, |attributes| { $(attributes.set($key, &$attribute);)* })
    };
}

// `plain|err { span } { future }`. The span starts first: the future may move what the attributes borrow.
#[doc(hidden)]
#[macro_export]
macro_rules! __future {
    ($failure:ident { $span:expr } { $future:expr }) => {{
        let span: $crate::Span = $span;
        let future = $future;
        $crate::__in_span!($failure, future, span)
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __in_span {
    (plain, $future:expr, $span:expr) => {
        $crate::FutureExt::in_span($future, $span)
    };
    (err, $future:expr, $span:expr) => {
        $crate::FutureExt::in_span_err($future, $span)
    };
}

// A statement: `{ span }`, for the rest of the block.
#[doc(hidden)]
#[macro_export]
macro_rules! __scope {
    ({ $($start:tt)* }) => {
        let _entered: $crate::Entered = $($start)*;
    };
}

// A function's body: `{ span } err { before } { inside } (Output) { body }`. A closure catches `?` and `return`. Where
// nothing is recorded nothing stands around the call of it.
#[doc(hidden)]
#[macro_export]
macro_rules! __result_body {
    ({ $($start:tt)* } err { $($before:tt)* } { $($inside:tt)* } ($($output:tt)*) { $($body:tt)* }) => {{
        $($before)*
        let span: $crate::Span = $($start)*;
        let once = $crate::__private::ONCE;
        let body = $crate::__closure!(($($output)*) {
            let _once = once;
            $($inside)*
            $($body)*
        });
        match $crate::__private::recorded(span) {
            ::core::option::Option::None => body(),
            ::core::option::Option::Some(span) => {
                let (entered, result) = $crate::__private::run(span, body);
                $crate::__private::conclude(entered, &result);
                result
            }
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __closure {
    (() { $($body:tt)* }) => {
        (move || { $($body)* })
    };
    (($($output:tt)+) { $($body:tt)* }) => {
        (move || -> $($output)+ { $($body)* })
    };
}

// An async function's body: `{ span } plain|err { before } { inside } (Output) { body }`. Without an output there is
// no expression at the end: lints would ask the caller for a semicolon. The wrapper looks at its span by itself: a branch
// around it takes more than it saves.
#[doc(hidden)]
#[macro_export]
macro_rules! __async_body {
    ({ $($start:tt)* } $failure:ident { $($before:tt)* } { $($inside:tt)* } (()) { $($body:tt)* }) => {
        $($before)*
        let span: $crate::Span = $($start)*;
        $crate::__in_span!($failure, $crate::__block!((()) { $($inside)* $($body)* }), span).await;
    };
    ({ $($start:tt)* } $failure:ident { $($before:tt)* } { $($inside:tt)* } $output:tt { $($body:tt)* }) => {
        $($before)*
        let span: $crate::Span = $($start)*;
        $crate::__in_span!($failure, $crate::__block!($output { $($inside)* $($body)* }), span).await
    };
}

// An async block of a type, which makes coercions and `?` work as in the function itself.
#[doc(hidden)]
#[macro_export]
macro_rules! __block {
    (($($output:tt)*) { $($body:tt)* }) => {
        async move {
            $crate::__output! { $($output)* }
            $($body)*
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __output {
    () => {};
    ($($output:tt)+) => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let output: $($output)+ = $crate::__private::never();
                return output;
            }
        }
    };
}

// A statement at the head of a function that ends in a boxed future: `name { span }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed_start {
    ($name:ident { $($start:tt)* }) => {
        let $name: $crate::Span = $($start)*;
    };
}

// The future inside the box: `name plain|err [async move] { body }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed_future {
    ($name:ident $failure:ident [$($keywords:tt)*] $body:tt) => {
        $crate::__in_span!($failure, $($keywords)* $body, $name)
    };
}

// A statement at the head of a boxed future that is given `err`.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed_result {
    () => {};
}

/// Chooses code by whether telemetry is compiled in.
///
/// `if_telemetry!({ … } else { … })` is an expression, `if_telemetry!(items { … } else { … })` stands where items
/// stand. `else { … }` can be left out. The code that is not chosen is not compiled, so it need not even resolve.
///
/// Crates above the facade use this instead of testing a feature of their own: another crate may have turned the
/// facade's feature on.
///
/// # Off build
///
/// The code after `else` is chosen.
///
/// ```
/// use gym_telemetry_api::if_telemetry;
///
/// if_telemetry!(items {
///     struct Observer { waits: Vec<u64> }
/// } else {
///     struct Observer;
/// });
///
/// let observer = if_telemetry!({ Observer { waits: Vec::new() } } else { Observer });
/// let is_observed = size_of_val(&observer) > 0;
/// assert_eq!(is_observed, gym_telemetry_api::TELEMETRY_COMPILED_IN);
/// ```
#[macro_export]
macro_rules! if_telemetry {
    (items { $($on:item)* } $(else { $($off:item)* })?) => {
        $($on)*
    };
    ($on:block) => {
        $on
    };
    ($on:block else $off:block) => {
        $on
    };
}
