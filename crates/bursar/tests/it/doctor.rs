//! `bursar doctor`: what it says of set-ups that are right, and of set-ups that are broken, on both engines.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use bursar_testing::sink::{Deed, Provider, Sink, Stage};
use bursar_testing::{Engine, eventually, redis_url};
use serde_json::Value;

use crate::api::world::World;
use crate::support::{Done, EVERY_RECORD, Place, both_engines, finish, other_time};

/// What was tried, and what was said.
struct Record {
    text: String,
    replaced: Vec<(String, &'static str)>,
}

impl Record {
    fn of(place: &Place) -> Self {
        Record {
            text: String::new(),
            replaced: vec![(place.folder.path().display().to_string(), "FOLDER")],
        }
    }

    /// Runs it and notes what it said, but for what is the machine's own.
    fn note(&mut self, title: &str, command: &mut Command) -> Done {
        let done = finish(command);
        self.text += &format!("## {title}\n\n");
        let mut is_left_out = false;
        for line in done.stdout.lines() {
            let check = line.get(10..26).unwrap_or_default().trim();
            is_left_out = match check {
                "" => is_left_out,
                check => ["disk", "open files", "connections", "retention"].contains(&check),
            };
            if is_left_out || line.contains(" ok, ") {
                continue;
            }
            let mut line = line.to_owned();
            for (from, to) in &self.replaced {
                line = line.replace(from, to);
            }
            self.text += &without_versions(&line);
            self.text.push('\n');
        }
        self.text += &format!("exit {}\n\n", done.code.unwrap());
        done
    }
}

/// Versions, users and times are not the same everywhere.
fn without_versions(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        let is_number = words[at].starts_with(|c: char| c.is_ascii_digit());
        if is_number
            && [
                "SQLite",
                "PostgreSQL",
                "Redis",
                "user",
                "chown",
                "version",
                "only",
            ]
            .contains(&words[at - 1].as_str())
        {
            let comma = if words[at].ends_with(',') { "," } else { "" };
            words[at] = format!("N{comma}");
        }
        if is_number && words[at - 1] == "for" {
            words[at] = "N".to_owned();
        }
    }
    words.join(" ")
}

fn doctor(place: &Place, flags: &[&str]) -> Command {
    let mut command = place.command(&["doctor", "--listen", "127.0.0.1:0"]);
    command.args(flags);
    command
}

/// The same with the clock on the wall moved by so much.
fn at(moved: &str, place: &Place, flags: &[&str]) -> Command {
    let mut command = doctor(place, flags);
    command.envs(other_time(moved));
    command
}

