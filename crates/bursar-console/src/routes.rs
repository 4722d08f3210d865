//! The one table of pages.

use bursar_app::{Rule, View};

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Form, Sent};
use crate::pages;

pub(crate) type Show = fn(&mut View<'_, '_>, &Asking, &Form) -> Result<String, Failure>;
pub(crate) type Send = fn(&mut View<'_, '_>, &Asking, &Form) -> Result<Sent, Failure>;

/// A page below `/console/ORG`. `{}` stands for an id.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// The entry of the menu that it belongs to.
    pub(crate) here: &'static str,
    pub(crate) show: Show,
    /// What its form does, and the rule of that.
    pub(crate) send: Option<(&'static Rule, Send)>,
}

const fn page(path: &'static str, here: &'static str, show: Show) -> Route {
    Route {
        path,
        here,
        show,
        send: None,
    }
}

const fn form(path: &'static str, here: &'static str, show: Show, rule: &'static Rule, send: Send) -> Route {
    Route {
        path,
        here,
        show,
        send: Some((rule, send)),
    }
}

pub(crate) const ROUTES: &[Route] = &[
    page("", "", pages::overview::show),
    page("members", "members", pages::members::show),
    form(
        "members/new",
        "members",
        pages::member_new::show,
        &bursar_app::members::ADD,
        pages::member_new::send,
    ),
    page("members/{}", "members", pages::member::show),
    form(
        "members/{}/edit",
        "members",
        pages::member_edit::show,
        &bursar_app::members::CHANGE,
        pages::member_edit::send,
    ),
    page("groups", "groups", pages::groups::show),
    page("charges", "charges", pages::charges::show),
    form(
        "charges/new",
        "charges",
        pages::raise::show,
        &bursar_app::payments::RAISE,
        pages::raise::send,
    ),
    page("charges/{}", "charges", pages::charge::show),
    page("money", "money", pages::money::show),
    form(
        "money/new",
        "money",
        pages::record::show,
        &bursar_app::books::receipts::RECORD,
        pages::record::send,
    ),
    page("journal", "journal", pages::journal::show),
    page("activity", "activity", pages::activity::show),
    form(
        "undo/{}",
        "",
        pages::undo::show,
        &bursar_app::undo::UNDO,
        pages::undo::send,
    ),
];

/// The route of a path below the organization, and what stands at its places.
pub(crate) fn find(path: &str) -> Option<(&'static Route, Vec<String>)> {
    let asked: Vec<&str> = path.split('/').collect();
    ROUTES.iter().find_map(|route| {
        let parts: Vec<&str> = route.path.split('/').collect();
        let matches = |(part, asked): (&&str, &&str)| part == asked || (*part == "{}" && !asked.is_empty());
        if parts.len() != asked.len() || !parts.iter().zip(&asked).all(matches) {
            return None;
        }
        let places = parts.iter().zip(&asked).filter(|(part, _)| **part == "{}");
        Some((route, places.map(|(_, asked)| (*asked).to_owned()).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_before_an_id() {
        let found = |path| find(path).map(|(route, params)| (route.path, params));
        assert_eq!(found(""), Some(("", vec![])));
        assert_eq!(found("members/new"), Some(("members/new", vec![])));
        assert_eq!(
            found("members/mem_1"),
            Some(("members/{}", vec!["mem_1".to_owned()]))
        );
        assert_eq!(found("members/"), None);
        assert_eq!(found("nothing"), None);
    }
}
