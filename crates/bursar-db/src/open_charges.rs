//! Charges that money can settle.

use bursar_domain::Date;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, PaymentId};
use bursar_domain::matching::{Charge, Person};
use bursar_domain::receipt::Open;

use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::rows::read;

/// Pending, partially paid and failed charges of a member and of those the member pays for: by due day, without one
/// last, then by creation and id.
pub fn of_household(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payer: MemberId,
) -> Result<Vec<Open>, DbError> {
    let mut found: Vec<(Option<Date>, i64, PaymentId, i64)> = Vec::new();
    let mut members = household(tx, organization, payer)?;
    members.push(payer);
    let organization = organization.to_bytes();
    for member in members {
        let member = member.to_bytes();
        let mut rows = tx.rows(
            OF_MEMBER,
            &[Value::Bytes(&organization), Value::Bytes(&member)],
            read,
        )?;
        found.append(&mut rows);
    }
    found.retain(|(.., open)| *open > 0);
    found.sort_unstable_by_key(|(due, created, id, _)| (due.is_none(), *due, *created, *id));
    let open = |(_, _, payment, open)| Open { payment, open };
    Ok(found.into_iter().map(open).collect())
}

/// The ids first, which an index alone can tell; otherwise SQLite would read all payments. Without a condition on what
/// was paid, which would lead PostgreSQL to the index of all that is owed.
const OF_MEMBER: &str = "SELECT due_date, created_at, id, amount - paid_to_date FROM payments \
     WHERE (organization_id = ?1) IS TRUE AND id IN (SELECT id FROM payments WHERE organization_id = ?1 AND member_id = ?2 \
     AND status IN ('pending', 'partially_paid', 'failed'))";

/// Pending, partially paid and failed charges of a member alone.
pub fn of_member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<PaymentId>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    let mut found: Vec<(Option<Date>, i64, PaymentId, i64)> = tx.rows(
        OF_MEMBER,
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        read,
    )?;
    found.retain(|(.., open)| *open > 0);
    found.sort_unstable_by_key(|(due, created, id, _)| (due.is_none(), *due, *created, *id));
    Ok(found.into_iter().map(|(_, _, id, _)| id).collect())
}

/// Members whose payer this is.
pub fn household(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payer: MemberId,
) -> Result<Vec<MemberId>, DbError> {
    let (organization, payer) = (organization.to_bytes(), payer.to_bytes());
    tx.rows(
        HOUSEHOLD,
        &[Value::Bytes(&organization), Value::Bytes(&payer)],
        read,
    )
}

const HOUSEHOLD: &str = "SELECT id FROM members WHERE organization_id = ?1 AND payer_id = ?2 ORDER BY id";

/// Late fees of a charge.
pub fn fees_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payment: PaymentId,
) -> Result<Vec<PaymentId>, DbError> {
    let (organization, payment) = (organization.to_bytes(), payment.to_bytes());
    tx.rows(
        FEES_OF,
        &[Value::Bytes(&organization), Value::Bytes(&payment)],
        read,
    )
}

const FEES_OF: &str = "SELECT id FROM payments WHERE organization_id = ?1 AND fee_of = ?2 ORDER BY id";

/// Members who have this group's dues of a day, without those whose payment was cancelled.
pub fn with_dues(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
) -> Result<Vec<MemberId>, DbError> {
    let (organization, group, due) = (organization.to_bytes(), group.to_bytes(), due.to_string());
    tx.rows(
        WITH_DUES,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
        ],
        read,
    )
}

const WITH_DUES: &str = "SELECT member_id FROM payments WHERE organization_id = ?1 AND group_id = ?2 AND dues_for = ?3 \
         AND member_id IS NOT NULL AND status <> 'cancelled' ORDER BY member_id";

/// Whether anybody was charged this group's dues of a day. Cancelled ones count.
pub fn any_with_dues(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
) -> Result<bool, DbError> {
    let (organization, group, due) = (organization.to_bytes(), group.to_bytes(), due.to_string());
    let found: Option<i64> = tx.first(
        ANY_WITH_DUES,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
        ],
        read,
    )?;
    Ok(found.is_some())
}

const ANY_WITH_DUES: &str =
    "SELECT 1 FROM payments WHERE organization_id = ?1 AND dues_for = ?3 AND group_id = ?2 LIMIT 1";

/// Whether a member has this group's dues of a day, without those whose payment was cancelled.
pub fn has_dues(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (group, due): (GroupId, Date),
    member: MemberId,
) -> Result<bool, DbError> {
    let (organization, group, member) = (organization.to_bytes(), group.to_bytes(), member.to_bytes());
    let due = due.to_string();
    let found: Option<i64> = tx.first(
        HAS_DUES,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
            Value::Bytes(&member),
        ],
        read,
    )?;
    Ok(found.is_some())
}

