//! How the engines carry out the statements that must cost the same at any size: by an index, without a scan of
//! a table and without a sort.

use bursar_db::events::Wanted;
use bursar_db::testing::{TestDb, postgres_many, without_rules};
use bursar_db::{
    ColumnType, DbError, EngineKind, Stored, Tx, events, pages, resources, table, tables, tokens, walk,
};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::chapter::Chapter;
use bursar_domain::cursor::Filters;
use bursar_domain::event::{EventResource, EventType, TYPES};
use bursar_domain::group::Group;
use bursar_domain::ids::{ListingId, MemberId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

use crate::explain::{postgres_plan, sqlite_plan};
use crate::series::Series;

/// A statement, and what indexes must find its rows by.
struct Asked {
    name: String,
    sql: &'static str,
    /// The types and values of its parameters, for PostgreSQL.
    parameters: Vec<(&'static str, &'static str)>,
    /// What lines of the plan must say, all the conditions of each in one line.
    found_by: Vec<Vec<String>>,
    /// Whether it puts what several searches found in one order.
    merges: bool,
}

impl Asked {
    fn is_done_by<'a>(&self, lines: impl Iterator<Item = &'a String> + Clone) -> bool {
        self.found_by.iter().all(|conditions| {
            lines.clone().any(|line| {
                conditions.iter().all(|condition| {
                    let starts = ["(", " "].map(|before| format!("{before}{condition}"));
                    starts.iter().any(|start| line.contains(start))
                })
            })
        })
    }
}

fn equal(kind: EngineKind, columns: &[&str]) -> Vec<String> {
    let equals = match kind {
        EngineKind::Sqlite => "=?",
        EngineKind::Postgres => " = ",
    };
    columns.iter().map(|column| format!("{column}{equals}")).collect()
}

const KEY: (&str, &str) = ("bytea", "CAST('0000000000000001' AS BYTEA)");

fn one_value(kind: &ColumnType) -> (&'static str, &'static str) {
    match kind {
        ColumnType::Int => ("bigint", "1"),
        ColumnType::Text => ("text", "'x'"),
        ColumnType::Bytes => KEY,
    }
}

fn two_values(kind: &ColumnType) -> (&'static str, &'static str) {
    match kind {
        ColumnType::Int => ("bigint[]", "ARRAY[1, 2]"),
        ColumnType::Text => ("text[]", "ARRAY['x', 'y']"),
        ColumnType::Bytes => (
            "bytea[]",
            "ARRAY[CAST('0000000000000001' AS BYTEA), CAST('0000000000000002' AS BYTEA)]",
        ),
    }
}

fn every_statement(kind: EngineKind) -> Vec<Asked> {
    let mut all = Vec::new();
    of_list::<Member>(kind, &mut all);
    of_list::<Group>(kind, &mut all);
    of_list::<Payment>(kind, &mut all);
    of_list::<Reimbursement>(kind, &mut all);
    of_list::<Reminder>(kind, &mut all);
    of_list::<Card>(kind, &mut all);
    of_list::<Campaign>(kind, &mut all);
    of_list::<Listing>(kind, &mut all);
    of_list::<Order>(kind, &mut all);
    of_list::<Chapter>(kind, &mut all);
    for sql in tokens::statements() {
        let by = if sql.ends_with("t.hash = ?1") {
            "hash"
        } else {
            "id"
        };
        all.push(Asked {
            name: format!("token by {by}"),
            sql,
            parameters: vec![KEY],
            found_by: vec![equal(kind, &[by])],
            merges: false,
        });
    }
    of_events(kind, &mut all);
    for (name, sql) in pages::statements() {
        let bigint = ("bigint", "500");
        all.push(Asked {
            name: name.to_owned(),
            sql,
            parameters: vec![KEY, ("text", "'sent'"), bigint, KEY, ("bigint", "51")],
            found_by: vec![equal(kind, &["organization_id", "status"])],
            merges: sql.contains(" CROSS JOIN "),
        });
    }
    all
}

