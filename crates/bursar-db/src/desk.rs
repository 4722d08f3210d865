//! Lists and sums as officers look at them: by name, by due day, by month. Each is read along an index.

use std::sync::OnceLock;

use bursar_domain::account::Standing;
use bursar_domain::ids::{
    CampaignId, GroupId, ListingId, MemberId, OrderId, OrganizationId, PaymentId, ReimbursementId,
};
use bursar_domain::order::OrderStatus;
use bursar_domain::payment::PaymentStatus;
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
    pub is_active: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct MemberFilter {
    pub is_active: Option<bool>,
    pub group: Option<GroupId>,
    /// Only those with an open charge.
    pub is_owing: bool,
}

record! { member_columns: MemberLine, "m." { id, first_name, last_name, email, is_active } }

/// By last name, first name and id, after the member given.
pub fn members(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    filter: MemberFilter,
    after: Option<(&str, &str, MemberId)>,
    limit: i64,
) -> Result<Vec<MemberLine>, DbError> {
    let organization = organization.to_bytes();
    let group = filter.group.map(|id| id.to_bytes());
    let after = after.map(|(last, first, id)| (last, first, id.to_bytes()));
    let mut values = vec![Value::Bytes(&organization), Value::Int(limit)];
    values.extend(group.as_ref().map(|id| Value::Bytes(id)));
    values.extend(filter.is_active.map(|is_active| Value::Int(i64::from(is_active))));
    if let Some((last, first, id)) = &after {
        values.extend([Value::Text(last), Value::Text(first), Value::Bytes(id)]);
    }
    let asked = [
        group.is_some(),
        filter.is_active.is_some(),
        filter.is_owing,
        after.is_some(),
    ];
    tx.rows(member_text(asked), &values, read)
}

/// The statement for each set of filters, made once. Its parameters are in the order of the filters.
fn member_text(asked: [bool; 4]) -> &'static str {
    static TEXTS: [OnceLock<String>; 16] = [const { OnceLock::new() }; 16];
    let bits = asked
        .iter()
        .fold(0, |bits, is_asked| bits * 2 + usize::from(*is_asked));
    TEXTS[bits].get_or_init(|| {
        let [has_group, has_state, is_owing, has_after] = asked;
        let mut next = 3;
        let mut place = || {
            next += 1;
            next - 1
        };
        let mut sql = concat!("SELECT ", member_columns!(), " FROM members m").to_owned();
        if has_group {
            let n = place();
            sql += &format!(" JOIN memberships g ON g.organization_id = ?1 AND g.group_id = ?{n} AND g.member_id = m.id");
        }
        sql += " WHERE m.organization_id = ?1";
        if has_state {
            sql += &format!(" AND m.is_active = ?{}", place());
        }
        if is_owing {
            sql += " AND EXISTS (SELECT 1 FROM payments p WHERE p.organization_id = ?1 AND p.member_id = m.id \
                    AND p.status IN ('pending', 'partially_paid', 'failed') AND p.amount > p.paid_to_date)";
        }
        if has_after {
            let (last, first, id) = (place(), place(), place());
            sql += &format!(" AND (m.last_name, m.first_name, m.id) > (?{last}, ?{first}, ?{id})");
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargeLine {
    pub id: PaymentId,
    pub updated_at: Timestamp,
    pub member: Option<MemberId>,
    pub chapter: Option<OrganizationId>,
    pub group: Option<GroupId>,
    pub description: String,
    pub amount: i64,
    pub paid: i64,
    pub status: PaymentStatus,
    pub due: Option<Date>,
}

record! { charge_columns: ChargeLine {
    id, updated_at, member = "member_id", chapter = "target_organization_id", group = "group_id", description, amount,
    paid = "paid_to_date", status, due = "due_date",
} }

/// Which charges, and so in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charges {
    /// The last changed first.
    All,
    /// The last changed first.
    In(PaymentStatus),
    /// Of a member; the last changed first.
    Of(MemberId),
    /// By due day; those without one last.
    Open,
}

/// The charges after the one given.
pub fn charges(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    which: Charges,
    after: Option<&ChargeLine>,
    limit: i64,
) -> Result<Vec<ChargeLine>, DbError> {
    let organization = organization.to_bytes();
    let mut values = vec![Value::Bytes(&organization), Value::Int(limit)];
    let member = match which {
        Charges::Of(member) => Some(member.to_bytes()),
        Charges::All | Charges::In(_) | Charges::Open => None,
    };
    match which {
        Charges::In(status) => values.push(Value::Text(status.as_str())),
        Charges::All | Charges::Of(_) | Charges::Open => {
            values.extend(member.as_ref().map(|id| Value::Bytes(id)));
        }
    }
    let place = after.map(|line| {
        let due = line
            .due
            .map_or_else(|| LAST_DAY.to_owned(), |due| due.to_string());
        (due, line.updated_at.micros(), line.id.to_bytes())
    });
    if let Some((due, updated_at, id)) = &place {
        values.push(match which {
            Charges::Open => Value::Text(due),
            Charges::All | Charges::In(_) | Charges::Of(_) => Value::Int(*updated_at),
        });
        values.push(Value::Bytes(id));
    }
    tx.rows(charges_text(which, after.is_some()), &values, read)
}

/// Where charges without a due day are.
const LAST_DAY: &str = "9999-12-31";

macro_rules! charges_sql {
    ($rest:expr) => {
        concat!(
            "SELECT ",
            charge_columns!(),
            " FROM payments WHERE organization_id = ?1 ",
            $rest
        )
    };
}

const fn charges_text(which: Charges, has_after: bool) -> &'static str {
    match (which, has_after) {
        (Charges::All, false) => charges_sql!("ORDER BY updated_at DESC, id DESC LIMIT ?2"),
        (Charges::All, true) => {
            charges_sql!("AND (updated_at, id) < (?3, ?4) ORDER BY updated_at DESC, id DESC LIMIT ?2")
        }
        (Charges::In(_), false) => {
            charges_sql!("AND status = ?3 ORDER BY updated_at DESC, id DESC LIMIT ?2")
        }
        (Charges::In(_), true) => {
            charges_sql!(
                "AND status = ?3 AND (updated_at, id) < (?4, ?5) ORDER BY updated_at DESC, id DESC LIMIT ?2"
            )
        }
        (Charges::Of(_), false) => {
            charges_sql!("AND member_id = ?3 ORDER BY updated_at DESC, id DESC LIMIT ?2")
        }
        (Charges::Of(_), true) => {
            charges_sql!(
                "AND member_id = ?3 AND (updated_at, id) < (?4, ?5) ORDER BY updated_at DESC, id DESC LIMIT ?2"
            )
        }
        (Charges::Open, false) => charges_sql!(
            "AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date \
             ORDER BY COALESCE(due_date, '9999-12-31'), id LIMIT ?2"
        ),
        (Charges::Open, true) => charges_sql!(
            "AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date \
             AND (COALESCE(due_date, '9999-12-31'), id) > (?3, ?4) ORDER BY COALESCE(due_date, '9999-12-31'), id LIMIT ?2"
        ),
    }
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
    expected = sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    collected = sum!("paid_to_date"),
} }
const MONTHS: &str = concat!(
    "SELECT ",
    month_columns!(),
    " FROM payments WHERE organization_id = ?1 AND due_date >= ?2 AND due_date <= ?3 GROUP BY SUBSTR(due_date, 1, 7) \
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
    expected = sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    collected = sum!("paid_to_date"),
    open = sum!("CASE WHEN status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END"),
    overdue = sum!("CASE WHEN status IN ('pending', 'partially_paid', 'failed') AND due_date < ?5 THEN amount - paid_to_date ELSE 0 END"),
} }
const GROUP: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM payments WHERE organization_id = ?1 AND group_id = ?2 AND due_date >= ?3 AND due_date <= ?4"
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

