//! Members' own pages, from the mail to the receipt, and who is kept out.

mod autopay;
mod requests;

use std::sync::atomic::{AtomicU32, Ordering};

use bursar::CardDesk;
use bursar_testing::{Engine, eventually, is_full};
use serde_json::Value;

use crate::api::bundle::{NATIONAL, RIVAL, organization};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::cards;
use crate::console::posted;
use crate::console_sign_in::{codes, letters};
use crate::support::secret_key_file;

on_both_engines! {
    a_reminder_leads_to_the_members_page
    a_code_opens_papers_and_contact_data
    members_sign_in_by_a_code
    no_link_but_the_right_one_opens
    members_pay_by_card
}

const ADA: &str = "ada.ek@example.org";

struct Member {
    id: String,
    /// The path of a link.
    link: String,
}

/// A member who owes 25.00 and paid 5.00 of it.
fn ada(world: &World) -> Member {
    let of = organization(NATIONAL);
    let run = |args: &[&str]| world.run(&[args, &["--organization", &of]].concat());
    let added = run(&[
        "member",
        "add",
        "--first-name",
        "Ada",
        "--last-name",
        "Ek",
        "--email",
        ADA,
    ]);
    let id = text(&added, "id");
    run(&[
        "payment",
        "raise",
        "--member",
        &id,
        "--amount",
        "25.00",
        "--description",
        "Boat <b>place</b>",
    ]);
    run(&[
        "receipt", "record", "--payer", &id, "--amount", "5.00", "--method", "transfer",
    ]);
    let link = link_of(world, &id);
    Member { id, link }
}

fn link_of(world: &World, member: &str) -> String {
    let made = world.run(&["member", "link", member]);
    path_of(&text(&made, "link"))
}

fn path_of(link: &str) -> String {
    link[link.find("/m/l/").unwrap()..].to_owned()
}

fn text(value: &Value, name: &str) -> String {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} of {value}"))
        .to_owned()
}

/// All cookies that a reply sets, as a browser sends them back.
fn cookies(reply: &Reply) -> String {
    let set = reply.all("set-cookie");
    let pairs = set.iter().map(|cookie| cookie.split(';').next().unwrap());
    let kept: Vec<&str> = pairs.filter(|pair| !pair.ends_with('=')).collect();
    kept.join("; ")
}

fn get(world: &World, cookie: &str, path: &str) -> Reply {
    world.nobody().ask("GET", path).header("Cookie", cookie).send()
}

/// A browser that has opened a link.
fn opened(world: &World, link: &str) -> String {
    let reply = world.nobody().get(link);
    assert_eq!((reply.status, reply.must("location")), (303, "/m/"), "{reply:?}");
    assert_eq!(reply.must("referrer-policy"), "no-referrer");
    cookies(&reply)
}

/// Asks for a code with this browser and enters it; its cookies.
fn proved(world: &World, browser: &str, to: &str) -> String {
    proved_to(world, browser, to, to)
}

/// The same for a download, which is offered on another page.
fn proved_to(world: &World, browser: &str, to: &str, lands: &str) -> String {
    let before = codes(world, ADA);
    let asked = posted(world, browser, "/m/code", "same-origin", &format!("to={to}"));
    assert_eq!(asked.status, 303, "{asked:?}");
    let with_code = format!("{browser}; {}", cookies(&asked));
    let code = eventually("a code is mailed", || {
        codes(world, ADA).into_iter().find(|code| !before.contains(code))
    });
    let form = format!("code={code}&to={to}");
    let entered = posted(world, &with_code, "/m/code/enter", "same-origin", &form);
    assert_eq!(
        (entered.status, entered.must("location")),
        (303, lands),
        "{entered:?}"
    );
    format!("{browser}; {}", cookies(&entered))
}

