//! A person changes their own e-mail address: a code is mailed to the new one.

use bursar_app::sign_in::address;
use bursar_app::sign_in::code::{self, Entry};
use bursar_app::{AppError, Identity, NO_ORGANIZATION, Whole};
use bursar_domain::sign_in::{SecretHash, secret};
use hyper::StatusCode;
use hyper::header::SET_COOKIE;
use hyper::http::request::Parts;

use crate::failure::{Failure, Problem};
use crate::forms::Form;
use crate::pages;
use crate::pages::signing::{End, tries_left};
use crate::reply::see_other;
use crate::serve::{Answer, Console, Signed};
use crate::sign_in::ended;

impl Console {
    pub(crate) fn show_address(&self, signed: &Signed, form: &Form) -> Result<Answer, Failure> {
        // Asked before anything is typed.
        if form.problem.is_none() && !signed.oneself.session.is_fresh(self.app.now()) {
            return Err(AppError::Stale.into());
        }
        let page = pages::address::ask(&signed.oneself.user.email, form)?;
        Ok(Answer::Page(status(form), page))
    }

    pub(crate) async fn ask_address(&self, signed: &Signed, mut form: Form) -> Result<Answer, Failure> {
        let browser = secret(&self.entropy()?);
        let (email, entropy, site) = (form.get("email").to_owned(), self.entropy()?, self.site.clone());
        let kept = browser.clone();
        let ask = move |whole: &mut Whole<'_, '_>| address::ask(whole, &email, &kept, &entropy, &site);
        if let Err(failure) = self.change(signed.session, ask).await {
            form.problem = Some(failure.problem().ok_or(failure)?);
            return self.show_address(signed, &form);
        }
        (self.on_queued)();
        let mut reply = see_other("/console/address/code");
        if let Some(value) = self.code_cookie.set(&browser) {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Ok(Answer::Reply(reply))
    }

    pub(crate) async fn show_address_code(&self, parts: &Parts, form: &Form) -> Result<Answer, Failure> {
        match self.asked(parts).await? {
            Some(email) => Ok(Answer::Page(status(form), pages::address::code(&email, form)?)),
            None => Ok(Answer::Reply(see_other("/console/address"))),
        }
    }

    pub(crate) async fn confirm_address(
        &self,
        signed: &Signed,
        parts: &Parts,
        mut form: Form,
    ) -> Result<Answer, Failure> {
        let Some(browser) = self.code_cookie.secret(&parts.headers) else {
            return ended(End::Code);
        };
        let (browser, typed) = (browser.to_owned(), form.get("code").to_owned());
        let work = move |whole: &mut Whole<'_, '_>| address::confirm(whole, &browser, &typed);
        let who = Identity::Session(signed.session);
        let tried: Result<_, AppError> = self.app.change(who, NO_ORGANIZATION, work).await;
        match tried? {
            Entry::In(_) => {
                (self.on_queued)();
                Ok(Answer::Reply(see_other("/console/sessions")))
            }
            Entry::Wrong(left) => {
                form.problem = Some(Problem::of("code", tries_left(left)));
                self.show_address_code(parts, &form).await
            }
            Entry::Ended => ended(End::Code),
        }
    }

    /// The address that this browser has asked a code for.
    pub(crate) async fn asked(&self, parts: &Parts) -> Result<Option<String>, Failure> {
        let Some(browser) = self.code_cookie.secret(&parts.headers) else {
            return Ok(None);
        };
        let browser = SecretHash::of(browser);
        let look = move |whole: &mut Whole<'_, '_>| code::asked(whole, &browser);
        let asked: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
        Ok(asked?)
    }
}

fn status(form: &Form) -> StatusCode {
    match form.problem {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    }
}
