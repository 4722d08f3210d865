//! A year of a club, played through the commands of the real program while the clock on the wall moves from month to
//! month, on both engines. A model in memory goes along; what each command prints, what the reports add up to and what
//! the API shows at the end is what the model expects.

mod books;
mod club;
mod end;
mod model;
mod readers;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::support::Place;
use club::{Club, Debtor, in_days};
use model::{Campaign, Card, Made, Reminder};

#[test]
fn on_sqlite() {
    a_year(&Place::sqlite());
}

#[test]
fn on_postgres() {
    a_year(&Place::postgres());
}

/// The dues fall on the last day of each month, whatever its length.
const LAST_DAYS: [&str; 13] = [
    "2028-01-31",
    "2028-02-29",
    "2028-03-31",
    "2028-04-30",
    "2028-05-31",
    "2028-06-30",
    "2028-07-31",
    "2028-08-31",
    "2028-09-30",
    "2028-10-31",
    "2028-11-30",
    "2028-12-31",
    "2029-01-31",
];

const TREASURER: &str = "treasurer@example.org";
const ADA: &str = "ada@example.org";
const EDITOR: &str = "editor@example.org";
const VIEWER: &str = "viewer@example.org";

/// What the story comes back to.
#[derive(Default)]
struct Story {
    disputed: usize,
    lost: usize,
    damage: usize,
    roof: usize,
    travel: usize,
    late: Vec<(usize, i64)>,
    newsletter: usize,
    statement: usize,
}

fn a_year(place: &Place) {
    let mut club = Club::found(
        place,
        "2028-01-05",
        &[
            "--name",
            "River Club",
            "--kind",
            "national",
            "--contact-email",
            "office@example.org",
        ],
    );
    let mut chapter = Club::found(
        place,
        "2028-01-05",
        &["--name", "North Bank", "--kind", "chapter", "--parent", &club.id],
    );
    let mut harbour = Club::found(
        place,
        "2028-01-05",
        &["--name", "Harbour Club", "--kind", "independent"],
    );
    let mut books = books::found(&harbour);
    for (email, role) in [
        (TREASURER, "admin"),
        (ADA, "admin"),
        (EDITOR, "editor"),
        (VIEWER, "viewer"),
    ] {
        club.run(&[
            "role",
            "set",
            "--organization",
            &club.id,
            "--user",
            email,
            "--role",
            role,
        ]);
    }
    club.make_group("Rowers", "Those who row.\nTwice a week.");
    club.make_group("Coxes", "");
    club.set_dues("Rowers", (4_000, LAST_DAYS[0].to_owned(), Some("monthly")));
    for first in ["Ada", "Ben", "Cleo", "Dov", "Eve", "Fay"] {
        let groups: &[&str] = if first == "Ben" {
            &["Rowers", "Coxes"]
        } else {
            &["Rowers"]
        };
        club.add_member(first, Some("2027-06-01"), groups);
    }
    let mut story = Story::default();
    for month in 1..=12 {
        // The first days: what comes late, and what else there is to do.
        club.today = format!("2028-{month:02}-10");
        for (payment, cents) in std::mem::take(&mut story.late) {
            club.record(payment, cents, "check", Some("late"));
        }
        of_the_month(&mut club, &chapter.id, month, &mut story);
        harbour.today = club.today.clone();
        books::of_the_month(&harbour, month, &mut books);
        // The last day: dues.
        club.today = LAST_DAYS[month - 1].to_owned();
        dues_day(&mut club, month, &mut story);
    }
    chapter_life(&mut chapter);
    chapter.today = club.today.clone();
    harbour.today = club.today.clone();
    books::end(&harbour);
    end::the_end(&club, &chapter);
}

