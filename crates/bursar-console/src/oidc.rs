//! Signing in with a login at an OpenID Connect provider: there, back, and the code that links a new login.

mod provider;

use std::sync::Arc;

use bursar_app::sign_in::login::{self, Begun, Entry};
use bursar_app::{AppError, Identity, NO_ORGANIZATION, Whole};
use bursar_domain::Refusal;
use bursar_domain::sign_in::login::{Login, Proven, is_proved_again};
use bursar_domain::sign_in::{SecretHash, secret};
use hyper::StatusCode;
use hyper::header::SET_COOKIE;
use hyper::http::request::Parts;

pub use provider::OidcSettings;
pub(crate) use provider::{Fault, Provider};

use crate::failure::Failure;
use crate::forms::Form;
use crate::pages;
use crate::pages::sessions::hex;
use crate::pages::signing::End;
use crate::reply::see_other;
use crate::serve::{Answer, Console, Signed};
use crate::sign_in::{agent, ended, inside, query_of, with_login};

/// How a sign-in can fail at the provider.
enum Denied {
    Unreachable,
    Unproven,
    /// The provider, or the person there, said no.
    Refused,
    /// The provider did not ask them again who they are.
    Remembered,
}

impl Console {
    /// Sends somebody to the provider.
    pub(crate) async fn begin_oidc(&self, parts: &Parts, form: &Form) -> Result<Answer, Failure> {
        let provider = self.provider()?;
        let known = match provider.known().await {
            Ok(known) => known,
            Err(fault) => return failed(&provider, fault),
        };
        let (to, is_again) = (inside(form.get("to")), form.has("again"));
        // A browser follows a form only to where its page allows. The page did not know better; it does now.
        if form.get("origin") != known.origin() {
            let page = if is_again { "confirm" } else { "sign-in" };
            return Ok(Answer::Reply(see_other(&format!(
                "/console/{page}?{}",
                query_of(to)
            ))));
        }
        // Two tabs can be on their way at once, so a browser keeps what it has.
        let had = self
            .login_cookie
            .secret(&parts.headers)
            .filter(|had| is_secret(had));
        let browser = match had {
            Some(had) => had.to_owned(),
            None => secret(&self.entropy()?),
        };
        let begun = Begun {
            nonce: secret(&self.entropy()?),
            verifier: secret(&self.entropy()?),
            to: to.to_owned(),
            is_again,
        };
        let state = secret(&self.entropy()?);
        let address = provider.address(&known, &state, &begun);
        let key = login::key(&browser, &state);
        let work = move |whole: &mut Whole<'_, '_>| login::begin(whole, &key, &begun);
        let kept: Result<(), AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        kept?;
        let mut reply = see_other(address.as_str());
        if let Some(value) = self.login_cookie.set(&browser) {
            reply.headers_mut().insert(SET_COOKIE, value);
        }
        Ok(Answer::Reply(reply))
    }

