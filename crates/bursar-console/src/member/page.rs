//! What the other pages of members show.

use askama::Template;
use bursar_app::member_access::Choice;
use bursar_app::member_page::MemberPage;
use bursar_domain::ids::{OrganizationId, RequestId};
use bursar_domain::organization::Organization;
use bursar_domain::{Date, Refusal};
use hyper::StatusCode;

use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;
use crate::serve::Answer;

#[derive(Template)]
#[template(path = "m/leading.html")]
struct Leading<'a> {
    style: String,
    title: &'a str,
    url: &'a str,
}

pub(super) fn leading(title: &str, url: &str) -> Result<Answer, Failure> {
    let page = Leading {
        style: assets::style(),
        title,
        url,
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}

/// The first and the last day of a year; without one, the last twelve months.
pub(super) fn days_of(year: &str) -> Result<(Option<Date>, Option<Date>), Failure> {
    if year.is_empty() {
        return Ok((None, None));
    }
    let day = |end: &str| Date::parse(&format!("{year}{end}"));
    match (day("-01-01"), day("-12-31")) {
        (Some(first), Some(last)) => Ok((Some(first), Some(last))),
        _ => Err(Refusal::missing("there is no statement of this year").into()),
    }
}

#[derive(Template)]
#[template(path = "m/ask.html")]
struct Ask<'a> {
    style: String,
    organization: &'a str,
    id: String,
    form: &'a Form,
}

pub(super) fn ask(organization: &Organization, form: &Form) -> Result<Answer, Failure> {
    let page = Ask {
        style: assets::style(),
        organization: &organization.name,
        id: organization.id.to_string(),
        form,
    };
    Ok(Answer::Page(status_of(form), page.render()?))
}

#[derive(Template)]
#[template(path = "m/offer.html")]
struct Offer<'a> {
    style: String,
    organization: &'a str,
    email: String,
    wrong: &'a str,
    to: &'a str,
}

pub(super) fn offer(shown: &MemberPage, to: &str, wrong: Option<&str>) -> Result<Answer, Failure> {
    let email = shown.member.email.as_deref();
    let page = Offer {
        style: assets::style(),
        organization: &shown.organization.name,
        email: email.map(hinted).unwrap_or_default(),
        wrong: wrong.unwrap_or_default(),
        to,
    };
    let status = match wrong {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    Ok(Answer::Page(status, page.render()?))
}

/// Enough of an address to recognise it, for whoever has the link.
pub(super) fn hinted(email: &str) -> String {
    let (name, host) = email.rsplit_once('@').unwrap_or((email, ""));
    let first: String = name.chars().take(1).collect();
    format!("{first}…@{host}")
}

#[derive(Template)]
#[template(path = "m/code.html")]
struct Code<'a> {
    style: String,
    organization: &'a str,
    id: String,
    email: String,
    to: &'a str,
    /// Where to ask for another code.
    again: &'a str,
    wrong: &'a str,
}

pub(super) fn code(
    organization: &Organization,
    email: &str,
    (to, again): (&str, Option<&str>),
    wrong: &str,
) -> Result<Answer, Failure> {
    let page = Code {
        style: assets::style(),
        organization: &organization.name,
        id: organization.id.to_string(),
        email: hinted(email),
        to,
        again: again.unwrap_or_default(),
        wrong,
    };
    let status = match wrong.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok(Answer::Page(status, page.render()?))
}

#[derive(Template)]
#[template(path = "m/choose.html")]
struct Choose<'a> {
    style: String,
    organization: &'a str,
    members: Vec<(String, &'a str, bool)>,
}

pub(super) fn choose(choice: &Choice) -> Result<Answer, Failure> {
    let members = choice.members.iter();
    let page = Choose {
        style: assets::style(),
        organization: &choice.organization.name,
        members: members
            .map(|(id, name)| (id.to_string(), name.as_str(), choice.chosen == Some(*id)))
            .collect(),
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}

#[derive(Template)]
#[template(path = "m/contact.html")]
struct Contact<'a> {
    style: String,
    organization: &'a str,
    name: String,
    email: &'a str,
    phone: &'a str,
    form: &'a Form,
}

const CONTACT_FIELDS: &[&str] = &["email", "phone"];

pub(super) fn contact(shown: &MemberPage, form: &Form) -> Result<Answer, Failure> {
    let page = Contact {
        style: assets::style(),
        organization: &shown.organization.name,
        name: shown.member.name(),
        email: shown.member.email.as_deref().unwrap_or_default(),
        phone: shown.member.phone.as_deref().unwrap_or_default(),
        form,
    };
    Ok(Answer::Page(status_of(form), page.render()?))
}

#[derive(Template)]
#[template(path = "m/ended.html")]
struct Ended<'a> {
    style: String,
    title: &'a str,
    text: &'a str,
    /// Where to ask for another code; empty if that is not known.
    again: &'a str,
    request: String,
}

pub(super) fn ended() -> Result<Answer, Failure> {
    let page = Ended {
        style: assets::style(),
        title: "This link does not work",
        text: "Links to your page work for 60 days. Open the link in the newest message from your organization, or ask \
               your organization for a new one.",
        again: "",
        request: String::new(),
    };
    Ok(Answer::Page(StatusCode::NOT_FOUND, page.render()?))
}

/// After a code that is used up. `again` is where to ask for another one.
pub(super) fn code_ended(again: Option<&str>) -> Result<Answer, Failure> {
    let page = Ended {
        style: assets::style(),
        title: "This code no longer works",
        text: match again {
            Some(_) => {
                "It was used, tried too often, is older than 10 minutes, or was asked for in another browser."
            }
            None => {
                "It was used, tried too often, is older than 10 minutes, or was asked for in another browser. Open the link \
                 in the newest message from your organization, and ask for another one there."
            }
        },
        again: again.unwrap_or_default(),
        request: String::new(),
    };
    Ok(Answer::Page(StatusCode::NOT_FOUND, page.render()?))
}

pub(super) fn session_ended(organization: OrganizationId) -> Result<Answer, Failure> {
    let page = Ended {
        style: assets::style(),
        title: "Your session has ended",
        text: "It ends an hour after you entered the code. To open your page again, ask for another code, or use the link in \
               your message.",
        again: &format!("/m/in/{organization}"),
        request: String::new(),
    };
    Ok(Answer::Page(StatusCode::UNAUTHORIZED, page.render()?))
}

pub(super) fn left() -> Result<Answer, Failure> {
    let page = Ended {
        style: assets::style(),
        title: "You have signed out",
        text: "To open your page again, use the link in your message.",
        again: "",
        request: String::new(),
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}

pub(super) fn problem(title: &str, text: &str, request: RequestId) -> String {
    let page = Ended {
        style: assets::style(),
        title,
        text,
        again: "",
        request: request.to_string(),
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}

fn status_of(form: &Form) -> StatusCode {
    match form.problem {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_hinted_at() {
        assert_eq!(hinted("ada.ek@example.org"), "a…@example.org");
        assert_eq!(hinted("ø@example.org"), "ø…@example.org");
    }

    #[test]
    fn a_year_has_its_days() {
        assert!(days_of("2026").is_ok_and(|(first, _)| first == Date::parse("2026-01-01")));
        assert!(days_of("").is_ok_and(|(first, _)| first.is_none()));
        for wrong in ["26", "x", "2026-01", "99999"] {
            assert!(days_of(wrong).is_err(), "{wrong}");
        }
    }
}
