//! Amounts as Stripe counts them: in the smallest unit, which for a few currencies is not that of ISO 4217
//! (<https://docs.stripe.com/currencies>).

use bursar_app::online::port::Trouble;
use bursar_domain::money::{Currency, Money};
use serde_json::Value;

/// Stripe counts these without decimals.
const WITHOUT_DECIMALS: &[&str] = &[
    "BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "MGA", "PYG", "RWF", "VND", "VUV", "XAF", "XOF", "XPF",
];

/// What a digit of ours is worth at Stripe: the number of digits of both.
fn digits(currency: Currency) -> (u32, u32) {
    let ours = currency.digits();
    let theirs = match ours {
        _ if WITHOUT_DECIMALS.contains(&currency.code()) => 0,
        3 => 3,
        // Also those that have no decimals any more, such as ISK and UGX.
        _ => 2,
    };
    (ours, theirs)
}

pub(crate) fn to_stripe(amount: Money) -> Result<i64, Trouble> {
    let (ours, theirs) = digits(amount.currency);
    let code = amount.currency.code();
    let whole = || {
        Trouble::Refused(format!(
            "{amount} {code} cannot be paid by card: Stripe takes whole {code} only"
        ))
    };
    match theirs >= ours {
        true => amount
            .minor
            .checked_mul(10_i64.pow(theirs - ours))
            .ok_or_else(whole),
        false => {
            let unit = 10_i64.pow(ours - theirs);
            match amount.minor % unit {
                0 => Ok(amount.minor / unit),
                _ => Err(whole()),
            }
        }
    }
}

pub fn from_stripe(count: i64, currency: Currency) -> Option<Money> {
    let (ours, theirs) = digits(currency);
    let minor = match ours >= theirs {
        true => count.checked_mul(10_i64.pow(ours - theirs))?,
        // Parts that ISO 4217 does not know; Stripe itself has none.
        false => count / 10_i64.pow(theirs - ours),
    };
    Some(Money::new(minor, currency))
}

/// Stripe writes codes in lower case.
pub fn currency_of(value: &Value) -> Option<Currency> {
    Currency::parse(&value.as_str()?.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_there_and_back() {
        for (minor, code, count) in [
            (1_250, "USD", 1_250),
            (500, "JPY", 500),
            (1_250, "KWD", 1_250),
            (500, "ISK", 50_000),
            (500, "UGX", 50_000),
            (50_000, "MGA", 500),
        ] {
            let money = Money::new(minor, Currency::parse(code).unwrap());
            assert_eq!(to_stripe(money), Ok(count), "{code}");
            assert_eq!(from_stripe(count, money.currency), Some(money), "{code}");
        }
        let odd = Money::new(50_050, Currency::parse("MGA").unwrap());
        assert!(to_stripe(odd).is_err());
    }
}
