//! `check` says nothing of good data and finds each kind of damage that is planted beside the program.

use bursar_db::tables::EVERY_TABLE;
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{EngineKind, Value};
use bursar_domain::account::Standing;
use bursar_domain::ids::{
    AccountId, GroupId, Id, MemberId, OrderId, OrganizationId, PaymentId, ReimbursementId,
};

use crate::support::{EVERY_RECORD, import_now, plant, problems};

/// The first one of its type in the fixture.
fn first<K>() -> Id<K> {
    nth("00e008000000000000")
}

fn nth<K>(suffix: &str) -> Id<K> {
    let digits = format!("01jbst1c{suffix}");
    Id::from_bits(bursar_domain::ids::decode(digits.as_bytes()).unwrap())
}

const SECOND: &str = "01e009wdvsq5zmmz0n";
const FOURTH: &str = "03e009n9kd5hyxyx1z";
const FIFTH: &str = "04e00bhqf6wqyjkw2m";

struct Damage {
    sql: &'static str,
    params: Vec<[u8; 16]>,
    kind: &'static str,
    subject: String,
    /// Whether nothing else is told.
    alone: bool,
}

fn damage(sql: &'static str, params: &[[u8; 16]], kind: &'static str, subject: impl ToString) -> Damage {
    Damage {
        sql,
        params: params.to_vec(),
        kind,
        subject: subject.to_string(),
        alone: true,
    }
}

impl Damage {
    /// More than one thing is wrong after it.
    fn among_others(mut self) -> Self {
        self.alone = false;
        self
    }
}

/// A row with the id `?1` becomes one of the organization `?2` too.
fn also_in_another_organization(name: &str) -> &'static str {
    let table = EVERY_TABLE.iter().find(|table| table.table == name).unwrap();
    let others: Vec<&str> = table.columns[1..].iter().map(|(column, _)| *column).collect();
    let others = others.join(", ");
    let sql = format!(
        "INSERT INTO {name} (organization_id, {others}) SELECT ?2, {others} FROM {name} WHERE id = ?1"
    );
    Box::leak(sql.into_boxed_str())
}

