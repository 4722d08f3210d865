//! The organizations of a person. Who has one lands in it.

use askama::Template;
use bursar_domain::access::Role;
use bursar_domain::ids::OrganizationId;
use hyper::StatusCode;

use crate::assets;
use crate::failure::Failure;
use crate::reply::see_other;
use crate::serve::{Answer, Signed};

#[derive(Template)]
#[template(path = "places.html")]
struct Places<'a> {
    style: String,
    places: Vec<(OrganizationId, &'a str, Role)>,
}

pub(crate) fn answer(signed: &Signed) -> Result<Answer, Failure> {
    let places = &signed.oneself.places;
    if let [(only, _)] = places.as_slice() {
        return Ok(Answer::Reply(see_other(&format!("/console/{}", only.id))));
    }
    let page = Places {
        style: assets::style(),
        places: places
            .iter()
            .map(|(organization, role)| (organization.id, organization.name.as_str(), *role))
            .collect(),
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}
