//! Charges as officers look at them: by state, due day, group or member, a page at a time, each along an index.

use std::sync::OnceLock;

use bursar_domain::ids::{GroupId, MemberId, OrganizationId, PaymentId};
use bursar_domain::payment::PaymentStatus;
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

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

record! { charge_columns: ChargeLine, "p." {
    id, updated_at, member = "p.member_id", chapter = "p.target_organization_id", group = "p.group_id", description,
    amount, paid = "p.paid_to_date", status, due = "p.due_date",
} }

/// Where a charge is in a list. It stays there when the charge changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChargePlace {
    pub due: Option<Date>,
    pub updated_at: Timestamp,
    pub id: PaymentId,
}

impl ChargeLine {
    pub const fn place(&self) -> ChargePlace {
        ChargePlace {
            due: self.due,
            updated_at: self.updated_at,
            id: self.id,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charges {
    #[default]
    All,
    In(PaymentStatus),
    Open,
    /// What the organization reckons with: all but what was cancelled.
    Expected,
    /// With money, in part or whole.
    Collected,
}

/// Which charges, and so in which order: those of a member, and those without another filter, the last changed first;
/// open ones, and those of days or of a group, by due day. Charges without a due day come last, and are left out if
/// there is a last day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChargeQuery {
    pub which: Charges,
    pub member: Option<MemberId>,
    pub group: Option<GroupId>,
    /// The first due day.
    pub from: Option<Date>,
    /// The last due day.
    pub until: Option<Date>,
}

/// The index that a page is read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    Changes,
    Member,
    Owed,
    DueDays,
    /// Those that have no due day.
    NoDay,
}

impl ChargeQuery {
    const fn along(&self) -> Along {
        let has_days = self.from.is_some() || self.until.is_some();
        match (self.which, self.member, self.group) {
            (_, Some(_), _) => Along::Member,
            (Charges::Open, None, None) => Along::Owed,
            (_, None, None) if !has_days => Along::Changes,
            _ => Along::DueDays,
        }
    }
}

/// The charges after the place given.
pub fn page(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    query: &ChargeQuery,
    after: Option<ChargePlace>,
    limit: i64,
) -> Result<Vec<ChargeLine>, DbError> {
    let along = query.along();
    let is_over = along == Along::DueDays && after.is_some_and(|place| place.due.is_none());
    let mut rows = match is_over {
        true => Vec::new(),
        false => select(tx, organization, query, along, after, limit)?,
    };
    let left = limit - i64::try_from(rows.len()).unwrap_or(limit);
    if along == Along::DueDays && query.until.is_none() && left > 0 {
        let after = after.filter(|_| is_over);
        rows.append(&mut select(tx, organization, query, Along::NoDay, after, left)?);
    }
    Ok(rows)
}

/// Where charges without a due day are.
const LAST_DAY: &str = "9999-12-31";

fn select(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    query: &ChargeQuery,
    along: Along,
    after: Option<ChargePlace>,
    limit: i64,
) -> Result<Vec<ChargeLine>, DbError> {
    let (organization, member, group) = (
        organization.to_bytes(),
        query.member.map(|id| id.to_bytes()),
        query.group.map(|id| id.to_bytes()),
    );
    let day =
        |day: Option<Date>, otherwise: &str| day.map_or_else(|| otherwise.to_owned(), |day| day.to_string());
    let until = day(query.until, LAST_DAY);
    // What is after a charge is not before its day.
    let from = match after {
        Some(place) if along != Along::Member => day(place.due, LAST_DAY),
        _ => day(query.from, ""),
    };
    let place = after.map(|place| {
        (
            day(place.due, LAST_DAY),
            place.updated_at.micros(),
            place.id.to_bytes(),
        )
    });
    let mut values = vec![Value::Bytes(&organization), Value::Int(limit)];
    if along == Along::Member {
        values.extend(member.as_ref().map(|id| Value::Bytes(id)));
    }
    values.extend(group.as_ref().map(|id| Value::Bytes(id)));
    if let Charges::In(status) = query.which {
        values.push(Value::Text(status.as_str()));
    }
    match along {
        Along::Member | Along::Owed | Along::DueDays => {
            values.extend([Value::Text(&until), Value::Text(&from)]);
        }
        Along::Changes | Along::NoDay => {}
    }
    if let Some((due, updated_at, id)) = &place {
        match along {
            Along::Changes | Along::Member => values.push(Value::Int(*updated_at)),
            Along::Owed | Along::DueDays => values.push(Value::Text(due)),
            Along::NoDay => {}
        }
        values.push(Value::Bytes(id));
    }
    let sql = charges_text(along, query.which, group.is_some(), place.is_some());
    tx.rows(sql, &values, read)
}

/// Open ones, as the index of what is owed has them.
const OPEN: &str = "p.status IN ('pending', 'partially_paid', 'failed') AND p.amount > p.paid_to_date";

/// The statement for each set of filters, made once. Its parameters are in the order of [`select`].
pub fn charges_text(along: Along, which: Charges, has_group: bool, has_after: bool) -> &'static str {
    static TEXTS: [OnceLock<String>; 100] = [const { OnceLock::new() }; 100];
    let state = match which {
        Charges::All => 0,
        Charges::In(_) => 1,
        Charges::Open => 2,
        Charges::Expected => 3,
        Charges::Collected => 4,
    };
    let place = (along as usize * 5 + state) * 4 + usize::from(has_group) * 2 + usize::from(has_after);
    TEXTS[place].get_or_init(|| write(along, which, has_group, has_after))
}

