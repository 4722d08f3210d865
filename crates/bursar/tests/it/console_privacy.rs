//! An admin exports what is known about a member and erases it in the console.

use bursar_testing::{Engine, eventually};

use crate::api::bundle::{NATIONAL, member, organization};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, at};
use crate::console_sign_in::letters;

on_both_engines! {
    an_admin_exports_and_erases_a_member
}

fn an_admin_exports_and_erases_a_member(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let editor = Browser::of(&world, "editor@people.example");
    let of = organization(NATIONAL);
    let added = world.run(&[
        "member",
        "add",
        "--first-name",
        "Xanthippe",
        "--last-name",
        "Zaubermannova",
        "--email",
        "xanthippe@unusual.example",
        "--organization",
        &of,
    ]);
    let id = added["id"].as_str().unwrap();
    let raised = world.run(&[
        "payment",
        "raise",
        "--amount",
        "25.00",
        "--description",
        "Boat",
        "--member",
        id,
        "--organization",
        &of,
    ]);
    let charge = raised["payments"][0]["id"].as_str().unwrap();
    let reminder = [
        "reminder",
        "schedule",
        "--at",
        "now",
        "--body",
        "Hello",
        "--member",
        id,
        "--organization",
        &of,
    ];
    world.run(&reminder);
    eventually("a message is written", || {
        let is_it = |letter: &String| letter.contains("xanthippe@unusual.example");
        letters(&world).iter().any(is_it).then_some(())
    });
    let page = at(NATIONAL, &format!("/members/{id}"));
    let ends = ["data/json", "data/pdf", "erase"];
    let (own, seen) = (admin.page(&page), editor.page(&page));
    for end in ends {
        assert!(own.contains(&format!("/{end}\"")), "{end}: {own}");
        assert!(!seen.contains(&format!("/{end}\"")), "{end}");
        assert_eq!(editor.get(&format!("{page}/{end}")).status, 403, "{end}");
    }
    let known = admin.get(&format!("{page}/data/json"));
    assert_eq!(known.status, 200);
    assert_eq!(known.json()["member"]["lastName"], "Zaubermannova");
    let file = admin.get(&format!("{page}/data/pdf"));
    assert_eq!(file.status, 200);
    assert_eq!(file.header("content-type"), Some("application/pdf"));

    // Open money keeps the member; the page says so.
    let erase = format!("{page}/erase");
    let open = admin.page(&erase);
    assert!(open.contains("25.00 USD is open in 1 charge"), "{open}");
    let form = "name=xanthippe+zaubermannova&reason=asked+for+it";
    assert!(
        !open.contains("Check again") && !open.contains("`bursar"),
        "{open}"
    );
    let refused = admin.post(&erase, &format!("{form}&key=one"));
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("cannot be erased yet"), "{}", refused.body);
    // Nothing is confirmed without the name, whatever happens to the open charge meanwhile.
    let refused = admin.post(&erase, "key=one");
    assert_eq!(refused.status, 422, "{refused:?}");
    world.run(&["payment", "cancel", charge, "--yes"]);

    let preview = admin.page(&erase);
    for said in [
        "Removed: E-mail address",
        "Kept: Charges",
        "Enter the name of the member",
        "10 years",
    ] {
        assert!(preview.contains(said), "{said}: {preview}");
    }
    let wrong = admin.post(&erase, "name=Xanthippe&reason=asked&key=two");
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"name-error\""),
        "{}",
        wrong.body
    );
    let wrong = admin.post(&erase, "name=Xanthippe+Zaubermannova&reason=&key=two");
    assert!(
        wrong.status == 422 && wrong.body.contains("id=\"reason-error\""),
        "{}",
        wrong.body
    );
    assert_eq!(editor.post(&erase, &format!("{form}&key=editor")).status, 403);

    // What another name finds is shown before anything is erased.
    let description = |text: &str| {
        let group = world.run(&["group", "list", "--organization", &of])[0].clone();
        let group = group["id"].as_str().unwrap();
        let set = ["group", "set", group, "--description", text];
        world.run(&[&set[..], &["--organization", &of]].concat());
    };
    description("Ask Xanzi about the keys.");
    assert!(!admin.page(&erase).contains("Xanzi about"));
    let form = &format!("{form}&also=Xanzi");
    let unseen = admin.post(&erase, &format!("{form}&step=do&key=two"));
    assert_eq!(unseen.status, 200, "{unseen:?}");
    let shown = &unseen.body;
    assert!(
        shown.contains("Ask Xanzi about the keys.") && shown.contains("Erase permanently"),
        "{shown}"
    );
    let plan = |page: &str| {
        let rest = page.split("name=\"plan\" value=\"").nth(1).unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    let seen = plan(shown);
    description("Ask Xanzi about the boat.");
    let changed = admin.post(&erase, &format!("{form}&step=do&plan={seen}&key=two"));
    assert_eq!(changed.status, 200, "{changed:?}");
    let shown = &changed.body;
    assert!(
        shown.contains("This has changed since you looked.") && shown.contains("Xanzi about the boat."),
        "{shown}"
    );
    let done = admin.sent(&erase, &format!("{form}&step=do&plan={}&key=three", plan(shown)));
    let groups = world.run(&["group", "list", "--organization", &of]);
    assert!(!groups.to_string().contains("Xanzi"), "{groups}");
    let erased = admin.page(&done);
    assert!(erased.contains("Erased the member."), "{erased}");
    assert!(
        erased.contains("Erased member") && !erased.contains("Zaubermannova"),
        "{erased}"
    );
    for end in ends {
        assert!(!erased.contains(&format!("/{end}\"")), "{end}");
    }
    for letter in letters(&world) {
        assert!(!letter.contains("xanthippe@unusual.example"), "{letter}");
    }
    let log = admin.page(&at(NATIONAL, "/activity"));
    assert!(
        log.contains("erased member") && !log.contains("Zaubermannova"),
        "{log}"
    );
    // The others are as they were.
    let other = admin.page(&at(NATIONAL, &format!("/members/{}", member(5))));
    assert!(!other.contains("Erased"), "{other}");
}
