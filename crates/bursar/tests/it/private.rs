//! What holds personal data is its owner's alone, also under a umask that hides nothing.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::api::world::World;
use crate::messages::terminate;
use crate::support::{Place, finish, roster};
use bursar_testing::{Engine, eventually};

/// The same command, run by a shell that gives every right to everybody.
fn unmasked(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 000; exec \"$@\"", "sh"]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env_clear().stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

#[track_caller]
fn has_mode(path: &Path, mode: u32) {
    let found = std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is = found.permissions().mode() & 0o777;
    assert_eq!(is, mode, "{} is {is:o}", path.display());
}

/// Everything in a folder, and in the folders in it.
#[track_caller]
fn is_closed(folder: &Path) -> usize {
    has_mode(folder, 0o700);
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files += is_closed(&entry.path());
        } else {
            has_mode(&entry.path(), 0o600);
            files += 1;
        }
    }
    files
}

fn a_club() -> (Place, String) {
    let place = Place::sqlite();
    let roster = roster(2);
    let bundle = place.bundle("roster.ndjson", &roster.text);
    finish(&mut unmasked(
        &place.command(&["import", bundle.to_str().unwrap()]),
    ))
    .succeeded();
    (place, roster.organization.to_string())
}

#[test]
fn databases_backups_and_copies() {
    let (place, _) = a_club();
    has_mode(&place.database_file(), 0o600);
    finish(&mut unmasked(&place.command(&["backup", "backup.db"]))).succeeded();
    has_mode(&place.file("backup.db"), 0o600);
    let copy = format!("sqlite:{}", place.file("copy.db").display());
    finish(&mut unmasked(&place.command(&["copy", "--to", &copy]))).succeeded();
    has_mode(&place.file("copy.db"), 0o600);
}

#[test]
fn messages_and_the_log_of_the_database() {
    let (place, organization) = a_club();
    let group = place.json(&["group", "list", "--organization", &organization]);
    let schedule = [
        "reminder",
        "schedule",
        "--organization",
        &organization,
        "--at",
        "now",
        "--body",
        "Hello",
    ];
    place.ok(&[&schedule[..], &["--group", group[0]["id"].as_str().unwrap()]].concat());
    let mut worker = unmasked(&place.command(&["worker", "--log-level", "off"]))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let outbox = place.file("outbox");
    eventually("two mails", || {
        let mails = std::fs::read_dir(&outbox).ok()?.filter(|entry| {
            entry
                .as_ref()
                .is_ok_and(|entry| entry.path().extension().is_some_and(|e| e == "eml"))
        });
        (mails.count() == 2).then_some(())
    });
    has_mode(&place.file("bursar.db-wal"), 0o600);
    has_mode(&place.file("bursar.db-shm"), 0o600);
    terminate(&mut worker);
    assert_eq!(is_closed(&outbox), 2);
}

#[test]
fn undo_files_and_what_is_redirected_to_a_file() {
    let (place, organization) = a_club();
    let list = place.bundle("list.csv", "First name,Last name,Email\nAnn,Ek,ann@example.org\n");
    let import = [
        "import",
        list.to_str().unwrap(),
        "--organization",
        &organization,
        "--json",
    ];
    let done = finish(&mut unmasked(&place.command(&import))).succeeded();
    let done: serde_json::Value = serde_json::from_str(&done).unwrap();
    has_mode(Path::new(done["undoFile"].as_str().unwrap()), 0o600);
    let to_a_file = |args: &[&str], name: &str| {
        let line = format!("umask 000; exec \"$@\" > '{name}'");
        let mut shell = unmasked(&place.command(args));
        let words: Vec<_> = shell.get_args().skip(3).map(ToOwned::to_owned).collect();
        shell = {
            let mut other = Command::new("sh");
            other
                .args(["-c", &line, "sh"])
                .args(words)
                .current_dir(place.folder.path());
            other.env_clear().stdin(Stdio::null());
            other
        };
        finish(&mut shell).succeeded();
        place.file(name)
    };
    let file = to_a_file(&["export"], "export.ndjson");
    has_mode(&file, 0o600);
    assert_eq!(std::fs::read_to_string(file).unwrap(), place.export());
    has_mode(
        &to_a_file(
            &["member", "list", "--organization", &organization],
            "members.txt",
        ),
        0o600,
    );
    let token = [
        "token",
        "create",
        "--organization",
        &organization,
        "--service",
        "--role",
        "viewer",
    ];
    let token = [&token[..], &["--scopes", "members:read"]].concat();
    has_mode(&to_a_file(&token, "token.txt"), 0o600);
    // What everybody may read stays so, and so does a file that had something in it before.
    has_mode(&to_a_file(&["completions", "bash"], "bursar.bash"), 0o666);
    has_mode(&to_a_file(&["openapi"], "openapi.json"), 0o666);
    let log = place.bundle("log", "begun\n");
    std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = place.command(&["export"]);
    command.stdout(File::options().append(true).open(&log).unwrap());
    assert!(command.status().unwrap().success());
    has_mode(&log, 0o644);
}

#[test]
fn mirrors() {
    let world = World::new(Engine::Sqlite);
    let token = world.editor().token().unwrap();
    let home = tempfile::tempdir().unwrap();
    let sync = |to: &str| {
        let mut command = crate::support::bursar(home.path());
        let url = format!("http://{}", world.server().address);
        command.env("BURSAR_TOKEN", &token.secret).args([
            "sync",
            "--lists",
            "members,groups",
            "--to",
            to,
            "--url",
            &url,
        ]);
        finish(&mut unmasked(&command)).succeeded();
        home.path().join(to)
    };
    assert!(is_closed(&sync("mirror")) >= 4);
    // In a folder that others may enter, the files are closed all the same; one that was opened for somebody stays so.
    let shared = home.path().join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
    sync("shared");
    is_closed(&shared.join(".bursar-sync"));
    has_mode(&shared.join("members.ndjson"), 0o600);
    std::fs::set_permissions(
        shared.join("members.ndjson"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    std::fs::remove_dir_all(shared.join(".bursar-sync")).unwrap();
    sync("shared");
    has_mode(&shared.join("members.ndjson"), 0o640);
}

#[test]
fn the_demonstration() {
    let place = Place::sqlite();
    let mut command = crate::support::bursar(place.folder.path());
    command.args(["demo", "--listen", "127.0.0.1:0", "--drain-delay", "0s"]);
    let mut child = unmasked(&command).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line.starts_with("listening on "))
    );
    for end in ["", "-wal", "-shm"] {
        has_mode(&place.file(&format!("bursar-demo.db{end}")), 0o600);
    }
    terminate(&mut child);
}
