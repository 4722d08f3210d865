//! The access matrix: every endpoint by every kind of caller, made from `ROUTES` and held to the seed's table.

use std::fmt::Write as _;

use bursar_api::routes::{KeyRule, Operation, ROUTES, Route};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{CELLS, NATIONAL, NORTH, SOUTH, group, id, member, organization, reminder};
use super::http::Reply;
use super::world::{Caller, World, on_both_engines};

on_both_engines! { every_endpoint_by_every_caller }

/// The seed's table of endpoints, and those beyond it: method, path, scopes, least role, key required.
const TABLE: &[(&str, &str, &[&str], &str, bool)] = &[
    ("POST", "/v1/cards", &["cards:write"], "admin", true),
    ("GET", "/v1/cards", &["cards:read"], "editor", false),
    (
        "POST",
        "/v1/reminders/{reminderId}/send",
        &["reminders:write"],
        "editor",
        true,
    ),
    ("GET", "/v1/reminders", &["reminders:read"], "viewer", false),
    (
        "GET",
        "/v1/members/{memberId}",
        &["members:read"],
        "viewer",
        false,
    ),
    (
        "PATCH",
        "/v1/members/{memberId}",
        &["members:write"],
        "editor",
        false,
    ),
    ("GET", "/v1/members", &["members:read"], "viewer", false),
    ("POST", "/v1/groups", &["groups:write"], "editor", true),
    ("GET", "/v1/groups", &["groups:read"], "viewer", false),
    ("GET", "/v1/groups/{groupId}", &["groups:read"], "viewer", false),
    (
        "PATCH",
        "/v1/groups/{groupId}",
        &["groups:write"],
        "editor",
        false,
    ),
    (
        "DELETE",
        "/v1/groups/{groupId}/members/{memberId}",
        &["groups:write"],
        "editor",
        false,
    ),
    ("GET", "/v1/chapters", &["chapters:read"], "viewer", false),
    (
        "GET",
        "/v1/chapters/{chapterId}/members",
        &["chapters:read", "members:read"],
        "viewer",
        false,
    ),
    (
        "GET",
        "/v1/reimbursements",
        &["reimbursements:read"],
        "viewer",
        false,
    ),
    ("GET", "/v1/payments", &["payments:read"], "viewer", false),
    ("GET", "/v1/campaigns", &["fundraise:read"], "viewer", false),
    (
        "GET",
        "/v1/campaigns/{campaignId}",
        &["fundraise:read"],
        "viewer",
        false,
    ),
    ("GET", "/v1/store/listings", &["store:read"], "viewer", false),
    (
        "GET",
        "/v1/store/listings/{listingId}",
        &["store:read"],
        "viewer",
        false,
    ),
    ("GET", "/v1/store/orders", &["store:read"], "viewer", false),
    (
        "GET",
        "/v1/store/orders/{orderId}",
        &["store:read"],
        "viewer",
        false,
    ),
    ("GET", "/v1/events", &["events:read"], "viewer", false),
    ("GET", "/v1/events/{eventId}", &["events:read"], "viewer", false),
    ("GET", "/v1/token", &[], "viewer", false),
    ("GET", "/v1/openapi.json", &[], "viewer", false),
];

#[test]
fn the_routes_are_those_of_the_contract() {
    let routes: Vec<_> = ROUTES
        .iter()
        .map(|route| {
            let scopes: Vec<&str> = route.scopes().iter().map(Scope::as_str).collect();
            (
                route.method.as_str(),
                route.path,
                scopes,
                route.role().as_str(),
                route.key == KeyRule::Required,
            )
        })
        .collect();
    let table: Vec<_> = TABLE
        .iter()
        .map(|(method, path, scopes, role, key)| (*method, *path, scopes.to_vec(), *role, *key))
        .collect();
    assert_eq!(routes, table);
}

