//! Brings the input of the public macros, and of what the attribute writes, into one form: a gate, a name, options,
//! attributes, whether an error counts, and a future if there is one.

// Input: `[sink] mode ARGUMENTS`. The sink says what becomes of the span; the mode is `group`, `trace` (a group, from
// `#[trace_fn]`) or `process` (no group).
#[doc(hidden)]
#[macro_export]
macro_rules! __span_input {
    ($sink:tt process $name:expr $(, $($rest:tt)*)?) => {
        $crate::__span_rest! { $sink (process) ($name) [] [] plain $($($rest)*)? }
    };
    ($sink:tt process $($input:tt)*) => {
        ::core::compile_error!("expected `NAME`, then optionally options and `KEY => value` pairs")
    };
    ($sink:tt $mode:ident $group:expr, $name:expr $(, $($rest:tt)*)?) => {
        $crate::__span_rest! { $sink ($mode $group) ($name) [] [] plain $($($rest)*)? }
    };
    ($sink:tt $mode:ident $group:expr, $name:expr; $($rest:tt)*) => {
        $crate::__span_rest! { $sink ($mode $group) ($name) [] [] plain ; $($rest)* }
    };
    ($sink:tt $mode:ident $($input:tt)*) => {
        ::core::compile_error!("expected `GROUP, NAME`, then optionally options and `KEY => value` pairs")
    };
}

// Takes options, attributes and `err` from the front, one at a time. Attributes that are literals are marked: the
// type `&str` does not say that a string lives for ever, and one that does need not be copied.
#[doc(hidden)]
#[macro_export]
macro_rules! __span_rest {
    ($sink:tt $gate:tt $name:tt $options:tt $attributes:tt $failure:ident) => {
        $crate::__span_done! { $sink $gate $name $options $attributes $failure }
    };
    ($sink:tt $gate:tt $name:tt $options:tt $attributes:tt $failure:ident ; $future:expr $(,)?) => {
        $crate::__span_done! { $sink $gate $name $options $attributes $failure { $future } }
    };

    ($sink:tt $gate:tt $name:tt $options:tt $attributes:tt plain err $(, $($rest:tt)*)?) => {
        $crate::__span_rest! { $sink $gate $name $options $attributes err $($($rest)*)? }
    };
    ($sink:tt $gate:tt $name:tt $options:tt $attributes:tt plain err ; $($rest:tt)*) => {
        $crate::__span_rest! { $sink $gate $name $options $attributes err ; $($rest)* }
    };

    ($sink:tt $gate:tt $name:tt [$($options:tt)*] $attributes:tt $failure:ident
        $option:ident : $value:expr $(, $($rest:tt)*)?) => {
        $crate::__span_rest! {
            $sink $gate $name [$($options)* $option: $value,] $attributes $failure $($($rest)*)?
        }
    };
    ($sink:tt $gate:tt $name:tt [$($options:tt)*] $attributes:tt $failure:ident
        $option:ident : $value:expr ; $($rest:tt)*) => {
        $crate::__span_rest! {
            $sink $gate $name [$($options)* $option: $value,] $attributes $failure ; $($rest)*
        }
    };

    ($sink:tt $gate:tt $name:tt $options:tt [$($attributes:tt)*] $failure:ident
        $key:expr => $value:literal $(, $($rest:tt)*)?) => {
        $crate::__span_rest! {
            $sink $gate $name $options [$($attributes)* $key => $crate::__private::literal($value),] $failure
            $($($rest)*)?
        }
    };
    ($sink:tt $gate:tt $name:tt $options:tt [$($attributes:tt)*] $failure:ident
        $key:expr => $value:literal ; $($rest:tt)*) => {
        $crate::__span_rest! {
            $sink $gate $name $options [$($attributes)* $key => $crate::__private::literal($value),] $failure
            ; $($rest)*
        }
    };
    ($sink:tt $gate:tt $name:tt $options:tt [$($attributes:tt)*] $failure:ident
        $key:expr => $value:expr $(, $($rest:tt)*)?) => {
        $crate::__span_rest! {
            $sink $gate $name $options [$($attributes)* $key => $value,] $failure $($($rest)*)?
        }
    };
    ($sink:tt $gate:tt $name:tt $options:tt [$($attributes:tt)*] $failure:ident
        $key:expr => $value:expr ; $($rest:tt)*) => {
        $crate::__span_rest! {
            $sink $gate $name $options [$($attributes)* $key => $value,] $failure ; $($rest)*
        }
    };

    ($sink:tt $gate:tt $name:tt $options:tt $attributes:tt $failure:ident $($rest:tt)*) => {
        ::core::compile_error!("expected `KEY => value` or `option: value`")
    };
}