fn a_reminder_leads_to_the_members_page(engine: Engine) {
    let world = World::new(engine);
    let ada = ada(&world);
    let of = organization(NATIONAL);
    let reminder = world.run(&[
        "reminder",
        "schedule",
        "--organization",
        &of,
        "--member",
        &ada.id,
        "--method",
        "email",
        "--at",
        "2030-01-01T00:00:00Z",
        "--include-payment-info",
    ]);
    let id = text(&reminder, "id");
    let shown = world.run(&["reminder", "preview", &id]);
    let preview = text(&shown["message"], "text");
    assert!(
        preview.contains("/m/l/…"),
        "an officer sees no link that works: {preview}"
    );
    world.run(&["reminder", "send", &id, "--yes"]);
    let letter = eventually("the reminder is mailed", || {
        letters(&world).into_iter().find(|letter| letter.contains(ADA))
    });
    let mail = mailparse::parse_mail(letter.as_bytes()).unwrap();
    let plain = mail.subparts[0].get_body().unwrap();
    let line = plain
        .lines()
        .find(|line| line.contains("/m/l/"))
        .unwrap_or_else(|| panic!("{plain}"));
    let html = mail.subparts[1].get_body().unwrap();
    assert!(html.contains(&format!("<a href=\"{line}\"")), "{html}");

    let browser = opened(&world, &path_of(line));
    let page = get(&world, &browser, "/m/");
    assert_eq!(page.status, 200, "{page:?}");
    for part in [
        "Ada Ek",
        "20.00 USD",
        "Boat &#60;b&#62;place&#60;/b&#62;",
        "a…@example.org",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    assert!(
        !page.body.contains(ADA),
        "the link may have been passed on: {}",
        page.body
    );
    // Opening a link many times changes nothing.
    let before = world.run(&["activity", "--organization", &of]);
    opened(&world, &path_of(line));
    assert_eq!(world.run(&["activity", "--organization", &of]), before);

    // It is good for nothing else.
    for path in ["/console", &format!("/console/{of}"), "/v1/members"] {
        let reply = get(&world, &browser, path);
        assert!(matches!(reply.status, 303 | 401), "{path}: {reply:?}");
    }
    for path in ["/m/statement", "/m/contact"] {
        let reply = get(&world, &browser, path);
        let to = format!("/m/code?to={path}");
        assert_eq!((reply.status, reply.must("location")), (303, to.as_str()));
    }
    let changed = posted(
        &world,
        &browser,
        "/m/contact",
        "same-origin",
        "email=eve@example.org",
    );
    assert_eq!(
        (changed.status, changed.must("location")),
        (303, "/m/code?to=/m/contact")
    );
    let elsewhere = posted(
        &world,
        &browser,
        "/m/contact",
        "cross-site",
        "email=eve@example.org",
    );
    assert_eq!(elsewhere.status, 403);

    world.run(&["member", "revoke-links", &ada.id]);
    assert_eq!(get(&world, &browser, "/m/").status, 404);
    assert_eq!(world.nobody().get(&path_of(line)).status, 404);
    opened(&world, &link_of(&world, &ada.id));
}

fn a_code_opens_papers_and_contact_data(engine: Engine) {
    let world = World::new(engine);
    let ada = ada(&world);
    let browser = opened(&world, &ada.link);
    let offered = get(&world, &browser, "/m/code?to=/m/contact");
    assert!(offered.body.contains("a…@example.org"), "{}", offered.body);
    let browser = proved(&world, &browser, "/m/contact");
    let page = get(&world, &browser, "/m/").body;
    let (_, rest) = page.split_once("/m/receipts/").unwrap();
    // A statement of a year is still that after the code, and is offered on the page.
    let other = opened(&world, &ada.link);
    let asked = get(&world, &other, "/m/statement?year=2026");
    assert_eq!(
        (asked.status, asked.must("location")),
        (303, "/m/code?to=/m/statement/2026")
    );
    let other = proved_to(&world, &other, "/m/statement/2026", "/m/?ready=statement/2026");
    let ready = get(&world, &other, "/m/?ready=statement/2026").body;
    let offer = "You can download it now: <a href=\"/m/statement?year=2026\"";
    assert!(ready.contains(offer), "{ready}");
    let no_year = get(&world, &other, "/m/?ready=statement/nineteen").body;
    assert!(!no_year.contains("You can download it now"), "{no_year}");
    let receipt = format!("/m/receipts/{}", rest.split('"').next().unwrap());
    for path in [&receipt, "/m/statement", "/m/statement?year=2026"] {
        let pdf = get(&world, &browser, path);
        assert_eq!(
            (pdf.status, pdf.must("content-type")),
            (200, "application/pdf"),
            "{path}"
        );
        assert!(
            pdf.must("content-disposition").starts_with("attachment"),
            "{path}"
        );
    }
    let wrong = posted(&world, &browser, "/m/contact", "same-origin", "email=no&phone=");
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("id=\"email-error\""), "{}", wrong.body);
    let form = "email=ada@new.example.org&phone=%2B442079460958";
    let saved = posted(&world, &browser, "/m/contact", "same-origin", form);
    assert_eq!((saved.status, saved.must("location")), (303, "/m/?said=contact"));
    let told = |address: &str| {
        let is_told = |letter: &String| letter.contains(address) && letter.contains("contact data");
        eventually("the change is told", || {
            letters(&world).iter().find(|l| is_told(l)).cloned()
        })
    };
    told(ADA);
    told("ada@new.example.org");
    let shown = world.run(&["member", "show", &ada.id]);
    assert_eq!(text(&shown, "email"), "ada@new.example.org");

    let left = posted(&world, &browser, "/m/leave", "same-origin", "");
    assert_eq!(left.status, 200, "{left:?}");
    assert_eq!(cookies(&left), "");
    let session = browser.split("; ").last().unwrap();
    assert_eq!(get(&world, session, "/m/").status, 404, "the session has ended");
}

