//! What officers do with members, charges and receipts in the console.

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, id, member};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};

on_both_engines! {
    a_charge_goes_through_its_life
    many_members_are_acted_on_at_once
    a_member_leaves_and_comes_back
}

/// The address of the only link on a page that begins so.
fn link(page: &str, start: &str) -> String {
    let found = page
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    let mut found: Vec<&str> = found.filter(|to| to.starts_with(start)).collect();
    found.dedup();
    found
        .last()
        .unwrap_or_else(|| panic!("no link {start}: {page}"))
        .to_string()
}

fn raise(editor: &Browser<'_>, amount: &str, key: &str) -> String {
    let form = format!(
        "member=m5@members.example&amount={amount}&description=%3Cscript%3E{key}&due-date=2031-01-01"
    );
    editor.sent(
        &at(NATIONAL, "/charges/new"),
        &format!("{form}&step=do&key={key}"),
    );
    let list = editor.page(&at(NATIONAL, &format!("/members/{}", member(5))));
    assert!(!list.contains("<script>"));
    let end = list.find(&format!("&#60;script&#62;{key}<")).expect("the charge");
    let start = list[..end].rfind("href=\"").unwrap();
    list[start + 6..].split('"').next().unwrap().to_owned()
}

fn a_charge_goes_through_its_life(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let charge = raise(&editor, "100", "one");
    let acts = ["adjust", "plan", "edit", "cancel"];
    let (own, seen) = (editor.page(&charge), viewer.page(&charge));
    for act in acts {
        assert!(own.contains(&format!("/{act}\"")), "{act}");
        assert!(!seen.contains(&format!("/{act}\"")), "{act}");
        let path = format!("{charge}/{act}");
        assert_eq!(viewer.get(&path).status, 403, "{act}");
        assert_eq!(
            viewer
                .post(&path, "amount=1&kind=waiver&reason=x&into=2&every=week&key=v")
                .status,
            403,
            "{act}"
        );
    }

    // Adjust: the reason is asked for beside its field; a second click changes nothing.
    let adjust = format!("{charge}/adjust");
    let wrong = editor.post(&adjust, "amount=80&kind=discount&reason=&key=k1");
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"reason-error\""),
        "{}",
        wrong.body
    );
    let wrong = editor.post(&adjust, "amount=120&kind=discount&reason=x&key=k1");
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"amount-error\""),
        "{}",
        wrong.body
    );
    for _ in 0..2 {
        let done = editor.sent(
            &adjust,
            "amount=90&kind=discount&reason=%3Cscript%3Ehelped&key=k2",
        );
        let page = editor.page(&done);
        assert!(
            page.contains("The charge is 90.00 USD now.") && !page.contains("<script>"),
            "{page}"
        );
    }
    editor.sent(
        &format!("{charge}/edit"),
        "description=Summer+camp&due-date=2031-02-01&key=k3",
    );
    assert!(editor.page(&charge).contains("1 Feb 2031"));
    let plan = format!("{charge}/plan");
    let wrong = editor.post(&plan, "into=1&every=month&key=k4");
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"into-error\""),
        "{}",
        wrong.body
    );
    let done = editor.sent(&plan, "into=3&every=month&first=2031-02-01&key=k5");
    assert!(
        editor.page(&done).contains("30.00 on 1 Mar 2031"),
        "{}",
        editor.page(&done)
    );

    // Money comes, is refunded in part, and the rest is taken back.
    editor.sent(
        &at(NATIONAL, "/money/new"),
        &format!("payment={}&amount=30&method=transfer&key=k6", last(&charge)),
    );
    let page = editor.page(&charge);
    assert!(page.contains("Paid</span>"), "{page}");
    let receipt = link(&page, &at(NATIONAL, "/money/rcp"));
    let shown = viewer.page(&receipt);
    assert!(
        shown.contains("30.00 USD from First 5 Last") && !shown.contains("/reverse\""),
        "{shown}"
    );
    assert_eq!(
        viewer
            .post(&format!("{receipt}/reverse"), "how=mistake&key=v")
            .status,
        403
    );
    let refund = format!("{charge}/refund");
    let wrong = editor.post(&refund, "amount=31&method=cash&key=k7");
    assert!([409, 422].contains(&wrong.status), "{}", wrong.body);
    editor.sent(&refund, "amount=10&method=cash&key=k8");
    assert!(editor.page(&charge).contains("20.00 USD"));
    let other = raise(&editor, "15", "two");
    editor.sent(
        &at(NATIONAL, "/money/new"),
        &format!("payment={}&amount=15&method=cash&key=k9", last(&other)),
    );
    let receipt = link(&editor.page(&other), &at(NATIONAL, "/money/rcp"));
    let unknown = editor.post(&format!("{receipt}/move"), "member=Nobody&key=k10");
    assert!(
        unknown.status == 422 && unknown.body.contains("id=\"member-error\""),
        "{}",
        unknown.body
    );
    editor.sent(
        &format!("{receipt}/reverse"),
        "how=mistake&reason=wrong+pile&key=k11",
    );
    assert!(
        editor.page(&other).contains("Pending</span>"),
        "{}",
        editor.page(&other)
    );

    // Dispute and its end; cancel with a write-off.
    editor.sent(
        &at(NATIONAL, "/money/new"),
        &format!("payment={}&amount=15&method=transfer&key=k12", last(&other)),
    );
    editor.sent(&format!("{other}/dispute"), "key=k13");
    assert!(editor.page(&other).contains("Disputed</span>"));
    editor.sent(&format!("{other}/resolve"), "outcome=lost&key=k14");
    assert!(editor.page(&other).contains("Failed</span>"));
    let done = editor.sent(&format!("{other}/cancel"), "how=write-off&reason=gone&key=k15");
    assert!(editor.page(&done).contains("Wrote off what was open."));

    // A statement to print and to send.
    let statement = at(NATIONAL, &format!("/members/{}/statement", member(5)));
    let page = viewer.page(&format!("{statement}?from=2020-01-01&until=2031-12-31"));
    assert!(
        page.contains("Statement of First 5 Last") && page.contains("Summer camp"),
        "{page}"
    );
    let pdf = viewer.get(&format!("{statement}/pdf"));
    assert_eq!((pdf.status, pdf.must("content-type")), (200, "application/pdf"));
    assert!(
        pdf.must("content-disposition")
            .contains("statement-First-5-Last-")
    );
    for path in [
        at(NATIONAL, &format!("/members/{}/statement", member(1001))),
        at(NATIONAL, &format!("/charges/{}/adjust", id("pay", 900))),
        at(NATIONAL, &format!("/money/{}", id("rcp", 900))),
    ] {
        assert_eq!(editor.get(&path).status, 404, "{path}");
    }
    world.place.check();
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

