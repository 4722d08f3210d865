//! Tags and text of OFX.

use std::borrow::Cow;

use crate::Problem;
use crate::number::quoted;

#[derive(Debug)]
pub(super) enum Token<'a> {
    Open { name: &'a str, line: usize },
    Close { name: &'a str, line: usize },
    Text { text: Cow<'a, str>, line: usize },
}

/// The tokens of a file, up to the first problem.
pub(super) struct Tokens<'a> {
    rest: &'a str,
    line: usize,
    /// `<A/>` is two tokens.
    closing: Option<&'a str>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            line: 1,
            closing: None,
        }
    }

    /// Goes on so many bytes, which it gives back, and counts the lines.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let (passed, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        passed
    }

    fn tag(&mut self) -> Result<Option<Token<'a>>, Problem> {
        let line = self.line;
        for (start, end) in [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")] {
            if self.rest.starts_with(start) {
                let length = self.rest.find(end).ok_or_else(|| Problem::truncated(line, end))?;
                let inside = &self.advance(length + end.len())[start.len().min(length)..length];
                let is_text = start == "<![CDATA[";
                return Ok(is_text.then_some(Token::Text {
                    text: inside.into(),
                    line,
                }));
            }
        }
        if self.rest.starts_with("<!") {
            return Err(Problem::at(
                line,
                "the file has a document type declaration (DTD), which statements never have; it is refused for safety",
            ));
        }
        let length = self
            .rest
            .find('>')
            .ok_or_else(|| Problem::truncated(line, "a tag is closed"))?;
        let inside = self.advance(length + 1)[1..length].trim();
        let (inside, is_close) = match inside.strip_prefix('/') {
            Some(name) => (name, true),
            None => (inside, false),
        };
        let (inside, is_empty) = match inside.strip_suffix('/') {
            Some(name) => (name, true),
            None => (inside, false),
        };
        let name = inside.split_whitespace().next().unwrap_or_default();
        let is_name = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if !is_name {
            let reason = format!(
                "{} is not a tag of OFX; the file is damaged, download it again",
                quoted(inside)
            );
            return Err(Problem::at(line, reason));
        }
        self.closing = is_empty.then_some(name);
        Ok(Some(if is_close {
            Token::Close { name, line }
        } else {
            Token::Open { name, line }
        }))
    }

    fn next_token(&mut self) -> Result<Option<Token<'a>>, Problem> {
        if let Some(name) = self.closing.take() {
            return Ok(Some(Token::Close {
                name,
                line: self.line,
            }));
        }
        while !self.rest.is_empty() {
            if is_tag(self.rest) {
                if let Some(token) = self.tag()? {
                    return Ok(Some(token));
                }
                continue;
            }
            let line = self.line;
            let length = self.rest.match_indices('<').map(|(at, _)| at);
            let length = length.into_iter().find(|at| is_tag(&self.rest[*at..]));
            let text = self.advance(length.unwrap_or(self.rest.len()));
            return Ok(Some(Token::Text {
                text: decoded(text),
                line,
            }));
        }
        Ok(None)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        let token = self.next_token().transpose();
        if matches!(token, Some(Err(_))) {
            self.rest = "";
        }
        token
    }
}

/// Whether a tag begins here. A bare `<` in a text does not.
fn is_tag(text: &str) -> bool {
    text.strip_prefix('<')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)))
}

/// Replaces the references that OFX has. Others stay as they are: nothing is expanded.
fn decoded(text: &str) -> Cow<'_, str> {
    const NAMES: [(&str, char); 6] = [
        ("amp", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("quot", '"'),
        ("apos", '\''),
        ("nbsp", ' '),
    ];
    if !text.contains('&') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let named = part.split_once(';').and_then(|(name, rest)| {
            let number = name
                .strip_prefix('#')
                .and_then(|number| match number.strip_prefix(['x', 'X']) {
                    Some(hex) => u32::from_str_radix(hex, 16).ok(),
                    None => number.parse().ok(),
                });
            let known = NAMES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
            Some((known.or_else(|| char::from_u32(number?))?, rest))
        });
        match named {
            Some((character, rest)) => {
                out.push(character);
                out.push_str(rest);
            }
            None => {
                out.push('&');
                out.push_str(part);
            }
        }
    }
    out.into()
}