// What becomes of a normalised span.
#[doc(hidden)]
#[macro_export]
macro_rules! __span_done {
    ([value] $gate:tt $name:tt $options:tt $attributes:tt plain) => {
        $crate::__telemetry! {
            { $crate::__private::NO_SPAN }
            { $crate::__start! { $gate $name $options $attributes } }
        }
    };
    ([enter] $gate:tt $name:tt $options:tt $attributes:tt plain) => {
        $crate::__telemetry! {
            { $crate::__private::NOT_ENTERED }
            { $crate::__enter! { $gate $name $options $attributes } }
        }
    };
    ([entered] $gate:tt $name:tt $options:tt $attributes:tt plain) => {
        $crate::__enter! { $gate $name $options $attributes }
    };
    ([start] $gate:tt $name:tt $options:tt $attributes:tt plain) => {
        $crate::__start! { $gate $name $options $attributes }
    };
    ([future] $gate:tt $name:tt $options:tt $attributes:tt $failure:ident { $future:expr }) => {
        $crate::__future! { $failure { $crate::__start! { $gate $name $options $attributes } } { $future } }
    };
    ([attributes ($($span:expr)?)] () () [] [$($key:expr => $attribute:expr,)*] plain) => {
        $crate::__telemetry! {
            { () }
            {{
                $crate::__check_arguments! { $($span,)? $($key, $attribute,)* }
                $crate::__set_attributes! { ($($span)?) [$($key => $attribute,)*] }
            }}
        }
    };
    ([event ($($span:expr)?)] () ($name:expr) [] [$($key:expr => $attribute:expr,)*] plain) => {
        $crate::__telemetry! {
            { () }
            {{
                $crate::__check_arguments! { $($span,)? $name, $($key, $attribute,)* }
                $crate::__add_event! { ($($span)?) ($name) [$($key => $attribute,)*] }
            }}
        }
    };

    ([future] $gate:tt $name:tt $options:tt $attributes:tt $failure:ident) => {
        ::core::compile_error!("expected `; future` at the end")
    };
    ([$($sink:tt)*] $gate:tt $name:tt $options:tt $attributes:tt err $($future:tt)?) => {
        ::core::compile_error!("`err` needs a result to look at: it is for `in_span!` and `#[trace_fn]`")
    };
    ([$sink:ident $($span:tt)?] $gate:tt $name:tt $options:tt $attributes:tt plain { $future:expr }) => {
        ::core::compile_error!("a future after `;` is for `in_span!`")
    };
    ([$sink:ident $span:tt] $gate:tt $name:tt $options:tt $attributes:tt plain) => {
        ::core::compile_error!("options such as `kind:` are for starting a span")
    };
}

// An expression that starts a span, of which each build has its own. The build without telemetry only checks it.
#[doc(hidden)]
#[macro_export]
macro_rules! __start {
    ($gate:tt ($name:expr) [$($option:ident: $value:expr,)*] [$($key:expr => $attribute:expr,)*]) => {{
        $crate::__check_arguments! { $name, $($value,)* $($key, $attribute,)* }
        $($crate::__option! { $option })*
        $crate::__start_span! { $gate ($name) [$($option: $value,)*] [$($key => $attribute,)*] }
    }};
}

// An expression that starts a span and enters it.
#[doc(hidden)]
#[macro_export]
macro_rules! __enter {
    ($gate:tt ($name:expr) [$($option:ident: $value:expr,)*] [$($key:expr => $attribute:expr,)*]) => {{
        $crate::__check_arguments! { $name, $($value,)* $($key, $attribute,)* }
        $($crate::__option! { $option })*
        $crate::__enter_span! { $gate ($name) [$($option: $value,)*] [$($key => $attribute,)*] }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __defaults {
    (process) => {
        $crate::__private::UNGATED_SPAN
    };
    (trace $group:expr) => {
        $crate::__private::TRACED_FUNCTION
    };
    (group $group:expr) => {
        $crate::__private::MANAGED_SPAN
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __option {
    (kind) => {};
    (parent) => {};
    (scope) => {};
    (record_exception) => {};
    (links) => {};
    ($option:ident) => {
        ::core::compile_error!(::core::concat!(
            "unknown option `",
            ::core::stringify!($option),
            "`: a span has `kind`, `parent`, `scope`, `record_exception` and `links`",
        ))
    };
}

// What `#[trace_fn]` writes into a function that is neither async nor given `err`: a statement at the head.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_scope {
    ([$($input:tt)*]) => {
        $crate::__scope! { { $crate::__span_input! { [entered] trace $($input)* } } }
    };
}

// What `#[trace_fn(…, err)]` makes of the body of a function that is not async.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_result {
    ([$($input:tt)*] $($body:tt)*) => {
        $crate::__result_body! { { $crate::__span_input! { [start] trace $($input)* } } $($body)* }
    };
}

// What `#[trace_fn]` makes of the body of an async function.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_async {
    ([$($input:tt)*] $($body:tt)*) => {
        $crate::__async_body! { { $crate::__span_input! { [start] trace $($input)* } } $($body)* }
    };
}

// What `#[trace_fn]` writes into a function that ends in `Box::pin(async move { … })`: this at the head, and
// `__boxed_future!` around the block.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_boxed {
    ($name:ident [$($input:tt)*]) => {
        $crate::__boxed_start! { $name { $crate::__span_input! { [start] trace $($input)* } } }
    };
}
