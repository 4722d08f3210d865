//! Every command that works on the data, for people and for machines, on both engines.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Done, EVERY_RECORD, Place, both_engines, bursar, done, finish, roster};

fn make_organization(place: &Place, name: &str) -> String {
    let made = place.json(&["organization", "create", "--name", name, "--kind", "national"]);
    made["id"].as_str().unwrap().to_owned()
}

#[test]
fn organizations_are_made_and_listed() {
    both_engines(|place| {
        let made = place.json(&[
            "organization",
            "create",
            "--name",
            "Union of River Clubs",
            "--kind",
            "national",
            "--currency",
            "EUR",
            "--contact-email",
            "office@example.org",
        ]);
        let id = made["id"].as_str().unwrap();
        assert!(id.starts_with("org_"), "{made}");
        let expected = json!({
            "id": id, "name": "Union of River Clubs", "kind": "national", "parentId": null, "currency": "EUR",
            "contactEmail": "office@example.org", "contactPhone": null, "cardIssuing": "pending",
            "timeZone": "UTC", "closedUntil": null, "autoCredit": true, "autoReference": false, "payText": null,
            "iban": null, "retentionYears": 10, "autopayRetries": "3,5,7",
        });
        assert_eq!(made, expected);
        let said = place.ok(&[
            "organization",
            "create",
            "--name",
            "North Bank",
            "--kind",
            "chapter",
            "--parent",
            id,
        ]);
        assert!(
            said.starts_with("Created North Bank (chapter), org_") && said.lines().count() == 1,
            "{said}"
        );

        let listed = place.json(&["organization", "list"]);
        assert_eq!(listed.as_array().unwrap().len(), 2);
        assert_eq!(listed[0], expected);
        assert_eq!(
            (&listed[1]["parentId"], &listed[1]["currency"]),
            (&json!(id), &json!("USD"))
        );
        let table = place.ok(&["organization", "list"]);
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].starts_with("ID") && lines.len() == 3, "{table}");
        assert!(
            lines[1].starts_with(id) && lines[1].contains("Union of River Clubs"),
            "{table}"
        );

        for (args, reason) in [
            (vec!["--name", "X", "--kind", "chapter"], "parent"),
            (
                vec!["--name", "X", "--kind", "independent", "--parent", id],
                "parent",
            ),
            (vec!["--name", "  ", "--kind", "national"], "name"),
            (
                vec!["--name", "X", "--kind", "national", "--contact-email", "nobody"],
                "contact-email",
            ),
            (
                vec![
                    "--name",
                    "X",
                    "--kind",
                    "chapter",
                    "--parent",
                    "org_01jbst1c00e008000000000000",
                ],
                "does not exist",
            ),
        ] {
            let args = [&["organization", "create"], &args[..]].concat();
            let said = place.refused(&args);
            assert!(said.contains(reason), "{args:?}: {said}");
        }
        assert_eq!(
            place.json(&["organization", "list"]),
            listed,
            "a refusal changes nothing"
        );
    });
}

#[test]
fn roles_are_set_changed_listed_and_removed() {
    both_engines(|place| {
        let org = make_organization(place, "Union");
        let of_org = |command: &str, more: &[&str]| -> Vec<String> {
            let args = [&["role", command, "--organization", &org][..], more].concat();
            args.into_iter().map(str::to_owned).collect()
        };
        assert_eq!(place.json(&of_org("list", &[])), json!([]));
        let set = place.json(&of_org("set", &["--user", "ada@example.org", "--role", "viewer"]));
        assert_eq!(
            (&set["email"], &set["role"]),
            (&json!("ada@example.org"), &json!("viewer"))
        );
        let said = place.ok(&of_org("set", &["--user", "ADA@example.org", "--role", "admin"]));
        assert_eq!(
            said,
            format!("ada@example.org is now admin in Union ({org})\n"),
            "one person, whatever the case"
        );
        place.ok(&of_org("set", &["--user", "ben@example.org", "--role", "editor"]));

        let listed = place.json(&of_org("list", &[]));
        let pairs: Vec<(&Value, &Value)> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|h| (&h["email"], &h["role"]))
            .collect();
        assert_eq!(
            pairs,
            [
                (&json!("ada@example.org"), &json!("admin")),
                (&json!("ben@example.org"), &json!("editor"))
            ]
        );
        assert_eq!(listed[0]["userId"], set["userId"]);
        let table = place.ok(&of_org("list", &[]));
        assert!(table.starts_with("USER") && table.lines().count() == 3, "{table}");

        let removed = place.json(&of_org("remove", &["--user", "ben@example.org"]));
        assert_eq!(removed["email"], "ben@example.org");
        place.ok(&of_org("set", &["--user", "cy@example.org", "--role", "admin"]));
        let said = place.ok(&of_org("remove", &["--user", "ada@example.org"]));
        assert!(
            said.starts_with(&format!("Removed ada@example.org from Union ({org})")),
            "{said}"
        );
        assert_eq!(place.json(&of_org("list", &[])).as_array().unwrap().len(), 1);
        assert!(
            place
                .refused(&of_org("remove", &["--user", "ada@example.org"]))
                .contains("has no role")
        );
        assert!(
            place
                .refused(&of_org("set", &["--user", "nobody", "--role", "admin"]))
                .contains("user")
        );
        let gone = ["role", "list", "--organization", "org_01jbst1c00e008000000000000"];
        assert!(place.refused(&gone).contains("does not exist"));
        place.check();
    });
}