fn every_damage() -> Vec<Damage> {
    let national: OrganizationId = first();
    let north: OrganizationId = nth(SECOND);
    let lower: OrganizationId = nth(FOURTH);
    let independent: OrganizationId = nth(FIFTH);
    let payment: PaymentId = nth("02e00brvqkebz99y1a");
    let (rowers, member, other): (GroupId, MemberId, MemberId) =
        (first(), first(), nth("05e009e5b0kxy78v39"));
    let reimbursement: ReimbursementId = nth("02e00brvqkebz99y1a");
    let order: OrderId = nth(SECOND);
    let unknown = [9; 16];
    let key = |id: u128| id.to_be_bytes();
    vec![
        damage(
            also_in_another_organization("campaigns"),
            &[first::<()>().to_bytes(), north.to_bytes()],
            "id",
            first::<bursar_domain::ids::kind::Campaign>(),
        ),
        damage(
            "UPDATE journal_postings SET amount = amount + 1 WHERE payment_id = ?1",
            &[payment.to_bytes()],
            "sum",
            payment,
        )
        .among_others(),
        damage(
            "DELETE FROM journal_postings WHERE payment_id = ?1",
            &[payment.to_bytes()],
            "sum",
            payment,
        )
        .among_others(),
        damage(
            "UPDATE journal_postings SET payment_id = ?2 WHERE payment_id = ?1",
            &[payment.to_bytes(), unknown],
            "reference",
            PaymentId::from_bytes(unknown),
        )
        .among_others(),
        damage(
            "UPDATE journal_postings SET amount = amount + 1 WHERE reimbursement_id = ?1",
            &[reimbursement.to_bytes()],
            "sum",
            reimbursement,
        )
        .among_others(),
        damage(
            "UPDATE journal_postings SET reimbursement_id = ?2 WHERE reimbursement_id = ?1",
            &[reimbursement.to_bytes(), unknown],
            "reference",
            ReimbursementId::from_bytes(unknown),
        )
        .among_others(),
        damage(
            "UPDATE journal_postings SET amount = amount + 1 WHERE order_id = ?1",
            &[order.to_bytes()],
            "sum",
            order,
        )
        .among_others(),
        damage(
            "UPDATE journal_postings SET order_id = ?2 WHERE order_id = ?1",
            &[order.to_bytes(), unknown],
            "reference",
            OrderId::from_bytes(unknown),
        )
        .among_others(),
        damage(
            "UPDATE organizations SET last_reference = last_reference - 1 WHERE id = ?1",
            &[national.to_bytes()],
            "clock",
            national,
        ),
        damage(
            "UPDATE payments SET reference = (SELECT reference FROM members WHERE id = ?2) WHERE id = ?1",
            &[payment.to_bytes(), member.to_bytes()],
            "reference",
            payment,
        )
        .among_others(),
        damage(
            "UPDATE journal_postings SET account_id = ?2 WHERE payment_id = ?1",
            &[payment.to_bytes(), unknown],
            "reference",
            AccountId::from_bytes(unknown),
        )
        .among_others(),
        damage(
            "UPDATE groups SET member_count = member_count + 1 WHERE id = ?1",
            &[rowers.to_bytes()],
            "count",
            rowers,
        )
        .among_others(),
        damage(
            "DELETE FROM memberships WHERE group_id = ?1 AND member_id = ?2",
            &[rowers.to_bytes(), member.to_bytes()],
            "count",
            rowers,
        ),
        // As many members as before, but not the same.
        damage(
            "UPDATE memberships SET group_id = ?1 WHERE group_id = ?2 AND member_id = ?3",
            &[
                nth::<()>(SECOND).to_bytes(),
                rowers.to_bytes(),
                nth::<()>(SECOND).to_bytes(),
            ],
            "count",
            rowers,
        )
        .among_others(),
        damage(
            "UPDATE memberships SET member_id = ?1 WHERE group_id = ?2 AND member_id = ?3",
            &[
                nth::<()>(SECOND).to_bytes(),
                nth::<()>(SECOND).to_bytes(),
                member.to_bytes(),
            ],
            "count",
            nth::<bursar_domain::ids::kind::Group>(SECOND),
        ),
        damage(
            "UPDATE memberships SET member_id = ?1 WHERE group_id = ?2 AND member_id = ?3",
            &[unknown, rowers.to_bytes(), member.to_bytes()],
            "reference",
            rowers,
        )
        .among_others(),
        damage(
            "UPDATE members SET document = '{}' WHERE id = ?1",
            &[member.to_bytes()],
            "document",
            member,
        ),
        damage(
            "UPDATE members SET first_name = 'Other' WHERE id = ?1",
            &[member.to_bytes()],
            "document",
            member,
        )
        .among_others(),
        damage(
            "UPDATE payments SET member_id = ?2 WHERE id = ?1",
            &[payment.to_bytes(), unknown],
            "reference",
            payment,
        )
        .among_others(),
        // A member of another organization is none of this one's.
        damage(
            "UPDATE payments SET member_id = ?2 WHERE id = ?1",
            &[payment.to_bytes(), other.to_bytes()],
            "reference",
            payment,
        )
        .among_others(),
        damage(
            "UPDATE orders SET listing_id = ?2 WHERE id = ?1",
            &[first::<()>().to_bytes(), unknown],
            "reference",
            first::<bursar_domain::ids::kind::Order>(),
        )
        .among_others(),
        damage(
            "UPDATE reminders SET target_organization_id = ?2 WHERE id = ?1",
            &[nth::<()>(SECOND).to_bytes(), unknown],
            "reference",
            nth::<bursar_domain::ids::kind::Reminder>(SECOND),
        )
        .among_others(),
        damage(
            "DELETE FROM users WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "reference",
            first::<bursar_domain::ids::kind::User>(),
        ),
        damage(
            "UPDATE roles SET role = 'owner' WHERE organization_id = ?1",
            &[north.to_bytes()],
            "row",
            "roles",
        ),
        damage(
            "UPDATE organizations SET clock = 0 WHERE id = ?1",
            &[north.to_bytes()],
            "clock",
            north,
        ),
        damage(
            "DELETE FROM organizations WHERE id = ?1",
            &[independent.to_bytes()],
            "reference",
            "members",
        )
        .among_others(),
        damage(
            "UPDATE members SET organization_id = ?2 WHERE id = ?1",
            &[member.to_bytes(), unknown],
            "reference",
            "members",
        )
        .among_others(),
        damage(
            "UPDATE organizations SET parent_id = ?2 WHERE id = ?1",
            &[north.to_bytes(), unknown],
            "tree",
            north,
        )
        .among_others(),
        damage(
            "UPDATE organizations SET name = 'Renamed' WHERE id = ?1",
            &[north.to_bytes()],
            "tree",
            north,
        ),
        damage(
            "DELETE FROM chapters WHERE id = ?1",
            &[north.to_bytes()],
            "tree",
            north,
        ),
        damage(
            "UPDATE chapters SET organization_id = ?2 WHERE id = ?1",
            &[lower.to_bytes(), national.to_bytes()],
            "tree",
            lower,
        )
        .among_others(),
        damage(
            "UPDATE chapters SET document = '{}' WHERE id = ?1",
            &[north.to_bytes()],
            "document",
            north,
        ),
        damage(
            "UPDATE organizations SET parent_id = ?2 WHERE id = ?1",
            &[nth::<()>("02e00brvqkebz99y1a").to_bytes(), lower.to_bytes()],
            "tree",
            lower,
        )
        .among_others(),
        damage(
            "UPDATE organizations SET parent_id = ?2 WHERE id = ?1",
            &[national.to_bytes(), independent.to_bytes()],
            "tree",
            national,
        )
        .among_others(),
        damage(
            "UPDATE payments SET paid_to_date = amount + 1 WHERE id = ?1",
            &[payment.to_bytes()],
            "row",
            payment,
        )
        .among_others(),
        damage(
            "UPDATE cards SET status = 'melted' WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "row",
            first::<bursar_domain::ids::kind::Card>(),
        ),
        damage(
            "UPDATE members SET group_ids = ?2 WHERE id = ?1",
            &[member.to_bytes(), key(3)],
            "reference",
            member,
        )
        .among_others(),
        damage(
            "UPDATE groups SET currency = 'EUR' WHERE id = ?1",
            &[rowers.to_bytes()],
            "currency",
            rowers,
        ),
        damage(
            "UPDATE cards SET currency = 'EUR' WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "currency",
            first::<bursar_domain::ids::kind::Card>(),
        ),
        damage(
            "UPDATE payments SET currency = 'EUR' WHERE id = ?1",
            &[payment.to_bytes()],
            "currency",
            payment,
        )
        .among_others(),
        damage(
            "UPDATE reimbursements SET currency = 'EUR' WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "currency",
            first::<bursar_domain::ids::kind::Reimbursement>(),
        )
        .among_others(),
        damage(
            "UPDATE campaigns SET currency = 'EUR' WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "currency",
            first::<bursar_domain::ids::kind::Campaign>(),
        )
        .among_others(),
        damage(
            "UPDATE listings SET currency = 'EUR' WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "currency",
            first::<bursar_domain::ids::kind::Listing>(),
        )
        .among_others(),
        damage(
            "UPDATE orders SET currency = 'EUR' WHERE id = ?1",
            &[first::<()>().to_bytes()],
            "currency",
            first::<bursar_domain::ids::kind::Order>(),
        )
        .among_others(),
        damage(
            "UPDATE charge_totals SET open = open + 1 WHERE group_id = ?1",
            &[rowers.to_bytes()],
            "sum",
            rowers,
        )
        .among_others(),
        damage(
            "DELETE FROM charge_totals WHERE group_id = ?1",
            &[rowers.to_bytes()],
            "sum",
            rowers,
        )
        .among_others(),
        damage(
            "UPDATE account_totals SET amount = amount + 1 WHERE organization_id = ?1 AND account_id = ?2",
            &[first::<()>().to_bytes(), Standing::Receivable.id().to_bytes()],
            "sum",
            Standing::Receivable.id(),
        ),
        damage(
            "DELETE FROM member_words WHERE member_id = ?1",
            &[member.to_bytes()],
            "row",
            member,
        ),
        damage(
            "INSERT INTO member_words (organization_id, word, member_id) VALUES (?1, ?1, ?2)",
            &[first::<()>().to_bytes(), member.to_bytes()],
            "row",
            member,
        ),
    ]
}

