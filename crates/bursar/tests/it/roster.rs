//! The roster of treasurers through the real program, and lists that a spreadsheet opens.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::support::{Done, Place, both_engines, finish};

const ROSTER: &str = "\u{feff}First Name;Surname;E-mail;Mobile;Member since;Groups;Birthday\r\n\
    Ada;Larsen;ada@example.org;+1 202 555 0123;2020-03-04;Crew;1990\r\n\
    Ben;O'Neil;ben@example.org;;5 Jan 2021;;\r\n\
    \r\n\
    \"Cy \"\"The Oar\"\"\";Meyer;cy@example.org;;;Crew;\"two\r\nlines\"\r\n";

struct Club<'a> {
    place: &'a Place,
    org: String,
}

impl<'a> Club<'a> {
    fn found(place: &'a Place) -> Self {
        let made = place.json(&[
            "organization",
            "create",
            "--name",
            "River Club",
            "--kind",
            "independent",
        ]);
        let org = made["id"].as_str().unwrap().to_owned();
        place.ok(&["group", "create", "--organization", &org, "--name", "Crew"]);
        place.bundle("roster.csv", ROSTER);
        Club { place, org }
    }

    fn args<'s>(&'s self, file: &'s str, more: &[&'s str]) -> Vec<&'s str> {
        [&["import", file, "--organization", &self.org], more].concat()
    }

    fn import(&self, file: &str, more: &[&str]) -> String {
        self.place.ok(&self.args(file, more))
    }

    fn json(&self, file: &str, more: &[&str]) -> Value {
        self.place.json(&self.args(file, more))
    }

    fn csv(&self, list: &str) -> String {
        self.place
            .ok(&["export", "--csv", list, "--organization", &self.org])
    }

    fn members(&self) -> Vec<Value> {
        let listed = self.place.json(&["member", "list", "--organization", &self.org]);
        listed.as_array().unwrap().clone()
    }
}

fn numbers(told: &Value) -> [&Value; 3] {
    ["added", "changed", "left"].map(|key| &told[key])
}

#[test]
fn a_roster_is_shown_imported_and_undone() {
    both_engines(|place| {
        let club = Club::found(place);
        let before = place.export();
        let shown = club.import("roster.csv", &["--dry-run"]);
        for line in [
            "Mobile        phone",
            "Member since  joinDate",
            "Birthday      (ignored)",
            "2     add     Ada           Larsen     ada@example.org  phone: +1 202 555 0123, joinDate: 2020-03-04, groups: Crew",
            "3     add     Ben           O'Neil     ben@example.org  joinDate: 2021-01-05",
            "5     add     Cy \"The Oar\"  Meyer",
            "3 to add, 0 to change, 0 as they are; a dry run writes nothing",
        ] {
            assert!(
                shown.lines().any(|said| said.starts_with(line)),
                "{line}\n{shown}"
            );
        }
        assert_eq!(place.export(), before);

        let told = club.json("roster.csv", &[]);
        assert_eq!(numbers(&told), [&json!(3), &json!(0), &json!(0)]);
        assert_eq!(told["separator"], json!(";"));
        assert_eq!(
            told["mapping"][4],
            json!({ "column": "Member since", "field": "joinDate", "note": null })
        );
        assert_eq!(told["mapping"][6]["field"], json!(null));
        assert_eq!(
            (
                &told["rows"][2]["line"],
                &told["rows"][2]["action"],
                &told["rows"][2]["firstName"]
            ),
            (&json!(5), &json!("added"), &json!("Cy \"The Oar\""))
        );
        let id = told["id"].as_str().unwrap();
        let undo_file = told["undoFile"].as_str().unwrap();
        assert_eq!(undo_file, format!("roster.csv.undo-{id}.json"));
        let kept: Value =
            serde_json::from_str(&std::fs::read_to_string(place.file(undo_file)).unwrap()).unwrap();
        assert_eq!(
            (&kept["type"], &kept["id"], &kept["organizationId"]),
            (&json!("undo"), &json!(id), &json!(club.org))
        );

        let once = place.export();
        let again = club.import("roster.csv", &[]);
        assert!(
            again.ends_with("\n0 added, 0 changed, 3 as they were: nothing to change\n"),
            "{again}"
        );
        let nothing = club.json("roster.csv", &[]);
        assert_eq!(
            (&nothing["id"], &nothing["undoFile"]),
            (&json!(null), &json!(null))
        );
        assert_eq!(place.export(), once);
        let files = std::fs::read_dir(place.folder.path()).unwrap();
        let undo_files = files.filter(|file| {
            let name = file.as_ref().unwrap().file_name();
            name.to_string_lossy().contains(".undo-")
        });
        assert_eq!(undo_files.count(), 1, "what changes nothing leaves no undo file");

        let dry = place.refused(&["import", "--undo", undo_file, "--dry-run"]);
        assert!(dry.contains("nothing was undone"), "{dry}");
        assert_eq!(place.export(), once);
        let mut undo = place.command(&["import", "--json", "--undo", undo_file]);
        // What is set for other commands does not stand in the way.
        let undone = finish(undo.env("BURSAR_ORGANIZATION", &club.org)).succeeded();
        let undone: Value = serde_json::from_str(&undone).unwrap();
        assert_eq!(undone["reversed"].as_array().unwrap().len(), 3);
        assert_eq!(undone["left"], json!([]));
        assert!(
            club.members()
                .iter()
                .all(|member| member["isActive"] == json!(false))
        );
        for args in [&["import", "--undo", undo_file][..], &["undo", id]] {
            let said = place.refused(args);
            assert!(said.starts_with(&format!("{id} was undone at 2")), "{said}");
        }
        let stays = club.import("roster.csv", &[]);
        assert!(
            stays.contains("3 of them are archived and stay so; --restore takes them out of the archive"),
            "{stays}"
        );
        club.import("roster.csv", &["--restore"]);
        assert!(
            club.members()
                .iter()
                .all(|member| member["isActive"] == json!(true))
        );
        place.check();
    });
}

