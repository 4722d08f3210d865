//! IBANs, and the payment data of a QR code that banking apps in the euro area read.

use crate::creditor_reference::remainder;
use crate::money::{Currency, Money, decimal};

const LENGTHS: std::ops::RangeInclusive<usize> = 15..=34;
/// What the QR code's rules allow for a name.
const NAME_CHARACTERS_MAX: usize = 70;
/// 999,999,999.99 EUR.
const AMOUNT_MINOR_MAX: i64 = 99_999_999_999;

/// Reads an IBAN as people type it: in any case, with spaces. The rule reads on after the field's name.
pub fn parse(text: &str) -> Result<String, String> {
    let compact: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_uppercase())
        .collect();
    let is_plain = compact
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let is_iban = is_plain
        && LENGTHS.contains(&compact.len())
        && compact.bytes().take(2).all(|byte| byte.is_ascii_uppercase())
        && compact.bytes().skip(2).take(2).all(|byte| byte.is_ascii_digit())
        && remainder(&format!("{}{}", &compact[4..], &compact[..4])) == 1;
    match is_iban {
        true => Ok(compact),
        false => {
            Err("must be an IBAN with correct check digits, such as DE89 3704 0044 0532 0130 00".to_owned())
        }
    }
}

/// The text of a QR code for a SEPA credit transfer (EPC069-12, version 2). `None` for other currencies, and for nothing
/// to pay.
pub fn epc_text(name: &str, iban: &str, amount: Money, reference: &str) -> Option<String> {
    let is_euro = amount.currency == Currency::parse("EUR")?;
    if !is_euro || !(1..=AMOUNT_MINOR_MAX).contains(&amount.minor) {
        return None;
    }
    let name: String = name.chars().take(NAME_CHARACTERS_MAX).collect();
    let amount = decimal(i128::from(amount.minor), amount.currency);
    Some(format!(
        "BCD\n002\n1\nSCT\n\n{name}\n{iban}\nEUR{amount}\n\n{reference}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ibans_are_read_as_people_type_them() {
        for (text, expected) in [
            ("DE89 3704 0044 0532 0130 00", Some("DE89370400440532013000")),
            ("gb82west12345698765432", Some("GB82WEST12345698765432")),
            ("NO9386011117947", Some("NO9386011117947")),
            ("DE88 3704 0044 0532 0130 00", None),
            ("DE89370400440532013001", None),
            ("89DE370400440532013000", None),
            ("DE89", None),
            ("", None),
            ("DE89-3704-0044-0532-0130-00", None),
            ("ÄÖ89370400440532013000", None),
        ] {
            assert_eq!(parse(text).ok().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_code_says_what_a_banking_app_needs() {
        let euro = |minor| Money::new(minor, Currency::parse("EUR").unwrap());
        let text = |amount| epc_text("River Club", "DE89370400440532013000", amount, "RF18539007547034");
        assert_eq!(
            text(euro(1_250)).as_deref(),
            Some("BCD\n002\n1\nSCT\n\nRiver Club\nDE89370400440532013000\nEUR12.50\n\nRF18539007547034")
        );
        for none in [
            euro(0),
            euro(-1),
            euro(AMOUNT_MINOR_MAX + 1),
            Money::new(1_250, Currency::USD),
        ] {
            assert_eq!(text(none), None, "{none}");
        }
    }
}
