//! The OpenAPI document: it agrees with the table of routes and the domain, and holds together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use bursar_api::openapi;
use bursar_api::pages::Pages;
use bursar_api::routes::ROUTES;
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::event::NAMES;
use bursar_domain::group::Group;
use bursar_domain::ids::Id;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::{Resource, Stamps, Timestamp};
use serde_json::Value;

const BASE_URL: &str = "http://127.0.0.1:8080";

fn document() -> Value {
    openapi::document(BASE_URL)
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str())
        .collect()
}

/// Calls `visit` with every value inside and the way to it.
fn each<'a>(value: &'a Value, way: &str, visit: &mut impl FnMut(&str, &'a Value)) {
    visit(way, value);
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, v)| each(v, &format!("{way}/{key}"), visit)),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                each(item, &format!("{way}/{i}"), visit);
            }
        }
        _ => {}
    }
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(name) => document
            .pointer(&name[1..])
            .unwrap_or_else(|| panic!("{name} leads nowhere")),
        None => value,
    }
}

#[test]
fn every_route_is_there_and_nothing_else() {
    let document = document();
    let mut described = BTreeSet::new();
    for path in keys(&document["paths"]) {
        for method in keys(&document["paths"][path]) {
            let id = document["paths"][path][method]["operationId"]
                .as_str()
                .unwrap()
                .to_owned();
            described.insert((method.to_uppercase(), path.to_owned(), id));
        }
    }
    let routes: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| {
            (
                route.method.as_str().to_owned(),
                route.path.to_owned(),
                route.name.to_owned(),
            )
        })
        .collect();
    assert_eq!(described, routes);
    for route in &ROUTES {
        let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
        assert!(
            operation["responses"][route.success.to_string()].is_object(),
            "{}",
            route.name
        );
        assert_eq!(
            operation["security"] == serde_json::json!([]),
            !route.needs_token(),
            "{}",
            route.name
        );
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    let document = document();
    let mut used = BTreeSet::new();
    each(&document, "", &mut |way, value| {
        if let Some(name) = value["$ref"].as_str() {
            assert!(
                document.pointer(&name[1..]).is_some(),
                "{way}: {name} leads nowhere"
            );
            used.insert(name.to_owned());
        }
    });
    for kind in ["parameters", "headers", "responses", "examples", "schemas"] {
        for name in keys(&document["components"][kind]) {
            assert!(
                used.contains(&format!("#/components/{kind}/{name}")),
                "{kind} {name} is never used"
            );
        }
    }
}

#[test]
fn examples_are_of_their_schemas() {
    let document = document();
    let mut checked = 0;
    each(&document, "", &mut |way, value| {
        if value["schema"].is_null() {
            return;
        }
        let named = value["examples"].as_object().into_iter().flatten();
        let examples = named.map(|(_, example)| &resolve(&document, example)["value"]);
        for example in examples.chain(value.get("example")) {
            let mut wrong = String::new();
            check(&document, &value["schema"], example, "", &mut wrong);
            assert!(wrong.is_empty(), "{way}: {wrong}");
            checked += 1;
        }
    });
    assert!(checked > 100, "only {checked} examples were found");
}

/// As much of JSON Schema as the document uses, but for patterns and formats.
fn check(document: &Value, schema: &Value, value: &Value, way: &str, wrong: &mut String) {
    let schema = resolve(document, schema);
    if let Some(parts) = schema["allOf"].as_array() {
        for part in parts {
            check(document, part, value, way, wrong);
        }
        return;
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = |choice: &Value| {
            let mut wrong = String::new();
            check(document, choice, value, way, &mut wrong);
            wrong.is_empty()
        };
        if !choices.iter().any(fits) {
            let _ = writeln!(wrong, "{way} fits no choice: {value}");
        }
        return;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    };
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{way}: the type {other}"),
    };
    if !kinds.iter().any(is) {
        let _ = writeln!(wrong, "{way} must be {kinds:?}: {value}");
    }
    for (keyword, allowed) in [("enum", &schema["enum"]), ("const", &schema["const"])] {
        let fits = match allowed {
            Value::Null => true,
            Value::Array(words) => words.contains(value),
            one => one == value,
        };
        if !fits {
            let _ = writeln!(wrong, "{way} breaks {keyword}: {value}");
        }
    }
    if let (Some(number), Some(most)) = (value.as_f64(), schema["maximum"].as_f64())
        && number > most
    {
        let _ = writeln!(wrong, "{way} is more than {most}");
    }
    if let Some(text) = value.as_str() {
        let count = text.chars().count() as u64;
        let fits = schema["minLength"].as_u64().is_none_or(|least| count >= least)
            && schema["maxLength"].as_u64().is_none_or(|most| count <= most);
        if !fits {
            let _ = writeln!(wrong, "{way} has {count} characters");
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(document, &schema["items"], item, &format!("{way}/-"), wrong);
    }
    if let Some(fields) = value.as_object() {
        for name in schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if !fields.contains_key(name) {
                let _ = writeln!(wrong, "{way} lacks {name}");
            }
        }
        for (name, field) in fields {
            match schema["properties"].get(name) {
                Some(property) => check(document, property, field, &format!("{way}/{name}"), wrong),
                None if schema["additionalProperties"] == false => {
                    let _ = writeln!(wrong, "{way} must not have {name}");
                }
                None => {}
            }
        }
    }
}