#[test]
fn a_row_updates_the_member_with_its_e_mail_and_name() {
    both_engines(|place| {
        let club = Club::found(place);
        club.import("roster.csv", &[]);
        place.bundle(
            "Change.CSV",
            "Name,Email,Joined\nADA larsen,Ada@example.org,2019-09-09\nAda Larsson,ada@example.org,\n\
             Ben O'Neil,b.oneil@example.org,\nCy \"The Oar\" Meyer,cy@example.org,\n",
        );
        let told = club.json("Change.CSV", &[]);
        assert_eq!(numbers(&told), [&json!(2), &json!(1), &json!(1)]);
        let change = json!([{ "field": "joinDate", "from": "2020-03-04", "to": "2019-09-09" }]);
        assert_eq!(told["rows"][0]["changes"], change);
        assert_eq!(club.members().len(), 5);

        let said = place.ok(&["undo", told["id"].as_str().unwrap()]);
        assert_eq!(said, "3 reversed, 0 left\n");
        let ada = club
            .members()
            .into_iter()
            .find(|member| member["lastName"] == "Larsen");
        assert_eq!(ada.unwrap()["joinDate"], json!("2020-03-04"));
        place.check();
    });
}

#[test]
fn bad_rows_are_all_told_and_nothing_is_imported() {
    both_engines(|place| {
        let club = Club::found(place);
        place.bundle(
            "bad.csv",
            "First,Last,Email,Joined\nAda,Larsen,nobody,\nBen,,ben@example.org,03/04/2026\n\
             Cy,Meyer,cy@example.org,04/05/2026\nDee,Roe,dee@example.org,2026-02-30\nEve,Stone,nobody\nFay,Roe,a@b,\n",
        );
        let before = place.export();
        for more in [&[][..], &["--dry-run"]] {
            let done = place.run(&club.args("bad.csv", more));
            assert_eq!(done.code, Some(1));
            let said = done.one_line();
            assert_eq!(
                said,
                "bad.csv: line 2: Email: must be one e-mail address such as name@example.org, got `nobody`; and 6 more; \
                 nothing was imported"
            );
            let told: Vec<&str> = done
                .stdout
                .lines()
                .skip_while(|line| !line.contains("problems"))
                .collect();
            assert_eq!(
                told,
                [
                    "6 lines with problems, of 4 causes:",
                    "",
                    "Email: must be one e-mail address such as name@example.org (3 lines)",
                    "  `nobody`: 2 times, first in line 2",
                    "  line 7: `a@b`",
                    "",
                    "Last: is empty, and a member needs a first and a last name (1 line)",
                    "  line 3",
                    "",
                    "Joined: must be a date such as 2026-01-31 (1 line)",
                    "  line 5: `2026-02-30`",
                    "",
                    "Joined: is a date that can be read day first or month first (2 lines)",
                    "  line 3: `03/04/2026`",
                    "  line 4: `04/05/2026`",
                    "  → say --dates day-first or --dates month-first",
                    "",
                    "Correct the file where no flag helps, and add --dates day-first|month-first",
                ]
            );
        }
        let Done { code, stdout, .. } = finish(place.command(&club.args("bad.csv", &[])).arg("--json"));
        let told: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((code, told["problems"].as_array().unwrap().len()), (Some(1), 7));
        assert_eq!(
            told["problems"][0],
            json!({ "line": 2, "column": "Email", "message": "must be one e-mail address such as name@example.org, got `nobody`" })
        );
        assert_eq!(place.export(), before);
    });
}

