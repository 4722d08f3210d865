//! Who may do what: every operation, called by every kind of caller. A rule that no call here asks fails the test, and so
//! does an operation that does not ask its rule before it looks at anything else.

mod calls;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use bursar_app::member_access::{self, Entry};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{Act, App, AppError, Identity, Rule, View, Whole, roles, rules};
use bursar_db::testing::TestDb;
use bursar_domain::Refusal;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::{Id, TokenId, UserId};
use bursar_domain::member_access::{LinkKey, MemberLink};
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::code::digits;
use bursar_domain::token::hash;

use crate::support::{app_at, bundle, import_now, mem, now, org};

/// What the rule says of the caller, and what the operation says when it is called with things that are not there.
type Said = (Result<(), AppError>, Result<(), AppError>);
type Run = dyn Fn(&App, Identity) -> Said;

/// An operation to call.
struct Call {
    rule: &'static Rule,
    run: Box<Run>,
}

fn call(rule: &'static Rule, run: impl Fn(&App, Identity) -> Result<Said, AppError> + 'static) -> Call {
    let run = Box::new(move |app: &App, who| run(app, who).unwrap());
    Call { rule, run }
}

fn act<T: 'static>(rule: &'static Rule, work: fn(&mut Act<'_, '_>) -> Result<T, AppError>) -> Call {
    call(rule, move |app, who| {
        let work = move |act: &mut Act<'_, '_>| Ok((rule.check(act.caller()), work(act).map(drop)));
        app.act(who, org(1), work).wait()
    })
}

fn view<T: 'static>(rule: &'static Rule, work: fn(&mut View<'_, '_>) -> Result<T, AppError>) -> Call {
    call(rule, move |app, who| {
        let work = move |view: &mut View<'_, '_>| Ok((rule.check(view.caller()), work(view).map(drop)));
        app.view(who, org(1), work).wait()
    })
}

fn whole<T: 'static>(rule: &'static Rule, work: fn(&mut Whole<'_, '_>) -> Result<T, AppError>) -> Call {
    call(rule, move |app, who| {
        let work = move |whole: &mut Whole<'_, '_>| Ok((rule.check(whole.caller()), work(whole).map(drop)));
        app.change(who, org(1), work).wait()
    })
}

/// An operation that makes its own transactions.
fn by_itself(rule: &'static Rule, run: fn(&App, Identity) -> Result<(), AppError>) -> Call {
    call(rule, move |app, who| {
        let check = app.look(who, move |whole| Ok::<_, AppError>(rule.check(whole.caller())));
        Ok((check.wait()?, run(app, who)))
    })
}

/// An id of nothing.
fn no<K>() -> Id<K> {
    Id::from_bits(u128::MAX)
}

/// Somebody of every kind, with every scope where it is a token.
fn callers(app: &App) -> Vec<(String, Identity)> {
    let mut callers = vec![
        ("operator".to_owned(), Identity::Operator),
        ("worker".to_owned(), Identity::Worker),
        ("visitor".to_owned(), Identity::Visitor),
    ];
    let everything = ScopeSet::of(Scope::ALL);
    for role in Role::ALL.iter().copied().rev() {
        callers.push((role.to_string(), Identity::Person(person(app, role))));
    }
    callers.push(("no role".to_owned(), Identity::Person(no())));
    for role in Role::ALL.iter().copied().rev() {
        let holder = Holder::Person(email(role));
        callers.push((format!("{role}'s token"), token(app, holder, everything)));
    }
    for role in [Role::Editor, Role::Viewer] {
        let holder = Holder::Service(role);
        callers.push((format!("service {role}"), token(app, holder, everything)));
    }
    let (link, session) = member(app);
    callers.push(("member's link".to_owned(), link));
    callers.push(("member's code".to_owned(), session));
    callers
}

/// A member of the organization, by a link and by a code.
fn member(app: &App) -> (Identity, Identity) {
    let key = LinkKey([7; 32]);
    let announced = app.change(Identity::Operator, org(1), {
        let key = key.clone();
        move |whole| member_access::announce(whole, "https://dues.example.org", &key.0)
    });
    let announced: Result<(), AppError> = announced.wait();
    announced.unwrap();
    let link = Identity::Link(MemberLink::sign(&key, org(1), mem(1), now()));
    let asked = app.act(link, org(1), |act| {
        member_access::ask_own(act, "a browser", &[0; 32])
    });
    let asked: Result<_, AppError> = asked.wait();
    asked.unwrap();
    let session = SecretHash::of("a session");
    let entered = app.change(Identity::Visitor, org(1), move |whole| {
        member_access::enter(whole, "a browser", &digits(&[0; 32]), session)
    });
    let entered: Result<_, AppError> = entered.wait();
    assert_eq!(entered.unwrap(), Entry::In);
    (link, Identity::MemberSession(session))
}

fn email(role: Role) -> String {
    format!("{role}@example.org")
}

fn person(app: &App, role: Role) -> UserId {
    let set = app.act(Identity::Operator, org(1), move |act| {
        roles::set(act, &email(role), role)
    });
    let set: Result<_, AppError> = set.wait();
    set.unwrap().user.id
}

fn token(app: &App, holder: Holder, scopes: ScopeSet) -> Identity {
    issue(app, holder, scopes).0
}

fn issue(app: &App, holder: Holder, scopes: ScopeSet) -> (Identity, TokenId) {
    let new = NewToken {
        holder,
        name: None,
        scopes,
        days: None,
    };
    let entropy = bursar_testing::entropy();
    let made = app.act(Identity::Operator, org(1), move |act| {
        tokens::create(act, &new, &entropy)
    });
    let made: Result<_, AppError> = made.wait();
    let made = made.unwrap();
    (Identity::Token(hash(made.secret.expose())), made.record.id)
}

