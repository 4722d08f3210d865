//! Online payments: each is for charges that sum up to it, has its receipt if money came, and nothing belongs to another.

use std::collections::HashSet;

use bursar_db::online::{self, OnlinePayment, moves, providers};
use bursar_db::{DbError, Tx, autopay, receipts};
use bursar_domain::autopay::{AutopayState, AutopayStep};
use bursar_domain::ids::{AccountId, OnlinePaymentId, OrganizationId};
use bursar_domain::online::{MoveKind, OnlineState};
use bursar_domain::sealed::{NONCE_BYTES, TAG_BYTES};

use super::Check;

impl Check<'_> {
    pub(super) fn online(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        accounts: &HashSet<AccountId>,
    ) -> Result<(), DbError> {
        if let Some(provider) = providers::get(tx, organization)? {
            let sealed = [Some(&provider.key_sealed), provider.secret_sealed.as_ref()];
            let is_sealed = |sealed: &Vec<u8>| sealed.len() > NONCE_BYTES + TAG_BYTES;
            if !sealed.into_iter().flatten().all(is_sealed) {
                let message = "its payment provider has a key or a secret that is not encrypted";
                self.problem("rule", Some(organization), organization, message);
            }
            if !accounts.contains(&provider.payout_account) {
                let message = "its payment provider pays out to an account that does not exist";
                self.problem("reference", Some(organization), organization, message);
            }
        }
        let all = online::all(tx, organization);
        let mut known: HashSet<OnlinePaymentId> = HashSet::new();
        for payment in self.readable(organization, "online_payments", all) {
            self.done.rows += 1;
            known.insert(payment.id);
            if let Some(rule) = broken_rule(tx, &payment)? {
                self.problem("rule", Some(organization), payment.id, rule);
            }
        }
        let all = moves::all(tx, organization);
        for found in self.readable(organization, "online_moves", all) {
            self.done.rows += 1;
            let is_payout = found.kind == MoveKind::Payout;
            if is_payout != found.online_id.is_none() {
                let message = "a refund or dispute belongs to an online payment, and a payout to none";
                self.problem("rule", Some(organization), found.id, message);
            }
            if found.online_id.is_some_and(|id| !known.contains(&id)) {
                let message = "belongs to an online payment that does not exist";
                self.problem("reference", Some(organization), found.id, message);
            }
        }
        let all = autopay::all(tx, organization);
        for saved in self.readable(organization, "autopays", all) {
            self.done.rows += 1;
            let has_card = saved.customer_id.is_some() && saved.method_id.is_some();
            if saved.state == AutopayState::Active && !has_card {
                let message = "dues are charged to it, and the provider's names of the card are missing";
                self.problem("rule", Some(organization), saved.id, message);
            }
        }
        let all = autopay::all_charges(tx, organization);
        for charge in self.readable(organization, "autopay_charges", all) {
            self.done.rows += 1;
            let tried = charge.online_id.filter(|id| known.contains(id));
            if charge.step == AutopayStep::Trying && tried.is_none() {
                let message = "a saved card is charged for it by an online payment that does not exist";
                self.problem("reference", Some(organization), charge.payment_id, message);
            }
        }
        for id in autopay::stray_charges(tx, organization)? {
            let message = "is to be paid by a saved card, and does not exist";
            self.problem("reference", Some(organization), id, message);
        }
        for id in online::stray_items(tx, organization)? {
            let message = "has charges, but there is no such online payment";
            self.problem("reference", Some(organization), id, message);
        }
        Ok(())
    }
}

fn broken_rule(tx: &mut Tx<'_>, payment: &OnlinePayment) -> Result<Option<&'static str>, DbError> {
    let organization = payment.organization_id;
    let items = online::items(tx, organization, payment.id)?;
    let sum: i128 = items.iter().map(|item| i128::from(item.amount)).sum();
    let receipt = match payment.receipt_id {
        Some(id) => receipts::get(tx, organization, id)?,
        None => None,
    };
    Ok(if sum != i128::from(payment.amount) {
        Some("its charges do not sum up to its amount")
    } else if payment.state.has_money() != payment.receipt_id.is_some() {
        Some("has money and no receipt, or a receipt and no money")
    } else if payment.receipt_id.is_some() && receipt.is_none() {
        Some("its receipt does not exist")
    } else if payment.fee.is_some() && payment.receipt_id.is_none() {
        Some("cost a fee, and no money came")
    } else if payment.state == OnlineState::Open && payment.session_id.is_none() {
        Some("is open, and the provider has no page for it")
    } else if payment.state.is_under_way() && payment.due_at.is_none() {
        Some("is under way, and nobody will ask about it")
    } else {
        None
    })
}
