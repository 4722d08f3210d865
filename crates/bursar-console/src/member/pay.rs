//! Paying by card: what is chosen goes to the provider's page, and the way back says what became of it.

use std::time::Duration;

use bursar_app::online::{self, NewOnlinePayment, Record};
use bursar_app::{Act, AppError, View, member_page};
use bursar_domain::ids::{Id, OnlinePaymentId, PaymentId};
use bursar_domain::online::OnlineState;
use hyper::StatusCode;

use super::{HOME, Known, page};
use crate::failure::{Failure, Problem};
use crate::forms::Form;
use crate::reply::see_other;
use crate::serve::{Answer, Console};
use crate::words;

/// How often the request before this one is looked after, and how long each time.
const LOOKS: u32 = 20;
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Console {
    /// Begins a payment of the chosen charges.
    pub(super) async fn pay(&self, known: Known, form: &Form) -> Result<Answer, Failure> {
        let read = member_page::read;
        let shown: Result<_, AppError> = self.app.view(known.who, known.organization, read).await;
        let currency = shown?.organization.currency;
        let mut charges: Vec<(PaymentId, Option<String>)> = Vec::new();
        for text in form.all("charge") {
            let id = Id::parse(text).ok_or_else(super::no_page)?;
            match form.amount(&format!("amount-{text}"), currency) {
                Ok(amount) => charges.push((id, amount)),
                Err(problem) => return self.home_again(known, form, problem).await,
            }
        }
        if charges.is_empty() {
            let problem = Problem::new("Choose at least one charge to pay.");
            return self.home_again(known, form, problem).await;
        }
        let origin = self.origin().to_owned();
        let begin = move |act: &mut Act<'_, '_>| {
            let member = member_page::who(act)?;
            let new = NewOnlinePayment {
                member,
                charges: charges.clone(),
                success_url: format!("{origin}{HOME}paid/{{id}}"),
                cancel_url: format!("{origin}{HOME}"),
            };
            Ok(online::begin(act, &new)?.id.to_string())
        };
        let begun = self.begin_once(known, ("/m/pay", &online::BEGIN), form, begin);
        let opened = match begun.await {
            Ok((id, is_again)) => {
                let id = OnlinePaymentId::parse(&id).ok_or_else(super::no_page)?;
                self.opened(known, id, is_again).await
            }
            Err(failure) => Err(failure),
        };
        match opened {
            Ok(record) => match record.url {
                Some(_) => Ok(Answer::Reply(see_other(&format!("{HOME}pay/{}", record.id)))),
                None => Ok(Answer::Reply(see_other(&format!("{HOME}paid/{}", record.id)))),
            },
            Err(failure) => {
                let problem = failure.problem().ok_or(failure)?;
                self.home_again(known, form, problem).await
            }
        }
    }

    /// The payment, with the provider's page if it can still be paid. After a double click, the request before this one is
    /// asking the provider, which refuses to be asked twice at the same time.
    async fn opened(&self, known: Known, id: OnlinePaymentId, is_again: bool) -> Result<Record, Failure> {
        let looks = if is_again { LOOKS } else { 0 };
        for _ in 0..looks {
            let record: Result<Record, AppError> = self
                .app
                .view(known.who, known.organization, move |view: &mut View<'_, '_>| {
                    online::own(view, id)
                })
                .await;
            let record = record?;
            if record.state != OnlineState::Created {
                return Ok(record);
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(self.ask(known, id, Question::Open).await?)
    }

    /// Leads to the provider's page. It is a page of its own, because browsers hold a form to our own addresses.
    pub(super) async fn lead_to_provider(
        &self,
        known: Known,
        id: OnlinePaymentId,
    ) -> Result<Answer, Failure> {
        let own = move |view: &mut View<'_, '_>| online::own(view, id);
        let record: Result<Record, AppError> = self.app.view(known.who, known.organization, own).await;
        let record = record?;
        match record.url.as_deref().filter(|url| url.starts_with("http")) {
            Some(url) => page::leading(&format!("Pay {}", words::money_in(record.amount)), url),
            None => Ok(Answer::Reply(see_other(&format!("{HOME}paid/{id}")))),
        }
    }

    /// The provider sent the member back. Its report may be late, so it is asked.
    pub(super) async fn paid(&self, known: Known, id: OnlinePaymentId) -> Result<Answer, Failure> {
        let own = move |view: &mut View<'_, '_>| online::own(view, id);
        let record: Result<Record, AppError> = self.app.view(known.who, known.organization, own).await;
        let mut record = record?;
        if record.state.is_under_way() {
            match self.ask(known, id, Question::Pursue).await {
                Ok(asked) => record = asked,
                // The worker asks again.
                Err(error) => tracing::debug!(%error, "the payment provider was not asked"),
            }
        }
        let said = match record.state {
            OnlineState::Succeeded => "paid",
            OnlineState::Created | OnlineState::Open | OnlineState::Processing => "processing",
            // The page has these among the payments by card.
            OnlineState::Failed | OnlineState::Expired | OnlineState::Refunded => "",
        };
        Ok(Answer::Reply(see_other(&format!("{HOME}?said={said}"))))
    }

    async fn ask(&self, known: Known, id: OnlinePaymentId, question: Question) -> Result<Record, AppError> {
        let (teller, organization) = (self.teller.clone(), known.organization);
        let asked = tokio::task::spawn_blocking(move || match question {
            Question::Open => teller.open(organization, id),
            Question::Pursue => teller.pursue(organization, id),
        });
        asked
            .await
            .unwrap_or_else(|error| Err(bursar_app::DbError::Internal(error.to_string()).into()))
    }

    async fn home_again(&self, known: Known, form: &Form, problem: Problem) -> Result<Answer, Failure> {
        let form = super::with(form, problem);
        let Answer::Page(_, page) = self.member_home(known, ("", None), &form).await? else {
            return super::ended();
        };
        Ok(Answer::Page(StatusCode::UNPROCESSABLE_ENTITY, page))
    }
}

#[derive(Clone, Copy)]
enum Question {
    Open,
    Pursue,
}