#[test]
fn resources_have_the_fields_that_the_domain_writes() {
    fn fields<R: Resource>() -> Vec<String> {
        let stamps = Stamps::at(Timestamp::from_micros(0));
        let written = R::blank(Id::from_bits(1), Currency::USD, stamps).document();
        keys(&serde_json::from_str(&written).unwrap())
            .into_iter()
            .map(str::to_owned)
            .collect()
    }
    let document = document();
    for (name, written) in [
        ("Member", fields::<Member>()),
        ("Group", fields::<Group>()),
        ("Payment", fields::<Payment>()),
        ("Reimbursement", fields::<Reimbursement>()),
        ("Reminder", fields::<Reminder>()),
        ("Card", fields::<Card>()),
        ("Campaign", fields::<Campaign>()),
        ("StoreListing", fields::<Listing>()),
        ("StoreOrder", fields::<Order>()),
    ] {
        let schema = &document["components"]["schemas"][name];
        assert_eq!(keys(&schema["properties"]), written, "{name}");
        assert_eq!(schema["required"], Value::from(written), "{name}");
    }
}

#[test]
fn every_type_of_event_has_its_webhook() {
    let document = document();
    let mut expected = NAMES.to_vec();
    expected.push("test");
    assert_eq!(keys(&document["webhooks"]), expected);
    let filter = &document["components"]["parameters"]["eventType"]["schema"]["enum"];
    assert_eq!(filter, &Value::from(NAMES));
    let mut ids = BTreeSet::new();
    for name in expected {
        let post = &document["webhooks"][name]["post"];
        assert!(ids.insert(post["operationId"].as_str().unwrap()), "{name}");
        assert_eq!(post["security"], serde_json::json!([]), "{name}");
        let headers = post["parameters"].as_array().unwrap();
        let headers: Vec<&Value> = headers
            .iter()
            .map(|header| &resolve(&document, header)["name"])
            .collect();
        assert_eq!(
            headers,
            ["webhook-id", "webhook-timestamp", "webhook-signature"],
            "{name}"
        );
    }
}

#[test]
fn a_webhook_takes_the_events_of_its_type_alone() {
    let document = document();
    let schema =
        |name: &str| &document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"];
    let fits = |name: &str, event: &Value| {
        let mut wrong = String::new();
        check(&document, &schema(name)["schema"], event, "", &mut wrong);
        wrong.is_empty()
    };
    let shown = "payment.partially_paid";
    let event = &schema(shown)["examples"]["example"]["value"];
    let test = &schema("test")["examples"]["example"]["value"];
    for name in keys(&document["webhooks"]) {
        assert_eq!(fits(name, event), name == shown, "{name}");
        assert_eq!(fits(name, test), name == "test", "{name}");
    }
    assert_eq!(keys(event), keys(test), "the same envelope");
}

/// Generators make a type of each enum, and would number those without a name.
#[test]
fn every_enum_has_a_name_and_a_name_has_one_meaning() {
    let document = document();
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    each(&document, "", &mut |way, value| {
        let Some(words) = value["enum"].as_array() else {
            return;
        };
        let title = value["title"]
            .as_str()
            .unwrap_or_else(|| panic!("{way} has no title"));
        // A field that can be null has null among its words; the name is of the others.
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let known = named.entry(title).or_insert_with(|| words.clone());
        assert_eq!(*known, words, "{way}: {title} has two meanings");
    });
    for name in keys(&document["components"]["schemas"]) {
        assert!(!named.contains_key(name), "{name} is a schema too");
    }
    for name in [
        "CardStatus",
        "StoreOrderStatus",
        "RecurringInterval",
        "ReminderMethod",
        "EventType",
        "Scope",
    ] {
        assert!(named.contains_key(name), "no enum is called {name}");
    }
}

