//! Sample programs for an operation: with curl, and with our clients for Python and TypeScript.

mod clients;
mod curl;

use serde_json::Value;

use super::document::{Document, Operation, entries, items, text};
use super::html::{Sample, Tab};

pub(super) fn of(document: &Document, operation: Operation<'_>) -> Sample {
    let call = Call::new(document, operation);
    Sample {
        name: operation.id().to_owned(),
        versions: vec![
            (Tab::Curl, curl::program(&call)),
            (Tab::Python, clients::python(&call)),
            (Tab::TypeScript, clients::typescript(&call)),
        ],
    }
}

/// What a sample needs to know about an operation.
struct Call<'a> {
    base_url: &'a str,
    operation: Operation<'a>,
    /// The examples of the parameters in the path, in its order.
    path_values: Vec<&'a str>,
    /// A filter that is worth showing, with its example.
    filter: Option<(&'a str, &'a Value)>,
    takes_key: bool,
    needs_token: bool,
    /// The fields of the example body.
    body: Vec<(&'a str, &'a Value)>,
    /// The name of the rows of a list, else of the response.
    schema: &'a str,
    is_list: bool,
    /// Fields of it that are worth printing.
    telling: Vec<&'a str>,
}

impl<'a> Call<'a> {
    fn new(document: &'a Document, operation: Operation<'a>) -> Self {
        let parameters: Vec<&Value> = document.parameters(operation).collect();
        let placed = |place: &'static str| {
            parameters
                .iter()
                .copied()
                .filter(move |parameter| parameter["in"] == place)
        };
        let filter = placed("query")
            .find(|parameter| {
                parameter["schema"]["enum"].is_array() || parameter["schema"]["type"] == "boolean"
            })
            .map(|parameter| (text(&parameter["name"]), &parameter["example"]));
        let returned = operation.returns().unwrap_or("");
        let schema = returned.strip_suffix("Page").unwrap_or(returned);
        let fields: Vec<&str> = entries(&document.schema(schema)["properties"])
            .map(|(name, _)| name)
            .collect();
        Self {
            base_url: &document.base_url,
            operation,
            path_values: placed("path")
                .map(|parameter| text(&parameter["example"]))
                .collect(),
            filter,
            takes_key: placed("header").any(|parameter| parameter["name"] == "Idempotency-Key"),
            needs_token: items(&operation.value["security"]).next().is_some(),
            body: operation.example_body().into_iter().flat_map(entries).collect(),
            schema,
            is_list: returned.ends_with("Page"),
            telling: telling(&fields),
        }
    }

    /// The path with the examples in place of the parameters.
    fn path(&self) -> String {
        let mut values = self.path_values.iter();
        self.operation
            .path
            .split('/')
            .map(|part| {
                if part.starts_with('{') {
                    values.next().copied().unwrap_or(part)
                } else {
                    part
                }
            })
            .collect::<Vec<_>>()
            .join("/")
    }
}

/// The id, and up to two fields that tell a reader which one it is.
fn telling<'a>(fields: &[&'a str]) -> Vec<&'a str> {
    const WORTH: [&str; 8] = [
        "type",
        "outcome",
        "kind",
        "firstName",
        "name",
        "description",
        "amount",
        "status",
    ];
    let mut out: Vec<&str> = fields.iter().copied().filter(|field| *field == "id").collect();
    let known = WORTH
        .iter()
        .filter_map(|name| fields.iter().copied().find(|field| field == name));
    out.extend(known.take(2));
    out
}

/// Words of a name such as `listChapterMembers`.
fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for letter in name.chars() {
        match out.last_mut() {
            Some(word) if !letter.is_ascii_uppercase() => word.push(letter),
            _ => out.push(letter.to_string()),
        }
    }
    out
}

pub(super) fn snake_case(name: &str) -> String {
    words(name).join("_").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        Document {
            root: crate::openapi::document("https://dues.example.org"),
            base_url: "https://dues.example.org".to_owned(),
        }
    }

    fn shown(id: &str) -> Vec<String> {
        let document = document();
        let operation = document.operations().find(|one| one.id() == id).unwrap();
        of(&document, operation)
            .versions
            .into_iter()
            .map(|(_, text)| text)
            .collect()
    }

    #[test]
    fn a_write_keeps_its_key_in_a_variable() {
        let document = document();
        for operation in document.operations().filter(|one| one.is_write()) {
            for (tab, text) in of(&document, operation).versions {
                let line = match tab {
                    Tab::Curl => "KEY=$(openssl rand -hex 16)\n",
                    Tab::Python => "key = new_key()\n",
                    Tab::TypeScript => "const key = newKey();\n",
                };
                assert!(text.contains(line), "{} {tab:?}: {text}", operation.id());
            }
        }
    }

    #[test]
    fn samples_call_as_the_clients_do() {
        for (id, python, typescript) in [
            (
                "listMembers",
                "for member in bursar.members.list(is_active=True):\n    print(member.id, member.first_name)",
                "for await (const member of bursar.members.list({ isActive: true })) {\n  console.log(member.id, member.firstName);",
            ),
            (
                "getStoreOrder",
                "order = bursar.store.get_order(\"ord_01ka2k0v20f88spbaehxgce4ra\")",
                "const order = await bursar.store.getOrder(\"ord_01ka2k0v20f88spbaehxgce4ra\");",
            ),
            (
                "removeGroupMember",
                "group = bursar.groups.remove_member(\n    \"grp_",
                "await bursar.groups.removeMember(",
            ),
            ("sendReminder", "bursar.reminders.send(", "bursar.reminders.send("),
            (
                "getToken",
                "token = bursar.get_token()",
                "await bursar.getToken();",
            ),
        ] {
            let shown = shown(id);
            assert!(shown[1].contains(python), "{}", shown[1]);
            assert!(shown[2].contains(typescript), "{}", shown[2]);
        }
    }
}