/// Dues are raised, by the command or by a worker, and some of them paid at once.
fn dues_day(club: &mut Club<'_>, month: usize, story: &mut Story) {
    let next = LAST_DAYS[month];
    if month == 11 {
        // Who joins on the day itself is charged.
        club.join("Dov", "Rowers");
    }
    let raised = if month == 7 {
        let known = club.payments.len() + 5;
        club.work_until(|club| {
            let listed = club.run(&["payment", "list", "--organization", &club.id]);
            let sending = ["scheduled", "sending"].map(|status| {
                let args = ["reminder", "list", "--organization", &club.id, "--status", status];
                let listed = club.run(&args);
                let due = |row: &&Value| row["scheduledAt"].as_str().unwrap() < "2028-08-01";
                listed.as_array().unwrap().iter().filter(due).count()
            });
            listed.as_array().unwrap().len() == known && sending == [0, 0]
        });
        reminders_were_sent(club, story);
        club.learn_dues("Rowers", next)
    } else {
        club.raise_dues("Rowers", next)
    };
    let charged = [6, 7, 7, 6, 5, 5, 5, 5, 6, 6, 7, 7];
    assert_eq!(raised.len(), charged[month - 1], "month {month}");
    for (i, payment) in raised.into_iter().enumerate() {
        match (month + i) % 5 {
            0 => club.record(payment, 4_000, "transfer", Some("standing order")),
            1 => {
                club.record(payment, 1_550, "cash", None);
                story.late.push((payment, 2_450));
            }
            2 => {
                club.record(payment, 1, "card", Some("a try"));
                let id = club.payments[payment].is.id.clone();
                let args = ["payment", "record", &id, "--amount", "40.00", "--method", "cash"];
                club.refused(&args, "39.99 is still owed, and 40.00 is more");
            }
            3 => story.late.push((payment, 4_000)),
            _ => {}
        }
    }
    if month == 12 {
        // The year ends before they come.
        story.late.clear();
    }
}