/// A request that succeeds for whoever may make it; each cell has things of its own to change.
fn call(caller: &Caller<'_>, route: &Route, cell: u32, is_foreign: bool) -> Reply {
    let pick = |own: u32| if is_foreign { 900 } else { own };
    let path = match route.operation {
        Operation::ListChapterMembers if is_foreign => route.path.replace("{chapterId}", &organization(5)),
        // An event has no id that is known before it happens.
        Operation::GetEvent if !is_foreign => {
            let events = caller.get("/v1/events?limit=1").json();
            let id = events["data"][0]["id"].as_str().unwrap_or_default().to_owned();
            route.path.replace("{eventId}", &id)
        }
        Operation::RemoveGroupMember => {
            let path = route.path.replace("{groupId}", &group(pick(50)));
            path.replace("{memberId}", &member(pick(CELLS.start + cell)))
        }
        _ => route
            .path
            .replace("{chapterId}", &organization(NORTH))
            .replace("{reminderId}", &reminder(pick(CELLS.start + cell)))
            .replace("{memberId}", &member(pick(1)))
            .replace("{groupId}", &group(pick(1)))
            .replace("{campaignId}", &id("cmp", pick(1)))
            .replace("{listingId}", &id("lst", pick(1)))
            .replace("{orderId}", &id("ord", pick(1)))
            .replace("{eventId}", &id("evt", 900)),
    };
    let call = caller
        .ask(route.method.as_str(), &path)
        .key(&format!("{}-{cell}", route.name));
    match route.operation {
        Operation::CreateCard => call.json(json!({
            "name": "Card", "spendLimit": 10, "spendLimitFrequency": "daily",
            "assignedMemberId": member(pick(1)),
        })),
        Operation::UpdateMember => call.json(json!({ "firstName": format!("Cell {cell}") })),
        Operation::CreateGroup | Operation::UpdateGroup => {
            call.json(json!({ "name": format!("Cell {cell}") }))
        }
        _ => call.send(),
    }
}

/// What the seed's table says of this endpoint for a caller with this role and these scopes.
fn expected(route: &Route, role: Role, scopes: ScopeSet) -> u16 {
    let row = TABLE
        .iter()
        .find(|row| (row.0, row.1) == (route.method.as_str(), route.path))
        .unwrap();
    let has_role = role >= Role::parse(row.3).unwrap();
    let has_scopes = row.2.iter().all(|scope| scopes.has(Scope::parse(scope).unwrap()));
    if has_role && has_scopes {
        route.success
    } else {
        403
    }
}

struct Matrix {
    rows: Vec<Vec<String>>,
    cell: u32,
}

