//! Events: every write of a v1 resource's row makes one. The table of types is here, once: the API's filter, the OpenAPI
//! document and the docs read it.

use serde::Serialize;

use crate::access::Scope;
use crate::campaign::Campaign;
use crate::card::Card;
use crate::group::Group;
use crate::ids::{self, EventId, Kind, OrganizationId, RequestId};
use crate::listing::Listing;
use crate::member::Member;
use crate::order::Order;
use crate::payment::Payment;
use crate::reimbursement::Reimbursement;
use crate::reminder::Reminder;
use crate::resource::{Cell, FieldType, Resource, Visibility, push, push_key};
use crate::time::Timestamp;
use crate::words;

const CREATED: &str = "created";
const UPDATED: &str = "updated";

/// Declares the resources that have events, each with the scope that reads it and its words. A type is `RESOURCE.WORD`.
macro_rules! event_types {
    ($($resource:ident $name:literal $scope:ident: $($word:literal)+;)+) => {
        words! {
            /// What an event is about.
            EventResource { $($resource $name,)+ }
        }

        impl EventResource {
            /// The scope that reads the resource, and so its events.
            pub const fn scope(self) -> Scope {
                match self { $(Self::$resource => Scope::$scope),+ }
            }

            /// Of its ids.
            pub const fn prefix(self) -> &'static str {
                match self { $(Self::$resource => <$resource as Resource>::Kind::PREFIX),+ }
            }
        }

        $(impl Evented for $resource {
            const RESOURCE: EventResource = EventResource::$resource;
        })+

        /// Every type of event, in the order of the docs.
        pub const TYPES: &[EventType] = &[$($(EventType {
            name: concat!($name, ".", $word),
            resource: EventResource::$resource,
            word: $word,
        },)+)+];

        /// Their names.
        pub const NAMES: &[&str] = &[$($(concat!($name, ".", $word),)+)+];
    };
}

// A resource with a status has a word for every status: an import can bring a row into any of them.
event_types! {
    Member "member" MembersRead: "created" "archived" "restored" "updated";
    Group "group" GroupsRead: "created" "updated";
    Payment "payment" PaymentsRead:
        "created" "pending" "processing" "partially_paid" "paid" "cancelled" "failed" "disputed" "updated";
    Reimbursement "reimbursement" ReimbursementsRead:
        "created" "draft" "submitted" "approved" "rejected" "paid" "voided" "updated";
    Reminder "reminder" RemindersRead:
        "created" "scheduled" "sending" "sent" "failed" "completed" "cancelled" "updated";
    Card "card" CardsRead: "created" "active" "frozen" "canceled" "invited" "denied" "updated";
    Campaign "campaign" FundraiseRead: "created" "draft" "active" "ended" "updated";
    Listing "listing" StoreRead: "created" "activated" "retired" "updated";
    Order "order" StoreRead: "created" "pending" "paid" "fulfilled" "cancelled" "refunded" "updated";
}

/// A resource that has events.
pub trait Evented: Resource {
    const RESOURCE: EventResource;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventType {
    /// For example `payment.paid`.
    pub name: &'static str,
    pub resource: EventResource,
    /// What follows the dot.
    pub word: &'static str,
}

impl EventType {
    pub fn parse(name: &str) -> Option<Self> {
        TYPES.iter().copied().find(|known| known.name == name)
    }

    /// A word that the table does not have is an update.
    fn of(resource: EventResource, word: &str) -> Self {
        let of_resource = || TYPES.iter().filter(|known| known.resource == resource);
        let found = of_resource().find(|known| known.word == word);
        let found = found.or_else(|| of_resource().find(|known| known.word == UPDATED));
        found.copied().unwrap_or(TYPES[0])
    }
}

impl EventResource {
    /// The types of its events.
    pub fn types(self) -> impl Iterator<Item = EventType> {
        TYPES.iter().copied().filter(move |known| known.resource == self)
    }