fn many_members_are_acted_on_at_once(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let list = at(NATIONAL, "/members");
    assert!(editor.page(&list).contains("name=\"member\""));
    assert!(!viewer.page(&list).contains("name=\"member\""));
    let selected = at(NATIONAL, "/members/selected");
    let who = format!("member={}&member={}", member(4), member(5));
    assert_eq!(
        viewer
            .post(&selected, &format!("{who}&act=archive&step=do&key=v"))
            .status,
        403
    );
    let nobody = editor.post(&selected, "act=archive");
    assert!(nobody.body.contains("Nobody is selected"), "{}", nobody.body);
    let stranger = editor.post(
        &selected,
        &format!("member={}&act=archive&step=do&key=s", member(1001)),
    );
    assert_eq!(stranger.status, 404, "{}", stranger.body);

    // A charge, with every name before it, and undone.
    let preview = editor.post(&selected, &format!("{who}&act=raise"));
    assert!(
        preview.body.contains("Raise a charge for 2 members") && preview.body.contains("First 4 Last"),
        "{}",
        preview.body
    );
    let wrong = editor.post(&selected, &format!("{who}&act=raise&step=do&amount=x&key=k1"));
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"amount-error\""),
        "{}",
        wrong.body
    );
    assert!(
        wrong.body.contains("Raise a charge for 2 members"),
        "{}",
        wrong.body
    );
    let done = editor.sent(
        &selected,
        &format!("{who}&act=raise&step=do&amount=12&description=Shirt&key=k2"),
    );
    let page = editor.page(&done);
    assert!(page.contains("Raised 2 charges, 24.00 USD in all."), "{page}");
    undo(&editor, &page, "k3");

    let done = editor.sent(
        &selected,
        &format!("{who}&act=group&step=do&group={}&key=k4", id("grp", 3)),
    );
    let page = editor.page(&done);
    assert!(page.contains("Added 2 members to Empty."), "{page}");
    undo(&editor, &page, "k5");

    let ask = editor.post(&selected, &format!("{who}&act=archive"));
    assert!(ask.body.contains("Archive 2 members?"), "{}", ask.body);
    let form = format!("{who}&act=archive&step=do&key=k6");
    let done = editor.sent(&selected, &form);
    assert_eq!(editor.sent(&selected, &form), again(&done));
    let page = editor.page(&done);
    assert!(
        page.contains("Archived 2 members.") && !page.contains("First 5 Last"),
        "{page}"
    );
    undo(&editor, &page, "k7");
    assert!(editor.page(&list).contains("First 5 Last"));
    world.place.check();
}

