//! Charges that one act changes in several steps.

use bursar_db::open_charges;
use bursar_domain::ids::{MemberId, PaymentId};
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Open;

use super::{prove, settle};
use crate::act::Act;
use crate::error::AppError;

/// Each is written once, however many steps change it, so that it has one event.
#[derive(Debug, Default)]
pub(crate) struct Changed(Vec<Step>);

#[derive(Debug)]
struct Step {
    before: Payment,
    now: Payment,
}

impl Changed {
    /// As it is after the steps so far.
    pub(super) fn find(&mut self, act: &mut Act<'_, '_>, id: PaymentId) -> Result<&mut Payment, AppError> {
        let at = match self.0.iter().position(|step| step.before.id == id) {
            Some(at) => at,
            None => {
                let before: Payment = act.find(id)?;
                let now = before.clone();
                self.0.push(Step { before, now });
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[at].now)
    }

    /// What is open for a payer and the household after the steps so far, in the order of [`open_charges::of_household`].
    pub(super) fn open_of_household(
        &self,
        act: &mut Act<'_, '_>,
        payer: MemberId,
    ) -> Result<Vec<Open>, AppError> {
        let mut household = open_charges::household(act.tx, act.organization, payer)?;
        household.push(payer);
        let mut open: Vec<Payment> = Vec::new();
        for Open { payment, .. } in open_charges::of_household(act.tx, act.organization, payer)? {
            if !self.0.iter().any(|step| step.before.id == payment) {
                open.push(act.find(payment)?);
            }
        }
        let changed = self.0.iter().map(|step| &step.now);
        let is_of_household = |payment: &&Payment| payment.member_id.is_some_and(|m| household.contains(&m));
        open.extend(changed.filter(is_of_household).cloned());
        open.retain(|payment| payment.owed_minor() > 0);
        open.sort_by_key(|p| (p.due_date.is_none(), p.due_date, p.stamps.created_at, p.id));
        let open = open.iter().map(|payment| Open {
            payment: payment.id,
            open: payment.owed_minor(),
        });
        Ok(open.collect())
    }

    /// Writes what has changed, in the order of the first steps.
    pub(super) fn settle(self, act: &mut Act<'_, '_>) -> Result<(), AppError> {
        for Step { before, mut now } in self.0 {
            match now == before {
                true => prove(act, &now)?,
                false => settle(act, &mut now)?,
            }
        }
        Ok(())
    }
}