const fn is_for_lack_of_rights(error: &AppError) -> bool {
    matches!(
        error,
        AppError::Refused(Refusal::Forbidden { .. }) | AppError::Withheld { .. } | AppError::Stale
    )
}

impl Call {
    /// Whether somebody may. The operation must refuse whom its rule refuses, before anything else.
    #[track_caller]
    fn may(&self, app: &App, name: &str, who: Identity) -> bool {
        let (rule, operation) = (self.run)(app, who);
        let place = format!("{} by {name}", self.rule.name);
        match (&rule, &operation) {
            (Err(_), Err(error)) => assert!(is_for_lack_of_rights(error), "{place}: {error}"),
            (Err(rule), Ok(())) => panic!("{place} is done, and {rule}"),
            (Ok(()), Err(error)) => assert!(!is_for_lack_of_rights(error), "{place}: {error}"),
            (Ok(()), Ok(())) => {}
        }
        rule.is_ok()
    }
}

#[test]
fn every_operation_by_every_caller() {
    let test = TestDb::sqlite();
    let own = serde_json::json!({ "type": "organization", "id": org(1), "name": "Club", "kind": "national" });
    let member = serde_json::json!({
        "type": "member", "id": mem(1), "organizationId": org(1), "firstName": "Ada", "lastName": "Ek",
        "email": "ada@example.org", "isActive": true, "groups": [],
    });
    import_now(&test.db, &bundle(&[own, member])).unwrap();
    let app = app_at(&test.db, now());
    let callers = callers(&app);
    let lacking: Vec<Identity> = Scope::ALL
        .iter()
        .map(|scope| {
            let others = ScopeSet::of(Scope::ALL).without(ScopeSet::of(&[*scope]));
            token(&app, Holder::Person(email(Role::Admin)), others)
        })
        .collect();

    let (_, service) = issue(&app, Holder::Service(Role::Viewer), ScopeSet::of(Scope::ALL));
    let calls = calls::all(service);
    for call in &calls {
        assert!(
            rules().any(|rule| rule == call.rule),
            "{} is not in the list",
            call.rule.name
        );
    }
    let mut rows = vec![vec!["operation".to_owned()]];
    rows[0].extend(callers.iter().map(|(name, _)| name.clone()));
    rows[0].push("scopes of a token".to_owned());
    for rule in rules() {
        let its: Vec<&Call> = calls.iter().filter(|call| call.rule == rule).collect();
        assert!(!its.is_empty(), "no call asks {}", rule.name);
        let mut row = vec![rule.name.to_owned()];
        for (name, who) in &callers {
            let may: Vec<bool> = its.iter().map(|call| call.may(&app, name, *who)).collect();
            row.push(if may[0] { "yes" } else { "-" }.to_owned());
        }
        row.push(
            rule.token
                .map_or_else(|| "-".to_owned(), |scopes| scopes.to_string()),
        );
        rows.push(row);
        for (scope, token) in Scope::ALL.iter().zip(&lacking) {
            if rule.token.is_some_and(|scopes| scopes.has(*scope)) {
                for call in &its {
                    assert!(!call.may(&app, "a token that lacks a scope", *token), "{scope:?}");
                }
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/snapshots/access.txt");
    let now = aligned(&rows);
    #[expect(clippy::disallowed_methods, reason = "whoever runs the test asks for it")]
    let is_renewed = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    if is_renewed {
        fs::write(&path, &now).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|then| then == now),
        "who may do what has changed; UPDATE_SNAPSHOTS=1 renews {}:\n{now}",
        path.display()
    );
}

fn aligned(rows: &[Vec<String>]) -> String {
    let width = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        let cells = row
            .iter()
            .enumerate()
            .map(|(i, cell)| format!("{cell:w$}", w = width(i)));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).unwrap();
    }
    out
}

/// Every public function that takes an act, a view or the whole asks a rule in its first lines, and is called above.
#[test]
fn every_public_function_asks_a_rule_and_is_called() {
    let table = include_str!("access/calls.rs");
    let mut count = 0;
    for (module, text) in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        for part in text.split("\npub fn ").skip(1) {
            let Some((signature, body)) = part.split_once("{\n") else {
                continue;
            };
            let takes = |what: &str| signature.contains(&format!("{what}<'_, '_>"));
            if !["Act", "View", "Whole"].into_iter().any(takes) {
                continue;
            }
            let name = signature.split(['(', '<']).next().unwrap();
            let start: Vec<&str> = body.lines().take(3).collect();
            let asks = start.iter().any(|line| line.contains(".allow("));
            let is_filter = start.iter().any(|line| line.contains(".may("));
            assert!(asks || is_filter, "{module}::{name} does not ask first who calls");
            // Its folder's name may lead to it, or its file's.
            let is_called = module.split('/').any(|module| {
                let called = format!("{module}::{name}");
                let mut found = table.match_indices(&called);
                found.any(|(at, _)| table[at + called.len()..].starts_with(['(', ')', ',', ':']))
            });
            assert!(is_called, "{module}::{name} is not in the table of calls");
            count += 1;
        }
    }
    assert!(count > 50, "the sources are read: {count}");
}

/// The sources of the crate, each with its path: `tokens/record`.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true => found.extend(
                sources(&path)
                    .into_iter()
                    .map(|(below, text)| (format!("{name}/{below}"), text)),
            ),
            false => found.push((name, fs::read_to_string(&path).unwrap())),
        }
    }
    found
}
