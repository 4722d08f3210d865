//! Asks the provider and books what it says: for a member who pays, for a member who comes back, and for the worker. Every
//! step can be the last one of a process that dies; the next question goes on from what is in the database.

use std::sync::Arc;

use bursar_db::autopay::Autopay;
use bursar_domain::Refusal;
use bursar_domain::autopay::AutopayState;
use bursar_domain::ids::{AutopayId, OnlinePaymentId, OrganizationId};
use bursar_domain::money::Money;

use super::autopay::{self, AutopayRecord};
use super::port::{Access, CardOrder, Charged, Outcome, Provider, RefundOrder, Tested, Trouble};
use super::record::Record;
use super::settle::{self, Question};
use super::{Task, disputes, payouts, providers, refunds};
use crate::act::{Act, View};
use crate::caller::Identity;
use crate::door::App;
use crate::error::AppError;
use crate::secrets::KeyFile;

/// Clones ask the same provider.
#[derive(Clone)]
pub struct Teller {
    app: App,
    keys: KeyFile,
    provider: Arc<dyn Provider>,
    faster: i64,
}

impl std::fmt::Debug for Teller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Teller")
            .field("app", &self.app)
            .finish_non_exhaustive()
    }
}

impl Teller {
    pub fn new(app: App, keys: KeyFile, provider: Arc<dyn Provider>) -> Self {
        Self {
            app,
            keys,
            provider,
            faster: 1,
        }
    }

    /// Divides the waits between two questions.
    #[must_use]
    pub fn faster(self, faster: i64) -> Self {
        Self { faster, ..self }
    }

    /// With another clock, or other ids.
    #[must_use]
    pub fn with(self, app: App) -> Self {
        Self { app, ..self }
    }

