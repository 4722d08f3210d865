//! Due work, mail and SMS apart from one another: what hangs, fails or is refused delays itself alone.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bursar_app::testing::{DbError, TestDb, Value, both_engines};
use bursar_domain::group::Interval;
use bursar_domain::ids::{MemberId, OrganizationId, ReminderId};
use bursar_domain::reminder::{Audience, Method, ReminderStatus};
use bursar_testing::sink::{Deed, Provider, Sink, Stage};
use bursar_worker::outlet::Way;
use bursar_worker::sms::Sms;
use bursar_worker::smtp::Smtp;
use bursar_worker::{Tally, Worker};
use serde_json::json;

use crate::office::{ORG, Office, club, drain, instant, member};
use crate::years::{charges, set_dues};

const NOW: &str = "2026-11-15T12:00:00Z";
/// Far longer than anything here takes, and than a test runs.
const FOR_EVER: Duration = Duration::from_secs(3_600);
const PATIENCE: Duration = Duration::from_secs(60);

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The value of a figure with these labels.
fn figure(office: &Office<'_>, tally: &Tally, name: &str, labels: &str) -> Option<u64> {
    let figures = tally.figures(office.now());
    let (_, _, values) = figures.into_iter().find(|(other, _, _)| *other == name).unwrap();
    let found = values.into_iter().find(|(other, _)| other == labels);
    found.map(|(_, value)| value)
}

#[test]
fn a_mail_server_that_never_answers_delays_nothing_else() {
    both_engines(|test| {
        let other = OrganizationId::from_bits(2);
        let mut records = club(50);
        records.extend([
            json!({"type": "organization", "id": other, "name": "Other", "kind": "independent"}),
            json!({"type": "member", "id": MemberId::from_bits(99), "organizationId": other, "firstName": "A", "lastName": "B",
                "email": "a@example.org", "phone": "+12025550099"}),
            json!({"type": "reminder", "id": ReminderId::from_bits(99), "organizationId": other, "method": "sms", "body": "Hello.",
                "targetMemberId": MemberId::from_bits(99), "scheduledAt": "2026-12-30T00:00:00Z"}),
        ]);
        let office = Office::open(test, NOW, &records);
        set_dues(&office, "2026-12-30", Interval::Annual);
        office.service_token(60);
        office.remind();
        let silent = Sink::start(|_| Deed::Wait(FOR_EVER));
        let provider = Provider::start(vec![(201, "", r#"{"sid":"SM1"}"#)]);
        let mut setup = office.setup();
        let (mail, sms) = (
            Smtp::parse(&silent.url(), None),
            format!("http://AC1:t@{}", provider.address),
        );
        setup.outlets[0].way = Way::Mail(
            "bursar@club.example".parse().unwrap(),
            Some(Box::new(mail.unwrap())),
        );
        setup.outlets[1].way = Way::Sms(Some(Sms::parse(&sms, "+12025559999").unwrap()));
        let tally = Arc::clone(&setup.tally);
        let worker = Worker::new(setup).start().unwrap();
        eventually("a mail is being sent", || silent.connections() > 0);
        assert_eq!(office.number(UNSENT), 50);

        // Dues, a notice and another organization's SMS fall due meanwhile.
        office.set(instant("2027-01-02T00:00:00Z"));
        eventually("dues are raised", || charges(&office).values().sum::<i64>() == 50);
        eventually("the SMS is sent", || !provider.posted().is_empty());
        eventually("the notice is queued", || {
            office.number("SELECT COUNT(*) FROM outbox_jobs WHERE organization_id = ?1 AND kind = 'notice'")
                == 1
        });
        let name = "bursar_worker_messages_total";
        eventually("it is counted", || {
            figure(&office, &tally, name, r#"method="sms",outcome="sent""#) == Some(1)
        });
        eventually("the queue is measured", || {
            figure(&office, &tally, "bursar_worker_queue_length", r#"queue="email""#) == Some(50)
        });
        let age = figure(
            &office,
            &tally,
            "bursar_worker_queue_oldest_seconds",
            r#"queue="email""#,
        );
        assert!(age.unwrap() >= 45 * 86_400, "{age:?}");
        assert_eq!(office.number(UNSENT), 50);

        // It stops all the same. What was being sent keeps its claim, and the others are free.
        let since = Instant::now();
        worker.stop();
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        assert_eq!(
            office.number(
                "SELECT COUNT(*) FROM outbox_messages WHERE organization_id = ?1 AND state = 'sending'"
            ),
            1
        );
        let sink = Sink::kind();
        office.later(61);
        drain(&mut office.mailer(&sink.url()));
        assert_eq!((sink.mails().len(), office.number(UNSENT)), (50, 0));
    });
}

const UNSENT: &str = "SELECT COUNT(*) FROM outbox_messages WHERE organization_id = ?1 AND method = 'email' AND state IN ('queued', 'sending')";

/// As many runs as may name one time are there already, so that none can be started.
fn spoil(office: &Office<'_>, reminder: ReminderId) {
    let at = office.now().micros();
    let planted: Result<(), DbError> = office.db().exclusive(|tx| {
        for n in 0..100_u8 {
            let mut job = reminder.to_bytes();
            job[0] = n + 1;
            tx.execute(
                "INSERT INTO outbox_jobs (organization_id, id, kind, subject_id, run_at, state, due_at, leased_until, created_at) \
                 VALUES (?1, ?2, 'reminder', ?3, ?4, 'done', ?4, 0, ?4)",
                &[
                    Value::Bytes(&ORG.to_bytes()),
                    Value::Bytes(&job),
                    Value::Bytes(&reminder.to_bytes()),
                    Value::Int(at + i64::from(n)),
                ],
            )?;
        }
        Ok(())
    });
    planted.unwrap();
}

#[test]
fn thirty_reminders_that_always_fail_do_not_delay_the_next() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let bad: Vec<ReminderId> = (0..30).map(|_| office.remind()).collect();
        bad.iter().for_each(|id| spoil(&office, *id));
        office.later(1);
        let good = office.remind();
        let mut worker = office.worker();
        // Those that fail are left alone from then on.
        for _ in 0..3 {
            worker.step().unwrap();
        }
        assert_eq!(office.reminder(good).status, ReminderStatus::Sent);
        let is_scheduled = |id: &ReminderId| office.reminder(*id).status == ReminderStatus::Scheduled;
        assert!(bad.iter().all(is_scheduled));

        // One that is well again goes at its next turn.
        let corrected: Result<u64, DbError> = office.db().exclusive(|tx| {
            tx.execute(
                "DELETE FROM outbox_jobs WHERE subject_id = ?1",
                &[Value::Bytes(&bad[7].to_bytes())],
            )
        });
        assert_eq!(corrected.unwrap(), 100);
        worker.step().unwrap();
        assert!(is_scheduled(&bad[7]), "it waits");
        office.later(5);
        for _ in 0..3 {
            worker.step().unwrap();
        }
        assert_eq!(office.reminder(bad[7]).status, ReminderStatus::Sent);
    });
}

/// What was logged on this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn lines_with(&self, words: &str) -> usize {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(words)).count()
    }
}