/// A mail server that knows nobody.
fn strict_mail_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            stream.write_all(b"220 strict.example ESMTP\r\n").unwrap();
            for line in lines.map_while(Result::ok) {
                let answer = match line.get(..4) {
                    Some("EHLO") => "250-strict.example\r\n250 AUTH PLAIN LOGIN\r\n",
                    Some("AUTH") => "535 5.7.8 Authentication credentials invalid\r\n",
                    _ => "221 2.0.0 Bye\r\n",
                };
                if stream.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    address
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// The organization of the fixture that has members.
fn organization(place: &Place) -> String {
    let listed = place.json(&["organization", "list"]);
    listed[0]["id"].as_str().unwrap().to_owned()
}

fn set_ups(place: &Place, engine: &str) {
    let mut record = Record::of(place);
    set_mode(place.folder.path(), 0o700);
    let first = ["--no-worker", "--trusted-proxy", "proxy"];
    record.note(
        "before the first start, with a proxy that is no address",
        &mut doctor(place, &first),
    );
    place.import(EVERY_RECORD);
    let done = record.note("as it should be", &mut doctor(place, &[]));
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));

    let sink = Sink::kind();
    let provider = Provider::start(vec![(200, "", "{}")]);
    record.replaced.push((sink.address.to_string(), "MAIL"));
    let smtp = format!("smtp://{}", sink.address);
    let sms = format!("http://AC1:secret@{}", provider.address);
    let redis = redis_url();
    let all = [
        "--smtp-url",
        &smtp,
        "--mail-from",
        "dues@example.org",
        "--sms-url",
        &sms,
        "--sms-from",
        "Club",
        "--redis",
        &redis,
        "--base-url",
        "https://example.org/dues",
        "--trusted-proxy",
        "127.0.0.1",
    ];
    record.note("with everything", &mut doctor(place, &all));
    assert_eq!(sink.mails().len(), 0, "nothing is sent");
    let asked = provider.posted();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].line.starts_with("GET /2010-04-01/Accounts/AC1.json"),
        "{asked:?}"
    );

    let nowhere = [
        "--smtp-url",
        "smtp://me:secret@127.0.0.1:1",
        "--sms-url",
        "http://AC1:secret@127.0.0.1:1",
        "--sms-from",
        "Club",
        "--redis",
        "redis://:secret@127.0.0.1:1",
        "--base-url",
        "http://dues.example.org",
        "--rate-limit-read",
        "10",
        "--metrics-listen",
        "0.0.0.0:0",
    ];
    let done = record.note("with servers that are not there", &mut doctor(place, &nowhere));
    assert_eq!(done.one_line(), "3 problems found");
    let strict = strict_mail_server();
    let provider = Provider::start(vec![(401, "", "{}")]);
    record.replaced.push((strict.to_string(), "MAIL"));
    let smtp = format!("smtp://me:secret@{strict}");
    let sms = format!("http://AC1:secret@{}", provider.address);
    let refusing = [
        "--smtp-url",
        &smtp,
        "--sms-url",
        &sms,
        "--sms-from",
        "Club",
        "--trusted-proxy",
        "0.0.0.0/0",
    ];
    record.note("with servers that refuse", &mut doctor(place, &refusing));
    let wrong = [
        "--smtp-url",
        "http://127.0.0.1",
        "--sms-url",
        "https://127.0.0.1",
        "--sms-from",
        "Club",
    ];
    record.note("with addresses that are none", &mut doctor(place, &wrong));
    let done = record.note(
        "with a Redis address that is none",
        &mut doctor(place, &["--redis", "secret"]),
    );
    assert_eq!(done.code, Some(1));

    place.ok(&[
        "group",
        "create",
        "--organization",
        &organization(place),
        "--name",
        "Coxes",
    ]);
    record.note("with a clock that went back", &mut at("-80h", place, &[]));
    record.note(
        "with a clock of long ago",
        &mut at("@2001-01-01 12:00:00", place, &[]),
    );
    let org = organization(place);
    let mut token = vec!["token", "create", "--organization", &org, "--days", "10"];
    token.extend(["--service", "--role", "viewer", "--scopes", "members:read"]);
    place.ok(&token);
    record.note("when a token is about to end", &mut doctor(place, &[]));

    std::fs::write(place.file("outbox"), "").unwrap();
    record.note("with a file where the outbox goes", &mut doctor(place, &[]));
    std::fs::remove_file(place.file("outbox")).unwrap();

    place.damage("UPDATE bursar_schema SET version = 99");
    record.note("with the database of a newer program", &mut doctor(place, &[]));
    assert!(!record.text.contains("secret"), "{}", record.text);
    bursar_testing::snapshot!(format!("snapshots/doctor-{engine}.txt"), &record.text);
}

#[test]
fn what_it_says_on_sqlite() {
    let place = Place::sqlite();
    set_ups(&place, "sqlite");
}

#[test]
fn what_it_says_on_postgres() {
    let place = Place::postgres();
    set_ups(&place, "postgres");
}

