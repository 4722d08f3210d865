//! Settings in the console: the organization, people, tokens, policy, activity.

use bursar_testing::{Engine, eventually};

use crate::api::bundle::{NATIONAL, RIVAL, id, organization};
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use crate::console_sign_in::letters;

on_both_engines! {
    people_are_invited_changed_and_removed
    a_token_shows_its_secret_once
    settings_are_the_admins
}

/// What was mailed to the person who is invited.
fn to_new(world: &World) -> Vec<String> {
    let mut all = letters(world);
    all.retain(|text| text.contains("new@example.org"));
    all
}

fn people_are_invited_changed_and_removed(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let editor = Browser::of(&world, "editor@people.example");
    let people = at(NATIONAL, "/people");
    assert!(admin.page(&people).contains("Invite someone"));
    assert!(!editor.page(&people).contains("Invite someone"));
    let invite = at(NATIONAL, "/people/new");
    assert_eq!(
        editor.post(&invite, "user=x@example.org&role=admin&key=e").status,
        403
    );
    let wrong = admin.post(&invite, "user=nowhere&role=viewer&key=k1");
    assert!(
        wrong.status == 422
            && wrong.body.contains("id=\"user-error\"")
            && wrong.body.contains("value=\"nowhere\""),
        "{}",
        wrong.body
    );
    let twice = admin.post(&invite, "user=editor@people.example&role=viewer&key=k1");
    assert!(twice.body.contains("has a role already"), "{}", twice.body);
    let done = admin.sent(&invite, "user=new@example.org&role=editor&key=k2");
    assert_eq!(
        admin.sent(&invite, "user=new@example.org&role=editor&key=k2"),
        again(&done)
    );
    assert!(admin.page(&done).contains("new@example.org is now an editor."));
    // One mail with the console's address, which is in no list of messages.
    let letter = eventually("an invitation is mailed", || to_new(&world).pop());
    assert!(
        letter.contains("/console") && letter.contains("X-Bursar-Notice: invitation"),
        "{letter}"
    );
    assert_eq!(to_new(&world).len(), 1);
    let listed = world.run(&["messages", "--organization", &organization(NATIONAL)]);
    assert!(!listed.to_string().contains("new@example.org"), "{listed}");
    // Somebody of another organization is called by the address that was written, and capitals do not matter.
    let other = admin.sent(&invite, "user=Admin6@People.example&role=viewer&key=k9");
    let page = admin.page(&other);
    assert!(page.contains("admin6@people.example is now a viewer."), "{page}");
    let again = admin.post(&invite, "user=EDITOR@people.example&role=viewer&key=k10");
    assert!(
        again.status == 422 && again.body.contains("has a role already"),
        "{}",
        again.body
    );

    // The last admin stays one.
    let own = format!("{people}/{}", id("usr", 3));
    for (path, form) in [
        (own.clone(), "role=viewer&key=k3"),
        (format!("{own}/remove"), "key=k4"),
    ] {
        let refused = admin.post(&path, form);
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.contains("is the last admin"), "{}", refused.body);
    }
    let second = format!("{people}/{}", id("usr", 4));
    admin.sent(&second, "role=admin&key=k5");
    admin.sent(&own, "role=viewer&key=k6");
    // The role that was given up counts on the next click, and the form says so.
    assert_eq!(admin.post(&second, "role=viewer&key=k7").status, 403);
    let second = Browser::of(&world, "second@people.example");
    let viewer = format!("{people}/{}", id("usr", 1));
    assert!(
        second
            .page(&format!("{viewer}/remove"))
            .contains("Remove viewer?")
    );
    let done = second.sent(&format!("{viewer}/remove"), "key=k8");
    assert!(second.page(&done).contains("Removed viewer."));
    // Somebody without a role here does not exist.
    for path in [
        &viewer,
        &format!("{people}/{}", id("usr", 5)),
        &at(RIVAL, "/people"),
    ] {
        assert_eq!(second.get(path).status, 404, "{path}");
    }
    world.place.check();
}

