//! Writes: group commit, isolation of failures, bounds, fairness, order.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{DbError, EngineKind, Options, Tx};
use bursar_testing::{Engine, until};

use super::{A, B, hold, ids, insert, with_table, write_id};

fn each_engine(options: &Options, check: impl Fn(&TestDb)) {
    check(&TestDb::open(Engine::Sqlite, options));
    check(&TestDb::open(Engine::Postgres, options));
}

#[test]
fn queued_jobs_are_committed_together() {
    both_engines(|test| {
        with_table(test);
        let (release, held) = hold(&test.db, A);
        let replies: Vec<_> = (0..20).map(|id| write_id(&test.db, A, id)).collect();
        let before = test.db.stats();
        drop(release);
        held.wait().unwrap();
        for reply in replies {
            reply.wait().unwrap();
        }
        let after = test.db.stats();
        assert_eq!(ids(&test.db), (0..20).collect::<Vec<_>>());
        // The held job is a batch of its own; the others share few, bounded by the time a batch may take.
        let batches = after.batches - before.batches;
        assert_eq!(after.jobs - before.jobs, 21);
        assert!(
            batches
                <= if test.db.kind() == EngineKind::Sqlite {
                    3
                } else {
                    12
                },
            "{batches} batches"
        );
    });
}

#[test]
fn an_error_or_a_panic_undoes_only_its_own_job() {
    both_engines(|test| {
        with_table(test);
        let (release, held) = hold(&test.db, A);
        let first = write_id(&test.db, A, 1);
        let refused = test.db.write(A, |tx| {
            insert(tx, 2)?;
            Err::<(), _>(DbError::Internal("no".to_owned()))
        });
        let twice = write_id(&test.db, A, 1);
        let panicked = test.db.write(A, |tx| -> Result<(), DbError> {
            insert(tx, 3)?;
            panic!("boom {}", 7)
        });
        // A failed statement cannot be papered over.
        let swallowed = test.db.write(A, |tx| {
            insert(tx, 4)?;
            let _ = insert(tx, 1);
            Ok::<_, DbError>(())
        });
        let last = write_id(&test.db, A, 5);
        drop(release);
        held.wait().unwrap();
        first.wait().unwrap();
        assert_eq!(refused.wait(), Err(DbError::Internal("no".to_owned())));
        assert!(matches!(twice.wait(), Err(DbError::Constraint(_))));
        assert_eq!(panicked.wait(), Err(DbError::Panicked("boom 7".to_owned())));
        assert!(matches!(swallowed.wait(), Err(DbError::Constraint(_))));
        last.wait().unwrap();
        assert_eq!(ids(&test.db), [1, 5]);
    });
}

#[test]
fn a_job_alone_in_its_batch_is_undone_too() {
    both_engines(|test| {
        with_table(test);
        let failed = test.db.write(A, |tx| {
            insert(tx, 1)?;
            Err::<(), _>(DbError::Internal("no".to_owned()))
        });
        failed.wait().unwrap_err();
        let panicked = test.db.write(A, |tx| -> Result<(), DbError> {
            insert(tx, 2)?;
            panic!("boom")
        });
        panicked.wait().unwrap_err();
        write_id(&test.db, A, 3).wait().unwrap();
        assert_eq!(ids(&test.db), [3]);
    });
}

#[test]
fn a_full_queue_is_an_answer_at_once_and_leaves_room_for_others() {
    let options = Options {
        queue_max: 10,
        ..Options::default()
    };
    each_engine(&options, |test| {
        with_table(test);
        let (release, held) = hold(&test.db, A);
        let waiting: Vec<_> = (0..5).map(|id| write_id(&test.db, A, id)).collect();
        let refused = write_id(&test.db, A, 99).wait_briefly();
        assert!(
            matches!(refused, Some(Err(DbError::Unavailable(_)))),
            "{refused:?}"
        );
        // Another organization still gets in, and keeps its place on SQLite, where there is one lane.
        let other = write_id(&test.db, B, 50);
        drop(release);
        held.wait().unwrap();
        for reply in waiting {
            reply.wait().unwrap();
        }
        other.wait().unwrap();
        assert_eq!(ids(&test.db), [0, 1, 2, 3, 4, 50]);
    });
}

