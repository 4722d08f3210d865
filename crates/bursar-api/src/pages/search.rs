//! The index that the search in the pages reads: one entry for each heading, field, code and type of event.

use serde_json::{Value, json};

use super::frame::Page;
use super::html::sections;
use super::places::{ERRORS, GUIDE, HOME, PLACES};

/// Longer texts say the rest further down, where another heading is closer.
const TEXT_MAX: usize = 600;

pub(super) fn index(pages: &[Page]) -> String {
    let mut entries = Vec::new();
    for page in pages {
        let name = PLACES
            .iter()
            .find(|place| place.path == page.path)
            .map_or(page.title.as_str(), |place| place.name);
        let group = match page.path {
            GUIDE => "Guide",
            ERRORS => "Errors",
            path if path == HOME || path.ends_with("changelog") => "Overview",
            _ => "Reference",
        };
        let path = page.path.trim_start_matches('/');
        entries.push(json!({"g": group, "p": name, "t": name, "u": path, "x": ""}));
        for section in sections(&page.main) {
            let text: String = section.text.chars().take(TEXT_MAX).collect();
            let mut entry = json!({
                "g": group, "p": name, "t": section.title, "u": format!("{path}#{}", section.id), "x": text,
            });
            if let Some(method) = section.method {
                entry["m"] = json!(method);
            }
            entries.push(entry);
        }
        for id in marked(&page.main) {
            entries.push(json!({"g": group, "p": name, "t": id, "u": format!("{path}#{id}"), "x": ""}));
        }
    }
    Value::Array(entries).to_string()
}

/// The ids of fields of objects and of types of events.
fn marked(main: &str) -> Vec<&str> {
    ["<div id=\"", "<tr id=\""]
        .iter()
        .flat_map(|start| main.split(*start).skip(1))
        .filter_map(|rest| rest.split('"').next())
        // A field is named with its object, as `Member.email`, and a type with its resource.
        .filter(|id| id.contains('.'))
        .collect()
}
