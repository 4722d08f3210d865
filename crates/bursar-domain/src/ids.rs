//! Type-prefixed, time-ordered ids: a UUIDv7 in the TypeID text form, `mem_01h455vb4pex5vsknk084sn02q`.
//!
//! The text order of two ids of one type is the order of their 128 bits, so the database can keep the 16
//! bytes.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Serialize, Serializer};

use crate::time::Timestamp;

/// The TypeID alphabet: Crockford's base 32 in lower case, ascending in ASCII.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 26 digits of five bits are 130; the first digit carries only three.
const DIGITS: usize = 26;

/// What an id names.
pub trait Kind: 'static {
    const PREFIX: &'static str;
    /// For messages.
    const NOUN: &'static str;
}

macro_rules! kinds {
    ($($kind:ident $alias:ident $prefix:literal $noun:literal;)*) => {
        pub mod kind {
            $(#[derive(Debug)] pub enum $kind {})*

            /// A chapter is an organization.
            pub type Chapter = Organization;
        }
        $(
            impl Kind for kind::$kind {
                const PREFIX: &'static str = $prefix;
                const NOUN: &'static str = $noun;
            }
            pub type $alias = Id<kind::$kind>;
        )*
        pub const PREFIXES: &[(&str, &str)] = &[$(($prefix, $noun)),*];
    };
}

kinds! {
    Member MemberId "mem" "member";
    Group GroupId "grp" "group";
    Payment PaymentId "pay" "payment";
    Reimbursement ReimbursementId "rmb" "reimbursement";
    Reminder ReminderId "rem" "reminder";
    Card CardId "card" "card";
    Application ApplicationId "app" "card application";
    Campaign CampaignId "cmp" "campaign";
    Listing ListingId "lst" "store listing";
    Order OrderId "ord" "store order";
    Organization OrganizationId "org" "organization";
    User UserId "usr" "user";
    Token TokenId "tok" "token";
    Request RequestId "req" "request";
    Account AccountId "acc" "account";
    Entry EntryId "jnl" "journal entry";
    Receipt ReceiptId "rcp" "receipt";
    Attachment AttachmentId "att" "attachment";
    Statement StatementId "stm" "statement";
    StatementLine StatementLineId "stl" "statement line";
    Message MessageId "msg" "message";
    Activity ActivityId "act" "activity line";
    Bulk BulkId "blk" "bulk act";
    Upload UploadId "upl" "upload";
    Event EventId "evt" "event";
    Webhook WebhookId "whk" "webhook endpoint";
    OnlinePayment OnlinePaymentId "opy" "online payment";
    Autopay AutopayId "aut" "saved card";
    OnlineMove OnlineMoveId "omv" "online refund, dispute or payout";
}

pub struct Id<K> {
    bits: u128,
    kind: PhantomData<fn() -> K>,
}

impl<K> Id<K> {
    pub const fn from_bits(bits: u128) -> Self {
        Self {
            bits,
            kind: PhantomData,
        }
    }

    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self::from_bits(u128::from_be_bytes(bytes))
    }

    /// Their order is the order of the ids.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.bits.to_be_bytes()
    }

    pub const fn bits(self) -> u128 {
        self.bits
    }
}

impl<K: Kind> Id<K> {
    /// `None` for another prefix or an invalid TypeID suffix.
    pub fn parse(text: &str) -> Option<Self> {
        let suffix = text.strip_prefix(K::PREFIX)?.strip_prefix('_')?;
        decode(suffix.as_bytes()).map(Self::from_bits)
    }
}

impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bits.cmp(&other.bits)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}

impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = encode(self.bits);
        f.write_str(K::PREFIX)?;
        f.write_str("_")?;
        f.write_str(std::str::from_utf8(&digits).map_err(|_| fmt::Error)?)
    }
}

impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

pub fn encode(bits: u128) -> [u8; DIGITS] {
    let mut out = [0; DIGITS];
    for (i, digit) in out.iter_mut().enumerate() {
        let shift = 5 * (DIGITS - 1 - i);
        *digit = ALPHABET[usize::from((bits >> shift).to_le_bytes()[0] & 31)];
    }
    out
}

/// `None` for another length, a foreign character or more than 128 bits.
pub fn decode(digits: &[u8]) -> Option<u128> {
    if digits.len() != DIGITS || digits[0] > b'7' {
        return None;
    }
    digits.iter().try_fold(0u128, |bits, digit| {
        let value = VALUES[usize::from(*digit)];
        (value < 32).then(|| (bits << 5) | u128::from(value))
    })
}

