//! Opens a page of an organization, and does what its form asks, once.

use std::sync::{Arc, Mutex, PoisonError};

use bursar_app::{AppError, DbError, Identity, Once, Output, Rule, View, Visit, sign_in};
use bursar_domain::Refusal;
use bursar_domain::ids::OrganizationId;
use hyper::StatusCode;

use crate::asking::{AGAIN, Asking, DONE};
use crate::failure::{Failure, Problem};
use crate::forms::{CHANGE, Done, Form, KEY, PLAN, STEP, Sent, Telling, Work};
use crate::reply::see_other;
use crate::routes::{Log, Logged, Make, Route};
use crate::serve::{Answer, Console, Signed};

impl Console {
    /// Reads for a page. On SQLite that happens here and now, and a page may read a lot: other requests go on meanwhile.
    pub(crate) fn view<T: Send + 'static>(
        &self,
        signed: &Signed,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, Failure> + Send + 'static,
    ) -> bursar_app::Reply<T, Failure> {
        let who = Identity::Session(signed.session);
        tokio::task::block_in_place(|| self.app.view(who, organization, work))
    }

    pub(crate) async fn open(
        &self,
        signed: &Signed,
        route: &'static Route,
        mut asking: Asking,
        form: Form,
    ) -> Result<Answer, Failure> {
        if let Some((rule, _)) = route.send
            && !route.is_board
        {
            check_role(&asking, rule)?;
            // Asked before anything is typed.
            if rule.guarded && form.problem.is_none() && !signed.oneself.session.is_fresh(self.app.now()) {
                return Err(AppError::Stale.into());
            }
        }
        let organization = asking.frame.place.organization.id;
        let status = match form.problem {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        let page = self.view(signed, organization, move |view| {
            let key = asking.query(DONE).to_owned();
            if is_key(&key)
                && let Some(output) = sign_in::sent(view, &key)?
            {
                asking.frame.done = serde_json::from_str(&output.body).ok();
                asking.frame.is_again = asking.query(AGAIN) == "yes";
            }
            (route.show)(view, &asking, &form)
        });
        Ok(Answer::Page(status, page.await?))
    }

    pub(crate) async fn download(
        &self,
        signed: &Signed,
        make: Make,
        asking: Asking,
    ) -> Result<Answer, Failure> {
        let organization = asking.frame.place.organization.id;
        let made = self.view(signed, organization, move |view| make(view, &asking));
        Ok(Answer::Reply(made.await?.reply()))
    }

    /// A page or a file whose reading is logged. It is not sent if it could not be.
    pub(crate) async fn logged(&self, signed: &Signed, log: Log, asking: Asking) -> Result<Answer, Failure> {
        let organization = asking.frame.place.organization.id;
        let visit = Visit {
            who: Identity::Session(signed.session),
            request: Some(signed.request),
        };
        let read = self.app.act(visit, organization, move |act| log(act, &asking));
        Ok(match read.await? {
            Logged::Page(page) => Answer::Page(StatusCode::OK, page),
            Logged::File(file) => Answer::Reply(file.reply()),
        })
    }

    pub(crate) async fn send(
        &self,
        signed: &Signed,
        route: &'static Route,
        asking: Asking,
        path: &str,
        form: Form,
    ) -> Result<Answer, Failure> {
        let (rule, send) = route.send.ok_or_else(no_form)?;
        check_role(&asking, rule)?;
        // Back from a preview, with what was typed.
        if form.get(STEP) == CHANGE {
            return self.open(signed, route, asking, form).await;
        }
        let organization = asking.frame.place.organization.id;
        let who = Identity::Session(signed.session);
        let (asked, read) = (asking.clone(), form.clone());
        let key = form.get(KEY).to_owned();
        let fingerprint = form.fingerprint(path);
        let user = signed.oneself.user.id;
        let once = Once::of_person(organization, user, key.clone(), fingerprint, self.key_seconds);
        let look = move |view: &mut View<'_, '_>| (send)(view, &asked, &read);
        let without_page =
            |mut work: Work| -> Telling { Box::new(move |act| Ok((work(act)?, String::new()))) };
        let (work, asked_after) = match self.view(signed, organization, look.clone()).await {
            Ok(Sent::Do(work)) => (without_page(work), None),
            Ok(Sent::DoAndAsk(work, payment)) => (without_page(work), Some(payment)),
            Ok(Sent::Tell(work)) => (work, None),
            Ok(Sent::Ask(question)) => return self.ask_provider(organization, question).await,
            other => {
                // What the form did may be why it cannot be done again.
                let given = self.app.view(who, organization, move |view| once.given(view));
                return match (given.await, other) {
                    (Ok(Some(output)), _) if is_key(&key) => Ok(went(&output, &key, true)),
                    (_, Ok(Sent::Show(page))) => Ok(Answer::Page(StatusCode::OK, page)),
                    (_, Err(failure)) => self.again(signed, route, asking, form, failure).await,
                    (_, Ok(Sent::Do(_) | Sent::DoAndAsk(..) | Sent::Tell(_) | Sent::Ask(_))) => {
                        Err(no_form().into())
                    }
                };
            }
        };
        if !is_key(&key) {
            let failure = Problem::new(OLD_FORM);
            return self.again(signed, route, asking, form, failure.into()).await;
        }
        let visit = Visit {
            who,
            request: Some(signed.request),
        };
        let mut work = work;
        let told = Arc::new(Mutex::new(String::new()));
        let telling = Arc::clone(&told);
        let doing = self.app.once(visit, rule, once, None, move |act| {
            let (done, page) = work(act)?;
            *telling.lock().unwrap_or_else(PoisonError::into_inner) = page;
            let body = serde_json::to_string(&done).map_err(|error| DbError::Internal(error.to_string()))?;
            Ok::<_, Failure>(Output { status: 303, body })
        });
        match doing.reply.await {
            Ok((output, is_again)) => {
                (self.on_queued)();
                if let Some(payment) = asked_after {
                    self.pursue(organization, payment).await;
                }
                let page = std::mem::take(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
                if !page.is_empty() {
                    return Ok(Answer::Page(StatusCode::OK, page));
                }
                Ok(went(&output, &key, is_again))
            }
            Err(failure) => {
                let is_changed = failure
                    .problem()
                    .is_some_and(|problem| problem.field.as_deref() == Some(PLAN));
                // The preview again, where that is no page of its own.
                if is_changed && let Ok(Sent::Show(page)) = self.view(signed, organization, look).await {
                    return Ok(Answer::Page(StatusCode::OK, page));
                }
                self.again(signed, route, asking, form, failure).await
            }
        }
    }

    /// Shows the form again with what was typed, if typing can correct it.
    pub(crate) async fn again(
        &self,
        signed: &Signed,
        route: &'static Route,
        asking: Asking,
        mut form: Form,
        failure: Failure,
    ) -> Result<Answer, Failure> {
        let Some(problem) = failure.problem() else {
            return Err(failure);
        };
        form.problem = Some(problem);
        self.open(signed, route, asking, form).await
    }
}

/// To the page that says what the form did, and whether it was sent before.
fn went(output: &Output, key: &str, is_again: bool) -> Answer {
    let done: Result<Done, _> = serde_json::from_str(&output.body);
    let to = done.map_or_else(|_| "/console".to_owned(), |done| done.to);
    let sign = if to.contains('?') { '&' } else { '?' };
    let again = match is_again {
        true => format!("&{AGAIN}=yes"),
        false => String::new(),
    };
    Answer::Reply(see_other(&format!("{to}{sign}{DONE}={key}{again}")))
}

/// A form is for those who may send it.
pub(crate) fn check_role(asking: &Asking, rule: &Rule) -> Result<(), Refusal> {
    match asking.frame.may(rule) {
        true => Ok(()),
        false => Err(Refusal::Forbidden {
            message: format!("your role, {}, may not {}", asking.frame.role(), rule.deed),
        }),
    }
}

pub(crate) fn no_form() -> Refusal {
    Refusal::missing("this page has no form")
}

/// Said of a form without a key.
pub(crate) const OLD_FORM: &str = "This form is out of date. Send it again.";

/// Keys are made here; one that was not is of no use.
pub(crate) fn is_key(key: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&key.len()) && key.chars().all(is_plain)
}