#[test]
fn good_data_is_found_good() {
    both_engines(|test| {
        assert_eq!(problems(&test.db), [], "an empty database");
        import_now(&test.db, EVERY_RECORD).unwrap();
        assert_eq!(problems(&test.db), []);
    });
}

#[test]
fn every_damage_is_found_on_sqlite() {
    find_every_damage(EngineKind::Sqlite);
}

#[test]
fn every_damage_is_found_on_postgres() {
    find_every_damage(EngineKind::Postgres);
}

fn find_every_damage(kind: EngineKind) {
    for damage in every_damage() {
        let test = match kind {
            EngineKind::Sqlite => TestDb::sqlite(),
            EngineKind::Postgres => TestDb::postgres(),
        };
        import_now(&test.db, EVERY_RECORD).unwrap();
        let params: Vec<Value<'_>> = damage.params.iter().map(|key| Value::Bytes(key)).collect();
        plant(&test.db, damage.sql, &params);
        let found = problems(&test.db);
        let wanted = (damage.kind, damage.subject);
        assert!(
            found.contains(&wanted),
            "{}: {wanted:?} is not among {found:?}",
            damage.sql
        );
        assert!(!damage.alone || found.len() == 1, "{}: {found:?}", damage.sql);
    }
}

#[test]
fn a_million_problems_are_not_told_one_by_one() {
    let test = TestDb::sqlite();
    import_now(&test.db, EVERY_RECORD).unwrap();
    // One group with more members than problems are told, none of whom is there.
    plant(
        &test.db,
        "INSERT INTO memberships (organization_id, group_id, member_id, joined_at) \
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500) \
         SELECT ?1, ?2, CAST(printf('%016d', n) AS BLOB), 0 FROM numbers",
        &[
            Value::Bytes(&first::<()>().to_bytes()),
            Value::Bytes(&first::<()>().to_bytes()),
        ],
    );
    assert_eq!(problems(&test.db).len(), bursar_app::check::PROBLEMS_MAX);
}
