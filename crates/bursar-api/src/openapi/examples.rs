//! Example responses and bodies, rendered by the domain so that they match real ones.

use bursar_domain::access::{Role, Scope, ScopeSet, Withheld};
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, LimitFrequency, NewCard};
use bursar_domain::chapter::Chapter;
use bursar_domain::cursor::{Belongs, Cursor, Filters, Position};
use bursar_domain::event::{Actor, Change, Event};
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::{Id, MemberId, OrganizationId, TokenId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::order::{Order, OrderStatus};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use bursar_domain::reminder::{Method, Outcome, Reminder, ReminderStatus};
use bursar_domain::token::TokenKind;
use bursar_domain::{Date, Resource, Stamps, Timestamp};
use serde_json::{Value, json};

use crate::routes::Operation;

const USD: Currency = Currency::USD;
/// 2026-11-15T01:39:08.123456Z.
const NOW: Timestamp = Timestamp::from_micros(1_794_706_748_123_456);
const DAY: i64 = 1;

/// Fixed ids, so that the document does not change between builds.
pub(super) fn id<K>(number: u128) -> Id<K> {
    Id::from_bits(0x019a_8530_6c40_7a11_9b2d_4e8f_60c7_1300 + number)
}

pub(super) fn member_id() -> MemberId {
    id(1)
}

pub(super) fn since() -> String {
    NOW.plus_days(-DAY).to_string()
}

pub(super) fn cursor() -> String {
    let after = Position {
        updated_at: NOW,
        id: member_id().to_bytes(),
    };
    let cursor = Cursor {
        filters: Filters::default(),
        watermark: NOW,
        started_at: NOW,
        after,
    };
    cursor.encode(Belongs {
        organization: id(11),
        path: "/v1/members",
        words: &[],
    })
}

/// Name, summary and value of each example response.
pub(super) fn success(operation: Operation) -> Vec<(&'static str, &'static str, Value)> {
    let of = |value: Value| vec![("example", "An example", value)];
    match operation {
        Operation::CreateCard => vec![
            (
                "card",
                "The organization is approved for issuing",
                json!({"kind": "card", "card": card(), "applicationId": null}),
            ),
            (
                "application",
                "The organization is not approved yet",
                json!({"kind": "application", "card": null, "applicationId": id::<kind::Application>(7)}),
            ),
        ],
        Operation::ListCards => page(card()),
        Operation::SendReminder => {
            let sent = |status, outcome: Outcome| {
                let mut reminder = rendered(&reminder(status));
                reminder["outcome"] = json!(outcome);
                reminder
            };
            vec![
                (
                    "sent",
                    "Messages are on their way",
                    sent(ReminderStatus::Sending, Outcome::Sent),
                ),
                (
                    "skipped",
                    "Nobody qualified",
                    sent(ReminderStatus::Completed, Outcome::Skipped),
                ),
            ]
        }
        Operation::ListReminders => page(rendered(&reminder(ReminderStatus::Scheduled))),
        Operation::GetMember => of(member()),
        Operation::UpdateMember => of(member()),
        Operation::ListMembers | Operation::ListChapterMembers => page(member()),
        Operation::CreateGroup => {
            let mut group = Group::blank(id(2), USD, Stamps::at(NOW));
            group.name = "Alumni".to_owned();
            group.description = "Members who have graduated".to_owned();
            of(rendered(&group))
        }
        Operation::ListGroups => page(group()),
        Operation::GetGroup | Operation::UpdateGroup | Operation::RemoveGroupMember => of(group()),
        Operation::ListReimbursements => page(reimbursement()),
        Operation::ListPayments => page(payment()),
        Operation::ListCampaigns => page(campaign()),
        Operation::GetCampaign => of(campaign()),
        Operation::ListStoreListings => page(listing()),
        Operation::GetStoreListing => of(listing()),
        Operation::ListStoreOrders => page(order()),
        Operation::GetStoreOrder => of(order()),
        Operation::ListChapters => page(chapter()),
        Operation::ListEvents => page(event()),
        Operation::GetEvent => of(event()),
        Operation::GetToken => of(token()),
        Operation::GetOpenapi => of(
            json!({"openapi": super::OPENAPI, "info": {"title": super::TITLE, "version": super::VERSION}, "paths": {}}),
        ),
    }
}

/// Name, summary and value of each example body.
pub(super) fn body(operation: Operation) -> Vec<(&'static str, &'static str, Value)> {
    match operation {
        Operation::CreateCard => vec![
            (
                "held",
                "A card for a member",
                json!({"name": "Travel", "spendLimit": 500, "spendLimitFrequency": LimitFrequency::Monthly, "transactionLimit": 120.5, "assignedMemberId": member_id()}),
            ),
            (
                "plain",
                "A card that nobody holds",
                json!({"name": "Office", "spendLimit": 250, "spendLimitFrequency": LimitFrequency::OneTime}),
            ),
        ],
        Operation::UpdateMember => vec![
            (
                "change",
                "A new name and address",
                json!({"lastName": "Byron", "email": "ada.byron@example.org"}),
            ),
            ("archive", "Archive the member", json!({"isActive": false})),
        ],
        Operation::CreateGroup => vec![(
            "group",
            "A group",
            json!({"name": "Alumni", "description": "Members who have graduated"}),
        )],
        Operation::UpdateGroup => vec![("rename", "Another name", json!({"name": "Alumni 2026"}))],
        _ => vec![("empty", "Nothing", json!({}))],
    }
}

fn page(row: Value) -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "more",
            "A page with more behind it",
            json!({"data": [row], "hasMore": true, "nextCursor": cursor()}),
        ),
        (
            "last",
            "The last page",
            json!({"data": [], "hasMore": false, "nextCursor": null}),
        ),
    ]
}

