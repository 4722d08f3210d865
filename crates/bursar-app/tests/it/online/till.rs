//! A payment provider in memory: what payers, banks and its own clock do to it, and how it fails.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bursar_app::online::port::{
    Access, CardOrder, CardPage, Charged, Checkout, Opened, Outcome, Progress, Provider, Recent, RefundOrder,
    Saved, SavedCard, SeenDispute, SeenPayout, SeenRefund, Tested, Trouble,
};
use bursar_domain::Timestamp;
use bursar_domain::ids::{AutopayId, OnlinePaymentId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::online::MoveState;

/// What the provider keeps of each payment.
pub(crate) const FEE: i64 = 59;
/// What it keeps of a dispute.
pub(crate) const DISPUTE_FEE: i64 = 1_500;

#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(crate) id: OnlinePaymentId,
    pub(crate) amount: i64,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// By session.
    pub(crate) payments: BTreeMap<String, Payment>,
    pub(crate) payouts: Vec<SeenPayout>,
    /// What is left in the account.
    pub(crate) balance: i64,
    pub(crate) now: Option<Timestamp>,
    pub(crate) calls: Vec<&'static str>,
    /// The next answers get lost, after the call was carried out.
    pub(crate) lost: usize,
    /// No call is carried out.
    pub(crate) is_down: bool,
    /// No refund is made.
    pub(crate) refuses_refunds: bool,
    /// Pages for saving a card, by session.
    pub(crate) cards: BTreeMap<String, Saved>,
    /// No saved card pays, for this reason.
    pub(crate) declines: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Till(Arc<Mutex<State>>);

fn usd() -> Currency {
    Currency::parse("USD").unwrap()
}

impl Till {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls of this kind so far.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.state().calls.iter().filter(|made| **made == call).count()
    }

    fn change<T>(&self, id: OnlinePaymentId, change: impl FnOnce(&mut State, &mut Payment) -> T) -> T {
        let mut state = self.state();
        let (session, mut payment) = state
            .payments
            .iter()
            .find(|(_, payment)| payment.id == id)
            .map(|(session, payment)| (session.clone(), payment.clone()))
            .unwrap();
        let done = change(&mut state, &mut payment);
        state.payments.insert(session, payment);
        done
    }

    /// The payer pays.
    pub(crate) fn pay(&self, id: OnlinePaymentId, at: Timestamp) {
        self.change(id, |state, payment| {
            assert_ne!(payment.outcome.progress, Progress::Expired);
            payment.outcome.progress = Progress::Succeeded {
                amount: payment.amount,
                currency: usd(),
                at,
            };
            payment.outcome.intent = Some(format!("pi_{id}"));
            payment.outcome.charge = Some(format!("ch_{id}"));
            payment.outcome.failure = None;
            payment.outcome.fee = Some(Money::new(FEE, usd()));
            state.balance += payment.amount - FEE;
        });
    }

    pub(crate) fn set(&self, id: OnlinePaymentId, progress: Progress, failure: Option<&str>) {
        self.change(id, |_, payment| {
            payment.outcome.progress = progress;
            payment.outcome.intent = Some(format!("pi_{id}"));
            payment.outcome.failure = failure.map(str::to_owned);
        });
    }

    /// The member saves a card on the page.
    pub(crate) fn save(&self, id: AutopayId) {
        let card = SavedCard {
            customer: format!("cus_{id}"),
            method: format!("pm_{id}"),
            words: "Visa ending in 4242".to_owned(),
            until: Some("2028-04".to_owned()),
        };
        self.state().cards.insert(format!("cs_{id}"), Saved::Card(card));
    }

    /// Somebody refunds in the provider's dashboard.
    pub(crate) fn refund_there(&self, id: OnlinePaymentId, amount: i64, at: Timestamp) {
        self.change(id, |state, payment| {
            let reference = format!("re_{id}_{}", payment.outcome.refunds.len());
            payment.outcome.refunds.push(SeenRefund {
                reference,
                wanted: None,
                amount,
                state: MoveState::Succeeded,
                at,
            });
            state.balance -= amount;
        });
    }

    /// The payer's bank sends the last refund back.
    pub(crate) fn fail_refund(&self, id: OnlinePaymentId) {
        self.change(id, |state, payment| {
            let refund = payment.outcome.refunds.last_mut().unwrap();
            refund.state = MoveState::Failed;
            state.balance += refund.amount;
        });
    }

    /// A dispute becomes this.
    pub(crate) fn dispute(&self, id: OnlinePaymentId, amount: i64, to: MoveState, at: Timestamp) {
        self.change(id, |state, payment| {
            let disputes = &mut payment.outcome.disputes;
            if disputes.is_empty() {
                disputes.push(SeenDispute {
                    reference: format!("dp_{id}"),
                    amount,
                    fee: 0,
                    state: MoveState::Wanted,
                    reason: Some("fraudulent".to_owned()),
                    at,
                });
            }
            let dispute = &mut disputes[0];
            let held = |state| matches!(state, MoveState::Withdrawn | MoveState::Lost);
            if held(to) && !held(dispute.state) {
                dispute.fee = DISPUTE_FEE;
                state.balance -= amount + DISPUTE_FEE;
            }
            if to == MoveState::Won && held(dispute.state) {
                state.balance += amount;
            }
            dispute.state = to;
        });
    }

    /// Pays everything out, so far without reaching the bank.
    pub(crate) fn pay_out(&self, at: Timestamp) -> usize {
        let mut state = self.state();
        let (amount, number) = (state.balance, state.payouts.len());
        state.balance = 0;
        state.payouts.push(SeenPayout {
            reference: format!("po_{number}"),
            amount: Money::new(amount, usd()),
            state: MoveState::Pending,
            created_at: at,
            arrives_at: at,
        });
        number
    }

    pub(crate) fn set_payout(&self, number: usize, to: MoveState) {
        let mut state = self.state();
        let payout = &mut state.payouts[number];
        payout.state = to;
        let amount = payout.amount.minor;
        if to == MoveState::Failed {
            state.balance += amount;
        }
    }

    /// Whether the answer of a call that was made gets lost.
    fn answer<T>(
        &self,
        call: &'static str,
        work: impl FnOnce(&mut State) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut state = self.state();
        if state.is_down {
            return Err(Trouble::Unavailable("the provider is unavailable".to_owned()));
        }
        state.calls.push(call);
        let done = work(&mut state)?;
        if state.lost > 0 {
            state.lost -= 1;
            return Err(Trouble::Unavailable("the answer was lost".to_owned()));
        }
        Ok(done)
    }
}