/// The committed document shows in a review what a change does to the interface.
#[test]
fn the_document_is_as_committed() {
    let now = serde_json::to_string_pretty(&document()).unwrap() + "\n";
    bursar_testing::snapshot!("openapi.json", &now);
    generate_clients();
}

/// Those in `clients` are made from the committed document, and committed too.
fn generate_clients() {
    let mut generate = Command::new("python3");
    generate
        .arg("-B")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/generate"));
    if bursar_testing::variable("UPDATE_SNAPSHOTS").is_none() {
        generate.arg("--check");
    }
    let output = generate.output().expect("python3 runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn rendered() -> BTreeMap<&'static str, String> {
    let pages = Pages::new(BASE_URL);
    let text = |path| String::from_utf8(pages.content(path).unwrap().body.into_owned()).unwrap();
    Pages::paths().map(|path| (path, text(path))).collect()
}

#[test]
fn every_page_renders_and_its_links_lead_somewhere() {
    let pages = rendered();
    let ids = |path: &str| -> BTreeSet<&str> { attribute(&pages[path], " id=\"").into_iter().collect() };
    for (path, body) in pages.iter().filter(|(path, _)| !path.contains('.')) {
        assert_eq!(
            ids(path).len(),
            attribute(body, " id=\"").len(),
            "{path} has an id twice"
        );
        for link in attribute(body, " href=\"") {
            if link.starts_with("http") || link.starts_with("data:") {
                continue;
            }
            let (to, id) = link.split_once('#').unwrap_or((link, ""));
            let to = if to.is_empty() {
                (*path).to_owned()
            } else {
                absolute(path, to)
            };
            if to == "/v1/openapi.json" {
                continue;
            }
            assert!(pages.contains_key(to.as_str()), "{path}: {link} leads nowhere");
            assert!(
                id.is_empty() || ids(&to).contains(id),
                "{path}: {link} leads nowhere"
            );
        }
        assert!(
            !body.contains(" style=") && !body.contains("<script>"),
            "{path} would need a weaker policy"
        );
        assert!(!body.contains("src=\"http"), "{path} loads from elsewhere");
    }
    for doc in openapi::CODES {
        assert!(
            ids("/docs/errors").contains(doc.code),
            "{} has no anchor",
            doc.code
        );
    }
    let index: Value = serde_json::from_str(&pages["/docs/search.json"]).unwrap();
    for entry in index.as_array().unwrap() {
        let (to, id) = entry["u"]
            .as_str()
            .unwrap()
            .split_once('#')
            .unwrap_or((entry["u"].as_str().unwrap(), ""));
        let to = format!("/{to}");
        assert!(id.is_empty() || ids(&to).contains(id), "{entry} leads nowhere");
    }
}

/// Links that were given out when the reference was one page lead on to the page of the resource.
#[test]
fn old_anchors_of_the_reference_lead_on() {
    let pages = rendered();
    let home = &pages["/docs"];
    let document = document();
    let operations = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|methods| methods.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap().to_owned());
    let schemas = keys(&document["components"]["schemas"])
        .into_iter()
        .map(|name| format!("schema-{name}"));
    let others = ["delivery", "event-types", "tag-members", "tag-service"].map(str::to_owned);
    for id in operations.chain(schemas).chain(others) {
        let (_, row) = home
            .split_once(&format!(" id=\"{id}\" data-moved=\""))
            .unwrap_or_else(|| panic!("#{id} is gone"));
        let to = row.split('"').next().unwrap();
        let (page, anchor) = to.split_once('#').unwrap_or((to, ""));
        let page = absolute("/docs", page);
        let is_there = page == "/v1/openapi.json"
            || anchor.is_empty()
            || pages[page.as_str()].contains(&format!(" id=\"{anchor}\""));
        assert!(is_there, "#{id} leads to {to}, which is not there");
    }
    for id in ["basics", "token", "responses", "schemas"] {
        assert!(home.contains(&format!(" id=\"{id}\"")), "#{id} is gone");
    }
}

/// Where a relative link of a page leads.
fn absolute(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn attribute<'a>(html: &'a str, start: &str) -> Vec<&'a str> {
    html.split(start)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}