fn a_token_shows_its_secret_once(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let new = at(NATIONAL, "/tokens/new");
    let wrong = admin.post(&new, "name=Site&holder=viewer&days=30&key=k1");
    assert!(
        wrong.status == 422 && wrong.body.contains("Select at least one."),
        "{}",
        wrong.body
    );
    let form = "name=%3Cscript%3ESite&holder=viewer&days=30&scopes=members:read&scopes=members:write&key=k2";
    let made = admin.post(&new, form);
    assert_eq!(made.status, 200, "{made:?}");
    assert!(!made.body.contains("<script>"), "{}", made.body);
    let secret = made
        .body
        .split("id=\"secret\">")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap()
        .to_owned();
    assert!(secret.starts_with("bursar_"), "{secret}");
    // The same form again makes no second one and shows no secret.
    let to = admin.sent(&new, form);
    let page = admin.page(&to);
    assert!(
        !page.contains(&secret) && page.contains("Withheld</span> by the role"),
        "{page}"
    );
    assert!(page.contains("/v1/token"), "{page}");
    let list = admin.page(&at(NATIONAL, "/tokens"));
    assert_eq!(list.matches("&#60;script&#62;Site").count(), 1, "{list}");
    let call = |secret: &str| {
        let bearer = format!("Bearer {secret}");
        world
            .nobody()
            .ask("GET", "/v1/members")
            .header("Authorization", &bearer)
            .send()
            .status
    };
    assert_eq!(call(&secret), 200);
    let path = to.split('?').next().unwrap().to_owned();

    // A viewer sees only their own, and no service can be made by one.
    assert_eq!(viewer.get(&path).status, 404);
    assert_eq!(viewer.post(&new, &form.replace("k2", "v1")).status, 403);
    let own = viewer.post(
        &new,
        "name=Mine&holder=oneself&days=10&scopes=members:read&key=v2",
    );
    assert!(own.body.contains("id=\"secret\""), "{}", own.body);
    assert!(viewer.page(&at(NATIONAL, "/tokens")).contains("Mine"));

    // Policy withholds at once; rotation gives another secret; revocation ends both.
    assert_eq!(
        viewer
            .post(&at(NATIONAL, "/policy/edit"), "block=members:read&key=v3")
            .status,
        403
    );
    admin.sent(
        &at(NATIONAL, "/policy/edit"),
        "block=members:read&max-token-days=60&key=k3",
    );
    assert_eq!(call(&secret), 403);
    assert!(admin.page(&path).contains("by the policy"));
    assert!(viewer.page(&at(NATIONAL, "/policy")).contains("60 days"));
    admin.sent(&at(NATIONAL, "/policy/edit"), "key=k4");
    assert_eq!(call(&secret), 200);
    let rotated = admin.post(&format!("{path}/rotate"), "overlap-days=2&key=k5");
    let fresh = rotated
        .body
        .split("id=\"secret\">")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap()
        .to_owned();
    assert!(fresh != secret && call(&fresh) == 200 && call(&secret) == 200);
    assert!(admin.page(&path).contains("Replaced"));
    let done = admin.sent(&format!("{path}/revoke"), "key=k6");
    assert!(admin.page(&done).contains("Revoked"));
    assert_eq!((call(&secret), call(&fresh)), (401, 200));
    world.place.check();
}

fn settings_are_the_admins(engine: Engine) {
    let world = World::new(engine);
    let admin = Browser::of(&world, "admin@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let settings = at(NATIONAL, "/settings");
    assert!(admin.page(&settings).contains("/settings/edit"));
    let seen = viewer.page(&settings);
    assert!(
        !seen.contains("/settings/edit") && !seen.contains("/activity"),
        "{seen}"
    );
    let edit = at(NATIONAL, "/settings/edit");
    assert_eq!(viewer.get(&edit).status, 403);
    let wrong = admin.post(&edit, "name=Club&time-zone=Mars/Base&key=k1");
    assert!(
        wrong.status == 422
            && wrong.body.contains("id=\"time-zone-error\"")
            && wrong.body.contains("Mars/Base"),
        "{}",
        wrong.body
    );
    let done = admin.post(
        &edit,
        "name=%3Cscript%3EClub&time-zone=Europe/Oslo&pay-text=%3Cscript%3EBank&retention-years=10&autopay-retries=3,5&auto-credit=yes&key=k2",
    );
    assert_eq!(done.status, 303, "{}", done.body);
    let page = admin.page(done.must("location"));
    assert!(
        page.contains("Europe/Oslo") && page.contains("&#60;script&#62;Bank") && !page.contains("<script>"),
        "{page}"
    );

    // Activity by person and by request.
    let request = done.must("x-request-id").to_owned();
    let activity = at(NATIONAL, "/activity");
    let found = admin.page(&format!("{activity}?request={request}"));
    assert_eq!(found.matches("<time ").count(), 1, "{found}");
    assert!(
        found.contains("changed the settings of organization &#60;script&#62;Club"),
        "{found}"
    );
    assert!(
        admin
            .page(&format!("{activity}?who=admin@people.example"))
            .contains("<time ")
    );
    assert!(
        admin
            .page(&format!("{activity}?who=viewer@people.example"))
            .contains("Nothing matches")
    );
    assert!(
        admin
            .page(&format!("{activity}?request=x"))
            .contains("id=\"request-error\"")
    );
    assert_eq!(viewer.get(&activity).status, 403);
}
