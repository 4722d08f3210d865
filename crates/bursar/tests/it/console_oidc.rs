//! Signing in to the console with a login at an OpenID Connect provider, and answers that let nobody in.

mod provider;

use std::thread::sleep;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bursar_testing::{Engine, eventually};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::provider::Provider;
use crate::api::bundle::NATIONAL;
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at, posted};
use crate::console_sign_in::{codes, letters};
use crate::support::Place;

on_both_engines! {
    a_new_login_is_linked_by_a_code_and_then_signs_in
    answers_that_prove_nothing_let_nobody_in
    any_server_finishes_a_sign_in
}

const ADMIN: &str = "admin@people.example";
const CALLBACK: &str = "/console/sign-in/oidc/callback";

fn flags(provider: &Provider) -> Vec<&str> {
    let mut flags = vec!["--oidc-issuer", &provider.issuer, "--oidc-name", "Club <login>"];
    flags.extend(["--oidc-client-id", "bursar", "--oidc-client-secret", "s3cr=t"]);
    flags.extend(["--rate-limit-messaging", "1000"]);
    flags
}

/// A browser that was sent to the provider.
struct Sent {
    cookie: String,
    address: url::Url,
}

impl Sent {
    fn get(&self, name: &str) -> String {
        let found = self.address.query_pairs().find(|(field, _)| field == name);
        found
            .unwrap_or_else(|| panic!("no {name} in {}", self.address))
            .1
            .into_owned()
    }

    fn has(&self, name: &str) -> bool {
        self.address.query_pairs().any(|(field, _)| field == name)
    }
}

fn cookie(reply: &Reply) -> String {
    reply.must("set-cookie").split(';').next().unwrap().to_owned()
}

fn send(world: &World, provider: &Provider, cookie_before: &str, more: &str) -> Sent {
    let form = format!("origin={}&{more}", provider.issuer);
    let sent = posted(
        world,
        cookie_before,
        "/console/sign-in/oidc",
        "same-origin",
        &form,
    );
    assert_eq!(sent.status, 303, "{sent:?}");
    Sent {
        cookie: cookie(&sent),
        address: sent.must("location").parse().unwrap(),
    }
}

fn come_back(world: &World, cookie: &str, query: &str) -> Reply {
    let asked = world.nobody().ask("GET", &format!("{CALLBACK}?{query}"));
    asked.header("Cookie", cookie).send()
}

/// The server's time in seconds.
fn now(world: &World) -> i64 {
    let micros = world.place.count_beside("SELECT MAX(created_at) FROM ceremonies");
    micros / 1_000_000
}

fn claims(provider: &Provider, sent: &Sent, subject: &str, proved_at: i64) -> Value {
    json!({
        "iss": provider.issuer, "aud": "bursar", "sub": subject, "email": ADMIN, "nonce": sent.get("nonce"),
        "iat": proved_at, "exp": 4_102_444_800_i64, "auth_time": proved_at,
    })
}

/// To the provider and back, as this subject, who proved it so many seconds ago.
fn go(world: &World, provider: &Provider, subject: &str, ago: i64, more: &str) -> (Sent, Reply) {
    let sent = send(world, provider, "", more);
    let told = claims(provider, &sent, subject, now(world) - ago);
    provider.tell(|it| it.claims = told);
    let back = come_back(
        world,
        &sent.cookie,
        &format!("code=c&state={}", sent.get("state")),
    );
    (sent, back)
}

fn code_for(world: &World, email: &str, but: &[String]) -> String {
    eventually("a code is mailed", || {
        codes(world, email).into_iter().find(|code| !but.contains(code))
    })
}