/// A part that is missing is a problem with a name; what an operator added is only told.
#[test]
fn the_schema_is_compared_with_what_this_program_makes() {
    both_engines(|place| {
        place.import(EVERY_RECORD);
        let schema = || {
            let done = finish(doctor(place, &[]).arg("--json"));
            let findings: Value = serde_json::from_str(&done.stdout).unwrap();
            let found = findings
                .as_array()
                .unwrap()
                .iter()
                .find(|f| f["check"] == "schema");
            found.unwrap().clone()
        };
        place.beside("CREATE INDEX mine ON members (last_name)");
        let found = schema();
        assert_eq!(found["status"], "ok");
        assert!(
            found["found"]
                .as_str()
                .unwrap()
                .ends_with("beside it: index mine on members"),
            "{found}"
        );
        place.beside("DROP INDEX members_active");
        let found = schema();
        assert_eq!(
            (&found["status"], &found["found"]),
            (
                &"problem".into(),
                &"table members lacks index members_active".into()
            )
        );
        let said = place.refused(&["organization", "create", "--name", "Union", "--kind", "national"]);
        assert_eq!(
            said,
            "the database is damaged: table members lacks index members_active; restore a backup, or put back what was removed"
        );
    });
}

/// A server elsewhere is reached in the clear only if the URL asks for it, and even then the operator hears of it.
#[test]
fn a_weak_way_to_a_server_elsewhere_is_told() {
    let mut place = Place::postgres();
    place.import(EVERY_RECORD);
    let local = place.database.clone();
    let tls = |place: &Place| {
        let done = finish(doctor(place, &[]).arg("--json"));
        let findings: Value = serde_json::from_str(&done.stdout).unwrap();
        let found = findings
            .as_array()
            .unwrap()
            .iter()
            .find(|f| f["check"] == "database TLS");
        found.cloned()
    };
    assert_eq!(tls(&place), None);
    let (user, rest) = local.split_once('@').unwrap();
    let (server, name) = rest.split_once('/').unwrap();
    let port = server.rsplit_once(':').unwrap().1;
    for (mode, said) in [
        ("disable", "the connection is not encrypted (sslmode=disable)"),
        ("prefer", "any server is trusted (sslmode=prefer)"),
    ] {
        place.database = format!("{user}@db.example.org:{port}/{name}?hostaddr=127.0.0.1&sslmode={mode}");
        let found = tls(&place).unwrap();
        assert_eq!(found["status"], "warning");
        assert!(found["found"].as_str().unwrap().ends_with(said), "{found}");
    }
    place.database = local;
}

#[test]
fn machines_read_a_list_and_people_what_to_do() {
    both_engines(|place| {
        place.import(EVERY_RECORD);
        let done = finish(doctor(place, &["--redis", "redis://127.0.0.1:1"]).arg("--json"));
        assert_eq!(
            (done.code, done.one_line().as_str()),
            (Some(1), "1 problem found")
        );
        let findings: Value = serde_json::from_str(&done.stdout).unwrap();
        for finding in findings.as_array().unwrap() {
            let needs_advice = ["warning", "problem"].contains(&finding["status"].as_str().unwrap());
            assert_eq!(finding["advice"].is_string(), needs_advice, "{finding}");
        }
        let of = |check: &str| {
            findings
                .as_array()
                .unwrap()
                .iter()
                .find(|f| f["check"] == check)
                .unwrap()
                .clone()
        };
        assert_eq!(of("redis")["status"], "problem");
        assert_eq!(of("mail")["status"], "notConfigured");
        let disk = of("disk")["found"].as_str().unwrap().to_owned();
        assert!(disk.contains(" free in "), "{disk}");
        assert!(
            of("open files")["found"]
                .as_str()
                .unwrap()
                .contains("needed at full load")
        );
        assert_eq!(
            of("retention")["found"],
            "idempotency records 7 days, texts of messages 90 days, events 30 days"
        );
    });
}

