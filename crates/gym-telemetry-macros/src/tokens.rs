//! Small helpers over `proc_macro` tokens.

use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

/// What is wrong with the attribute's use, and where.
pub(crate) struct Error {
    message: &'static str,
    span: Span,
}

impl Error {
    pub(crate) fn new(span: Span, message: &'static str) -> Error {
        Error { message, span }
    }

    /// `::core::compile_error! { "message" }` at the place of the mistake.
    pub(crate) fn into_compile_error(self) -> TokenStream {
        let message = TokenTree::Literal(proc_macro::Literal::string(self.message));
        let mut stream = path(&["core", "compile_error"]);
        stream.extend([
            punct('!', Spacing::Alone),
            group(Delimiter::Brace, message.into()),
        ]);
        respan(stream, self.span)
    }
}

/// An identifier that the caller's code cannot see, nor be seen by.
pub(crate) fn hygienic(name: &str) -> TokenTree {
    Ident::new(name, Span::mixed_site()).into()
}

pub(crate) fn punct(character: char, spacing: Spacing) -> TokenTree {
    let mut punct = Punct::new(character, spacing);
    punct.set_span(Span::mixed_site());
    punct.into()
}

pub(crate) fn group(delimiter: Delimiter, stream: TokenStream) -> TokenTree {
    let mut group = Group::new(delimiter, stream);
    group.set_span(Span::mixed_site());
    group.into()
}

/// The absolute path `::a::b`.
pub(crate) fn path(segments: &[&str]) -> TokenStream {
    let mut stream = TokenStream::new();
    for segment in segments {
        stream.extend([
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            hygienic(segment),
        ]);
    }
    stream
}

pub(crate) fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == name)
}

pub(crate) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

/// The group inside `token`, looking through the invisible groups that `macro_rules!` wraps fragments in.
pub(crate) fn as_group(token: &TokenTree, delimiter: Delimiter) -> Option<Group> {
    let TokenTree::Group(group) = token else {
        return None;
    };
    if group.delimiter() == delimiter {
        return Some(group.clone());
    }
    if group.delimiter() != Delimiter::None {
        return None;
    }
    let mut inner = group.stream().into_iter();
    match (inner.next(), inner.next()) {
        (Some(token), None) => as_group(&token, delimiter),
        _ => None,
    }
}

/// Whether `stream` holds a token for which `predicate` holds, at any depth.
pub(crate) fn contains(stream: TokenStream, predicate: &impl Fn(&TokenTree) -> bool) -> bool {
    stream.into_iter().any(|token| match token {
        TokenTree::Group(group) => contains(group.stream(), predicate),
        token => predicate(&token),
    })
}

fn respan(stream: TokenStream, span: Span) -> TokenStream {
    stream
        .into_iter()
        .map(|token| {
            let mut token = match token {
                TokenTree::Group(old) => group(old.delimiter(), respan(old.stream(), span)),
                token => token,
            };
            token.set_span(span);
            token
        })
        .collect()
}