fn a_new_login_is_linked_by_a_code_and_then_signs_in(engine: Engine) {
    let provider = Provider::start();
    let world = World::with(engine, &flags(&provider));
    let to = at(NATIONAL, "/members");
    let page = world.nobody().get(&format!("/console/sign-in?to={to}"));
    assert!(
        page.body.contains("Sign in with Club &#60;login&#62;"),
        "{}",
        page.body
    );
    let leads = format!("form-action 'self' {};", provider.issuer);
    assert!(page.must("content-security-policy").contains(&leads), "{page:?}");

    // There, with everything that makes the answer ours.
    let (sent, back) = go(&world, &provider, "ada|1", 0, &format!("to={to}"));
    assert_eq!(sent.address.path(), "/auth");
    for (name, expected) in [
        ("response_type", "code"),
        ("client_id", "bursar"),
        ("scope", "openid email"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(sent.get(name), expected, "{name}");
    }
    assert!(sent.get("redirect_uri").ends_with(CALLBACK), "{}", sent.address);
    assert!(!sent.has("prompt"), "{}", sent.address);
    let (head, form) = provider.redeemed();
    assert!(
        head.to_ascii_lowercase().contains("authorization: basic"),
        "{head}"
    );
    let verifier = form.split("code_verifier=").nth(1).unwrap();
    let verifier = verifier.split('&').next().unwrap();
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    assert_eq!(sent.get("code_challenge"), challenge);

    // A new login signs nobody in. It waits in this browser for a code.
    assert_eq!((back.status, back.header("set-cookie")), (303, None), "{back:?}");
    let link = back.must("location").to_owned();
    assert!(
        link.starts_with("/console/sign-in/oidc/link?to=/console/org_"),
        "{link}"
    );
    let secret = link.split("login=").nth(1).unwrap();
    let page = world
        .nobody()
        .ask("GET", &link)
        .header("Cookie", &sent.cookie)
        .send();
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains(&format!("value=\"{ADMIN}\"")), "{}", page.body);
    assert!(
        !page.must("content-security-policy").contains("http:"),
        "{page:?}"
    );
    assert_eq!(world.nobody().get(&link).status, 404, "another browser");

    // Whether the address is known is not told.
    let mut told = Vec::new();
    for email in ["nobody@example.org", ADMIN] {
        let form = format!("email={email}&login={secret}&to={to}");
        let asked = posted(&world, &sent.cookie, "/console/sign-in", "same-origin", &form);
        assert_eq!(asked.status, 303, "{asked:?}");
        told.push((asked.must("location").to_owned(), cookie(&asked)));
    }
    assert_eq!(told[0].0, told[1].0);
    let form = format!("email=nowhere&login={secret}");
    let wrong = posted(&world, &sent.cookie, "/console/sign-in", "same-origin", &form);
    assert_eq!(wrong.status, 422, "{wrong:?}");
    assert!(wrong.body.contains("One more step") && wrong.body.contains("id=\"email-error\""));
    let stolen = posted(
        &world,
        "",
        "/console/sign-in",
        "same-origin",
        &format!("email={ADMIN}&login={secret}"),
    );
    assert_eq!(stolen.status, 404, "another browser has no such login");

    let code = code_for(&world, ADMIN, &[]);
    let entered = posted(
        &world,
        &told[1].1,
        "/console/sign-in/code",
        "same-origin",
        &format!("code={code}&to={to}&login={secret}"),
    );
    assert_eq!((entered.status, entered.must("location")), (303, to.as_str()));
    let first = Browser {
        world: &world,
        cookie: cookie(&entered),
    };
    let notice = eventually("a notice is mailed", || {
        letters(&world)
            .into_iter()
            .find(|text| text.contains("A login was linked to"))
    });
    assert!(
        notice.contains(ADMIN) && notice.to_lowercase().contains("notice: act"),
        "{notice}"
    );
    let asked = letters(&world)
        .into_iter()
        .find(|text| text.contains("sign-in-code"))
        .unwrap();
    assert!(
        asked.replace("=\r\n", "").contains("also links the login"),
        "{asked}"
    );

    // From now on it signs in alone. The session before ends.
    let sent = send(&world, &provider, &first.cookie, "to=https://evil.example/");
    let told = claims(&provider, &sent, "ada|1", now(&world) - 3_600);
    provider.tell(|it| it.claims = told);
    let query = format!("code=c&state={}&iss={}", sent.get("state"), provider.issuer);
    let back = come_back(&world, &format!("{}; {}", sent.cookie, first.cookie), &query);
    assert_eq!(
        (back.status, back.must("location")),
        (303, "/console"),
        "{back:?}"
    );
    assert_eq!(first.get(&to).status, 303, "the session before has ended");
    let second = Browser {
        world: &world,
        cookie: cookie(&back),
    };
    assert!(second.page("/console/sessions").contains("/console/logins"));
    let page = second.page("/console/logins");
    assert!(page.contains(ADMIN) && page.contains(&provider.issuer), "{page}");
    let key = page.split("name=\"remove\" value=\"").nth(1).unwrap();
    let key = key.split('"').next().unwrap().to_owned();

    // The provider remembered them for an hour, which is not enough to change the account.
    let remove = format!("remove={key}");
    assert_eq!(second.post("/console/logins", &remove).status, 403);
    let page = second.get("/console/confirm?to=/console/logins");
    assert!(page.body.contains("Confirm with Club"), "{}", page.body);
    assert!(page.must("content-security-policy").contains(&leads));
    let (sent, back) = go(&world, &provider, "ada|1", 120, "again=yes&to=/console/logins");
    assert_eq!(
        (sent.get("prompt"), sent.get("max_age")),
        ("login".into(), "0".into())
    );
    assert_eq!(back.status, 403);
    assert!(back.body.contains("did not ask again"), "{}", back.body);
    let (_, back) = go(&world, &provider, "ada|1", 0, "again=yes&to=/console/logins");
    assert_eq!(
        (back.status, back.must("location")),
        (303, "/console/logins"),
        "{back:?}"
    );
    let fresh = Browser {
        world: &world,
        cookie: cookie(&back),
    };
    let other = Browser::of(&world, "viewer@people.example");
    assert_eq!(other.sent("/console/logins", &remove), "/console/logins");
    assert!(
        fresh.page("/console/logins").contains(&provider.issuer),
        "others remove nothing"
    );
    assert_eq!(fresh.sent("/console/logins", &remove), "/console/logins");
    assert!(fresh.page("/console/logins").contains("You have none yet"));
    eventually("a notice is mailed", || {
        letters(&world)
            .into_iter()
            .find(|text| text.contains("A login was removed from"))
    });
    let (_, back) = go(&world, &provider, "ada|1", 0, "");
    assert!(back.must("location").contains("oidc/link"), "{back:?}");
    world.place.check();
}

