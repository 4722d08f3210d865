//! The changes of the API, newest first. What changes in the rest of bursar is in `CHANGELOG.md`.

use std::fmt::Write as _;

use super::document::Document;
use super::frame::Page;
use super::html::{heading, inline, row};
use super::places::{self, CHANGELOG, relative};

struct Release {
    date: &'static str,
    title: &'static str,
    changes: &'static [(Kind, &'static str)],
}

#[derive(Clone, Copy)]
enum Kind {
    Added,
    Changed,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Added => "Added",
            Self::Changed => "Changed",
        }
    }
}

const RELEASES: &[Release] = &[
    Release {
        date: "2026-11-17",
        title: "Events and webhooks",
        changes: &[
            (
                Kind::Added,
                "`listEvents` and `getEvent`: one event for every change of a resource, in order, with the resource after it. The new scope `events:read` is needed.",
            ),
            (
                Kind::Added,
                "Webhooks: events are posted to your URL, signed as Standard Webhooks specifies. The OpenAPI document has a `webhooks` section with a schema for each type.",
            ),
            (
                Kind::Added,
                "Clients for Python and TypeScript, in `clients/`. The enums of the OpenAPI document have names.",
            ),
            (
                Kind::Changed,
                "A charge that credit pays at once is written as created first and as paid next, so its events come in that order.",
            ),
        ],
    },
    Release {
        date: "2026-11-16",
        title: "Three more lists",
        changes: &[
            (
                Kind::Added,
                "`listCampaigns`, `listStoreOrders` and `listChapters`, with filters by status, member and listing.",
            ),
            (
                Kind::Changed,
                "The `email` of a member who has no address is null. Until now every member had one.",
            ),
        ],
    },
    Release {
        date: "2026-11-15",
        title: "v1",
        changes: &[
            (
                Kind::Added,
                "Members and groups: `listMembers`, `getMember`, `updateMember`, `listGroups`, `getGroup`, `createGroup`, `updateGroup` and `removeGroupMember`.",
            ),
            (
                Kind::Added,
                "Money: `listPayments`, `listReimbursements`, `listCards` and `createCard`.",
            ),
            (
                Kind::Added,
                "`listReminders` and `sendReminder`; `getCampaign`; `listStoreListings`, `getStoreListing` and `getStoreOrder`; `listChapterMembers`.",
            ),
            (
                Kind::Added,
                "`getToken` tells what a token may do, and `getOpenapi` gives the OpenAPI document.",
            ),
        ],
    },
];

pub(super) fn render(document: &Document) -> Page {
    let mut main = format!(
        "<div class=\"intro\"><h1>Changelog</h1>\n<p class=\"lead\">Changes of the API, newest first.</p>\n\
         <p>The version is in the path. v1 gains fields, endpoints and error codes and loses nothing: see \
         <a href=\"{}#versions\">versions</a> in the guide.</p>\n</div>\n",
        relative(CHANGELOG, places::GUIDE)
    );
    for release in RELEASES {
        let id = format!("d{}", release.date);
        let mut text = heading(2, &id, release.title);
        let _ = write!(
            text,
            "<p class=\"date\"><time datetime=\"{0}\">{0}</time></p>\n<ul class=\"changes\">\n",
            release.date
        );
        for (kind, change) in release.changes {
            let _ = writeln!(
                text,
                "<li><span class=\"change {word}\">{word}</span> <span>{}</span></li>",
                linked(document, change),
                word = kind.word(),
            );
        }
        text.push_str("</ul>\n");
        main.push_str(&row(&id, &text, ""));
    }
    Page {
        path: CHANGELOG,
        title: "Changelog".to_owned(),
        main,
    }
}

/// The text, in which each operation leads to its description.
fn linked(document: &Document, change: &str) -> String {
    document.operations().fold(inline(change), |text, operation| {
        let (id, page) = (operation.id(), places::of_tag(operation.tag()));
        let code = format!("<code>{id}</code>");
        let link = format!("<a href=\"{}#{id}\">{code}</a>", relative(CHANGELOG, page));
        text.replace(&code, &link)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that an endpoint cannot be added without a line here.
    #[test]
    fn every_operation_was_added_once() {
        let base_url = "https://dues.example.org".to_owned();
        let root = crate::openapi::document(&base_url);
        let page = render(&Document { root, base_url }).main;
        for route in &crate::routes::ROUTES {
            let shown = format!("#{0}\"><code>{0}</code></a>", route.name);
            assert_eq!(page.matches(&shown).count(), 1, "{}", route.name);
        }
    }
}
