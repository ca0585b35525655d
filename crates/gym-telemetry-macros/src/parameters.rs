//! The names that a parameter list binds.
//!
//! When telemetry is compiled in, the body of an async function (and of one with `err`) moves into a block of its own.
//! Naming each parameter again inside that block moves them all with it, so that they are dropped where the function
//! would have dropped them: inside the span, the last one first.

use crate::tokens::{group, hygienic, is_ident, is_punct, punct};
use proc_macro::{Delimiter, Ident, Spacing, TokenStream, TokenTree};

/// A parameter's name, and the `mut` before it if there is one.
struct Binding {
    name: Ident,
    mutable: Option<TokenTree>,
}

pub(crate) struct Bindings(Vec<Binding>);

impl Bindings {
    pub(crate) fn parse(parameters: TokenStream) -> Bindings {
        let tokens: Vec<TokenTree> = parameters.into_iter().collect();
        let mut bindings = Vec::new();
        let mut start = 0;
        while start < tokens.len() {
            let end = end_of_parameter(&tokens, start);
            let parameter = &tokens[start..end];
            // Without a colon it is a receiver: `self`, `&mut self`.
            if let Some(colon) =
                (0..parameter.len()).find(|&index| is_single_colon(parameter, index))
            {
                collect(&parameter[..colon], &mut bindings);
            }
            start = end + 1;
        }
        Bindings(bindings)
    }

    /// Statements before the block: they tell the compiler that each `mut` is of use, which is decided inside.
    pub(crate) fn before(&self) -> TokenStream {
        let mut stream = TokenStream::new();
        for binding in self.0.iter().filter(|binding| binding.mutable.is_some()) {
            stream.extend([
                hygienic("let"),
                hygienic("_"),
                punct('=', Spacing::Alone),
                punct('&', Spacing::Alone),
                hygienic("mut"),
                binding.name.clone().into(),
                punct(';', Spacing::Alone),
            ]);
        }
        stream
    }

    /// Statements at the head of the block: `let name = name;` for each parameter, which only the arguments of the
    /// attribute may have a use for.
    pub(crate) fn inside(&self) -> TokenStream {
        let mut stream = TokenStream::new();
        for binding in &self.0 {
            stream.extend(allow("unused_variables"));
            stream.extend([hygienic("let")]);
            stream.extend(binding.mutable.clone());
            stream.extend([
                binding.name.clone().into(),
                punct('=', Spacing::Alone),
                binding.name.clone().into(),
                punct(';', Spacing::Alone),
            ]);
        }
        stream
    }
}

/// `#[allow(lint)]`
fn allow(lint: &str) -> [TokenTree; 2] {
    let lint = TokenStream::from(hygienic(lint));
    let content = [hygienic("allow"), group(Delimiter::Parenthesis, lint)];
    [
        punct('#', Spacing::Alone),
        group(Delimiter::Bracket, content.into_iter().collect()),
    ]
}

/// The index of the comma that ends the parameter which begins at `start`, or the end of the list.
fn end_of_parameter(tokens: &[TokenTree], start: usize) -> usize {
    // Angle brackets hide the commas of a type.
    let mut depth = 0_usize;
    for index in start..tokens.len() {
        let TokenTree::Punct(punct) = &tokens[index] else {
            continue;
        };
        match punct.as_char() {
            '<' => depth += 1,
            // The arrow of `fn(A) -> B` closes nothing.
            '>' if index == start || !is_punct(&tokens[index - 1], '-') => {
                depth = depth.saturating_sub(1);
            }
            ',' if depth == 0 => return index,
            _ => {}
        }
    }
    tokens.len()
}

/// The `:` before a type or a field's pattern, as opposed to the `::` of a path.
fn is_single_colon(tokens: &[TokenTree], index: usize) -> bool {
    let colon_at = |index: usize| tokens.get(index).is_some_and(|token| is_punct(token, ':'));
    colon_at(index) && !colon_at(index + 1) && !index.checked_sub(1).is_some_and(colon_at)
}

fn collect(pattern: &[TokenTree], bindings: &mut Vec<Binding>) {
    let mut mutable = None;
    for (index, token) in pattern.iter().enumerate() {
        let previous = index.checked_sub(1).map(|index| &pattern[index]);
        match token {
            // An attribute of the parameter: `#[allow(…)]`.
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Bracket
                    && previous.is_some_and(|token| is_punct(token, '#')) => {}
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                collect(&inner, bindings);
            }
            TokenTree::Ident(ident) if ident.to_string() == "mut" => {
                // In `&mut name` and `ref mut name` the word belongs to the reference.
                let of_reference =
                    previous.is_some_and(|token| is_punct(token, '&') || is_ident(token, "ref"));
                mutable = (!of_reference).then(|| token.clone());
            }
            TokenTree::Ident(ident) => {
                let mutable = mutable.take();
                if is_binding(ident, pattern, index) {
                    bindings.push(Binding {
                        name: ident.clone(),
                        mutable,
                    });
                }
            }
            _ => {}
        }
    }
}

fn is_binding(ident: &Ident, pattern: &[TokenTree], index: usize) -> bool {
    let name = ident.to_string();
    // Names that begin with an underscore stay with the function: to name them again would be a use of them.
    // Names that begin with a capital are constants, unit structs and the names of structs.
    if name.starts_with('_') || name.starts_with(char::is_uppercase) {
        return false;
    }
    if matches!(
        name.as_str(),
        "self" | "ref" | "box" | "true" | "false" | "crate" | "super"
    ) {
        return false;
    }
    match pattern.get(index + 1) {
        // A field's name, a segment of a path, a macro's name; the name of a struct.
        Some(token) if is_punct(token, ':') || is_punct(token, '!') => false,
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::None,
        _ => true,
    }
}
