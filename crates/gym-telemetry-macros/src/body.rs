//! Looks into a function's body: inner attributes, and a boxed future at its end.

use crate::tokens::{as_group, is_ident, is_punct};
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

pub(crate) struct Body {
    /// `#![…]`, which must stay first.
    pub(crate) inner_attributes: TokenStream,
    pub(crate) statements: Vec<TokenTree>,
}

impl Body {
    pub(crate) fn parse(body: &Group) -> Body {
        let mut statements: Vec<TokenTree> = body.stream().into_iter().collect();
        let mut attributes = 0;
        while let [hash, bang, rest, ..] = &statements[attributes..]
            && is_punct(hash, '#')
            && is_punct(bang, '!')
            && as_group(rest, Delimiter::Bracket).is_some()
        {
            attributes += 3;
        }
        let inner_attributes = statements.drain(..attributes).collect();
        Body {
            inner_attributes,
            statements,
        }
    }

    /// The body cut at the `async` block of a final `Box::pin(async move { … })`, the form in which `async_trait` and
    /// many hand-written methods return a future.
    pub(crate) fn boxed_future(&self) -> Option<BoxedFuture> {
        let (statements, semicolon) = match self.statements.split_last()? {
            (token, statements) if is_punct(token, ';') => (statements, Some(token.clone())),
            _ => (self.statements.as_slice(), None),
        };
        let (last, before) = statements.split_last()?;
        let call = as_group(last, Delimiter::Parenthesis)?;
        let (start, path) = before.split_at(before.len() - path_length(before));
        if !ends_with_box_pin(path) || !begins_result(start.last(), semicolon.is_some()) {
            return None;
        }
        let mut arguments: Vec<TokenTree> = call.stream().into_iter().collect();
        arguments.pop_if(|token| is_punct(token, ','));
        let block = as_group(&arguments.pop()?, Delimiter::Brace)?;
        match arguments.as_slice() {
            [keyword] if is_ident(keyword, "async") => {}
            [keyword, capture] if is_ident(keyword, "async") && is_ident(capture, "move") => {}
            _ => return None,
        }
        Some(BoxedFuture {
            before: before.to_vec(),
            call,
            keywords: arguments,
            block,
            semicolon,
        })
    }
}

pub(crate) struct BoxedFuture {
    /// The statements before, and `Box::pin`.
    pub(crate) before: Vec<TokenTree>,
    /// The parentheses of the call.
    pub(crate) call: Group,
    /// `async` or `async move`.
    pub(crate) keywords: Vec<TokenTree>,
    pub(crate) block: Group,
    /// What ends a `return`.
    pub(crate) semicolon: Option<TokenTree>,
}

/// How many tokens at the end form a path.
fn path_length(tokens: &[TokenTree]) -> usize {
    let mut length = 0;
    let mut name_next = true;
    for token in tokens.iter().rev() {
        let fits = match token {
            TokenTree::Ident(ident) => name_next && ident.to_string() != "return",
            token => is_punct(token, ':'),
        };
        if !fits {
            break;
        }
        name_next = is_punct(token, ':');
        length += 1;
    }
    length
}

fn ends_with_box_pin(path: &[TokenTree]) -> bool {
    matches!(path, [.., name, first, second, pin]
        if is_ident(name, "Box") && is_punct(first, ':') && is_punct(second, ':') && is_ident(pin, "pin"))
}

/// Whether what follows `token` is the function's result.
fn begins_result(token: Option<&TokenTree>, has_semicolon: bool) -> bool {
    match token {
        Some(token) if is_ident(token, "return") => true,
        _ if has_semicolon => false,
        Some(token) => is_punct(token, ';') || as_group(token, Delimiter::Brace).is_some(),
        None => true,
    }
}
