//! What others wrote, on a terminal: nothing in it may move the cursor, colour the text or turn its direction.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use serde_json::{Value, json};

use crate::cli::on_a_terminal;
use crate::support::{Done, Place, bursar, finish, roster};

/// Clears the screen, by seven bits and by eight; a title; turns the direction; a line of its own.
const HOSTILE: &str = "a\u{1b}[2J\u{9b}31m\u{7}\u{202e}b\u{2066}\u{200f}\u{7f}\rc";

#[track_caller]
fn is_plain(text: &str) {
    let bad = text.chars().find(|c| {
        c.is_control() && *c != '\n'
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    });
    assert_eq!(bad, None, "{text:?}");
}

#[track_caller]
fn was_plain(done: &Done) {
    is_plain(&done.stdout);
    is_plain(&done.stderr);
    assert!(!done.stderr.is_empty() || !done.stdout.is_empty());
}

/// A server that says one thing to everybody, once it was spoken to or at once.
fn server(answer: Vec<u8>, is_spoken_to: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if is_spoken_to {
                let _ = stream.read(&mut [0; 4_096]);
            }
            let _ = stream.write_all(&answer);
        }
    });
    address
}

#[test]
fn names_of_files_and_keys_of_bundles() {
    let place = Place::sqlite();
    let roster = roster(1);
    place.import(place.bundle("roster.ndjson", &roster.text));
    let missing = format!("{HOSTILE}.ndjson");
    was_plain(&place.run(&["import", &missing]));
    was_plain(&place.run(&["export", "--organization", HOSTILE]));
    was_plain(&place.run(&["backup", &format!("no-folder{HOSTILE}/x.db")]));
    let done = place.run(&["backup", &format!("copy{HOSTILE}.db")]);
    was_plain(&done);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("\\u{1b}[2J"),
        "it is shown what it was: {}",
        done.stdout
    );
    for line in [
        json!({"type": "organization", "id": roster.organization, "name": "R", HOSTILE: 1}),
        json!({"type": HOSTILE}),
        json!({"type": "organization", "id": HOSTILE}),
    ] {
        let bundle = place.bundle("bad.ndjson", &format!("{line}\n"));
        was_plain(&place.run(&["import", bundle.to_str().unwrap()]));
    }
    let list = format!("First name,Last name,Email,{HOSTILE}\nAnn,Ek,x@example.org,1\n").replace('\r', "");
    let list = place.bundle("list.csv", &list);
    was_plain(&place.run(&[
        "import",
        list.to_str().unwrap(),
        "--dry-run",
        "--organization",
        &roster.organization.to_string(),
    ]));
}

#[test]
fn texts_of_records() {
    let place = Place::sqlite();
    // No rule refuses these in a name.
    let name = "Row\u{202e}ers\u{2066}";
    let made = place.ok(&["organization", "create", "--name", name, "--kind", "independent"]);
    is_plain(&made);
    is_plain(&place.ok(&["organization", "list"]));
    is_plain(&place.refused(&[
        "member",
        "list",
        "--organization",
        "org_7zzzzzzzzzzzzzzzzzzzzzzzzz",
    ]));
    let (_, screen) = on_a_terminal(&place, &["organization", "list"], &[("NO_COLOR", "1")], "");
    is_plain(&screen);
    assert!(screen.contains("Row\\u{202e}ers\\u{2066}"), "{screen}");
    // A program has the text itself, in JSON.
    let listed = finish(place.command(&["organization", "list"]).arg("--json"));
    was_plain(&listed);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed[0]["name"], name);
}

#[test]
fn answers_of_servers() {
    let place = Place::sqlite();
    place.import(place.bundle("roster.ndjson", &roster(1).text));
    let error = json!({"error": {"code": "x", "message": HOSTILE, "requestId": HOSTILE}}).to_string();
    let api = server(
        format!(
            "HTTP/1.1 418 X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{error}",
            error.len()
        )
        .into_bytes(),
        true,
    );
    let url = format!("http://{api}");
    let mut sync = bursar(place.folder.path());
    sync.env("BURSAR_TOKEN", "x")
        .args(["sync", "--to", "mirror", "--url", &url]);
    let done = finish(&mut sync);
    was_plain(&done);
    assert!(done.stderr.contains("418 a\\u{1b}[2J"), "{done:?}");

    let mail = server(
        format!("554 {}\r\n", HOSTILE.replace('\r', "")).into_bytes(),
        false,
    );
    let done = place.run(&[
        "doctor",
        "--listen",
        "127.0.0.1:0",
        "--smtp-url",
        &format!("smtp://{mail}"),
    ]);
    was_plain(&done);
    assert!(done.stdout.contains("554"), "{done:?}");

    // ErrorResponse: severity, code, message.
    let mut fields = Vec::new();
    for (kind, text) in [(b'S', "FATAL"), (b'V', "FATAL"), (b'C', "28000"), (b'M', HOSTILE)] {
        fields.push(kind);
        fields.extend(text.bytes());
        fields.push(0);
    }
    fields.push(0);
    let mut answer = vec![b'E'];
    answer.extend(u32::try_from(fields.len() + 4).unwrap().to_be_bytes());
    answer.extend(fields);
    let postgres = server(answer, true);
    let url = format!("postgres://u:p@{postgres}/x?sslmode=disable");
    for args in [
        &["check"][..],
        &["doctor", "--listen", "127.0.0.1:0"],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        let done = finish(bursar(place.folder.path()).args(["--database", &url]).args(args));
        was_plain(&done);
        assert_eq!(
            done.code,
            Some(if args[0] == "doctor" {
                1
            } else {
                done.code.unwrap()
            })
        );
        assert!(format!("{done:?}").contains("2J"), "{done:?}");
    }
}