#[test]
fn a_server_that_runs_is_known_and_another_program_too() {
    let metrics = bursar_testing::free_address().to_string();
    let world = World::with(Engine::Sqlite, &["--metrics-listen", &metrics]);
    let address = world.server().address.to_string();
    let said = world
        .run(&["doctor", "--listen", &address, "--metrics-listen", &metrics])
        .to_string();
    for address in [&address, &metrics] {
        assert!(said.contains(&format!("a bursar runs on {address}")), "{said}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // It hangs up on everybody.
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let output = world.output(&["doctor", "--listen", &address]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.contains(&format!("{address} is taken by another program")),
        "{said}"
    );
}

#[test]
fn more_connections_than_the_server_has_are_a_problem() {
    let place = Place::postgres();
    place.import(EVERY_RECORD);
    let said = finish(&mut doctor(&place, &["--database-connections", "1000"]));
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("connections      1001 wanted, "),
        "{}",
        said.stdout
    );
    let away = Place::postgres();
    let command = &mut crate::support::bursar(away.folder.path());
    command.args([
        "doctor",
        "--database",
        "postgres://u:secret@127.0.0.1:1/x",
        "--listen",
        "127.0.0.1:0",
    ]);
    let said = finish(command);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("problem   database") && !said.stdout.contains("secret"),
        "{}",
        said.stdout
    );
}

#[test]
fn settings_of_the_server_that_lose_data_are_a_problem() {
    let place = Place::postgres();
    place.import(EVERY_RECORD);
    let name = place.database.rsplit('/').next().unwrap();
    let mut client = postgres::Client::connect(&place.database, postgres::NoTls).unwrap();
    client
        .batch_execute(&format!("ALTER DATABASE {name} SET synchronous_commit = off"))
        .unwrap();
    let said = finish(&mut doctor(&place, &[]));
    assert_eq!(said.code, Some(1));
    let line = "problem   database         synchronous_commit = off: a crash can lose what was acknowledged";
    assert!(said.stdout.contains(line), "{}", said.stdout);
}

#[test]
fn a_user_who_may_only_read_is_a_problem() {
    let place = Place::postgres();
    place.import(EVERY_RECORD);
    let (_, name) = place.database.rsplit_once('/').unwrap();
    let user = format!("{name}_reader");
    place.beside(&format!(
        "CREATE ROLE {user} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {user}; \
         GRANT ALL ON members TO {user}; CREATE TABLE notes (id INT); REVOKE ALL ON notes FROM {user}"
    ));
    let url = format!("postgres://{user}@{}/{name}", place.server());
    let ask = ["doctor", "--listen", "127.0.0.1:0", "--database", &url];
    let read_only = finish(crate::support::bursar(place.folder.path()).args(ask));
    place.beside(&format!(
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO {user}; REVOKE DELETE ON outbox_jobs FROM {user}"
    ));
    let one = finish(crate::support::bursar(place.folder.path()).args(ask));
    place.beside(&format!("DROP OWNED BY {user}; DROP ROLE {user}"));
    let said = |tables: &str| {
        format!("problem   database rights  the user may not select, insert, update and delete in {tables}\n")
    };
    assert!(
        read_only.code == Some(1) && read_only.stdout.contains(&said("64 tables")),
        "{read_only:?}"
    );
    assert!(
        read_only
            .stdout
            .contains("`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO USER`"),
        "{read_only:?}"
    );
    assert!(
        one.code == Some(1) && one.stdout.contains(&said("outbox_jobs")),
        "{one:?}"
    );
}

