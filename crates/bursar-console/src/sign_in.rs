//! Signing in and out: the pages that need no session.

use bursar_app::sign_in::{end, enter, open_link};
use bursar_app::{AppError, DbError, Identity, Whole};
use bursar_domain::Refusal;
use bursar_domain::ids::Id;
use bursar_domain::sign_in::{SecretHash, secret};
use hyper::StatusCode;
use hyper::header::{SET_COOKIE, USER_AGENT};
use hyper::http::request::Parts;

use crate::failure::Failure;
use crate::pages;
use crate::reply::see_other;
use crate::serve::{Answer, Console, Signed};

impl Console {
    /// Answers what is open to everybody; `None` for the rest.
    pub(crate) async fn outside(
        &self,
        parts: &Parts,
        end: &str,
        form: Option<&str>,
    ) -> Result<Option<Answer>, Failure> {
        let Some(rest) = end.strip_prefix("sign-in") else {
            return Ok(None);
        };
        let link = rest.strip_prefix('/').unwrap_or("");
        let answer = match (link, form) {
            ("", _) => Answer::Page(StatusCode::OK, pages::signing::ask()?),
            (link, None) => self.open_link(link).await?,
            (link, Some(_)) => self.enter(parts, link).await?,
        };
        Ok(Some(answer))
    }

    /// Only shows who will be signed in: mail programs open links too.
    async fn open_link(&self, link: &str) -> Result<Answer, Failure> {
        let hash = SecretHash::of(link);
        let look = move |whole: &mut Whole<'_, '_>| open_link(whole, &hash);
        let found: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
        match found {
            Ok(user) => Ok(Answer::Page(
                StatusCode::OK,
                pages::signing::confirm(&user, link)?,
            )),
            Err(error) => ended(error),
        }
    }

    async fn enter(&self, parts: &Parts, link: &str) -> Result<Answer, Failure> {
        let entropy = (self.entropy)().map_err(DbError::Unavailable)?;
        let cookie = secret(&entropy);
        let agent = parts
            .headers
            .get(USER_AGENT)
            .and_then(|value| value.to_str().ok());
        let (hash, session, agent) = (
            SecretHash::of(link),
            SecretHash::of(&cookie),
            agent.unwrap_or("").to_owned(),
        );
        let work = move |whole: &mut Whole<'_, '_>| enter(whole, &hash, session, &agent);
        let entered: Result<_, AppError> = self.app.change(Identity::Visitor, Id::from_bits(0), work).await;
        if let Err(error) = entered {
            return ended(error);
        }
        let mut reply = see_other("/console");
        if let Some(value) = self.cookie.set(&cookie) {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Ok(Answer::Reply(reply))
    }

    pub(crate) async fn sign_out(&self, signed: &Signed) -> Result<Answer, Failure> {
        let session = signed.session;
        let work = move |whole: &mut Whole<'_, '_>| end(whole, &session);
        let ended: Result<(), AppError> = self
            .app
            .change(Identity::Session(session), Id::from_bits(0), work)
            .await;
        ended?;
        let mut reply = see_other("/console/sign-in");
        if let Some(value) = self.cookie.clear() {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Ok(Answer::Reply(reply))
    }
}

/// The same page for every link that does not work.
fn ended(error: AppError) -> Result<Answer, Failure> {
    match error {
        AppError::Refused(Refusal::Missing { .. }) => {
            Ok(Answer::Page(StatusCode::NOT_FOUND, pages::signing::ended()?))
        }
        other => Err(other.into()),
    }
}
