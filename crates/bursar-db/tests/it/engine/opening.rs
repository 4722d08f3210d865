//! What may be opened, and what is refused with which words.

use std::path::Path;

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{DatabaseUrl, Db, DbError, Opening, Options, schema_version};
use bursar_testing::until;

use super::A;

fn open(path: &Path, opening: Opening) -> Result<Db, DbError> {
    Db::open(
        &DatabaseUrl::Sqlite(path.to_owned()),
        &Options::default(),
        opening,
    )
}

fn refusal(path: &Path, opening: Opening) -> DbError {
    match open(path, opening) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            error
        }
    }
}

fn set_version(test: &TestDb, change: i64) {
    test.db
        .write(A, move |tx| {
            tx.execute(
                "UPDATE bursar_schema SET version = version + ?1",
                &[change.into()],
            )
        })
        .wait()
        .map_err(|error: DbError| error)
        .unwrap();
}

#[test]
fn a_newer_schema_is_refused_by_everyone() {
    both_engines(|test| {
        let known = schema_version();
        set_version(test, 1);
        for opening in [Opening::Migrate, Opening::Require] {
            let refused = Db::open(&test.url, &Options::default(), opening).err();
            assert_eq!(
                refused,
                Some(DbError::SchemaNewer {
                    found: known + 1,
                    known
                })
            );
        }
    });
}

#[test]
fn an_older_schema_is_refused_where_it_is_required() {
    both_engines(|test| {
        let wanted = schema_version();
        test.make_older(1);
        let refused = Db::open(&test.url, &Options::default(), Opening::Require).err();
        assert_eq!(refused, Some(DbError::SchemaOlder { found: 1, wanted }));
    });
}

#[test]
fn many_who_start_at_once_all_succeed() {
    both_engines(|test| {
        // The schema is taken away, so that all of them find an empty database.
        let url = match &test.url {
            DatabaseUrl::Sqlite(path) => DatabaseUrl::Sqlite(path.with_file_name("fresh.db")),
            DatabaseUrl::Postgres(_) => {
                test.place
                    .beside("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
                test.url.clone()
            }
        };
        let barrier = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            let openings: Vec<_> = (0..6)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        Db::open(&url, &Options::default(), Opening::Migrate)
                            .and_then(|db| db.examine_schema().wait())
                    })
                })
                .collect();
            for opening in openings {
                assert_eq!(opening.join().unwrap(), Ok(Vec::new()));
            }
        });
    });
}

#[test]
fn a_missing_file_is_made_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    let refused = refusal(&path, Opening::Require);
    assert!(
        matches!(&refused, DbError::NoDatabase(line) if line.contains("new.db")),
        "{refused:?}"
    );
    assert!(!path.exists());
    open(&path, Opening::Migrate).unwrap();
    open(&path, Opening::Require).unwrap();
    // An empty file is a database without a schema.
    let empty = folder.path().join("empty.db");
    std::fs::write(&empty, b"").unwrap();
    assert!(matches!(
        refusal(&empty, Opening::Require),
        DbError::SchemaOlder { found: 0, .. }
    ));
    open(&empty, Opening::Migrate).unwrap();
}

#[test]
fn a_database_of_another_program_is_left_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.db");
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE organizations (x)").unwrap();
    drop(theirs);
    let before = std::fs::read(&path).unwrap();
    for opening in [Opening::Migrate, Opening::Require] {
        let refused = refusal(&path, opening);
        assert!(
            matches!(&refused, DbError::Foreign(line) if line.contains("another program")),
            "{refused:?}"
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_is_damaged_or_no_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database at all, but longer than a header ".repeat(100),
    )
    .unwrap();
    assert!(matches!(refusal(&text, Opening::Migrate), DbError::Foreign(_)));

    let cut = folder.path().join("cut.db");
    open(&cut, Opening::Migrate).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&cut).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2 / 4096 * 4096 + 100)
        .unwrap();
    let mut bytes = std::fs::read(&cut).unwrap();
    bytes[100..4096].fill(0xAA);
    std::fs::write(&cut, bytes).unwrap();
    assert!(matches!(refusal(&cut, Opening::Migrate), DbError::Foreign(_)));
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, b"x").unwrap();
    for path in [
        file.join("bursar.db"),
        folder.path().join("none").join("bursar.db"),
        folder.path().to_owned(),
    ] {
        let refused = refusal(&path, Opening::Migrate);
        assert!(matches!(&refused, DbError::Unwritable(_)), "{refused:?}");
    }
}