#[test]
fn what_is_not_a_roster_is_refused_in_one_line() {
    let place = Place::sqlite();
    let club = Club::found(&place);
    let bundle =
        "{\"type\":\"user\",\"id\":\"usr_01h455vb4pex5vsknk084sn02q\",\"email\":\"a@example.org\"}\n";
    place.bundle("bundle.ndjson", bundle);
    place.bundle("roster.txt", "Name\tEmail\nAda Larsen\tada@example.org\n");
    place.bundle("empty.csv", "");
    place.bundle("twice.csv", "Name,Email,E-mail\n");
    place.bundle("open.csv", "Name,Email\n\"Ada Larsen,ada@example.org\n");
    std::fs::write(place.file("wide.csv"), b"\xff\xfeR\0a\0n\0k\0").unwrap();
    std::fs::write(
        place.file("latin.csv"),
        b"Name,Email\nBj\xf8rn Dahl,b@example.org\n",
    )
    .unwrap();
    std::fs::write(
        place.file("old.csv"),
        b"Name,Email\nBj\xbfrn Dahl,b@example.org\n",
    )
    .unwrap();
    place.bundle("cut.csv", "Name,Email,Phone\nAda Larsen,ada@exam");
    place.bundle("bell.csv", "Name,Email\nAda\u{7} Larsen,ada@example.org\n");
    place.bundle("long.csv", &format!("Name,Email\n{}", "x".repeat((1 << 20) + 1)));
    let before = place.export();
    let org = &["--organization", &club.org][..];
    for (file, flags, words) in [
        (
            "bundle.ndjson",
            org,
            "--organization (or its variable) is for a roster",
        ),
        (
            "bundle.ndjson",
            &["--dry-run"],
            "--dry-run (or its variable) is for a roster",
        ),
        (
            "roster.txt",
            &["--restore"],
            "--restore (or its variable) is for a roster",
        ),
        ("empty.csv", org, "the file is empty"),
        ("twice.csv", org, "`Email` and `E-mail`"),
        ("open.csv", org, "line 2: a quotation mark"),
        ("wide.csv", org, "no column of it is firstName or lastName"),
        (
            "latin.csv",
            org,
            "line 2: is not UTF-8; decoded as windows-1252, it contains these words, got `Bjørn`",
        ),
        ("old.csv", org, "line 2 is not UTF-8"),
        ("cut.csv", org, "line 2: is the last line, has too few cells"),
        ("bell.csv", org, "line 2 has the control character U+0007"),
        ("long.csv", org, "line 2 has 1048577 bytes"),
        ("absent.csv", org, "cannot be read"),
        (
            "roster.csv",
            &["--organization", "org_01jbst1c00e008000000000000"],
            "does not exist",
        ),
    ] {
        // What a row is refused for is on standard output too.
        let said = place.run(&[&["import", file], flags].concat()).one_line();
        assert!(
            said.starts_with(file) && said.contains(words),
            "{file} {flags:?}: {said}"
        );
    }
    let said = place.refused(&["import", "--undo", "roster.csv"]);
    assert!(said.contains("is not an undo file"), "{said}");
    assert_eq!(place.export(), before);
    assert_eq!(
        numbers(&club.json("roster.txt", &["--dry-run"])),
        [&json!(1), &json!(0), &json!(0)],
        "an organization makes a file of any name a roster"
    );
    place.import("bundle.ndjson");
}

