//! The console over real sockets: signing in, what each role sees, forms and their keys, and who is kept out.

use crate::api::bundle::{NATIONAL, NORTH, RIVAL, member, organization};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use bursar_testing::Engine;

on_both_engines! {
    a_link_signs_in_once
    forms_act_once_and_can_be_undone
    nobody_comes_in_from_elsewhere
}

/// A signed-in browser.
pub(crate) struct Browser<'w> {
    pub(crate) world: &'w World,
    pub(crate) cookie: String,
}

fn sign_in_path(world: &World, user: &str) -> String {
    let made = world.run(&["sign-in-link", "--user", user]);
    let link = made["link"].as_str().unwrap().to_owned();
    link[link.find("/console").unwrap()..].to_owned()
}

pub(crate) fn posted(world: &World, cookie: &str, path: &str, site: &str, form: &str) -> Reply {
    let call = world.nobody().post(path).header("Sec-Fetch-Site", site);
    let call = match cookie {
        "" => call,
        cookie => call.header("Cookie", cookie),
    };
    call.header("Content-Type", "application/x-www-form-urlencoded")
        .bytes(form.as_bytes())
}

/// What every page tells the browser.
fn check_headers(path: &str, reply: &Reply) {
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        assert_eq!(reply.must(name), value, "{path}: {name}");
    }
    let policy = reply.must("content-security-policy");
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(
            policy.split(';').any(|held| held.trim().starts_with(rule)),
            "{path}: {rule} is not in {policy}"
        );
    }
    assert!(!policy.contains("unsafe"), "{path}: {policy}");
    let page = &reply.body;
    assert!(
        !page.contains("=\"javascript:") && !page.contains(" style=\"") && !page.contains(" onclick="),
        "{path} has a script or a style of its own: {page}"
    );
}

impl<'w> Browser<'w> {
    pub(crate) fn of(world: &'w World, user: &str) -> Self {
        let path = sign_in_path(world, user);
        let entered = posted(world, "", &path, "same-origin", "");
        assert_eq!(entered.status, 303, "{entered:?}");
        let set = entered.must("set-cookie");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Lax"), "{set}");
        let cookie = set.split(';').next().unwrap().to_owned();
        Self { world, cookie }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        let call = self.world.nobody().ask("GET", path);
        call.header("Cookie", &self.cookie).send()
    }

    pub(crate) fn page(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        check_headers(path, &reply);
        reply.body
    }

    pub(crate) fn post(&self, path: &str, form: &str) -> Reply {
        posted(self.world, &self.cookie, path, "same-origin", form)
    }

    /// Where a form leads.
    pub(crate) fn sent(&self, path: &str, form: &str) -> String {
        let reply = self.post(path, form);
        assert_eq!(reply.status, 303, "{reply:?}");
        reply.must("location").to_owned()
    }
}

/// Where the same form leads when it is sent once more, after it led to `done`.
pub(crate) fn again(done: &str) -> String {
    format!("{done}&again=yes")
}

pub(crate) fn at(of: u32, end: &str) -> String {
    format!("/console/{}{end}", organization(of))
}

