//! The pages of an organization, by subject.

mod books;
mod members;
mod settings;
mod work;

use bursar_app::{Act, Rule, View};

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Form, Sent};
use crate::pages;
use crate::reply::Download;

pub(crate) type Show = fn(&mut View<'_, '_>, &Asking, &Form) -> Result<String, Failure>;
pub(crate) type Make = fn(&mut View<'_, '_>, &Asking) -> Result<Download, Failure>;
pub(crate) type Log = fn(&mut Act<'_, '_>, &Asking) -> Result<Logged, Failure>;
pub(crate) type Send = fn(&mut View<'_, '_>, &Asking, &Form) -> Result<Sent, Failure>;

/// What was read and logged.
pub(crate) enum Logged {
    Page(String),
    File(Download),
}

/// A page below `/console/ORG`. `{}` stands for an id.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// The entry of the menu that it belongs to.
    pub(crate) here: &'static str,
    pub(crate) show: Show,
    /// What its form does, and the rule of that.
    pub(crate) send: Option<(&'static Rule, Send)>,
    /// Makes the file that it is, instead of a page.
    pub(crate) file: Option<Make>,
    /// Reads what must be logged, so it is an act and a page or a file in one.
    pub(crate) logged: Option<Log>,
    /// Whether its form has files.
    pub(crate) takes_files: bool,
    /// Whether the page is also for those who may not send its forms.
    pub(crate) is_board: bool,
}

const fn page(path: &'static str, here: &'static str, show: Show) -> Route {
    Route {
        path,
        here,
        show,
        send: None,
        file: None,
        logged: None,
        takes_files: false,
        is_board: false,
    }
}

const fn form(path: &'static str, here: &'static str, show: Show, rule: &'static Rule, send: Send) -> Route {
    Route {
        path,
        here,
        show,
        send: Some((rule, send)),
        file: None,
        logged: None,
        takes_files: false,
        is_board: false,
    }
}

const fn file(path: &'static str, here: &'static str, make: Make) -> Route {
    Route {
        file: Some(make),
        ..page(path, here, pages::problem::no_page)
    }
}

const fn logged(path: &'static str, here: &'static str, log: Log) -> Route {
    Route {
        logged: Some(log),
        ..page(path, here, pages::problem::no_page)
    }
}

/// A page for everybody, with forms for some.
const fn board(path: &'static str, here: &'static str, show: Show, rule: &'static Rule, send: Send) -> Route {
    Route {
        is_board: true,
        ..form(path, here, show, rule, send)
    }
}

/// A form with files.
const fn upload(
    path: &'static str,
    here: &'static str,
    show: Show,
    rule: &'static Rule,
    send: Send,
) -> Route {
    Route {
        takes_files: true,
        ..form(path, here, show, rule, send)
    }
}

/// The first one that matches is opened: a word stands before the id that could be in its place.
const TABLES: [&[Route]; 4] = [members::ROUTES, books::ROUTES, work::ROUTES, settings::ROUTES];

fn routes() -> impl Iterator<Item = &'static Route> {
    TABLES.into_iter().flatten()
}

/// A page as it is told outside: the end of its address, and who may send its form.
#[derive(Clone, Copy, Debug)]
pub struct PageRule {
    /// Below `/console/ORG`; `{}` stands for an id.
    pub path: &'static str,
    /// The rule of its form, if it has one.
    pub form: Option<&'static Rule>,
    /// Whether it is also for those who may not send its form.
    pub is_board: bool,
}

/// Every page of an organization.
pub fn page_rules() -> impl Iterator<Item = PageRule> {
    routes().map(|route| PageRule {
        path: route.path,
        form: route.send.map(|(rule, _)| rule),
        is_board: route.is_board,
    })
}

/// The route of a path below the organization, and what stands at its places.
pub(crate) fn find(path: &str) -> Option<(&'static Route, Vec<String>)> {
    let asked: Vec<&str> = path.split('/').collect();
    routes().find_map(|route| {
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