#[test]
fn a_list_of_members_is_a_roster() {
    both_engines(|place| {
        let club = Club::found(place);
        place.bundle(
            "formulas.csv",
            "First,Last,Email,Groups\n'=1+1,-Dash,'=x@example.org,\n\"Ann, \"\"A\"\"\",'t Hooft,ann@example.org,Crew\n\
             ''=twice,@at,twice@example.org,\n",
        );
        club.import("formulas.csv", &[]);
        assert_eq!(club.members()[0]["firstName"], json!("=1+1"));
        let csv = club.csv("members");
        assert!(
            csv.starts_with(
                "id,firstName,lastName,email,phone,isActive,joinDate,groups,createdAt,updatedAt\n"
            ),
            "{csv}"
        );
        for part in [
            ",'=1+1,'-Dash,'=x@example.org,",
            ",\"Ann, \"\"A\"\"\",'t Hooft,",
            ",''=twice,'@at,",
        ] {
            assert!(csv.contains(part), "{part}\n{csv}");
        }
        place.bundle("members.csv", &csv);
        let before = place.export();
        let told = club.json("members.csv", &[]);
        assert_eq!(numbers(&told), [&json!(0), &json!(0), &json!(3)]);
        assert_eq!(place.export(), before);

        for list in [
            "groups",
            "payments",
            "reimbursements",
            "reminders",
            "cards",
            "campaigns",
            "store-listings",
            "store-orders",
        ] {
            let rows = club.csv(list).lines().count();
            assert_eq!(rows, if list == "groups" { 2 } else { 1 }, "{list}");
        }
        let both = finish(
            place
                .command(&["export", "--csv", "groups", "--organization", &club.org])
                .arg("--json"),
        );
        assert!(both.failed().contains("--csv and --json"));
        let missing = place.refused(&[
            "export",
            "--csv",
            "groups",
            "--organization",
            "org_01jbst1c00e008000000000000",
        ]);
        assert!(missing.contains("does not exist"), "{missing}");
    });
}

const MESSY: &[u8] = include_bytes!("../../../../fixtures/roster/members.csv");

/// The cells of the messy sheet that only a person can correct.
const CORRECTIONS: [(&str, &str); 6] = [
    ("emma.petersen(at)example.org", "emma.petersen@example.org"),
    (";see husband;", ";yara.weber@example.org;"),
    ("4,91714E+11", "0171 3920014"),
    ("31.02.2018", "28.02.2018"),
    ("\nConti;", "\nConti, Karla;"),
    ("Rowng", "Rowing"),
];

/// Windows-1252 has these letters where Unicode has them.
fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

#[test]
fn a_file_may_have_a_name_that_is_not_utf8() {
    let place = Place::sqlite();
    let club = Club::found(&place);
    let name = OsStr::from_bytes(b"caf\xe9.csv");
    std::fs::write(place.folder.path().join(name), ROSTER).unwrap();
    let more = ["--organization", &club.org, "--create-groups"].map(OsStr::new);
    let told = place.json(&[&[OsStr::new("import"), name][..], &more].concat());
    assert_eq!(
        (&told["file"], &told["added"]),
        (&json!("caf\u{fffd}.csv"), &json!(3))
    );
}

fn corrected() -> String {
    CORRECTIONS.iter().fold(latin(MESSY), |text, (wrong, right)| {
        assert_eq!(text.matches(wrong).count(), 1, "{wrong}");
        text.replace(wrong, right)
    })
}