fn rendered(resource: &impl Resource) -> Value {
    serde_json::from_str(&resource.document()).unwrap_or_default()
}

fn stamps() -> Stamps {
    Stamps {
        created_at: NOW.plus_days(-30 * DAY),
        updated_at: NOW,
    }
}

fn day(days: i64) -> Option<Date> {
    Some(NOW.date().plus_days(days))
}

fn member() -> Value {
    let mut member = Member::blank(member_id(), USD, stamps());
    member.first_name = "Ada".to_owned();
    member.last_name = "Lovelace".to_owned();
    member.email = Some("ada@example.org".to_owned());
    member.join_date = day(-30);
    member.groups = vec![id(2)];
    rendered(&member)
}

fn group() -> Value {
    let mut group = Group::blank(id(2), USD, stamps());
    group.name = "Alumni 2026".to_owned();
    group.description = "Members who have graduated".to_owned();
    group.amount_due = Some(Money::new(12_500, USD));
    group.due_date = day(47);
    group.is_recurring = true;
    group.recurring_interval = Some(Interval::Annual);
    group.member_count = 42;
    rendered(&group)
}

fn payment() -> Value {
    rendered(&paid_in_part())
}

fn paid_in_part() -> Payment {
    let mut payment = Payment::blank(id(3), USD, stamps());
    payment.member_id = Some(member_id());
    payment.group_id = Some(id(2));
    payment.description = "Annual dues 2026".to_owned();
    payment.amount = Money::new(12_500, USD);
    payment.paid_to_date = Money::new(5_000, USD);
    payment.status = PaymentStatus::PartiallyPaid;
    payment.due_date = day(47);
    payment
}

fn reimbursement() -> Value {
    let mut reimbursement = Reimbursement::blank(id(4), USD, stamps());
    reimbursement.member_id = Some(member_id());
    reimbursement.amount = Money::new(4_820, USD);
    reimbursement.category = Some("Travel".to_owned());
    reimbursement.description = "Train to the regional meeting".to_owned();
    reimbursement.incurred_at = day(-9);
    reimbursement.status = ReimbursementStatus::Submitted;
    reimbursement.submitted_at = Some(NOW.plus_days(-DAY));
    rendered(&reimbursement)
}