    /// The provider sends somebody back.
    pub(crate) async fn end_oidc(&self, parts: &Parts) -> Result<Answer, Failure> {
        let provider = self.provider()?;
        let told = Form::parse(parts.uri.query().unwrap_or(""));
        let key = self.login_key(parts, told.get("state"));
        let take = move |whole: &mut Whole<'_, '_>| login::take(whole, &key);
        let taken: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, take).await;
        // Only who was sent there may say how it ended.
        let Some((begun, begun_at)) = taken? else {
            return ended(End::Login);
        };
        if told.has("iss") && !provider.is_issuer(told.get("iss")) {
            return denied(&provider, &Denied::Unproven);
        }
        if told.has("error") || !told.has("code") {
            tracing::info!(error = ?told.get("error"), "the OpenID Connect provider refused a sign-in");
            return denied(&provider, &Denied::Refused);
        }
        let proved = provider.prove(told.get("code").to_owned(), &begun, self.app.now());
        let (proven, proved_at) = match proved.await {
            Ok(proved) => proved,
            Err(fault) => return failed(&provider, fault),
        };
        if begun.is_again && !is_proved_again(proved_at, begun_at) {
            return denied(&provider, &Denied::Remembered);
        }
        let (cookie, agent, link) = (secret(&self.entropy()?), agent(parts), secret(&self.entropy()?));
        let (session, before) = (SecretHash::of(&cookie), self.cookie.read(&parts.headers));
        let key = self.login_key(parts, &link);
        let work = move |whole: &mut Whole<'_, '_>| {
            let begun = (session, agent.as_str());
            login::enter(whole, (&proven, proved_at), begun, before.as_ref(), &key)
        };
        let entered: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, work).await;
        let to = inside(&begun.to);
        Ok(Answer::Reply(match entered? {
            Entry::In(_) => self.signed_in(to, &cookie),
            Entry::New => see_other(&format!("/console/sign-in/oidc/link?{}", with_login(to, &link))),
        }))
    }

    /// Asks who has this new login. `form` is what was typed before.
    pub(crate) async fn show_link(&self, parts: &Parts, form: &Form, to: &str) -> Result<Answer, Failure> {
        let provider = self.provider()?;
        let key = self.login_key(parts, form.get("login"));
        let look = move |whole: &mut Whole<'_, '_>| login::waiting(whole, &key);
        let waiting: Result<Option<Proven>, AppError> = self.app.look(Identity::Visitor, look).await;
        let Some(proven) = waiting? else {
            return ended(End::Login);
        };
        let status = match form.problem {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        let page = pages::signing::link(form, provider.name(), &proven.email, to)?;
        Ok(Answer::Page(status, page))
    }

    pub(crate) async fn show_logins(&self, signed: &Signed) -> Result<Answer, Failure> {
        let provider = self.provider()?;
        let who = Identity::Session(signed.session);
        let found: Result<_, AppError> = self.app.look(who, login::list).await;
        let page = pages::logins::show(&found?, provider.name(), &signed.zone())?;
        Ok(Answer::Page(StatusCode::OK, page))
    }

    pub(crate) async fn remove_login(&self, signed: &Signed, form: &Form) -> Result<Answer, Failure> {
        let which = form.get("remove").to_owned();
        self.change(signed.session, move |whole| {
            let own = login::list(whole)?;
            match own.iter().map(Login::key).find(|key| hex(key) == which) {
                Some(key) => login::remove(whole, &key),
                None => Ok(()),
            }
        })
        .await?;
        (self.on_queued)();
        Ok(Answer::Reply(see_other("/console/logins")))
    }

    /// What this browser and a secret in an address name.
    pub(crate) fn login_key(&self, parts: &Parts, secret: &str) -> SecretHash {
        // Nothing is kept for a browser without the cookie.
        let browser = self.login_cookie.secret(&parts.headers).unwrap_or("");
        login::key(browser, secret)
    }

    fn provider(&self) -> Result<Arc<Provider>, Failure> {
        let missing = || Refusal::missing("this server has no sign-in with another service");
        Ok(self.oidc.clone().ok_or_else(missing)?)
    }
}

/// Whether it has the form of our secrets.
pub(crate) fn is_secret(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn failed(provider: &Provider, fault: Fault) -> Result<Answer, Failure> {
    let (cause, what) = match fault {
        Fault::Unreachable(cause) => (cause, Denied::Unreachable),
        Fault::Unproven(cause) => (cause, Denied::Unproven),
    };
    tracing::warn!(cause, "a sign-in with the OpenID Connect provider failed");
    denied(provider, &what)
}

fn denied(provider: &Provider, what: &Denied) -> Result<Answer, Failure> {
    let name = provider.name();
    let (status, title, text) = match what {
        Denied::Unreachable => (
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{name} cannot be reached"),
            "You were not signed in. Sign in with a code, or try again in a few minutes.".to_owned(),
        ),
        Denied::Unproven => (
            StatusCode::FORBIDDEN,
            "You were not signed in".to_owned(),
            format!("What {name} sent does not prove who you are. Begin again, or sign in with a code."),
        ),
        Denied::Refused => (
            StatusCode::FORBIDDEN,
            "You were not signed in".to_owned(),
            format!("You cancelled, or {name} did not let you in. Begin again, or sign in with a code."),
        ),
        Denied::Remembered => (
            StatusCode::FORBIDDEN,
            "Confirm with a code".to_owned(),
            format!(
                "{name} remembered you and did not ask again who you are. Nothing was changed; confirm with a code."
            ),
        ),
    };
    Ok(Answer::Page(status, pages::signing::not_in(&title, &text)?))
}
