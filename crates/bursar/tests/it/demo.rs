//! `bursar demo`: from an empty folder to a server with data worth looking at.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use bursar_testing::eventually;
use serde_json::Value;

use crate::cards::{self, Answer};
use crate::support::{Place, finish};

/// A demonstration that runs, and what it said until it was listening.
struct Demo {
    child: Child,
    said: Vec<String>,
}

impl Demo {
    fn start(place: &Place, flags: &[&str]) -> Self {
        Self::start_at(place, "127.0.0.1:0", flags)
    }

    fn start_at(place: &Place, listen: &str, flags: &[&str]) -> Self {
        let mut child = place
            .command(&["demo", "--listen", listen])
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let is_last = line.starts_with("listening on http://") || line.starts_with('{');
            said.push(line);
            if is_last {
                return Self { child, said };
            }
        }
        panic!("it ended with {:?} and said {said:?}", child.wait());
    }

    /// The line that follows a title.
    fn line_below(&self, title: &str) -> &str {
        let at = self.said.iter().position(|line| line.starts_with(title));
        let at = at.unwrap_or_else(|| panic!("{title:?} is not in {:#?}", self.said));
        self.said[at + 1].trim()
    }

    /// Pastes a line into a shell; the answer.
    fn paste(&self, line: &str) -> Value {
        let answer =
            finish(Command::new("sh").args(["-c", &line.replacen("curl ", "curl -sS ", 1)])).succeeded();
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{line}: {error}: {answer}"))
    }

    fn stop(mut self) {
        let told = Command::new("kill")
            .args(["-INT", &self.child.id().to_string()])
            .status();
        assert!(told.unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn records(export: &str) -> BTreeMap<String, Vec<Value>> {
    let mut by_type: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in export.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let kind = record["type"].as_str().unwrap().to_owned();
        by_type.entry(kind).or_default().push(record);
    }
    by_type
}

/// Pastes what a new demonstration prints; returns its data as it was at first.
fn paste_the_lines_of(place: &Place) -> String {
    let demo = Demo::start(place, &[]);
    let made = place.export();
    let list = demo.paste(demo.line_below("Read a list"));
    assert_eq!(list["data"].as_array().unwrap().len(), 2);
    let sync = demo.paste(demo.line_below("See what has changed"));
    assert!(!sync["data"].as_array().unwrap().is_empty(), "{sync}");
    let create = demo.line_below("Create a group");
    let group = demo.paste(create);
    assert_eq!(group["name"], "Night rowers");
    assert_eq!(demo.paste(create), group, "pasted twice, there is one");

    let docs = demo
        .said
        .iter()
        .find_map(|line| line.trim().strip_prefix("Docs "));
    let page = finish(Command::new("curl").args(["-sS", docs.unwrap().trim()])).succeeded();
    assert!(page.contains("<html"), "{page}");
    let token = demo
        .said
        .iter()
        .find_map(|line| line.trim().strip_prefix("Token "));
    let first = token.unwrap().trim().to_owned();
    demo.stop();
    place.check();

    // A second run finds the data as it is, the new group too, and has a token that works.
    let before = place.export();
    let again = Demo::start(place, &["--json"]);
    let told: Value = serde_json::from_str(&again.said[0]).unwrap();
    assert_eq!(told["isNew"], false);
    assert_ne!(told["token"], first.as_str());
    for line in ["curl", "curlSync", "curlCreate"] {
        let answer = again.paste(told[line].as_str().unwrap());
        assert!(answer["error"].is_null(), "{answer}");
    }
    again.stop();
    let after = place.export();
    assert!(
        after == before && after.contains("Night rowers"),
        "the key is still known"
    );
    made
}

fn is_worth_looking_at(place: &Place) {
    let records = records(&place.export());
    let count = |kind: &str| records[kind].len();
    assert_eq!(count("organization"), 7);
    let national = records["organization"]
        .iter()
        .find(|o| o["kind"] == "national")
        .unwrap();
    let national = national["id"].as_str().unwrap();
    assert!((580..=640).contains(&count("member")), "{}", count("member"));
    let is_script = |low: char, high: char| {
        records["member"].iter().any(|member| {
            member["lastName"]
                .as_str()
                .unwrap()
                .chars()
                .any(|c| (low..=high).contains(&c))
        })
    };
    for (low, high) in [
        ('Α', 'ω'),
        ('А', 'я'),
        ('ء', 'ي'),
        ('अ', 'ह'),
        ('一', '龥'),
        ('가', '힣'),
    ] {
        assert!(is_script(low, high), "no name between {low} and {high}");
    }
    // Every state that there is, of everything that has states.
    for (kind, states) in [
        (
            "payment",
            &[
                "pending",
                "processing",
                "partially_paid",
                "paid",
                "failed",
                "cancelled",
                "disputed",
            ][..],
        ),
        (
            "reimbursement",
            &["draft", "submitted", "approved", "rejected", "paid", "voided"],
        ),
        (
            "reminder",
            &["scheduled", "sent", "failed", "completed", "cancelled"],
        ),
        ("card", &["invited", "active", "frozen", "canceled", "denied"]),
        ("campaign", &["draft", "active", "ended"]),
        (
            "storeOrder",
            &["pending", "paid", "fulfilled", "cancelled", "refunded"],
        ),
    ] {
        let found: BTreeSet<&str> = records[kind]
            .iter()
            .filter_map(|r| r["status"].as_str())
            .collect();
        assert_eq!(found, states.iter().copied().collect(), "{kind}");
    }
    assert!(records["group"].iter().any(|group| !group["amountDue"].is_null()));
    assert!(count("storeListing") > 3);
    // A year of payments.
    let months: BTreeSet<&str> = records["payment"]
        .iter()
        .filter_map(|p| p["dueDate"].as_str()?.get(..7))
        .collect();
    assert!(months.len() >= 12, "{months:?}");

    let of_national = ["--organization", national];
    let ledger = place.json(&[&["report", "ledger"][..], &of_national].concat());
    for account in [
        "bank",
        "cash",
        "clearing",
        "disputes",
        "dues",
        "opening",
        "payable",
        "receivable",
        "store",
        "travel",
    ] {
        assert!(
            ledger["sums"].get(account).is_some(),
            "nothing was booked in {account}"
        );
    }
    let lines = place.json(&[&["activity", "--limit", "1000"][..], &of_national].concat());
    let deeds: BTreeSet<&str> = lines
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|l| l["action"].as_str())
        .collect();
    for deed in [
        "receipt.record",
        "payments.raise",
        "member.add",
        "reimbursement.approved",
        "card.create",
        "token.revoke",
    ] {
        assert!(deeds.contains(deed), "{deed} is not among {deeds:?}");
    }
    // People read sentences, and no act is without its words.
    let said = place.ok(&[&["activity", "--limit", "1000"][..], &of_national].concat());
    assert!(!said.contains(" did "), "{said}");
}