/// The ids first, as in `OF_MEMBER`.
const HAS_DUES: &str = "SELECT 1 FROM payments WHERE (organization_id = ?1) IS TRUE AND status <> 'cancelled' AND id IN \
     (SELECT id FROM payments WHERE organization_id = ?1 AND dues_for = ?3 AND group_id = ?2 AND member_id = ?4) LIMIT 1";

/// A payment or member by its reference.
pub fn by_reference(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    reference: &str,
) -> Result<(Option<PaymentId>, Option<MemberId>), DbError> {
    let params = [Value::Bytes(&organization.to_bytes()), Value::Text(reference)];
    let payment = tx.first(PAYMENT_BY_REFERENCE, &params, read)?;
    let member = tx.first(MEMBER_BY_REFERENCE, &params, read)?;
    Ok((payment, member))
}

const PAYMENT_BY_REFERENCE: &str = "SELECT id FROM payments WHERE organization_id = ?1 AND reference = ?2";
const MEMBER_BY_REFERENCE: &str = "SELECT id FROM members WHERE organization_id = ?1 AND reference = ?2";

/// Payments that have the reference of a member, by id. At most a thousand.
pub fn with_references_of_members(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(PaymentId, MemberId, String)>, DbError> {
    let sql = "SELECT p.id, m.id, m.reference FROM members m JOIN payments p \
         ON p.organization_id = m.organization_id AND p.reference = m.reference \
         WHERE m.organization_id = ?1 ORDER BY p.id LIMIT 1000";
    tx.rows(sql, &[Value::Bytes(&organization.to_bytes())], read)
}

crate::rows::record! { charge_columns: Charge {
    id, member = "member_id",
    open = "CASE WHEN status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END",
    description, reference,
} }

/// Every charge that money can settle: by due day, without one last, then by creation and id.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Charge>, DbError> {
    tx.rows(ALL, &[Value::Bytes(&organization.to_bytes())], read)
}

const ALL: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM payments WHERE organization_id = ?1 AND status IN ('pending', 'partially_paid', 'failed') \
     AND amount > paid_to_date AND COALESCE(due_date, '9999-12-31') >= '0001-01-01' \
     ORDER BY COALESCE(due_date, '9999-12-31'), created_at, id"
);

/// As many references are looked up in one statement.
const REFERENCES: usize = 32;

/// The charges with these references, open or not.
pub fn by_references(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    references: &[String],
) -> Result<Vec<Charge>, DbError> {
    let mut found = Vec::new();
    for chunk in references.chunks(REFERENCES) {
        let organization = organization.to_bytes();
        let mut params = vec![Value::Bytes(&organization)];
        let last = chunk.last().map_or("", String::as_str);
        let padding = std::iter::repeat_n(last, REFERENCES - chunk.len());
        params.extend(chunk.iter().map(String::as_str).chain(padding).map(Value::Text));
        // SQLite reads all payments unless it is told to find the ids first. PostgreSQL does if it is.
        let sql = match tx.kind() {
            EngineKind::Sqlite => BY_IDS_OF_REFERENCES,
            EngineKind::Postgres => BY_REFERENCES,
        };
        let mut rows = tx.rows(sql, &params, read)?;
        found.append(&mut rows);
    }
    Ok(found)
}

macro_rules! with_references {
    () => {
        "organization_id = ?1 AND reference IN (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, \
         ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33)"
    };
}

const BY_REFERENCES: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM payments WHERE ",
    with_references!()
);

const BY_IDS_OF_REFERENCES: &str = concat!(
    "SELECT ",
    charge_columns!(),
    " FROM payments WHERE (organization_id = ?1) IS TRUE AND id IN (SELECT id FROM payments WHERE ",
    with_references!(),
    ")"
);

crate::rows::record! { payer_columns: Person {
    id, first_name, last_name, payer = "payer_id", reference, bank_accounts,
} }

/// Every member, also archived ones.
pub fn payers(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Person>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            payer_columns!(),
            " FROM members WHERE organization_id = ?1 ORDER BY id"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 9] {
    [
        ("open charges of a member", OF_MEMBER),
        ("household", HOUSEHOLD),
        ("late fees of a charge", FEES_OF),
        ("members with dues of a day", WITH_DUES),
        ("anybody with dues of a day", ANY_WITH_DUES),
        ("a member's dues of a day", HAS_DUES),
        ("payment by reference", PAYMENT_BY_REFERENCE),
        ("member by reference", MEMBER_BY_REFERENCE),
        ("open charges", ALL),
    ]
}
