//! Passkeys: a script asks the browser, and a form sends what it answered.

use std::sync::Arc;

use bursar_app::sign_in::passkey::{self, Passkeys};
use bursar_app::{AppError, Identity, NO_ORGANIZATION, Whole};
use bursar_domain::Refusal;
use bursar_domain::sign_in::{SecretHash, secret};
use hyper::StatusCode;
use hyper::header::SET_COOKIE;
use hyper::http::request::Parts;

use crate::failure::Failure;
use crate::forms::Form;
use crate::pages;
use crate::pages::sessions::hex;
use crate::reply::{json, see_other};
use crate::serve::{Answer, Console, Signed};
use crate::sign_in::{agent, inside};

impl Console {
    /// What to ask the browser of somebody who wants to sign in.
    pub(crate) async fn ask_passkey(&self) -> Result<Answer, Failure> {
        let (place, cookie) = (self.place_of_passkeys()?, secret(&self.entropy()?));
        let browser = SecretHash::of(&cookie);
        let work = move |whole: &mut Whole<'_, '_>| passkey::begin_entering(whole, &place, &browser);
        let asked: Result<String, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        Ok(self.asking(asked?, &cookie))
    }

    pub(crate) async fn enter_by_passkey(&self, parts: &Parts, form: &Form) -> Result<Answer, Failure> {
        let (place, browser) = (self.place_of_passkeys()?, self.ceremony(parts)?);
        let (cookie, agent) = (secret(&self.entropy()?), agent(parts));
        let (session, before) = (SecretHash::of(&cookie), self.cookie.read(&parts.headers));
        let answer = form.get("answer").to_owned();
        let work = move |whole: &mut Whole<'_, '_>| {
            let (told, begun) = ((&browser, answer.as_str()), (session, agent.as_str()));
            passkey::enter(whole, &place, told, begun, before.as_ref())
        };
        let entered: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        let to = inside(form.get("to"));
        match entered.map_err(Failure::from) {
            Ok(_) => Ok(Answer::Reply(self.signed_in(to, &cookie))),
            Err(failure) => {
                let mut form = form.clone();
                form.problem = Some(failure.problem().ok_or(failure)?);
                self.ask_page(&form, "", to)
            }
        }
    }

    pub(crate) async fn show_passkeys(&self, signed: &Signed, form: &Form) -> Result<Answer, Failure> {
        self.place_of_passkeys()?;
        let who = Identity::Session(signed.session);
        let found: Result<_, AppError> = self.app.look(who, passkey::list).await;
        let status = match form.problem {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        Ok(Answer::Page(
            status,
            pages::passkeys::show(&found?, &signed.zone(), form)?,
        ))
    }

    /// What to ask the browser of somebody who adds a passkey.
    pub(crate) async fn begin_passkey(&self, signed: &Signed) -> Result<Answer, Failure> {
        let (place, cookie) = (self.place_of_passkeys()?, secret(&self.entropy()?));
        let browser = SecretHash::of(&cookie);
        let work = move |whole: &mut Whole<'_, '_>| passkey::begin_adding(whole, &place, &browser);
        let who = Identity::Session(signed.session);
        let asked: Result<String, AppError> = self.app.change(who, NO_ORGANIZATION, work).await;
        Ok(self.asking(asked?, &cookie))
    }

    pub(crate) async fn change_passkeys(
        &self,
        signed: &Signed,
        parts: &Parts,
        mut form: Form,
    ) -> Result<Answer, Failure> {
        let changed = match form.some("remove") {
            Some(which) => self.remove_passkey(signed, which).await,
            None => self.add_passkey(signed, parts, &form).await,
        };
        match changed {
            Ok(()) => {
                (self.on_queued)();
                Ok(Answer::Reply(see_other("/console/passkeys")))
            }
            Err(failure) => {
                form.problem = Some(failure.problem().ok_or(failure)?);
                self.show_passkeys(signed, &form).await
            }
        }
    }

    async fn add_passkey(&self, signed: &Signed, parts: &Parts, form: &Form) -> Result<(), Failure> {
        let (place, browser) = (self.place_of_passkeys()?, self.ceremony(parts)?);
        let (name, answer) = (form.get("name").to_owned(), form.get("answer").to_owned());
        self.change(signed.session, move |whole| {
            passkey::add(whole, &place, &browser, &name, &answer)
        })
        .await
    }

    async fn remove_passkey(&self, signed: &Signed, which: String) -> Result<(), Failure> {
        self.change(signed.session, move |whole| {
            let found = passkey::list(whole)?;
            match found.iter().find(|passkey| hex(&passkey.hash) == which) {
                Some(found) => passkey::remove(whole, &found.hash),
                None => Ok(()),
            }
        })
        .await
    }

    fn asking(&self, asked: String, cookie: &str) -> Answer {
        let mut reply = json(asked);
        if let Some(value) = self.ceremony_cookie.set(cookie) {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Answer::Reply(reply)
    }

    fn ceremony(&self, parts: &Parts) -> Result<SecretHash, Failure> {
        let ended = || Refusal::conflict("this took longer than 5 minutes, or was sent before; begin again");
        Ok(self.ceremony_cookie.read(&parts.headers).ok_or_else(ended)?)
    }

    fn place_of_passkeys(&self) -> Result<Arc<Passkeys>, Failure> {
        let missing = || Refusal::missing("passkeys need a host name; this address is an IP address");
        Ok(self.passkeys.clone().ok_or_else(missing)?)
    }
}