fn answers_that_prove_nothing_let_nobody_in(engine: Engine) {
    let provider = Provider::start();
    let world = World::with(engine, &flags(&provider));
    world.nobody().get("/console/sign-in");
    world.place.beside(&format!(
        "INSERT INTO logins (issuer, subject, email, user_id, created_at) SELECT '{}', 'ada', '', id, 1 FROM users WHERE email = '{ADMIN}'",
        provider.issuer
    ));
    let (sent, back) = go(&world, &provider, "ada", 0, "");
    assert_eq!(back.status, 303, "the login itself is good: {back:?}");
    cookie(&back);
    let replayed = come_back(
        &world,
        &sent.cookie,
        &format!("code=c&state={}", sent.get("state")),
    );
    let refused = |reply: &Reply, status: u16, words: &str, what: &str| {
        assert_eq!(
            (reply.status, reply.header("set-cookie")),
            (status, None),
            "{what}: {reply:?}"
        );
        assert!(reply.body.contains(words), "{what}: {}", reply.body);
    };
    refused(&replayed, 404, "This sign-in has ended", "replayed");

    // Statements that are not the provider's, not for us, not for this sign-in, or not in time.
    let wrong: [(&str, Value); 7] = [
        ("nonce", json!("another")),
        ("nonce", Value::Null),
        ("aud", json!("another")),
        ("aud", json!(["bursar", "another"])),
        ("iss", json!("https://another.example")),
        ("exp", json!(1_000_000)),
        ("sub", json!("a\u{0}b")),
    ];
    for (claim, value) in wrong {
        let sent = send(&world, &provider, "", "");
        let mut told = claims(&provider, &sent, "ada", now(&world));
        told[claim] = value.clone();
        provider.tell(|it| it.claims = told);
        let back = come_back(
            &world,
            &sent.cookie,
            &format!("code=c&state={}", sent.get("state")),
        );
        refused(
            &back,
            403,
            "does not prove who you are",
            &format!("{claim} {value}"),
        );
    }
    for (algorithm, signs_with) in [("none", 0), ("HS256", 0), ("EdDSA", 1)] {
        provider.tell(|it| (it.algorithm, it.signs_with) = (algorithm, signs_with));
        let (_, back) = go(&world, &provider, "ada", 0, "");
        refused(&back, 403, "does not prove who you are", algorithm);
    }
    provider.tell(|it| (it.algorithm, it.signs_with) = ("EdDSA", 0));

    // Answers of somebody else, to somebody else, too late, or a no.
    let sent = send(&world, &provider, "", "");
    let told = claims(&provider, &sent, "ada", now(&world));
    provider.tell(|it| it.claims = told);
    let state = sent.get("state");
    let good = format!("code=c&state={state}");
    refused(
        &come_back(&world, &sent.cookie, "code=c&state=00"),
        404,
        "has ended",
        "state",
    );
    refused(
        &come_back(&world, &sent.cookie, "code=c"),
        404,
        "has ended",
        "no state",
    );
    let elsewhere = send(&world, &provider, "", "");
    refused(
        &come_back(&world, &elsewhere.cookie, &good),
        404,
        "has ended",
        "browser",
    );
    refused(&come_back(&world, "a=b", &good), 404, "has ended", "no cookie");
    let issued = come_back(
        &world,
        &sent.cookie,
        &format!("{good}&iss=https://another.example"),
    );
    refused(&issued, 403, "does not prove who you are", "iss");
    for query in ["error=access_denied&error_description=%3Cb%3Ehello", "x=y"] {
        let sent = send(&world, &provider, "", "");
        let back = come_back(
            &world,
            &sent.cookie,
            &format!("{query}&state={}", sent.get("state")),
        );
        refused(
            &back,
            403,
            "You cancelled, or Club &#60;login&#62; did not let you in",
            query,
        );
        assert!(!back.body.contains("hello"));
        let good = format!("code=c&state={}", sent.get("state"));
        refused(
            &come_back(&world, &sent.cookie, &good),
            404,
            "has ended",
            "after a no",
        );
    }
    let sent = send(&world, &provider, "", "");
    world
        .place
        .beside("UPDATE ceremonies SET created_at = created_at - 600000000");
    let late = come_back(
        &world,
        &sent.cookie,
        &format!("code=c&state={}", sent.get("state")),
    );
    refused(&late, 404, "longer than 10 minutes", "late");
    let cross = posted(&world, "", "/console/sign-in/oidc", "cross-site", "");
    assert_eq!(cross.status, 403);
    // A page that named another origin is shown again.
    let old = posted(
        &world,
        "",
        "/console/sign-in/oidc",
        "same-origin",
        "origin=https://old.example",
    );
    assert_eq!((old.status, old.must("location")), (303, "/console/sign-in?"));
    assert_eq!(world.place.count_beside("SELECT COUNT(*) FROM sessions"), 1);

    // Two tabs can be away at once, and a key can be a new one.
    let one = send(&world, &provider, "", "");
    let other = send(&world, &provider, &one.cookie, "");
    assert_eq!(one.cookie, other.cookie);
    sleep(Duration::from_millis(1_100));
    provider.tell(|it| (it.signs_with, it.publishes, it.names) = (1, 1, 1));
    for tab in [&one, &other] {
        let told = claims(&provider, tab, "ada", now(&world));
        provider.tell(|it| it.claims = told);
        let back = come_back(&world, &tab.cookie, &format!("code=c&state={}", tab.get("state")));
        assert_eq!(
            (back.status, back.must("location")),
            (303, "/console"),
            "{back:?}"
        );
    }
    world.place.check();
}

