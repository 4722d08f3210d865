//! Names that nobody could see are refused, however they come.

use bursar_testing::Engine;
use serde_json::json;

use crate::api::world::World;
use crate::support::{Place, roster};

/// A zero-width space, a word joiner, a soft hyphen, a Hangul filler, an empty Braille cell, a mark on nothing.
const INVISIBLE: [&str; 6] = [
    "\u{200b}",
    "\u{2060}\u{2060}",
    "\u{ad}",
    "\u{3164}",
    "\u{2800} \u{2800}",
    "\u{301}",
];
const RULE: &str = "must have a visible character";

#[test]
fn the_api_refuses_names_that_nobody_can_see() {
    let world = World::new(Engine::Sqlite);
    let editor = world.editor();
    for (n, name) in INVISIBLE.iter().enumerate() {
        let call = editor.post("/v1/groups").key(&format!("k{n}"));
        let refused = call.json(json!({ "name": name })).invalid(Some("name"));
        assert!(refused["message"].as_str().unwrap().contains(RULE), "{refused}");
    }
    let made = editor
        .post("/v1/groups")
        .key("joined")
        .json(json!({ "name": "ශ්\u{200d}රී" }));
    assert_eq!(made.done(201)["name"], "ශ්\u{200d}රී");
}

#[test]
fn commands_and_imports_refuse_names_that_nobody_can_see() {
    let place = Place::sqlite();
    let roster = roster(1);
    place.import(place.bundle("roster.ndjson", &roster.text));
    let organization = roster.organization.to_string();
    for name in INVISIBLE {
        for refused in [
            place.refused(&["organization", "create", "--name", name, "--kind", "independent"]),
            place.refused(&["group", "create", "--organization", &organization, "--name", name]),
            place.refused(&[
                "member",
                "add",
                "--organization",
                &organization,
                "--first-name",
                name,
                "--last-name",
                "Łoś",
                "--email",
                "x@example.org",
            ]),
        ] {
            assert!(refused.contains(RULE), "{refused}");
        }
        let bundle = roster.text.replace("\"Larsen\"", &format!("\"{name}\""));
        let bundle = place.bundle("invisible.ndjson", &bundle);
        let refused = place.refused(&["import", bundle.to_str().unwrap()]);
        assert!(
            refused.contains(RULE) && refused.contains("lastName"),
            "{refused}"
        );
        let list = format!("First name,Last name,Email\n{name},Łoś,y@example.org\n");
        let list = place.bundle("list.csv", &list);
        let done = place.run(&["import", list.to_str().unwrap(), "--organization", &organization]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains(RULE), "{done:?}");
    }
}
