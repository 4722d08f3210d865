//! Messages against real servers: what each fault means for a message, and what an e-mail looks like.

use std::time::Duration;

use bursar_app::messages;
use bursar_app::testing::{TestDb, both_engines};
use bursar_domain::reminder::{Audience, Method, ReminderStatus};
use bursar_testing::sink::{Deed, Provider, Sink, Stage, header};
use bursar_testing::snapshot;
use bursar_worker::Worker;
use bursar_worker::outlet::Way;
use bursar_worker::sms::Sms;
use mailparse::MailHeaderMap;
use serde_json::json;

use crate::office::{GROUP, ORG, Office, club, drain, member};

const NOW: &str = "2026-11-15T12:00:00Z";

/// Seconds until the only message is tried again.
fn wait_of(office: &Office<'_>) -> f64 {
    let messages = office.messages();
    let next = messages[0].next_attempt_at.expect("it waits").micros() - office.now().micros();
    #[expect(clippy::cast_precision_loss, reason = "seconds, compared roughly")]
    let seconds = next as f64 / 1e6;
    seconds
}

#[test]
fn one_connection_serves_many_messages() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(45));
        let sink = Sink::kind();
        let id = office.remind();
        let mut worker = office.mailer(&sink.url());
        drain(&mut worker);
        assert_eq!(office.states(), "45 delivered");
        assert_eq!((sink.mails().len(), sink.connections()), (45, 1));
        let message = &office.messages()[0];
        assert_eq!(message.detail.as_deref(), Some("250 2.0.0 Ok: queued as 4711"));
        let reminder = office.reminder(id);
        assert_eq!(
            (reminder.status, reminder.sent_at),
            (ReminderStatus::Sent, Some(office.now()))
        );
    });
}

#[test]
fn a_server_that_is_away_is_tried_with_longer_and_longer_pauses_and_then_no_more() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let id = office.remind();
        let free = bursar_testing::free_address();
        let mut worker = office.mailer(&format!("smtp://{free}"));
        for (n, seconds) in [5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0]
            .into_iter()
            .enumerate()
        {
            drain(&mut worker);
            let message = &office.messages()[0];
            assert_eq!(
                (message.state.as_str(), message.failures.len()),
                ("queued", n + 1)
            );
            assert!(
                message.detail.as_deref().unwrap().contains("refused"),
                "{message:?}"
            );
            let wait = wait_of(&office);
            assert!(
                (seconds * 0.8..=seconds * 1.2).contains(&wait),
                "{wait} for {seconds}"
            );
            assert_eq!(office.reminder(id).status, ReminderStatus::Sending);
            office.set(message.next_attempt_at.unwrap());
        }
        drain(&mut worker);
        let message = office.messages().remove(0);
        assert_eq!(
            (message.state.as_str(), message.attempts, message.failures.len()),
            ("failed", 7, 7)
        );
        assert_eq!(office.reminder(id).status, ReminderStatus::Failed);

        // An officer sends the message once more, with all its tries before it.
        let sink = Sink::kind();
        office.act(move |act| messages::retry(act, message.id));
        assert_eq!(office.reminder(id).status, ReminderStatus::Sending);
        drain(&mut office.mailer(&sink.url()));
        assert_eq!(office.states(), "1 delivered");
        assert_eq!(office.reminder(id).status, ReminderStatus::Sent);
        assert_eq!(sink.mails().len(), 1);
    });
}

#[test]
fn a_slow_server_is_tried_again() {
    let test = TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    let sink = Sink::start(|stage| match stage {
        Stage::Connected(0) => Deed::Wait(Duration::from_secs(3)),
        _ => Deed::Accept,
    });
    office.remind();
    let mut worker = office.mailer(&sink.url());
    drain(&mut worker);
    let detail = office.messages()[0].detail.clone().unwrap();
    assert!(detail.ends_with("no response within 1 s"), "{detail}");
    office.later(6);
    drain(&mut worker);
    assert_eq!(office.states(), "1 delivered");
}

#[test]
fn after_a_lost_reply_the_same_mail_comes_again() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let sink = Sink::start(|stage| match stage {
            Stage::Mail(_, 0) => Deed::TakeAndCut,
            _ => Deed::Accept,
        });
        office.remind();
        let mut worker = office.mailer(&sink.url());
        drain(&mut worker);
        let message = office.messages().remove(0);
        assert_eq!(message.state.as_str(), "queued");
        assert!(
            message.detail.as_deref().unwrap().contains("may have arrived"),
            "{message:?}"
        );
        office.later(6);
        drain(&mut worker);
        assert_eq!(office.states(), "1 delivered");
        let mails = sink.mails();
        assert_eq!(mails.len(), 2);
        assert!(mails[0].is_reply_lost);
        assert_eq!(mails[0].text, mails[1].text, "a copy is the same mail");
        let id = mails[0].header("Message-ID").unwrap();
        assert_eq!(id, format!("<{}@club.example>", message.id));
    });
}

