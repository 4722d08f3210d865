//! Reading resources, the same way for each.

use bursar_db::{Stored, table};
use bursar_domain::Refusal;
use bursar_domain::access::{Role, Scope};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, Kind, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

use crate::act::{View, Whole};
use crate::error::AppError;
use crate::rule::Rule;

/// A resource that callers read, and who may.
pub trait Readable: Stored {
    /// Reading one of them, or a page of them.
    const READ: Rule;
}

macro_rules! readable {
    ($($resource:ty, $name:literal, $deed:literal, $least:ident, $scope:ident;)*) => {
        $(impl Readable for $resource {
            const READ: Rule = Rule::of($name, Role::$least, $deed).or_token(&[Scope::$scope]);
        })*
        /// The rules of all resources.
        pub const RULES: &[&Rule] = &[&OWNER, $(&<$resource as Readable>::READ),*];
    };
}

/// Finding the organization of a resource.
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
}

/// The organization that a resource belongs to.
pub fn owner<R: Readable>(whole: &mut Whole<'_, '_>, id: Id<R::Kind>) -> Result<OrganizationId, AppError> {
    whole.allow(&OWNER)?;
    let missing = || Refusal::missing(format!("there is no {} {id}", R::Kind::NOUN));
    Ok(table::owner::<R>(whole.tx, id)?.ok_or_else(missing)?)
}

/// One resource.
pub fn one<R: Readable>(view: &mut View<'_, '_>, id: Id<R::Kind>) -> Result<R, AppError> {
    view.allow(&R::READ)?;
    view.find(id)
}

/// Hands over every resource of a type, by id; how many rows cannot be read.
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
