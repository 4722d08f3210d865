//! A member who touched everything is exported and erased by command while a server runs; then nothing names the member:
//! not in the files of the database, in a dump, in an export, or in the outbox.

use std::process::Command;

use bursar_testing::{Engine, eventually};
use serde_json::{Value, json};

use crate::api::bundle::{NATIONAL, organization};
use crate::api::world::{World, on_both_engines};
use crate::console_sign_in::letters;

on_both_engines! {
    nothing_names_a_member_who_was_erased
    open_money_keeps_a_member
}

/// In lower case: names, addresses, a phone number and an account of the member, now and earlier, and what was written.
const NEEDLES: [&str; 9] = [
    "zaubermannova",
    "oldnamova",
    "xanthippe",
    "unusual.example",
    "9988776",
    "99 88 776",
    "de89370400440532013000",
    "a secret of hers",
    "ticket for a boat",
];

fn found(bytes: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    NEEDLES
        .into_iter()
        .filter(|needle| text.contains(needle))
        .collect()
}

/// The files of an SQLite database, or a dump of PostgreSQL.
fn database(world: &World) -> Vec<u8> {
    if world.place.is_sqlite() {
        let mut bytes = std::fs::read(world.place.database_file()).unwrap();
        for end in ["-wal", "-shm"] {
            let mut name = world.place.database_file().into_os_string();
            name.push(end);
            bytes.extend(std::fs::read(name).unwrap_or_default());
        }
        return bytes;
    }
    let dump = Command::new("pg_dump")
        .arg(&world.place.database)
        .output()
        .unwrap();
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    dump.stdout
}

fn proves(world: &World) {
    let checked = world.output(&["check"]);
    assert!(checked.status.success(), "{checked:?}");
}

struct Club<'w> {
    world: &'w World,
    of: String,
    admin: String,
}

impl<'w> Club<'w> {
    fn new(world: &'w World) -> Self {
        let of = organization(NATIONAL);
        let roles = world.run(&["role", "list", "--organization", &of]);
        let admin = roles
            .as_array()
            .unwrap()
            .iter()
            .find(|role| role["role"] == "admin");
        let admin = admin.unwrap()["email"].as_str().unwrap().to_owned();
        Self { world, of, admin }
    }

    fn run(&self, args: &[&str]) -> Value {
        self.world.run(&[args, &["--organization", &self.of]].concat())
    }

    fn as_admin(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--as", &self.admin]].concat())
    }

    fn refused(&self, args: &[&str]) -> String {
        let done = self.world.output(&[args, &["--organization", &self.of]].concat());
        assert!(!done.status.success(), "{args:?}");
        String::from_utf8_lossy(&done.stderr).into_owned()
    }

    fn add(&self) -> String {
        let member = self.run(&[
            "member",
            "add",
            "--first-name",
            "Xanthippe",
            "--last-name",
            "Oldnamova",
            "--email",
            "x.old@unusual.example",
            "--phone",
            "+49 170 9988776",
        ]);
        member["id"].as_str().unwrap().to_owned()
    }
}