/// Pages of all events, of one type, of some resources, of one row, and of one row and type.
fn of_events(kind: EngineKind, all: &mut Vec<Asked>) {
    let of = |resources: &[EventResource]| resources.iter().flat_map(|resource| resource.types()).collect();
    let paid: Vec<EventType> = EventType::parse("payment.paid").into_iter().collect();
    let some = [EventResource::Payment, EventResource::Member];
    for (types, is_of_row) in [
        (TYPES.to_vec(), false),
        (paid.clone(), false),
        (of(&some), false),
        (of(&some[..1]), true),
        (paid, true),
    ] {
        let wanted = Wanted {
            resource_id: is_of_row.then_some([0; 16]),
            types,
        };
        let (from, to, limit) = (("bigint", "500"), ("bigint", "1000000"), ("bigint", "51"));
        let mut parameters = vec![KEY, from, KEY, to, limit];
        parameters.extend(is_of_row.then_some(KEY));
        let is_all = wanted.types.len() == TYPES.len();
        let mut columns = vec!["organization_id"];
        columns.extend(is_of_row.then_some("resource_id"));
        let mut found_by = equal(kind, &columns);
        match kind {
            EngineKind::Sqlite => {
                found_by.extend((!is_all).then(|| "type=?".to_owned()));
                found_by.push("(created_at,id)>(".to_owned());
            }
            EngineKind::Postgres if is_all => found_by.extend(position_conditions(&["created_at"])),
            EngineKind::Postgres => found_by.extend(position_conditions(&["type", "created_at"])),
        }
        all.push(Asked {
            name: format!("events of {} types, of one row: {is_of_row}", wanted.types.len()),
            sql: events::statement(kind, &wanted),
            parameters,
            found_by: vec![found_by],
            merges: !is_all,
        });
    }
}

fn of_list<R: Stored>(kind: EngineKind, all: &mut Vec<Asked>) {
    let filters = R::table().filters;
    for mask in 0..1 << filters.len() {
        let given: Vec<&str> = (0..filters.len())
            .filter(|i| mask & (1 << i) != 0)
            .map(|i| filters[i])
            .collect();
        let narrowed = Filters {
            updated_since: None,
            is_active: given.contains(&"is_active").then_some(true),
            status: given.contains(&"status").then_some("paid"),
            member_id: given.contains(&"member_id").then(|| MemberId::from_bits(1)),
            listing_id: given.contains(&"listing_id").then(|| ListingId::from_bits(1)),
            subject: None,
        };
        let texts = walk::statements::<R>(kind, &narrowed);
        let values: Vec<_> = given
            .iter()
            .map(|column| match *column {
                "is_active" => ("bigint", "1"),
                "status" => ("text", "'paid'"),
                _ => KEY,
            })
            .collect();
        let (from, to, limit) = (("bigint", "500"), ("bigint", "1000000"), ("bigint", "51"));
        for sql in texts.live {
            all.push(Asked {
                name: format!("live {} by {given:?}", R::TYPE),
                sql,
                parameters: [&[KEY, from, KEY, to, limit], &values[..]].concat(),
                found_by: vec![live_conditions(kind, sql, &given)],
                merges: false,
            });
        }
        let parameters = [&[KEY, from, KEY, to, from, limit, from], &values[..]].concat();
        all.push(Asked {
            name: format!("an epoch of {} by {given:?}", R::TYPE),
            sql: texts.of_epoch,
            parameters: parameters.clone(),
            found_by: vec![epoch_conditions(kind, &given)],
            merges: false,
        });
        let of_list = equal(kind, &["organization_id", "list"]);
        for sql in texts.in_order {
            let in_order = match kind {
                EngineKind::Sqlite if sql.contains("(updated_at, id)") => {
                    ["(updated_at,id)>(", "updated_at<?"].map(str::to_owned)
                }
                EngineKind::Sqlite => ["updated_at>?", "updated_at<?"].map(str::to_owned),
                EngineKind::Postgres => position_conditions(&["updated_at"]),
            };
            all.push(Asked {
                name: format!("versions of {} in the order of the list, by {given:?}", R::TYPE),
                sql,
                parameters: [&[KEY, from, KEY, to, from, limit], &values[..]].concat(),
                found_by: vec![[&of_list[..], &in_order].concat()],
                merges: false,
            });
        }
        let with = |bound: &str| [&of_list[..], &[bound.to_owned()]].concat();
        match kind {
            EngineKind::Sqlite => {
                for (sql, bound) in texts.since.into_iter().zip(["epoch<?", "epoch>?"]) {
                    all.push(Asked {
                        name: format!("the epochs of {}", R::TYPE),
                        sql,
                        parameters: Vec::new(),
                        found_by: vec![with(bound)],
                        merges: false,
                    });
                }
            }
            EngineKind::Postgres => all.push(Asked {
                name: format!("epochs of {} by {given:?}", R::TYPE),
                sql: texts.since[0],
                parameters,
                found_by: vec![
                    with("epoch <= "),
                    with("epoch > "),
                    epoch_conditions(kind, &given),
                ],
                merges: true,
            }),
        }
    }
    for sql in table::statements::<R>() {
        let values = (1..=99).rev().find(|n| sql.contains(&format!("?{n}"))).unwrap();
        let columns = R::table().target.columns;
        let types: Vec<ColumnType> = columns[..values].iter().map(|(_, kind)| *kind).collect();
        all.push(Asked {
            name: sql.to_owned(),
            sql,
            parameters: types.iter().map(one_value).collect(),
            found_by: vec![equal(kind, &["id"])],
            merges: false,
        });
        if kind == EngineKind::Postgres {
            // As the engine sends it for several jobs.
            let many = postgres_many(sql, &types).unwrap();
            all.push(Asked {
                name: format!("for many rows: {sql}"),
                sql: Box::leak(many.into_boxed_str()),
                parameters: types.iter().map(two_values).collect(),
                found_by: vec![equal(kind, &["id"])],
                merges: false,
            });
        }
    }
}

