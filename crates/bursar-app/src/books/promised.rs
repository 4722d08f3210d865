//! Refunds that the payment provider was asked for and that are not booked yet. What they will take of charges and credit
//! must not be used for anything else.

use std::collections::{BTreeMap, HashMap};

use bursar_db::online::moves::{self, Move};
use bursar_db::online::{self, OnlinePayment};
use bursar_db::{journal, receipts};
use bursar_domain::Refusal;
use bursar_domain::account::Standing;
use bursar_domain::ids::{MemberId, OnlinePaymentId, PaymentId};
use bursar_domain::journal::{Entry, EntryKind};
use bursar_domain::online::{MoveKind, MoveState};
use bursar_domain::payment::Payment;
use bursar_domain::receipt::ReceiptStatus;

use super::refunds::left_of;
use super::{Books, charges};
use crate::act::Act;
use crate::error::AppError;

/// What is left of charges and credit while refunds take from them, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Left {
    charges: HashMap<PaymentId, i64>,
    pub(super) credit: HashMap<MemberId, i64>,
}

impl Left {
    /// Takes up to `most` of an online payment's money, from where [`super::refunds::give_back`] will. Returns how much
    /// was there.
    fn take(&mut self, act: &mut Act<'_, '_>, payment: &OnlinePayment, most: i64) -> Result<i64, AppError> {
        let organization = act.organization;
        let Some(id) = payment.receipt_id else {
            return Ok(0);
        };
        let receipt = receipts::get(act.tx, organization, id)?;
        let Some(receipt) = receipt.filter(|receipt| receipt.status == ReceiptStatus::Recorded) else {
            return Ok(0);
        };
        let Some(entry) = journal::get(act.tx, organization, receipt.entry)? else {
            return Ok(0);
        };
        let entries = journal::of_receipt(act.tx, organization, id)?;
        let mut left = most;
        for posting in entry.postings.iter().filter(|posting| posting.amount < 0) {
            if posting.account == Standing::Credit.id() {
                let part = left.min(left_of(posting, &entries));
                left -= self.take_credit(act, receipt.payer, part)?;
            }
        }
        for posting in entry.postings.iter().rev() {
            let is_owed = posting.account == Standing::Receivable.id();
            if let Some(id) = posting.about.payment.filter(|_| is_owed) {
                let part = left.min(left_of(posting, &entries));
                left -= self.take_charge(act, id, part)?;
            }
        }
        // What a failed refund brought back is credit of the payer.
        let moves = moves::of_payment(act.tx, organization, payment.id)?;
        let came_back = left.min(paid_by_provider(&entries) - succeeded(&moves));
        left -= self.take_credit(act, receipt.payer, came_back)?;
        Ok(most - left)
    }

    fn take_credit(
        &mut self,
        act: &mut Act<'_, '_>,
        payer: Option<MemberId>,
        most: i64,
    ) -> Result<i64, AppError> {
        let Some(payer) = payer.filter(|_| most > 0) else {
            return Ok(0);
        };
        let credit = match self.credit.get(&payer) {
            Some(credit) => *credit,
            None => journal::credit_of(act.tx, act.organization, payer)?,
        };
        let part = most.min(credit).max(0);
        self.credit.insert(payer, credit - part);
        Ok(part)
    }

    fn take_charge(&mut self, act: &mut Act<'_, '_>, id: PaymentId, most: i64) -> Result<i64, AppError> {
        let there = match self.charges.get(&id) {
            Some(there) => *there,
            None => {
                let charge: Payment = act.find(id)?;
                charge.paid_to_date.minor - charges::in_dispute(act, id)?.sum()
            }
        };
        let part = most.min(there).max(0);
        self.charges.insert(id, there - part);
        Ok(part)
    }
}

/// What went back of a receipt from the provider's account, by its entries.
fn paid_by_provider(entries: &[Entry]) -> i64 {
    let refunds = entries
        .iter()
        .filter(|entry| matches!(entry.kind, EntryKind::Refund | EntryKind::CreditRefund));
    let postings = refunds.flat_map(|entry| &entry.postings);
    let of_provider = postings.filter(|posting| posting.account == Standing::Clearing.id());
    of_provider.map(|posting| -posting.amount).sum()
}

fn succeeded(moves: &[Move]) -> i64 {
    let has_succeeded = |found: &&Move| found.kind == MoveKind::Refund && found.state == MoveState::Succeeded;
    moves.iter().filter(has_succeeded).map(|found| found.amount).sum()
}

/// Takes what refunds under way need, except those of one payment. Also says what is not there, by payment.
fn take_promised(
    act: &mut Act<'_, '_>,
    except: Option<OnlinePaymentId>,
) -> Result<(Left, BTreeMap<OnlinePaymentId, i64>), AppError> {
    let (mut left, mut missing) = (Left::default(), BTreeMap::new());
    for (id, amount) in moves::refunds_under_way(act.tx, act.organization)? {
        let payment = online::get(act.tx, act.organization, id)?;
        if let Some(payment) = payment.filter(|payment| Some(payment.id) != except) {
            let there = left.take(act, &payment, amount)?;
            missing.insert(id, amount - there);
        }
    }
    Ok((left, missing))
}

/// The most that one more refund of an online payment can take.
pub(crate) fn room(act: &mut Act<'_, '_>, payment: &OnlinePayment, most: i64) -> Result<i64, AppError> {
    let (mut left, _) = take_promised(act, Some(payment.id))?;
    let all = moves::refunds_under_way(act.tx, act.organization)?;
    let under_way = all.get(&payment.id).copied().unwrap_or(0);
    let there = left.take(act, payment, under_way.saturating_add(most))?;
    Ok((there - under_way).max(0))
}

/// The credit of members that refunds under way will take from, less what they will take.
pub(super) fn credit(act: &mut Act<'_, '_>) -> Result<HashMap<MemberId, i64>, AppError> {
    Ok(take_promised(act, None)?.0.credit)
}

/// What refunds under way lacked before an act.
pub(crate) struct Promised(BTreeMap<OnlinePaymentId, i64>);

impl Promised {
    pub(crate) fn read(act: &mut Act<'_, '_>) -> Result<Self, AppError> {
        Ok(Self(take_promised(act, None)?.1))
    }

    /// Refuses the act if they lack more after it.
    pub(crate) fn keep(&self, act: &mut Act<'_, '_>, books: &Books) -> Result<(), AppError> {
        if self.0.is_empty() {
            return Ok(());
        }
        for (id, missing) in take_promised(act, None)?.1 {
            let more = missing - self.0.get(&id).copied().unwrap_or(0);
            if more > 0 {
                let message = format!(
                    "{id} is being refunded through the payment provider, and needs {} of this money; use less of it, or \
                     wait until that refund has ended",
                    books.money(more)
                );
                return Err(Refusal::conflict(message).into());
            }
        }
        Ok(())
    }
}
