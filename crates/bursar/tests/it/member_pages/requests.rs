//! What a member does is logged with the id of the request.

use super::*;

on_both_engines! {
    what_a_member_does_has_the_id_of_the_request
}

fn what_a_member_does_has_the_id_of_the_request(engine: Engine) {
    let world = World::new(engine);
    let ada = ada(&world);
    let browser = proved(&world, &opened(&world, &ada.link), "/m/contact");
    let form = "email=ada@new.example.org&phone=";
    let saved = posted(&world, &browser, "/m/contact", "same-origin", form);
    assert_eq!(saved.status, 303, "{saved:?}");
    let request = saved.must("x-request-id");
    let events = world.admin().get(&format!("/v1/events?resourceId={}", ada.id));
    let events: Value = serde_json::from_str(&events.body).unwrap();
    let last = events["data"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (last["actor"]["kind"].as_str(), last["requestId"].as_str()),
        (Some("member"), Some(request)),
        "{last}"
    );
    let of = organization(NATIONAL);
    let lines = world.run(&["activity", "--organization", &of, "--action", "member.change"]);
    assert_eq!(lines[0]["requestId"].as_str(), Some(request), "{lines}");
}