fn any_server_finishes_a_sign_in(engine: Engine) {
    let provider = Provider::start();
    let mut flags = flags(&provider);
    flags.extend(["--base-url", "https://dues.example.org", "--no-worker"]);
    let mut world = World::apart(engine, &flags);
    world.start(&flags);
    world.nobody().get("/console/sign-in");
    let sent = send(&world, &provider, "", "");
    assert!(sent.cookie.starts_with("__Host-bursar-login="), "{}", sent.cookie);
    assert_eq!(
        sent.get("redirect_uri"),
        format!("https://dues.example.org{CALLBACK}")
    );
    let told = claims(&provider, &sent, "ada", now(&world));
    provider.tell(|it| it.claims = told);
    let path = format!("{CALLBACK}?code=c&state={}", sent.get("state"));
    let asked = world.nobody().through(1).ask("GET", &path);
    let back = asked.header("Cookie", &sent.cookie).send();
    assert!(back.must("location").contains("oidc/link"), "{back:?}");
    let link = world.nobody().ask("GET", back.must("location"));
    assert_eq!(link.header("Cookie", &sent.cookie).send().status, 200);
}

#[test]
fn a_provider_that_is_down_leaves_the_code() {
    let gone = bursar_testing::free_address();
    let issuer = format!("http://{gone}");
    let args = [
        "--oidc-issuer",
        &issuer,
        "--oidc-client-id",
        "bursar",
        "--oidc-client-secret",
        "x",
    ];
    let world = World::with(Engine::Sqlite, &args);
    let page = world.nobody().get("/console/sign-in");
    assert!(page.body.contains("Sign in with 127.0.0.1"), "{}", page.body);
    let sent = posted(
        &world,
        "",
        "/console/sign-in/oidc",
        "same-origin",
        &format!("origin={issuer}"),
    );
    assert_eq!(sent.status, 503);
    assert!(sent.body.contains("127.0.0.1 cannot be reached"), "{}", sent.body);
    assert!(sent.body.contains("Sign in with a code"), "{}", sent.body);
}