/// By the API with a key, a roster, charges, money, a bank line, a claim with a file, messages and other people's texts.
fn live(club: &Club<'_>, id: &str) {
    let renamed = json!({"lastName": "Zaubermannova", "email": "xanthippe@unusual.example"});
    let call = club.world.admin().patch(&format!("/v1/members/{id}"));
    assert_eq!(call.key("renamed").json(renamed).status, 200);
    let place = &club.world.place;
    let roster = place.bundle(
        "roster.csv",
        "First name,Last name,Email,Phone\nXanthippe,Zaubermannova,xanthippe@unusual.example,0170 / 99 88 776 1\n",
    );
    club.run(&["import", roster.to_str().unwrap()]);
    let raise = [
        "payment",
        "raise",
        "--amount",
        "25.00",
        "--description",
        "A secret of hers",
        "--member",
        id,
    ];
    club.run(&raise);
    let reference = "check of Zaubermannova";
    let record = [
        "receipt",
        "record",
        "--amount",
        "10.00",
        "--method",
        "check",
        "--payer",
        id,
        "--reference",
        reference,
    ];
    club.run(&record);
    let csv = "Booking date;Amount;Name;IBAN;Purpose\n\
               2026-01-05;15.00;ZAUBERMANNOVA XANTHIPPE;DE89370400440532013000;boat\n\
               2026-01-06;7.00;X. Zaubermannova;DE89 3704 0044 0532 0130 00;call 0170 99 88 776 1\n";
    let statement = place.bundle("bank.csv", csv);
    club.run(&[
        "statement",
        "import",
        statement.to_str().unwrap(),
        "--account",
        "bank",
    ]);
    let lines = club.run(&["statement", "show", "--open"]);
    let line = lines
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line["amount"] == "15.00")
        .unwrap();
    club.run(&["statement", "confirm", line["id"].as_str().unwrap()]);
    let draft = [
        "reimbursement",
        "draft",
        "--member",
        id,
        "--amount",
        "12.00",
        "--description",
        "Ticket for a boat",
    ];
    let claim = club.run(&draft)["id"].as_str().unwrap().to_owned();
    let file = place.bundle(
        "zaubermannova.pdf",
        "%PDF-1.7\nTicket of Xanthippe Zaubermannova\n",
    );
    club.run(&["attach", file.to_str().unwrap(), "--to", &claim]);
    let note = ["--note", "for Zaubermannova"];
    for (verb, flags) in [("submit", &[][..]), ("approve", &note), ("pay", &[])] {
        club.as_admin(&[&["reimbursement", verb, &claim, "--yes"], flags].concat());
    }
    let group = club.run(&["group", "list"])[0]["id"].as_str().unwrap().to_owned();
    let text = "Ask Xanthippe Zaubermannova, 0170 99887761";
    club.run(&["group", "set", &group, "--description", text]);
    let remind = [
        "reminder",
        "schedule",
        "--at",
        "now",
        "--subject",
        "Hello Zaubermannova",
        "--member",
        id,
    ];
    club.run(&[&remind[..], &["--body", "Dear {name}"]].concat());
    eventually("the message is written", || {
        let is_it = |letter: &String| letter.contains("xanthippe@unusual.example");
        letters(club.world).iter().any(is_it).then_some(())
    });
    eventually("its attempt is recorded", || {
        let messages = club.run(&["messages"]);
        let messages = messages.as_array().unwrap();
        let is_it = |message: &&Value| message["recipientId"] == id || message["recipient"] == id;
        let written = messages.iter().filter(|message| message["state"] == "written");
        (written.count() > 0 || messages.iter().any(|message| is_it(&message))).then_some(())
    });
}

