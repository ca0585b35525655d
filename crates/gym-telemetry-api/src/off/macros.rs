//! The private macros that differ between the builds, and the public one that is the difference.
//!
//! An unreachable arm of a `match` is checked like any code and then removed before anything is laid out: it costs
//! nothing, in asynchronous code too. A closure that is never called and `if false` are not free: what they borrow over
//! an `.await` is kept in the future.

// `{ what this build evaluates to } { what the other build evaluates, checked here too }`
#[doc(hidden)]
#[macro_export]
macro_rules! __telemetry {
    ({ $off:expr } { $($on:tt)* }) => {
        match () {
            () => $off,
            #[allow(unreachable_patterns)]
            _ => $($on)*,
        }
    };
}

// `(gate) (name) [option: value, …] [key => value, …]`. The other build evaluates the arguments in closures. This one has
// none: closures are numbered, and the numbers of the caller's own closures, which are part of symbol names, must not
// change.
#[doc(hidden)]
#[macro_export]
macro_rules! __start_span {
    (($($gate:tt)*) ($name:expr) [$($option:ident: $value:expr,)*] [$($key:expr => $attribute:expr,)*]) => {{
        $crate::__check_gate! { $($gate)* }
        let mut attributes = $crate::__private::NO_ATTRIBUTES;
        $crate::__private::check_start(
            $name,
            $crate::SpanOptions { $($option: $value,)* ..$crate::__defaults!($($gate)*) },
            { $(attributes.set($key, &$attribute);)* },
        )
    }};
}

// The same for a span that is entered at once.
#[doc(hidden)]
#[macro_export]
macro_rules! __enter_span {
    ($($span:tt)*) => {
        $crate::Span::entered($crate::__start_span! { $($span)* })
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __check_gate {
    (process) => {};
    ($mode:ident $group:expr) => {
        let _ = $crate::is_span_group_enabled(&$group);
    };
}

// `(span)` or `()`, `[key => value, …]`
#[doc(hidden)]
#[macro_export]
macro_rules! __set_attributes {
    (($($span:expr)?) [$($key:expr => $attribute:expr,)*]) => {{
        $(let _span: &$crate::Span = &$span;)?
        let mut attributes = $crate::__private::NO_ATTRIBUTES;
        $(attributes.set($key, &$attribute);)*
    }};
}

// `(span)` or `()`, `(name) [key => value, …]`
#[doc(hidden)]
#[macro_export]
macro_rules! __add_event {
    (($($span:expr)?) ($name:expr) [$($key:expr => $attribute:expr,)*]) => {{
        $(let _span: &$crate::Span = &$span;)?
        $crate::__private::check_name($name);
        let mut attributes = $crate::__private::NO_ATTRIBUTES;
        $(attributes.set($key, &$attribute);)*
    }};
}

// `plain|err { span } { future }`
#[doc(hidden)]
#[macro_export]
macro_rules! __future {
    ($failure:ident { $span:expr } { $future:expr }) => {{
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let _span: $crate::Span = $span;
            }
        }
        match () {
            () => $future,
            #[allow(unreachable_patterns)]
            _ => $crate::__future_type!($failure),
        }
    }};
}

// An expression of the type of the other arm, which must be that of a future.
#[doc(hidden)]
#[macro_export]
macro_rules! __future_type {
    (plain) => {
        $crate::__private::any_future()
    };
    (err) => {
        $crate::__private::fallible_future()
    };
}

// A statement: `{ span }`, for the rest of the block.
#[doc(hidden)]
#[macro_export]
macro_rules! __scope {
    ({ $($start:tt)* }) => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let _entered: $crate::Entered = $($start)*;
            }
        }
    };
}

// A function's body: `{ span } err { before } { inside } (Output) { body }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __result_body {
    ({ $($start:tt)* } $failure:ident { $($before:tt)* } { $($inside:tt)* } ($($output:tt)*) { $($body:tt)* }) => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let _span: $crate::Span = $($start)*;
                return $crate::__private::fallible();
            }
        }
        $($body)*
    };
}

// An async function's body: `{ span } plain|err { before } { inside } (Output) { body }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __async_body {
    ({ $($start:tt)* } plain { $($before:tt)* } { $($inside:tt)* } ($($output:tt)*) { $($body:tt)* }) => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let _span: $crate::Span = $($start)*;
            }
        }
        $($body)*
    };
    ({ $($start:tt)* } err { $($before:tt)* } { $($inside:tt)* } ($($output:tt)*) { $($body:tt)* }) => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let _span: $crate::Span = $($start)*;
                return $crate::__private::fallible();
            }
        }
        $($body)*
    };
}

// A statement at the head of a function that ends in a boxed future: `name { span }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed_start {
    ($name:ident { $($start:tt)* }) => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => {
                let _span: $crate::Span = $($start)*;
            }
        }
    };
}

// The future inside the box: `name plain|err [async move] { body }`.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed_future {
    ($name:ident $failure:ident [$($keywords:tt)*] $body:tt) => {
        $($keywords)* $body
    };
}

// A statement at the head of a boxed future that is given `err`.
#[doc(hidden)]
#[macro_export]
macro_rules! __boxed_result {
    () => {
        match () {
            () => {}
            #[allow(unreachable_patterns)]
            _ => return $crate::__private::fallible(),
        }
    };
}

/// Chooses code by whether telemetry is compiled in.
///
/// `if_telemetry!({ … } else { … })` is an expression, `if_telemetry!(items { … } else { … })` stands where items
/// stand. `else { … }` can be left out. The code that is not chosen is not compiled, so it need not even resolve.
///
/// Crates above the facade use this instead of testing a feature of their own: another crate may have turned the
/// facade's feature on.
#[macro_export]
macro_rules! if_telemetry {
    (items { $($on:item)* } $(else { $($off:item)* })?) => {
        $($($off)*)?
    };
    ($on:block) => {
        {}
    };
    ($on:block else $off:block) => {
        $off
    };
}