    /// What went from one value of `isActive` to the other.
    const fn word_of_activity(self, is_active: bool) -> &'static str {
        match (self, is_active) {
            (Self::Member, false) => "archived",
            (Self::Member, true) => "restored",
            (Self::Listing, false) => "retired",
            (Self::Listing, true) => "activated",
            (
                Self::Group
                | Self::Payment
                | Self::Reimbursement
                | Self::Reminder
                | Self::Card
                | Self::Campaign
                | Self::Order,
                _,
            ) => UPDATED,
        }
    }
}

/// The id of a resource that has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    pub resource: EventResource,
    pub id: [u8; 16],
}

impl Subject {
    /// `None` for an id of another kind, or what is no id.
    pub fn parse(text: &str) -> Option<Self> {
        let (prefix, digits) = text.rsplit_once('_')?;
        let mut resources = EventResource::ALL.iter().copied();
        let resource = resources.find(|resource| resource.prefix() == prefix)?;
        let id = ids::decode(digits.as_bytes())?.to_be_bytes();
        Some(Self { resource, id })
    }

    /// The prefixes of such ids, as messages list them.
    pub fn prefixes() -> String {
        let prefixes = EventResource::ALL.iter().map(|resource| resource.prefix());
        prefixes
            .map(|prefix| format!("{prefix}_"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// How a row came to be what it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub event_type: EventType,
    /// The fields of the representation that differ, in its order, without `updatedAt`.
    pub changed: Vec<&'static str>,
}

impl Change {
    /// `before` is `None` for a new row.
    pub fn of<R: Evented>(before: Option<&R>, after: &R) -> Self {
        let Some(before) = before else {
            return Self {
                event_type: EventType::of(R::RESOURCE, CREATED),
                changed: Vec::new(),
            };
        };
        let mut changed = Vec::new();
        let mut word = None;
        // In another currency the same amount reads differently.
        let has_other_currency = R::FIELDS.iter().any(|field| {
            field.field_type == FieldType::Currency && (field.cell)(before) != (field.cell)(after)
        });
        for field in R::FIELDS {
            let name = field.spec.name;
            match field.spec.visibility {
                Visibility::Everywhere | Visibility::InV1 => {}
                Visibility::InBundles | Visibility::Nowhere => continue,
            }
            let (old, new) = ((field.cell)(before), (field.cell)(after));
            let reads_differently =
                has_other_currency && field.field_type == FieldType::Money && new != Cell::Null;
            if old == new && !reads_differently {
                continue;
            }
            changed.push(name);
            match (name, &new) {
                ("status", Cell::Text(status)) => word = Some(EventType::of(R::RESOURCE, status)),
                ("isActive", Cell::Int(is_active)) => {
                    let activity = R::RESOURCE.word_of_activity(*is_active == 1);
                    word = Some(EventType::of(R::RESOURCE, activity));
                }
                _ => {}
            }
        }
        Self {
            event_type: word.unwrap_or_else(|| EventType::of(R::RESOURCE, UPDATED)),
            changed,
        }
    }
}

/// Who changed the row, as in the activity log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Actor<'a> {
    pub kind: &'a str,
    pub id: Option<&'a str>,
}

/// An event before it is written.
#[derive(Debug)]
pub struct Event<'a> {
    pub id: EventId,
    /// The `updatedAt` that the change gave the row.
    pub at: Timestamp,
    pub organization: OrganizationId,
    /// With its prefix.
    pub resource_id: &'a str,
    pub change: &'a Change,
    /// The representation after the change.
    pub data: &'a str,
    pub actor: Actor<'a>,
    pub request_id: Option<RequestId>,
}

impl Event<'_> {
    /// As it is sent. It starts with the id.
    pub fn document(&self) -> String {
        let EventType { name, resource, .. } = self.change.event_type;
        let mut out = String::with_capacity(self.data.len() + 512);
        push(&mut out, "id", &self.id);
        push(&mut out, "type", &name);
        push(&mut out, "createdAt", &self.at);
        push(&mut out, "organizationId", &self.organization);
        push(&mut out, "resource", &resource);
        push(&mut out, "resourceId", &self.resource_id);
        push_key(&mut out, "data");
        out.push_str(self.data);
        push(&mut out, "changed", &self.change.changed);
        push(&mut out, "actor", &self.actor);
        push(&mut out, "requestId", &self.request_id);
        out.push('}');
        out
    }
}