/// Live rows are those of a time or after one, and up to another or not. PostgreSQL is made to take the filters' index
/// by the position, SQLite is told to.
fn live_conditions(kind: EngineKind, sql: &str, given: &[&str]) -> Vec<String> {
    let mut conditions = equal(kind, &["organization_id"]);
    match kind {
        EngineKind::Postgres => {
            let (others, last) = given.split_at(given.len().saturating_sub(1));
            conditions.extend(equal(kind, others));
            conditions.extend(position_conditions(&[last, &["updated_at"]].concat()));
        }
        EngineKind::Sqlite => {
            conditions.extend(equal(kind, given));
            let bounds: &[&str] = if sql.contains("updated_at = ?2") {
                &["updated_at=?", "id>?"]
            } else if sql.contains("updated_at <= ?4") {
                &["updated_at>?", "updated_at<?"]
            } else {
                &["updated_at>?"]
            };
            conditions.extend(bounds.iter().map(|&bound| bound.to_owned()));
        }
    }
    conditions
}

/// Versions are of an epoch, after a row, and up to a time. PostgreSQL may take the index of one of several filters: no
/// index of epochs leads out of the epoch or past the page.
fn epoch_conditions(kind: EngineKind, given: &[&str]) -> Vec<String> {
    let mut conditions = equal(kind, &["organization_id", "list", "epoch"]);
    match kind {
        EngineKind::Postgres => conditions.extend(
            [
                "ROW((updated_at + 0), id) > ",
                "(updated_at + 0) <= ",
                "superseded_at > ",
            ]
            .map(str::to_owned),
        ),
        EngineKind::Sqlite => {
            conditions.extend(equal(kind, given));
            conditions.extend(["(updated_at,id)>(", "updated_at<?"].map(str::to_owned));
        }
    }
    conditions
}

/// After a position and up to another, on PostgreSQL.
fn position_conditions(columns: &[&str]) -> [String; 2] {
    let listed = columns.join(", ");
    let end = match columns {
        [one] => format!("{one} <= "),
        _ => format!("ROW({listed}) <= "),
    };
    [format!("ROW({listed}, id) > "), end]
}

/// The tables that lists and tokens are read from.
fn listed() -> Vec<&'static str> {
    let resources = resources::TABLES.iter().map(|table| table.target.table);
    resources
        .chain(["organizations", "tokens", "history", "events"])
        .collect()
}

/// Rows of several organizations, so many in each table that a scan of it would cost more than an index.
pub(crate) fn fill(tx: &mut Tx<'_>, wanted: &[&str], count: i64) -> Result<(), DbError> {
    let Series { numbers, key, .. } = Series::new(tx.kind(), count);
    let is_filled = |table: &&&bursar_db::LoadTarget| wanted.contains(&table.table);
    for table in tables::EVERY_TABLE.iter().filter(is_filled) {
        let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
        let value = |(name, kind): &(&str, ColumnType)| match (*name, kind) {
            ("organization_id", _) => key("n % 3"),
            ("id" | "hash", _) => key("n"),
            ("receipt_id" | "payment_id", _) if table.table != "events" => key("n"),
            ("session_id" | "intent_id" | "charge_id", ColumnType::Text) => "CAST(n AS TEXT)".to_owned(),
            ("member_id", _) => key("n / 3 % 10"),
            ("listing_id", _) => key("n / 3 % 4"),
            ("updated_at", _) => "n / 4".to_owned(),
            ("superseded_at", _) => "n / 4 + 100".to_owned(),
            ("list", _) => "1 + n / 3 % 10".to_owned(),
            ("epoch", _) => "n / 1000".to_owned(),
            ("type", _) => "CASE WHEN n % 7 = 0 THEN 'payment.paid' ELSE 'payment.updated' END".to_owned(),
            ("reference", _) => "CAST(n AS TEXT)".to_owned(),
            ("is_active", _) => "n % 2".to_owned(),
            ("is_enabled", _) => "1".to_owned(),
            ("status", ColumnType::Text) => "CASE WHEN n % 7 = 0 THEN 'paid' ELSE 'pending' END".to_owned(),
            (_, ColumnType::Int) => "n".to_owned(),
            (_, ColumnType::Text) => "'x'".to_owned(),
            (_, ColumnType::Bytes) => key("n % 20"),
        };
        let values: Vec<String> = table.columns.iter().map(value).collect();
        let few = match table.table {
            "organizations" => " WHERE n < 3",
            "webhooks" | "webhook_extras" => " WHERE n < 60",
            _ => "",
        };
        tx.batch(&format!(
            "INSERT INTO {} ({}) SELECT {} FROM {numbers}{few}",
            table.table,
            names.join(", "),
            values.join(", ")
        ))?;
    }
    Ok(())
}