#[test]
fn a_postgres_database_of_another_program_is_refused() {
    let test = TestDb::postgres();
    test.place
        .beside("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE organizations (x int)");
    let refused = Db::open(&test.url, &Options::default(), Opening::Migrate).err();
    assert!(matches!(refused, Some(DbError::Foreign(_))), "{refused:?}");
    test.place
        .beside("DROP TABLE organizations; CREATE TABLE other (x int)");
    Db::open(&test.url, &Options::default(), Opening::Migrate).unwrap();
}

#[test]
fn a_new_file_is_for_its_owner_alone_and_an_old_one_keeps_its_rights() {
    use std::os::unix::fs::PermissionsExt;
    let test = TestDb::sqlite();
    let rights = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = test.place.file("new.db");
    let db = open(&path, Opening::Migrate).unwrap();
    let log = path.with_file_name("new.db-wal");
    assert_eq!((rights(&path), rights(&log)), (0o600, 0o600));
    db.shutdown();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    open(&path, Opening::Migrate).unwrap().shutdown();
    assert_eq!(rights(&path), 0o640);
}

/// A program that stays behind while a newer one brings the schema up writes nothing from that moment on, and reads
/// nothing a second later.
#[test]
fn a_schema_that_becomes_newer_stops_reads_and_writes() {
    both_engines(|test| {
        super::with_table(test);
        let known = schema_version();
        let newer = DbError::SchemaNewer { found: 1000, known };
        super::write_id(&test.db, A, 1).wait().unwrap();
        test.place.beside("UPDATE bursar_schema SET version = 1000");
        assert_eq!(super::write_id(&test.db, A, 2).wait(), Err(newer.clone()));
        let written: Result<(), DbError> = test.db.exclusive(|tx| super::insert(tx, 3));
        assert_eq!(written, Err(newer.clone()));
        assert_eq!(test.db.survey(|_| Ok(())), Err(newer.clone()));
        until("reads are refused", || {
            test.db.examine_schema().wait() == Err(newer.clone())
        });
        test.place
            .beside(&format!("UPDATE bursar_schema SET version = {known}"));
        until("reads work again", || test.db.examine_schema().wait().is_ok());
        super::write_id(&test.db, A, 4).wait().unwrap();
        assert_eq!(super::ids(&test.db), [1, 4]);
    });
}

/// On PostgreSQL a step waits for the writes that have begun, and the writes that come later wait for the step.
#[test]
fn a_step_is_not_applied_in_the_middle_of_a_write() {
    let test = TestDb::postgres();
    super::with_table(&test);
    let (release, held) = super::hold(&test.db, A);
    let refused = std::thread::scope(|scope| {
        let step = scope.spawn(|| {
            test.place.beside(
                "BEGIN; SELECT pg_advisory_xact_lock(7094703281); UPDATE bursar_schema SET version = 1000; COMMIT",
            );
        });
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!step.is_finished(), "the step waits for the write");
        let late = super::write_id(&test.db, super::B, 2);
        drop(release);
        step.join().unwrap();
        late.wait()
    });
    held.wait().unwrap();
    assert!(
        matches!(refused, Err(DbError::SchemaNewer { found: 1000, .. })),
        "{refused:?}"
    );
}

/// A probe fails where a write would, and changes nothing.
#[test]
fn a_probe_finds_a_table_that_somebody_has_locked() {
    both_engines(|test| {
        test.db.probe_writes().wait().unwrap();
        test.open_again().unwrap();
    });
    // It does reach the disk.
    let test = TestDb::sqlite();
    let log = || std::fs::read(test.place.database_file().with_file_name("bursar.db-wal")).unwrap();
    let before = log();
    test.db.probe_writes().wait().unwrap();
    assert!(log() != before);
    let test = TestDb::postgres();
    std::thread::scope(|scope| {
        let held = scope.spawn(|| {
            test.place
                .beside("BEGIN; LOCK TABLE members IN SHARE MODE; SELECT pg_sleep(3)")
        });
        until("the table is locked", || {
            matches!(test.db.probe_writes().wait(), Err(DbError::Unavailable(_)))
        });
        held.join().unwrap();
    });
    test.db.probe_writes().wait().unwrap();
}