#[test]
fn answers_decide_about_one_message_only() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(5));
        let sink = Sink::start(|stage| match stage {
            Stage::Recipient("m1@example.org") => Deed::Say("550 5.1.1 <m1@example.org> unknown here"),
            Stage::Recipient("m2@example.org") => Deed::Say("451 4.7.1 greylisted"),
            Stage::Mail(text, _) if text.contains("m3@example.org") => Deed::Say("554 5.7.1 not wanted"),
            Stage::Mail(text, 0) if text.contains("m4@example.org") => Deed::Say("452 4.3.1 no space"),
            _ => Deed::Accept,
        });
        let id = office.remind();
        let mut worker = office.mailer(&sink.url());
        drain(&mut worker);
        let told: Vec<(String, String)> = office
            .messages()
            .into_iter()
            .map(|m| (m.state.to_string(), m.detail.unwrap()))
            .collect();
        let expected = [
            ("failed", "550 5.1.1 <[address]> unknown here"),
            ("queued", "451 4.7.1 greylisted"),
            ("failed", "554 5.7.1 not wanted"),
            ("queued", "452 4.3.1 no space"),
            ("delivered", "250 2.0.0 Ok: queued as 4711"),
        ];
        let told: Vec<(&str, &str)> = told.iter().map(|(s, d)| (s.as_str(), d.as_str())).collect();
        assert_eq!(told, expected);
        assert_eq!(sink.connections(), 1, "a refusal does not cost the connection");
        assert_eq!(office.reminder(id).status, ReminderStatus::Sending);
    });
}

#[test]
fn what_is_wrong_with_the_way_fails_no_message() {
    for refusal in ["554 5.3.2 no service", "421 4.3.2 closing"] {
        let test = TestDb::sqlite();
        let office = Office::open(&test, NOW, &club(1));
        let sink = Sink::start(move |stage| match stage {
            Stage::Connected(_) => Deed::Say(refusal),
            _ => Deed::Accept,
        });
        office.remind();
        drain(&mut office.mailer(&sink.url()));
        let message = office.messages().remove(0);
        assert_eq!(message.state.as_str(), "queued", "{message:?}");
        assert!(message.detail.unwrap().contains(&refusal[..9]));
    }
    // A connection that is cut at once, or as the recipient is named.
    for cut_at_once in [true, false] {
        let test = TestDb::sqlite();
        let office = Office::open(&test, NOW, &club(1));
        let sink = Sink::start(move |stage| match stage {
            Stage::Connected(0) if cut_at_once => Deed::Cut,
            Stage::Recipient(_) if !cut_at_once => Deed::Cut,
            _ => Deed::Accept,
        });
        office.remind();
        let mut worker = office.mailer(&sink.url());
        drain(&mut worker);
        assert_eq!(office.states(), "1 queued");
        assert!(
            !office.messages()[0]
                .detail
                .as_deref()
                .unwrap()
                .contains("may have arrived")
        );
        office.later(7);
        drain(&mut worker);
        assert_eq!(
            office.states(),
            if cut_at_once { "1 delivered" } else { "1 queued" }
        );
    }
    // A password for a server that knows of none.
    let test = TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    let sink = Sink::kind();
    office.remind();
    drain(&mut office.mailer(&format!("smtp://u:p@{}", sink.address)));
    assert_eq!(office.states(), "1 queued");
    assert_eq!(sink.mails().len(), 0);
}

