//! A club at its desk: each act is one command on the day it is, and the model moves with it. What a command prints
//! must be what the model expects.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::{
    Campaign, Card, Day, Dues, Entry, Group, Listing, Made, Member, Order, Payment, Reimbursement, Reminder,
    money,
};
use crate::api::http;
use crate::support::{Place, finish, other_time};

pub(super) struct Club<'p> {
    pub(super) place: &'p Place,
    pub(super) today: Day,
    pub(super) id: String,
    /// By first name.
    pub(super) members: BTreeMap<String, Member>,
    /// By name.
    pub(super) groups: BTreeMap<String, Group>,
    pub(super) payments: Vec<Payment>,
    pub(super) reimbursements: Vec<Reimbursement>,
    pub(super) reminders: Vec<Reminder>,
    pub(super) cards: Vec<Card>,
    pub(super) campaigns: Vec<Campaign>,
    pub(super) listings: Vec<Listing>,
    pub(super) orders: Vec<Order>,
    /// How many commands were run.
    pub(super) commands: Cell<usize>,
    /// The last export, until something is changed.
    exported: RefCell<Option<String>>,
}

/// A resource as the model tells it: a day for a timestamp, but for the one that an officer gives.
pub(super) fn in_days(mut value: Value) -> Value {
    for (name, field) in value.as_object_mut().unwrap() {
        if name.ends_with("At")
            && name != "scheduledAt"
            && let Some(text) = field.as_str()
        {
            *field = json!(text[..10]);
        }
    }
    value
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

impl<'p> Club<'p> {
    /// Founds a club.
    pub(super) fn found(place: &'p Place, today: &str, args: &[&str]) -> Self {
        let mut club = Club {
            place,
            today: today.to_owned(),
            id: String::new(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            payments: Vec::new(),
            reimbursements: Vec::new(),
            reminders: Vec::new(),
            cards: Vec::new(),
            campaigns: Vec::new(),
            listings: Vec::new(),
            orders: Vec::new(),
            commands: Cell::new(0),
            exported: RefCell::default(),
        };
        let made = club.run(&[&["organization", "create"], args].concat());
        club.id = text(&made["id"]).to_owned();
        club
    }

    fn command(&self, args: &[&str]) -> Command {
        self.commands.set(self.commands.get() + 1);
        let mut command = self.place.command(args);
        command.envs(other_time(&format!("@{} 12:00:00", self.today)));
        // The database server's clock is left as it is.
        command.env("BURSAR_CLOCK_TOLERANCE", "3650d");
        command
    }

    /// Runs a command that must succeed; what it printed.
    #[track_caller]
    pub(super) fn run(&self, args: &[&str]) -> Value {
        self.exported.take();
        let printed = finish(self.command(args).arg("--json")).succeeded();
        assert_eq!(printed.lines().count(), 1, "{printed}");
        serde_json::from_str(&printed).unwrap()
    }

    /// Runs a command on the club itself.
    #[track_caller]
    fn own(&self, args: &[&str]) -> Value {
        self.run(&[args, &["--organization", &self.id]].concat())
    }

    /// Runs a command that must succeed; what it printed for people.
    #[track_caller]
    pub(super) fn text(&self, args: &[&str]) -> String {
        finish(&mut self.command(args)).succeeded()
    }

    /// Everything that is exported, which is every field of every resource.
    pub(super) fn export(&self) -> String {
        finish(&mut self.command(&["export"])).succeeded()
    }

    /// Runs a command that must be refused for this reason and must change nothing.
    #[track_caller]
    pub(super) fn refused(&self, args: &[&str], said: &str) {
        let before = self.exported.take().unwrap_or_else(|| self.export());
        let refusal = finish(&mut self.command(args)).failed();
        assert!(refusal.contains(said), "{refusal:?} does not say {said:?}");
        let after = self.export();
        assert_eq!(after, before, "{args:?} changed something");
        self.exported.replace(Some(after));
    }

    // Members and groups.

    fn count_in(&self, group: &str) -> usize {
        let is_in = |member: &&Member| member.is_active && member.groups.contains(group);
        self.members.values().filter(is_in).count()
    }

    pub(super) fn group_document(&self, name: &str) -> Value {
        let group = &self.groups[name];
        group.document(self.count_in(&group.is.id))
    }

    #[track_caller]
    pub(super) fn make_group(&mut self, name: &str, description: &str) {
        let made = self.own(&["group", "create", "--name", name, "--description", description]);
        let group = Group {
            is: Made::new(text(&made["id"]), &self.today),
            name: name.to_owned(),
            description: description.to_owned(),
            dues: None,
        };
        self.groups.insert(name.to_owned(), group);
        assert_eq!(in_days(made), self.group_document(name));
    }

    #[track_caller]
    pub(super) fn set_dues(&mut self, name: &str, dues: Dues) {
        let id = self.groups[name].is.id.clone();
        let (amount, due) = (money(dues.0), dues.1.clone());
        let mut args = vec!["dues", "set", "--group", &id, "--amount", &amount, "--due", &due];
        args.extend(dues.2.iter().flat_map(|every| ["--every", every]));
        let set = self.own(&args);
        let group = self.groups.get_mut(name).unwrap();
        group.dues = Some(dues);
        group.is.moved = self.today.clone();
        assert_eq!(in_days(set), self.group_document(name));
    }

    #[track_caller]
    pub(super) fn add_member(&mut self, first: &str, joined: Option<&str>, groups: &[&str]) {
        let email = format!("{}@example.org", first.to_lowercase());
        let mut args = vec![
            "member",
            "add",
            "--first-name",
            first,
            "--last-name",
            "Larsen",
            "--email",
            &email,
        ];
        args.extend(joined.iter().flat_map(|day| ["--join-date", *day]));
        let ids: BTreeSet<String> = groups
            .iter()
            .map(|name| self.groups[*name].is.id.clone())
            .collect();
        args.extend(ids.iter().flat_map(|id| ["--group", id.as_str()]));
        let made = self.own(&args);
        let member = Member {
            is: Made::new(text(&made["id"]), &self.today),
            first: first.to_owned(),
            last: "Larsen".to_owned(),
            email: email.clone(),
            is_active: true,
            joined: joined.unwrap_or(&self.today).to_owned(),
            groups: ids.clone(),
        };
        assert_eq!(in_days(made), member.document());
        self.members.insert(first.to_owned(), member);
        self.touch_groups(&ids);
    }

    /// A group moves when its count of members does.
    fn touch_groups(&mut self, ids: &BTreeSet<String>) {
        for group in self
            .groups
            .values_mut()
            .filter(|group| ids.contains(&group.is.id))
        {
            group.is.moved = self.today.clone();
        }
    }

    #[track_caller]
    pub(super) fn set_active(&mut self, first: &str, is_active: bool) {
        let act = if is_active { "restore" } else { "archive" };
        let member = self.members.get_mut(first).unwrap();
        member.is_active = is_active;
        member.is.moved = self.today.clone();
        let member = member.clone();
        assert_eq!(
            in_days(self.run(&["member", act, &member.is.id])),
            member.document()
        );
        self.touch_groups(&member.groups);
    }

    #[track_caller]
    pub(super) fn rename(&mut self, first: &str, last: &str) {
        let id = self.members[first].is.id.clone();
        let set = self.run(&["member", "set", &id, "--last-name", last]);
        let member = self.members.get_mut(first).unwrap();
        member.last = last.to_owned();
        member.is.moved = self.today.clone();
        assert_eq!(in_days(set), member.document());
    }

    /// A member joins a group or leaves it, as the model sees it.
    fn place_in(&mut self, first: &str, group: &str, is_in: bool) {
        let id = self.groups[group].is.id.clone();
        let member = self.members.get_mut(first).unwrap();
        let has_changed = if is_in {
            member.groups.insert(id.clone())
        } else {
            member.groups.remove(&id)
        };
        assert!(has_changed);
        member.is.moved = self.today.clone();
        self.touch_groups(&BTreeSet::from([id]));
    }

    #[track_caller]
    pub(super) fn join(&mut self, first: &str, group: &str) {
        let (id, member) = (
            self.groups[group].is.id.clone(),
            self.members[first].is.id.clone(),
        );
        let joined = self.run(&["group", "add-member", &id, &member]);
        self.place_in(first, group, true);
        assert_eq!(in_days(joined), self.group_document(group));
    }

    #[track_caller]
    pub(super) fn leave(&mut self, first: &str, group: &str) {
        let (id, member) = (
            self.groups[group].is.id.clone(),
            self.members[first].is.id.clone(),
        );
        let left = self.run(&["group", "remove-member", &id, &member]);
        self.place_in(first, group, false);
        assert_eq!(in_days(left), self.group_document(group));
    }

    /// A list of addresses joins a group and is taken out again by undo.
    #[track_caller]
    pub(super) fn join_by_mistake(&mut self, firsts: &[&str], group: &str) {
        let addresses: Vec<&str> = firsts
            .iter()
            .map(|first| self.members[*first].email.as_str())
            .collect();
        let file = self.place.bundle("addresses.txt", &addresses.join("\n"));
        let id = self.groups[group].is.id.clone();
        let done = self.run(&["group", "add-list", &id, file.to_str().unwrap()]);
        assert_eq!(done["added"].as_array().unwrap().len(), firsts.len());
        for first in firsts {
            self.place_in(first, group, true);
            let shown = self.run(&["member", "show", &self.members[*first].is.id]);
            assert_eq!(in_days(shown), self.members[*first].document());
        }
        let undone = self.run(&["undo", text(&done["id"])]);
        assert_eq!(undone["reversed"].as_array().unwrap().len(), firsts.len());
        assert_eq!(undone["left"], json!([]));
        for first in firsts {
            self.place_in(first, group, false);
        }
        self.refused(&["undo", text(&done["id"])], "was undone at");
    }

    // Payments.

    /// The payments that the dues of a group make on their day, whoever raised them; `next` is the due date after it.
    #[track_caller]
    pub(super) fn learn_dues(&mut self, name: &str, next: &str) -> Vec<usize> {
        let group = self.groups.get_mut(name).unwrap();
        let (id, (cents, due, _)) = (group.is.id.clone(), group.dues.as_mut().unwrap());
        let (cents, due) = (*cents, std::mem::replace(due, next.to_owned()));
        group.is.moved = self.today.clone();
        let listed = self.own(&["payment", "list"]);
        let is_known = |row: &Value| self.payments.iter().any(|payment| row["id"] == payment.is.id);
        let new: Vec<&Value> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| !is_known(row))
            .collect();
        let debtors = self
            .members
            .values()
            .filter(|member| member.is_active && member.groups.contains(&id));
        let mut raised = Vec::new();
        for member in debtors {
            let row = new.iter().find(|row| row["memberId"] == member.is.id);
            let row = row.unwrap_or_else(|| panic!("{} was not charged on {due}", member.first));
            let payment = Payment {
                is: Made::new(text(&row["id"]), &self.today),
                member: Some(member.is.id.clone()),
                group: Some(id.clone()),
                chapter: None,
                description: format!("{name}, due {due}"),
                cents,
                status: "pending",
                due: Some(due.clone()),
                paid_at: None,
                voided_at: None,
                entries: Vec::new(),
            };
            assert_eq!(in_days((*row).clone()), payment.document());
            raised.push(payment);
        }
        assert_eq!(
            new.len(),
            raised.len(),
            "somebody was charged who should not be: {new:?}"
        );
        let first = self.payments.len();
        self.payments.extend(raised);
        (first..self.payments.len()).collect()
    }

    #[track_caller]
    pub(super) fn raise_dues(&mut self, name: &str, next: &str) -> Vec<usize> {
        let id = self.groups[name].is.id.clone();
        let done = self.own(&["dues", "raise", "--group", &id]);
        let raised = self.learn_dues(name, next);
        assert_eq!(
            done,
            json!({ "groupId": id, "payments": raised.len(), "periods": 1 })
        );
        self.refused(
            &["dues", "raise", "--organization", &self.id, "--group", &id],
            &format!("fall due on {next}"),
        );
        raised
    }

    /// Charges a member, the members of a group or a chapter; the payments, and the id to undo them by.
    #[track_caller]
    pub(super) fn charge(
        &mut self,
        debtor: Debtor<'_>,
        cents: i64,
        what: &str,
        due: Option<&str>,
    ) -> (Vec<usize>, String) {
        let amount = money(cents);
        let target = match debtor {
            Debtor::Member(first) => self.members[first].is.id.clone(),
            Debtor::Group(name) => self.groups[name].is.id.clone(),
            Debtor::Chapter(id) => id.to_owned(),
        };
        let mut args = vec![
            "payment",
            "raise",
            debtor.flag(),
            &target,
            "--amount",
            &amount,
            "--description",
            what,
        ];
        args.extend(due.iter().flat_map(|due| ["--due-date", *due]));
        let before = self.export();
        let preview = self.own(&[&args[..], &["--dry-run"]].concat());
        assert_eq!(self.export(), before, "a preview writes nothing");
        let made = self.own(&args);
        assert_eq!(
            (&preview["total"], &preview["undo"]),
            (&made["total"], &Value::Null)
        );
        let rows = made["payments"].as_array().unwrap();
        let (group, members): (Option<String>, Vec<Option<String>>) = match debtor {
            Debtor::Member(_) => (None, vec![Some(target.clone())]),
            Debtor::Group(_) => {
                let is_in = |member: &&Member| member.is_active && member.groups.contains(&target);
                let ids = self
                    .members
                    .values()
                    .filter(is_in)
                    .map(|member| Some(member.is.id.clone()));
                (Some(target.clone()), ids.collect())
            }
            Debtor::Chapter(_) => (None, vec![None]),
        };
        assert_eq!(rows.len(), members.len());
        assert_eq!(made["total"], money(cents * i64::try_from(rows.len()).unwrap()));
        let first = self.payments.len();
        for member in members {
            let row = rows.iter().find(|row| row["memberId"] == json!(member)).unwrap();
            let payment = Payment {
                is: Made::new(text(&row["id"]), &self.today),
                chapter: member.is_none().then(|| target.clone()),
                member,
                group: group.clone(),
                description: what.to_owned(),
                cents,
                status: "pending",
                due: due.map(str::to_owned),
                paid_at: None,
                voided_at: None,
                entries: Vec::new(),
            };
            assert_eq!(in_days(row.clone()), payment.document());
            self.payments.push(payment);
        }
        (
            (first..self.payments.len()).collect(),
            text(&made["undo"]).to_owned(),
        )
    }

    #[track_caller]
    pub(super) fn charge_member(&mut self, first: &str, cents: i64, what: &str, due: &str) -> usize {
        self.charge(Debtor::Member(first), cents, what, Some(due)).0[0]
    }

    #[track_caller]
    pub(super) fn record(
        &mut self,
        payment: usize,
        cents: i64,
        method: &'static str,
        reference: Option<&str>,
    ) {
        let (id, amount) = (self.payments[payment].is.id.clone(), money(cents));
        let mut args = vec!["payment", "record", &id, "--amount", &amount, "--method", method];
        args.extend(reference.iter().flat_map(|text| ["--reference", *text]));
        let recorded = self.run(&args);
        let today = self.today.clone();
        let payment = &mut self.payments[payment];
        payment.entries.push(Entry {
            id: Some(text(&recorded["entryId"]).to_owned()),
            cents,
            received: today.clone(),
            reverses: None,
        });
        let is_paid = payment.paid() == payment.cents;
        payment.status = if is_paid { "paid" } else { "partially_paid" };
        payment.paid_at = is_paid.then(|| today.clone());
        payment.is.moved = today;
        assert_eq!(in_days(recorded["payment"].clone()), payment.document());
    }

    /// Takes an entry back.
    #[track_caller]
    pub(super) fn reverse(&mut self, payment: usize, entry: usize, reason: &str) {
        let today = self.today.clone();
        let known = &mut self.payments[payment];
        let taken = known.entries[entry].clone();
        known.entries.push(Entry {
            id: None,
            cents: -taken.cents,
            received: today.clone(),
            reverses: taken.id.clone(),
        });
        match known.status {
            "cancelled" => {}
            "partially_paid" if known.paid() > 0 => {}
            _ => known.status = "failed",
        }
        (known.paid_at, known.is.moved) = (None, today);
        let known = known.clone();
        let entry = taken.id.unwrap();
        let args = [
            "payment",
            "reverse",
            &known.is.id,
            "--entry",
            &entry,
            "--reason",
            reason,
        ];
        assert_eq!(in_days(self.run(&args)), known.document());
        self.refused(&args[..5], "was reversed before");
    }

    /// `cancel`, `dispute`, or `resolve` to `paid` or `failed`.
    #[track_caller]
    pub(super) fn move_payment(&mut self, payment: usize, args: &[&str]) {
        let today = self.today.clone();
        let known = &mut self.payments[payment];
        match args {
            ["cancel"] => (known.status, known.voided_at) = ("cancelled", Some(today.clone())),
            ["dispute"] => known.status = "disputed",
            ["resolve", "--outcome", "paid"] => {
                let latest = known.entries.iter().map(|entry| entry.received.clone()).max();
                (known.status, known.paid_at) = ("paid", latest);
            }
            ["resolve", "--outcome", "failed"] => {
                (known.status, known.paid_at) = ("failed", None);
                let counter = |entry: &Entry| Entry {
                    id: None,
                    cents: -entry.cents,
                    received: today.clone(),
                    reverses: entry.id.clone(),
                };
                let counters: Vec<Entry> = known.entries.iter().map(counter).collect();
                known.entries.extend(counters);
            }
            _ => panic!("{args:?}"),
        }
        known.is.moved = today;
        let known = known.clone();
        let moved = self.run(&[&["payment", args[0], &known.is.id], &args[1..]].concat());
        assert_eq!(in_days(moved), known.document());
    }

    /// Undoes a raising: what has not moved on is cancelled.
    #[track_caller]
    pub(super) fn undo_charge(&mut self, act: &str, cancelled: &[usize], left: &[usize]) {
        let undone = self.run(&["undo", act]);
        let ids = |payments: &[usize]| -> BTreeSet<String> {
            payments.iter().map(|i| self.payments[*i].is.id.clone()).collect()
        };
        let told = |list: &Value, id: fn(&Value) -> &Value| -> BTreeSet<String> {
            list.as_array()
                .unwrap()
                .iter()
                .map(|row| text(id(row)).to_owned())
                .collect()
        };
        assert_eq!(told(&undone["reversed"], |id| id), ids(cancelled));
        assert_eq!(told(&undone["left"], |row| &row["id"]), ids(left));
        for payment in cancelled {
            let payment = &mut self.payments[*payment];
            (payment.status, payment.voided_at) = ("cancelled", Some(self.today.clone()));
            payment.is.moved = self.today.clone();
        }
    }

    // Reimbursements.

    #[track_caller]
    pub(super) fn draft(
        &mut self,
        to: Debtor<'_>,
        cents: i64,
        category: Option<&'static str>,
        incurred: &str,
    ) -> usize {
        let (member, chapter) = match to {
            Debtor::Member(first) => (Some(self.members[first].is.id.clone()), None),
            Debtor::Chapter(id) => (None, Some(id.to_owned())),
            Debtor::Group(_) => panic!("a group is not paid"),
        };
        let amount = money(cents);
        let mut args = vec![
            "reimbursement",
            "draft",
            "--amount",
            &amount,
            "--description",
            "Ferry",
            "--incurred-at",
            incurred,
        ];
        args.extend(["--receipt", "r-1", "--receipt", "r-2"]);
        args.extend(member.iter().flat_map(|id| ["--member", id.as_str()]));
        args.extend(
            chapter
                .iter()
                .flat_map(|id| ["--recipient-organization", id.as_str()]),
        );
        args.extend(category.iter().flat_map(|word| ["--category", *word]));
        let made = self.own(&args);
        let reimbursement = Reimbursement {
            is: Made::new(text(&made["id"]), &self.today),
            member,
            chapter,
            cents,
            category,
            description: "Ferry",
            incurred: incurred.to_owned(),
            status: "draft",
            submitted: None,
            reviewed: None,
            paid: None,
            voided: None,
        };
        assert_eq!(in_days(made), reimbursement.document());
        self.reimbursements.push(reimbursement);
        self.reimbursements.len() - 1
    }

    /// Moves a reimbursement by this command, as an officer.
    #[track_caller]
    pub(super) fn move_reimbursement(&mut self, which: usize, act: &str, officer: &str) {
        let today = Some(self.today.clone());
        let known = &mut self.reimbursements[which];
        match act {
            "submit" => (known.status, known.submitted) = ("submitted", today),
            "approve" => (known.status, known.reviewed) = ("approved", today),
            "reject" => (known.status, known.reviewed) = ("rejected", today),
            "reopen" => known.status = "draft",
            "pay" => (known.status, known.paid) = ("paid", today),
            "void" => (known.status, known.voided) = ("voided", today),
            _ => panic!("{act}"),
        }
        known.is.moved = self.today.clone();
        let known = known.clone();
        let mut args = vec!["reimbursement", act, &known.is.id, "--as", officer];
        if matches!(act, "approve" | "reject") {
            args.extend(["--note", "seen"]);
        }
        let moved = self.run(&args);
        assert_eq!(in_days(moved), known.document());
    }

    #[track_caller]
    pub(super) fn refused_reimbursement(&self, which: usize, act: &str, officer: Option<&str>, said: &str) {
        let mut args = vec!["reimbursement", act, &self.reimbursements[which].is.id];
        args.extend(officer.iter().flat_map(|email| ["--as", *email]));
        self.refused(&args, said);
    }

    // Reminders.

    #[track_caller]
    pub(super) fn schedule(&mut self, mut reminder: Reminder) -> usize {
        let every = reminder.every_days.map(|days| days.to_string());
        let mut args = vec![
            "reminder",
            "schedule",
            "--at",
            &reminder.at,
            "--subject",
            reminder.subject,
        ];
        args.extend(["--body", reminder.body]);
        let targets = [
            ("--member", &reminder.member),
            ("--group", &reminder.group),
            ("--target-organization", &reminder.organization),
        ];
        for (flag, target) in &targets {
            args.extend(target.iter().flat_map(|id| [*flag, id.as_str()]));
        }
        args.extend(every.iter().flat_map(|days| ["--every-days", days.as_str()]));
        args.extend(reminder.is_about_money.then_some("--include-payment-info"));
        let made = self.own(&args);
        reminder.is = Made::new(text(&made["id"]), &self.today);
        assert_eq!(in_days(made), reminder.document());
        self.reminders.push(reminder);
        self.reminders.len() - 1
    }

    #[track_caller]
    pub(super) fn call_off(&mut self, which: usize) {
        let known = &mut self.reminders[which];
        (known.status, known.is.moved) = ("cancelled", self.today.clone());
        let known = known.clone();
        let cancelled = self.own(&["reminder", "cancel", &known.is.id]);
        assert_eq!(in_days(cancelled), known.document());
    }

    // Cards.

    /// Moves a card by this command.
    #[track_caller]
    pub(super) fn move_card(&mut self, which: usize, act: &str) {
        let today = self.today.clone();
        let known = &mut self.cards[which];
        match act {
            "activate" => (known.status, known.activated) = ("active", Some(today.clone())),
            "unfreeze" => known.status = "active",
            "freeze" => known.status = "frozen",
            "cancel" => (known.status, known.canceled) = ("canceled", Some(today.clone())),
            "deny" => known.status = "denied",
            _ => panic!("{act}"),
        }
        known.is.moved = today;
        let known = known.clone();
        assert_eq!(in_days(self.run(&["card", act, &known.is.id])), known.document());
    }

    #[track_caller]
    pub(super) fn limit_card(&mut self, which: usize, limit: i64, transaction_limit: i64) {
        let known = &mut self.cards[which];
        (known.limit, known.transaction_limit) = (limit, Some(transaction_limit));
        known.is.moved = self.today.clone();
        let known = known.clone();
        let (limit, once) = (money(limit), money(transaction_limit));
        let args = [
            "card",
            "limits",
            &known.is.id,
            "--spend-limit",
            &limit,
            "--transaction-limit",
            &once,
        ];
        assert_eq!(in_days(self.run(&args)), known.document());
    }

    // Campaigns.

    /// Makes one; the story says what it expects.
    #[track_caller]
    pub(super) fn plan(&mut self, mut campaign: Campaign) -> usize {
        let goal = campaign.goal.map(money);
        let mut args = vec!["campaign", "create", "--name", campaign.name];
        args.extend(campaign.note.iter().flat_map(|note| ["--note", *note]));
        args.extend(goal.iter().flat_map(|goal| ["--goal", goal.as_str()]));
        args.extend(
            campaign
                .start
                .iter()
                .flat_map(|day| ["--start-date", day.as_str()]),
        );
        args.extend(campaign.end.iter().flat_map(|day| ["--end-date", day.as_str()]));
        let made = self.own(&args);
        campaign.is = Made::new(text(&made["id"]), &self.today);
        assert_eq!(in_days(made), campaign.document());
        self.campaigns.push(campaign);
        self.campaigns.len() - 1
    }

    /// Changes or moves one by this command; the change is made in the model first.
    #[track_caller]
    pub(super) fn change_campaign(
        &mut self,
        which: usize,
        args: &[&str],
        change: impl FnOnce(&mut Campaign),
    ) {
        change(&mut self.campaigns[which]);
        self.campaigns[which].is.moved = self.today.clone();
        let known = self.campaigns[which].clone();
        let changed = self.run(&[&["campaign", args[0], &known.is.id], &args[1..]].concat());
        assert_eq!(in_days(changed), known.document());
    }

    // The store.

    #[track_caller]
    pub(super) fn offer(
        &mut self,
        name: &'static str,
        description: &'static str,
        items: &[(&'static str, i64, Option<i64>)],
    ) -> usize {
        let told = items.iter().map(|(item, price, stock)| {
            let stock = stock.map(|stock| format!(":{stock}")).unwrap_or_default();
            format!("{item}={}{stock}", money(*price))
        });
        let told: Vec<String> = told.collect();
        let mut args = vec!["listing", "create", "--name", name, "--description", description];
        args.extend(told.iter().flat_map(|item| ["--item", item.as_str()]));
        let made = self.own(&args);
        let listing = Listing {
            is: Made::new(text(&made["id"]), &self.today),
            name,
            description,
            is_active: true,
            items: items.to_vec(),
        };
        assert_eq!(in_days(made), listing.document());
        self.listings.push(listing);
        self.listings.len() - 1
    }

    #[track_caller]
    pub(super) fn put_on_sale(&mut self, which: usize, is_active: bool) {
        let known = &mut self.listings[which];
        (known.is_active, known.is.moved) = (is_active, self.today.clone());
        let known = known.clone();
        let act = if is_active { "activate" } else { "retire" };
        assert_eq!(
            in_days(self.run(&["listing", act, &known.is.id])),
            known.document()
        );
    }

    /// The stock of a listing goes up or down; one that is not counted stays, and then the listing does not move.
    fn restock(&mut self, which: usize, lines: &[(&'static str, i64)], sign: i64) {
        let mut is_counted = false;
        for (name, quantity) in lines {
            let item = self.listings[which].items.iter_mut().find(|item| item.0 == *name);
            if let Some(left) = &mut item.unwrap().2 {
                *left += sign * quantity;
                is_counted = true;
            }
        }
        if is_counted {
            self.listings[which].is.moved = self.today.clone();
        }
    }

    pub(super) fn order_args(&self, listing: usize, buyer: &str, lines: &[(&str, i64)]) -> Vec<String> {
        let mut args: Vec<String> = ["order", "create", &self.listings[listing].is.id, "--member"]
            .map(str::to_owned)
            .into();
        args.push(self.members[buyer].is.id.clone());
        for (item, quantity) in lines {
            args.extend(["--item".to_owned(), format!("{item}={quantity}")]);
        }
        args
    }

    #[track_caller]
    pub(super) fn order(&mut self, listing: usize, buyer: &str, lines: &[(&'static str, i64)]) -> usize {
        let args = self.order_args(listing, buyer, lines);
        let made = self.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let price = |name: &str| {
            self.listings[listing]
                .items
                .iter()
                .find(|item| item.0 == name)
                .unwrap()
                .1
        };
        let order = Order {
            is: Made::new(text(&made["id"]), &self.today),
            listing,
            member: self.members[buyer].is.id.clone(),
            lines: lines.to_vec(),
            cents: lines.iter().map(|(name, quantity)| price(name) * quantity).sum(),
            status: "pending",
            paid: None,
        };
        assert_eq!(in_days(made), order.document(&self.listings[listing].is.id));
        self.restock(listing, lines, -1);
        self.orders.push(order);
        self.orders.len() - 1
    }

    #[track_caller]
    pub(super) fn refused_order(&self, listing: usize, buyer: &str, lines: &[(&str, i64)], said: &str) {
        let args = self.order_args(listing, buyer, lines);
        self.refused(&args.iter().map(String::as_str).collect::<Vec<_>>(), said);
    }

    #[track_caller]
    pub(super) fn move_order(&mut self, which: usize, act: &str) {
        let known = &mut self.orders[which];
        let was = known.status;
        known.status = match act {
            "pay" => "paid",
            "fulfil" => "fulfilled",
            "cancel" => "cancelled",
            "refund" => "refunded",
            _ => panic!("{act}"),
        };
        if act == "pay" {
            known.paid = Some(self.today.clone());
        }
        let known = known.clone();
        // What was not handed over goes back on the shelf.
        if act == "cancel" || act == "refund" && was == "paid" {
            self.restock(known.listing, &known.lines, 1);
        }
        let moved = self.run(&["order", act, &known.is.id]);
        assert_eq!(
            in_days(moved),
            known.document(&self.listings[known.listing].is.id)
        );
    }

    // What runs beside the commands.

    /// Lets a worker run until it has come to this.
    pub(super) fn work_until(&self, is_done: impl Fn(&Self) -> bool) {
        let mut command = self.command(&["worker", "--log-level", "off"]);
        let mut worker = Running(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        );
        let since = Instant::now();
        while !is_done(self) {
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "the worker did not come to it"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        worker.end();
    }

    /// A server on this day, and somebody with a token.
    pub(super) fn serve(&self, user: &str) -> Serving {
        let scopes = bursar_domain::access::ScopeSet::of(bursar_domain::access::Scope::ALL);
        let scopes = scopes.to_string().replace(' ', "");
        let token = self.own(&["token", "create", "--user", user, "--scopes", &scopes]);
        let mut command = self.command(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--no-worker",
            "--log-level",
            "error",
        ]);
        let mut server = Running(
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
        );
        let mut line = String::new();
        BufReader::new(server.0.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .and_then(|text| text.parse().ok());
        Serving {
            server,
            address: address.unwrap_or_else(|| panic!("{line:?}")),
            secret: text(&token["secret"]).to_owned(),
        }
    }
}

/// Who is charged or paid.
#[derive(Clone, Copy)]
pub(super) enum Debtor<'a> {
    Member(&'a str),
    Group(&'a str),
    Chapter(&'a str),
}

impl Debtor<'_> {
    const fn flag(self) -> &'static str {
        match self {
            Debtor::Member(_) => "--member",
            Debtor::Group(_) => "--group",
            Debtor::Chapter(_) => "--chapter",
        }
    }
}

/// A process that does not outlive the test.
pub(super) struct Running(Child);

impl Running {
    /// Tells it to stop, which it must do well.
    fn end(&mut self) {
        let told = Command::new("kill")
            .args(["-INT", &self.0.id().to_string()])
            .status();
        assert!(told.unwrap().success());
        assert!(self.0.wait().unwrap().success(), "it drains and ends well");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server, and a token for it.
pub(super) struct Serving {
    server: Running,
    address: SocketAddr,
    secret: String,
}

impl Serving {
    fn head(&self, request: &str) -> String {
        format!(
            "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {}\r\n",
            self.secret
        )
    }

    pub(super) fn get(&self, path: &str) -> Value {
        let head = self.head(&format!("GET {path}"));
        http::exchange(self.address, format!("{head}\r\n").as_bytes()).ok()
    }

    pub(super) fn post(&self, path: &str, key: &str, body: &Value) -> http::Reply {
        let (head, body) = (self.head(&format!("POST {path}")), body.to_string());
        let rest = format!(
            "Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        http::exchange(self.address, format!("{head}{rest}").as_bytes())
    }

    /// All rows of a list, by id.
    pub(super) fn list(&self, path: &str) -> BTreeMap<String, Value> {
        let (mut rows, mut cursor, mut stamps) = (BTreeMap::new(), String::new(), Vec::new());
        loop {
            let page = self.get(&format!("{path}?limit=37{cursor}"));
            for row in page["data"].as_array().unwrap() {
                stamps.push((text(&row["updatedAt"]).to_owned(), text(&row["id"]).to_owned()));
                let is_twice = rows
                    .insert(text(&row["id"]).to_owned(), in_days(row.clone()))
                    .is_some();
                assert!(!is_twice, "{path}: {row} is there twice");
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert!(stamps.is_sorted(), "{path} is oldest change first");
        rows
    }

    pub(super) fn end(mut self) {
        self.server.end();
    }
}