    fn act<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.act(Identity::Worker, organization, work).wait()
    }

    fn view<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.view(Identity::Worker, organization, work).wait()
    }

    fn access(&self, organization: OrganizationId) -> Result<Access, AppError> {
        let keys = self.keys.clone();
        self.view(organization, move |view| providers::access(view, &keys))
    }

    /// What signs the provider's reports. `None` if none is expected.
    pub fn webhook_secret(&self, organization: OrganizationId) -> Result<Option<String>, AppError> {
        let keys = self.keys.clone();
        self.view(organization, move |view| providers::webhook_secret(view, &keys))
    }

    /// Takes a report whose signature was verified. Returns whether there is something to ask.
    pub fn hear(&self, organization: OrganizationId, report: super::Report) -> Result<bool, AppError> {
        self.act(organization, move |act| super::hear(act, &report))
    }

    /// Whether the key works. The caller asks [`providers::check_test`] first.
    pub fn test(&self, organization: OrganizationId) -> Result<Tested, AppError> {
        let access = self.access(organization)?;
        Ok(self.provider.test(&access).map_err(refused)?)
    }

    /// The provider's page for a payment that was begun. Refused if the provider cannot be asked.
    pub fn open(&self, organization: OrganizationId, id: OnlinePaymentId) -> Result<Record, AppError> {
        let access = self.access(organization)?;
        let question = self.view(organization, move |view| settle::question(view, id))?;
        self.open_with(&access, &question)
    }

    fn open_with(&self, access: &Access, question: &Question) -> Result<Record, AppError> {
        let (organization, id) = (question.payment.organization_id, question.payment.id);
        if question.payment.session_id.is_some() {
            return self.act(organization, move |act| super::shown(act, id));
        }
        let opened = self.provider.open(access, &question.checkout).map_err(refused)?;
        self.act(organization, move |act| settle::opened(act, id, &opened))
    }

    /// Asks what became of a payment and books it.
    pub fn pursue(&self, organization: OrganizationId, id: OnlinePaymentId) -> Result<Record, AppError> {
        let question = self.view(organization, move |view| settle::question(view, id))?;
        let problem = match self.access(organization) {
            Ok(access) => self.ask(&access, &question)?,
            Err(AppError::Refused(refusal)) => Some(refusal.message().to_owned()),
            Err(other) => return Err(other),
        };
        let (asked, faster) = (question.payment, self.faster);
        self.act(organization, move |act| {
            settle::rest(act, &asked, problem.as_deref(), faster)
        })
    }

    /// Returns what went wrong, if something did.
    fn ask(&self, access: &Access, question: &Question) -> Result<Option<String>, AppError> {
        let (organization, id) = (question.payment.organization_id, question.payment.id);
        let Some(session) = &question.payment.session_id else {
            if let Some(order) = &question.card {
                return self.charge(access, order);
            }
            // The provider may have a page whose answer got lost. It tells the same again, and makes no page that is over.
            return match self.provider.open(access, &question.checkout) {
                Ok(opened) => {
                    self.act(organization, move |act| settle::opened(act, id, &opened))?;
                    Ok(None)
                }
                Err(Trouble::Refused(_)) if self.app.now() > question.payment.expires_at => {
                    self.act(organization, move |act| settle::abandon(act, id))?;
                    Ok(None)
                }
                Err(trouble) => Ok(Some(trouble.to_string())),
            };
        };
        let outcome = match self.provider.outcome(access, session, question.payment.currency) {
            Ok(outcome) => outcome,
            Err(trouble) => return Ok(Some(trouble.to_string())),
        };
        let settled = outcome.clone();
        let mut problem = told(
            self.act(organization, move |act| settle::settle(act, id, &settled))
                .map(drop),
        )?;
        if problem.is_none() {
            problem = self.follow(organization, id, &outcome)?;
        }
        match problem {
            Some(problem) => Ok(Some(problem)),
            None => self.send_back(access, (organization, id), &outcome),
        }
    }

    /// Charges a saved card, and books what came of it.
    fn charge(&self, access: &Access, order: &CardOrder) -> Result<Option<String>, AppError> {
        let (organization, id) = (order.organization, order.id);
        match self.provider.charge(access, order) {
            Ok(Charged::Made(name)) => {
                self.act(organization, move |act| settle::charged(act, id, &name))?;
                let question = self.view(organization, move |view| settle::question(view, id))?;
                match question.payment.session_id {
                    Some(_) => self.ask(access, &question),
                    None => Ok(None),
                }
            }
            Ok(Charged::Declined(why)) => {
                let outcome = Outcome::failed(why);
                told(
                    self.act(organization, move |act| settle::settle(act, id, &outcome))
                        .map(drop),
                )
            }
            Ok(Charged::Never) => {
                self.act(organization, move |act| settle::abandon(act, id))?;
                Ok(None)
            }
            Err(trouble) => Ok(Some(trouble.to_string())),
        }
    }

    /// The provider's page on which a member saves a card.
    pub fn open_autopay(
        &self,
        organization: OrganizationId,
        id: AutopayId,
    ) -> Result<AutopayRecord, AppError> {
        let access = self.access(organization)?;
        let page = self.view(organization, move |view| autopay::page(view, id))?;
        let opened = self.provider.save_card(&access, &page).map_err(refused)?;
        self.act(organization, move |act| autopay::opened(act, id, &opened))
    }

    /// Looks after a saved card: whether it was saved, what is to be charged to it, or that it is to be forgotten.
    pub fn tend(&self, organization: OrganizationId, id: AutopayId) -> Result<(), AppError> {
        let Some(asked) = self.view(organization, move |view| autopay::asked(view, id))? else {
            return Ok(());
        };
        let problem = match self.access(organization) {
            Ok(access) => self.tend_with(&access, &asked)?,
            Err(AppError::Refused(refusal)) => Some(refusal.message().to_owned()),
            Err(other) => return Err(other),
        };
        let faster = self.faster;
        self.act(organization, move |act| {
            autopay::rest(act, &asked, problem.as_deref(), faster)
        })
    }

    fn tend_with(&self, access: &Access, asked: &Autopay) -> Result<Option<String>, AppError> {
        let (organization, id) = (asked.organization_id, asked.id);
        match (asked.state, &asked.session_id, &asked.method_id) {
            (AutopayState::Active, ..) => {
                for payment in self.act(organization, move |act| autopay::look(act, id))? {
                    self.pursue(organization, payment)?;
                }
                Ok(None)
            }
            (AutopayState::Saving, Some(session), _) => match self.provider.saved(access, session) {
                Ok(saved) => told(self.act(organization, move |act| autopay::saved(act, id, &saved))),
                Err(trouble) => Ok(Some(trouble.to_string())),
            },
            (AutopayState::Ending, _, Some(method)) => match self.provider.forget(access, method) {
                Ok(()) => told(self.act(organization, move |act| autopay::forgotten(act, id))),
                Err(trouble) => Ok(Some(trouble.to_string())),
            },
            // Nobody went to the page, so there is no card.
            (AutopayState::Saving, None, _) | (AutopayState::Ending, _, None) => {
                told(self.act(organization, move |act| autopay::forgotten(act, id)))
            }
        }
    }

    /// Refunds and disputes that the provider has.
    fn follow(
        &self,
        organization: OrganizationId,
        id: OnlinePaymentId,
        outcome: &Outcome,
    ) -> Result<Option<String>, AppError> {
        let mut problem = None;
        for seen in &outcome.refunds {
            let seen = seen.clone();
            let done = self.act(organization, move |act| refunds::refunded(act, id, &seen));
            problem = problem.or(told(done)?);
        }
        for seen in &outcome.disputes {
            let seen = seen.clone();
            let done = self.act(organization, move |act| disputes::disputed(act, id, &seen));
            problem = problem.or(told(done)?);
        }
        Ok(problem)
    }

    /// Refunds that are wanted, and that the provider does not have.
    fn send_back(
        &self,
        access: &Access,
        (organization, id): (OrganizationId, OnlinePaymentId),
        outcome: &Outcome,
    ) -> Result<Option<String>, AppError> {
        // Read again: the receipt that was booked a moment ago may want one.
        let question = self.view(organization, move |view| settle::question(view, id))?;
        let (wanted, payment) = (question.wanted, question.payment);
        let mut problem = None;
        for refund in wanted {
            if outcome.refunds.iter().any(|seen| seen.wanted == Some(refund.id)) {
                continue;
            }
            let Some(intent) = payment.intent_id.clone() else {
                continue;
            };
            let order = RefundOrder {
                id: refund.id,
                intent,
                amount: Money::new(refund.amount, payment.currency),
            };
            let done = match self.provider.refund(access, &order) {
                Ok(seen) => self.act(organization, move |act| refunds::refunded(act, id, &seen)),
                Err(Trouble::Refused(why)) => self.act(organization, move |act| {
                    refunds::refund_refused(act, refund.id, &why)
                }),
                Err(Trouble::Unavailable(why)) => Err(Refusal::conflict(why).into()),
            };
            problem = problem.or(told(done)?);
        }
        Ok(problem)
    }

    /// Asks what else the provider did.
    pub fn sweep(&self, organization: OrganizationId) -> Result<(), AppError> {
        let (asked, since) = self.view(organization, payouts::asked)?;
        let recent = match self.access(organization) {
            Ok(access) => self
                .provider
                .recent(&access, since)
                .map_err(|trouble| trouble.to_string()),
            Err(AppError::Refused(refusal)) => Err(refusal.message().to_owned()),
            Err(other) => return Err(other),
        };
        let mut problem = recent.as_ref().err().cloned();
        for seen in recent.iter().flat_map(|recent| &recent.payouts) {
            // What was paid out before is not in the books.
            if seen.created_at < asked.created_at {
                continue;
            }
            let seen = seen.clone();
            let done = self.act(organization, move |act| payouts::paid_out(act, &seen));
            problem = problem.or(told(done)?);
        }
        let faster = self.faster;
        self.act(organization, move |act| {
            payouts::swept(act, &asked, recent.as_ref().ok(), problem.as_deref(), faster)
        })
    }

    pub fn perform(&self, task: Task) -> Result<(), AppError> {
        match task {
            Task::Pursue(organization, id) => self.pursue(organization, id).map(drop),
            Task::Sweep(organization) => self.sweep(organization),
            Task::Tend(organization, id) => self.tend(organization, id),
        }
    }
}

fn refused(trouble: Trouble) -> Refusal {
    Refusal::conflict(trouble.to_string())
}

/// What an officer has to know is kept with the payment. Anything else ends the question.
fn told(done: Result<(), AppError>) -> Result<Option<String>, AppError> {
    match done {
        Ok(()) => Ok(None),
        Err(AppError::Refused(refusal)) => Ok(Some(refusal.message().to_owned())),
        Err(other) => Err(other),
    }
}
