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
    pub phone: Option<String>,
    pub is_active: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct MemberFilter {
    pub is_active: Option<bool>,
    pub group: Option<GroupId>,
    /// Only those with an open charge.
    pub is_owing: bool,
}

record! { member_columns: MemberLine, "m." { id, first_name, last_name, email, phone, is_active } }

/// By last name, first name and id, after the member given.
pub fn members(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    filter: MemberFilter,
    after: Option<(&str, &str, MemberId)>,
    limit: i64,
) -> Result<Vec<MemberLine>, DbError> {
    let place = match after {
        Some((last, first, id)) => Place::After(last, first, id.to_bytes()),
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
            sql += &format!(" JOIN memberships g ON g.organization_id = ?1 AND g.group_id = ?{n} AND g.member_id = m.id");
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
            sql += " AND EXISTS (SELECT 1 FROM payments p WHERE p.organization_id = ?1 AND p.member_id = m.id \
                    AND p.status IN ('pending', 'partially_paid', 'failed') AND p.amount > p.paid_to_date)";
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
}

record! { waiting_columns: Waiting {
    submitted = "(SELECT COUNT(*) FROM reimbursements WHERE organization_id = ?1 AND status = 'submitted')",
    failed = "(SELECT COUNT(*) FROM outbox_messages WHERE organization_id = ?1 AND state = 'failed' AND ended_at >= ?2)",
    lines = "(SELECT COUNT(*) FROM statement_lines WHERE organization_id = ?1 AND status = 'open')",
    expiring = "(SELECT COUNT(*) FROM tokens WHERE organization_id = ?1 AND revoked_at IS NULL \
        AND successor_id IS NULL AND expires_at > ?3 AND expires_at <= ?4)",
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