impl Provider for Till {
    fn test(&self, access: &Access) -> Result<Tested, Trouble> {
        assert!(access.key.starts_with("rk_test_"));
        self.answer("test", |_| {
            Ok(Tested {
                is_live: false,
                currencies: vec![usd()],
            })
        })
    }

    fn open(&self, _: &Access, checkout: &Checkout) -> Result<Opened, Trouble> {
        self.answer("open", |state| {
            let session = format!("cs_{}", checkout.id);
            let is_over = state.now.is_some_and(|now| now > checkout.expires_at);
            if is_over && !state.payments.contains_key(&session) {
                return Err(Trouble::Refused("expires_at must be in the future".to_owned()));
            }
            let amount = checkout.lines.iter().map(|(_, money)| money.minor).sum();
            state.payments.entry(session.clone()).or_insert(Payment {
                id: checkout.id,
                amount,
                outcome: Outcome {
                    progress: Progress::Waiting,
                    intent: None,
                    charge: None,
                    failure: None,
                    fee: None,
                    refunds: Vec::new(),
                    disputes: Vec::new(),
                },
            });
            let url = format!("https://pay.example.org/{session}");
            Ok(Opened { session, url })
        })
    }

    fn outcome(&self, _: &Access, session: &str, _: Currency) -> Result<Outcome, Trouble> {
        self.answer("outcome", |state| Ok(state.payments[session].outcome.clone()))
    }