/// The value of each byte as a digit; 32 for bytes that are none.
const VALUES: [u8; 256] = {
    let mut values = [32; 256];
    let mut value: u8 = 0;
    while value < 32 {
        values[ALPHABET[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// Makes ids from the time it is given and its own seed.
///
/// Ids of one source ascend strictly, even within a microsecond: the twelve bits after the version carry the
/// fraction of the millisecond (RFC 9562, section 6.2, method 3), and a tie counts up.
#[derive(Debug)]
pub struct IdSource {
    entropy: fastrand::Rng,
    last: u128,
}

impl IdSource {
    pub fn seeded(seed: u64) -> Self {
        Self {
            entropy: fastrand::Rng::with_seed(seed),
            last: 0,
        }
    }

    /// Later than every earlier id of this source.
    pub fn next<K>(&mut self, now: Timestamp) -> Id<K> {
        let fresh = self.at::<K>(now).bits;
        self.last = if fresh > self.last { fresh } else { self.last + 1 };
        Id::from_bits(self.last)
    }

    /// An id that carries exactly this time, for [`time_of`], whatever was made before.
    pub fn at<K>(&mut self, at: Timestamp) -> Id<K> {
        let micros = u128::from(at.micros().unsigned_abs());
        let (millis, fraction) = (micros / 1000, (micros % 1000) * 4096 / 1000);
        let random = u128::from(self.entropy.u64(..)) & 0x3fff_ffff_ffff_ffff;
        Id::from_bits(((millis & 0xffff_ffff_ffff) << 80) | (7 << 76) | (fraction << 64) | (2 << 62) | random)
    }

    /// A new source, seeded from this one.
    pub fn fork(&mut self) -> Self {
        Self::seeded(self.entropy.u64(..))
    }
}

/// The time that an id of [`IdSource::at`] was made for. Of another id it is some time.
pub fn time_of<K>(id: Id<K>) -> Timestamp {
    let millis = id.bits >> 80;
    // The fraction was rounded down.
    let micros = (((id.bits >> 64) & 0xfff) * 1000).div_ceil(4096);
    Timestamp::from_micros(i64::try_from(millis * 1000 + micros).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The valid and invalid vectors that the TypeID specification publishes (version 0.3).
    #[test]
    fn typeid_vectors() {
        let valid = [
            ("00000000000000000000000000", 0),
            ("00000000000000000000000001", 1),
            ("0000000000000000000000000a", 10),
            ("0000000000000000000000000g", 16),
            ("00000000000000000000000010", 32),
            ("7zzzzzzzzzzzzzzzzzzzzzzzzz", u128::MAX),
            (
                "0123456789abcdefghjkmnpqrs",
                0x0110_c853_1d09_52d8_d73e_1194_e95b_5f19,
            ),
            (
                "01h455vb4pex5vsknk084sn02q",
                0x0189_0a5d_ac96_774b_bcce_b302_099a_8057,
            ),
        ];
        for (text, bits) in valid {
            assert_eq!(decode(text.as_bytes()), Some(bits), "{text}");
            assert_eq!(encode(bits), text.as_bytes(), "{text}");
        }
        let invalid = [
            "8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "0123456789ABCDEFGHJKMNPQRS",
            "0123456789-bcdefghjkmnpqrs",
            "01h455vb4pex5vsknk084sn02",
            "01h455vb4pex5vsknk084sn02qq",
            "ooooooiiiiiiuuuuuuulllllll",
            "",
        ];
        for text in invalid {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_prefix_belongs_to_the_type() {
        let text = "mem_01h455vb4pex5vsknk084sn02q";
        assert_eq!(
            MemberId::parse(text).map(|id| id.to_string()).as_deref(),
            Some(text)
        );
        for other in [
            "grp_01h455vb4pex5vsknk084sn02q",
            "mem01h455vb4pex5vsknk084sn02q",
            "mem__01h455vb4pex5vsknk084sn02q",
            "MEM_01h455vb4pex5vsknk084sn02q",
        ] {
            assert_eq!(MemberId::parse(other), None, "{other}");
        }
    }

    #[test]
    fn ids_ascend_also_when_the_clock_steps_back() {
        let mut source = IdSource::seeded(7);
        let times = [5_000_000, 5_000_000, 5_000_001, 4_000_000, 9_000_000];
        let ids: Vec<MemberId> = times
            .iter()
            .map(|t| source.next(Timestamp::from_micros(*t)))
            .collect();
        assert!(
            ids.windows(2)
                .all(|w| w[0] < w[1] && w[0].to_string() < w[1].to_string())
        );
        assert_eq!(ids[0].bits() >> 76 & 15, 7, "version");
        assert_eq!(ids[0].bits() >> 62 & 3, 2, "variant");
    }

    proptest::proptest! {
        #[test]
        fn text_and_bits_agree(a: u128, b: u128) {
            let (x, y) = (MemberId::from_bits(a), MemberId::from_bits(b));
            proptest::prop_assert_eq!(MemberId::parse(&x.to_string()), Some(x));
            proptest::prop_assert_eq!(x.cmp(&y), x.to_string().cmp(&y.to_string()));
            proptest::prop_assert_eq!(MemberId::from_bytes(x.to_bytes()), x);
        }
    }

    #[test]
    fn an_id_tells_its_time() {
        let mut ids = IdSource::seeded(1);
        let start = 1_790_000_000_000_000;
        let later: Id<kind::Event> = ids.next(Timestamp::from_micros(start + 5_000));
        for micros in (start..start + 2_000).chain([0, 1]) {
            let at = Timestamp::from_micros(micros);
            assert_eq!(time_of(ids.at::<kind::Event>(at)), at, "also before {later}");
        }
    }
}
