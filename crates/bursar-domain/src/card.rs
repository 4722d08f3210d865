//! Cards: spending with a limit on behalf of the organization.

use serde::Serialize;

use crate::fields::Fields;
use crate::ids::{CardId, MemberId};
use crate::money::{Currency, Money, limit_from_number};
use crate::refusal::Refusal;
use crate::resource::{Invariants, Resource, Stamps, Surroundings, only_when, resource};
use crate::states::{Machine, Verb};
use crate::text::{NAME, TextRule};
use crate::time::Timestamp;
use crate::words;

words! {
    /// Where a card stands.
    CardStatus {
        /// It can be used.
        Active "active",
        /// It cannot be used for now.
        Frozen "frozen",
        /// It was canceled and cannot be used again.
        Canceled "canceled",
        /// It waits for its holder to accept.
        Invited "invited",
        /// The holder declined it.
        Denied "denied",
    }
}

impl Machine for CardStatus {
    const NOUN: &'static str = "card";

    fn moves(self) -> &'static [Self] {
        match self {
            Self::Invited => &[Self::Active, Self::Denied, Self::Canceled],
            Self::Active => &[Self::Frozen, Self::Canceled],
            Self::Frozen => &[Self::Active, Self::Canceled],
            Self::Canceled | Self::Denied => &[],
        }
    }
}

words! {
    /// What an officer does to a card.
    CardVerb {
        /// The holder accepts.
        Activate "activated",
        /// Stops it for now.
        Freeze "frozen",
        /// Lets it go on.
        Unfreeze "unfrozen",
        /// Ends it for good.
        Cancel "canceled",
        /// The holder declines.
        Deny "denied",
    }
}

impl Verb for CardVerb {
    type State = CardStatus;

    fn starts_from(self) -> &'static [CardStatus] {
        match self {
            Self::Activate | Self::Deny => &[CardStatus::Invited],
            Self::Freeze => &[CardStatus::Active],
            Self::Unfreeze => &[CardStatus::Frozen],
            Self::Cancel => &[CardStatus::Invited, CardStatus::Active, CardStatus::Frozen],
        }
    }

    fn leads_to(self) -> CardStatus {
        match self {
            Self::Activate | Self::Unfreeze => CardStatus::Active,
            Self::Freeze => CardStatus::Frozen,
            Self::Cancel => CardStatus::Canceled,
            Self::Deny => CardStatus::Denied,
        }
    }
}

words! {
    /// The time a spend limit counts over.
    LimitFrequency {
        /// A day.
        Daily "daily",
        /// A week.
        Weekly "weekly",
        /// A month.
        Monthly "monthly",
        /// Once, without a period.
        OneTime "one_time",
    }
}

const LAST4: TextRule = TextRule {
    min: 4,
    max: 4,
    lines: false,
};