    fn refund(&self, _: &Access, order: &RefundOrder) -> Result<SeenRefund, Trouble> {
        self.answer("refund", |state| {
            if state.refuses_refunds {
                return Err(Trouble::Refused("the balance is too low".to_owned()));
            }
            let of = |payment: &&mut Payment| payment.outcome.intent.as_deref() == Some(&order.intent);
            let payment = state.payments.values_mut().find(of).unwrap();
            let known = payment
                .outcome
                .refunds
                .iter()
                .find(|seen| seen.wanted == Some(order.id));
            if let Some(known) = known {
                return Ok(known.clone());
            }
            let is_held = |seen: &SeenDispute| matches!(seen.state, MoveState::Withdrawn | MoveState::Lost);
            if payment.outcome.disputes.iter().any(is_held) {
                return Err(Trouble::Refused("the charge is disputed".to_owned()));
            }
            let back: i64 = payment.outcome.refunds.iter().map(|seen| seen.amount).sum();
            assert!(back + order.amount.minor <= payment.amount, "more than came");
            let seen = SeenRefund {
                reference: format!("re_{}", order.id),
                wanted: Some(order.id),
                amount: order.amount.minor,
                state: MoveState::Succeeded,
                at: Timestamp::from_micros(0),
            };
            payment.outcome.refunds.push(seen.clone());
            state.balance -= order.amount.minor;
            Ok(seen)
        })
    }

    fn save_card(&self, _: &Access, page: &CardPage) -> Result<Opened, Trouble> {
        self.answer("save", |state| {
            let session = format!("cs_{}", page.id);
            state.cards.entry(session.clone()).or_insert(Saved::Waiting);
            let url = format!("https://pay.example.org/{session}");
            Ok(Opened { session, url })
        })
    }

    fn saved(&self, _: &Access, session: &str) -> Result<Saved, Trouble> {
        self.answer("saved", |state| Ok(state.cards[session].clone()))
    }

    fn charge(&self, _: &Access, order: &CardOrder) -> Result<Charged, Trouble> {
        self.answer("charge", |state| {
            let (id, name) = (order.id, format!("pi_{}", order.id));
            // It looks among the payments of the customer.
            if order.customer.is_empty() {
                return Ok(Charged::Never);
            }
            if state.payments.contains_key(&name) {
                return Ok(Charged::Made(name));
            }
            let method = order.method.clone();
            let is_method = |saved: &Saved| matches!(saved, Saved::Card(card) if card.method == method);
            if !order.may_begin {
                return Ok(Charged::Never);
            }
            if !state.cards.values().any(is_method) {
                return Ok(Charged::Declined("no such card".to_owned()));
            }
            let mut outcome = Outcome::failed(String::new());
            outcome.intent = Some(name.clone());
            outcome.failure.clone_from(&state.declines);
            if state.declines.is_none() {
                outcome.progress = Progress::Succeeded {
                    amount: order.amount.minor,
                    currency: usd(),
                    at: state.now.unwrap(),
                };
                outcome.charge = Some(format!("ch_{id}"));
                outcome.fee = Some(Money::new(FEE, usd()));
                state.balance += order.amount.minor - FEE;
            }
            let amount = order.amount.minor;
            state
                .payments
                .insert(name.clone(), Payment { id, amount, outcome });
            Ok(Charged::Made(name))
        })
    }

    fn forget(&self, _: &Access, method: &str) -> Result<(), Trouble> {
        self.answer("forget", |state| {
            state
                .cards
                .retain(|_, saved| !matches!(saved, Saved::Card(card) if card.method == method));
            Ok(())
        })
    }

    fn recent(&self, _: &Access, since: Timestamp) -> Result<Recent, Trouble> {
        self.answer("recent", |state| {
            let mut touched = Vec::new();
            for payment in state.payments.values() {
                let Some(intent) = &payment.outcome.intent else {
                    continue;
                };
                let refunds = payment.outcome.refunds.iter();
                touched.extend(refunds.map(|seen| (intent.clone(), seen.reference.clone(), seen.state)));
                let disputes = payment.outcome.disputes.iter();
                touched.extend(disputes.map(|seen| (intent.clone(), seen.reference.clone(), seen.state)));
            }
            let payouts = state.payouts.iter().filter(|payout| payout.created_at >= since);
            Ok(Recent {
                payouts: payouts.cloned().collect(),
                touched,
            })
        })
    }
}
