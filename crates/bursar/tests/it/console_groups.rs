//! Groups in the console: dues, people, and what each role may do.

use bursar_testing::Engine;

use crate::api::bundle::{NATIONAL, RIVAL, group, member};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};

on_both_engines! {
    a_group_is_made_filled_and_emptied
    groups_of_others_do_not_exist
}

fn a_group_is_made_filled_and_emptied(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");

    // A viewer reads and sees no button; forms refuse by hand too.
    let rowers = at(NATIONAL, &format!("/groups/{}", group(1)));
    let page = viewer.page(&rowers);
    assert!(
        page.contains("125.00 USD") && page.contains("Every month"),
        "{page}"
    );
    for word in ["Raise now", "Add people", "Edit group", "/remove/"] {
        assert!(editor.page(&rowers).contains(word), "{word}");
        assert!(!page.contains(word), "{word}");
    }
    for end in [
        "/groups/new",
        &format!("/groups/{}/edit", group(1)),
        &format!("/groups/{}/add", group(1)),
    ] {
        assert_eq!(viewer.get(&at(NATIONAL, end)).status, 403, "{end}");
        assert_eq!(
            viewer.post(&at(NATIONAL, end), "name=X&people=Y&key=k").status,
            403,
            "{end}"
        );
    }

    // Made once by two clicks; markup is text.
    let new = "name=%3Cscript%3EJuniors&description=%3Cscript%3E&key=k1";
    let made = editor.sent(&at(NATIONAL, "/groups/new"), new);
    assert_eq!(editor.sent(&at(NATIONAL, "/groups/new"), new), again(&made));
    let page = editor.page(&made);
    assert!(
        page.contains("&#60;script&#62;Juniors") && !page.contains("<script>"),
        "{page}"
    );
    let path = made.split('?').next().unwrap().to_owned();

    // What is wrong stands beside its field, and nothing is half done.
    let edit = format!("{path}/edit");
    let wrong = editor.post(
        &edit,
        "name=Juniors&amountDue=45&dueDate=2031-01-01&interval=annual&late-fee=much&late-after=14&key=k2",
    );
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains("id=\"late-fee-error\"") && wrong.body.contains("value=\"much\""),
        "{}",
        wrong.body
    );
    assert!(editor.page(&path).contains("No dues yet"));
    let undated = editor.post(&edit, "name=Juniors&amountDue=45&key=k3");
    assert!(undated.body.contains("id=\"dueDate-error\""), "{}", undated.body);
    let good = "name=Juniors&amountDue=1,045.00&dueDate=2031-01-01&interval=annual&late-fee=10%25&late-after=14&late-cap=1,020.00&key=k4";
    editor.sent(&edit, good);
    let page = editor.page(&path);
    for text in [
        "1,045.00 USD",
        "Every year",
        "1 Jan 2031",
        "10 % of what is open after 14 days, at most 1,020.00 USD",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    // Saving again with nothing changed keeps the dues.
    editor.sent(&edit, &good.replace("k4", "k5"));
    assert!(editor.page(&path).contains("1 Jan 2031"));

    // People by name or address, undone as one.
    let add = format!("{path}/add");
    let unknown = editor.post(&add, "people=Nobody+Atall&key=k6");
    assert_eq!(unknown.status, 422);
    assert!(
        unknown.body.contains("id=\"people-error\"") && unknown.body.contains("Nobody Atall"),
        "{}",
        unknown.body
    );
    let done = editor.sent(&add, "people=m1@members.example%0D%0AFirst+2+Last%0D%0A&key=k7");
    let page = editor.page(&done);
    assert!(
        page.contains("Added 2 members to Juniors.") && page.contains("2 active members"),
        "{page}"
    );
    let undo = page.split("/undo/").nth(1).unwrap().split('"').next().unwrap();
    let undone = editor.sent(&at(NATIONAL, &format!("/undo/{undo}")), "key=k8");
    assert!(editor.page(&undone).contains("Undid 2 changes."));
    editor.sent(&add, "people=m1@members.example&key=k9");
    let remove = format!("{path}/remove/{}", member(1));
    assert!(editor.page(&remove).contains("Remove First 1 Last from Juniors"));
    let gone = editor.sent(&remove, "key=k10");
    let page = editor.page(&gone);
    assert!(
        page.contains("Removed First 1 Last from Juniors.") && page.contains("Nobody is in this group"),
        "{page}"
    );
    world.place.check();
}

fn groups_of_others_do_not_exist(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "second@people.example");
    for end in ["", "/edit", "/add", &format!("/remove/{}", member(1))] {
        let path = at(NATIONAL, &format!("/groups/{}{end}", group(900)));
        assert_eq!(editor.get(&path).status, 404, "{path}");
        let form = "name=X&people=m1@members.example&key=k";
        assert_eq!(
            if end.is_empty() {
                404
            } else {
                editor.post(&path, form).status
            },
            404,
            "{path}"
        );
    }
    assert_eq!(
        editor.get(&at(RIVAL, &format!("/groups/{}", group(900)))).status,
        404
    );
}
