//! One function per endpoint: it parses the request and returns a [`Plan`].

pub(super) mod cards;
pub(super) mod events;
pub(super) mod groups;
pub(super) mod members;
pub(super) mod reminders;
pub(super) mod token;

use bursar_domain::event::NAMES;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{OrganizationId, kind};

use super::error::Error;
use super::plan::Request;
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

const CAMPAIGN_WORDS: &[&str] = &["draft", "active", "ended"];
const ORDER_WORDS: &[&str] = &["pending", "paid", "fulfilled", "cancelled", "refunded"];

const PLAIN: ListRules = ListRules {
    status: &[],
    is_active: false,
    member_id: false,
    listing_id: false,
    is_of_events: false,
};

/// `None` when the endpoint is not a list.
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
        Operation::ListCampaigns => with_status(CAMPAIGN_WORDS),
        Operation::ListStoreOrders => ListRules {
            member_id: true,
            listing_id: true,
            ..with_status(ORDER_WORDS)
        },
        Operation::ListMembers | Operation::ListChapterMembers => ListRules {
            is_active: true,
            ..PLAIN
        },
        Operation::ListEvents => ListRules {
            is_of_events: true,
            ..with_status(NAMES)
        },
        Operation::ListGroups | Operation::ListStoreListings | Operation::ListChapters => PLAIN,
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
        | Operation::GetEvent
        | Operation::GetToken
        | Operation::GetOpenapi => return None,
    })
}

type CheckId = fn(&Request, usize) -> Result<(), Error>;

/// The id check for each path parameter.
const IDS: [(&str, CheckId); 8] = [
    ("{memberId}", |request, place| {
        request.id::<kind::Member>(place).map(drop)
    }),
    ("{groupId}", |request, place| {
        request.id::<kind::Group>(place).map(drop)
    }),
    ("{reminderId}", |request, place| {
        request.id::<kind::Reminder>(place).map(drop)
    }),
    ("{campaignId}", |request, place| {
        request.id::<kind::Campaign>(place).map(drop)
    }),
    ("{listingId}", |request, place| {
        request.id::<kind::Listing>(place).map(drop)
    }),
    ("{orderId}", |request, place| {
        request.id::<kind::Order>(place).map(drop)
    }),
    ("{eventId}", |request, place| {
        request.id::<kind::Event>(place).map(drop)
    }),
    ("{chapterId}", |request, place| {
        chapter_id(request, place).map(drop)
    }),
];

/// The error says "chapter", as the path does, and not "organization".
pub(super) fn chapter_id(request: &Request, place: usize) -> Result<OrganizationId, Error> {
    request.id(place).map_err(|_: Error| Error::no_such("chapter"))
}

/// Checks the path's ids, then the query. Key and body come later.
pub fn check(route: &'static Route, request: &Request) -> Result<(), Error> {
    let names = route.path[route.literal..]
        .split('/')
        .filter(|part| part.starts_with('{'));
    for (place, name) in names.enumerate() {
        if let Some((_, check)) = IDS.iter().find(|(known, _)| *known == name) {
            check(request, place)?;
        }
    }
    match list_rules(route.operation) {
        // The list's own handler reads the query next.
        Some(_) => Ok(()),
        None => request.no_query(),
    }
}

/// Refuses an unknown body field before anything else is checked: a misspelled name is the best
/// explanation for a missing field.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::ROUTES;
    use bursar_domain::campaign::CampaignStatus;
    use bursar_domain::card::CardStatus;
    use bursar_domain::order::OrderStatus;
    use bursar_domain::payment::PaymentStatus;
    use bursar_domain::reimbursement::ReimbursementStatus;
    use bursar_domain::reminder::ReminderStatus;

    #[test]
    fn every_id_of_a_path_is_checked() {
        for name in ROUTES.iter().flat_map(|route| route.path.split('/')) {
            let is_known = IDS.iter().any(|(known, _)| *known == name);
            assert_eq!(is_known, name.starts_with('{'), "{name}");
        }
    }

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
        assert_eq!(
            CAMPAIGN_WORDS,
            CampaignStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>()
        );
        assert_eq!(
            ORDER_WORDS,
            OrderStatus::ALL.iter().map(|s| s.as_str()).collect::<Vec<_>>()
        );
    }
}
