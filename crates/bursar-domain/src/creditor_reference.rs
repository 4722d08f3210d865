//! Creditor references by ISO 11649: `RF`, two check digits and a number of the organization. A payer writes one on a
//! transfer, and it is recognised when the money comes in.

use crate::refusal::Refusal;

/// The longest reference that the standard allows.
const LENGTH_MAX: usize = 25;

/// The largest number that a bundle may bring. It leaves room to count on from there.
const NUMBER_MAX: i64 = 999_999_999_999_999;

/// For the organization's n-th reference.
pub fn of_number(number: i64) -> String {
    let body = number.to_string();
    let check = 98 - remainder(&format!("{body}RF00"));
    format!("RF{check:02}{body}")
}

/// The number of a reference that [`of_number`] made.
pub fn number_of(reference: &str) -> Option<i64> {
    let number = reference.get(4..)?.parse().ok()?;
    ((1..=NUMBER_MAX).contains(&number) && of_number(number) == reference).then_some(number)
}

/// The number of the reference that a bundle gives.
pub fn given(reference: &str) -> Result<i64, Refusal> {
    number_of(reference).ok_or_else(|| {
        let rule =
            format!("must be RF, two check digits and a number of at most 15 digits, got {reference:?}");
        Refusal::invalid("reference", rule)
    })
}

/// Reads a reference as people type it: in any case, with spaces. `None` if the check digits are wrong.
pub fn parse(text: &str) -> Option<String> {
    let compact: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_uppercase())
        .collect();
    is_valid(&compact).then_some(compact)
}