#[test]
fn a_bundle_goes_round_byte_for_byte_on_both_engines_and_across() {
    let mut exports = Vec::new();
    both_engines(|place| {
        let said = place.import(EVERY_RECORD);
        assert!(said.contains(" added, 0 changed, 0 as they were"), "{said}");
        place.check();
    });
    let origins = [Place::sqlite(), Place::postgres()];
    for origin in &origins {
        origin.import(EVERY_RECORD);
        let exported = origin.export();
        for target in [Place::sqlite(), Place::postgres()] {
            target.import(target.bundle("exported.ndjson", &exported));
            target.check();
            assert!(target.export() == exported, "the second export differs");
        }
        exports.push(exported);
    }
    assert!(exports[0] == exports[1], "the engines export differently");
    let given = std::fs::read_to_string(EVERY_RECORD).unwrap();
    assert_eq!(
        exports[0]
            .lines()
            .filter(|line| !line.contains("\"recorderKind\":\"operator\""))
            .count(),
        given.lines().filter(|line| !line.trim().is_empty()).count()
    );
}

#[test]
fn an_import_says_what_it_did_and_again_changes_nothing() {
    both_engines(|place| {
        let roster = roster(20);
        let bundle = place.bundle("roster.ndjson", &roster.text);
        let args = [OsStr::new("import"), bundle.as_os_str()];
        assert_eq!(
            place.json(&args),
            json!({ "records": 22, "added": 22, "changed": 0, "unchanged": 0 })
        );
        let before = place.export();
        assert_eq!(
            place.ok(&args),
            "22 records: 0 added, 0 changed, 22 as they were\n"
        );
        assert!(place.export() == before);
        let changed = place.bundle("changed.ndjson", &roster.text.replacen("Larsen", "Lund", 1));
        assert_eq!(
            place.import(changed),
            "22 records: 0 added, 1 changed, 21 as they were\n"
        );
        place.check();
    });
}

#[test]
fn a_program_gets_every_line_of_the_activity_log() {
    let place = Place::sqlite();
    place.import(place.bundle("roster.ndjson", &roster(5).text));
    let connection = rusqlite::Connection::open(place.database_file()).unwrap();
    let more = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 70) \
                INSERT INTO activity (organization_id, id, at, action, actor_kind) \
                SELECT organization_id, randomblob(16), at, action, actor_kind FROM activity, n WHERE action = 'import'";
    assert_eq!(connection.execute(more, []).unwrap(), 70);
    drop(connection);
    let lines = |args: &[&str]| {
        let printed = place.json(&[&["activity"], args].concat());
        printed.as_array().unwrap().len()
    };
    assert!(lines(&[]) > 70);
    assert_eq!(lines(&["--limit", "60"]), 60);
    assert_eq!(
        place.ok(&["activity"]).lines().count(),
        50,
        "people get the newest"
    );
}

/// Runs a command with this on its standard input.
fn fed(place: &Place, args: &[&str], input: &str) -> Done {
    let mut child = place
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    done(child.wait_with_output().unwrap())
}

#[test]
fn an_import_may_come_through_a_pipe() {
    both_engines(|place| {
        let bundle = roster(20).text;
        let said = fed(place, &["import", "/dev/stdin"], &bundle).succeeded();
        assert_eq!(said, "22 records: 22 added, 0 changed, 0 as they were\n");
        let other = Place::sqlite();
        fed(&other, &["import", "/dev/stdin"], &place.export()).succeeded();
        assert!(other.export() == place.export());
        let organizations = other.json(&["organization", "list"]);
        let org = organizations[0]["id"].as_str().unwrap();
        let csv = "First name,Last name,E-mail\nZoe,Zeta,zoe@example.org\n";
        fed(&other, &["import", "/dev/stdin", "--organization", org], csv).succeeded();
        assert!(other.export().contains("zoe@example.org"));
    });
}

