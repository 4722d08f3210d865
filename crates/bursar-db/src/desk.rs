//! Lists and sums as officers look at them: by name, by due day, by month. Each is read along an index.

use std::sync::OnceLock;

use bursar_domain::account::Standing;
use bursar_domain::ids::{
    CampaignId, GroupId, ListingId, MemberId, OrderId, OrganizationId, ReimbursementId,
};
use bursar_domain::order::OrderStatus;
use bursar_domain::reimbursement::ReimbursementStatus;
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::sums::sum;

/// Balances are looked up this many members at a time.
const CHUNK_IDS: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberLine {
    pub id: MemberId,
    pub first_name: String,
    pub last_name: String,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub is_active: bool,
}

/// Where a member is in the order of names. It stays there when the member gets another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberPlace {
    pub last_name: String,
    pub first_name: String,
    pub id: MemberId,
}

impl MemberLine {
    pub fn place(&self) -> MemberPlace {
        MemberPlace {
            last_name: self.last_name.clone(),
            first_name: self.first_name.clone(),
            id: self.id,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct MemberFilter {
    pub is_active: Option<bool>,
    pub group: Option<GroupId>,
    /// Only those with an open charge.
    pub is_owing: bool,
}

record! { member_columns: MemberLine, "m." { id, first_name, last_name, email, phone, is_active } }

/// By last name, first name and id, after the place given.
pub fn members(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    filter: MemberFilter,
    after: Option<&MemberPlace>,
    limit: i64,
) -> Result<Vec<MemberLine>, DbError> {
    let place = match after {
        Some(MemberPlace {
            last_name,
            first_name,
            id,
        }) => Place::After(last_name, first_name, id.to_bytes()),
        None => Place::Start,
    };
    select_members(tx, organization, filter, &place, limit)
}

/// Ids that one statement looks up.
pub const AMONG_MAX: usize = 64;

/// Those of at most [`AMONG_MAX`] members whom the filter lets pass, by name.
pub fn members_among(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    filter: MemberFilter,
    ids: &[MemberId],
) -> Result<Vec<MemberLine>, DbError> {
    let Some(last) = ids.last() else {
        return Ok(Vec::new());
    };
    // The last id fills the places that are left.
    let ids = ids.iter().chain(std::iter::repeat(last)).take(AMONG_MAX);
    let place = Place::Among(ids.map(|id| id.to_bytes()).collect());
    let limit = i64::try_from(AMONG_MAX).unwrap_or(i64::MAX);
    select_members(tx, organization, filter, &place, limit)
}

/// Which of the members that the filter lets pass.
enum Place<'a> {
    Start,
    After(&'a str, &'a str, [u8; 16]),
    Among(Vec<[u8; 16]>),
}

fn select_members(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    filter: MemberFilter,
    place: &Place<'_>,
    limit: i64,
) -> Result<Vec<MemberLine>, DbError> {
    let organization = organization.to_bytes();
    let group = filter.group.map(|id| id.to_bytes());
    let mut values = vec![Value::Bytes(&organization), Value::Int(limit)];
    values.extend(group.as_ref().map(|id| Value::Bytes(id)));
    values.extend(filter.is_active.map(|is_active| Value::Int(i64::from(is_active))));
    match place {
        Place::Start => {}
        Place::After(last, first, id) => {
            values.extend([Value::Text(last), Value::Text(first), Value::Bytes(id)]);
        }
        Place::Among(ids) => values.extend(ids.iter().map(|id| Value::Bytes(id))),
    }
    let asked = [
        group.is_some(),
        filter.is_active.is_some(),
        filter.is_owing,
        matches!(place, Place::After(..)),
        matches!(place, Place::Among(_)),
    ];
    tx.rows(member_text(asked), &values, read)
}

/// The statement for each set of filters, made once. Its parameters are in the order of the filters.
pub fn member_text(asked: [bool; 5]) -> &'static str {
    static TEXTS: [OnceLock<String>; 32] = [const { OnceLock::new() }; 32];
    let bits = asked
        .iter()
        .fold(0, |bits, is_asked| bits * 2 + usize::from(*is_asked));
    TEXTS[bits].get_or_init(|| {
        let [has_group, has_state, is_owing, has_after, is_among] = asked;
        let mut next = 3;
        let mut place = || {
            next += 1;
            next - 1
        };
        let mut sql = concat!("SELECT ", member_columns!(), " FROM members m").to_owned();
        if has_group {
            let n = place();
            sql += &format!(
                " JOIN memberships g ON g.organization_id = ?1 AND g.group_id = ?{n} AND g.member_id = m.id"
            );
        }
        sql += match is_among {
            // So that SQLite looks each id up instead of reading the whole organization.
            true => " WHERE (m.organization_id = ?1) IS TRUE",
            false => " WHERE m.organization_id = ?1",
        };
        if has_state {
            sql += &format!(" AND m.is_active = ?{}", place());
        }
        if is_owing {
            // The index has the keys of what is open; without the join SQLite would read the organization's charges.
            // OFFSET keeps PostgreSQL from making one join of it, which reads everything that is open for a page.
            sql += " AND EXISTS (SELECT 1 FROM payments k CROSS JOIN payments p WHERE k.organization_id = ?1 \
                    AND k.member_id = m.id AND k.status IN ('pending', 'partially_paid', 'failed') \
                    AND p.organization_id = ?1 AND p.updated_at = k.updated_at AND p.id = k.id \
                    AND p.amount > p.paid_to_date LIMIT 1 OFFSET 0)";
        }
        if has_after {
            let (last, first, id) = (place(), place(), place());
            sql += &format!(" AND (m.last_name, m.first_name, m.id) > (?{last}, ?{first}, ?{id})");
        }
        if is_among {
            let places: Vec<String> = (0..AMONG_MAX).map(|_| format!("?{}", place())).collect();
            sql += &format!(" AND m.id IN ({})", places.join(", "));
        }
        sql + " ORDER BY m.last_name, m.first_name, m.id LIMIT ?2"
    })
}

/// What each of these members owes, less their credit, in minor units. Those at zero may be left out.
pub fn balances(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    members: &[MemberId],
) -> Result<Vec<(MemberId, i128)>, DbError> {
    let (organization, receivable, credit) = (
        organization.to_bytes(),
        Standing::Receivable.id().to_bytes(),
        Standing::Credit.id().to_bytes(),
    );
    let mut found = Vec::new();
    for chunk in members.chunks(CHUNK_IDS) {
        let ids: Vec<[u8; 16]> = chunk.iter().map(|id| id.to_bytes()).collect();
        let mut values = vec![
            Value::Bytes(&organization),
            Value::Bytes(&receivable),
            Value::Bytes(&credit),
        ];
        // A statement has places for a whole chunk; the last id fills those that are left.
        let last = ids.last().into_iter().cycle();
        values.extend(ids.iter().chain(last).take(CHUNK_IDS).map(|id| Value::Bytes(id)));
        found.append(&mut tx.rows(balances_text(), &values, read)?);
    }
    Ok(found)
}

fn balances_text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let places: Vec<String> = (4..CHUNK_IDS + 4).map(|n| format!("?{n}")).collect();
        format!(
            concat!(
                "SELECT member_id, ",
                sum!("amount"),
                " FROM journal_postings WHERE organization_id = ?1 AND account_id IN (?2, ?3) AND member_id IN ({}) \
                 GROUP BY member_id"
            ),
            places.join(", ")
        )
    })
}

