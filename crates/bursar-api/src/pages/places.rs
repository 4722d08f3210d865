//! Which pages there are, and what is on which.

use super::document::{Document, Operation, schema_name};
use crate::openapi::WEBHOOKS;

pub(super) struct Place {
    pub(super) path: &'static str,
    pub(super) name: &'static str,
    /// Of the operations that the page shows.
    pub(super) tag: Option<&'static str>,
}

const fn start(path: &'static str, name: &'static str) -> Place {
    Place {
        path,
        name,
        tag: None,
    }
}

const fn resource(path: &'static str, name: &'static str) -> Place {
    Place {
        path,
        name,
        tag: Some(name),
    }
}

pub(super) const HOME: &str = "/docs";
pub(super) const GUIDE: &str = "/docs/guide";
pub(super) const ERRORS: &str = "/docs/errors";
pub(super) const CHANGELOG: &str = "/docs/changelog";

/// In the order of the navigation.
pub(super) const PLACES: [Place; 16] = [
    start(HOME, "Overview"),
    start(GUIDE, "Guide"),
    start(ERRORS, "Errors"),
    start(CHANGELOG, "Changelog"),
    resource("/docs/members", "Members"),
    resource("/docs/groups", "Groups"),
    resource("/docs/payments", "Payments"),
    resource("/docs/reimbursements", "Reimbursements"),
    resource("/docs/reminders", "Reminders"),
    resource("/docs/cards", "Cards"),
    resource("/docs/campaigns", "Campaigns"),
    resource("/docs/store", "Store"),
    resource("/docs/chapters", "Chapters"),
    resource("/docs/events", "Events"),
    resource("/docs/webhooks", WEBHOOKS),
    Place {
        path: "/docs/service",
        name: "Token and OpenAPI",
        tag: Some("Service"),
    },
];

pub(super) fn of_tag(tag: &str) -> &'static str {
    PLACES
        .iter()
        .find(|place| place.tag == Some(tag))
        .map_or(HOME, |place| place.path)
}

/// The page that describes a schema: the one of the resource that returns or takes it.
pub(super) fn of_schema(document: &Document, name: &str) -> &'static str {
    if name == "Error" {
        return ERRORS;
    }
    if name.ends_with("Event") {
        return of_tag("Events");
    }
    let plain = name.strip_suffix("Page").unwrap_or(name);
    let page = format!("{plain}Page");
    let body = |one: Operation<'_>| {
        schema_name(&one.value["requestBody"]["content"]["application/json"]["schema"]).map(str::to_owned)
    };
    let uses = |one: &Operation<'_>| {
        one.returns() == Some(plain)
            || one.returns() == Some(page.as_str())
            || body(*one).as_deref() == Some(name)
    };
    document
        .operations()
        .filter(uses)
        // A chapter's roster is a page of members too.
        .min_by_key(|one| one.tag() == "Chapters")
        .map_or(HOME, |one| of_tag(one.tag()))
}

/// A relative link, so that it works behind a proxy's path prefix.
pub(super) fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.trim_start_matches('/').split('/').collect();
    let to: Vec<&str> = to.trim_start_matches('/').split('/').collect();
    // The last part is the page, not a folder.
    let folders = from.len() - 1;
    let shared = from[..folders]
        .iter()
        .zip(&to[..to.len() - 1])
        .take_while(|(a, b)| a == b)
        .count();
    format!("{}{}", "../".repeat(folders - shared), to[shared..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative() {
        for (from, to, way) in [
            ("/docs", "/docs/errors", "docs/errors"),
            ("/docs", "/docs", "docs"),
            ("/docs/errors", "/docs", "../docs"),
            ("/docs/errors", "/docs/style.css", "style.css"),
            ("/docs", "/v1/openapi.json", "v1/openapi.json"),
            ("/docs/guide", "/v1/openapi.json", "../v1/openapi.json"),
        ] {
            assert_eq!(relative(from, to), way, "{from} {to}");
        }
    }

    #[test]
    fn every_tag_and_schema_has_a_page() {
        let document = Document {
            root: crate::openapi::document("https://dues.example.org"),
            base_url: "https://dues.example.org".to_owned(),
        };
        for one in document.operations() {
            assert_ne!(of_tag(one.tag()), HOME, "{}", one.id());
        }
        for (name, place) in [
            ("Member", "/docs/members"),
            ("MemberPage", "/docs/members"),
            ("MemberChange", "/docs/members"),
            ("NewCard", "/docs/cards"),
            ("StoreOrder", "/docs/store"),
            ("PaymentEvent", "/docs/events"),
            ("Chapter", "/docs/chapters"),
            ("Token", "/docs/service"),
            ("Error", ERRORS),
        ] {
            assert_eq!(of_schema(&document, name), place, "{name}");
        }
    }
}
