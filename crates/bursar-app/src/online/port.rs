//! What a payment provider can be asked. The answers are a provider's own words made ours: what is booked follows from
//! them, and from nothing else that arrives.

use std::fmt;

use bursar_domain::Timestamp;
use bursar_domain::ids::{AutopayId, OnlineMoveId, OnlinePaymentId, OrganizationId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::online::{MoveState, ProviderKind};

/// An organization's key at its provider.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    pub kind: ProviderKind,
    pub key: String,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access({}, …)", self.kind)
    }
}

/// Why a question was not answered, for officers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Asking again does not help.
    Refused(String),
    /// Asking again later may help.
    Unavailable(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) | Self::Unavailable(why) => f.write_str(why),
        }
    }
}

/// A payment that a member wants to make on the provider's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    pub id: OnlinePaymentId,
    pub organization: OrganizationId,
    /// What is paid for, in words, and how much of it.
    pub lines: Vec<(String, Money)>,
    pub email: Option<String>,
    pub success_url: String,
    pub cancel_url: String,
    pub expires_at: Timestamp,
}

/// The provider's page for a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub session: String,
    pub url: String,
}

/// A card that a member wants to save on the provider's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardPage {
    pub id: AutopayId,
    pub organization: OrganizationId,
    pub currency: Currency,
    pub email: Option<String>,
    pub success_url: String,
    pub cancel_url: String,
    pub expires_at: Timestamp,
}

/// What became of such a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The member has not saved a card, and can.
    Waiting,
    Card(SavedCard),
    /// Nobody can save a card there any more.
    Gone,
}

/// A card that the provider keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedCard {
    /// The provider's names for whose it is, and for the card.
    pub customer: String,
    pub method: String,
    /// `Visa ending in 4242`.
    pub words: String,
    /// Its last month: `2028-04`.
    pub until: Option<String>,
}

/// A payment that is charged to a saved card, without the payer on the provider's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardOrder {
    pub id: OnlinePaymentId,
    pub organization: OrganizationId,
    pub customer: String,
    pub method: String,
    pub amount: Money,
    /// What is paid for.
    pub words: String,
    /// Whether it may still be charged. Otherwise the provider is only asked whether it was.
    pub may_begin: bool,
}

/// What became of such an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Charged {
    /// The provider has it under this name, whatever came of it.
    Made(String),
    /// The provider has nothing to charge it to; why, in words for the payer.
    Declined(String),
    /// It was not charged, and is not going to be.
    Never,
}

/// How far a payment is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The payer has not paid, and can.
    Waiting,
    /// The payer has paid, and the money is on its way.
    Processing,
    Succeeded {
        amount: i64,
        currency: Currency,
        at: Timestamp,
    },
    Failed,
    Expired,
}

/// Everything that a provider says about one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub progress: Progress,
    pub intent: Option<String>,
    pub charge: Option<String>,
    /// Why the last attempt failed, in words for the payer.
    pub failure: Option<String>,
    /// What the provider kept. `None` if it is not known yet.
    pub fee: Option<Money>,
    pub refunds: Vec<SeenRefund>,
    pub disputes: Vec<SeenDispute>,
}

impl Outcome {
    /// Nothing came of it, and the provider has nothing more to tell.
    pub fn failed(why: String) -> Self {
        Self {
            progress: Progress::Failed,
            intent: None,
            charge: None,
            failure: Some(why),
            fee: None,
            refunds: Vec::new(),
            disputes: Vec::new(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenRefund {
    pub reference: String,
    /// The one that we asked for, if we did.
    pub wanted: Option<OnlineMoveId>,
    pub amount: i64,
    pub state: MoveState,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenDispute {
    pub reference: String,
    pub amount: i64,
    /// What the provider kept for it so far.
    pub fee: i64,
    pub state: MoveState,
    pub reason: Option<String>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenPayout {
    pub reference: String,
    /// Negative if the provider took money from the bank account.
    pub amount: Money,
    pub state: MoveState,
    pub created_at: Timestamp,
    /// The day it reaches the bank account, as that day's first instant in UTC.
    pub arrives_at: Timestamp,
}

/// Money to be paid back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundOrder {
    pub id: OnlineMoveId,
    pub intent: String,
    pub amount: Money,
}

/// What a provider did since a time, whoever asked it to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    pub payouts: Vec<SeenPayout>,
    /// Payments with a refund or a dispute: the provider's name of the payment, of what happened to it, and how far that
    /// is.
    pub touched: Vec<(String, String, MoveState)>,
}

/// What a test of the key found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Whether real money moves.
    pub is_live: bool,
    pub currencies: Vec<Currency>,
}

/// A payment provider. Implementations make HTTP calls with time limits and keep nothing; two calls with the same id are
/// one to the provider.
pub trait Provider: Send + Sync {
    /// Reads something harmless with the key.
    fn test(&self, access: &Access) -> Result<Tested, Trouble>;
    fn open(&self, access: &Access, checkout: &Checkout) -> Result<Opened, Trouble>;
    fn outcome(&self, access: &Access, session: &str, currency: Currency) -> Result<Outcome, Trouble>;
    fn refund(&self, access: &Access, order: &RefundOrder) -> Result<SeenRefund, Trouble>;
    fn recent(&self, access: &Access, since: Timestamp) -> Result<Recent, Trouble>;
    fn save_card(&self, access: &Access, page: &CardPage) -> Result<Opened, Trouble>;
    fn saved(&self, access: &Access, session: &str) -> Result<Saved, Trouble>;
    fn charge(&self, access: &Access, order: &CardOrder) -> Result<Charged, Trouble>;
    /// Lets the provider forget a card. One that it does not have is forgotten.
    fn forget(&self, access: &Access, method: &str) -> Result<(), Trouble>;
}