#[test]
fn a_messy_sheet_is_imported_in_two_tries() {
    both_engines(|place| {
        let club = Club::found(place);
        std::fs::write(place.file("members.csv"), MESSY).unwrap();
        let before = place.export();
        let first = finish(
            place
                .command(&club.args("members.csv", &["--dry-run"]))
                .arg("--json"),
        );
        let told: Value = serde_json::from_str(&first.stdout).unwrap();
        assert_eq!(
            (first.code, &told["flags"], &told["encoding"], &told["headerLine"]),
            (
                Some(1),
                &json!(["--create-groups", "--encoding windows-1252"]),
                &json!("windows-1252"),
                &json!(4)
            )
        );
        let skipped: Vec<&Value> = told["skipped"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| &line["line"])
            .collect();
        assert_eq!(skipped, [1, 2, 87, 160, 161]);
        let causes = told["causes"].as_array().unwrap();
        let by_hand: Vec<String> = causes
            .iter()
            .filter(|cause| cause["flag"].is_null())
            .map(|cause| format!("{} {}", cause["column"], cause["lines"]))
            .collect();
        assert_eq!(
            by_hand,
            [
                "\"E-Mail\" [30,97]",
                "\"Mobile\" [53]",
                "\"Member since\" [125]",
                "\"Name\" [151]"
            ]
        );
        assert_eq!(place.export(), before);

        // The second try, after the corrections, in the encoding of the sheet and in the one that is asked for.
        let flags = &["--create-groups", "--encoding", "windows-1252"][..];
        let bytes: Vec<u8> = corrected().chars().map(|c| u8::try_from(c).unwrap()).collect();
        std::fs::write(place.file("members.csv"), bytes).unwrap();
        place.bundle("utf8.csv", &format!("\u{feff}{}", corrected()));
        let dry = club.json("members.csv", &[flags, &["--dry-run"]].concat());
        let same = club.json("utf8.csv", &["--create-groups", "--dry-run"]);
        assert_eq!((&dry["rows"], &dry["mapping"]), (&same["rows"], &same["mapping"]));
        assert_eq!(place.export(), before);

        let done = club.json("members.csv", flags);
        assert_eq!(numbers(&done), [&json!(145), &json!(0), &json!(0)]);
        let repeats = done["repeats"].as_array().unwrap();
        let exact = repeats.iter().filter(|repeat| repeat["isExact"] == json!(true));
        assert_eq!((repeats.len(), exact.count()), (5, 3));
        let groups: Vec<&Value> = done["newGroups"]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| &group["name"])
            .collect();
        assert_eq!(groups, ["Juniors", "Sailing", "Canoe", "Rowing", "Board"]);
        let row = |line: u64| {
            let rows = done["rows"].as_array().unwrap();
            rows.iter()
                .find(|row| row["line"] == json!(line))
                .unwrap()
                .clone()
        };
        let henrik = row(12);
        assert_eq!(
            (&henrik["firstName"], &henrik["lastName"], &henrik["joinDate"]),
            (&json!("Henrik"), &json!("König"), &json!("2019-05-13"))
        );
        assert_eq!(row(16)["isActive"], json!(false));
        let members = club.members();
        assert_eq!(members.len(), 145);
        let family = members
            .iter()
            .filter(|member| member["email"] == "paul.andersen@example.org");
        assert_eq!(family.count(), 2, "a family shares an address");
        let phones = club.csv("members");
        assert!(phones.contains("'+49 171"), "without the zero of +49 (0)171");

        let again = club.json("utf8.csv", &["--create-groups"]);
        assert_eq!(numbers(&again), [&json!(0), &json!(0), &json!(145)]);
        place.bundle("again.csv", &phones);
        assert_eq!(
            numbers(&club.json("again.csv", &[])),
            [&json!(0), &json!(0), &json!(145)]
        );
        place.check();
    });
}

#[test]
fn groups_are_replaced_when_asked() {
    both_engines(|place| {
        let club = Club::found(place);
        place.bundle("a.csv", "Name,Email,Groups\nAda Larsen,ada@example.org,Crew\n");
        place.bundle("b.csv", "Name,Email,Groups\nAda Larsen,ADA@example.org,Choir\n");
        club.import("a.csv", &[]);
        let shown = club.import("b.csv", &["--create-groups", "--replace-groups", "--dry-run"]);
        for part in [
            "replaces members' groups",
            "groups: Crew → Choir",
            "Groups to create: `Choir` (1 member)",
        ] {
            assert!(shown.contains(part), "{part}\n{shown}");
        }
        let done = club.json("b.csv", &["--create-groups", "--replace-groups"]);
        assert_eq!(numbers(&done), [&json!(0), &json!(1), &json!(0)]);
        assert_eq!(done["rows"][0]["groups"], json!(["Choir"]));
        place.check();
        place.ok(&["undo", done["id"].as_str().unwrap()]);
        assert_eq!(club.members()[0]["groups"].as_array().unwrap().len(), 1);
        assert_eq!(
            club.json("a.csv", &["--replace-groups", "--dry-run"])["left"],
            json!(1),
            "she is in the crew again"
        );
        place.check();
    });
}