fn write(along: Along, which: Charges, has_group: bool, has_after: bool) -> String {
    let mut next = 2;
    let mut place = || {
        next += 1;
        next
    };
    let mut wanted = "p.organization_id = ?1".to_owned();
    if along == Along::Member {
        wanted += &format!(" AND p.member_id = ?{}", place());
    }
    if has_group {
        wanted += &format!(" AND p.group_id = ?{}", place());
    }
    // Where the state is not what the index begins with, it must not lead to another index.
    wanted += &match (which, along) {
        (Charges::All, _) => String::new(),
        (Charges::In(_), Along::Changes) => format!(" AND p.status = ?{}", place()),
        (Charges::In(_), _) => format!(" AND (p.status = ?{}) IS TRUE", place()),
        (Charges::Open, Along::Owed) => format!(" AND {OPEN}"),
        (Charges::Open, _) => format!(" AND ({OPEN}) IS TRUE"),
        (Charges::Expected, _) => " AND (p.status <> 'cancelled' OR p.paid_to_date > 0) IS TRUE".to_owned(),
        (Charges::Collected, _) => " AND (p.paid_to_date > 0) IS TRUE".to_owned(),
    };
    let (key, order) = match along {
        Along::Changes | Along::Member => ("p.updated_at", "p.updated_at DESC, p.id DESC"),
        Along::Owed => (
            "COALESCE(p.due_date, '9999-12-31')",
            "COALESCE(p.due_date, '9999-12-31'), p.id",
        ),
        Along::DueDays => ("p.due_date", "p.due_date, p.id"),
        Along::NoDay => ("", "p.id"),
    };
    match along {
        Along::Changes => {}
        Along::Member => {
            let (until, from) = (place(), place());
            wanted += &format!(
                " AND COALESCE(p.due_date, '9999-12-31') <= ?{until} AND COALESCE(p.due_date, '9999-12-31') >= ?{from}"
            );
        }
        Along::Owed | Along::DueDays => {
            wanted += &format!(" AND {key} <= ?{} AND {key} >= ?{}", place(), place());
        }
        Along::NoDay => wanted += " AND p.due_date IS NULL",
    }
    if has_after {
        wanted += &match along {
            Along::Changes | Along::Member => format!(" AND ({key}, p.id) < (?{}, ?{})", place(), place()),
            // The days are found by the index. SQLite finds no row value that contains an expression.
            Along::Owed | Along::DueDays => {
                format!(" AND (({key}, p.id) > (?{}, ?{})) IS TRUE", place(), place())
            }
            Along::NoDay => format!(" AND p.id > ?{}", place()),
        };
    }
    let columns = charge_columns!();
    let index = match (along, which) {
        (Along::Changes, Charges::In(_)) => " INDEXED BY payments_status",
        (Along::Changes, _) => "",
        (Along::Member, _) => " INDEXED BY payments_member",
        (Along::Owed, _) => " INDEXED BY payments_owed",
        (Along::DueDays | Along::NoDay, _) => " INDEXED BY payments_due",
    };
    match along {
        Along::Changes | Along::Member | Along::Owed => {
            format!("SELECT {columns} FROM payments p{index} WHERE {wanted} ORDER BY {order} LIMIT ?2")
        }
        // The index has what is asked for; only the rows of the page are looked up.
        Along::DueDays | Along::NoDay => format!(
            "SELECT {columns} FROM (SELECT p.updated_at AS at, p.id AS key FROM payments p{index} WHERE {wanted} ORDER BY \
             {order} LIMIT ?2) k CROSS JOIN payments p WHERE p.organization_id = ?1 AND p.updated_at = k.at AND p.id = k.key \
             ORDER BY {order}"
        ),
    }
}