fn of_the_month(club: &mut Club<'_>, chapter: &str, month: usize, story: &mut Story) {
    match month {
        1 => {
            story.roof = club.plan(Campaign {
                is: Made::new("", ""),
                name: "Roof",
                note: Some("It rains in"),
                goal: Some(100_000),
                start: Some("2028-03-01".into()),
                end: Some("2028-11-30".into()),
                status: "draft",
            });
            let id = club.campaigns[story.roof].is.id.clone();
            club.refused(
                &["campaign", "set", &id, "--end-date", "2028-02-01"],
                "must not be before the start",
            );
            club.refused(&["campaign", "end", &id], "cannot become ended");
        }
        2 => {
            club.add_member("Gus", None, &["Rowers"]);
            reimbursements(club, chapter);
            let stranger = [
                "member",
                "add",
                "--organization",
                &club.id,
                "--first-name",
                "X",
                "--last-name",
                "Y",
                "--email",
                "x",
            ];
            club.refused(&stranger, "email");
        }
        3 => {
            story.disputed = club.charge_member("Ada", 1_200, "Regatta", "2028-03-31");
            story.lost = club.charge_member("Dov", 3_000, "Oar", "2028-03-20");
            club.record(story.disputed, 1_200, "transfer", None);
            club.record(story.lost, 3_000, "card", None);
            cards_first(club, story);
            let roof = story.roof;
            club.change_campaign(roof, &["start"], |campaign| campaign.status = "active");
        }
        4 => {
            let members = [club.members["Fay"].is.id.clone(), club.id.clone()];
            club.set_active("Fay", false);
            let args = [
                "payment",
                "raise",
                "--organization",
                &members[1],
                "--member",
                &members[0],
                "--amount",
                "5",
            ];
            club.refused(&args, "archived");
            club.move_payment(story.disputed, &["dispute"]);
            club.move_payment(story.lost, &["dispute"]);
            let id = club.payments[story.disputed].is.id.clone();
            club.refused(
                &["payment", "record", &id, "--amount", "1", "--method", "cash"],
                "nothing can be received",
            );
            story.damage = club.charge_member("Ben", 9_900, "Boat damage", "2028-06-30");
            // Part of it came before it is called off: that is in the ledger for good, unless it bounces.
            club.record(story.damage, 905, "cash", None);
            club.record(story.damage, 1_100, "check", None);
        }
        5 => {
            club.leave("Dov", "Rowers");
            let (group, member) = (
                club.groups["Rowers"].is.id.clone(),
                club.members["Dov"].is.id.clone(),
            );
            club.refused(&["group", "remove-member", &group, &member], "not in the group");
            club.move_payment(story.disputed, &["resolve", "--outcome", "paid"]);
            club.move_payment(story.lost, &["resolve", "--outcome", "failed"]);
            let (id, entry) = {
                let lost = &club.payments[story.lost];
                (lost.is.id.clone(), lost.entries[0].id.clone().unwrap())
            };
            club.refused(
                &["payment", "reverse", &id, "--entry", &entry],
                "was reversed before",
            );
            club.move_payment(story.damage, &["cancel"]);
            let id = club.payments[story.damage].is.id.clone();
            club.refused(&["payment", "cancel", &id], "nothing more can happen");
            club.refused(
                &["payment", "record", &id, "--amount", "1", "--method", "cash"],
                "nothing can be received",
            );
        }
        6 => {
            club.reverse(story.disputed, 0, "the check bounced");
            club.reverse(story.damage, 1, "the check bounced");
            // A bulk charge is undone as far as nothing has moved on.
            club.join("Ada", "Coxes");
            club.join("Cleo", "Coxes");
            let (raised, act) = club.charge(Debtor::Group("Coxes"), 777, "Whistles", Some("2028-06-30"));
            assert_eq!(raised.len(), 3);
            club.record(raised[1], 700, "cash", None);
            club.undo_charge(&act, &[raised[0], raised[2]], &[raised[1]]);
            club.refused(&["undo", &act], "was undone at");
            store(club);
        }
        7 => {
            club.record(story.disputed, 1_200, "transfer", Some("once more"));
            reminders(club, story);
        }
        8 => {
            club.call_off(story.newsletter);
            let id = club.reminders[story.newsletter].is.id.clone();
            club.refused(
                &["reminder", "cancel", &id, "--organization", &club.id],
                "cannot become cancelled",
            );
            let dues = club
                .charge(Debtor::Chapter(chapter), 50_000, "Federation", Some("2028-08-31"))
                .0[0];
            club.record(dues, 20_000, "transfer", Some("first half"));
            let deposit = club.charge(Debtor::Chapter(chapter), 450, "Key deposit", None).0[0];
            club.record(deposit, 50, "cash", None);
            let stranger = [
                "payment",
                "raise",
                "--organization",
                &club.id,
                "--chapter",
                &club.id,
                "--amount",
                "5",
            ];
            club.refused(&stranger, "not a direct child chapter");
        }
        9 => {
            club.set_active("Fay", true);
            club.join_by_mistake(&["Eve", "Gus"], "Coxes");
            let by_viewer = ["payment", "cancel", &club.payments[0].is.id, "--as", VIEWER];
            club.refused(&by_viewer, "editor");
        }
        10 => {
            club.rename("Cleo", "Larsen-Rossi");
            cards_last(club, story);
        }
        11 => {
            let boat = club.plan(Campaign {
                is: Made::new("", ""),
                name: "Boat",
                note: None,
                goal: None,
                start: None,
                end: None,
                status: "draft",
            });
            club.change_campaign(
                boat,
                &["set", "--goal", "12000", "--note", "An eight"],
                |campaign| {
                    (campaign.goal, campaign.note) = (Some(1_200_000), Some("An eight"));
                },
            );
            club.change_campaign(boat, &["start"], |campaign| campaign.status = "active");
            club.change_campaign(boat, &["end"], |campaign| campaign.status = "ended");
        }
        _ => {
            // The roof's last day is over: a worker ends the campaign.
            let id = club.campaigns[story.roof].is.id.clone();
            club.work_until(|club| {
                let listed = club.run(&["campaign", "list", "--organization", &club.id]);
                let rows = listed.as_array().unwrap();
                rows.iter().any(|row| row["id"] == id && row["status"] == "ended")
            });
            let roof = &mut club.campaigns[story.roof];
            (roof.status, roof.is.moved) = ("ended", club.today.clone());
            club.refused(&["campaign", "set", &id, "--name", "Ceiling"], "ended");
        }
    }
}

