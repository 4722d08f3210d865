//! Reads any resource: one by its id, or a page of a list.

use bursar_db::walk::{self, Ask, WalkError};
use bursar_db::{Stored, table};
use bursar_domain::Refusal;
use bursar_domain::access::{Role, Scope};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::chapter::Chapter;
use bursar_domain::cursor::{Cursor, Filters};
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, Kind, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::page::PageLimit;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

pub use bursar_db::walk::Page;

use crate::act::{View, Whole};
use crate::error::AppError;
use crate::rule::Rule;

/// Passes every resource to a macro, in the order of the data bundle. A bundle has chapters as organizations.
macro_rules! every_resource {
    ($macro:ident $given:tt) => {
        $crate::resources::$macro! { $given
            member::Member group::Group payment::Payment reimbursement::Reimbursement reminder::Reminder card::Card
            campaign::Campaign listing::Listing order::Order
        }
    };
}

/// Runs the body with every resource as `R`.
macro_rules! for_each_resource {
    ($R:ident => $body:expr) => {
        $crate::resources::every_resource! { for_each_resource { $R $body } }
    };
    ({ $R:ident $body:expr } $($module:ident::$resource:ident)*) => {
        $({
            type $R = bursar_domain::$module::$resource;
            $body;
        })*
    };
}

/// Matches an enum that has a variant for every resource. Their body is the first, with the resource as `R`; other
/// variants have arms of their own.
macro_rules! match_resource {
    ({ $value:expr, $enum:ident $R:ident $body:expr, $($other:pat => $instead:expr,)* } $($module:ident::$resource:ident)*) => {
        match $value {
            $($enum::$resource => {
                type $R = bursar_domain::$module::$resource;
                $body
            })*
            $($other => $instead,)*
        }
    };
    ($value:expr, $enum:ident: $R:ident => $body:expr, $($other:pat => $instead:expr,)*) => {
        $crate::resources::every_resource! { match_resource { $value, $enum $R $body, $($other => $instead,)* } }
    };
}

pub(crate) use {every_resource, for_each_resource, match_resource};

pub trait Readable: Stored {
    const READ: Rule;
}

macro_rules! readable {
    ($($resource:ty, $name:literal, $deed:literal, $least:ident, $scope:ident;)*) => {
        $(impl Readable for $resource {
            const READ: Rule = Rule::of($name, Role::$least, $deed).or_token(&[Scope::$scope]);
        })*
        pub const RULES: &[&Rule] = &[&OWNER, $(&<$resource as Readable>::READ),*];
    };
}

pub const OWNER: Rule = Rule::of_operator("resource.owner", "look for ids in all organizations");

readable! {
    Card, "card.read", "read cards", Editor, CardsRead;
    Reminder, "reminder.read", "read reminders", Viewer, RemindersRead;
    Member, "member.read", "read members", Viewer, MembersRead;
    Group, "group.read", "read groups", Viewer, GroupsRead;
    Reimbursement, "reimbursement.read", "read reimbursements", Viewer, ReimbursementsRead;
    Payment, "payment.read", "read payments", Viewer, PaymentsRead;
    Campaign, "campaign.read", "read campaigns", Viewer, FundraiseRead;
    Listing, "listing.read", "read store listings", Viewer, StoreRead;
    Order, "order.read", "read store orders", Viewer, StoreRead;
    Chapter, "chapter.read", "read the list of chapters", Viewer, ChaptersRead;
}

pub fn owner<R: Readable>(whole: &mut Whole<'_, '_>, id: Id<R::Kind>) -> Result<OrganizationId, AppError> {
    whole.allow(&OWNER)?;
    let missing = || Refusal::missing(format!("there is no {} {id}", R::Kind::NOUN));
    Ok(table::owner::<R>(whole.tx, id)?.ok_or_else(missing)?)
}

pub fn one<R: Readable>(view: &mut View<'_, '_>, id: Id<R::Kind>) -> Result<R, AppError> {
    view.allow(&R::READ)?;
    view.find(id)
}

/// In the order of ids. Returns how many rows cannot be read.
pub fn each<R: Readable>(view: &mut View<'_, '_>, mut take: impl FnMut(R)) -> Result<u64, AppError> {
    view.allow(&R::READ)?;
    let mut unreadable = 0;
    table::each::<R>(view.tx, view.organization, |kept| {
        match kept.resource {
            Ok(resource) => take(resource),
            Err(_) => unreadable += 1,
        }
        Ok(())
    })?;
    Ok(unreadable)
}

#[derive(Clone, Debug)]
pub struct Walk {
    pub limit: PageLimit,
    pub filters: Filters,
    /// Where the previous page ended; `None` for the first page.
    pub cursor: Option<Cursor>,
}

/// The resource as JSON.
pub fn get<R: Readable>(view: &mut View<'_, '_>, id: Id<R::Kind>) -> Result<Vec<u8>, AppError> {
    view.allow(&R::READ)?;
    let document = table::document::<R>(view.tx, view.organization, id)?;
    document.ok_or_else(|| Refusal::missing(format!("there is no such {}", R::Kind::NOUN)).into())
}

/// Appends a page of a list to `text`.
pub fn page<R: Readable>(view: &mut View<'_, '_>, walk: &Walk, text: Vec<u8>) -> Result<Page, AppError> {
    view.allow(&R::READ)?;
    page_of::<R>(view, view.organization, walk, text)
}

/// Like [`page`], for any organization. It asks no rule.
pub(crate) fn page_of<R: Stored>(
    view: &mut View<'_, '_>,
    organization: OrganizationId,
    walk: &Walk,
    text: Vec<u8>,
) -> Result<Page, AppError> {
    let now = view.now();
    let ask = Ask {
        organization,
        limit: walk.limit,
    };
    let page = match &walk.cursor {
        None => walk::first_page::<R>(view.tx, ask, walk.filters, now, text),
        Some(cursor) => {
            view.tx.hold_snapshot()?;
            walk::next_page::<R>(view.tx, ask, cursor, text)
        }
    };
    page.map_err(|error| refused(error, "is of a walk whose older versions are no longer kept"))
}

/// `pruned` says what the walk needs and is no longer kept.
pub(crate) fn refused(error: WalkError, pruned: &'static str) -> AppError {
    match error {
        WalkError::AheadOfClock => AppError::Cursor("is of another time of this database"),
        WalkError::NotItsStart => AppError::Cursor("is of a walk that began earlier than it says"),
        WalkError::Pruned => AppError::Cursor(pruned),
        WalkError::Db(error) => error.into(),
    }
}