fn undo(editor: &Browser<'_>, page: &str, key: &str) {
    let undo = page.split("/undo/").nth(1).unwrap().split('"').next().unwrap();
    let undone = editor.sent(&at(NATIONAL, &format!("/undo/{undo}")), &format!("key={key}"));
    assert!(editor.page(&undone).contains("Undid 2 changes."));
}

fn a_member_leaves_and_comes_back(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let path = at(NATIONAL, &format!("/members/{}", member(1)));
    let archive = format!("{path}/archive");
    let ask = editor.page(&archive);
    assert!(
        ask.contains("Archive First 1 Last?") && ask.contains("100.00 USD open, stays owed"),
        "{ask}"
    );
    assert!(ask.contains("name=\"to\" value=\"archived\""), "{ask}");
    assert_eq!(
        editor.post(&archive, "key=k0").status,
        422,
        "it says what is wanted"
    );
    editor.sent(&archive, "to=archived&key=k1");
    let page = editor.page(&path);
    assert!(
        page.contains("Archived</span>") && page.contains(">Restore</a>"),
        "{page}"
    );
    // Another tab that still offers to archive does not restore.
    let second = editor.sent(&archive, "to=archived&adjust=yes&key=k1b");
    let said = editor.page(&second);
    assert!(
        said.contains("is already archived. Nothing was changed.") && said.contains("Archived</span>"),
        "{said}"
    );
    editor.sent(&archive, "to=active&key=k2");
    assert!(!editor.page(&path).contains("Archived</span>"));
    // Who pays for them: a name that is known, and taken away again.
    let edit = format!("{path}/edit");
    let facts = "first-name=First+1&last-name=Last&email=m1@members.example";
    let wrong = editor.post(&edit, &format!("{facts}&payer=Nobody&key=p1"));
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"payer-error\""),
        "{}",
        wrong.body
    );
    let own = editor.post(&edit, &format!("{facts}&payer=m1@members.example&key=p2"));
    assert!(
        own.status == 422 && own.body.contains("id=\"payer-error\""),
        "{}",
        own.body
    );
    editor.sent(&edit, &format!("{facts}&payer=First+2+Last&key=p3"));
    // A form without the field keeps it.
    editor.sent(&edit, &format!("{facts}&key=p4"));
    let page = editor.page(&path);
    assert!(page.contains("First 2 Last"), "{page}");
    let page = editor.page(&edit);
    assert!(page.contains("value=\"First 2 Last\""), "{page}");
    editor.sent(&edit, &format!("{facts}&payer=&key=p5"));
    assert!(!editor.page(&path).contains("First 2 Last"));
    // Reimbursements and orders are theirs; credit is used and paid back.
    let page = editor.page(&path);
    assert!(
        page.contains("Reimbursements") && page.contains("Orders"),
        "{page}"
    );
    editor.sent(
        &at(NATIONAL, "/money/new"),
        "payer=m1@members.example&amount=130&method=cash&key=k3",
    );
    assert!(editor.page(&path).contains("30.00 USD"), "{}", editor.page(&path));
    let wrong = editor.post(&format!("{path}/refund"), "amount=31&method=cash&key=k4");
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"amount-error\""),
        "{}",
        wrong.body
    );
    let done = editor.sent(&format!("{path}/refund"), "amount=10&method=cash&key=k5");
    assert!(editor.page(&done).contains("20.00 USD of credit are left."));
    let nothing = editor.post(&format!("{path}/credit"), "key=k6");
    assert_eq!(nothing.status, 422);
    assert!(nothing.body.contains("no open charge"), "{}", nothing.body);
    world.place.check();
}
