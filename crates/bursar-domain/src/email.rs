//! E-mail addresses and telephone numbers.

pub const EMAIL_MAX: usize = 254;
/// Before the @.
pub const EMAIL_LOCAL_MAX: usize = 64;

/// Accepts `local@domain`: a dot-atom and a host name with at least two labels, in ASCII (other scripts use
/// the `xn--` form). The error reads on after the field's name.
pub fn check_email(raw: &str) -> Result<String, String> {
    let text = raw.trim();
    if text.chars().count() > EMAIL_MAX {
        return Err(format!("must have at most {EMAIL_MAX} characters"));
    }
    let rule = || "must be one e-mail address such as name@example.org".to_owned();
    let (local, domain) = text.rsplit_once('@').ok_or_else(rule)?;
    if local.chars().count() > EMAIL_LOCAL_MAX {
        return Err(format!(
            "must have at most {EMAIL_LOCAL_MAX} characters before the @"
        ));
    }
    let atom = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b))
    };
    let label = |part: &str| {
        (1..=63).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    let host = domain.contains('.') && domain.split('.').all(label);
    // A last label of digits only would be an IP address.
    let named = domain
        .rsplit('.')
        .next()
        .is_some_and(|last| last.bytes().any(|b| b.is_ascii_alphabetic()));
    if local.split('.').all(atom) && host && named {
        Ok(text.to_owned())
    } else {
        Err(rule())
    }
}

/// Accepts a number as people write it. The error reads on after the field's name.
pub fn check_phone(raw: &str) -> Result<String, String> {
    let text = raw.trim();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-. ()/".contains(&b));
    if plain && (3..=15).contains(&digits) && text.len() <= 40 && !text.trim_start_matches('+').contains('+')
    {
        return Ok(text.to_owned());
    }
    Err("must be a telephone number such as +12025550123".to_owned())
}

/// The number in E.164 form, if it has a country code. Messages can only be sent to such numbers.
pub fn e164(phone: &str) -> Option<String> {
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    (phone.starts_with('+') && (7..=15).contains(&digits.len()) && !digits.starts_with('0'))
        .then(|| format!("+{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in [
            "a@example.org",
            "first.last+tag@sub.example.org",
            "x@xn--bcher-kva.example",
            "O'Neil@Example.ORG",
            "!#$%&'*/=?^_`{|}~-@a.bc",
        ] {
            assert_eq!(check_email(good).as_deref(), Ok(good));
        }
        assert_eq!(check_email("  a@example.org ").as_deref(), Ok("a@example.org"));
        for bad in [
            "",
            "a",
            "a@",
            "@example.org",
            "a@b",
            "a@b@example.org",
            "a b@example.org",
            "a.@example.org",
            ".a@example.org",
            "a..b@example.org",
            "a@-x.org",
            "a@x-.org",
            "a@.org",
            "a@example.",
            "a@1.2.3.4",
            "a@[1.2.3.4]",
            "A <a@example.org>",
            "a@example.org,b@example.org",
            "a@exa mple.org",
            "a\n@example.org",
            "é@example.org",
            "a@exämple.org",
        ] {
            assert!(check_email(bad).is_err(), "{bad}");
        }
        let long = |n: usize| {
            format!(
                "{}@{}.example.org",
                "a".repeat(60),
                vec!["b".repeat(60); n].join(".")
            )
        };
        assert!(check_email(&long(2)).is_ok());
        assert!(check_email(&long(3)).unwrap_err().contains("254") || long(3).len() <= 254);
        assert!(check_email(&long(4)).unwrap_err().contains("254"));
        let local = |n: usize| format!("{}@example.org", "a".repeat(n));
        assert!(check_email(&local(64)).is_ok());
        assert_eq!(
            check_email(&local(65)).unwrap_err(),
            "must have at most 64 characters before the @"
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(e164("+1 (202) 555-0123").as_deref(), Some("+12025550123"));
        for (text, ok, sendable) in [
            ("+49 30 1234567", true, true),
            ("030 1234567", true, false),
            ("call me", false, false),
            ("", false, false),
            ("+1+2345", false, true),
        ] {
            assert_eq!(check_phone(text).is_ok(), ok, "{text}");
            assert!(!ok || e164(text).is_some() == sendable, "{text}");
        }
    }
}