impl Matrix {
    /// One column: every endpoint by one caller.
    fn column(&mut self, name: &str, mut cell: impl FnMut(&'static Route, u32) -> Option<Reply>) {
        self.cell += 1;
        self.rows[0].push(name.to_owned());
        for (route, row) in ROUTES.iter().zip(&mut self.rows[1..]) {
            let reply = cell(route, self.cell);
            row.push(reply.map_or_else(|| "-".to_owned(), |reply| reply.status.to_string()));
        }
    }

    fn table(&self) -> String {
        let width = |i: usize| self.rows.iter().map(|row| row[i].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        let mut out = String::new();
        for row in &self.rows {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"));
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end()).unwrap();
        }
        out
    }
}

fn every_endpoint_by_every_caller(engine: Engine) {
    let world = World::with(
        engine,
        &[
            "--rate-limit-read",
            "100000",
            "--rate-limit-write",
            "100000",
            "--rate-limit-messaging",
            "100000",
        ],
    );
    let all = ScopeSet::of(Scope::ALL);
    let first = |route: &Route| format!("{} {}", route.method.as_str(), route.path);
    let rows =
        std::iter::once(vec!["endpoint".to_owned()]).chain(ROUTES.iter().map(|route| vec![first(route)]));
    let mut matrix = Matrix {
        rows: rows.collect(),
        cell: 0,
    };

    world
        .admin()
        .patch(&format!("/v1/groups/{}", group(3)))
        .json(json!({ "name": "An event" }))
        .ok();
    let admin = world.admin().token().unwrap();
    let unknown = {
        let revoked_elsewhere = world.service_token(Role::Editor, SOUTH, all);
        world
            .place
            .damage("UPDATE tokens SET hash = organization_id WHERE kind = 'service'");
        revoked_elsewhere.secret
    };
    let expired = world
        .personal_token("second@people.example", NATIONAL, all)
        .secret;
    world.place.damage("UPDATE tokens SET ends_at = 1, expires_at = 1 WHERE user_id = (SELECT id FROM users WHERE name = 'second')");
    let revoked = world.personal_token("admin@people.example", NATIONAL, all);
    world.run(&["token", "revoke", &revoked.id]);
    let mut mangled = admin.secret.clone();
    mangled.replace_range(20..21, if &admin.secret[20..21] == "x" { "y" } else { "x" });

    matrix.column("no token", refused(world.nobody()));
    matrix.column("malformed", refused(world.bearer(&mangled)));
    matrix.column("unknown", refused(world.bearer(&unknown)));
    matrix.column("expired", refused(world.bearer(&expired)));
    matrix.column("revoked", refused(world.bearer(&revoked.secret)));

    matrix.column("viewer", by_role(world.viewer(), Role::Viewer));
    matrix.column("editor", by_role(world.editor(), Role::Editor));
    matrix.column("admin", by_role(world.admin(), Role::Admin));
    matrix.column(
        "service viewer",
        by_role(world.service(Role::Viewer), Role::Viewer),
    );
    matrix.column(
        "service editor",
        by_role(world.service(Role::Editor), Role::Editor),
    );

    for place in 0..2 {
        matrix.column(
            if place == 0 {
                "1st scope missing"
            } else {
                "2nd scope missing"
            },
            |route, cell| {
                let missing = route.scopes().iter().nth(place)?;
                let reply = call(
                    &world.admin().without(ScopeSet::of(&[missing])),
                    route,
                    cell,
                    false,
                );
                let error = reply.refused(403, "insufficient_scope");
                assert_eq!(error["requiredScopes"], scopes_of(route));
                let message = error["message"].as_str().unwrap();
                assert!(
                    message.contains(missing.as_str()) && message.contains("token"),
                    "{message}"
                );
                Some(reply)
            },
        );
    }
    matrix.column("foreign ids", |route, cell| {
        let reply = call(&world.admin(), route, cell, true);
        let has_id = route.path.contains('{') || route.operation == Operation::CreateCard;
        assert_eq!(
            reply.status,
            if has_id { 404 } else { route.success },
            "{}: {}",
            reply.asked,
            reply.body
        );
        assert!(
            !reply.body.contains("Theirs") && (reply.status != 200 || !reply.body.contains("00900\"")),
            "{}",
            reply.asked
        );
        Some(reply)
    });
    let blocked = all.to_string().replace(' ', "");
    world.run(&[
        "policy",
        "set",
        "--organization",
        &organization(NATIONAL),
        "--block-scope",
        &blocked,
    ]);
    matrix.column("blocked by policy", |route, cell| {
        let reply = call(&world.admin(), route, cell, false);
        if route.scopes().is_empty() {
            assert_eq!(reply.status, 200);
        } else {
            let error = reply.refused(403, "insufficient_scope");
            assert_eq!(error["requiredScopes"], scopes_of(route));
            assert!(error["message"].as_str().unwrap().contains("policy"), "{error}");
        }
        Some(reply)
    });
    bursar_testing::snapshot!("snapshots/access.txt", &matrix.table());
}

/// Cells of somebody whose token does not work: the document is for everybody, all else is refused.
fn refused(caller: Caller<'_>) -> impl FnMut(&'static Route, u32) -> Option<Reply> {
    move |route, cell| {
        let reply = call(&caller, route, cell, false);
        if route.operation == Operation::GetOpenapi {
            assert_eq!(reply.status, 200, "{}", reply.asked);
        } else {
            reply.refused(401, "invalid_token");
            assert_eq!(reply.must("www-authenticate"), "Bearer realm=\"bursar\"");
        }
        Some(reply)
    }
}

/// Cells of somebody with this role and every scope.
fn by_role(caller: Caller<'_>, role: Role) -> impl FnMut(&'static Route, u32) -> Option<Reply> {
    move |route, cell| {
        let reply = call(&caller, route, cell, false);
        let status = expected(route, role, ScopeSet::of(Scope::ALL));
        assert_eq!(reply.status, status, "{role} {}: {}", reply.asked, reply.body);
        if reply.status == 403 {
            let error = reply.refused(403, "insufficient_scope");
            assert_eq!(error["requiredScopes"], scopes_of(route));
            assert!(
                error["message"]
                    .as_str()
                    .unwrap()
                    .contains(&format!("role {role}")),
                "{error}"
            );
        }
        Some(reply)
    }
}

fn scopes_of(route: &Route) -> Value {
    route.scopes().iter().map(Scope::as_str).collect()
}
