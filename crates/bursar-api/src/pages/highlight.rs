//! Colours for code, made when a page is rendered: spans with a class for each kind of token.

use bursar_domain::text::html_escaped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Json,
    Shell,
    Python,
    TypeScript,
    Plain,
}

const PYTHON: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "False", "finally", "for", "from", "if", "import", "in", "is", "lambda", "None", "not", "or",
    "pass", "raise", "return", "True", "try", "while", "with", "yield",
];
const TYPESCRIPT: &[&str] = &[
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "else",
    "export",
    "false",
    "for",
    "from",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "of",
    "return",
    "switch",
    "throw",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "while",
    "yield",
];
const SHELL: &[&str] = &[
    "case", "do", "done", "else", "esac", "export", "fi", "for", "if", "in", "then", "while",
];
const JSON: &[&str] = &["true", "false", "null"];

impl Language {
    const fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Json => JSON,
            Self::Shell => SHELL,
            Self::Python => PYTHON,
            Self::TypeScript => TYPESCRIPT,
            Self::Plain => &[],
        }
    }
}

/// The classes are `c` comment, `s` string, `n` number, `k` keyword, `f` name of a call, `p` name of a field, `v` variable.
pub(super) fn highlighted(language: Language, code: &str) -> String {
    let mut out = String::with_capacity(code.len() * 2);
    let mut rest = code;
    // Names that follow these are of fields.
    while let Some(first) = rest.chars().next() {
        let (class, length) = if language == Language::Plain {
            (None, rest.len())
        } else {
            token(language, rest, first, &code[..code.len() - rest.len()])
        };
        let (this, after) = rest.split_at(length);
        match class {
            Some(class) => {
                out.push_str("<span class=\"");
                out.push_str(class);
                out.push_str("\">");
                out.push_str(&html_escaped(this));
                out.push_str("</span>");
            }
            None => out.push_str(&html_escaped(this)),
        }
        rest = after;
    }
    out
}

/// The class of the token that `rest` starts with, and its length in bytes.
fn token(language: Language, rest: &str, first: char, before: &str) -> (Option<&'static str>, usize) {
    if let Some(length) = comment(language, rest, before) {
        return (Some("c"), length);
    }
    if let Some(length) = string(language, rest) {
        let is_name = language == Language::Json && rest[length..].trim_start().starts_with(':');
        return (Some(if is_name { "p" } else { "s" }), length);
    }
    if first == '$' && language == Language::Shell {
        let name = rest[1..]
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(rest.len(), |end| end + 1);
        if name > 1 {
            return (Some("v"), name);
        }
    }
    if first.is_ascii_digit() {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')
            .unwrap_or(rest.len());
        return (Some("n"), end);
    }
    if first.is_alphabetic() || first == '_' {
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        return (name(language, &rest[..end], &rest[end..], before), end);
    }
    (None, first.len_utf8())
}

fn name(language: Language, word: &str, after: &str, before: &str) -> Option<&'static str> {
    if language.keywords().contains(&word) {
        return Some("k");
    }
    match language {
        Language::Shell => {
            let starts = before.is_empty()
                || before.ends_with('\n')
                || before.ends_with("$(")
                || before.ends_with("| ");
            match () {
                () if starts && after.starts_with('=') => Some("v"),
                () if starts => Some("f"),
                () => None,
            }
        }
        Language::Python | Language::TypeScript => {
            let is_named = match language {
                Language::Python => after.starts_with('=') && !after.starts_with("=="),
                _ => after.starts_with(": "),
            };
            match () {
                () if after.starts_with('(') => Some("f"),
                () if is_named && (before.ends_with(['(', ' ', '{']) && !before.ends_with("? ")) => Some("p"),
                () => None,
            }
        }
        Language::Json | Language::Plain => None,
    }
}

fn comment(language: Language, rest: &str, before: &str) -> Option<usize> {
    let line = |text: &str| text.find('\n').unwrap_or(text.len());
    match language {
        // In a shell, a hash within a word is part of the word.
        Language::Shell if !before.is_empty() && !before.ends_with([' ', '\n']) => None,
        Language::Python | Language::Shell => rest.starts_with('#').then(|| line(rest)),
        Language::TypeScript if rest.starts_with("/*") => {
            Some(rest.find("*/").map_or(rest.len(), |end| end + 2))
        }
        Language::TypeScript => rest.starts_with("//").then(|| line(rest)),
        Language::Json | Language::Plain => None,
    }
}

/// Its length with both quotes.
fn string(language: Language, rest: &str) -> Option<usize> {
    if language == Language::Python && rest.starts_with("\"\"\"") {
        return Some(rest[3..].find("\"\"\"").map_or(rest.len(), |end| end + 6));
    }
    // The letter of an f-string or a bytes literal.
    let prefix =
        usize::from(language == Language::Python && (rest.starts_with("f\"") || rest.starts_with("b\"")));
    let quote = rest[prefix..].chars().next()?;
    let quotes: &[char] = match language {
        Language::Json => &['"'],
        Language::Shell | Language::Python => &['"', '\''],
        Language::TypeScript => &['"', '\'', '`'],
        Language::Plain => &[],
    };
    if !quotes.contains(&quote) {
        return None;
    }
    let has_escapes = !(language == Language::Shell && quote == '\'');
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(prefix + 1) {
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' && has_escapes {
            is_escaped = true;
        } else if c == quote {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `class:text`, joined by a bar.
    fn tokens(language: Language, code: &str) -> String {
        let mut out = Vec::new();
        for part in highlighted(language, code).split("<span class=\"").skip(1) {
            let (class, rest) = part.split_once("\">").unwrap();
            out.push(format!("{class}:{}", rest.split_once("</span>").unwrap().0));
        }
        out.join("|")
    }

    #[test]
    fn tokens_of_each_language() {
        for (language, code, expected) in [
            (
                Language::Json,
                r#"{"a": "b\"c", "n": [1.50, null]}"#,
                "p:&quot;a&quot;|s:&quot;b\\&quot;c&quot;|p:&quot;n&quot;|n:1.50|k:null",
            ),
            (
                Language::Shell,
                "KEY=$(openssl rand)\ncurl 'x#y' -H \"A: $T\" # why\n  -d @- $KEY a#b",
                "v:KEY|f:openssl|f:curl|s:&#39;x#y&#39;|s:&quot;A: $T&quot;|c:# why|v:$KEY",
            ),
            (
                Language::Python,
                "for m in b.list(is_active=True):  # all\n    print(f\"{m.id}\", 2)",
                "k:for|k:in|f:list|p:is_active|k:True|c:# all|f:print|s:f&quot;{m.id}&quot;|n:2",
            ),
            (
                Language::TypeScript,
                "const g = await b.make({ name: \"A\" }); // once",
                "k:const|k:await|f:make|p:name|s:&quot;A&quot;|c:// once",
            ),
            (Language::Plain, "if \"a\" 1", ""),
        ] {
            assert_eq!(tokens(language, code), expected, "{language:?}");
        }
    }

    #[test]
    fn nothing_is_lost_or_left_unescaped() {
        for language in [
            Language::Json,
            Language::Shell,
            Language::Python,
            Language::TypeScript,
        ] {
            // An open string, a lone dollar and letters of several bytes.
            let code = "é <b> \"open & $ 'x' `${y}` \\";
            let html = highlighted(language, code);
            let mut plain = String::new();
            for part in html.split('<') {
                plain.push_str(part.split_once('>').map_or(part, |(_, after)| after));
            }
            assert_eq!(plain, html_escaped(code), "{language:?}");
        }
    }
}
