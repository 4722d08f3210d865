//! Automatic payments: a member saves a card on the provider's page, and stops with one click.

use askama::Template;
use bursar_app::online::autopay::{self, AutopayRecord};
use bursar_app::{Act, AppError, View, member_page};
use bursar_domain::autopay::AutopayState;
use bursar_domain::ids::AutopayId;
use hyper::StatusCode;

use super::code::to_code;
use super::{HOME, Known, page};
use crate::assets;
use crate::failure::{Failure, Problem};
use crate::forms::Form;
use crate::reply::see_other;
use crate::serve::{Answer, Console};

#[derive(Template)]
#[template(path = "m/autopay.html")]
struct AutopayPage<'a> {
    style: String,
    key: String,
    organization: &'a str,
    wrong: &'a str,
    /// The card that is saved now.
    card: &'a str,
}

impl Console {
    /// Says what happens. Only whoever entered a code gets here.
    pub(super) async fn autopay_page(
        &self,
        known: Known,
        problem: Option<Problem>,
    ) -> Result<Answer, Failure> {
        let look = |view: &mut View<'_, '_>| {
            autopay::START.check(view.caller())?;
            member_page::read(view)
        };
        let shown: Result<_, AppError> = self.app.view(known.who, known.organization, look).await;
        let shown = match shown {
            Err(AppError::Stale) => return Ok(Answer::Reply(see_other(&to_code("autopay")))),
            shown => shown?,
        };
        if !shown.takes_cards {
            return Err(super::no_page());
        }
        let card = shown.autopay.and_then(|autopay| autopay.card);
        let wrong = problem.as_ref().map(|problem| problem.message.as_str());
        let page = AutopayPage {
            style: assets::style(),
            key: self.new_key()?,
            organization: &shown.organization.name,
            wrong: wrong.unwrap_or_default(),
            card: card.as_deref().unwrap_or_default(),
        };
        let status = match wrong {
            Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
            None => StatusCode::OK,
        };
        Ok(Answer::Page(status, page.render()?))
    }

    pub(super) async fn start_autopay(&self, known: Known, form: &Form) -> Result<Answer, Failure> {
        let origin = self.origin().to_owned();
        let start = move |act: &mut Act<'_, '_>| {
            let begun = autopay::start(
                act,
                &format!("{origin}{HOME}card/{{id}}"),
                &format!("{origin}{HOME}"),
            )?;
            Ok(begun.id.to_string())
        };
        let begun = self.begin_once(known, ("/m/autopay", &autopay::START), form, start);
        let opened = match begun.await {
            Err(Failure::App(AppError::Stale)) => return Ok(Answer::Reply(see_other(&to_code("autopay")))),
            Err(failure) => Err(failure),
            Ok((id, is_again)) => {
                let id = AutopayId::parse(&id).ok_or_else(super::no_page)?;
                let own = match is_again {
                    true => self.own_autopay(known, id).await?,
                    false => None,
                };
                // The page after it says what became of a card that was saved since.
                if own.is_some_and(|own| own.state != AutopayState::Saving) {
                    return Ok(Answer::Reply(see_other(&format!("{HOME}card/{id}"))));
                }
                let (teller, organization) = (self.teller.clone(), known.organization);
                let opened = tokio::task::spawn_blocking(move || teller.open_autopay(organization, id));
                let opened = opened.await.unwrap_or_else(|error| Err(unasked(&error)));
                opened.map_err(Failure::from)
            }
        };
        match opened {
            Ok(opened) => Ok(Answer::Reply(see_other(&format!("{HOME}autopay/{}", opened.id)))),
            Err(failure) => {
                let problem = failure.problem().ok_or(failure)?;
                self.autopay_page(known, Some(problem)).await
            }
        }
    }

    async fn own_autopay(&self, known: Known, id: AutopayId) -> Result<Option<AutopayRecord>, Failure> {
        let own = move |view: &mut View<'_, '_>| autopay::own_begun(view, id);
        let found: Result<_, AppError> = self.app.view(known.who, known.organization, own).await;
        Ok(found?)
    }

    /// Leads to the provider's page, as paying does.
    pub(super) async fn lead_to_card_page(&self, known: Known, id: AutopayId) -> Result<Answer, Failure> {
        let own = self.own_autopay(known, id).await?;
        let url = own.and_then(|own| own.url).filter(|url| url.starts_with("http"));
        match url {
            Some(url) => page::leading("Save a card", &url),
            None => Ok(Answer::Reply(see_other(HOME))),
        }
    }

    /// The provider sent the member back. Its report may be late, so it is asked.
    pub(super) async fn card_saved(&self, known: Known, id: AutopayId) -> Result<Answer, Failure> {
        let mut own = self.own_autopay(known, id).await?;
        if own.as_ref().is_some_and(|own| own.state == AutopayState::Saving) {
            let (teller, organization) = (self.teller.clone(), known.organization);
            let tended = tokio::task::spawn_blocking(move || teller.tend(organization, id));
            match tended.await.unwrap_or_else(|error| Err(unasked(&error))) {
                Ok(()) => (self.on_queued)(),
                // The worker asks again.
                Err(error) => tracing::debug!(%error, "the payment provider was not asked"),
            }
            own = self.own_autopay(known, id).await?;
        }
        let said = match own.map(|own| own.state) {
            Some(AutopayState::Active) => "card",
            Some(AutopayState::Saving) => "saving",
            Some(AutopayState::Ending) | None => "",
        };
        Ok(Answer::Reply(see_other(&format!("{HOME}?said={said}"))))
    }

    pub(super) async fn stop_autopay(&self, known: Known) -> Result<Answer, Failure> {
        let stop = |act: &mut Act<'_, '_>| autopay::stop(act, None);
        let stopped: Result<AutopayRecord, AppError> =
            self.app.act(known.visit(), known.organization, stop).await;
        match stopped {
            Ok(_) => (self.on_queued)(),
            // A second click.
            Err(AppError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Answer::Reply(see_other(&format!("{HOME}?said=stopped"))))
    }
}

fn unasked(error: &tokio::task::JoinError) -> AppError {
    bursar_app::DbError::Internal(error.to_string()).into()
}