fn members_sign_in_by_a_code(engine: Engine) {
    let world = World::new(engine);
    let ada = ada(&world);
    let path = format!("/m/in/{}", organization(NATIONAL));
    assert_eq!(world.nobody().get(&path).status, 200);
    let ask = |email: &str| posted(&world, "", &path, "same-origin", &format!("email={email}"));
    let (known, unknown) = (ask(ADA), ask("nobody@example.org"));
    let without_secret = |reply: &Reply| (reply.status, reply.must("location").to_owned());
    assert_eq!(without_secret(&known), without_secret(&unknown));
    let pages = [(&known, ADA), (&unknown, "nobody@example.org")].map(|(reply, email)| {
        let page = get(&world, &cookies(reply), "/m/code/enter").body;
        let hint = format!("{}…@", &email[..1]);
        assert!(page.contains(&hint), "{page}");
        page.replace(&hint, "?")
    });
    assert_eq!(pages[0], pages[1], "nobody learns who is a member");
    let code = eventually("a code is mailed", || codes(&world, ADA).pop());
    assert_eq!(codes(&world, "nobody@example.org").len(), 0);
    let form = format!("code={code}&to=/m/&in={}", organization(NATIONAL));
    let foreign = posted(&world, &cookies(&unknown), "/m/code/enter", "same-origin", &form);
    assert_eq!(foreign.status, 422, "a code belongs to its browser");
    let entered = posted(&world, &cookies(&known), "/m/code/enter", "same-origin", &form);
    assert_eq!(entered.status, 303, "{entered:?}");
    let page = get(&world, &cookies(&entered), "/m/");
    assert!(
        page.body.contains("Ada Ek") && page.body.contains(ADA),
        "{}",
        page.body
    );
    // A code that is used up, and a session that has ended, lead to another code.
    let again = format!("<a class=\"button\" href=\"{path}\">Ask for another code</a>");
    let used = posted(&world, &cookies(&known), "/m/code/enter", "same-origin", &form);
    assert_eq!(used.status, 404, "{used:?}");
    assert!(
        used.body.contains("This code no longer works") && used.body.contains(&again),
        "{}",
        used.body
    );
    let asked = get(&world, &cookies(&unknown), known.must("location"));
    assert!(
        asked
            .body
            .contains(&format!("<a href=\"{path}\">Ask for another code</a>")),
        "{}",
        asked.body
    );
    world.run(&["member", "revoke-links", &ada.id]);
    let ended = get(&world, &cookies(&entered), "/m/");
    assert_eq!(ended.status, 401, "{ended:?}");
    assert!(
        ended.body.contains("Your session has ended") && ended.body.contains(&again),
        "{}",
        ended.body
    );
    assert_eq!(world.nobody().get("/m/in/org_nothing").status, 404);
    let bad = ask("no");
    assert_eq!(bad.status, 422, "{bad:?}");
}

