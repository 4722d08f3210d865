//! The organizations of a person, with what waits in each. Who has one lands in it.

use askama::Template;
use bursar_app::desk;
use bursar_domain::ids::OrganizationId;
use hyper::StatusCode;

use super::waiting;
use crate::assets;
use crate::failure::Failure;
use crate::reply::see_other;
use crate::serve::{Answer, Console, Signed};
use crate::words;

struct Place {
    id: OrganizationId,
    name: String,
    role: String,
    owed: String,
    /// Empty if nothing is.
    overdue: String,
    waiting: Vec<(&'static str, String)>,
}

#[derive(Template)]
#[template(path = "places.html")]
struct Places {
    style: String,
    places: Vec<Place>,
}

pub(crate) async fn answer(console: &Console, signed: &Signed) -> Result<Answer, Failure> {
    let held = &signed.oneself.places;
    if let [(only, _)] = held.as_slice() {
        return Ok(Answer::Reply(see_other(&format!("/console/{}", only.id))));
    }
    let mut places = Vec::with_capacity(held.len());
    for (organization, role) in held {
        let glance = console.view(signed, organization.id, |view| Ok(desk::glance(view)?));
        let glance = glance.await?;
        places.push(Place {
            id: organization.id,
            name: organization.name.clone(),
            role: role.to_string(),
            owed: words::money_in(glance.owed),
            overdue: match glance.overdue.minor {
                0 => String::new(),
                _ => words::money_in(glance.overdue),
            },
            waiting: waiting::words(glance.waiting, *role),
        });
    }
    let page = Places {
        style: assets::style(),
        places,
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}