/// Every path through the states, and every refusal on the way.
fn reimbursements(club: &mut Club<'_>, chapter: &str) {
    let ada = || Debtor::Member("Ada");
    let paid = club.draft(ada(), 1_840, Some("travel"), "2028-02-01");
    club.refused_reimbursement(
        paid,
        "approve",
        Some(TREASURER),
        "is draft and cannot become approved",
    );
    club.move_reimbursement(paid, "submit", EDITOR);
    club.refused_reimbursement(paid, "approve", Some(ADA), "own");
    club.refused_reimbursement(
        paid,
        "approve",
        None,
        "under their own name; name the person with --as EMAIL",
    );
    club.refused_reimbursement(paid, "approve", Some(EDITOR), "admin");
    club.refused_reimbursement(paid, "pay", Some(TREASURER), "cannot become paid");
    club.move_reimbursement(paid, "approve", TREASURER);
    club.move_reimbursement(paid, "pay", TREASURER);
    club.refused_reimbursement(paid, "void", Some(TREASURER), "it can become approved");
    for (to, cents, acts) in [
        (
            ada(),
            500,
            &["submit", "reject", "reopen", "submit", "approve", "void"][..],
        ),
        (Debtor::Member("Ben"), 600, &["void"]),
        (Debtor::Member("Ben"), 700, &["submit", "void"]),
        (Debtor::Chapter(chapter), 800, &["submit", "reject"]),
        (Debtor::Member("Cleo"), 900, &[]),
        (Debtor::Member("Dov"), 1_000, &["submit"]),
        (Debtor::Chapter(chapter), 1_101, &["submit", "approve"]),
        (
            Debtor::Member("Eve"),
            1_200,
            &["submit", "reject", "reopen", "void"],
        ),
    ] {
        let which = club.draft(to, cents, None, "2028-01-31");
        for act in acts {
            club.move_reimbursement(which, act, TREASURER);
        }
    }
    let future = [
        "reimbursement",
        "draft",
        "--organization",
        &club.id,
        "--member",
        &club.members["Ada"].is.id,
        "--amount",
        "1",
        "--incurred-at",
        "2028-02-11",
    ];
    club.refused(&future, "must not be in the future");
}

/// The card that an answer of the API tells of.
fn learn_card(club: &mut Club<'_>, told: &Value, name: &'static str, holder: Option<&str>) -> usize {
    let (status, invited, activated) = match holder {
        Some(_) => ("invited", Some(club.today.clone()), None),
        None => ("active", None, Some(club.today.clone())),
    };
    let card = Card {
        is: Made::new(told["id"].as_str().unwrap(), &club.today),
        name,
        status,
        limit: 50_000,
        frequency: "monthly",
        transaction_limit: None,
        holder: holder.map(|first| club.members[first].is.id.clone()),
        invited,
        activated,
        canceled: None,
    };
    assert_eq!(in_days(told.clone()), card.document());
    club.cards.push(card);
    club.cards.len() - 1
}

fn new_card(club: &Club<'_>, name: &str, holder: Option<&str>) -> Value {
    let holder = holder.map(|first| club.members[first].is.id.clone());
    json!({ "name": name, "spendLimit": 500, "spendLimitFrequency": "monthly", "assignedMemberId": holder })
}