fn a_link_signs_in_once(engine: Engine) {
    let world = World::new(engine);
    let path = sign_in_path(&world, "admin@people.example");
    let open = world.nobody().get(&path);
    assert_eq!(open.status, 200);
    assert!(open.body.contains("Sign in as admin?"), "{}", open.body);
    assert!(
        open.header("set-cookie").is_none(),
        "opening a link changes nothing"
    );
    let entered = posted(&world, "", &path, "same-origin", "");
    assert_eq!((entered.status, entered.must("location")), (303, "/console"));
    for again in [
        posted(&world, "", &path, "same-origin", ""),
        world.nobody().get(&path),
        world.nobody().get("/console/sign-in/0123"),
    ] {
        assert_eq!(again.status, 404);
        assert!(again.body.contains("no longer works"), "{}", again.body);
    }
    let admin = Browser {
        world: &world,
        cookie: entered.must("set-cookie").split(';').next().unwrap().to_owned(),
    };
    assert!(
        admin
            .page(&at(NATIONAL, ""))
            .contains("Collected against expected")
    );
    assert_eq!(admin.sent("/console/sign-out", ""), "/console/sign-in");
    let after = admin.get(&at(NATIONAL, ""));
    let to = format!("/console/sign-in?to={}", at(NATIONAL, ""));
    assert_eq!((after.status, after.must("location")), (303, to.as_str()));

    // The filters of a list outlive the sign-in.
    let list = at(NATIONAL, "/charges?show=all&from=2026-01-01");
    let asked = admin.get(&list);
    let to = asked.must("location").to_owned();
    assert_eq!(
        (asked.status, to.as_str()),
        (
            303,
            format!(
                "/console/sign-in?to={}%3Fshow%3Dall%26from%3D2026%2D01%2D01",
                at(NATIONAL, "/charges")
            )
            .replace("%2D", "-")
            .as_str()
        )
    );
    let page = world.nobody().get(&to).body;
    let field = format!("name=\"to\" value=\"{}\"", list.replace('&', "&#38;"));
    assert!(page.contains(&field), "{field}: {page}");
    for elsewhere in [
        "//evil.example",
        "/console/x?a=//evil.example",
        "https%3A%2F%2Fevil.example",
    ] {
        let page = world
            .nobody()
            .get(&format!("/console/sign-in?to={elsewhere}"))
            .body;
        assert!(!page.contains("evil"), "{elsewhere}: {page}");
    }
}

fn forms_act_once_and_can_be_undone(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");

    // A viewer sees no button, and the form refuses.
    let members = at(NATIONAL, "/members");
    assert!(editor.page(&members).contains("Add a member"));
    assert!(!viewer.page(&members).contains("Add a member"));
    let new = "first-name=Ada&last-name=%3Cb%3EEk%3C%2Fb%3E&email=ada@example.org&key=k1";
    let refused = viewer.post(&at(NATIONAL, "/members/new"), new);
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(
        refused.body.contains("You do not have permission"),
        "{}",
        refused.body
    );

    // A double click acts once; markup is text.
    let first = editor.sent(&at(NATIONAL, "/members/new"), new);
    assert_eq!(editor.sent(&at(NATIONAL, "/members/new"), new), again(&first));
    let page = editor.page(&first);
    assert!(page.contains("<p>Added Ada &#60;b&#62;Ek"), "{page}");
    let page = editor.page(&again(&first));
    assert!(
        page.contains("<p>You already sent this. Added Ada &#60;b&#62;Ek"),
        "{page}"
    );
    // The filters of a list do not keep it.
    let list = editor.page(&at(NATIONAL, "/charges?show=all&done=k1&again=yes"));
    assert!(
        list.contains("You already sent this.") && !list.contains("again=yes"),
        "{list}"
    );
    assert!(!page.contains("<b>Ek"));
    let found = editor.page(&at(NATIONAL, "/members?q=ada%20ek"));
    assert_eq!(found.matches("ada@example.org").count(), 1, "{found}");
    let reused = editor.post(&at(NATIONAL, "/members/new"), "first-name=B&last-name=C&key=k1");
    assert_eq!(reused.status, 422);
    assert!(
        reused.body.contains("sent before with other values"),
        "{}",
        reused.body
    );

    // What is wrong stands beside its field, and what was typed stays.
    let wrong = editor.post(
        &at(NATIONAL, "/members/new"),
        "first-name=Bo&last-name=Ek&email=nowhere&key=k2",
    );
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("id=\"email-error\"") && wrong.body.contains("value=\"nowhere\""));

    // Raise with a preview, record money, undo.
    let raise = at(NATIONAL, "/charges/new");
    let charge = "member=ada@example.org&amount=1200&description=Boat&due-date=2026-12-01";
    let preview = editor.post(&raise, &format!("{charge}&step=preview"));
    assert!(
        preview.body.contains("Raise 1 charge, 1,200.00 USD in all"),
        "{}",
        preview.body
    );
    // Back to the form, with what was typed.
    assert!(
        preview.body.contains("form=\"change\">Change</button>"),
        "{}",
        preview.body
    );
    let changed = editor.post(&raise, &format!("step=change&{charge}"));
    assert_eq!(changed.status, 200, "{changed:?}");
    assert!(!changed.body.contains("Raise 1 charge"), "{}", changed.body);
    for typed in ["value=\"1200\"", "value=\"Boat\"", "value=\"2026-12-01\""] {
        assert!(changed.body.contains(typed), "{typed}: {}", changed.body);
    }
    assert!(!changed.body.contains("class=\"error\""), "{}", changed.body);
    assert_eq!(viewer.post(&raise, "step=change").status, 403);
    let done = editor.sent(&raise, &format!("{charge}&step=do&key=k3"));
    let page = editor.page(&done);
    let undo = page
        .split("/undo/")
        .nth(1)
        .expect("an undo")
        .split('"')
        .next()
        .unwrap();
    let undone = editor.sent(&at(NATIONAL, &format!("/undo/{undo}")), "key=k4");
    assert!(editor.page(&undone).contains("Undid 1 change."));
    let money = at(NATIONAL, "/money/new");
    let stack = editor.sent(
        &money,
        "payer=ada@example.org&amount=30&method=cash&next=yes&key=k5",
    );
    let next = editor.page(&stack);
    assert!(
        next.contains("Recorded 30.00 USD from Ada ") && next.contains("as credit."),
        "{next}"
    );
    assert!(next.contains("<option value=\"cash\" selected>"), "{next}");
    let again = editor.post(&money, "payer=ada@example.org&amount=30&method=cash&key=k6");
    assert_eq!(again.status, 422);
    assert!(again.body.contains("record it again"), "{}", again.body);
    for end in [
        "/charges",
        "/charges?show=all",
        "/groups",
        "/money",
        "/journal",
        "",
    ] {
        viewer.page(&at(NATIONAL, end));
    }
    // The log of activity is the admins'.
    assert_eq!(viewer.get(&at(NATIONAL, "/activity")).status, 403);

    // A role that is taken away is gone on the next request.
    let of = organization(NATIONAL);
    world.output(&[
        "role",
        "remove",
        "--organization",
        &of,
        "--user",
        "viewer@people.example",
        "--yes",
    ]);
    assert_eq!(viewer.get(&at(NATIONAL, "")).status, 404);
    world.place.check();
}