/// Guessed, changed and foreign links, and those of members who do not exist, lead to one page.
fn no_link_but_the_right_one_opens(engine: Engine) {
    let world = World::with(engine, &["--rate-limit-read", "1000000"]);
    let ada = ada(&world);
    let other = World::with(engine, &[]);
    let foreign = link_of(&other, &self::ada(&other).id);
    let mut random = fastrand::Rng::with_seed(bursar_testing::seed());
    let right: Vec<char> = ada.link.strip_prefix("/m/l/").unwrap().chars().collect();
    let alphabet: Vec<char> = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(['-', '_'])
        .collect();
    let ended = world.nobody().get("/m/").body;
    assert!(ended.contains("This link does not work"), "{ended}");
    let shut = |path: &str| {
        let reply = world.nobody().get(path);
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (404, ended.as_str()),
            "{path}"
        );
        assert!(reply.all("set-cookie").is_empty(), "{path}: {reply:?}");
    };
    shut(&foreign);
    let rival = world.run(&["member", "list", "--organization", &organization(RIVAL)]);
    let rival = text(&rival[0], "id");
    assert_ne!(link_of(&world, &rival), ada.link);
    let count = if is_full() { 10_000 } else { 300 };
    for _ in 0..count {
        let mut link = right.clone();
        match random.u8(0..3) {
            0 => {
                let at = random.usize(..link.len());
                let new = alphabet[random.usize(..alphabet.len())];
                if link[at] == new {
                    continue;
                }
                link[at] = new;
            }
            1 => {
                link = (0..link.len())
                    .map(|_| alphabet[random.usize(..alphabet.len())])
                    .collect()
            }
            _ => {
                link.truncate(random.usize(..link.len()));
            }
        }
        shut(&format!("/m/l/{}", link.into_iter().collect::<String>()));
    }
    opened(&world, &ada.link);
}

/// A form with a key of its own, as every page has.
fn keyed(form: &str) -> String {
    static KEYS: AtomicU32 = AtomicU32::new(0);
    let key = KEYS.fetch_add(1, Ordering::Relaxed);
    format!("{form}&key=page-{key}")
}

/// Connects the organization to the desk.
fn takes_cards(world: &World) {
    let file = world.place.folder.path().join("stripe-key");
    std::fs::write(&file, "rk_test_0123456789abcdef").unwrap();
    let (of, file) = (organization(NATIONAL), file.display().to_string());
    let set = ["provider", "set", "--organization", &of, "--key-file", &file];
    world.run(&[&set[..], &["--secret-key-file", secret_key_file()]].concat());
}

/// Chooses a charge to pay; the address of the provider's page, and where it leads back to.
fn begun(world: &World, browser: &str, form: &str) -> (String, String) {
    let sent = posted(world, browser, "/m/pay", "same-origin", &keyed(form));
    assert_eq!(sent.status, 303, "{sent:?}");
    let to = sent.must("location");
    let page = get(world, browser, to);
    assert_eq!(page.status, 200, "{page:?}");
    let (_, rest) = page.body.split_once("content=\"0; url=").unwrap();
    let url = rest.split('"').next().unwrap();
    assert!(page.body.contains(&format!("href=\"{url}\"")), "{}", page.body);
    (url.to_owned(), to.replace("/m/pay/", "/m/paid/"))
}