/// The club is not approved for issuing yet: applications, one denied and one approved later.
fn cards_first(club: &mut Club<'_>, story: &mut Story) {
    let serving = club.serve(TREASURER);
    let mut applications = Vec::new();
    for (key, name, holder) in [
        ("a", "Fuel", None),
        ("b", "Travel", Some("Cleo")),
        ("c", "Snacks", Some("Fay")),
    ] {
        let made = serving
            .post("/v1/cards", key, &new_card(club, name, holder))
            .done(201);
        assert_eq!(
            (&made["kind"], &made["card"]),
            (&json!("application"), &Value::Null)
        );
        applications.push(made["applicationId"].as_str().unwrap().to_owned());
    }
    serving.end();
    let decide = |act: &'static str, which: usize, org: &str| {
        ["card", act, &applications[which], "--organization", org].map(str::to_owned)
    };
    let org = club.id.clone();
    let approve = decide("approve-application", 1, &org);
    let approve = approve.each_ref().map(String::as_str);
    club.refused(&approve, "not approved for issuing");
    let denied = decide("deny-application", 0, &org);
    let denied = club.run(&denied.each_ref().map(String::as_str));
    assert_eq!(denied, json!({ "id": applications[0], "status": "denied" }));
    let record = json!({ "type": "organization", "id": org, "cardIssuing": "approved" });
    let record = club.place.bundle("approved.ndjson", &format!("{record}\n"));
    club.run(&["import", record.to_str().unwrap()]);
    let issued = club.run(&approve);
    story.travel = learn_card(club, &issued, "Travel", Some("Cleo"));
    club.refused(&approve, "decided before");
    let listed = club.run(&["card", "applications", "--organization", &org]);
    let states: BTreeMap<&str, &str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        BTreeMap::from([("Fuel", "denied"), ("Travel", "approved"), ("Snacks", "pending")])
    );
    club.move_card(story.travel, "activate");
    club.move_card(story.travel, "freeze");
    let id = club.cards[story.travel].is.id.clone();
    club.refused(&["card", "deny", &id], "cannot become denied");
}

fn cards_last(club: &mut Club<'_>, story: &Story) {
    club.set_active("Fay", false);
    let serving = club.serve(TREASURER);
    let archived = serving.post("/v1/cards", "d", &new_card(club, "Sails", Some("Fay")));
    archived.refused(409, "conflict");
    let mut made = |key: &str, name: &'static str, holder: Option<&str>| {
        let made = serving
            .post("/v1/cards", key, &new_card(club, name, holder))
            .done(201);
        learn_card(club, &made["card"], name, holder)
    };
    let (ropes, tea) = (made("e", "Ropes", None), made("f", "Tea", Some("Eve")));
    made("g", "Paint", Some("Gus"));
    serving.end();
    // Fay applied for a card in March and has been archived since.
    let org = club.id.clone();
    let listed = club.run(&["card", "applications", "--organization", &org]);
    let snacks = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "Snacks")
        .unwrap()["id"]
        .clone();
    let snacks = [
        "card",
        "approve-application",
        snacks.as_str().unwrap(),
        "--organization",
        &org,
    ];
    club.refused(&snacks, "archived");
    club.set_active("Fay", true);
    club.move_card(story.travel, "unfreeze");
    club.limit_card(story.travel, 75_000, 9_999);
    club.move_card(story.travel, "cancel");
    let id = club.cards[story.travel].is.id.clone();
    club.refused(&["card", "activate", &id], "canceled");
    club.refused(&["card", "limits", &id, "--spend-limit", "1"], "has ended");
    club.move_card(ropes, "freeze");
    club.move_card(tea, "deny");
}

fn store(club: &mut Club<'_>) {
    let mug = club.offer(
        "Mug",
        "Stoneware",
        &[("Blue", 1_200, Some(3)), ("White", 1_150, None)],
    );
    let first = club.order(mug, "Dov", &[("Blue", 2), ("White", 1)]);
    club.refused_order(
        mug,
        "Eve",
        &[("Blue", 2)],
        "1 of Blue are left, and 2 were asked for",
    );
    club.refused_order(mug, "Eve", &[("Red", 1)], "must be one of Blue, White");
    let last = club.order(mug, "Eve", &[("Blue", 1)]);
    club.refused_order(mug, "Ben", &[("Blue", 1)], "0 of Blue are left");
    club.move_order(first, "cancel");
    let third = club.order(mug, "Ben", &[("Blue", 2)]);
    club.move_order(third, "pay");
    club.move_order(third, "fulfil");
    club.refused(
        &["order", "cancel", &club.orders[third].is.id],
        "cannot become cancelled",
    );
    club.move_order(third, "refund");
    club.move_order(last, "pay");
    let cap = club.offer("Cap", "", &[("One size", 999, Some(1))]);
    let back = club.order(cap, "Cleo", &[("One size", 1)]);
    club.move_order(back, "pay");
    club.move_order(back, "refund");
    club.order(cap, "Gus", &[("One size", 1)]);
    club.order(mug, "Ada", &[("White", 4)]);
    club.put_on_sale(mug, false);
    club.refused_order(mug, "Ada", &[("White", 1)], "not on sale");
}

