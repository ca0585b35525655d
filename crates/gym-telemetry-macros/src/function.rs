//! Finds the parts of a function item in its tokens.

use crate::tokens::{Error, as_group, contains, is_ident, is_punct};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

pub(crate) struct Function {
    /// Everything before the body.
    pub(crate) head: Vec<TokenTree>,
    pub(crate) body: Group,
    pub(crate) parameters: TokenStream,
    /// The tokens of the declared return type; `None` when it cannot be written in a `let`: `impl Trait` and `!`.
    pub(crate) output: Option<TokenStream>,
    /// Whether a return type is written.
    pub(crate) returns: bool,
    pub(crate) is_async: bool,
}

impl Function {
    pub(crate) fn parse(item: TokenStream) -> Result<Function, Error> {
        let mut head: Vec<TokenTree> = item.into_iter().collect();
        let Some(keyword) = head.iter().position(|token| is_ident(token, "fn")) else {
            return Err(Error::new(
                head.first().map_or_else(Span::call_site, TokenTree::span),
                "`#[trace_fn]` is for functions and methods",
            ));
        };
        if let Some(token) = head[..keyword]
            .iter()
            .find(|token| is_ident(token, "const"))
        {
            return Err(Error::new(
                token.span(),
                "`#[trace_fn]` cannot instrument a `const fn`: a span cannot be recorded during compilation",
            ));
        }
        let is_async = head[..keyword].iter().any(|token| is_ident(token, "async"));
        let Some(body) = head
            .last()
            .and_then(|token| as_group(token, Delimiter::Brace))
        else {
            return Err(Error::new(
                head[keyword].span(),
                "`#[trace_fn]` needs a function body: put it on the implementation, not on the declaration",
            ));
        };
        head.pop();

        let Some(list) = parameter_list(&head[keyword..]) else {
            return Err(Error::new(
                head[keyword].span(),
                "`#[trace_fn]` found no parameter list",
            ));
        };
        let parameters = as_group(&head[keyword + list], Delimiter::Parenthesis)
            .map(|group| group.stream())
            .unwrap_or_default();
        let after = &head[keyword + list + 1..];
        let returns =
            matches!(after, [dash, arrow, ..] if is_punct(dash, '-') && is_punct(arrow, '>'));
        let output = if returns {
            output(&after[2..])
        } else {
            Some(unit())
        };
        Ok(Function {
            head,
            body,
            parameters,
            output,
            returns,
            is_async,
        })
    }
}

/// The index of the parameter list: the first parentheses after the name that are not part of the generics.
fn parameter_list(tokens: &[TokenTree]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut previous = ' ';
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Punct(punct) = token {
            match punct.as_char() {
                '<' => depth += 1,
                // The arrow of `F: Fn(A) -> B` closes nothing.
                '>' if previous != '-' => depth = depth.saturating_sub(1),
                _ => {}
            }
            previous = punct.as_char();
            continue;
        }
        previous = ' ';
        if depth == 0 && as_group(token, Delimiter::Parenthesis).is_some() {
            return Some(index);
        }
    }
    None
}

fn output(tokens: &[TokenTree]) -> Option<TokenStream> {
    let output: Vec<TokenTree> = tokens
        .iter()
        .take_while(|token| !is_ident(token, "where"))
        .cloned()
        .collect();
    if let [token] = output.as_slice()
        && is_punct(token, '!')
    {
        return None;
    }
    let output: TokenStream = output.into_iter().collect();
    if contains(output.clone(), &|token| is_ident(token, "impl")) {
        return None;
    }
    Some(output)
}

fn unit() -> TokenStream {
    crate::tokens::group(Delimiter::Parenthesis, TokenStream::new()).into()
}
