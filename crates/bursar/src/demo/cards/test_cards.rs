//! The cards that a payer can choose. The numbers are those of Stripe's test cards
//! (<https://docs.stripe.com/testing>).

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Pays,
    Declined,
    /// Pays, and the payer's bank claims the money back soon after.
    Disputed,
    /// Can be saved, and is declined when it is to pay.
    DeclinedLater,
}

#[derive(Debug)]
pub(super) struct TestCard {
    pub(super) last4: &'static str,
    pub(super) behaviour: Behaviour,
}

const PAYS: TestCard = TestCard {
    last4: "4242",
    behaviour: Behaviour::Pays,
};
const DECLINED: TestCard = TestCard {
    last4: "0002",
    behaviour: Behaviour::Declined,
};
const DISPUTED: TestCard = TestCard {
    last4: "0259",
    behaviour: Behaviour::Disputed,
};
const DECLINED_LATER: TestCard = TestCard {
    last4: "0341",
    behaviour: Behaviour::DeclinedLater,
};

/// Each with what it does, to pay and to save.
pub(super) const TO_PAY: &[(TestCard, &str)] = &[
    (PAYS, "The payment succeeds."),
    (DECLINED, "The card is declined."),
    (
        DISPUTED,
        "The payment succeeds, and the bank disputes it a few seconds later.",
    ),
];
pub(super) const TO_SAVE: &[(TestCard, &str)] = &[
    (PAYS, "The card is saved, and later payments succeed."),
    (
        DECLINED_LATER,
        "The card is saved, and later payments are declined.",
    ),
    (DECLINED, "The card is declined and not saved."),
];

impl TestCard {
    /// A number that is not known is declined.
    pub(super) fn of(last4: &Value) -> &'static Self {
        let all = TO_PAY.iter().chain(TO_SAVE);
        let mut all = all.map(|(card, _)| card);
        all.find(|card| last4 == card.last4).unwrap_or(&DECLINED)
    }
}