#[test]
fn messages_that_nobody_sends_are_told() {
    both_engines(|place| {
        let roster = crate::support::roster(1);
        place.import(place.bundle("roster.ndjson", &roster.text));
        let (org, group) = (roster.organization.to_string(), roster.group.to_string());
        place.ok(&[
            "reminder",
            "schedule",
            "--organization",
            &org,
            "--group",
            &group,
            "--subject",
            "S",
            "--body",
            "B",
            "--at",
            "now",
        ]);
        let work_until_tried = |sink: &Sink| {
            let mut worker = place.command(&["worker", "--smtp-url", &sink.url()]);
            let (out, err) = (Stdio::null(), Stdio::null());
            let mut worker = worker.stdout(out).stderr(err).spawn().unwrap();
            let states = || place.json(&["messages", "--organization", &org]);
            let is_tried = || states()[0]["attempts"].as_i64() > Some(0);
            eventually("the worker tried", || is_tried().then_some(()));
            worker.kill().unwrap();
            worker.wait().unwrap();
        };
        // The reminder's time has come, and this server puts it off.
        work_until_tried(&Sink::start(|stage| match stage {
            Stage::Recipient(_) => Deed::Say("451 4.3.0 later"),
            _ => Deed::Accept,
        }));
        let done = finish(&mut at("+2d", place, &[]));
        let late = "warning   worker           due and not sent: ";
        assert!(done.stdout.contains(late), "{}", done.stdout);
        let done = finish(&mut doctor(place, &[]));
        assert!(!done.stdout.contains(late), "{}", done.stdout);
        assert!(!done.stdout.contains("given up"), "{}", done.stdout);
    });
}

#[test]
fn messages_that_were_given_up_are_told() {
    both_engines(|place| {
        let roster = crate::support::roster(1);
        place.import(place.bundle("roster.ndjson", &roster.text));
        let (org, group) = (roster.organization.to_string(), roster.group.to_string());
        let mut schedule = vec!["reminder", "schedule", "--organization", &org, "--group", &group];
        schedule.extend(["--subject", "S", "--body", "B", "--at", "now"]);
        place.ok(&schedule);
        let sink = Sink::start(|stage| match stage {
            Stage::Recipient(_) => Deed::Say("550 5.1.1 no such user"),
            _ => Deed::Accept,
        });
        let mut worker = place.command(&["worker", "--smtp-url", &sink.url()]);
        let (out, err) = (Stdio::null(), Stdio::null());
        let mut worker = worker.stdout(out).stderr(err).spawn().unwrap();
        let is_given_up = || {
            let list = ["reminder", "list", "--organization", &org, "--status", "failed"];
            let failed = place.json(&list);
            (!failed.as_array().unwrap().is_empty()).then_some(())
        };
        eventually("the message is given up", is_given_up);
        worker.kill().unwrap();
        worker.wait().unwrap();
        let done = finish(&mut doctor(place, &[]));
        assert_eq!(done.code, Some(0));
        let line = "warning   messages         given up in the last 7 days: 1";
        assert!(done.stdout.contains(line), "{}", done.stdout);
    });
}

#[test]
fn rights_that_are_too_wide_or_too_narrow_are_told() {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    let (folder, file) = (place.folder.path().to_owned(), place.database_file());
    set_mode(&file, 0o644);
    // A folder that others cannot enter is as good as a file that they cannot read.
    set_mode(&folder, 0o700);
    assert!(
        !place
            .ok(&["doctor", "--listen", "127.0.0.1:0"])
            .contains("every user")
    );
    set_mode(&folder, 0o755);
    let said = place.ok(&["doctor", "--listen", "127.0.0.1:0"]);
    let line = format!("every user of this machine can read {}\n", file.display());
    assert!(
        said.contains(&line) && said.contains(&format!("→ chmod 600 {}\n", file.display())),
        "{said}"
    );

    // Whoever may do everything is made somebody who may not.
    let mut command = doctor(&place, &[]);
    if is_root() {
        command.uid(65_534);
    } else {
        set_mode(&folder, 0o555);
    }
    let done = finish(&mut command);
    set_mode(&folder, 0o755);
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    let line = format!(
        "{} may not be written by this user, the database is to be there",
        folder.display()
    );
    assert!(done.stdout.contains(&line), "{}", done.stdout);
}