fn members_pay_by_card(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let file = Some(folder.path().join("cards.json"));
    let desk = cards::desk(file.clone());
    let (url, key) = (desk.url(), secret_key_file());
    let world = World::with(engine, &["--stripe-api", &url, "--secret-key-file", key]);
    let ada = ada(&world);
    let browser = opened(&world, &ada.link);
    let page = get(&world, &browser, "/m/").body;
    assert!(!page.contains("Pay by card"), "nobody takes cards: {page}");
    takes_cards(&world);
    let page = get(&world, &browser, "/m/").body;
    let (_, rest) = page
        .split_once("name=\"charge\" value=\"")
        .unwrap_or_else(|| panic!("{page}"));
    let charge = rest.split('"').next().unwrap().to_owned();

    // What cannot be paid is told above the form, and nothing is asked of the provider.
    let of = organization(NATIONAL);
    let raise = [
        "payment",
        "raise",
        "--organization",
        &of,
        "--member",
        "m1@members.example",
    ];
    let other = world.run(&[&raise[..], &["--amount", "9"]].concat());
    let other = text(&other["payments"][0], "id");
    for (form, part) in [
        (String::new(), "Choose at least one charge"),
        (
            format!("charge={charge}&amount-{charge}=21.00"),
            "at most what is open",
        ),
        (format!("charge={charge}&amount-{charge}=x"), "mount"),
        (format!("charge={charge}&amount-{charge}=0.10"), "at least"),
    ] {
        let refused = posted(&world, &browser, "/m/pay", "same-origin", &keyed(&form));
        assert_eq!(refused.status, 422, "{form}: {refused:?}");
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    let foreign = posted(
        &world,
        &browser,
        "/m/pay",
        "same-origin",
        &keyed(&format!("charge={other}")),
    );
    assert_eq!(foreign.status, 404, "{foreign:?}");
    let address = desk.address();
    drop(desk);
    let form = format!("charge={charge}&amount-{charge}=5.00");
    let refused = posted(&world, &browser, "/m/pay", "same-origin", &keyed(&form));
    assert_eq!(refused.status, 422, "{refused:?}");
    let desk = CardDesk::start(address, file, 0).unwrap();

    // A part first; then the rest in two tabs, of which one is paid back.
    let back = |(_, back): &(String, String)| {
        let reply = get(&world, &browser, back);
        assert_eq!(reply.status, 303, "{reply:?}");
        reply.must("location").to_owned()
    };
    let page = get(&world, &browser, "/m/").body;
    assert!(page.contains("name=\"key\" value=\""), "{page}");
    let old = posted(&world, &browser, "/m/pay", "same-origin", &form);
    assert_eq!(old.status, 422, "without a key: {old:?}");
    let online = || {
        let listed = world.run(&["online", "list", "--organization", &of]);
        listed.as_array().unwrap().len()
    };
    let before = online();
    let double = keyed(&form);
    let clicks = [(); 2].map(|()| posted(&world, &browser, "/m/pay", "same-origin", &double));
    assert_eq!(clicks[0].must("location"), clicks[1].must("location"));
    assert_eq!(online(), before + 1, "one payment");
    let other = posted(
        &world,
        &browser,
        "/m/pay",
        "same-origin",
        &double.replace("5.00", "6.00"),
    );
    assert!(
        other.status == 422 && other.body.contains("sent before with other values"),
        "{other:?}"
    );
    let first = begun(&world, &browser, &form);
    assert_eq!(back(&first), "/m/?said=processing", "not paid yet");
    let declined = cards::choose(&first.0, "0002");
    assert_eq!(declined.status, 422, "{declined:?}");
    assert!(declined.text.contains("Your card was declined."), "{declined:?}");
    assert_eq!(
        back(&first),
        "/m/?said=processing",
        "declined, and can be tried again"
    );
    let page = get(&world, &browser, "/m/").body;
    assert!(page.contains("Your card was declined."), "{page}");
    let pay = |page: &str| {
        let paid = cards::choose(page, "4242");
        assert_eq!(paid.status, 303, "{paid:?}");
        paid.location.unwrap()
    };
    assert!(pay(&first.0).ends_with(&first.1), "{first:?}");
    assert_eq!(back(&first), "/m/?said=paid");
    let status = || text(&world.run(&["payment", "show", &charge]), "status");
    assert_eq!(status(), "partially_paid");
    let rest = format!("charge={charge}");
    let tabs = [begun(&world, &browser, &rest), begun(&world, &browser, &rest)];
    pay(&tabs[0].0);
    assert_eq!(back(&tabs[0]), "/m/?said=paid");
    assert_eq!(status(), "paid");
    pay(&tabs[1].0);
    eventually("the second payment is paid back", || {
        back(&tabs[1]);
        (desk.refunded() == 1_500).then_some(())
    });
    eventually("the page says so", || {
        let page = get(&world, &browser, "/m/").body;
        page.contains("Paid back").then_some(())
    });
    assert_eq!(status(), "paid");
    world.place.check();
}
