//! The attribute's own arguments: `GROUP, NAME, err, option: value, KEY => value, crate = path`.

use crate::tokens::{Error, group, is_ident, is_punct, path, punct};
use proc_macro::{Delimiter, Spacing, Span, TokenStream, TokenTree};

const USAGE: &str =
    "expected `#[trace_fn(GROUP, NAME)]`, then optionally `err`, options and `KEY => value` pairs";

pub(crate) struct Arguments {
    /// Everything but `err` and `crate = …`, for the facade's macros to parse.
    span: TokenStream,
    /// Whether an `Err` that the function returns is a failure of the span.
    pub(crate) err: bool,
    facade: TokenStream,
}

impl Arguments {
    pub(crate) fn parse(stream: TokenStream) -> Result<Arguments, Error> {
        let mut arguments = Arguments {
            span: TokenStream::new(),
            err: false,
            facade: path(&["gym_telemetry_api"]),
        };
        let mut kept = 0;
        for element in split_at_commas(stream) {
            match element.tokens.as_slice() {
                [token] if kept >= 2 && is_ident(token, "err") => {
                    if arguments.err {
                        return Err(Error::new(token.span(), "`err` is given twice"));
                    }
                    arguments.err = true;
                }
                [name, equals, path @ ..]
                    if is_ident(name, "crate") && is_punct(equals, '=') && !path.is_empty() =>
                {
                    arguments.facade = path.iter().cloned().collect();
                }
                [] => {
                    let span = element
                        .comma
                        .map_or_else(Span::call_site, |comma| comma.span());
                    return Err(Error::new(span, USAGE));
                }
                _ => {
                    kept += 1;
                    arguments.span.extend(element.tokens);
                    arguments.span.extend(element.comma);
                }
            }
        }
        if kept < 2 {
            return Err(Error::new(Span::call_site(), USAGE));
        }
        Ok(arguments)
    }

    /// The arguments for the facade's macro, as one bracketed group.
    pub(crate) fn span(&self) -> TokenTree {
        group(Delimiter::Bracket, self.span.clone())
    }

    /// `::gym_telemetry_api::NAME!`
    pub(crate) fn macro_path(&self, name: &str) -> TokenStream {
        let mut stream = self.facade.clone();
        stream.extend([
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            crate::tokens::hygienic(name),
            punct('!', Spacing::Alone),
        ]);
        stream
    }
}

struct Element {
    tokens: Vec<TokenTree>,
    comma: Option<TokenTree>,
}

/// Splits at the commas outside of brackets. A comma between angle brackets splits too, which does no harm: the pieces
/// are put together again, only the words `err` and `crate =` are taken out.
fn split_at_commas(stream: TokenStream) -> Vec<Element> {
    let mut elements = Vec::new();
    let mut tokens = Vec::new();
    for token in stream {
        if is_punct(&token, ',') {
            elements.push(Element {
                tokens: std::mem::take(&mut tokens),
                comma: Some(token),
            });
        } else {
            tokens.push(token);
        }
    }
    if !tokens.is_empty() {
        elements.push(Element {
            tokens,
            comma: None,
        });
    }
    elements
}