/// What is open, by due day: the day and the sum. Charges without a due day are last, without a day.
pub fn open_by_day(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(Option<Date>, i128)>, DbError> {
    let sql = concat!(
        "SELECT due_date, ",
        sum!("amount - paid_to_date"),
        " FROM payments WHERE organization_id = ?1 AND status IN ('pending', 'partially_paid', 'failed') \
         AND amount > paid_to_date GROUP BY due_date"
    );
    tx.rows(sql, &[Value::Bytes(&organization.to_bytes())], read)
}

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
    ($rest:expr) => {
        concat!(
            "SELECT ",
            order_columns!(),
            " FROM orders WHERE organization_id = ?1 AND (updated_at, id) < (?3, ?4) ",
            $rest,
            " ORDER BY updated_at DESC, id DESC LIMIT ?2"
        )
    };
}

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
        Orders::All => tx.rows(orders_sql!(""), &values, read),
        Orders::In(status) => {
            values.push(Value::Text(status.as_str()));
            tx.rows(orders_sql!("AND status = ?5"), &values, read)
        }
        Orders::Of(member) => {
            let member = member.to_bytes();
            values.push(Value::Bytes(&member));
            tx.rows(orders_sql!("AND member_id = ?5"), &values, read)
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

/// Of one member, the last changed first, along the list's key.
pub fn reimbursements_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    limit: i64,
) -> Result<Vec<ReimbursementRow>, DbError> {
    let sql = concat!(
        "SELECT ",
        reimbursement_columns!(),
        " FROM reimbursements WHERE organization_id = ?1 AND member_id = ?2 ORDER BY updated_at DESC, id DESC LIMIT ?3"
    );
    tx.rows(
        sql,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
            Value::Int(limit),
        ],
        read,
    )
}

/// What was donated to each campaign, in minor units.
pub fn donated(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<(CampaignId, i128)>, DbError> {
    let sql = concat!(
        "SELECT campaign_id, ",
        sum!("-amount"),
        " FROM journal_postings WHERE organization_id = ?1 AND campaign_id IS NOT NULL GROUP BY campaign_id"
    );
    tx.rows(sql, &[Value::Bytes(&organization.to_bytes())], read)
}

/// How many reimbursements wait for an approval.
pub fn submitted(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<i64, DbError> {
    let sql = "SELECT COUNT(*) FROM reimbursements WHERE organization_id = ?1 AND status = 'submitted'";
    let found = tx.first(sql, &[Value::Bytes(&organization.to_bytes())], read)?;
    Ok(found.unwrap_or(0))
}