fn nobody_comes_in_from_elsewhere(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "second@people.example");
    let path = at(NATIONAL, "/members/new");
    let form = "first-name=A&last-name=B&key=k";
    for site in ["cross-site", "same-site", "none"] {
        let reply = posted(&world, &editor.cookie, &path, site, form);
        assert_eq!(reply.status, 403, "{site}");
    }
    let silent = world.nobody().post(&path).header("Cookie", &editor.cookie);
    let typed = silent.header("Content-Type", "application/x-www-form-urlencoded");
    assert_eq!(typed.clone().bytes(form.as_bytes()).status, 403);
    let other = typed.header("Origin", "https://evil.example");
    assert_eq!(other.bytes(form.as_bytes()).status, 403);

    // Other organizations' pages, members and forms do not exist.
    for path in [
        at(RIVAL, ""),
        at(NORTH, "/members"),
        at(NATIONAL, &format!("/members/{}", member(1001))),
        at(NATIONAL, "/nothing"),
        "/console/org_x".to_owned(),
    ] {
        assert_eq!(editor.get(&path).status, 404, "{path}");
    }
    assert_eq!(editor.post(&at(RIVAL, "/members/new"), form).status, 404);

    // No cookie, another's, two of them, or a bearer token.
    let name = editor.cookie.split('=').next().unwrap();
    for cookie in [
        "a=b".to_owned(),
        format!("{name}=00"),
        format!("{0}; {0}", editor.cookie),
    ] {
        let reply = world
            .nobody()
            .ask("GET", &at(NATIONAL, ""))
            .header("Cookie", &cookie)
            .send();
        assert_eq!(
            (reply.status, reply.must("location").split('?').next()),
            (303, Some("/console/sign-in")),
            "{cookie}"
        );
    }
    assert_eq!(world.admin().get(&at(NATIONAL, "")).status, 303);
    // And the API does not read the cookie.
    let api = world
        .nobody()
        .ask("GET", "/v1/members")
        .header("Cookie", &editor.cookie)
        .send();
    assert_eq!(api.status, 401);
    assert_eq!(
        world
            .nobody()
            .ask("GET", "/")
            .header("Accept", "text/html")
            .send()
            .must("location"),
        "/console"
    );
}