/// What was due in a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Month {
    /// `2026-05`
    pub month: String,
    pub expected: i128,
    pub collected: i128,
}

record! { month_columns: Month {
    month = "SUBSTR(due_date, 1, 7)",
    expected = sum!("expected"),
    collected = sum!("collected"),
} }
const MONTHS: &str = concat!(
    "SELECT ",
    month_columns!(),
    " FROM charge_totals WHERE organization_id = ?1 AND due_date >= ?2 AND due_date <= ?3 GROUP BY SUBSTR(due_date, 1, 7) \
     ORDER BY SUBSTR(due_date, 1, 7)"
);

pub fn months(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
) -> Result<Vec<Month>, DbError> {
    let (from, until) = (from.to_string(), until.to_string());
    tx.rows(
        MONTHS,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

/// Charges of a group that are due in a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSums {
    pub expected: i128,
    pub collected: i128,
    pub open: i128,
    /// Open, and due before today.
    pub overdue: i128,
}

record! { group_columns: GroupSums {
    expected = sum!("expected"),
    collected = sum!("collected"),
    open = sum!("open"),
    overdue = sum!("CASE WHEN due_date < ?5 THEN open ELSE 0 END"),
} }
const GROUP: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM charge_totals WHERE organization_id = ?1 AND due_date >= ?3 AND due_date <= ?4 AND group_id = ?2"
);