#[test]
fn an_import_names_the_bad_line_and_writes_nothing() {
    both_engines(|place| {
        let roster = roster(10);
        let cases = [
            (
                roster.text.replacen("m8@example.org", "nobody", 1),
                "line 11: email: ",
            ),
            (
                roster.text.replacen("\"firstName\"", "\"fristName\"", 1),
                "line 3: ",
            ),
            (format!("{}not json\n", roster.text), "line 13: "),
            (
                roster
                    .text
                    .replacen("\"groups\":[\"grp_", "\"groups\":[\"grp_7", 1),
                "line 3: groups",
            ),
            (
                roster.text.replacen(
                    "\"independent\"",
                    "\"independent\",\"parentId\":\"org_01jbst1c00e008000000000000\"",
                    1,
                ),
                "line 1: parentId: ",
            ),
        ];
        for (text, place_in_file) in cases {
            let bundle = place.bundle("bad.ndjson", &text);
            let said = place.refused(&[OsStr::new("import"), bundle.as_os_str()]);
            assert!(
                said.contains(place_in_file) && said.contains("nothing was imported"),
                "{said}"
            );
            assert_eq!(place.export(), "", "{said}");
        }
        let said = place.refused(&["import", "missing.ndjson"]);
        assert!(said.contains("missing.ndjson cannot be read"), "{said}");
        let folder = place.folder.path().to_str().unwrap();
        assert!(place.refused(&["import", folder]).contains("is a folder"));
    });
}

