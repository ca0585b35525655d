//! Refuses arguments that would leave the macro they stand in.
//!
//! With telemetry compiled in, arguments run in closures: `?`, `return`, `break` and `.await` cannot reach the function
//! around them, nor should they, since whether they run depends on a setting. Without telemetry there is no closure
//! (see `off/macros.rs` in the facade), so the tokens are looked at, in both builds for one and the same error.
//! A jump that another macro hides is found by the compiler, in the build with telemetry only.

use crate::tokens::{Error, is_ident, is_punct};
use proc_macro::{Delimiter, Spacing, TokenStream, TokenTree};

/// Finds the first jump out of `arguments`.
pub(crate) fn check(arguments: TokenStream) -> Result<(), Error> {
    scan(arguments, false)
}

fn scan(stream: TokenStream, in_loop: bool) -> Result<(), Error> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut loop_body_next = false;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let before = index.checked_sub(1).map(|index| &tokens[index]);
        if let Some(end) = end_of_nested_body(&tokens, index) {
            index = end;
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                let is_loop_body = loop_body_next && group.delimiter() == Delimiter::Brace;
                loop_body_next &= !is_loop_body;
                scan(group.stream(), in_loop || is_loop_body)?;
            }
            TokenTree::Ident(ident) => match ident.to_string().as_str() {
                "loop" | "while" | "for" => loop_body_next = true,
                "await" if before.is_some_and(|token| is_punct(token, '.')) => {
                    return Err(jump(
                        token,
                        "`.await` is not allowed in the arguments of telemetry macros",
                    ));
                }
                "return" => {
                    return Err(jump(
                        token,
                        "`return` is not allowed in the arguments of telemetry macros",
                    ));
                }
                "break" | "continue" if !in_loop => {
                    return Err(jump(
                        token,
                        "`break` and `continue` cannot leave the arguments of telemetry macros",
                    ));
                }
                _ => {}
            },
            TokenTree::Punct(punct) if punct.as_char() == '?' => {
                return Err(jump(
                    token,
                    "`?` is not allowed in the arguments of telemetry macros",
                ));
            }
            // The operator `||`, not the parameters of a closure.
            TokenTree::Punct(punct)
                if punct.as_char() == '|' && punct.spacing() == Spacing::Joint =>
            {
                index += 1;
            }
            _ => {}
        }
        index += 1;
    }
    Ok(())
}

fn jump(token: &TokenTree, message: &'static str) -> Error {
    Error::new(token.span(), message)
}

/// If an `async` block or a closure begins at `start`, which jumps may stay inside of, the index after it.
fn end_of_nested_body(tokens: &[TokenTree], start: usize) -> Option<usize> {
    let mut index = start;
    let is_async = is_ident(&tokens[index], "async");
    if is_async {
        index += 1;
    }
    if tokens
        .get(index)
        .is_some_and(|token| is_ident(token, "move"))
    {
        index += 1;
    }
    match tokens.get(index)? {
        TokenTree::Group(block) if is_async && block.delimiter() == Delimiter::Brace => {
            Some(index + 1)
        }
        bar if is_punct(bar, '|') && (index > start || begins_expression(tokens, start)) => {
            // A closure's body goes on as far as it can.
            let after = end_of_closure_parameters(tokens, index);
            let length = tokens[after..]
                .iter()
                .position(|token| is_punct(token, ',') || is_punct(token, ';'));
            Some(length.map_or(tokens.len(), |length| after + length))
        }
        _ => None,
    }
}

/// The index after the second of the bars, the first of which is at `start`.
fn end_of_closure_parameters(tokens: &[TokenTree], start: usize) -> usize {
    let length = tokens[start + 1..]
        .iter()
        .position(|token| is_punct(token, '|'));
    length.map_or(tokens.len(), |length| start + 2 + length)
}

/// Whether the token at `index` begins an expression, so that a bar there is no operator.
fn begins_expression(tokens: &[TokenTree], index: usize) -> bool {
    match index.checked_sub(1).map(|index| &tokens[index]) {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() != '?',
        Some(TokenTree::Ident(ident)) => {
            matches!(
                ident.to_string().as_str(),
                "else" | "in" | "match" | "if" | "while" | "return"
            )
        }
        Some(TokenTree::Literal(_) | TokenTree::Group(_)) => false,
    }
}