#[test]
fn sqlite_finds_rows_by_index_in_order() {
    let test = TestDb::sqlite();
    let check = |when: &str| {
        for asked in every_statement(EngineKind::Sqlite) {
            let plan = sqlite_plan(&test, asked.sql);
            let text = plan.join("\n");
            for line in &plan {
                let fine = line.starts_with("SEARCH ") && line.contains(" USING ")
                    || line.starts_with("SCALAR SUBQUERY")
                    // The keys of a page, which an index has told.
                    || ["CO-ROUTINE k", "SCAN k"].contains(&line.as_str())
                    || asked.merges && MERGING.iter().any(|merging| line.starts_with(merging));
                assert!(fine, "{when}: {}\n{}\n{text}", asked.name, asked.sql);
            }
            let done = asked.is_done_by(plan.iter());
            assert!(
                done,
                "{when}: {} is not done by an index alone\n{}\n{text}",
                asked.name, asked.sql
            );
        }
    };
    check("empty");
    let fill = |tx: &mut Tx<'_>| fill(tx, &listed(), 12_000);
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    check("filled");
}

/// How SQLite puts places that several searches found in one order. No line of them reads a table.
const MERGING: [&str; 9] = [
    "CO-ROUTINE ",
    "COMPOUND QUERY",
    "MERGE (UNION ALL)",
    "LEFT",
    "RIGHT",
    "UNION ALL",
    "SCAN page",
    "SCAN (subquery-",
    "USE TEMP B-TREE FOR ORDER BY",
];

#[test]
fn postgres_finds_rows_by_index_in_order() {
    let test = TestDb::postgres();
    let fill = |tx: &mut Tx<'_>| fill(tx, &listed(), 36_000);
    test.db.exclusive(|tx| without_rules(tx, fill)).unwrap();
    // As after an import, until the server gathers its statistics.
    check_postgres(&test, "filled");
    test.place.beside("VACUUM ANALYZE");
    check_postgres(&test, "filled and analyzed");
    let uneven: Result<(), DbError> = test.db.exclusive(|tx| {
        without_rules(tx, |tx| {
            ["payments", "history"].iter().try_for_each(|table| {
                tx.batch(&format!(
                    "UPDATE {table} SET member_id = {}, status = CASE WHEN updated_at % 1000 = 0 THEN 'paid' ELSE 'failed' END",
                    KEY.1
                ))
            })
        })
    });
    uneven.unwrap();
    test.place.beside("VACUUM ANALYZE");
    check_postgres(&test, "one member has everything, and few are paid");
}

fn check_postgres(test: &TestDb, when: &str) {
    for asked in every_statement(EngineKind::Postgres) {
        let plans: Result<Vec<Vec<String>>, DbError> = test.db.exclusive(|tx| {
            PLANNING
                .iter()
                .map(|settings| postgres_plan(tx, asked.sql, &asked.parameters, settings))
                .collect()
        });
        for (plan, may_sort) in plans.unwrap().into_iter().zip([true, false, false]) {
            let text = plan.join("\n");
            let may_sort = may_sort || asked.merges;
            let is_bad = text.contains("Seq Scan") || text.contains("Sort") && !may_sort;
            assert!(!is_bad, "{when}: {}\n{}\n{text}", asked.name, asked.sql);
            let conditions = plan
                .iter()
                .filter(|line| line.trim_start().starts_with("Index Cond:"));
            assert!(
                asked.is_done_by(conditions),
                "{when}: {} is not done by an index alone\n{}\n{text}",
                asked.name,
                asked.sql
            );
        }
    }
}

/// How PostgreSQL plans for the values at hand, which is what a page gets, because it costs less: always by the
/// right index, though it may rather collect and sort the rows where it expects a handful. Then how it can do
/// without, for these values and for any. A table of a handful of rows, such as the organizations here, it reads
/// whole unless told not to.
const PLANNING: [&str; 3] = [
    "SET LOCAL enable_seqscan = off; SET LOCAL plan_cache_mode = force_custom_plan",
    "SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off",
    "SET LOCAL plan_cache_mode = force_generic_plan",
];