#[test]
fn sms_by_a_provider() {
    both_engines(|test| {
        let office = Office::open(test, NOW, &club(1));
        let provider = Provider::start(vec![
            (
                429,
                "Retry-After: 900\r\n",
                r#"{"code":20429,"message":"Too Many Requests"}"#,
            ),
            (500, "", "oops"),
            (401, "", r#"{"code":20003,"message":"Authenticate"}"#),
            (201, "", r#"{"sid":"SM1","status":"queued","num_segments":"1"}"#),
            (
                400,
                "",
                r#"{"code":21211,"message":"The 'To' number +12025550001 is not a valid phone number."}"#,
            ),
        ]);
        let url = format!("http://AC1:secret@{}/base", provider.address);
        let mut setup = office.setup();
        setup.outlets[1].way = Way::Sms(Some(Sms::parse(&url, "+12025559999").unwrap()));
        let mut worker = Worker::new(setup);
        let send = || office.schedule(Audience::Member(member(1)), Method::Sms, None);
        let id = send();
        drain(&mut worker);
        assert!(wait_of(&office) >= 900.0, "the provider's wish is respected");
        office.set(office.messages()[0].next_attempt_at.unwrap());
        drain(&mut worker);
        assert_eq!(office.messages()[0].detail.as_deref(), Some("500 oops"));
        // The token is refused: that is no attempt of the message, and the next one is a moment later.
        office.set(office.messages()[0].next_attempt_at.unwrap());
        drain(&mut worker);
        let refused = office.messages().remove(0);
        assert_eq!((refused.state.as_str(), refused.attempts), ("queued", 2));
        office.later(2);
        drain(&mut worker);
        let message = office.messages().remove(0);
        assert_eq!(
            (message.state.as_str(), message.detail.as_deref()),
            ("delivered", Some("201 SM1 queued"))
        );
        assert_eq!((message.segments, message.failures.len()), (Some(1), 2));
        assert_eq!(office.reminder(id).status, ReminderStatus::Sent);
        let posted = provider.posted();
        assert_eq!(
            posted[0].line,
            "POST /base/2010-04-01/Accounts/AC1/Messages.json HTTP/1.1"
        );
        assert!(
            posted[0]
                .head
                .to_ascii_lowercase()
                .contains("authorization: basic qumxonnly3jlda==")
        );
        assert_eq!(
            posted[0].body,
            "To=%2B12025550001&From=%2B12025559999&Body=Ruderclub+Z%C3%BCrich%3A+Please+pay."
        );

        let refused = send();
        drain(&mut worker);
        let message = office.messages().remove(1);
        assert_eq!(message.state.as_str(), "failed");
        assert_eq!(
            message.detail.as_deref(),
            Some("400 21211: The 'To' number [address] is not a valid phone number.")
        );
        assert_eq!(office.reminder(refused).status, ReminderStatus::Failed);
    });
}

/// What the provider gets when it cannot be reached, and what a file has where there is no provider.
#[test]
fn sms_without_a_provider_are_files() {
    let test = TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    office.schedule(Audience::Member(member(1)), Method::Sms, None);
    drain(&mut office.worker());
    let message = office.messages().remove(0);
    let file = office.folder().join(format!("{}.sms", message.id));
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        "To: +12025550001\n\nRuderclub Zürich: Please pay.\n"
    );
}

/// The one mail of an office, as it was written to its file.
fn mail_of(office: &Office<'_>) -> String {
    drain(&mut office.worker());
    let message = office.messages().remove(0);
    let text = std::fs::read_to_string(office.folder().join(format!("{}.eml", message.id))).unwrap();
    text.replace(&message.id.to_string(), "msg_ID")
}

#[test]
fn a_mail_with_names_of_the_world_and_an_attack() {
    let test = TestDb::sqlite();
    let mut records = club(0);
    records.push(json!({"type": "member", "id": member(1), "organizationId": ORG, "firstName": "Żółć \"Z\" <x@y>,", "lastName": "山田 Ünïcode",
        "email": "z@example.org", "groups": [GROUP]}));
    for (n, description, amount, due) in [
        (1, "Crew, due 2026-11-01", "125.00", json!("2026-11-01")),
        (2, "Regatta <b>entry</b> & \"boat\"", "40.10", json!(null)),
    ] {
        records.push(json!({"type": "payment", "id": bursar_domain::ids::PaymentId::from_bits(n), "organizationId": ORG,
            "memberId": member(1), "groupId": GROUP, "description": description, "amount": amount, "dueDate": due}));
    }
    let office = Office::open(&test, NOW, &records);
    office.import(&[json!({"type": "reminder", "id": bursar_domain::ids::ReminderId::from_bits(1), "organizationId": ORG,
        "groupId": GROUP, "method": "email", "scheduledAt": "2026-11-15T12:00:01Z", "includePaymentInfo": true,
        "subject": "Beiträge für 山田", "body": "Grüezi,\n\nbitte zahlen: https://pay.example.org/?a=1&b=2.\n.\nMerci <script>alert(1)</script>"})]);
    // The rules refuse line breaks in a subject; here one got past them.
    let planted: Result<u64, bursar_app::testing::DbError> = office.db().exclusive(|tx| {
        tx.execute(
            "UPDATE reminders SET subject = subject || ?1",
            &[bursar_app::testing::Value::Text(
                "\r\nBcc: all@example.org\r\n\r\n<p>Attack",
            )],
        )
    });
    assert_eq!(planted.unwrap(), 1);
    office.later(2);
    let mail = mail_of(&office);
    let head = mail.split("\r\n\r\n").next().unwrap();
    assert!(!head.contains("\nBcc:") && !head.contains("\n<p>"), "{head}");
    assert!(mail.is_ascii() && mail.lines().all(|line| line.len() <= 998));
    assert_eq!(
        header(&mail, "List-Unsubscribe"),
        None,
        "one cannot unsubscribe from a debt"
    );
    snapshot!("snapshots/mail.txt", &parsed(&mail));
}

/// One mail for the whole family: whose charge is whose, what is overdue, and how to pay.
#[test]
fn a_mail_to_a_household() {
    let test = TestDb::sqlite();
    let mut records = club(1);
    records[0]["payText"] = json!("Transfer to CH93 0076 2011 6238 5295 7.\nOr pay in cash on Thursdays.");
    for (n, name) in [(2, "Kim"), (3, "Lea")] {
        records.push(json!({"type": "member", "id": member(n), "organizationId": ORG, "firstName": name, "lastName": "Łoś",
            "payerId": member(1), "groups": [GROUP]}));
    }
    for (n, of, description, amount, due) in [
        (1, 1, "Crew", "125.00", json!("2026-11-15")),
        (2, 2, "Juniors", "40.00", json!("2026-11-01")),
        (3, 3, "Juniors", "40.00", json!("2026-12-01")),
    ] {
        records.push(json!({"type": "payment", "id": bursar_domain::ids::PaymentId::from_bits(n), "organizationId": ORG,
            "memberId": member(of), "groupId": GROUP, "description": description, "amount": amount, "dueDate": due}));
    }
    records.push(json!({"type": "reminder", "id": bursar_domain::ids::ReminderId::from_bits(1), "organizationId": ORG,
        "groupId": GROUP, "method": "email", "scheduledAt": "2026-11-15T12:00:01Z", "includePaymentInfo": true,
        "subject": "{owed} for {organization}", "body": "Please pay {overdue} today, {firstName}."}));
    let office = Office::open(&test, NOW, &records);
    office.later(2);
    snapshot!("snapshots/household.txt", &parsed(&mail_of(&office)));
    assert_eq!(office.states(), "1 written");
    assert_eq!(
        office
            .reminder(bursar_domain::ids::ReminderId::from_bits(1))
            .status,
        ReminderStatus::Sent
    );
}

#[test]
fn an_announcement_to_a_group_can_be_left() {
    let test = TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    office.remind();
    let mail = mail_of(&office);
    assert_eq!(
        header(&mail, "List-Unsubscribe").as_deref(),
        Some("<mailto:kasse@example.org?subject=Unsubscribe>")
    );
    assert_eq!(header(&mail, "Auto-Submitted").as_deref(), Some("auto-generated"));
    let test = TestDb::sqlite();
    let office = Office::open(&test, NOW, &club(1));
    office.schedule(Audience::Member(member(1)), Method::Email, None);
    assert_eq!(header(&mail_of(&office), "List-Unsubscribe"), None);
}

/// An address may hold signs that mean something else in a URI (RFC 6068).
#[test]
fn the_address_to_leave_by_is_a_uri() {
    for (contact, uri) in [
        ("the+club@example.org", "the%2Bclub@example.org"),
        ("a&cc=b@example.org", "a%26cc%3Db@example.org"),
        ("what?x@example.org", "what%3Fx@example.org"),
        ("50%25@example.org", "50%2525@example.org"),
        ("o'neil_x~y-z@example.org", "o%27neil_x~y-z@example.org"),
    ] {
        let test = TestDb::sqlite();
        let mut records = club(1);
        records[0]["contactEmail"] = json!(contact);
        let office = Office::open(&test, NOW, &records);
        office.remind();
        assert_eq!(
            header(&mail_of(&office), "List-Unsubscribe"),
            Some(format!("<mailto:{uri}?subject=Unsubscribe>"))
        );
    }
}

/// A mail as a foreign parser reads it.
fn parsed(mail: &str) -> String {
    use std::fmt::Write;
    let mail = mailparse::parse_mail(mail.as_bytes()).unwrap();
    let mut out = String::new();
    for header in mail.get_headers() {
        let _ = writeln!(out, "{}: {}", header.get_key(), header.get_value());
    }
    let to = mailparse::addrparse_header(mail.get_headers().get_first_header("To").unwrap()).unwrap();
    let to = to.extract_single_info().expect("one recipient");
    let _ = writeln!(out, "to: {:?} {}", to.display_name, to.addr);
    for part in &mail.subparts {
        let kind = &part.ctype;
        let _ = writeln!(out, "--- {} {}", kind.mimetype, kind.charset);
        out.push_str(&part.get_body().unwrap().replace("\r\n", "\n"));
    }
    out
}
