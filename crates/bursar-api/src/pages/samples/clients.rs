//! Programs with our clients. Their methods are grouped by tag and named by the operation, less the tag's word.

use serde_json::Value;

use super::{Call, snake_case, words};

pub(super) fn python(call: &Call<'_>) -> String {
    let imports = if call.takes_key {
        "Bursar, new_key"
    } else {
        "Bursar"
    };
    let mut out = format!(
        "from bursar import {imports}\n\nbursar = Bursar(base_url=\"{}\")\n\n",
        call.base_url
    );
    let method = snake_case(&method_name(call));
    let receiver = receiver(call);
    let mut arguments: Vec<String> = call
        .path_values
        .iter()
        .map(|value| format!("\"{value}\""))
        .collect();
    if call.is_list
        && let Some((name, example)) = call.filter
    {
        arguments.push(format!("{}={}", snake_case(name), python_value(example)));
    }
    for (name, value) in &call.body {
        arguments.push(format!("{}={}", snake_case(name), python_value(value)));
    }
    if call.takes_key {
        out.push_str("# Save the key with the job: a retry with it acts once.\nkey = new_key()\n");
        arguments.push("idempotency_key=key".to_owned());
    }
    let thing = thing(call);
    let shown = call
        .telling
        .iter()
        .map(|field| format!("{thing}.{}", snake_case(field)))
        .collect::<Vec<_>>()
        .join(", ");
    if call.is_list {
        out.push_str(&format!(
            "for {thing} in {receiver}.{method}({}):\n    print({shown})",
            arguments.join(", ")
        ));
        return out;
    }
    let call_text = wrapped(&format!("{receiver}.{method}("), &arguments, ")", "    ");
    let print = if shown.is_empty() {
        "print(document[\"openapi\"])".to_owned()
    } else {
        format!("print({shown})")
    };
    out.push_str(&format!("{thing} = {call_text}\n{print}"));
    out
}

pub(super) fn typescript(call: &Call<'_>) -> String {
    let imports = if call.takes_key {
        "Bursar, newKey"
    } else {
        "Bursar"
    };
    let mut out = format!(
        "import {{ {imports} }} from \"bursar\";\n\nconst bursar = new Bursar({{ baseUrl: \"{}\" }});\n\n",
        call.base_url
    );
    let method = method_name(call);
    let receiver = receiver(call);
    let mut arguments: Vec<String> = call
        .path_values
        .iter()
        .map(|value| format!("\"{value}\""))
        .collect();
    if call.is_list
        && let Some((name, example)) = call.filter
    {
        arguments.push(format!("{{ {name}: {example} }}"));
    }
    if !call.body.is_empty() {
        let fields: Vec<String> = call
            .body
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        arguments.push(wrapped("{ ", &fields, " }", "  "));
    }
    if call.takes_key {
        out.push_str("// Save the key with the job: a retry with it acts once.\nconst key = newKey();\n");
        arguments.push("{ idempotencyKey: key }".to_owned());
    }
    let thing = thing(call);
    let shown = call
        .telling
        .iter()
        .map(|field| format!("{thing}.{field}"))
        .collect::<Vec<_>>()
        .join(", ");
    if call.is_list {
        out.push_str(&format!(
            "for await (const {thing} of {receiver}.{method}({})) {{\n  console.log({shown});\n}}",
            arguments.join(", ")
        ));
        return out;
    }
    let call_text = if call.body.is_empty() {
        wrapped(&format!("{receiver}.{method}("), &arguments, ")", "  ")
    } else {
        format!("{receiver}.{method}({})", arguments.join(", "))
    };
    let print = if shown.is_empty() {
        "console.log(document.openapi);".to_owned()
    } else {
        format!("console.log({shown});")
    };
    out.push_str(&format!("const {thing} = await {call_text};\n{print}"));
    out
}

/// One argument a line where they do not fit on one.
fn wrapped(open: &str, arguments: &[String], close: &str, indent: &str) -> String {
    let line = format!("{open}{}{close}", arguments.join(", "));
    if line.len() <= 60 {
        return line;
    }
    let lines: Vec<String> = arguments
        .iter()
        .map(|argument| format!("{indent}{argument},\n"))
        .collect();
    format!("{}\n{}{}", open.trim_end(), lines.concat(), close.trim_start())
}

/// `bursar.members`; operations of the service are on the client itself.
fn receiver(call: &Call<'_>) -> String {
    match call.operation.tag() {
        "Service" => "bursar".to_owned(),
        tag => format!("bursar.{}", tag.to_ascii_lowercase()),
    }
}

/// In camel case, less the tag's word.
fn method_name(call: &Call<'_>) -> String {
    let tag = call.operation.tag();
    let singular = tag.strip_suffix('s').unwrap_or(tag);
    let mut name = String::new();
    for word in words(call.operation.id()) {
        if word != tag && word != singular {
            name.push_str(&word);
        }
    }
    name
}

/// The name of the variable: `member`, `listing`, `document`.
fn thing(call: &Call<'_>) -> String {
    let name = match call.schema {
        "" => "Document",
        "CardCreation" => "Creation",
        "SentReminder" => "Reminder",
        name => name.strip_prefix("Store").unwrap_or(name),
    };
    name.to_ascii_lowercase()
}

fn python_value(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null => "None".to_owned(),
        other => other.to_string(),
    }
}