#[test]
fn a_part_is_exported_with_a_warning_about_what_it_names_outside() {
    both_engines(|place| {
        let top = make_organization(place, "Union");
        let create = [
            "organization",
            "create",
            "--name",
            "North",
            "--kind",
            "chapter",
            "--parent",
            &top,
        ];
        let chapter = place.json(&create)["id"].as_str().unwrap().to_owned();
        let part = place.run(&["export", "--organization", &chapter]);
        assert_eq!(part.code, Some(0));
        assert!(part.one_line().starts_with("warning: 1 reference"), "{part:?}");
        assert_eq!(part.stdout.lines().count(), 1);
        assert!(part.stdout.contains(r#""parentId":null"#), "{part:?}");
        let whole = place.ok(&["export", "--organization", &top]);
        assert_eq!(whole, place.export());
        let gone = place.refused(&["export", "--organization", "org_01jbst1c00e008000000000000"]);
        assert!(gone.contains("does not exist"), "{gone}");
    });
}

#[test]
fn check_counts_rows_and_fails_when_something_is_broken() {
    both_engines(|place| {
        place.import(place.bundle("roster.ndjson", &roster(5).text));
        assert_eq!(place.json(&["check"]), json!({ "rows": 6, "problems": [] }));
        place.damage("UPDATE groups SET member_count = 7");
        let broken = place.run(&["check"]);
        assert_eq!(
            (broken.code, broken.one_line().as_str()),
            (Some(1), "2 problems found")
        );
        assert!(
            broken.stdout.starts_with("KIND") && broken.stdout.contains("memberCount is 7"),
            "{broken:?}"
        );
        let broken = finish(place.command(&["check"]).arg("--json"));
        let printed: Value = serde_json::from_str(&broken.stdout).unwrap();
        let kinds: Vec<&Value> = printed["problems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|p| &p["kind"])
            .collect();
        assert_eq!(
            (broken.code, kinds),
            (Some(1), vec![&json!("count"), &json!("document")])
        );
    });
}

#[test]
fn a_backup_is_a_database_and_never_replaces_a_file() {
    let place = Place::sqlite();
    place.import(EVERY_RECORD);
    let said = place.ok(&["backup", "copy.db"]);
    assert!(said.starts_with("backed up to copy.db ("), "{said}");
    let printed = place.json(&["backup", "second.db"]);
    assert_eq!(printed["file"], "second.db");
    assert_eq!(
        printed["bytes"],
        std::fs::metadata(place.file("second.db")).unwrap().len()
    );
    let of_copy = finish(bursar(place.folder.path()).args(["--database", "sqlite:copy.db", "export"]));
    assert!(of_copy.succeeded() == place.export());
    let bytes = std::fs::read(place.file("copy.db")).unwrap();
    assert!(place.refused(&["backup", "copy.db"]).contains("exists already"));
    assert!(place.refused(&["backup", "bursar.db"]).contains("exists already"));
    assert!(
        place
            .refused(&["backup", "no/such/folder.db"])
            .contains("cannot be written")
    );
    assert!(std::fs::read(place.file("copy.db")).unwrap() == bytes);

    let server = Place::postgres();
    server.import(EVERY_RECORD);
    assert!(server.refused(&["backup", "copy.db"]).contains("pg_dump"));
    assert!(!server.file("copy.db").exists());
}

#[test]
fn a_copy_to_the_other_engine_and_back_is_the_same() {
    let (first, server, last) = (Place::sqlite(), Place::postgres(), Place::sqlite());
    first.import(EVERY_RECORD);
    let said = first.ok(&["copy", "--to", &server.database]);
    assert!(
        said.contains(" rows copied\n") && said.contains("nothing is broken"),
        "{said}"
    );
    let checked = server.json(&["copy", "--to", &last.database]);
    assert_eq!(checked["problems"], json!([]));
    for place in [&server, &last] {
        place.check();
        assert!(place.export() == first.export());
    }
    let again = first.refused(&["copy", "--to", &server.database]);
    assert!(again.contains("not empty"), "{again}");
    assert!(
        first
            .refused(&["copy", "--to", "nowhere"])
            .contains("sqlite:FILE or postgres://")
    );
}

/// The same database by a link, or under another name of the program.
fn other_way_to(place: &Place) -> String {
    if place.is_sqlite() {
        std::os::unix::fs::symlink(place.database_file(), place.file("link.db")).unwrap();
        return "sqlite:link.db".to_owned();
    }
    let mark = if place.database.contains('?') { '&' } else { '?' };
    format!("{}{mark}application_name=other", place.database)
}

/// What a server wrote later would be missing in the copy.
#[test]
fn a_copy_notices_a_running_server() {
    for place in [Place::sqlite(), Place::postgres()] {
        place.import(EVERY_RECORD);
        let (to, later) = (Place::sqlite(), Place::sqlite());
        let mut serve = place.command(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--no-worker",
            "--log-level",
            "off",
        ]);
        let mut served = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(served.stdout.take().unwrap())
            .read_line(&mut said)
            .unwrap();
        let done = place.run(&["copy", "--to", &to.database]);
        assert_eq!(done.code, Some(4), "{done:?}");
        assert!(
            done.stderr.contains("is in use by") && done.stderr.contains("--live"),
            "{done:?}"
        );
        assert!(!to.database_file().exists(), "nothing was begun");
        let link = other_way_to(&place);
        let other_way = ["copy", "--to", &to.database, "--database", &link];
        let done = finish(bursar(place.folder.path()).args(other_way));
        assert_eq!(done.code, Some(4), "{done:?}");
        place.ok(&["copy", "--live", "--to", &to.database]);
        let back = to.run(&["copy", "--to", &place.database]);
        assert!(back.stderr.contains("to copy to is in use"), "{back:?}");
        served.kill().unwrap();
        served.wait().unwrap();
        place.ok(&["copy", "--to", &later.database]);
    }
}

/// Every command is somebody's: the person's whom `--as` names, with their role, or the operator's.
#[test]
fn a_command_is_run_as_a_person() {
    both_engines(|place| {
        let make = |name: &str| {
            let made = place.json(&["organization", "create", "--name", name, "--kind", "independent"]);
            made["id"].as_str().unwrap().to_owned()
        };
        let (club, other) = (make("Club"), make("Other"));
        for (email, role) in [("admin@example.org", "admin"), ("viewer@example.org", "viewer")] {
            place.ok(&[
                "role",
                "set",
                "--organization",
                &club,
                "--user",
                email,
                "--role",
                role,
            ]);
        }
        let acting = |email: &str, args: &[&str]| place.run(&[args, &["--as", email]].concat());
        let viewer = |args: &[&str]| acting("viewer@example.org", args);
        let admin = |args: &[&str]| acting("admin@example.org", args);
        let listed = viewer(&["organization", "list"]).succeeded();
        assert!(listed.contains(&club) && !listed.contains(&other), "{listed}");
        for list in ["role", "token", "policy"] {
            let verb = if list == "policy" { "show" } else { "list" };
            viewer(&[list, verb, "--organization", &club]).succeeded();
            let refused = viewer(&[list, verb, "--organization", &other]).failed();
            assert!(
                refused.contains("only people with a role in the organization may"),
                "{refused}"
            );
        }
        let log = ["activity", "--organization", &club];
        assert!(
            viewer(&log)
                .failed()
                .contains("only an admin of the organization may read")
        );
        let service = [
            "token",
            "create",
            "--organization",
            &club,
            "--service",
            "--role",
            "viewer",
            "--scopes",
            "members:read",
            "--json",
        ];
        assert!(
            viewer(&service)
                .failed()
                .contains("only an admin of the organization may create service")
        );
        let made: Value = serde_json::from_str(&admin(&service).succeeded()).unwrap();
        let token = made["id"].as_str().unwrap();
        let unseen = viewer(&["token", "show", token]);
        assert_eq!(unseen.code, Some(3), "{}", unseen.one_line());
        assert!(admin(&["token", "revoke", token]).succeeded().contains("revoked"));
        assert!(
            admin(&log)
                .succeeded()
                .contains("admin@example.org revoked token")
        );
        for (args, said) in [
            (&["check"][..], "only the operator may check the data"),
            (&["export"], "only the operator may export bundles"),
            (
                &["export", "--organization", &club],
                "only the operator may export bundles",
            ),
            (&["import", EVERY_RECORD], "only the operator may import bundles"),
            (
                &["copy", "--to", "sqlite:copy.db"],
                "leave --as (or BURSAR_AS) out",
            ),
            (
                &["organization", "create", "--name", "New", "--kind", "independent"],
                "only the operator may create",
            ),
            (&["backup", "copy.db"], "leave --as (or BURSAR_AS) out"),
            (&["serve"], "leave --as (or BURSAR_AS) out"),
            (&["doctor"], "leave --as (or BURSAR_AS) out"),
        ] {
            let refused = admin(args).failed();
            assert!(refused.contains(said), "{args:?}: {refused}");
        }
        viewer(&["export", "--organization", &club, "--csv", "members"]).succeeded();
        let nobody = acting("nobody@example.org", &["organization", "list"]);
        assert_eq!(nobody.code, Some(3), "{}", nobody.one_line());
    });
}

/// Gives each flag by its variable and nothing on the command line.
#[test]
fn every_flag_has_a_variable() {
    let place = Place::sqlite();
    let with = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = bursar(place.folder.path());
        finish(command.args(args).envs(variables.iter().copied())).succeeded()
    };
    let database = ("BURSAR_DATABASE", place.database.as_str());
    let create = [
        database,
        ("BURSAR_JSON", "true"),
        ("BURSAR_NAME", "Union"),
        ("BURSAR_KIND", "national"),
        ("BURSAR_CURRENCY", "JPY"),
        ("BURSAR_CONTACT_EMAIL", "office@example.org"),
        ("BURSAR_CONTACT_PHONE", "+12025550100"),
        ("BURSAR_CARD_ISSUING", "approved"),
    ];
    let made: Value = serde_json::from_str(&with(&["organization", "create"], &create)).unwrap();
    assert_eq!(
        (&made["currency"], &made["cardIssuing"]),
        (&json!("JPY"), &json!("approved"))
    );
    let org = ("BURSAR_ORGANIZATION", made["id"].as_str().unwrap());
    let person = [
        database,
        org,
        ("BURSAR_USER", "ada@example.org"),
        ("BURSAR_ROLE", "editor"),
    ];
    with(&["role", "set"], &person);
    assert!(with(&["role", "list"], &[database, org]).contains("editor"));
    assert!(with(&["export"], &[database, org]).contains("ada@example.org"));
    let target = format!("sqlite:{}", place.file("target.db").display());
    with(&["copy"], &[database, ("BURSAR_TO", &target)]);
    let chapter = [
        database,
        ("BURSAR_NAME", "North"),
        ("BURSAR_KIND", "chapter"),
        ("BURSAR_PARENT", org.1),
    ];
    with(&["organization", "create"], &chapter);
    assert!(place.file("target.db").exists());
}

#[test]
fn the_default_database_is_a_file_in_the_working_folder() {
    let place = Place::sqlite();
    let mut command = bursar(place.folder.path());
    finish(command.args(["organization", "create", "--name", "Union", "--kind", "national"])).succeeded();
    assert!(place.database_file().exists());
    assert!(place.ok(&["organization", "list"]).contains("Union"));
}

/// The commands and the flags that their help must name.
const HELP: &[(&[&str], &[&str])] = &[
    (
        &[],
        &[
            "organization",
            "role",
            "import",
            "export",
            "check",
            "backup",
            "copy",
            "--database",
            "--json",
        ],
    ),
    (&["organization"], &["create", "list"]),
    (
        &["organization", "create"],
        &[
            "--name",
            "--kind",
            "--parent",
            "--currency",
            "--contact-email",
            "BURSAR_CONTACT_EMAIL",
        ],
    ),
    (&["organization", "list"], &["BURSAR_DATABASE", "BURSAR_JSON"]),
    (&["role"], &["set", "remove", "list"]),
    (
        &["role", "set"],
        &["--organization", "--user", "--role", "BURSAR_ROLE"],
    ),
    (&["role", "remove"], &["--organization", "--user", "BURSAR_USER"]),
    (&["role", "list"], &["--organization", "BURSAR_ORGANIZATION"]),
    (&["import"], &["<FILE>"]),
    (&["export"], &["--organization"]),
    (&["check"], &["--json"]),
    (&["backup"], &["<FILE>"]),
    (&["copy"], &["--to", "BURSAR_TO"]),
];

#[test]
fn help_names_every_command_and_every_flag() {
    let place = Place::sqlite();
    for (command, words) in HELP {
        let help = finish(bursar(place.folder.path()).args(*command).arg("--help")).succeeded();
        for word in *words {
            assert!(
                help.contains(word),
                "bursar {command:?} --help does not name {word}:\n{help}"
            );
        }
    }
    let version = finish(bursar(place.folder.path()).arg("--version")).succeeded();
    let number = concat!("bursar ", env!("CARGO_PKG_VERSION"));
    assert!(
        version.starts_with(number) && version.lines().count() == 1,
        "{version}"
    );
    assert!(!place.database_file().exists(), "help makes no database");
}

#[test]
fn a_mistake_on_the_command_line_is_one_line() {
    let place = Place::sqlite();
    let cases: &[(&[&str], &str)] = &[
        (&["organisation", "list"], "organization"),
        (&["organization", "create", "--name", "X"], "--kind"),
        (
            &["organization", "create", "--name", "X", "--kind", "club"],
            "must be one of",
        ),
        (
            &[
                "role",
                "set",
                "--organization",
                "org_01jbst1c00e00800000000000",
                "--user",
                "a@example.org",
                "--role",
                "admin",
            ],
            "org_",
        ),
        (&["role", "set", "--role", "admin"], "--user"),
        (&["import"], "<FILE>"),
        (&["check", "--fast"], "--fast"),
    ];
    for (args, word) in cases {
        let done = place.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.one_line().contains(word), "{done:?}");
    }
    assert!(!place.database_file().exists());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_and_a_full_output_is() {
    let place = Place::sqlite();
    place.import(place.bundle("roster.ndjson", &roster(2_000).text));
    for args in [&["export"][..], &["organization", "list"]] {
        let mut child = place
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let done = done(child.wait_with_output().unwrap());
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{args:?}");
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = place
            .command(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let failed = crate::support::done(child.wait_with_output().unwrap()).failed();
        assert!(failed.contains("the output cannot be written"), "{failed}");
    }
}

/// An import, exports and role commands at once: nobody fails, and each sees what the others have committed.
#[test]
fn several_processes_work_on_one_file() {
    let place = Place::sqlite();
    let org = make_organization(&place, "Union");
    let roster = roster(3_000);
    let bundle = place.bundle("roster.ndjson", &roster.text);
    let mut import = place.command(&[OsStr::new("import"), bundle.as_os_str()]);
    let mut import = import
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut round, mut ended) = (0, false);
    while !ended {
        // One more round after the import has ended, which must see all of it.
        ended = import.try_wait().unwrap().is_some();
        round += 1;
        let user = format!("person{round}@example.org");
        place.ok(&[
            "role",
            "set",
            "--organization",
            &org,
            "--user",
            &user,
            "--role",
            "viewer",
        ]);
        let listed = place.json(&["role", "list", "--organization", &org]);
        assert_eq!(listed.as_array().unwrap().len(), round, "a role is seen at once");
        let exported = place.export();
        assert_eq!(exported.matches(r#"{"type":"role""#).count(), round);
        let members = exported.matches(r#"{"type":"member""#).count();
        assert!(
            members == 3_000 || (members == 0 && !ended),
            "{members} members: an import is all or nothing"
        );
    }
    done(import.wait_with_output().unwrap()).succeeded();
    place.check();
}
