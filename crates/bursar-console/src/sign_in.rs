//! Signing in and out: by a mailed code or by a link, and the setup of an empty server.

use std::net::IpAddr;

use bursar_app::sign_in::code::{self, Entry};
use bursar_app::sign_in::{enter, open_link};
use bursar_app::{AppError, DbError, Identity, NO_ORGANIZATION, Whole, setup};
use bursar_domain::Refusal;
use bursar_domain::sign_in::{ENTROPY_BYTES, SecretHash, secret};
use bursar_http::limits::{Bucket, Subject};
use bursar_http::reply::Reply;
use hyper::header::{SET_COOKIE, USER_AGENT};
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::{StatusCode, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::failure::Failure;
use crate::forms::Form;
use crate::oidc::is_secret;
use crate::pages;
use crate::pages::signing::{End, tries_left};
use crate::reply::see_other;
use crate::serve::{Answer, Console};

/// Where a sign-in leads if nothing else was asked for.
const HOME: &str = "/console";

impl Console {
    /// Answers what is open to everybody; `None` for the rest.
    pub(crate) async fn outside(
        &self,
        parts: &Parts,
        address: IpAddr,
        end: &str,
        form: Option<&str>,
    ) -> Result<Option<Answer>, Failure> {
        let (place, rest) = end.split_once('/').unwrap_or((end, ""));
        if !matches!(place, "sign-in" | "setup") {
            return Ok(None);
        }
        let bucket = match form {
            None => Bucket::Read,
            Some(_) => Bucket::Messaging,
        };
        self.charge(Subject::SignIn(address), bucket).await?;
        let form = form.map(Form::parse);
        let answer = match (place, rest, form) {
            ("setup", link, None) => self.open_setup(link, &Form::default()).await?,
            ("setup", link, Some(form)) => self.set_up(parts, link, form).await?,
            (_, "", None) => self.ask_page(&Form::default(), "", &asked_for(parts))?,
            (_, "", Some(form)) => self.ask_code(parts, form).await?,
            (_, "code", None) => self.open_code(parts).await?,
            (_, "code", Some(form)) => self.enter_code(parts, &form).await?,
            (_, "passkey", Some(form)) => self.enter_by_passkey(parts, &form).await?,
            (_, "passkey/begin", Some(_)) => self.ask_passkey().await?,
            (_, "oidc", Some(form)) => self.begin_oidc(parts, &form).await?,
            (_, "oidc/callback", None) => self.end_oidc(parts).await?,
            (_, "oidc/link", None) => {
                let form = Form::parse(parts.uri.query().unwrap_or(""));
                self.show_link(parts, &form, &asked_for(parts)).await?
            }
            (_, link, None) => self.open_link(link).await?,
            (_, link, Some(_)) => self.enter(parts, link).await?,
        };
        Ok(Some(answer))
    }

    /// The page on which people sign in, or prove again who they are. `own` is the address of who is signed in.
    pub(crate) fn ask_page(&self, form: &Form, own: &str, to: &str) -> Result<Answer, Failure> {
        let status = match form.problem {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        let has_passkeys = self.passkeys.is_some();
        let Some(provider) = &self.oidc else {
            let page = pages::signing::ask(form, own, to, has_passkeys, None)?;
            return Ok(Answer::Page(status, page));
        };
        provider.ask_soon();
        let origin = provider.origin();
        let way = (provider.name(), origin.as_str());
        let page = pages::signing::ask(form, own, to, has_passkeys, Some(way))?;
        Ok(Answer::Leading(status, page, origin))
    }

    async fn ask_code(&self, parts: &Parts, mut form: Form) -> Result<Answer, Failure> {
        let browser = secret(&self.entropy()?);
        let (email, entropy, site) = (form.get("email").to_owned(), self.entropy()?, self.site.clone());
        let (kept, link) = (browser.clone(), form.get("login").to_owned());
        let login = (!link.is_empty()).then(|| self.login_key(parts, &link));
        let ask =
            move |whole: &mut Whole<'_, '_>| code::ask(whole, &email, &kept, &entropy, &site, login.as_ref());
        let asked: Result<(), AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, ask).await;
        let to = inside(form.get("to")).to_owned();
        if let Err(error) = asked {
            let failure = Failure::from(error);
            let Some(problem) = failure.problem() else {
                return match failure {
                    Failure::App(error) => ended_or(error, End::Login),
                    other => Err(other),
                };
            };
            form.problem = Some(problem);
            return match login {
                Some(_) => self.show_link(parts, &form, &to).await,
                None => self.ask_page(&form, "", &to),
            };
        }
        (self.on_queued)();
        let mut reply = see_other(&format!("/console/sign-in/code?{}", with_login(&to, &link)));
        if let Some(value) = self.code_cookie.set(&browser) {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Ok(Answer::Reply(reply))
    }

    async fn open_code(&self, parts: &Parts) -> Result<Answer, Failure> {
        match self.asked(parts).await? {
            Some(email) => {
                let asked = Form::parse(parts.uri.query().unwrap_or(""));
                let login = asked.get("login");
                Ok(page(pages::signing::code(&email, "", &asked_for(parts), login)?))
            }
            None => Ok(Answer::Reply(see_other("/console/sign-in"))),
        }
    }

    async fn enter_code(&self, parts: &Parts, form: &Form) -> Result<Answer, Failure> {
        let Some(browser) = self.code_cookie.secret(&parts.headers) else {
            return ended(End::Code);
        };
        let (browser, typed) = (browser.to_owned(), form.get("code").to_owned());
        let (cookie, agent) = (secret(&self.entropy()?), agent(parts));
        let (session, before) = (SecretHash::of(&cookie), self.cookie.read(&parts.headers));
        let work = move |whole: &mut Whole<'_, '_>| {
            code::enter(whole, &browser, &typed, (session, &agent), before.as_ref())
        };
        let entered: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        let to = inside(form.get("to"));
        match entered? {
            Entry::In(_) => Ok(Answer::Reply(self.signed_in(to, &cookie))),
            Entry::Wrong(left) => {
                let email = self.asked(parts).await?.unwrap_or_default();
                let page = pages::signing::code(&email, &tries_left(left), to, form.get("login"))?;
                Ok(Answer::Page(StatusCode::UNPROCESSABLE_ENTITY, page))
            }
            Entry::Ended => ended(End::Code),
        }
    }

    /// Only shows who will be signed in: mail programs open links too.
    async fn open_link(&self, link: &str) -> Result<Answer, Failure> {
        let hash = SecretHash::of(link);
        let look = move |whole: &mut Whole<'_, '_>| open_link(whole, &hash);
        let found: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
        match found {
            Ok(user) => Ok(page(pages::signing::confirm(&user, link)?)),
            Err(error) => ended_or(error, End::Link),
        }
    }

    async fn enter(&self, parts: &Parts, link: &str) -> Result<Answer, Failure> {
        let (cookie, agent) = (secret(&self.entropy()?), agent(parts));
        let (hash, session) = (SecretHash::of(link), SecretHash::of(&cookie));
        let before = self.cookie.read(&parts.headers);
        let work = move |whole: &mut Whole<'_, '_>| enter(whole, &hash, (session, &agent), before.as_ref());
        let entered: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        match entered {
            Ok(_) => Ok(Answer::Reply(self.signed_in(HOME, &cookie))),
            Err(error) => ended_or(error, End::Link),
        }
    }

    async fn open_setup(&self, link: &str, form: &Form) -> Result<Answer, Failure> {
        let hash = SecretHash::of(link);
        let look = move |whole: &mut Whole<'_, '_>| setup::open(whole, &hash);
        let open: Result<(), AppError> = self.app.look(Identity::Visitor, look).await;
        let status = match form.problem {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        match open {
            Ok(()) => Ok(Answer::Page(status, pages::setup::show(form)?)),
            Err(error) => ended_or(error, End::Setup),
        }
    }

    async fn set_up(&self, parts: &Parts, link: &str, mut form: Form) -> Result<Answer, Failure> {
        let new = match pages::setup::read(&form) {
            Ok(new) => new,
            Err(problem) => {
                form.problem = Some(problem);
                return self.open_setup(link, &form).await;
            }
        };
        let (cookie, agent) = (secret(&self.entropy()?), agent(parts));
        let (hash, session) = (SecretHash::of(link), SecretHash::of(&cookie));
        let (name, email) = (form.get("person").to_owned(), form.get("email").to_owned());
        let work = move |whole: &mut Whole<'_, '_>| {
            setup::begin(whole, &hash, &new, (&name, &email), (session, &agent))
        };
        let begun: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        match begun {
            Ok((organization, _)) => {
                let to = format!("/console/{}", organization.id);
                Ok(Answer::Reply(self.signed_in(&to, &cookie)))
            }
            Err(AppError::Refused(Refusal::Missing { field: None, .. })) => ended(End::Setup),
            Err(error) => {
                let failure = Failure::from(error);
                form.problem = Some(failure.problem().ok_or(failure)?);
                self.open_setup(link, &form).await
            }
        }
    }

    pub(crate) fn signed_in(&self, to: &str, cookie: &str) -> Reply {
        let mut reply = see_other(to);
        if let Some(value) = self.cookie.set(cookie) {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        reply
    }

    pub(crate) fn entropy(&self) -> Result<[u8; ENTROPY_BYTES], Failure> {
        (self.entropy)().map_err(|error| DbError::Unavailable(error).into())
    }
}

fn page(page: String) -> Answer {
    Answer::Page(StatusCode::OK, page)
}

pub(crate) fn agent(parts: &Parts) -> String {
    let agent = parts.headers.get(USER_AGENT);
    agent
        .and_then(|value| value.to_str().ok())
        .unwrap_or("")
        .to_owned()
}

/// The page that a sign-in leads to, from the address.
pub(crate) fn asked_for(parts: &Parts) -> String {
    let query = Form::parse(parts.uri.query().unwrap_or(""));
    inside(query.get("to")).to_owned()
}

/// Longer addresses lose their filters.
const TO_BYTES_MAX: usize = 1_000;

/// Only a page of the console, with its filters, or the way in: nobody is sent elsewhere after a sign-in.
pub(crate) fn inside(to: &str) -> &str {
    let (path, query) = to.split_once('?').unwrap_or((to, ""));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-');
    let is_filter = |c: char| c.is_ascii_alphanumeric() || "_-.~*+%=&".contains(c);
    let is_page = path.starts_with("/console/")
        && !path.starts_with("/console/sign-in")
        && !path.contains("//")
        && path.chars().all(is_plain);
    match is_page && query.chars().all(is_filter) && to.len() <= TO_BYTES_MAX {
        true => to,
        false => HOME,
    }
}

/// In the value of a query; a path reads as it is.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'_').remove(b'-');

/// Carries the page that a sign-in leads to.
pub(crate) fn query_of(to: &str) -> String {
    match inside(to) {
        HOME => String::new(),
        to => format!("to={}", utf8_percent_encode(to, KEPT)),
    }
}

/// The same for a page that was asked for. Where its filters cannot be carried, the page alone is.
pub(crate) fn query_of_page(uri: &Uri) -> String {
    let whole = uri.path_and_query().map_or("", PathAndQuery::as_str);
    match query_of(whole) {
        query if query.is_empty() => query_of(uri.path()),
        query => query,
    }
}

/// Carries also the new login that is to be linked there.
pub(crate) fn with_login(to: &str, login: &str) -> String {
    match (query_of(to), is_secret(login)) {
        (query, false) => query,
        (query, true) if query.is_empty() => format!("login={login}"),
        (query, true) => format!("{query}&login={login}"),
    }
}

pub(crate) fn ended(what: End) -> Result<Answer, Failure> {
    Ok(Answer::Page(StatusCode::NOT_FOUND, pages::signing::ended(what)?))
}

/// The same page for every link that does not work.
fn ended_or(error: AppError, what: End) -> Result<Answer, Failure> {
    match error {
        AppError::Refused(Refusal::Missing { .. }) => ended(what),
        other => Err(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_leads_nowhere_else() {
        for (to, expected) in [
            ("/console/org_1/members", "/console/org_1/members"),
            ("", HOME),
            ("/console", HOME),
            ("https://elsewhere.example.org/", HOME),
            ("//elsewhere.example.org", HOME),
            ("/console//elsewhere.example.org", HOME),
            ("/console/../elsewhere", HOME),
            ("/console/sign-in/0123", HOME),
            ("/console/\\elsewhere", HOME),
            ("/console/a\r\nSet-Cookie: x", HOME),
            ("javascript:alert(1)", HOME),
            (
                "/console/org_1/charges?show=all&from=2026-01-01&q=a%20b+c",
                "/console/org_1/charges?show=all&from=2026-01-01&q=a%20b+c",
            ),
            ("/console/org_1?q=<b>", HOME),
            ("/console/org_1?q=//elsewhere.example.org", HOME),
            ("/console/org_1?a?b", HOME),
            ("/console/org_1?a\r\nSet-Cookie: x", HOME),
            ("/console/sign-in?x=1", HOME),
            ("/console?to=/console/x", HOME),
            ("?to=/console/x", HOME),
        ] {
            assert_eq!(inside(to), expected, "{to}");
        }
        assert_eq!(query_of("/console/x"), "to=/console/x");
        assert_eq!(query_of("//x"), "");
        assert_eq!(
            query_of("/console/x?a=b&c=%20"),
            "to=/console/x%3Fa%3Db%26c%3D%2520"
        );
        let long = format!("/console/x?q={}", "a".repeat(TO_BYTES_MAX));
        assert_eq!(query_of(&long), "");
        assert_eq!(query_of_page(&long.parse().unwrap()), "to=/console/x");
        assert_eq!(
            query_of_page(&"/console/x?a=b".parse().unwrap()),
            "to=/console/x%3Fa%3Db"
        );
        assert_eq!(
            query_of_page(&"/console/x?q=a/b".parse().unwrap()),
            "to=/console/x"
        );
    }
}
