//! The `#[trace_fn]` attribute of gym-telemetry-api.
//!
//! Use it through the facade, `gym_telemetry_api::trace_fn`, where it is documented. The attribute has no feature and
//! does not know whether telemetry is compiled in: it finds the function's body and return type in the token stream and
//! hands them to a macro of the facade, which does. Tokens of the caller are passed on as they are, spans included, so
//! that errors and lints point at the caller's code. Nothing is parsed beyond what that takes.
#![forbid(unsafe_code)]

mod arguments;
mod body;
mod expand;
mod flow;
mod function;
mod parameters;
mod tokens;

use proc_macro::TokenStream;

/// Records a span around each call of a function; documented at `gym_telemetry_api::trace_fn`.
#[proc_macro_attribute]
pub fn trace_fn(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match expand::trace_fn(arguments, item.clone()) {
        Ok(expansion) => expansion,
        // The function stays beside the error: code that calls it gets no second error.
        Err(error) => [error.into_compile_error(), item].into_iter().collect(),
    }
}

/// Expands to nothing, or to an error if one of the arguments holds a `?`, `return`, `break` or `.await` that would
/// leave it. For the facade's macros only.
#[doc(hidden)]
#[proc_macro]
pub fn __check_arguments(arguments: TokenStream) -> TokenStream {
    match flow::check(arguments) {
        Ok(()) => TokenStream::new(),
        Err(error) => error.into_compile_error(),
    }
}
