//! What stands around every page: who is signed in, where, and what was just done.

use std::path::PathBuf;
use std::sync::Arc;

use bursar_app::Rule;
use bursar_app::resources::Readable;
use bursar_app::secrets::KeyFile;
use bursar_app::sign_in::Oneself;
use bursar_app::webhooks::Reach;
use bursar_domain::access::Role;
use bursar_domain::card::Card;
use bursar_domain::ids::OrganizationId;
use bursar_domain::organization::{Organization, OrganizationKind};
use bursar_domain::sign_in::ENTROPY_BYTES;

use crate::assets;
use crate::forms::Done;
use crate::icons;

/// An entry of the menu: the end of its address, and its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) end: &'static str,
    pub(crate) name: &'static str,
    /// Shown to those who may.
    rule: Option<&'static Rule>,
    /// Shown only in national organizations.
    is_national: bool,
}

const fn entry(end: &'static str, name: &'static str) -> Entry {
    Entry {
        end,
        name,
        rule: None,
        is_national: false,
    }
}

impl Entry {
    pub(crate) fn icon(&self) -> &'static str {
        icons::of(self.end)
    }

    const fn for_those_who(self, rule: &'static Rule) -> Self {
        Self {
            rule: Some(rule),
            ..self
        }
    }

    const fn in_nationals(self) -> Self {
        Self {
            is_national: true,
            ..self
        }
    }
}

/// The menu, in groups.
const MENU: &[&[Entry]] = &[
    &[entry("", "Overview")],
    &[entry("members", "Members"), entry("groups", "Groups")],
    &[
        entry("charges", "Charges"),
        entry("money", "Money in"),
        entry("online", "Card payments"),
        entry("bank", "Bank"),
        entry("reimbursements", "Reimbursements"),
        entry("journal", "Journal"),
    ],
    &[entry("reminders", "Reminders").for_those_who(&bursar_app::reminders::LIST)],
    &[
        entry("campaigns", "Campaigns"),
        entry("store", "Store"),
        entry("cards", "Cards").for_those_who(&<Card as Readable>::READ),
    ],
    &[
        entry("reports", "Reports"),
        entry("chapters", "Chapters").in_nationals(),
        entry("activity", "Activity").for_those_who(&bursar_app::activity::LIST),
        entry("settings", "Settings"),
    ],
];

/// A place where the person has a role.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) organization: Organization,
    pub(crate) role: Role,
}

/// Fails where the system has no randomness.
pub(crate) type Entropy = fn() -> Result<[u8; ENTROPY_BYTES], String>;

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) user: String,
    pub(crate) email: String,
    pub(crate) place: Place,
    pub(crate) others: Vec<(OrganizationId, String)>,
    /// The menu's entry that is open.
    pub(crate) here: &'static str,
    pub(crate) done: Option<Done>,
    /// Whether that was done before, and the form was only sent once more.
    pub(crate) is_again: bool,
    /// For the forms of this page.
    pub(crate) key: String,
    /// The address of the server.
    pub(crate) origin: String,
    /// For secrets that a form hands out.
    pub(crate) entropy: Entropy,
    /// Where webhooks may go, and what seals their secrets.
    pub(crate) webhooks: Arc<Webhooks>,
    /// Where messages go as files if no server sends them.
    pub(crate) outbox: PathBuf,
}

/// What webhook endpoints need from whoever runs the server.
#[derive(Clone, Debug)]
pub struct Webhooks {
    pub reach: Reach,
    pub key: KeyFile,
}

impl Frame {
    pub(crate) fn new(
        oneself: &Oneself,
        place: Place,
        here: &'static str,
        key: String,
        webhooks: Arc<Webhooks>,
    ) -> Self {
        let others = oneself
            .places
            .iter()
            .filter(|(organization, _)| organization.id != place.organization.id)
            .map(|(organization, _)| (organization.id, organization.name.clone()))
            .collect();
        let user = &oneself.user;
        Self {
            user: user.name.clone().unwrap_or_else(|| user.email.clone()),
            email: user.email.clone(),
            place,
            others,
            here,
            done: None,
            is_again: false,
            key,
            origin: String::new(),
            entropy: || Err("there is no randomness here".to_owned()),
            webhooks,
            outbox: PathBuf::new(),
        }
    }

    /// An address in this organization.
    pub(crate) fn at(&self, end: &str) -> String {
        let id = self.place.organization.id;
        match end {
            "" => format!("/console/{id}"),
            end => format!("/console/{id}/{end}"),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.place.organization.name
    }

    /// For the mark beside the name.
    pub(crate) fn initial(&self) -> String {
        let first = self.name().chars().find(|c| c.is_alphanumeric());
        first.unwrap_or('b').to_uppercase().collect()
    }

    pub(crate) fn currency(&self) -> String {
        self.place.organization.currency.to_string()
    }

    pub(crate) fn role(&self) -> String {
        self.place.role.to_string()
    }

    /// The entries that the person may open, in groups.
    pub(crate) fn menu(&self) -> Vec<Vec<Entry>> {
        let is_national = self.place.organization.kind == OrganizationKind::National;
        let may = |entry: &&Entry| {
            entry.rule.is_none_or(|rule| self.may(rule)) && (is_national || !entry.is_national)
        };
        let shown = |group: &&[Entry]| group.iter().filter(may).copied().collect::<Vec<_>>();
        MENU.iter().map(shown).filter(|group| !group.is_empty()).collect()
    }

    /// Whether a person with this role may.
    pub(crate) fn may(&self, rule: &Rule) -> bool {
        rule.person.is_some_and(|least| self.place.role >= least)
    }

    pub(crate) fn style(&self) -> String {
        assets::style()
    }

    pub(crate) fn htmx(&self) -> String {
        assets::htmx()
    }

    pub(crate) fn script(&self) -> String {
        assets::script()
    }
}
