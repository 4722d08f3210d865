//! Members from a spreadsheet in the console: upload, mapping, preview, import, undo.

use crate::api::bundle::NATIONAL;
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_bank::between;
use bursar_testing::Engine;

on_both_engines! {
    a_spreadsheet_is_checked_imported_and_undone
    every_row_can_be_looked_at
    what_the_file_leaves_open_is_asked
}

fn a_spreadsheet_is_checked_imported_and_undone(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let admin = Browser::of(&world, "admin@people.example");
    let import = at(NATIONAL, "/members/import");
    assert!(
        editor
            .page(&at(NATIONAL, "/members"))
            .contains("Import a spreadsheet")
    );
    assert!(
        !viewer
            .page(&at(NATIONAL, "/members"))
            .contains("Import a spreadsheet")
    );
    let file = "First Name,Last Name,Email,Phone\nBo,Ek<script>,bo@example.org,\n\
                First 1,Last,m1@members.example,+1 202 555 0177\n";
    let upload = |who: &Browser<'_>, key: &str| {
        who.upload(&import, &[("key", key)], &[("file", "list.csv", file.as_bytes())])
    };
    assert_eq!(upload(&viewer, "v").status, 403);
    let done = upload(&editor, "k1");
    assert_eq!(done.status, 303, "{}", done.body);
    let to = done.must("location").to_owned();
    assert_eq!(upload(&editor, "k1").must("location"), again(&to));
    let own = to.split('?').next().unwrap().to_owned();
    assert_eq!(admin.get(&own).status, 404, "an upload is one person's");
    assert_eq!(viewer.get(&own).status, 403);
    let page = editor.page(&to);
    for part in [
        "Add 1 member, change 1",
        "Ek&#60;script&#62;",
        "bo@example.org",
        "202 555 0177",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("<script>"));
    assert_eq!(viewer.post(&own, "key=v2").status, 403);
    assert!(
        !editor
            .page(&at(NATIONAL, "/members?q=bo@example.org"))
            .contains("Bo Ek")
    );
    // What it does must be what the page has shown.
    let other = editor.post(&own, "plan=00&key=k2");
    assert!(
        other.status == 422 && other.body.contains("This has changed since you looked."),
        "{}",
        other.body
    );
    let form = format!("plan={}&key=k2", between(&page, "name=\"plan\" value=\"", "\""));
    let done = editor.sent(&own, &form);
    assert_eq!(editor.sent(&own, &form), again(&done), "once");
    let page = editor.page(&done);
    assert!(page.contains("Added 1 member and changed 1."), "{page}");
    assert!(
        editor
            .page(&at(NATIONAL, "/members?q=bo@example.org"))
            .contains("Bo Ek")
    );
    assert_eq!(editor.get(&own).status, 404, "what was imported is not kept");
    let undo = format!("{}{}", at(NATIONAL, "/undo/"), between(&page, "/undo/", "\""));
    let back = editor.page(&editor.sent(&undo, "key=k3"));
    assert!(back.contains("Undid "), "{back}");
    let after = editor.page(&at(NATIONAL, "/members?q=bo@example.org&state=archived"));
    assert!(after.contains("Bo Ek"), "{after}");
    world.place.check();
}

fn every_row_can_be_looked_at(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let rows: String = (1..=250).map(|n| format!("Rower,No {n}\n")).collect();
    let file = format!("First Name,Last Name\n{rows}");
    let to = editor.uploaded(
        &at(NATIONAL, "/members/import"),
        &[("key", "k1")],
        &[("file", "list.csv", file.as_bytes())],
    );
    let own = to.split('?').next().unwrap();
    let first = editor.page(own);
    assert!(
        first.contains("Names 1 to 200 of 250") && first.contains("No 1<") && !first.contains("No 201<"),
        "{first}"
    );
    let after = between(&first, "name=\"names-after\" value=\"", "\"");
    let second = editor.page(&format!("{own}?names-after={after}"));
    assert!(
        second.contains("Names 201 to 250 of 250")
            && second.contains("No 201<")
            && second.contains("No 250<"),
        "{second}"
    );
    assert!(second.contains("Add 250 members"), "{second}");
}

fn what_the_file_leaves_open_is_asked(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let import = at(NATIONAL, "/members/import");
    let upload = |key: &str, name: &str, text: &str| {
        editor.upload(&import, &[("key", key)], &[("file", name, text.as_bytes())])
    };
    for (text, told) in [("", "The file is empty."), ("nothing here at all", "header")] {
        let reply = upload("w", "a.csv", text);
        assert_eq!(reply.status, 422, "{}", reply.body);
        assert!(reply.body.contains(told), "{told}: {}", reply.body);
    }
    // Columns with names of their own, and a group that is not there.
    let to = upload("k1", "x.csv", "Alpha,Beta,Team\nCy,Ek,New <team>\n");
    let own = to.must("location").split('?').next().unwrap().to_owned();
    let page = editor.page(&own);
    assert!(page.contains("column.Alpha") && !page.contains("--map"), "{page}");
    assert!(!page.contains("Add 1 member"), "{page}");
    let query = "column.Alpha=firstName&column.Beta=lastName&column.Team=groups";
    let page = editor.page(&format!("{own}?{query}"));
    assert!(
        page.contains("What is wrong") && page.contains("Create groups that do not exist"),
        "{page}"
    );
    assert!(!page.contains("<team>"));
    assert_eq!(editor.post(&own, &format!("{query}&key=k2")).status, 422);
    let page = editor.page(&format!("{own}?{query}&create-groups=yes"));
    assert!(
        page.contains("Add 1 member") && page.contains("Groups that are created: New &#60;team&#62; (1)."),
        "{page}"
    );
    let done = editor.sent(&own, &format!("{query}&create-groups=yes&key=k3"));
    assert!(editor.page(&done).contains("Added 1 member."));
    assert_eq!(
        editor
            .get(&at(NATIONAL, "/members/import/upl_00000000000000000000000000"))
            .status,
        404
    );
    world.place.check();
}