/// One demonstration serves all of it: making one takes long.
#[test]
fn one_seed_and_day_make_one_demonstration_that_works() {
    /// The UTC day as the system has it.
    fn today() -> String {
        finish(Command::new("date").args(["-u", "+%F"])).succeeded()
    }
    loop {
        let before = today();
        let (place, beside, other) = (Place::sqlite(), Place::postgres(), Place::sqlite());
        let (first, second) = (paste_the_lines_of(&place), paste_the_lines_of(&beside));
        Demo::start(&other, &["--seed", "8"]).stop();
        let other = other.export();
        // At midnight the days of the three may differ.
        if today() == before {
            assert!(first == second, "one seed, two results");
            assert!(first != other, "two seeds, one result");
            is_worth_looking_at(&place);
            return;
        }
    }
}

#[test]
fn it_keeps_away_from_real_data() {
    let place = Place::sqlite();
    place.ok(&[
        "organization",
        "create",
        "--name",
        "Rowers",
        "--kind",
        "independent",
    ]);
    let before = place.export();
    let said = place.refused(&["demo", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("not the demonstration's"), "{said}");
    assert_eq!(place.export(), before);
}

/// A browser with a member's page open.
struct Payer {
    base: String,
    cookie: String,
}

impl Payer {
    fn open(link: &str) -> Self {
        let mut opened = cards::agent().get(link).call().unwrap();
        assert_eq!(opened.status(), 303, "{:?}", opened.body_mut().read_to_string());
        let cookie = opened.headers()["set-cookie"].to_str().unwrap();
        let base = link.split("/m/").next().unwrap().to_owned();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { base, cookie }
    }

    fn get(&self, path: &str) -> Answer {
        let asked = cards::agent().get(format!("{}{path}", self.base));
        cards::answer(asked.header("cookie", &self.cookie).call())
    }

    /// Starts to pay the first charge, or so much of it; the charge, and the provider's page.
    fn begin(&self, amount: &str) -> (String, String) {
        let page = self.get("/m/").text;
        let first = |field: &str| {
            let (_, rest) = page
                .split_once(&format!("name=\"{field}\" value=\""))
                .unwrap_or_else(|| panic!("{page}"));
            rest.split('"').next().unwrap().to_owned()
        };
        let (key, charge) = (first("key"), first("charge"));
        let field = format!("amount-{charge}");
        let sent = cards::agent()
            .post(format!("{}/m/pay", self.base))
            .header("cookie", &self.cookie)
            .header("sec-fetch-site", "same-origin")
            .send_form([
                ("key", key.as_str()),
                ("charge", charge.as_str()),
                (field.as_str(), amount),
            ]);
        let sent = cards::answer(sent);
        let leading = self
            .get(sent.location.as_ref().unwrap_or_else(|| panic!("{sent:?}")))
            .text;
        let (_, url) = leading.split_once("content=\"0; url=").unwrap();
        (charge, url.split('"').next().unwrap().to_owned())
    }
}

#[test]
fn a_newcomer_pays_by_card() {
    let place = Place::sqlite();
    // The same address in both runs, as a newcomer has it.
    let listen = bursar_testing::free_address().to_string();
    let start = || {
        let demo = Demo::start_at(&place, &listen, &["--json"]);
        let told: Value = serde_json::from_str(&demo.said[0]).unwrap();
        (demo, told["member"].as_str().unwrap().to_owned())
    };
    let (demo, link) = start();
    let payer = Payer::open(&link);
    let (charge, page) = payer.begin("2.00");
    let paid = || {
        place.json(&["payment", "show", &charge])["paidToDate"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = paid();
    assert!(
        page.starts_with(&format!("{}/demo/cards/pay/", payer.base)),
        "{page}"
    );
    let shown = cards::answer(cards::agent().get(&page).call());
    assert!(shown.text.contains("no real card, no money moves"), "{shown:?}");
    assert!(
        shown.text.contains("Pay 2.00 USD") && shown.text.contains("Federation of Community Rowing"),
        "{shown:?}"
    );
    let declined = cards::choose(&page, "0002");
    assert_eq!(declined.status, 422, "{declined:?}");
    // The report tells it, although nobody came back.
    eventually("the member's page says why", || {
        payer
            .get("/m/")
            .text
            .contains("Your card was declined.")
            .then_some(())
    });
    let done = cards::choose(&page, "4242");
    let back = done.location.unwrap();
    assert_eq!(
        cards::choose(&page, "4242").location.as_ref(),
        Some(&back),
        "paid once"
    );
    assert_eq!(
        payer
            .get(back.strip_prefix(&payer.base).unwrap())
            .location
            .unwrap(),
        "/m/?said=paid"
    );
    let after = paid();
    assert_ne!(after, before);

    // What is under way goes on after a restart.
    let (_, page) = payer.begin("3.00");
    demo.stop();
    place.check();
    let (demo, link) = start();
    assert_eq!(cards::choose(&page, "4242").status, 303);
    eventually("the second payment is booked", || (paid() != after).then_some(()));
    let payer = Payer::open(&link);
    let (charge, page) = payer.begin("");
    assert_eq!(cards::choose(&page, "0259").status, 303);
    eventually("the bank disputes it", || {
        (place.json(&["payment", "show", &charge])["status"] == "disputed").then_some(())
    });
    demo.stop();
    place.check();
    // Nothing of the demo goes to Stripe.
    let organization = place.json(&["organization", "list"]);
    let national = organization
        .as_array()
        .unwrap()
        .iter()
        .find(|o| o["kind"] == "national")
        .unwrap();
    let of = ["--organization", national["id"].as_str().unwrap()];
    let refused = place.refused(&[&["provider", "test"][..], &of].concat());
    assert!(refused.contains("need `bursar demo` to be running"), "{refused}");
    let payouts = place.json(&[&["online", "payouts"][..], &of].concat());
    assert!(payouts.as_array().unwrap().len() >= 2, "{payouts}");
}
