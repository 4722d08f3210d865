//! Creditor references by ISO 11649: `RF`, two check digits and a number of the organization. A payer writes one on a
//! transfer, and it is recognised when the money comes in.

/// The longest reference that the standard allows.
const LENGTH_MAX: usize = 25;

/// For the organization's n-th reference.
pub fn of_number(number: i64) -> String {
    let body = number.to_string();
    let check = 98 - remainder(&format!("{body}RF00"));
    format!("RF{check:02}{body}")
}

/// The number of a reference that [`of_number`] made.
pub fn number_of(reference: &str) -> Option<i64> {
    let number = reference.get(4..)?.parse().ok()?;
    (number > 0 && of_number(number) == reference).then_some(number)
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

/// Every valid reference in a text, ignoring case, spaces and line breaks. Each is tried from each `RF`, the longest
/// first, because a text can go on with digits right after it.
pub fn find_all(text: &str) -> Vec<String> {
    let compact: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| byte.to_ascii_uppercase())
        .collect();
    let mut found: Vec<String> = Vec::new();
    for start in 0..compact.len() {
        if !compact[start..].starts_with(b"RF") {
            continue;
        }
        let end = (start + LENGTH_MAX).min(compact.len());
        let length = compact[start..end]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
        for length in (5..=length).rev() {
            let candidate = String::from_utf8_lossy(&compact[start..start + length]).into_owned();
            if is_valid(&candidate) && !found.contains(&candidate) {
                found.push(candidate);
            }
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
fn remainder(text: &str) -> u32 {
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
        assert_eq!(spaced("RF18539007547034"), "RF18 5390 0754 7034");
    }

    #[test]
    fn references_are_found_in_what_payers_write() {
        let found = |text: &str| find_all(text);
        assert_eq!(
            found("Dues Marta, ref rf18 5390 0754 7034 thanks"),
            ["RF18539007547034"]
        );
        assert_eq!(found("SVWZ+RF185390\n07547034"), ["RF18539007547034"]);
        assert_eq!(found("ÄRF18539007547034Ä"), ["RF18539007547034"]);
        assert!(found("RF17539007547034").is_empty());
        assert!(found("RFRFRF").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn every_number_is_read_again(number in 1..1_000_000_000_000i64, before in "[a-z ,.]{0,8}") {
            let reference = of_number(number);
            proptest::prop_assert_eq!(number_of(&reference), Some(number));
            let text = format!("{before}/{}/", spaced(&reference).to_lowercase());
            proptest::prop_assert!(find_all(&text).contains(&reference), "{}", text);
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