pub fn of_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    (from, until): (Date, Date),
    today: Date,
) -> Result<GroupSums, DbError> {
    let (from, until, today) = (from.to_string(), until.to_string(), today.to_string());
    let found = tx.first(
        GROUP,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&group.to_bytes()),
            Value::Text(&from),
            Value::Text(&until),
            Value::Text(&today),
        ],
        read,
    )?;
    Ok(found.unwrap_or_default())
}

const OPEN: &str = concat!(
    "SELECT due_date, ",
    sum!("open"),
    " FROM charge_totals WHERE organization_id = ?1 AND open <> 0 GROUP BY due_date"
);

/// What is open, by due day: the day and the sum. Charges without a due day have none.
pub fn open_by_day(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(Option<Date>, i128)>, DbError> {
    tx.rows(OPEN, &[Value::Bytes(&organization.to_bytes())], |row| {
        let (due, sum): (String, i128) = read(row)?;
        Ok((Date::parse(&due), sum))
    })
}

/// For tests that read query plans.
pub const TOTALS: [(&str, &str); 3] = [("months", MONTHS), ("a group", GROUP), ("what is open", OPEN)];

/// An order, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    pub id: OrderId,
    pub updated_at: Timestamp,
    pub created_at: Timestamp,
    pub listing: Option<ListingId>,
    pub member: Option<MemberId>,
    pub total: i64,
    pub status: OrderStatus,
}

record! { order_columns: OrderRow {
    id, updated_at, created_at, listing = "listing_id", member = "member_id", total = "total_amount", status,
} }

macro_rules! orders_sql {
    ($index:literal, $wanted:literal) => {
        concat!(
            "SELECT ",
            order_columns!(),
            " FROM orders",
            $index,
            " WHERE organization_id = ?1",
            $wanted,
            " AND (updated_at, id) < (?3, ?4) ORDER BY updated_at DESC, id DESC LIMIT ?2"
        )
    };
}
const ORDERS: &str = orders_sql!("", "");
const ORDERS_IN: &str = orders_sql!(" INDEXED BY orders_status", " AND status = ?5");
const ORDERS_OF: &str = orders_sql!(" INDEXED BY orders_member", " AND member_id = ?5");

/// Which orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    All,
    In(OrderStatus),
    Of(MemberId),
}

/// The last changed first, after the one given.
pub fn orders(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    which: Orders,
    after: Option<(Timestamp, OrderId)>,
    limit: i64,
) -> Result<Vec<OrderRow>, DbError> {
    let organization = organization.to_bytes();
    let (at, id) = after.map_or((i64::MAX, [0xff; 16]), |(at, id)| (at.micros(), id.to_bytes()));
    let mut values = vec![
        Value::Bytes(&organization),
        Value::Int(limit),
        Value::Int(at),
        Value::Bytes(&id),
    ];
    match which {
        Orders::All => tx.rows(ORDERS, &values, read),
        Orders::In(status) => {
            values.push(Value::Text(status.as_str()));
            tx.rows(ORDERS_IN, &values, read)
        }
        Orders::Of(member) => {
            let member = member.to_bytes();
            values.push(Value::Bytes(&member));
            tx.rows(ORDERS_OF, &values, read)
        }
    }
}

