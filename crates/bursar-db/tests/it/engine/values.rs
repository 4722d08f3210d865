//! Values go in and come out the same on both engines, by the same text.

use bursar_db::testing::both_engines;
use bursar_db::{ColumnType, DbError, LoadTarget, OwnedValue, Tx, Value};

use super::{A, with_table};

#[test]
fn every_kind_and_null_come_back_as_they_went_in() {
    both_engines(|test| {
        with_table(test);
        let long = "é€𝄞".repeat(100_000);
        let text = long.clone();
        let wrote: Result<u64, DbError> = test
            .db
            .write(A, move |tx| {
                tx.execute(
                    "INSERT INTO things (id, name, body) VALUES (?1, ?3, ?2), (?4, ?5, ?8), (?6, '?1', ?7)",
                    &[
                        i64::MIN.into(),
                        Value::Bytes(&[0, 255, 0]),
                        text.as_str().into(),
                        i64::MAX.into(),
                        Value::Null,
                        true.into(),
                        Some(&[9_u8; 16]).into(),
                        Value::from(None::<&[u8]>),
                    ],
                )
            })
            .wait();
        assert_eq!(wrote.unwrap(), 3);
        let seen: Result<(), DbError> = test
            .db
            .read(move |tx| {
                let sql = "SELECT id, name, body, CASE WHEN id > 0 THEN 1 ELSE 0 END, COUNT(*) OVER () FROM things ORDER BY id";
                let mut row_number = 0;
                tx.each(sql, &[], |row| {
                    assert_eq!(row.int(4)?, 3);
                    match row_number {
                        0 => {
                            assert_eq!((row.int(0)?, row.text(1)?), (i64::MIN, long.as_str()));
                            assert_eq!((row.bytes(2)?, row.bool(3)?), (&[0, 255, 0][..], false));
                            assert!(matches!(row.key(2), Err(DbError::Internal(_))));
                        }
                        1 => {
                            assert_eq!((row.bool(0)?, row.text_opt(1)?), (true, Some("?1")));
                            assert_eq!((row.key(2)?, row.key_opt(2)?), ([9; 16], Some([9; 16])));
                            assert!(matches!(row.int(1), Err(DbError::Internal(_))));
                        }
                        _ => {
                            assert_eq!((row.int_opt(0)?, row.text_opt(1)?), (Some(i64::MAX), None));
                            assert_eq!((row.bytes_opt(2)?, row.key_opt(2)?), (None, None));
                            assert!(matches!(row.text(1), Err(DbError::Internal(_))));
                            assert!(matches!(row.int(9), Err(DbError::Internal(_))));
                        }
                    }
                    row_number += 1;
                    Ok(())
                })?;
                assert_eq!(row_number, 3);
                Ok(())
            })
            .wait();
        seen.unwrap();
    });
}

#[test]
fn first_stops_early_and_leaves_the_connection_usable() {
    both_engines(|test| {
        let found: Result<(Option<i64>, Option<i64>, i64), DbError> = test
            .db
            .snapshot(|tx| {
                let numbers = "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i FROM n WHERE i > ?1";
                let first = tx.first(numbers, &[10_i64.into()], |row| row.int(0))?;
                let none = tx.first(numbers, &[50_000_i64.into()], |row| row.int(0))?;
                let all = tx.rows(numbers, &[0_i64.into()], |row| row.int(0))?;
                Ok((first, none, all.iter().sum()))
            })
            .wait();
        assert_eq!(found.unwrap(), (Some(11), None, 50_000 * 50_001 / 2));
    });
}

#[test]
fn a_bulk_load_brings_every_row_and_is_undone_with_its_job() {
    static THINGS: LoadTarget = LoadTarget {
        table: "things",
        columns: &[
            ("id", ColumnType::Int),
            ("name", ColumnType::Text),
            ("body", ColumnType::Bytes),
        ],
    };
    both_engines(|test| {
        with_table(test);
        let load = |ids: std::ops::Range<i64>| -> Result<(), DbError> {
            let rows: Vec<_> = ids
                .map(|id| {
                    let name = if id % 2 == 0 {
                        OwnedValue::Null
                    } else {
                        OwnedValue::Text(format!("n{id}"))
                    };
                    vec![
                        OwnedValue::Int(id),
                        name,
                        OwnedValue::Bytes(id.to_be_bytes().to_vec()),
                    ]
                })
                .collect();
            test.db.exclusive(|tx| tx.load(&THINGS, &rows))
        };
        load(0..5_000).unwrap();
        assert!(matches!(load(4_999..6_000), Err(DbError::Constraint(_))));
        let seen: Result<_, DbError> = test.db.survey(|tx| {
            tx.first(
                "SELECT COUNT(*), COUNT(name), CAST(SUM(id) AS BIGINT), \
                 (SELECT body FROM things ORDER BY id DESC LIMIT 1) FROM things",
                &[],
                |row| Ok((row.int(0)?, row.int(1)?, row.int(2)?, row.bytes(3)?.to_vec())),
            )
        });
        assert_eq!(
            seen.unwrap(),
            Some((5_000, 2_500, 4_999 * 5_000 / 2, 4_999_i64.to_be_bytes().to_vec()))
        );
        let short: Result<(), DbError> = test
            .db
            .exclusive(|tx| tx.load(&THINGS, &[vec![OwnedValue::Int(1)]]));
        assert!(matches!(short, Err(DbError::Internal(_))));
    });
}

#[test]
fn a_snapshot_sees_one_state_and_readers_cannot_write() {
    both_engines(|test| {
        with_table(test);
        // How many there are, before and after another one is written.
        let look = |id: i64| {
            let db = test.db.clone();
            move |tx: &mut Tx<'_>| {
                let count = "SELECT COUNT(*) FROM things";
                let before = tx.first(count, &[], |row| row.int(0))?;
                super::write_id(&db, A, id).wait()?;
                Ok::<_, DbError>((before, tx.first(count, &[], |row| row.int(0))?))
            }
        };
        assert_eq!(test.db.snapshot(look(0)).wait().unwrap(), (Some(0), Some(0)));
        assert_eq!(test.db.survey(look(1)).unwrap(), (Some(1), Some(1)));
        assert_eq!(super::ids(&test.db), [0, 1]);
        for result in [
            test.db.read(|tx| super::insert(tx, 2)).wait(),
            test.db.snapshot(|tx| super::insert(tx, 2)).wait(),
        ] {
            result.unwrap_err();
        }
        assert_eq!(super::ids(&test.db), [0, 1]);
    });
}

#[test]
fn a_panic_in_a_read_is_an_answer_and_the_next_read_works() {
    both_engines(|test| {
        for _ in 0..20 {
            let result: Result<(), DbError> = test
                .db
                .snapshot(|tx| {
                    tx.each("SELECT 1", &[], |_| -> Result<(), DbError> {
                        panic!("a broken map")
                    })
                })
                .wait();
            assert_eq!(result, Err(DbError::Panicked("a broken map".to_owned())));
        }
        test.db.examine_schema().wait().unwrap();
    });
}