/// The type of the event that tries an endpoint out. It is in no list.
pub const TEST: &str = "test";

/// An event of type `test`: the same envelope, about nothing.
pub fn test_document(
    id: EventId,
    at: Timestamp,
    organization: OrganizationId,
    actor: &Actor<'_>,
    request_id: Option<RequestId>,
) -> String {
    let (mut out, nothing) = (String::with_capacity(512), None::<&str>);
    push(&mut out, "id", &id);
    push(&mut out, "type", &TEST);
    push(&mut out, "createdAt", &at);
    push(&mut out, "organizationId", &organization);
    push(&mut out, "resource", &nothing);
    push(&mut out, "resourceId", &nothing);
    push_key(&mut out, "data");
    out.push_str("{}");
    push(&mut out, "changed", &[""; 0]);
    push(&mut out, "actor", actor);
    push(&mut out, "requestId", &request_id);
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::CampaignStatus;
    use crate::card::CardStatus;
    use crate::ids::Id;
    use crate::money::{Currency, Money};
    use crate::order::OrderStatus;
    use crate::payment::PaymentStatus;
    use crate::reimbursement::ReimbursementStatus;
    use crate::reminder::ReminderStatus;
    use crate::states::{Machine, Word};
    use crate::{Stamps, Timestamp};

    const AT: Timestamp = Timestamp::from_micros(1_790_000_000_123_456);

    fn blank<R: Resource>() -> R {
        R::blank(Id::from_bits(7), Currency::USD, Stamps::at(AT))
    }

    fn words_of(resource: EventResource) -> Vec<&'static str> {
        resource.types().map(|known| known.word).collect()
    }

    /// Every state, and so every move of the table, has its type.
    fn follows_states<S: Machine + Word>(resource: EventResource, all: &[S]) {
        let mut expected = vec![CREATED];
        expected.extend(S::TEXTS);
        expected.push(UPDATED);
        assert_eq!(words_of(resource), expected);
        for next in all.iter().flat_map(|state| state.moves()) {
            let name = format!("{resource}.{next}");
            assert_eq!(EventType::parse(&name).map(|known| known.name), Some(&*name));
        }
    }

    #[test]
    fn the_types_follow_from_the_state_tables() {
        follows_states(EventResource::Payment, PaymentStatus::ALL);
        follows_states(EventResource::Reimbursement, ReimbursementStatus::ALL);
        follows_states(EventResource::Reminder, ReminderStatus::ALL);
        follows_states(EventResource::Card, CardStatus::ALL);
        follows_states(EventResource::Campaign, CampaignStatus::ALL);
        follows_states(EventResource::Order, OrderStatus::ALL);
        assert_eq!(
            words_of(EventResource::Member),
            [CREATED, "archived", "restored", UPDATED]
        );
        assert_eq!(words_of(EventResource::Group), [CREATED, UPDATED]);
        assert_eq!(
            words_of(EventResource::Listing),
            [CREATED, "activated", "retired", UPDATED]
        );
        for (known, name) in TYPES.iter().zip(NAMES) {
            assert_eq!(known.name, *name);
            assert_eq!(known.name, format!("{}.{}", known.resource, known.word));
        }
        assert_eq!(TYPES.len(), NAMES.len());
    }

    #[test]
    fn a_move_of_the_status_is_the_type() {
        for from in PaymentStatus::ALL {
            for to in PaymentStatus::ALL {
                let mut before: Payment = blank();
                before.status = *from;
                let mut after = before.clone();
                after.status = *to;
                after.description = "Other".to_owned();
                let change = Change::of(Some(&before), &after);
                let word = if from == to { UPDATED } else { to.as_str() };
                assert_eq!(change.event_type.name, format!("payment.{word}"));
                let expected: &[&str] = if from == to {
                    &["description"]
                } else {
                    &["description", "status"]
                };
                assert_eq!(change.changed, expected);
            }
        }
    }

    #[test]
    fn other_words() {
        let member: Member = blank();
        assert_eq!(Change::of(None, &member).event_type.name, "member.created");
        assert_eq!(Change::of(None, &member).changed, [""; 0]);
        let mut archived = member.clone();
        archived.is_active = false;
        let archive = Change::of(Some(&member), &archived);
        assert_eq!(
            (archive.event_type.name, archive.changed),
            ("member.archived", vec!["isActive"])
        );
        let restore = Change::of(Some(&archived), &member);
        assert_eq!(restore.event_type.name, "member.restored");
        let mut phoned = member.clone();
        phoned.phone = Some("+12025550123".to_owned());
        phoned.stamps.updated_at = AT.plus_seconds(1);
        let hidden = Change::of(Some(&member), &phoned);
        assert_eq!(
            (hidden.event_type.name, hidden.changed),
            ("member.updated", vec![])
        );
        let listing: Listing = blank();
        let mut retired = listing.clone();
        retired.is_active = false;
        assert_eq!(
            Change::of(Some(&listing), &retired).event_type.name,
            "listing.retired"
        );
        assert_eq!(
            Change::of(Some(&retired), &listing).event_type.name,
            "listing.activated"
        );
        let mut card: Card = blank();
        card.status = Some(CardStatus::Active);
        let mut unknown = card.clone();
        unknown.status = None;
        assert_eq!(Change::of(Some(&card), &unknown).event_type.name, "card.updated");
    }

    #[test]
    fn amounts_of_another_currency_read_differently() {
        let mut before: Payment = blank();
        before.amount = Money::new(100, Currency::USD);
        let mut after = before.clone();
        let yen = Currency::parse("JPY").unwrap();
        after.currency = yen;
        after.amount = Money::new(100, yen);
        after.paid_to_date = Money::zero(yen);
        let changed = Change::of(Some(&before), &after).changed;
        assert_eq!(changed, ["amount", "paidToDate", "currency"]);
    }

    #[test]
    fn ids_of_resources() {
        for resource in EventResource::ALL {
            let text = format!("{}_01h455vb4pex5vsknk084sn02q", resource.prefix());
            assert_eq!(
                Subject::parse(&text).map(|subject| subject.resource),
                Some(*resource)
            );
        }
        for text in [
            "",
            "mem_",
            "org_01h455vb4pex5vsknk084sn02q",
            "mem_01h455vb4pex5vsknk084sn02",
        ] {
            assert_eq!(Subject::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_event_as_it_is_sent() {
        let group: Group = blank();
        let change = Change::of(None, &group);
        let event = Event {
            id: EventId::from_bits(1),
            at: AT,
            organization: OrganizationId::from_bits(2),
            resource_id: &group.id.to_string(),
            change: &change,
            data: &group.document(),
            actor: Actor {
                kind: "worker",
                id: None,
            },
            request_id: None,
        };
        let json: serde_json::Value = serde_json::from_str(&event.document()).unwrap();
        let names: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "id",
                "type",
                "createdAt",
                "organizationId",
                "resource",
                "resourceId",
                "data",
                "changed",
                "actor",
                "requestId",
            ]
        );
        assert_eq!(json["actor"], serde_json::json!({"kind": "worker", "id": null}));
        assert_eq!(json["data"]["id"], json["resourceId"]);
        let test = test_document(event.id, AT, event.organization, &event.actor, None);
        let test: serde_json::Value = serde_json::from_str(&test).unwrap();
        let same: Vec<&str> = test.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(same, names);
        assert_eq!(test["type"], TEST);
        assert_eq!(EventType::parse(TEST), None);
        assert_eq!(test["data"], serde_json::json!({}));
    }
}