resource! {
    /// A card with a spend limit. This shape is frozen in v1.
    Card = "card" {
        /// Name of the card.
        name: Option<String> => shown("name").text(NAME),
        /// Status of the card.
        status: Option<CardStatus> => shown("status"),
        /// Last four digits of the card number. Null until the issuer reports them.
        last4: Option<String> => shown("last4").code(LAST4),
        /// Spend limit for the period in `spendLimitFrequency`.
        spend_limit: Option<Money> => shown("spendLimit"),
        /// Period of the spend limit.
        spend_limit_frequency: Option<LimitFrequency> => shown("spendLimitFrequency"),
        /// Maximum amount of one transaction.
        transaction_limit: Option<Money> => shown("transactionLimit"),
        /// The member who holds the card.
        assigned_member_id: Option<MemberId> => shown("assignedMemberId"),
        /// When the holder was invited.
        invited_at: Option<Timestamp> => shown("invitedAt"),
        /// When it was activated.
        activated_at: Option<Timestamp> => shown("activatedAt"),
        /// When it was canceled.
        canceled_at: Option<Timestamp> => shown("canceledAt"),
        /// The organization's currency, which its limits are in.
        currency: Currency => internal(),
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewCard {
    pub name: String,
    pub spend_limit: Money,
    pub spend_limit_frequency: LimitFrequency,
    pub transaction_limit: Option<Money>,
    pub assigned_member_id: Option<MemberId>,
}

impl NewCard {
    /// Limits must fit the organization's currency.
    pub fn read(fields: &mut Fields<'_>, currency: Currency) -> Result<Self, Refusal> {
        Ok(Self {
            name: fields.text("name", NAME)?.required()?,
            spend_limit: fields.limit("spendLimit", currency)?.required()?,
            spend_limit_frequency: fields.word("spendLimitFrequency")?.required()?,
            transaction_limit: fields.limit("transactionLimit", currency)?.optional(),
            assigned_member_id: fields.id("assignedMemberId")?.optional(),
        })
    }

    /// Invites the holder. A card without a holder is active at once.
    pub fn issue(self, id: CardId, stamps: Stamps) -> Card {
        let at = Some(stamps.created_at);
        let (status, invited_at, activated_at) = match self.assigned_member_id {
            Some(_) => (CardStatus::Invited, at, None),
            None => (CardStatus::Active, None, at),
        };
        Card {
            name: Some(self.name),
            status: Some(status),
            spend_limit: Some(self.spend_limit),
            spend_limit_frequency: Some(self.spend_limit_frequency),
            transaction_limit: self.transaction_limit,
            assigned_member_id: self.assigned_member_id,
            invited_at,
            activated_at,
            ..Card::blank(id, self.spend_limit.currency, stamps)
        }
    }
}

impl Card {
    /// Sets the stamp of the new state.
    pub fn perform(&mut self, verb: CardVerb, now: Timestamp) -> Result<(), Refusal> {
        let Some(status) = self.status else {
            return Err(Refusal::conflict(format!(
                "the card has no status yet and cannot be {verb}"
            )));
        };
        let next = verb.after(status)?;
        self.status = Some(next);
        match next {
            CardStatus::Active => self.activated_at = self.activated_at.or(Some(now)),
            CardStatus::Canceled => self.canceled_at = Some(now),
            CardStatus::Frozen | CardStatus::Invited | CardStatus::Denied => {}
        }
        Ok(())
    }
}

impl Invariants for Card {
    fn check(&self, around: &Surroundings) -> Result<(), Refusal> {
        let is_digits = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        if !self.last4.as_ref().is_none_or(is_digits) {
            return Err(Refusal::invalid("last4", "must be four digits"));
        }
        let limits = [
            ("spendLimit", self.spend_limit),
            ("transactionLimit", self.transaction_limit),
        ];
        for (field, limit) in limits {
            let checked = limit.map(|limit| limit_from_number(&limit.to_string(), limit.currency));
            checked.transpose().map_err(Refusal::of_field(field))?;
        }
        let was_never_active = matches!(self.status, Some(CardStatus::Invited | CardStatus::Denied));
        only_when(
            "activatedAt",
            self.activated_at,
            !was_never_active,
            "active, frozen or canceled",
        )?;
        let is_canceled = self.status == Some(CardStatus::Canceled);
        only_when("canceledAt", self.canceled_at, is_canceled, "canceled")?;
        around.past("invitedAt", self.invited_at)?;
        around.past("activatedAt", self.activated_at)?;
        around.past("canceledAt", self.canceled_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::testing::{assert_table, assert_verbs};

    #[test]
    fn transitions() {
        assert_table(
            CardStatus::ALL,
            &[
                "invited → active, denied, canceled",
                "active → frozen, canceled",
                "frozen → active, canceled",
                "canceled → ",
                "denied → ",
            ],
        );
    }

    #[test]
    fn verbs_name_where_they_start() {
        assert_verbs(
            CardVerb::ALL,
            CardStatus::ALL,
            &[
                "activated: invited → active",
                "frozen: active → frozen",
                "unfrozen: frozen → active",
                "canceled: invited, active, frozen → canceled",
                "denied: invited → denied",
            ],
        );
        let told = CardVerb::Unfreeze.after(CardStatus::Invited).unwrap_err();
        assert_eq!(
            told.message(),
            "the card is invited; only a card that is frozen can be unfrozen"
        );
    }

    #[test]
    fn a_new_card_waits_for_its_holder_or_is_active() {
        let at = Timestamp::from_micros(3);
        let json = |holder: &str| {
            format!(r#"{{"name":" Travel ","spendLimit":1e2,"spendLimitFrequency":"one_time"{holder}}}"#)
        };
        let read = |json: &str| {
            let mut fields = Fields::parse(json).unwrap();
            let card = NewCard::read(&mut fields, Currency::USD)?;
            fields.finish()?;
            Ok::<_, Refusal>(card.issue(CardId::from_bits(1), Stamps::at(at)))
        };
        let free = read(&json(r#","transactionLimit":null"#)).unwrap();
        assert_eq!(
            (free.status, free.activated_at, free.invited_at),
            (Some(CardStatus::Active), Some(at), None)
        );
        let held = read(&json(&format!(
            r#","assignedMemberId":"{}""#,
            MemberId::from_bits(9)
        )))
        .unwrap();
        assert_eq!(
            (held.status, held.activated_at, held.invited_at),
            (Some(CardStatus::Invited), None, Some(at))
        );
        assert!(
            free.document()
                .contains(r#""name":"Travel","status":"active","last4":null,"spendLimit":"100.00""#)
        );
        let refused = |json: &str| read(json).unwrap_err().field().unwrap_or("").to_owned();
        assert_eq!(refused(r#"{"spendLimit":1}"#), "name");
        assert_eq!(
            refused(r#"{"name":"x","spendLimit":"100","spendLimitFrequency":"daily"}"#),
            "spendLimit"
        );
        assert_eq!(
            refused(r#"{"name":"x","spendLimit":1,"spendLimitFrequency":"yearly"}"#),
            "spendLimitFrequency"
        );
        assert_eq!(
            refused(r#"{"name":"x","spendLimit":1,"spendLimitFrequency":"daily","limit":1}"#),
            "limit"
        );
    }
}
