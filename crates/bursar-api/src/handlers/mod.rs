//! One function per endpoint: it parses, names the work, and shapes the answer.

mod cards;
mod chapters;
mod groups;
mod members;
mod reminders;
mod token;

use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::fields::Fields;
use bursar_domain::group::Group;
use bursar_domain::ids::kind;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

use super::error::Error;
use super::lists::{get, list};
use super::plan::{Plan, Request};
use super::query::ListRules;
use super::routes::{Operation, Route};

const CARD_WORDS: &[&str] = &["active", "frozen", "canceled", "invited", "denied"];
const REMINDER_WORDS: &[&str] = &["scheduled", "sending", "sent", "failed", "completed", "cancelled"];
const REIMBURSEMENT_WORDS: &[&str] = &["draft", "submitted", "approved", "rejected", "paid", "voided"];
const PAYMENT_WORDS: &[&str] = &[
    "pending",
    "processing",
    "partially_paid",
    "paid",
    "cancelled",
    "failed",
    "disputed",
];

const PLAIN: ListRules = ListRules {
    status: &[],
    is_active: false,
    member_id: false,
};

/// The filters that an endpoint takes, when it is a list.
pub fn list_rules(operation: Operation) -> Option<ListRules> {
    let with_status = |status| ListRules { status, ..PLAIN };
    Some(match operation {
        Operation::ListCards => with_status(CARD_WORDS),
        Operation::ListReminders => with_status(REMINDER_WORDS),
        Operation::ListReimbursements => with_status(REIMBURSEMENT_WORDS),
        Operation::ListPayments => ListRules {
            member_id: true,
            ..with_status(PAYMENT_WORDS)
        },
        Operation::ListMembers | Operation::ListChapterMembers => ListRules {
            is_active: true,
            ..PLAIN
        },
        Operation::ListGroups | Operation::ListStoreListings => PLAIN,
        Operation::CreateCard
        | Operation::SendReminder
        | Operation::GetMember
        | Operation::UpdateMember
        | Operation::CreateGroup
        | Operation::GetGroup
        | Operation::UpdateGroup
        | Operation::RemoveGroupMember
        | Operation::GetCampaign
        | Operation::GetStoreListing
        | Operation::GetStoreOrder
        | Operation::GetToken
        | Operation::GetOpenapi => return None,
    })
}

/// Checks what comes before key and body: the ids in the path, then the query.
pub fn check(route: &'static Route, request: &Request) -> Result<(), Error> {
    let places = route.path.split('/').filter(|part| part.starts_with('{'));
    for (place, name) in places.enumerate() {
        match name {
            "{memberId}" => drop(request.id::<kind::Member>(place)?),
            "{groupId}" => drop(request.id::<kind::Group>(place)?),
            "{reminderId}" => drop(request.id::<kind::Reminder>(place)?),
            "{campaignId}" => drop(request.id::<kind::Campaign>(place)?),
            "{listingId}" => drop(request.id::<kind::Listing>(place)?),
            "{orderId}" => drop(request.id::<kind::Order>(place)?),
            "{chapterId}" => drop(chapters::chapter_id(request, place)?),
            other => return Err(Error::Internal(format!("no id is known by the name {other}"))),
        }
    }
    match list_rules(route.operation) {
        // A list has neither: its plan, which comes next, reads the query.
        Some(_) => Ok(()),
        None => request.no_query(),
    }
}

/// Refuses a field of a body that is not among these, before any other is looked at: a mistyped name explains
/// best why a field is missing.
fn only(fields: &Fields<'_>, known: &[&str]) -> Result<(), Error> {
    match fields.first_outside(known) {
        None => Ok(()),
        Some(field) => {
            let shown: String = field.chars().take(60).collect();
            let message = format!(
                "{shown} is not a field of this body; it takes {}",
                known.join(", ")
            );
            Err(Error::InvalidRequest {
                param: Some(shown),
                message,
            })
        }
    }
}

/// The work that a request asks for.
pub fn plan(route: &'static Route, request: &Request) -> Result<Plan, Error> {
    let rules = list_rules(route.operation).unwrap_or_default();
    match route.operation {
        Operation::CreateCard => cards::create(request),
        Operation::ListCards => list::<Card>(request, route.path, &rules),
        Operation::SendReminder => reminders::send(request),
        Operation::ListReminders => list::<Reminder>(request, route.path, &rules),
        Operation::GetMember => get::<Member>(request),
        Operation::UpdateMember => members::update(request),
        Operation::ListMembers => list::<Member>(request, route.path, &rules),
        Operation::CreateGroup => groups::create(request),
        Operation::ListGroups => list::<Group>(request, route.path, &rules),
        Operation::GetGroup => get::<Group>(request),
        Operation::UpdateGroup => groups::update(request),
        Operation::RemoveGroupMember => groups::remove_member(request),
        Operation::ListChapterMembers => chapters::roster(request, &rules),
        Operation::ListReimbursements => list::<Reimbursement>(request, route.path, &rules),
        Operation::ListPayments => list::<Payment>(request, route.path, &rules),
        Operation::GetCampaign => get::<Campaign>(request),
        Operation::ListStoreListings => list::<Listing>(request, route.path, &rules),
        Operation::GetStoreListing => get::<Listing>(request),
        Operation::GetStoreOrder => get::<Order>(request),
        Operation::GetToken => token::explain(request),
        // Answered before a caller is asked for; a token makes no difference.
        Operation::GetOpenapi => Err(Error::Internal("the document needs no caller".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_domain::card::CardStatus;
    use bursar_domain::payment::PaymentStatus;
    use bursar_domain::reimbursement::ReimbursementStatus;
    use bursar_domain::reminder::ReminderStatus;

    #[test]
    fn the_words_of_the_filters_are_the_states() {
        assert_eq!(
            CARD_WORDS,
            CardStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>()
        );
        assert_eq!(
            REMINDER_WORDS,
            ReminderStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>()
        );
        assert_eq!(
            REIMBURSEMENT_WORDS,
            ReimbursementStatus::ALL
                .iter()
                .map(|s| s.as_str())
                .collect::<Vec<_>>()
        );
        assert_eq!(
            PAYMENT_WORDS,
            PaymentStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>()
        );
    }
}
