//! What a signed-in person does about themselves: proves again who they are, and ends sessions.

use std::sync::Arc;

use bursar_app::sign_in::{end, sessions};
use bursar_app::{AppError, Identity, NO_ORGANIZATION, Whole};
use bursar_domain::Refusal;
use bursar_domain::sign_in::SecretHash;
use hyper::StatusCode;
use hyper::header::SET_COOKIE;
use hyper::http::request::Parts;

use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::{Frame, Place};
use crate::pages;
use crate::pages::sessions::hex;
use crate::reply::{is_part, see_other};
use crate::serve::{Answer, Console, Signed};
use crate::sign_in::asked_for;

impl Console {
    /// Answers what is about the person and no organization; `None` for the rest.
    pub(crate) async fn account(
        &self,
        signed: &Signed,
        parts: &Parts,
        place: &str,
        form: Option<&str>,
    ) -> Result<Option<Answer>, Failure> {
        let answer = match (place, form) {
            ("", None) => pages::places::answer(self, signed).await?,
            ("confirm", None) => {
                let own = &signed.oneself.user.email;
                self.ask_page(&Form::default(), own, &asked_for(parts))?
            }
            ("keys", None) => Answer::Page(StatusCode::OK, pages::keys::show(is_part(&parts.headers))?),
            ("parts", None) if self.is_demo => self.show_parts(signed)?,
            ("sessions", None) => self.show_sessions(signed).await?,
            ("sessions", Some(form)) => self.end_sessions(signed, &Form::parse(form)).await?,
            ("passkeys", None) => self.show_passkeys(signed, &Form::default()).await?,
            ("passkeys", Some(form)) => self.change_passkeys(signed, parts, Form::parse(form)).await?,
            ("passkeys/begin", Some(_)) => self.begin_passkey(signed).await?,
            ("address", None) => self.show_address(signed, &Form::default())?,
            ("address", Some(form)) => self.ask_address(signed, Form::parse(form)).await?,
            ("address/code", None) => self.show_address_code(parts, &Form::default()).await?,
            ("address/code", Some(form)) => self.confirm_address(signed, parts, Form::parse(form)).await?,
            ("logins", None) => self.show_logins(signed).await?,
            ("logins", Some(form)) => self.remove_login(signed, &Form::parse(form)).await?,
            ("sign-out", Some(_)) => self.sign_out(signed).await?,
            _ => return Ok(None),
        };
        Ok(Some(answer))
    }

    fn show_parts(&self, signed: &Signed) -> Result<Answer, Failure> {
        let missing = || Refusal::missing("there is no organization to show the parts in");
        let (organization, role) = signed.oneself.places.first().ok_or_else(missing)?;
        let place = Place {
            organization: organization.clone(),
            role: *role,
        };
        let frame = Frame::new(
            &signed.oneself,
            place,
            "parts",
            self.new_key()?,
            Arc::clone(&self.webhooks),
        );
        Ok(Answer::Page(StatusCode::OK, pages::parts::show(frame)?))
    }

    async fn show_sessions(&self, signed: &Signed) -> Result<Answer, Failure> {
        let found: Result<_, AppError> = self.app.look(Identity::Session(signed.session), sessions).await;
        let (email, ways) = (
            &signed.oneself.user.email,
            (self.passkeys.is_some(), self.oidc.is_some()),
        );
        let page = pages::sessions::show(email, &found?, &signed.session, &signed.zone(), ways)?;
        Ok(Answer::Page(StatusCode::OK, page))
    }

    /// Ends one session of the person's own, or all but this.
    async fn end_sessions(&self, signed: &Signed, form: &Form) -> Result<Answer, Failure> {
        let (this, which) = (signed.session, form.get("session").to_owned());
        if which == hex(&this) {
            return self.sign_out(signed).await;
        }
        let work = move |whole: &mut Whole<'_, '_>| {
            for session in sessions(whole)? {
                if session.hash != this && (which == "others" || which == hex(&session.hash)) {
                    end(whole, &session.hash)?;
                }
            }
            Ok(())
        };
        self.change(this, work).await?;
        Ok(Answer::Reply(see_other("/console/sessions")))
    }

    async fn sign_out(&self, signed: &Signed) -> Result<Answer, Failure> {
        let session = signed.session;
        self.change(session, move |whole| end(whole, &session)).await?;
        let mut reply = see_other("/console/sign-in");
        if let Some(value) = self.cookie.clear() {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Ok(Answer::Reply(reply))
    }

    pub(crate) async fn change(
        &self,
        session: SecretHash,
        work: impl FnMut(&mut Whole<'_, '_>) -> Result<(), AppError> + Send + 'static,
    ) -> Result<(), Failure> {
        let who = Identity::Session(session);
        let changed: Result<(), AppError> = self.app.change(who, NO_ORGANIZATION, work).await;
        Ok(changed?)
    }
}