fn reminders(club: &mut Club<'_>, story: &mut Story) {
    let blank = Reminder {
        is: Made::new("", ""),
        member: None,
        group: None,
        organization: None,
        status: "scheduled",
        subject: "Dues",
        body: "Please pay.\nThank you.",
        at: "2028-07-31T09:00:00.000000Z".into(),
        sent: None,
        every_days: None,
        is_about_money: false,
    };
    story.statement = club.schedule(Reminder {
        group: Some(club.groups["Rowers"].is.id.clone()),
        is_about_money: true,
        ..blank.clone()
    });
    story.newsletter = club.schedule(Reminder {
        organization: Some(club.id.clone()),
        every_days: Some(30),
        subject: "Newsletter",
        ..blank.clone()
    });
    let off = club.schedule(Reminder {
        member: Some(club.members["Ada"].is.id.clone()),
        subject: "Never mind",
        ..blank.clone()
    });
    club.call_off(off);
    club.schedule(Reminder {
        member: Some(club.members["Ben"].is.id.clone()),
        at: "2029-02-01T00:00:00.000000Z".into(),
        subject: "Next year",
        ..blank
    });
    let past = [
        "reminder",
        "schedule",
        "--organization",
        &club.id,
        "--group",
        &club.groups["Rowers"].is.id,
        "--at",
        "2028-07-01T00:00:00Z",
    ];
    club.refused(&past, "must not be in the past");
}

/// A worker ran on the day that two reminders were due.
fn reminders_were_sent(club: &mut Club<'_>, story: &Story) {
    let today = club.today.clone();
    for (which, status, at) in [
        (story.statement, "sent", "2028-07-31T09:00:00.000000Z"),
        (story.newsletter, "scheduled", "2028-08-30T09:00:00.000000Z"),
    ] {
        let reminder = &mut club.reminders[which];
        (reminder.status, reminder.at, reminder.sent) = (status, at.to_owned(), Some(today.clone()));
        reminder.is.moved = today.clone();
    }
    let debtors: BTreeSet<&Option<String>> = club
        .payments
        .iter()
        .filter(|payment| payment.owed() > 0)
        .map(|payment| &payment.member)
        .collect();
    let rowers = club.groups["Rowers"].is.id.as_str();
    let owing = club.members.values().filter(|member| {
        // Dues of the day itself are raised by the same worker, before or after it writes.
        member.is_active && member.groups.contains(rowers) && debtors.contains(&Some(member.is.id.clone()))
    });
    let mut addresses: BTreeSet<String> = owing.map(|member| member.email.clone()).collect();
    addresses.insert("office@example.org".to_owned());
    let messages = club.run(&["messages", "--organization", &club.id]);
    for message in messages.as_array().unwrap() {
        assert_eq!(message["state"], "written", "{message}");
        addresses.remove(message["address"].as_str().unwrap());
    }
    assert_eq!(addresses, BTreeSet::new(), "they were not written to");
}

/// The chapter has books of its own, which the national organization sees as totals.
fn chapter_life(chapter: &mut Club<'_>) {
    chapter.make_group("Crew", "");
    for first in ["Hal", "Ida", "Jon"] {
        chapter.add_member(first, None, &["Crew"]);
    }
    chapter.today = "2028-05-10".into();
    chapter.set_active("Jon", false);
    let (raised, _) = chapter.charge(Debtor::Group("Crew"), 2_500, "Boathouse", None);
    chapter.record(raised[0], 2_500, "cash", None);
    chapter.record(raised[1], 250, "cash", None);
    let other = chapter.charge_member("Hal", 400, "Key", "2028-06-01");
    chapter.move_payment(other, &["cancel"]);
}
