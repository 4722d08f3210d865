//! Who may open which page and send which form: every page of the console by everybody, with what is one's own and with
//! ids of another organization. The table is committed.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write as _;

use bursar::CardDesk;
use bursar_console::{PageRule, page_rules};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, group, id, member, organization, reminder};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::cards;
use crate::console::{Browser, at, posted};
use crate::console_bank::between;
use crate::support::secret_key_file;

on_both_engines! { every_page_by_everybody }

/// Ids of what an organization has.
struct Things(HashMap<&'static str, String>);

/// Where no organization has one.
const NONE: &str = "00000000000000000000000000";

impl Things {
    /// Makes what the bundle lacks. `n` is the number of the organization's things in the bundle.
    fn of(world: &World, desk: &CardDesk, admin: &Browser<'_>, of: u32, n: u32) -> Self {
        let path = |end: &str| at(of, end);
        let payer = format!("m{n}@members.example");
        admin.sent(
            &path("/money/new"),
            &format!("payer={payer}&amount=7&method=cash&key=a1"),
        );
        let raised = format!("member={payer}&amount=9&description=Access&step=do&key=a2");
        let raised = admin.page(&admin.sent(&path("/charges/new"), &raised));
        let account = between(&admin.page(&path("/bank/import")), "<option value=\"", "\"").to_owned();
        let fields = [("account", account.as_str()), ("key", "a3")];
        let lines = format!("Booking date;Amount;Name;IBAN;Purpose\n2026-02-02;47.00;Payer {n}.;DE1;gift\n");
        let statement = admin.uploaded(
            &path("/bank/import"),
            &fields,
            &[("file", "a.csv", lines.as_bytes())],
        );
        let statement = between(&format!("{statement}?"), "/bank/", "?").to_owned();
        let lines = admin.page(&path(&format!("/bank/{statement}")));
        let fields = [("account", account.as_str()), ("key", "a4")];
        let columns = admin.uploaded(
            &path("/bank/import"),
            &fields,
            &[("file", "b.csv", b"a;b\n1;2\n")],
        );
        let list = b"First Name,Last Name\nBo,Ek\n";
        let roster = admin.uploaded(
            &path("/members/import"),
            &[("key", "a5")],
            &[("file", "c.csv", list)],
        );
        let expense = id("rmb", if n == 1 { 2 } else { n });
        let attached = path(&format!("/reimbursements/{expense}"));
        let picture = b"\x89PNG\r\n\x1a\n0000";
        admin.upload(
            &attached,
            &[("do", "attach"), ("key", "a6")],
            &[("file", "d.png", picture)],
        );
        let shown = admin.page(&attached);
        let journal = admin.get(&path("/journal/csv")).body;
        let last = |to: &str| {
            to.split('?')
                .next()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned()
        };
        let token = world.service_token(Role::Editor, of, ScopeSet::of(Scope::ALL));
        let webhook = world.run(&[
            "webhook",
            "create",
            "--organization",
            &organization(of),
            "--url",
            "http://127.0.0.1:9/",
            "--webhook-allow",
            "127.0.0.0/8",
            "--secret-key-file",
            secret_key_file(),
        ]);
        let online = online_payment(world, desk, admin, of, n);
        let or_none = |text: &str, start: &str, prefix: &str| match text.split_once(start) {
            Some((_, rest)) => rest.split('"').next().unwrap().to_owned(),
            None => format!("{prefix}_{NONE}"),
        };
        Self(HashMap::from([
            ("member", member(n)),
            ("group", group(n)),
            ("charge", id("pay", n)),
            (
                "receipt",
                format!(
                    "rcp_{}",
                    between(&admin.page(&path("/money")), "/money/rcp_", "\"")
                ),
            ),
            (
                "entry",
                journal
                    .lines()
                    .nth(1)
                    .unwrap()
                    .split(',')
                    .nth(1)
                    .unwrap()
                    .to_owned(),
            ),
            ("statement", statement),
            ("line", between(&lines, "/bank/lines/", "\"").to_owned()),
            ("columns", last(&columns)),
            ("roster", last(&roster)),
            ("account", account),
            ("bulk", between(&raised, "/undo/", "\"").to_owned()),
            ("expense", expense),
            ("attachment", or_none(&shown, "/receipts/", "att")),
            ("reminder", reminder(n)),
            ("campaign", id("cmp", n)),
            ("listing", id("lst", n)),
            ("order", id("ord", n)),
            ("card", id("card", n)),
            ("application", format!("app_{NONE}")),
            ("chapter", organization(if of == NATIONAL { NORTH } else { of })),
            ("person", id("usr", if of == NATIONAL { 4 } else { 5 })),
            ("token", token.id),
            ("online", online),
            ("webhook", webhook["id"].as_str().unwrap().to_owned()),
        ]))
    }

    /// The address of a page, with ids of these. Words are those that the page knows.
    fn fill(&self, page: &PageRule) -> String {
        let first = page.path.split('/').next().unwrap();
        let places: &[&str] = match (first, page.path) {
            (_, "members/import/{}") => &["roster"],
            ("members", _) => &["member"],
            ("groups", _) => &["group", "member"],
            ("charges", _) => &["charge", "entry"],
            ("money", _) => &["receipt"],
            (_, "bank/import/{}") => &["columns"],
            (_, "bank/lines/{}") => &["line"],
            (_, "bank/reconcile/{}") => &["account"],
            ("bank", _) => &["statement"],
            ("online", _) => &["online"],
            (_, "undo/lines/{}") => &["=key"],
            (_, "undo/statement/{}") => &["statement"],
            ("undo", _) => &["bulk"],
            ("reimbursements", _) => &["expense", "attachment"],
            ("reminders", _) => &["reminder"],
            ("campaigns", _) => &["campaign", "=complete"],
            ("store", _) => &["listing"],
            ("orders", _) => &["order", "=pay"],
            ("cards", _) => &["card", "=freeze"],
            ("applications", _) => &["application"],
            ("chapters", _) => &["chapter"],
            ("reports", _) => &["=owing"],
            ("people", _) => &["person"],
            ("tokens", _) => &["token"],
            ("webhooks", _) => &["webhook"],
            _ => &[],
        };
        let mut path = page.path.to_owned();
        for place in places {
            let text = place.strip_prefix('=').unwrap_or_else(|| &self.0[place]);
            path = path.replacen("{}", text, 1);
        }
        assert!(
            !path.contains("{}"),
            "{} has no row here: say what stands at its places",
            page.path
        );
        match path.as_str() {
            "" => at(NATIONAL, ""),
            path => at(NATIONAL, &format!("/{path}")),
        }
    }
}

/// Connects the organization to a provider, and pays a charge of a member there.
fn online_payment(world: &World, desk: &CardDesk, admin: &Browser<'_>, of: u32, n: u32) -> String {
    let form = "account=bank&stripe-key=rk_test_0123456789abcdef&key=a7";
    admin.sent(&at(of, "/provider/set"), form);
    let (home, payer) = (organization(of), format!("m{n}@members.example"));
    let raise = ["payment", "raise", "--organization", &home, "--member", &payer];
    let raised = world.run(&[&raise[..], &["--amount", "9", "--description", "Cards"]].concat());
    let charge = raised["payments"][0]["id"].as_str().unwrap().to_owned();
    cards::start_payment(world, desk, (&home, &payer), &charge).0
}

/// Whether an id of the organization is in the address.
fn has_id(page: &PageRule) -> bool {
    page.path.contains("{}")
        && !page.path.starts_with("reports/")
        && !["undo/lines/{}", "bank/reconcile/{}"].contains(&page.path)
}

struct Table {
    rows: Vec<(String, PageRule, Option<String>)>,
    columns: Vec<(String, Vec<String>)>,
}

impl Table {
    fn add(
        &mut self,
        name: &str,
        things: &Things,
        mut call: impl FnMut(&PageRule, &str, Option<&str>) -> Option<Reply>,
    ) {
        let mut cells = Vec::new();
        for (row, page, form) in &self.rows {
            let path = things.fill(page);
            let reply = call(page, &path, form.as_deref());
            if let Some(reply) = &reply {
                assert!(
                    reply.status < 500,
                    "{name}: {row}: {} {}",
                    reply.status,
                    reply.body
                );
            }
            cells.push(reply.map_or_else(|| "-".to_owned(), |reply| reply.status.to_string()));
        }
        self.columns.push((name.to_owned(), cells));
    }

    fn text(&self) -> String {
        let first = self.rows.iter().map(|(row, ..)| row.len()).max().unwrap();
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut out = format!("{:first$}  {}\n", "page or form", names.join("  "));
        for (at, (row, ..)) in self.rows.iter().enumerate() {
            let cells = self
                .columns
                .iter()
                .map(|(name, cells)| format!("{:width$}", cells[at], width = name.len()));
            let line = format!("{row:first$}  {}", cells.collect::<Vec<_>>().join("  "));
            writeln!(out, "{}", line.trim_end()).unwrap();
        }
        out
    }
}

fn every_page_by_everybody(engine: Engine) {
    let desk = cards::desk(None);
    let url = desk.url();
    let many = [
        "--stripe-api",
        &url,
        "--rate-limit-read",
        "100000",
        "--rate-limit-write",
        "100000",
        "--rate-limit-messaging",
        "100000",
        "--secret-key-file",
        secret_key_file(),
    ];
    let world = World::with(engine, &many);
    let admin = Browser::of(&world, "admin@people.example");
    let rival = Browser::of(&world, "admin5@people.example");
    let own = Things::of(&world, &desk, &admin, NATIONAL, 1);
    let theirs = Things::of(&world, &desk, &rival, RIVAL, 900);
    let (viewer, editor) = (
        Browser::of(&world, "viewer@people.example"),
        Browser::of(&world, "editor@people.example"),
    );
    let opened = page_rules().map(|page| (format!("GET  {}", page.path), page, None));
    let forms = page_rules().filter(|page| page.form.is_some());
    let sent = forms.map(|page| (format!("POST {}", page.path), page, Some("key=".to_owned())));
    // All pages are opened before a form is sent.
    let keys = Cell::new(0);
    for rows in [opened.collect::<Vec<_>>(), sent.collect()] {
        let is_open = rows[0].2.is_none();
        let mut table = Table {
            rows,
            columns: Vec::new(),
        };
        let by = |browser: &Browser<'_>, path: &str, form: Option<&str>| match form {
            None => browser.get(path),
            Some(form) => {
                keys.set(keys.get() + 1);
                browser.post(path, &format!("{form}m{}", keys.get()))
            }
        };
        table.add("nobody", &own, |_, path, form| {
            let reply = match form {
                None => world.nobody().get(path),
                Some(form) => posted(&world, "", path, "same-origin", form),
            };
            let to = reply.header("location").unwrap_or_default();
            let is_out = match form {
                None => reply.status == 303 && to.starts_with("/console/sign-in?to="),
                Some(_) => reply.status == 401,
            };
            assert!(
                is_out && !reply.body.contains("Organization 1"),
                "{path}: {reply:?}"
            );
            Some(reply)
        });
        table.add("outsider", &own, |_, path, form| {
            let reply = by(&rival, path, form);
            assert_eq!(reply.status, 404, "{path}: {reply:?}");
            assert!(!reply.body.contains("Organization 1"), "{path}: {}", reply.body);
            Some(reply)
        });
        table.add("another's ids", &theirs, |page, path, form| {
            if !has_id(page) {
                return None;
            }
            let reply = by(&admin, path, form);
            for theirs in ["Theirs", "m900@", "First 900", "Payer 900", "rival@"] {
                assert!(
                    !reply.body.contains(theirs),
                    "{path} shows {theirs}: {}",
                    reply.body
                );
            }
            Some(reply)
        });
        for (name, role, browser) in [
            ("viewer", Role::Viewer, &viewer),
            ("editor", Role::Editor, &editor),
            ("admin", Role::Admin, &admin),
        ] {
            table.add(name, &own, |page, path, form| {
                let reply = by(browser, path, form);
                let is_for_all = form.is_none() && page.is_board;
                let least = page.form.filter(|_| !is_for_all).and_then(|rule| rule.person);
                if least.is_some_and(|least| role < least) {
                    assert_eq!(reply.status, 403, "{name} {path}: {}", reply.body);
                    assert!(
                        reply.body.contains("You do not have permission"),
                        "{name} {path}: {}",
                        reply.body
                    );
                }
                Some(reply)
            });
        }
        world.place.beside("UPDATE sessions SET signed_in_at = 0");
        table.add("admin of yesterday", &own, |page, path, form| {
            let reply = by(&admin, path, form);
            if page.form.is_some_and(|rule| rule.guarded) && !page.is_board {
                match form {
                    None => assert!(
                        reply.must("location").starts_with("/console/confirm?to="),
                        "{path}: {reply:?}"
                    ),
                    Some(_) => assert!(matches!(reply.status, 403 | 422 | 404), "{path}: {reply:?}"),
                }
            }
            Some(reply)
        });
        let file = if is_open {
            "snapshots/console_pages.txt"
        } else {
            "snapshots/console_forms.txt"
        };
        bursar_testing::snapshot!(file, &table.text());
        let now = "UPDATE sessions SET signed_in_at = seen_at";
        world.place.beside(now);
    }
    world.place.check();
}