pub(super) fn reminder(status: ReminderStatus) -> Reminder {
    let mut reminder = Reminder::blank(id(5), USD, stamps());
    reminder.group_id = Some(id(2));
    reminder.method = Method::Email;
    reminder.status = status;
    reminder.subject = Some("Dues are open".to_owned());
    reminder.body = Some("Please pay your dues by the end of the year.".to_owned());
    reminder.scheduled_at = Some(NOW.plus_days(DAY));
    reminder.include_payment_info = true;
    reminder
}

fn card() -> Value {
    let card: Card = NewCard {
        name: "Travel".to_owned(),
        spend_limit: Money::new(50_000, USD),
        spend_limit_frequency: LimitFrequency::Monthly,
        transaction_limit: Some(Money::new(12_050, USD)),
        assigned_member_id: Some(member_id()),
    }
    .issue(id(6), Stamps::at(NOW));
    rendered(&card)
}

fn campaign() -> Value {
    let mut campaign = Campaign::blank(id(8), USD, stamps());
    campaign.name = "A new boathouse".to_owned();
    campaign.note = Some("The old one leaks.".to_owned());
    campaign.goal_amount = Some(Money::new(2_500_000, USD));
    campaign.start_date = day(-30);
    campaign.end_date = day(60);
    campaign.status = CampaignStatus::Active;
    rendered(&campaign)
}

fn chapter() -> Value {
    let mut chapter = Chapter::blank(id(13), USD, stamps());
    chapter.name = "North Bank Chapter".to_owned();
    rendered(&chapter)
}

fn listing() -> Value {
    let mut listing = Listing::blank(id(9), USD, stamps());
    listing.name = "Club jersey".to_owned();
    listing.description = "Cotton, in the club's colours".to_owned();
    rendered(&listing)
}

fn order() -> Value {
    let mut order = Order::blank(id(10), USD, stamps());
    order.listing_id = Some(id(9));
    order.member_id = Some(member_id());
    order.total_amount = Money::new(3_500, USD);
    order.status = OrderStatus::Pending;
    rendered(&order)
}

fn event() -> Value {
    let mut before = paid_in_part();
    before.paid_to_date = Money::zero(USD);
    before.status = PaymentStatus::Pending;
    let after = paid_in_part();
    let event = Event {
        id: id(15),
        at: NOW,
        organization: id(11),
        resource_id: &after.id.to_string(),
        change: &Change::of(Some(&before), &after),
        data: &after.document(),
        actor: Actor {
            kind: "user",
            id: Some(&id::<kind::User>(16).to_string()),
        },
        request_id: Some(id(14)),
    };
    serde_json::from_str(&event.document()).unwrap_or_default()
}

/// The body of a delivery, for one type that has one shown, and for the test.
pub(super) fn delivered(event_type: &str) -> Option<Value> {
    let mut event = event();
    if event["type"] == event_type {
        return Some(event);
    }
    if event_type != "test" {
        return None;
    }
    event["type"] = json!("test");
    for field in ["resource", "resourceId", "requestId"] {
        event[field] = Value::Null;
    }
    event["data"] = json!({});
    event["changed"] = json!([]);
    Some(event)
}

/// Of the delivery of the event that is shown.
pub(super) fn delivery_header(name: &str) -> Value {
    match name {
        "webhook-id" => json!(id::<kind::Event>(15)),
        "webhook-timestamp" => json!((NOW.micros() / 1_000_000).to_string()),
        _ => json!("v1,kFPEMqxzBhxSiMKBs3wnYHNVAqyZqMqHC3vCGJXeUVY="),
    }
}

fn token() -> Value {
    let granted = ScopeSet::of(&[Scope::GroupsRead, Scope::MembersRead, Scope::MembersWrite]);
    let effective = granted.and(Role::Viewer.ceiling());
    let organization: OrganizationId = id(11);
    let token: TokenId = id(12);
    json!({
        "id": token,
        "kind": TokenKind::Service,
        "name": "Nightly sync",
        "organizationId": organization,
        "role": Role::Viewer,
        "expiresAt": NOW.plus_days(90 * DAY),
        "scopes": granted,
        "effectiveScopes": effective,
        "withheld": [{"scope": Scope::MembersWrite, "by": Withheld::Role.as_str()}],
    })
}