#[test]
fn the_whole_queue_is_bounded() {
    let test = TestDb::open(
        Engine::Sqlite,
        &Options {
            queue_max: 6,
            ..Options::default()
        },
    );
    with_table(&test);
    let (release, held) = hold(&test.db, A);
    let waiting: Vec<_> = (0..6)
        .map(|id| write_id(&test.db, [u8::try_from(id).unwrap(); 16], id))
        .collect();
    let refused = write_id(&test.db, [77; 16], 99).wait_briefly();
    assert!(
        matches!(refused, Some(Err(DbError::Unavailable(_)))),
        "{refused:?}"
    );
    drop(release);
    held.wait().unwrap();
    for reply in waiting {
        reply.wait().unwrap();
    }
    assert_eq!(ids(&test.db), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_job_whose_caller_is_gone_is_not_run() {
    both_engines(|test| {
        with_table(test);
        let (release, held) = hold(&test.db, A);
        drop(write_id(&test.db, A, 1));
        let stays = write_id(&test.db, A, 2);
        drop(release);
        held.wait().unwrap();
        stays.wait().unwrap();
        assert_eq!(ids(&test.db), [2]);
    });
}

#[test]
fn a_job_that_has_started_is_finished_without_its_caller() {
    both_engines(|test| {
        with_table(test);
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let (started, has_started) = std::sync::mpsc::channel();
        let reply = test.db.write(A, move |tx| {
            let _ = started.send(());
            let _ = wait.recv();
            insert(tx, 1)
        });
        has_started.recv().unwrap();
        drop(reply);
        drop(release);
        until("the row is there", || ids(&test.db) == [1]);
    });
}

#[test]
fn a_busy_organization_does_not_starve_another() {
    let options = Options {
        connections: 4,
        ..Options::default()
    };
    each_engine(&options, |test| {
        let done = Arc::new(AtomicI64::new(0));
        let slow = |organization: [u8; 16], count: usize| -> Vec<_> {
            (0..count)
                .map(|_| {
                    let done = Arc::clone(&done);
                    test.db.write(organization, move |_: &mut Tx<'_>| {
                        std::thread::sleep(Duration::from_millis(2));
                        done.fetch_add(1, Ordering::SeqCst);
                        Ok::<_, DbError>(())
                    })
                })
                .collect()
        };
        // Two busy ones, so that on PostgreSQL both lanes have work.
        let busy = (slow(A, 250), slow(B, 250));
        std::thread::sleep(Duration::from_millis(20));
        let before = done.load(Ordering::SeqCst);
        let other: Result<i64, DbError> = {
            let done = Arc::clone(&done);
            test.db
                .write([3; 16], move |_: &mut Tx<'_>| Ok(done.load(Ordering::SeqCst)))
                .wait()
        };
        let passed_by = other.unwrap() - before;
        assert!(passed_by <= 64, "{passed_by} jobs of others came first");
        for reply in busy.0.into_iter().chain(busy.1) {
            reply.wait().unwrap();
        }
    });
}

#[test]
fn an_organization_keeps_its_order_and_never_runs_twice_at_once() {
    let options = Options {
        connections: 8,
        batch_max: 7,
        ..Options::default()
    };
    each_engine(&options, |test| {
        let running: Arc<Vec<AtomicUsize>> = Arc::new((0..5).map(|_| AtomicUsize::new(0)).collect());
        let order: Arc<Mutex<Vec<Vec<usize>>>> = Arc::new(Mutex::new(vec![Vec::new(); 5]));
        let mut replies = Vec::new();
        for number in 0..400 {
            let organization = number % 5;
            let (running, order) = (Arc::clone(&running), Arc::clone(&order));
            replies.push(test.db.write(
                [u8::try_from(organization).unwrap(); 16],
                move |_: &mut Tx<'_>| {
                    let others = running[organization].fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_micros(300));
                    order.lock().unwrap()[organization].push(number);
                    running[organization].fetch_sub(1, Ordering::SeqCst);
                    Ok::<_, DbError>(others)
                },
            ));
        }
        for reply in replies {
            assert_eq!(reply.wait().unwrap(), 0);
        }
        for (organization, numbers) in order.lock().unwrap().iter().enumerate() {
            assert_eq!(
                numbers,
                &(0..80).map(|n| n * 5 + organization).collect::<Vec<_>>()
            );
        }
    });
}

#[test]
fn shutdown_finishes_what_is_queued_and_takes_no_more() {
    both_engines(|test| {
        with_table(test);
        let (release, held) = hold(&test.db, A);
        let replies: Vec<_> = (0..30)
            .map(|id| write_id(&test.db, [u8::try_from(id).unwrap(); 16], id))
            .collect();
        let db = test.db.clone();
        let stopping = std::thread::spawn(move || db.shutdown());
        until("no more jobs are taken", || {
            matches!(
                test.db
                    .write(B, |_: &mut Tx<'_>| Ok::<_, DbError>(()))
                    .wait_briefly(),
                Some(Err(DbError::Unavailable(_)))
            )
        });
        drop(release);
        stopping.join().unwrap();
        held.wait().unwrap();
        for reply in replies {
            reply.wait().unwrap();
        }
        test.db.shutdown();
        assert!(matches!(
            test.db.examine_schema().wait(),
            Err(DbError::Unavailable(_))
        ));
        let again = test.open_again().unwrap();
        assert_eq!(ids(&again), (0..30).collect::<Vec<_>>());
    });
}

#[test]
fn a_database_is_opened_awaited_and_closed_on_an_async_thread() {
    both_engines(|test| {
        with_table(test);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        let url = test.url.clone();
        let answers = runtime.block_on(runtime.spawn(async move {
            let db = bursar_db::Db::open(&url, &Options::default(), bursar_db::Opening::Require)?;
            write_id(&db, A, 1).await?;
            let seen = db
                .snapshot(|tx| tx.rows("SELECT id FROM things", &[], |row| row.int(0)))
                .await?;
            db.shutdown();
            Ok::<_, DbError>(seen)
        }));
        assert_eq!(answers.unwrap(), Ok(vec![1]));
    });
}

/// An answer that may not come, because the job waits behind one that is held.
trait WaitBriefly<T, E> {
    fn wait_briefly(self) -> Option<Result<T, E>>;
}

impl<T: Send + 'static, E: From<DbError> + Send + 'static> WaitBriefly<T, E> for bursar_db::Reply<T, E> {
    fn wait_briefly(mut self) -> Option<Result<T, E>> {
        let waker = std::task::Waker::noop();
        let mut context = std::task::Context::from_waker(waker);
        std::thread::sleep(Duration::from_millis(20));
        match std::future::Future::poll(std::pin::Pin::new(&mut self), &mut context) {
            std::task::Poll::Ready(result) => Some(result),
            std::task::Poll::Pending => None,
        }
    }
}