fn nothing_names_a_member_who_was_erased(engine: Engine) {
    // In a process of its own: who reads the file in this one would release SQLite's locks.
    let world = World::apart(engine, &[]);
    let club = Club::new(&world);
    let id = club.add();
    live(&club, &id);
    assert_eq!(found(&database(&world)), NEEDLES);

    // Everything that is known.
    let pdf = world.place.file("known.pdf");
    let known = club.run(&["member", "export", &id, "--pdf", pdf.to_str().unwrap()]);
    assert_eq!(known["member"]["lastName"], "Zaubermannova");
    assert_eq!(known["member"]["bankAccounts"], json!(["DE89370400440532013000"]));
    for (part, least) in [
        ("payments", 1),
        ("receipts", 2),
        ("journalEntries", 4),
        ("reimbursements", 1),
        ("attachments", 1),
        ("messages", 1),
        ("reminders", 1),
        ("statementLines", 1),
        ("activity", 3),
        ("events", 4),
    ] {
        let count = known[part].as_array().unwrap().len();
        assert!(count >= least, "{part}: {count} in {known}");
    }
    assert_eq!(known["messages"][0]["address"], "xanthippe@unusual.example");
    assert!(std::fs::read(&pdf).unwrap().starts_with(b"%PDF-"));
    std::fs::remove_file(&pdf).unwrap();
    let as_viewer = club.refused(&["member", "export", &id, "--as", "nobody@example.org"]);
    assert!(!as_viewer.contains("Zaubermannova"), "{as_viewer}");

    // A preview changes nothing.
    let plan = club.run(&["member", "erase", &id, "--dry-run"]);
    assert_eq!(plan["open"], json!([]), "{plan}");
    let mentions = plan["mentions"].to_string();
    for text in ["Ask Xanthippe Zaubermannova", "X. Zaubermannova"] {
        assert!(mentions.contains(text), "{mentions}");
    }
    assert_eq!(found(&database(&world)), NEEDLES);
    let books = club.run(&["account", "list"]);

    // Mirrors learn it as a change.
    let before = world.admin().get(&format!("/v1/members/{id}")).json();
    let since = before["updatedAt"].as_str().unwrap();
    club.run(&[
        "member",
        "erase",
        &id,
        "--reason",
        "asked by Zaubermannova",
        "--yes",
    ]);
    let path = format!("/v1/members?updatedSince={}", since.replace('+', "%2B"));
    let changed = world.admin().walk(&path);
    let erased = changed.iter().find(|member| member["id"] == id.as_str()).unwrap();
    assert_eq!(
        (
            &erased["firstName"],
            &erased["lastName"],
            &erased["email"],
            &erased["isActive"]
        ),
        (&json!("Erased"), &json!("member"), &json!(null), &json!(false))
    );
    assert!(erased["updatedAt"].as_str().unwrap() > since);
    let events = world.admin().walk(&format!("/v1/events?resourceId={id}"));
    assert_eq!(events.last().unwrap()["type"], "member.archived");
    assert_eq!(found(json!(events).to_string().as_bytes()), [] as [&str; 0]);
    let again = world.admin().patch(&format!("/v1/members/{id}")).key("renamed");
    let replayed = again.json(json!({"lastName": "Zaubermannova", "email": "xanthippe@unusual.example"}));
    assert_eq!(
        (replayed.status, replayed.json()["lastName"].as_str()),
        (200, Some("member"))
    );

    // Nothing is left, also in the raw file while the server runs.
    club.world.run(&["compact"]);
    assert_eq!(found(&database(&world)), [] as [&str; 0]);
    let export = world.output(&["export"]);
    assert_eq!(found(&export.stdout), [] as [&str; 0]);
    for letter in letters(&world) {
        assert_eq!(found(letter.as_bytes()), [] as [&str; 0], "{letter}");
    }
    assert_eq!(club.run(&["account", "list"]), books);
    proves(&world);
    let refused = club.refused(&["member", "restore", &id]);
    assert!(refused.contains("was erased on"), "{refused}");
}

fn open_money_keeps_a_member(engine: Engine) {
    let world = World::new(engine);
    let club = Club::new(&world);
    let id = club.add();
    let charge = club.run(&[
        "payment",
        "raise",
        "--amount",
        "25.00",
        "--description",
        "Boat",
        "--member",
        &id,
    ]);
    let charge = charge["payments"][0]["id"].as_str().unwrap().to_owned();
    let erase = ["member", "erase", &id, "--reason", "asked for it", "--yes"];
    let refused = club.refused(&erase);
    assert!(refused.contains("25.00 USD is open in 1 charge"), "{refused}");
    let record = [
        "receipt", "record", "--amount", "30.00", "--method", "cash", "--payer", &id,
    ];
    club.run(&record);
    let refused = club.refused(&erase);
    assert!(refused.contains("5.00 USD is credit"), "{refused}");
    club.run(&["credit", "refund", "--member", &id, "--amount", "5.00"]);
    let draft = ["reimbursement", "draft", "--member", &id, "--amount", "12.00"];
    let claim = club.run(&draft)["id"].as_str().unwrap().to_owned();
    let refused = club.refused(&erase);
    assert!(refused.contains("1 reimbursement is not settled"), "{refused}");
    club.run(&["reimbursement", "void", &claim, "--yes"]);
    // Only admins may, and only with a reason and a yes.
    let refused = club.refused(&["member", "erase", &id, "--yes"]);
    assert!(refused.contains("--reason"), "{refused}");
    let refused = club.refused(&["member", "erase", &id, "--reason", "asked for it"]);
    assert!(refused.contains("--yes"), "{refused}");
    club.run(&erase);
    let kept = club.run(&["payment", "show", &charge]);
    assert_eq!(found(kept.to_string().as_bytes()), [] as [&str; 0]);
    let refused = club.refused(&erase);
    assert!(refused.contains("was erased on"), "{refused}");
    let set = ["organization", "set", &club.of, "--retention-years", "7"];
    assert_eq!(world.run(&set)["retentionYears"], 7);
    proves(&world);
}