/// Everything that bursar leaves about, where anybody could read it.
#[test]
fn every_file_that_is_about_people_is_looked_at() {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    place.ok(&["backup", "backup.db"]);
    let exported = place.export();
    for folder in ["outbox", "mirror/.bursar-sync"] {
        std::fs::create_dir_all(place.file(folder)).unwrap();
    }
    // A running server has a log; here is one that another version left.
    for (name, text) in [
        ("outbox/msg_1.eml", ""),
        ("outbox/msg_2.eml", ""),
        ("outbox/msg_3.sms", ""),
        ("all.ndjson", &exported),
        ("list.csv.undo-blk_01jbst1c00e008000000000000.json", "{}"),
        ("mirror/members.ndjson", ""),
        ("notes.txt", "mine"),
    ] {
        std::fs::write(place.file(name), text).unwrap();
    }
    let all = [
        ("bursar.db", 0o600, "can read"),
        ("backup.db", 0o600, "can read the backup"),
        ("outbox", 0o700, "can read"),
        ("outbox/msg_1.eml", 0o600, "can read 3 files of messages, such as"),
        ("all.ndjson", 0o600, "can read the export"),
        (
            "list.csv.undo-blk_01jbst1c00e008000000000000.json",
            0o600,
            "can read the undo file",
        ),
        ("mirror/members.ndjson", 0o600, "can read the mirrored list"),
    ];
    set_mode(place.folder.path(), 0o755);
    for name in ["mirror", "outbox"] {
        set_mode(&place.file(name), 0o755);
    }
    for name in [
        "backup.db",
        "bursar.db",
        "outbox/msg_1.eml",
        "outbox/msg_2.eml",
        "outbox/msg_3.sms",
    ] {
        set_mode(&place.file(name), 0o644);
    }
    for name in [
        "all.ndjson",
        "list.csv.undo-blk_01jbst1c00e008000000000000.json",
        "mirror/members.ndjson",
    ] {
        set_mode(&place.file(name), 0o644);
    }
    let said = place.ok(&["doctor", "--listen", "127.0.0.1:0"]);
    for (name, mode, words) in all {
        let found = said
            .lines()
            .any(|line| line.contains(words) && line.ends_with(name));
        let advised = said.contains(&format!("→ chmod {mode:o} ")) && said.contains(name);
        assert!(found && advised, "{name}: {said}");
    }
    assert!(!said.contains("notes.txt"), "{said}");
    for (name, mode, _) in all {
        set_mode(&place.file(name), mode);
    }
    for name in ["outbox/msg_2.eml", "outbox/msg_3.sms"] {
        set_mode(&place.file(name), 0o600);
    }
    let said = place.ok(&["doctor", "--listen", "127.0.0.1:0"]);
    assert!(!said.contains("every user"), "{said}");
}

fn is_root() -> bool {
    let said = Command::new("id").arg("-u").output().unwrap();
    said.stdout == b"0\n"
}

#[test]
fn a_damaged_file_and_another_programs_are_told() {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    let file = place.database_file();
    let whole = std::fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    // A page of data, so that the file still opens.
    let root = rusqlite::Connection::open(&file).and_then(|connection| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'payments'";
        connection.query_row(sql, [], |row| row.get::<_, u32>(0))
    });
    let page = 4_096 * usize::try_from(root.unwrap() - 1).unwrap();
    damaged[page..page + 4_096].fill(0x5a);
    std::fs::write(&file, &damaged).unwrap();
    let done = finish(&mut doctor(&place, &[]));
    assert_eq!(done.code, Some(1), "{}", done.stdout);
    assert!(done.stdout.contains("problem   integrity"), "{}", done.stdout);
    std::fs::write(
        &file,
        "a letter to the editor, which is no database at all".repeat(100),
    )
    .unwrap();
    let done = finish(&mut doctor(&place, &[]));
    assert_eq!(done.code, Some(1));
    assert!(
        done.stdout.contains("problem   database") && done.stdout.contains("→ restore a backup"),
        "{}",
        done.stdout
    );
}
