//! A command to paste into a shell.

use std::fmt::Write as _;

use serde_json::Value;

use super::Call;

pub(super) fn program(call: &Call<'_>) -> String {
    let mut path = call.path();
    if call.is_list {
        path.push_str("?limit=50");
        if let Some((name, example)) = call.filter {
            let example = example
                .as_str()
                .map_or_else(|| example.to_string(), str::to_owned);
            let _ = write!(path, "&{name}={example}");
        }
    }
    let mut out = String::new();
    if call.takes_key {
        out.push_str("KEY=$(openssl rand -hex 16)\n");
    }
    let _ = write!(out, "curl '{}{path}'", call.base_url.replace('\'', "%27"));
    if call.operation.is_write() {
        let _ = write!(out, " \\\n  -X {}", call.operation.method.to_uppercase());
    }
    if call.needs_token {
        out.push_str(" \\\n  -H \"Authorization: Bearer $BURSAR_TOKEN\"");
    }
    if call.takes_key {
        out.push_str(" \\\n  -H \"Idempotency-Key: $KEY\"");
    }
    if !call.body.is_empty() {
        let _ = write!(
            out,
            " \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'",
            object(&call.body)
        );
    }
    out
}

/// One field a line.
fn object(fields: &[(&str, &Value)]) -> String {
    let lines: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("    \"{name}\": {value}"))
        .collect();
    format!("{{\n{}\n  }}", lines.join(",\n"))
}