#[test]
fn without_a_provider_there_is_no_such_way() {
    let world = World::new(Engine::Sqlite);
    let page = world.nobody().get("/console/sign-in");
    assert!(!page.body.contains("oidc"), "{}", page.body);
    assert_eq!(
        posted(&world, "", "/console/sign-in/oidc", "same-origin", "").status,
        404
    );
    assert_eq!(
        world.nobody().get(&format!("{CALLBACK}?code=c&state=s")).status,
        404
    );
    let admin = Browser::of(&world, ADMIN);
    assert_eq!(admin.get("/console/logins").status, 404);
    assert!(!admin.page("/console/sessions").contains("logins"));
}

#[test]
fn the_settings_come_together() {
    let place = Place::sqlite();
    let file = place.file("secret");
    std::fs::write(&file, "\n").unwrap();
    let file = file.to_str().unwrap();
    let issuer = ["--oidc-issuer", "https://id.example.org"];
    let id = ["--oidc-client-id", "bursar"];
    let secret = ["--oidc-client-secret", "hush-hush"];
    for (given, words) in [
        (
            vec![issuer, id],
            "also needs a client secret (--oidc-client-secret-file",
        ),
        (vec![issuer, secret], "also needs --oidc-client-id"),
        (vec![id, secret], "also needs --oidc-issuer"),
        (
            vec![["--oidc-name", "Club"]],
            "also needs --oidc-issuer and --oidc-client-id and",
        ),
        (
            vec![["--oidc-issuer", "http://id.example.org"], id, secret],
            "--oidc-issuer must be the provider's address",
        ),
        (
            vec![issuer, id, ["--oidc-client-secret-file", file]],
            "client secret is empty",
        ),
        (
            vec![issuer, id, ["--oidc-client-secret-file", "/nowhere"]],
            "/nowhere cannot be read",
        ),
        (
            vec![issuer, ["--oidc-client-id", " "], secret],
            "--oidc-client-id must not be empty",
        ),
    ] {
        let given: Vec<&str> = given.into_iter().flatten().collect();
        let args = [&["serve", "--listen", "127.0.0.1:0"][..], &given].concat();
        let said = place.refused(&args);
        assert!(
            said.contains(words) && !said.contains("hush"),
            "{given:?}: {said}"
        );
    }
}