/// A reimbursement, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReimbursementRow {
    pub id: ReimbursementId,
    pub created_at: Timestamp,
    pub category: Option<String>,
    pub amount: i64,
    pub status: ReimbursementStatus,
}

record! { reimbursement_columns: ReimbursementRow { id, created_at, category, amount, status } }

const REIMBURSEMENTS_OF: &str = concat!(
    "SELECT ",
    reimbursement_columns!(),
    " FROM reimbursements INDEXED BY reimbursements_member WHERE organization_id = ?1 AND member_id = ?2 \
     ORDER BY updated_at DESC, id DESC LIMIT ?3"
);

/// Of one member, the last changed first.
pub fn reimbursements_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    limit: i64,
) -> Result<Vec<ReimbursementRow>, DbError> {
    tx.rows(
        REIMBURSEMENTS_OF,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
            Value::Int(limit),
        ],
        read,
    )
}

/// For tests that read query plans.
pub const LISTS: [(&str, &str); 3] = [
    ("orders in a state", ORDERS_IN),
    ("a member's orders", ORDERS_OF),
    ("a member's reimbursements", REIMBURSEMENTS_OF),
];

/// What was donated to each campaign, in minor units.
pub fn donated(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<(CampaignId, i128)>, DbError> {
    let sql = concat!(
        "SELECT campaign_id, ",
        sum!("-amount"),
        " FROM journal_postings WHERE organization_id = ?1 AND campaign_id IS NOT NULL GROUP BY campaign_id"
    );
    tx.rows(sql, &[Value::Bytes(&organization.to_bytes())], read)
}

/// Whether a group of the organization has dues.
pub fn has_dues(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<bool, DbError> {
    let sql = "SELECT amount_due FROM groups WHERE organization_id = ?1 AND amount_due IS NOT NULL LIMIT 1";
    let found: Option<i64> = tx.first(sql, &[Value::Bytes(&organization.to_bytes())], read)?;
    Ok(found.is_some())
}

/// What waits for an officer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Reimbursements to approve.
    pub submitted: i64,
    /// Messages that failed since the time asked.
    pub failed: i64,
    /// Statement lines to match.
    pub lines: i64,
    /// Tokens that expire until the time asked.
    pub expiring: i64,
    /// Disputes of card payments that have not ended.
    pub disputes: i64,
    /// Card payments that cannot be asked about or booked.
    pub stuck: i64,
    /// 1 if the payment provider cannot be asked.
    pub unasked: i64,
}

record! { waiting_columns: Waiting {
    submitted = "(SELECT COUNT(*) FROM reimbursements WHERE organization_id = ?1 AND status = 'submitted')",
    failed = "(SELECT COUNT(*) FROM outbox_messages WHERE organization_id = ?1 AND state = 'failed' AND ended_at >= ?2)",
    lines = "(SELECT COUNT(*) FROM statement_lines WHERE organization_id = ?1 AND status = 'open')",
    expiring = "(SELECT COUNT(*) FROM tokens WHERE organization_id = ?1 AND revoked_at IS NULL \
        AND successor_id IS NULL AND expires_at > ?3 AND expires_at <= ?4)",
    disputes = "(SELECT COUNT(*) FROM online_moves WHERE organization_id = ?1 AND kind = 'dispute' \
        AND state NOT IN ('won', 'lost', 'failed'))",
    stuck = "(SELECT COUNT(*) FROM online_payments WHERE organization_id = ?1 AND problem IS NOT NULL)",
    unasked = "(SELECT COUNT(*) FROM providers WHERE organization_id = ?1 AND problem IS NOT NULL)",
} }
const WAITING: &str = concat!("SELECT ", waiting_columns!());

/// Failed messages since `failed_since`, tokens that expire between `now` and `expiring_until`.
pub fn waiting(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    failed_since: Timestamp,
    now: Timestamp,
    expiring_until: Timestamp,
) -> Result<Waiting, DbError> {
    let found = tx.first(
        WAITING,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Int(failed_since.micros()),
            Value::Int(now.micros()),
            Value::Int(expiring_until.micros()),
        ],
        read,
    )?;
    Ok(found.unwrap_or_default())
}
