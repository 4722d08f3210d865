//! Online payments: where one stands, what can be collected at all, and how often a provider is asked again.

use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::words;

words! {
    /// Who collects card payments for an organization.
    ProviderKind {
        Stripe "stripe",
    }
}

words! {
    /// Where an online payment stands, by what the provider said last.
    OnlineState {
        /// Recorded here. The provider may not know of it yet.
        Created "created",
        /// The payer can pay on the provider's page.
        Open "open",
        /// The payer has paid, and the provider is collecting.
        Processing "processing",
        /// The money came.
        Succeeded "succeeded",
        /// The provider could not collect.
        Failed "failed",
        /// The payer did not pay in time.
        Expired "expired",
        /// All of the money went back to the payer.
        Refunded "refunded",
    }
}

impl OnlineState {
    /// Whether the payer can still pay.
    pub const fn is_under_way(self) -> bool {
        match self {
            Self::Created | Self::Open | Self::Processing => true,
            Self::Succeeded | Self::Failed | Self::Expired | Self::Refunded => false,
        }
    }

    /// Whether money came.
    pub const fn has_money(self) -> bool {
        match self {
            Self::Succeeded | Self::Refunded => true,
            Self::Created | Self::Open | Self::Processing | Self::Failed | Self::Expired => false,
        }
    }
}

words! {
    /// What moves money at a provider after it came.
    MoveKind {
        /// Back to the payer.
        Refund "refund",
        /// The payer's bank claims it back.
        Dispute "dispute",
        /// To the organization's bank account.
        Payout "payout",
    }
}

words! {
    /// How far such a move is. What is seen later has a higher rank.
    MoveState {
        /// Recorded here, to be asked of the provider.
        Wanted "wanted",
        /// The bank asks; nothing was withdrawn.
        Inquiry "inquiry",
        /// The provider is working on it.
        Pending "pending",
        /// The bank holds the money of a dispute.
        Withdrawn "withdrawn",
        /// A refund reached the payer.
        Succeeded "succeeded",
        /// A payout reached the bank account.
        Paid "paid",
        /// A dispute ended, and the money stays.
        Won "won",
        /// A dispute ended, and the money is gone.
        Lost "lost",
        /// It did not happen, or came back.
        Failed "failed",
    }
}

impl MoveState {
    /// Whether nothing more is to be expected.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Wanted | Self::Inquiry | Self::Pending | Self::Withdrawn => false,
            Self::Succeeded | Self::Paid | Self::Won | Self::Lost | Self::Failed => true,
        }
    }

    /// Whether `seen` is later than what is recorded. Reports can arrive in any order.
    pub fn is_before(self, seen: Self) -> bool {
        self < seen
    }
}

/// The smallest amount that Stripe collects, in minor units, by currency
/// (<https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>). Others are left to Stripe to refuse.
const STRIPE_MINIMUMS: &[(&str, i64)] = &[
    ("AED", 200),
    ("AUD", 50),
    ("BGN", 100),
    ("BRL", 50),
    ("CAD", 50),
    ("CHF", 50),
    ("CZK", 1_500),
    ("DKK", 250),
    ("EUR", 50),
    ("GBP", 30),
    ("HKD", 400),
    ("HUF", 17_500),
    ("INR", 50),
    ("JPY", 50),
    ("MXN", 1_000),
    ("MYR", 200),
    ("NOK", 300),
    ("NZD", 50),
    ("PLN", 200),
    ("RON", 200),
    ("SEK", 300),
    ("SGD", 50),
    ("THB", 1_000),
    ("USD", 50),
];
/// Eight digits in the smallest unit.
const STRIPE_MAXIMUM: i64 = 99_999_999;

/// Refuses what the provider would not collect.
pub fn check_amount(kind: ProviderKind, amount: Money) -> Result<(), Refusal> {
    let ProviderKind::Stripe = kind;
    let code = amount.currency.code();
    let known = STRIPE_MINIMUMS.iter().find(|(known, _)| *known == code);
    let least = known.map_or(1, |(_, least)| *least);
    if amount.minor < least {
        return Err(Refusal::invalid(
            "amount",
            format!(
                "must be at least {} {code} to be paid by card, got {amount}",
                Money::new(least, amount.currency)
            ),
        ));
    }
    if amount.minor > STRIPE_MAXIMUM {
        return Err(Refusal::invalid(
            "amount",
            format!(
                "must be at most {} {code} to be paid by card, got {amount}",
                Money::new(STRIPE_MAXIMUM, amount.currency)
            ),
        ));
    }
    if amount.currency.digits() == 3 && amount.minor % 10 != 0 {
        let rule = format!("must end in 0 to be paid by card in {code}, got {amount}");
        return Err(Refusal::invalid("amount", rule));
    }
    Ok(())
}

/// How long the payer has, in seconds.
pub const CHECKOUT_SECONDS: i64 = 3_600;
/// How often a provider is asked for what it did without being asked.
pub const SWEEP_SECONDS: i64 = 3_600;
/// How often an open dispute is looked at.
pub const DISPUTE_SECONDS: i64 = 6 * 3_600;
/// The waits between two questions, in seconds. The last one repeats.
const WAITS: &[i64] = &[5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];

/// How long to wait after so many questions without news.
pub const fn wait_seconds(attempts: i64) -> i64 {
    let (mut at, last) = (0, WAITS.len() - 1);
    while at < last && (at as i64) < attempts {
        at += 1;
    }
    WAITS[at]
}

/// The organization's currency is the only one that can be booked.
pub fn check_currency(wanted: Currency, given: Currency) -> Result<(), Refusal> {
    match wanted == given {
        true => Ok(()),
        false => Err(Refusal::conflict(format!(
            "the provider reports {given}, and the books are in {wanted}; book it by hand"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_collected() {
        let money = |minor, code| Money::new(minor, Currency::parse(code).unwrap());
        for (minor, code) in [(50, "USD"), (30, "GBP"), (50, "JPY"), (1, "ISK"), (1_250, "KWD")] {
            check_amount(ProviderKind::Stripe, money(minor, code)).unwrap();
        }
        for (minor, code, rule) in [
            (49, "USD", "at least 0.50 USD"),
            (29, "GBP", "at least 0.30 GBP"),
            (0, "ISK", "at least 1 ISK"),
            (1_255, "KWD", "end in 0"),
            (100_000_000, "USD", "at most 999999.99 USD"),
        ] {
            let refusal = check_amount(ProviderKind::Stripe, money(minor, code)).unwrap_err();
            assert!(refusal.message().contains(rule), "{refusal}");
        }
    }

    #[test]
    fn waits_grow_and_stay() {
        let waits: Vec<i64> = (0..12).map(wait_seconds).collect();
        assert_eq!(
            waits,
            [5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 3_600, 3_600]
        );
    }

    #[test]
    fn reports_count_only_forward() {
        use MoveState::*;
        for (before, after) in [
            (Wanted, Pending),
            (Pending, Succeeded),
            (Succeeded, Failed),
            (Inquiry, Withdrawn),
            (Withdrawn, Won),
            (Withdrawn, Lost),
            (Pending, Paid),
            (Paid, Failed),
        ] {
            assert!(
                before.is_before(after) && !after.is_before(before),
                "{before} → {after}"
            );
        }
    }
}