#[test]
fn a_refused_login_pauses_all_mail_and_is_no_attempt() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(50));
        let id = office.remind();
        let is_well = Arc::new(AtomicBool::new(false));
        let well = Arc::clone(&is_well);
        let sink = Sink::start(move |stage| match stage {
            Stage::Hello => Deed::Say("250-sink.example\r\n250 AUTH PLAIN"),
            Stage::Login if !well.load(Ordering::SeqCst) => Deed::Say("535 5.7.8 no"),
            _ => Deed::Accept,
        });
        let setup = office.mailing(&format!("smtp://u:p@{}", sink.address));
        let tally = Arc::clone(&setup.tally);
        let mut worker = Worker::new(setup);
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        // Without one for the whole process, a line that another test reaches first is switched off for all.
        let quiet = tracing_subscriber::fmt().with_writer(std::io::sink).finish();
        let _ = tracing::subscriber::set_global_default(quiet);
        tracing::subscriber::with_default(subscriber, || {
            let paused = |tally: &Tally| figure(&office, tally, "bursar_worker_paused", r#"method="email""#);
            assert_eq!(paused(&tally), Some(0));
            drain(&mut worker);
            assert_eq!((paused(&tally), sink.connections()), (Some(1), 1));
            // A pause of two seconds, then of four, and so on: one connection after each.
            for (later, connections) in [(1, 1), (1, 2), (3, 2), (1, 3), (8, 4), (3_600, 5)] {
                office.later(later);
                drain(&mut worker);
                assert_eq!(sink.connections(), connections);
            }
            assert_eq!(office.states(), "50 queued");
            let messages = office.messages();
            assert!(messages.iter().all(|message| message.attempts == 0));
            let told = messages[0].detail.as_deref().unwrap();
            assert!(told.ends_with("refuses the login: 535 5.7.8 no"), "{told}");
            is_well.store(true, Ordering::SeqCst);
            office.later(300);
            drain(&mut worker);
            assert_eq!(
                (paused(&tally), office.states().as_str()),
                (Some(0), "50 delivered")
            );
        });
        assert_eq!(office.reminder(id).status, ReminderStatus::Sent);
        assert_eq!(log.lines_with("sending is paused"), 1);
        assert_eq!(log.lines_with("535"), 1);
        assert_eq!(log.lines_with("sending resumed"), 1);
    });
}

/// A server that is down is asked once a pause, not once a message.
#[test]
fn a_server_that_is_down_is_not_asked_for_every_message() {
    let test = TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(20));
    office.remind();
    office.schedule(Audience::Member(member(1)), Method::Sms, None);
    let sink = Sink::start(|_| Deed::Cut);
    let mut worker = office.mailer(&sink.url());
    drain(&mut worker);
    assert_eq!(sink.connections(), 1);
    assert_eq!(office.states(), "20 queued, 1 written", "the SMS is a file");
    let tried = office
        .messages()
        .iter()
        .filter(|message| message.method == Method::Email && message.attempts > 0)
        .count();
    assert_eq!(tried, 1);
}
