//! Puts a function together again around a call of one of the facade's macros.

use crate::arguments::Arguments;
use crate::body::{Body, BoxedFuture};
use crate::function::Function;
use crate::parameters::Bindings;
use crate::tokens::{Error, group, hygienic, punct};
use proc_macro::{Delimiter, Group, Spacing, TokenStream, TokenTree};

pub(crate) fn trace_fn(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let function = Function::parse(item)?;
    let arguments = Arguments::parse(arguments)?;
    let body = Body::parse(&function.body);

    let mut stream = body.inner_attributes.clone();
    match body.boxed_future() {
        _ if function.is_async => {
            stream.extend(whole(&arguments, "__trace_async", &function, body));
        }
        Some(future) if function.returns => stream.extend(boxed(&arguments, future)),
        _ if arguments.err => stream.extend(whole(&arguments, "__trace_result", &function, body)),
        _ => {
            stream.extend(call(
                &arguments,
                "__trace_scope",
                Delimiter::Parenthesis,
                [arguments.span()],
            ));
            stream.extend([punct(';', Spacing::Alone)]);
            stream.extend(body.statements);
        }
    }

    let mut item: TokenStream = function.head.into_iter().collect();
    item.extend([replaced(&function.body, stream)]);
    Ok(item)
}

/// `__trace_async! { [span] err|plain { before } { inside } (Output) { body } }`: the macro decides where the body goes.
fn whole(arguments: &Arguments, name: &str, function: &Function, body: Body) -> TokenStream {
    let bindings = Bindings::parse(function.parameters.clone());
    call(
        arguments,
        name,
        Delimiter::Brace,
        [
            arguments.span(),
            failure(arguments),
            group(Delimiter::Brace, bindings.before()),
            group(Delimiter::Brace, bindings.inside()),
            group(
                Delimiter::Parenthesis,
                function.output.clone().unwrap_or_default(),
            ),
            replaced(&function.body, body.statements.into_iter().collect()),
        ],
    )
}

/// The span starts at the head of the function and goes with the future, which stays inside its `Box::pin`.
fn boxed(arguments: &Arguments, future: BoxedFuture) -> TokenStream {
    let name = hygienic("span");
    let mut stream = call(
        arguments,
        "__trace_boxed",
        Delimiter::Parenthesis,
        [name.clone(), arguments.span()],
    );
    stream.extend([punct(';', Spacing::Alone)]);
    stream.extend(future.before);

    // The braces of the block are the caller's: panics of the future name their place.
    let mut block = TokenStream::new();
    if arguments.err {
        block.extend(call(arguments, "__boxed_result", Delimiter::Brace, []));
    }
    block.extend(future.block.stream());
    let wrapped = call(
        arguments,
        "__boxed_future",
        Delimiter::Parenthesis,
        [
            name,
            failure(arguments),
            group(Delimiter::Bracket, future.keywords.into_iter().collect()),
            replaced(&future.block, block),
        ],
    );
    stream.extend([replaced(&future.call, wrapped)]);
    stream.extend(future.semicolon);
    stream
}

fn failure(arguments: &Arguments) -> TokenTree {
    hygienic(if arguments.err { "err" } else { "plain" })
}

fn call(
    arguments: &Arguments,
    name: &str,
    delimiter: Delimiter,
    content: impl IntoIterator<Item = TokenTree>,
) -> TokenStream {
    let mut stream = arguments.macro_path(name);
    stream.extend([group(delimiter, content.into_iter().collect())]);
    stream
}

/// The caller's brackets, spans included, around other tokens.
fn replaced(old: &Group, stream: TokenStream) -> TokenTree {
    let mut new = Group::new(old.delimiter(), stream);
    new.set_span(old.span());
    new.into()
}