/// In groups of four, as banks print it.
pub fn spaced(reference: &str) -> String {
    let mut text = String::with_capacity(reference.len() * 5 / 4);
    for (i, c) in reference.chars().enumerate() {
        if i > 0 && i % 4 == 0 {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

/// A reference in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    pub reference: String,
    /// False where more digits or letters follow, so that it may be the beginning of another reference.
    pub is_whole: bool,
}

/// Every valid reference in a text, ignoring case, spaces and line breaks. Each is tried from each `RF`, the longest
/// first, because a text can go on with digits right after it.
pub fn find_all(text: &str) -> Vec<Mention> {
    // Each character with whether a space is before it.
    let mut compact: Vec<(u8, bool)> = Vec::with_capacity(text.len());
    let mut is_apart = true;
    for byte in text.bytes() {
        if byte.is_ascii_whitespace() {
            is_apart = true;
        } else {
            compact.push((byte.to_ascii_uppercase(), is_apart));
            is_apart = false;
        }
    }
    let letter = |at: usize| compact.get(at).map(|(byte, _)| *byte);
    let mut found: Vec<Mention> = Vec::new();
    for start in 0..compact.len() {
        if letter(start) != Some(b'R') || letter(start + 1) != Some(b'F') {
            continue;
        }
        let end = (start + LENGTH_MAX).min(compact.len());
        let length = compact[start..end]
            .iter()
            .take_while(|(byte, _)| byte.is_ascii_alphanumeric())
            .count();
        // The beginning of a whole reference is none, also where that is somebody else's.
        let mut has_whole = false;
        for length in (5..=length).rev() {
            let bytes: Vec<u8> = compact[start..start + length]
                .iter()
                .map(|(byte, _)| *byte)
                .collect();
            let reference = String::from_utf8_lossy(&bytes).into_owned();
            if !is_valid(&reference) || found.iter().any(|known| known.reference == reference) {
                continue;
            }
            let is_whole = match compact.get(start + length) {
                None => true,
                Some((next, is_apart)) => {
                    !next.is_ascii_alphanumeric() || (*is_apart && next.is_ascii_alphabetic())
                }
            };
            if is_whole || !has_whole {
                found.push(Mention { reference, is_whole });
            }
            has_whole |= is_whole;
        }
    }
    found
}

fn is_valid(compact: &str) -> bool {
    let bytes = compact.as_bytes();
    (5..=LENGTH_MAX).contains(&bytes.len())
        && bytes.starts_with(b"RF")
        && bytes[2..4].iter().all(u8::is_ascii_digit)
        && bytes[4..].iter().all(u8::is_ascii_alphanumeric)
        && remainder(&format!("{}{}", &compact[4..], &compact[..4])) == 1
}

/// By ISO 7064 MOD 97-10: letters count as 10 to 35.
/// Of the number that digits and letters stand for, divided by 97. IBANs use the same.
pub(crate) fn remainder(text: &str) -> u32 {
    text.bytes().fold(0, |remainder, byte| match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        _ => (remainder * 100 + u32::from(byte.saturating_sub(b'A')) + 10) % 97,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_the_standard() {
        // The example that the standard's users publish: RF18 5390 0754 7034.
        assert_eq!(of_number(539_007_547_034), "RF18539007547034");
        assert_eq!(parse("rf18 5390 0754\n7034").as_deref(), Some("RF18539007547034"));
        assert_eq!(parse("RF19539007547034"), None);
        assert_eq!(parse("RF18"), None);
        assert_eq!(number_of("RF18539007547034"), Some(539_007_547_034));
        assert_eq!(number_of("RF18000539007547034"), None);
        assert_eq!(number_of(&of_number(NUMBER_MAX)), Some(NUMBER_MAX));
        assert_eq!(number_of(&of_number(NUMBER_MAX + 1)), None);
        assert_eq!(number_of(&of_number(i64::MAX)), None);
        assert_eq!(spaced("RF18539007547034"), "RF18 5390 0754 7034");
    }

    #[test]
    fn references_are_found_in_what_payers_write() {
        let found = |text: &str| -> Vec<String> {
            let mentions = find_all(text).into_iter();
            mentions.map(|mention| mention.reference).collect()
        };
        assert_eq!(
            found("Dues Marta, ref rf18 5390 0754 7034 thanks"),
            ["RF18539007547034"]
        );
        assert_eq!(found("SVWZ+RF185390\n07547034"), ["RF18539007547034"]);
        assert_eq!(found("ÄRF18539007547034Ä"), ["RF18539007547034"]);
        assert!(found("RF17539007547034").is_empty());
        assert!(found("RFRFRF").is_empty());
        let is_whole = |text: &str| find_all(text)[0].is_whole;
        assert!(is_whole("RF18539007547034"));
        assert!(is_whole("rf18 5390 0754 7034, thanks"));
        assert!(is_whole("RF18 5390 0754 7034 thanks"));
        assert!(!is_whole("RF18 5390 0754 7034 2026"));
        assert!(!is_whole("RF18539007547034X"));
        // RF366 is valid too, and here only the beginning of another.
        assert_eq!(of_number(6), "RF366");
        assert_eq!(found("RF36 6740 2460 1724 5877 588"), ["RF366740246017245877588"]);
    }

    proptest::proptest! {
        #[test]
        fn every_number_is_read_again(number in 1..1_000_000_000_000i64, before in "[a-z ,.]{0,8}") {
            let reference = of_number(number);
            proptest::prop_assert_eq!(number_of(&reference), Some(number));
            let text = format!("{before}/{}/", spaced(&reference).to_lowercase());
            proptest::prop_assert!(find_all(&text).iter().any(|mention| mention.reference == reference), "{}", text);
        }

        /// One wrong digit or two swapped ones are never another valid reference.
        #[test]
        fn a_typing_mistake_is_not_a_reference(number in 1_000..1_000_000_000i64, at in 0usize..4, digit in 0u8..10) {
            let reference = of_number(number);
            let mut bytes = reference.clone().into_bytes();
            let at = bytes.len() - 1 - at;
            bytes[at] = b'0' + digit;
            let wrong = String::from_utf8(bytes).unwrap();
            proptest::prop_assert_eq!(parse(&wrong).is_some(), wrong == reference);
        }
    }
}
