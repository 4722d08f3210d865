//! What can go wrong from outside: one clear line, exit code 1, nothing half-written, and the next start works.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{BURSAR, EVERY_RECORD, Place, both_engines, bursar, done, finish, kill, roster};
use bursar_testing::{Relay, seed};

/// A command that writes, and one that reads.
const WRITES: &[&str] = &["organization", "create", "--name", "Union", "--kind", "national"];
const READS: &[&[&str]] = &[&["check"], &["export"], &["organization", "list"]];

#[test]
fn an_unknown_database_url() {
    let place = Place::sqlite();
    for url in [
        "mysql://ada:secret@host/books",
        "bursar.db",
        "",
        "sqlite:",
        "sqlite::memory:",
        "postgres://ada:secret@host/d?x=y",
    ] {
        let done = finish(bursar(place.folder.path()).args(["--database", url]).args(WRITES));
        let said = done.failed();
        assert!(
            said.contains("the database") && !said.contains("secret"),
            "{url}: {said}"
        );
    }
    assert_eq!(std::fs::read_dir(place.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_database_that_is_not_there() {
    let place = Place::sqlite();
    for args in READS {
        let said = place.refused(args);
        assert!(
            said.contains("there is no database at") && said.contains("bursar import"),
            "{said}"
        );
    }
    assert_eq!(
        std::fs::read_dir(place.folder.path()).unwrap().count(),
        0,
        "a reader makes no file"
    );
    let server = Place::postgres();
    for args in READS {
        assert!(server.refused(args).contains("schema version 0"));
    }
}

/// The program run by somebody who may not do everything, unlike root.
fn unprivileged(place: &Place, args: &[&str]) -> Command {
    let is_root = std::fs::metadata("/proc/self").unwrap();
    let is_root = std::os::unix::fs::MetadataExt::uid(&is_root) == 0;
    if !is_root {
        return place.command(args);
    }
    // Nobody can reach the build's folder, perhaps, but a copy beside the data.
    let copy = place.file("bursar-copy");
    if !copy.exists() {
        std::fs::copy(BURSAR, &copy).unwrap();
        allow(place.folder.path(), 0o755);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        .arg(copy);
    command.arg("--database").arg(&place.database).args(args);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir(place.folder.path())
        .stdin(Stdio::null());
    command
}

fn allow(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_or_a_file_that_cannot_be_written() {
    let mut place = Place::sqlite();
    let folder = place.file("sealed");
    std::fs::create_dir(&folder).unwrap();
    place.database = format!("sqlite:{}", folder.join("bursar.db").display());
    allow(&folder, 0o555);
    let said = finish(&mut unprivileged(&place, WRITES)).failed();
    assert!(
        said.contains("cannot be opened for writing") && said.contains("folder"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);

    // A database that is there, in a folder and a file that this user may only read.
    allow(&folder, 0o755);
    place.ok(WRITES);
    let before = place.export();
    allow(&folder.join("bursar.db"), 0o444);
    allow(&folder, 0o555);
    for args in [WRITES, &["check"]] {
        let said = finish(&mut unprivileged(&place, args)).failed();
        assert!(said.contains("cannot be opened for writing"), "{said}");
    }
    allow(&folder, 0o755);
    allow(&folder.join("bursar.db"), 0o644);
    assert!(place.export() == before);
    place.check();

    place.database = format!("sqlite:{}", place.file("no/such/folder.db").display());
    assert!(place.refused(WRITES).contains("check that its folder exists"));
}

#[test]
fn a_file_that_is_no_database() {
    let place = Place::sqlite();
    let texts: [&[u8]; 2] = [b"these are my notes, not a database\n", &[0x5a; 70_000]];
    for text in texts {
        std::fs::write(place.database_file(), text).unwrap();
        for args in [WRITES, &["check"], &["export"]] {
            let said = place.refused(args);
            assert!(said.contains("damaged or not an SQLite database"), "{said}");
            assert!(
                std::fs::read(place.database_file()).unwrap() == text,
                "the file was touched"
            );
        }
    }
}

#[test]
fn a_damaged_database() {
    let place = Place::sqlite();
    place.import(place.bundle("roster.ndjson", &roster(2_000).text));
    let whole = place.export();
    let good = std::fs::read(place.database_file()).unwrap();
    // The first page with the schema is whole; most of the others are not.
    let mut bad = good.clone();
    bad[100_000..].fill(0x5a);
    std::fs::write(place.database_file(), &bad).unwrap();
    let exported = place.run(&["export"]);
    assert_eq!(exported.code, Some(1), "{}", exported.stderr);
    assert!(exported.one_line().contains("damaged"), "{}", exported.stderr);
    let checked = place.run(&["check"]);
    assert_eq!(checked.code, Some(1));
    checked.one_line();
    // Half a file.
    std::fs::write(place.database_file(), &good[..good.len() / 2]).unwrap();
    let checked = place.run(&["check"]);
    assert_eq!(checked.code, Some(1));
    checked.one_line();
    // Restoring the file restores the service.
    std::fs::write(place.database_file(), &good).unwrap();
    place.check();
    assert!(place.export() == whole);
}

#[test]
fn a_database_of_another_program() {
    let place = Place::sqlite();
    // A database with a table, but without our mark: SQLite keeps the mark at byte 68.
    place.ok(WRITES);
    let mut foreign = std::fs::read(place.database_file()).unwrap();
    foreign[68..72].copy_from_slice(&[0; 4]);
    std::fs::write(place.database_file(), &foreign).unwrap();
    for args in [WRITES, &["check"], &["import", EVERY_RECORD]] {
        assert!(
            place
                .refused(args)
                .contains("is an SQLite database of another program"),
            "{args:?}"
        );
        assert!(
            std::fs::read(place.database_file()).unwrap() == foreign,
            "the file was touched"
        );
    }
    let server = Place::postgres();
    let mut client = postgres::Client::connect(&server.database, postgres::NoTls).unwrap();
    client
        .batch_execute("CREATE TABLE organizations (id INT); INSERT INTO organizations VALUES (1)")
        .unwrap();
    for args in [WRITES, &["check"], &["import", EVERY_RECORD]] {
        assert!(
            server.refused(args).contains("belongs to another program"),
            "{args:?}"
        );
    }
    let row = client.query_one("SELECT id FROM organizations", &[]).unwrap();
    assert_eq!(row.get::<_, i32>(0), 1);
}

#[test]
fn a_newer_schema_is_refused_by_every_command() {
    both_engines(|place| {
        place.ok(WRITES);
        let before = place.export();
        let good = place
            .is_sqlite()
            .then(|| std::fs::read(place.database_file()).unwrap());
        place.damage("UPDATE bursar_schema SET version = version + 100");
        let bundle = EVERY_RECORD;
        for args in [
            WRITES,
            &["check"],
            &["export"],
            &["organization", "list"],
            &["import", bundle],
            &["backup", "b.db"],
        ] {
            let said = place.refused(args);
            assert!(
                said.contains("schema version 1") && said.contains("use a newer bursar"),
                "{args:?}: {said}"
            );
        }
        assert!(!place.file("b.db").exists());
        match good {
            Some(good) => std::fs::write(place.database_file(), good).unwrap(),
            None => place.damage("UPDATE bursar_schema SET version = version - 100"),
        }
        assert!(place.export() == before);
        place.check();
    });
}

#[test]
fn an_older_schema_is_refused_by_readers_and_brought_up_by_an_import() {
    both_engines(|place| {
        place.ok(WRITES);
        place.drop_tables("bursar_schema");
        place.damage("UPDATE bursar_schema SET version = 0");
        for args in READS {
            let said = place.refused(args);
            assert!(said.contains("schema version 0, this program needs"), "{said}");
        }
        place.import(EVERY_RECORD);
        place.check();
    });
}

/// Runs a command and demands its end in less time than a person would wait.
fn soon(place: &Place, args: &[&str]) -> String {
    let since = Instant::now();
    let said = place.refused(args);
    assert!(
        since.elapsed() < Duration::from_secs(20),
        "{:?}: {said}",
        since.elapsed()
    );
    said
}

#[test]
fn a_postgresql_server_that_is_not_there() {
    let mut place = Place::sqlite();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    place.database = format!("postgres://ada:secret@{address}/books");
    for args in [WRITES, &["check"], &["import", EVERY_RECORD]] {
        let said = soon(&place, args);
        assert!(
            said.contains(&format!("PostgreSQL at {address} is unreachable")),
            "{said}"
        );
        assert!(!said.contains("secret"), "{said}");
    }
}

#[test]
fn a_server_that_accepts_and_never_answers() {
    let mut place = Place::sqlite();
    // The system accepts connections for a listener that nobody serves.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    for query in ["", "?sslmode=disable"] {
        place.database = format!("postgres://ada:secret@{address}/books{query}");
        let said = soon(&place, &["check"]);
        assert!(
            said.contains(&format!("PostgreSQL at {address} does not respond")),
            "{said}"
        );
    }
}

#[test]
fn a_server_that_refuses_the_user_or_the_database() {
    let place = Place::postgres();
    let (server, _) = place.database.rsplit_once('/').unwrap();
    let mut elsewhere = Place::sqlite();
    elsewhere.database = format!("{server}/no_such_database");
    let said = elsewhere.refused(&["check"]);
    assert!(
        said.contains("refuses the connection") && said.contains("check the database URL"),
        "{said}"
    );
}

/// Runs the steps in a shell with a tmpfs of this size mounted on `small/` of the working folder, in a namespace of
/// its own that goes with the shell. Without the right to mount, files are limited to that size instead.
fn on_a_small_disk(place: &Place, mebibytes: u32, steps: &str) -> (Command, &'static str) {
    let probe = Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .stderr(Stdio::null())
        .status();
    let mounts = probe.is_ok_and(|status| status.success());
    std::fs::create_dir(place.file("small")).unwrap();
    let (mut command, before) = if mounts {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-ec"]);
        (
            command,
            format!("mount -t tmpfs -o size={mebibytes}m tmpfs small"),
        )
    } else {
        let mut command = Command::new("sh");
        command.arg("-ec");
        // The signal that comes with the limit would end the program; ignored, the write fails.
        (
            command,
            format!("trap '' XFSZ; ulimit -f {}", mebibytes * 1024 * 2),
        )
    };
    command.arg(format!("{before}\n{steps}"));
    command.current_dir(place.folder.path()).env_clear();
    command
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("BURSAR", BURSAR);
    (
        command,
        if mounts {
            "a small tmpfs"
        } else {
            "a limit on the size of files"
        },
    )
}

#[test]
fn a_disk_that_gets_full_during_an_import() {
    let place = Place::sqlite();
    place.bundle("small.ndjson", &roster(50).text);
    place.bundle("large.ndjson", &roster(20_000).text);
    let steps = r#"
        export BURSAR_DATABASE=sqlite:small/bursar.db
        "$BURSAR" import small.ndjson
        "$BURSAR" export > before
        code=0; "$BURSAR" import large.ndjson 2> said || code=$?
        echo "$code" > code
        "$BURSAR" check
        "$BURSAR" export > after
        "$BURSAR" import small.ndjson
        "$BURSAR" organization create --name Union --kind national
        "$BURSAR" check
    "#;
    let (mut command, way) = on_a_small_disk(&place, 4, steps);
    println!("the disk is made full by {way}");
    finish(&mut command).succeeded();
    let read = |name: &str| std::fs::read_to_string(place.file(name)).unwrap();
    let said = read("said");
    assert_eq!(read("code"), "1\n", "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.starts_with("bursar: ") && said.contains("nothing was imported"),
        "{said}"
    );
    if way == "a small tmpfs" {
        assert!(said.contains("the disk of the database is full"), "{said}");
    }
    assert!(read("before") == read("after") && read("before").lines().count() == 52);
}

/// Kills imports at random moments until this many of them were interrupted.
const KILLS: usize = 5;

#[test]
fn a_killed_import_leaves_all_or_nothing() {
    const MEMBERS: usize = 3_000;
    both_engines(|place| {
        let import = |name: &str| {
            let bundle = place.bundle(name, &roster(MEMBERS).text);
            place.command(&[OsStr::new("import"), bundle.as_os_str()])
        };
        let members = || place.export().matches(r#"{"type":"member""#).count();
        let since = Instant::now();
        finish(&mut import("whole.ndjson")).succeeded();
        let whole = u64::try_from(since.elapsed().as_micros()).unwrap();
        let mut random = fastrand::Rng::with_seed(seed());
        let (mut interrupted, mut kept) = (0, MEMBERS);
        for _ in 0..KILLS * 20 {
            if interrupted == KILLS {
                break;
            }
            let mut command = import("killed.ndjson");
            let child = command
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_micros(random.u64(..whole)));
            kill(child.id());
            let killed = done(child.wait_with_output().unwrap()).code.is_none();
            place.check();
            let now = members();
            assert!(now.is_multiple_of(MEMBERS), "half an import: {now} members");
            interrupted += usize::from(killed && now == kept);
            kept = now;
        }
        assert_eq!(interrupted, KILLS, "the kills hit too few imports");
        finish(&mut import("last.ndjson")).succeeded();
        place.check();
        assert!(members() > kept);
    });
}

/// A server that is not PostgreSQL: it offers no TLS, and asks whoever connects for the password in the clear.
fn false_server() -> (SocketAddr, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (mut heard, mut buffer) = (Vec::new(), [0; 1024]);
        // No to TLS; then "R", a length of 8 and 3: the password, as it is.
        for answer in [&b"N"[..], &[b'R', 0, 0, 0, 8, 0, 0, 0, 3], b""] {
            match stream.read(&mut buffer) {
                Ok(count) if count > 0 => heard.extend_from_slice(&buffer[..count]),
                _ => break,
            }
            if stream.write_all(answer).is_err() {
                break;
            }
        }
        heard
    });
    (address, heard)
}

#[test]
fn a_false_server_elsewhere_does_not_get_the_password() {
    for (query, is_told) in [
        ("", false),
        ("&sslmode=require", false),
        ("&sslmode=prefer", true),
    ] {
        let (address, heard) = false_server();
        let mut place = Place::sqlite();
        // A name elsewhere whose address somebody else has taken.
        place.database = format!(
            "postgres://ada:secret@db.example.org:{}/books?hostaddr=127.0.0.1{query}",
            address.port()
        );
        let said = place.refused(&["check"]);
        let heard = heard.join().unwrap();
        let has_password = heard.windows(6).any(|bytes| bytes == b"secret");
        assert_eq!(
            has_password,
            is_told,
            "{query}: {}",
            String::from_utf8_lossy(&heard)
        );
        if !is_told {
            assert!(
                said.contains("PostgreSQL at db.example.org") && said.contains("sslrootcert=FILE"),
                "{said}"
            );
        }
    }
}

/// The status of the answer to `GET path`.
fn get(address: &str, path: &str, token: &str) -> u16 {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let head = format!("GET {path} HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1);
    status.and_then(|status| status.parse().ok()).expect(&answer)
}

/// A host that is frozen still acknowledges what it is sent: only a limit of our own notices.
#[test]
fn a_database_that_falls_silent_holds_up_neither_answers_nor_the_end() {
    let mut place = Place::postgres();
    place.ok(WRITES);
    let made = place.json(&[
        "token",
        "create",
        "--service",
        "--role",
        "viewer",
        "--scopes",
        "members:read",
    ]);
    let token = made["secret"]
        .as_str()
        .or(made["token"].as_str())
        .unwrap()
        .to_owned();
    let relay = Relay::to(place.server());
    place.database = place.with_hosts(&relay.address.to_string());
    let mut serve = place.command(&["serve", "--listen", "127.0.0.1:0", "--log-level", "off"]);
    serve.args(["--request-timeout", "3s", "--drain-delay", "0"]);
    let mut serve = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serve.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    assert_eq!(
        (get(address, "/readyz", ""), get(address, "/v1/members", &token)),
        (200, 200)
    );
    relay.fall_silent();
    let since = Instant::now();
    // A reader that had no connection yet makes a new one, and answers.
    let status = get(address, "/v1/members", &token);
    assert!(matches!(status, 200 | 503), "{status}");
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    // It recovers by itself when the last silent connection was given up.
    let is_well = || get(address, "/readyz", "") == 200 && get(address, "/v1/members", &token) == 200;
    while !is_well() {
        assert!(since.elapsed() < Duration::from_secs(120), "it does not recover");
        std::thread::sleep(Duration::from_millis(200));
    }
    relay.fall_silent();
    let told = Command::new("kill")
        .args(["-TERM", &serve.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    let since = Instant::now();
    assert!(serve.wait().unwrap().success());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
}
