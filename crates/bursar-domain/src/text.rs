//! Texts that people write: trimmed, counted in characters, free of control characters.

/// How long a text may be, and whether it may have lines.
#[derive(Clone, Copy, Debug)]
pub struct TextRule {
    /// Characters at least, after trimming.
    pub min: usize,
    /// Characters at most, after trimming.
    pub max: usize,
    /// LF and TAB are allowed, and CRLF becomes LF.
    pub lines: bool,
}

/// Names: 1 to 100 characters.
pub const NAME: TextRule = TextRule {
    min: 1,
    max: 100,
    lines: false,
};
/// Descriptions and notes: up to 2,000 characters, with lines.
pub const NOTE: TextRule = TextRule {
    min: 0,
    max: 2_000,
    lines: true,
};
/// Categories of reimbursements.
pub const CATEGORY: TextRule = TextRule {
    min: 0,
    max: 100,
    lines: false,
};
/// Subjects of reminders.
pub const SUBJECT: TextRule = TextRule {
    min: 0,
    max: 200,
    lines: false,
};
/// Bodies of reminders.
pub const BODY: TextRule = TextRule {
    min: 0,
    max: 10_000,
    lines: true,
};
/// References given by others: a provider's id, a payout reference, a receipt's address.
pub const REFERENCE: TextRule = TextRule {
    min: 1,
    max: 500,
    lines: false,
};

impl TextRule {
    /// The text as it is kept; the error says the rule and reads on after a field's name.
    pub fn check(self, raw: &str) -> Result<String, String> {
        let unified;
        let raw = if self.lines && raw.contains('\r') {
            unified = raw.replace("\r\n", "\n");
            unified.as_str()
        } else {
            raw
        };
        let text = raw.trim();
        let allowed = |c: char| !c.is_control() || (self.lines && matches!(c, '\n' | '\t'));
        if let Some(bad) = text.chars().find(|c| !allowed(*c)) {
            return Err(format!(
                "must not contain the control character U+{:04X}",
                u32::from(bad)
            ));
        }
        let count = text.chars().count();
        if (self.min..=self.max).contains(&count) {
            return Ok(text.to_owned());
        }
        Err(match self.min {
            0 => format!("must have at most {} characters, got {count}", self.max),
            min => format!("must have {min} to {} characters, got {count}", self.max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimmed_and_counted_in_characters() {
        assert_eq!(NAME.check("  Żółć 山田  ").as_deref(), Ok("Żółć 山田"));
        assert_eq!(NAME.check(&"é".repeat(100)).map(|t| t.len()), Ok(200));
        assert!(NAME.check(&"é".repeat(101)).unwrap_err().contains("got 101"));
        assert!(NAME.check(" \t\n ").unwrap_err().contains("1 to 100"));
        assert_eq!(NOTE.check(" ").as_deref(), Ok(""));
    }

    #[test]
    fn control_characters() {
        assert_eq!(NOTE.check("a\r\nb\tc").as_deref(), Ok("a\nb\tc"));
        for bad in ["a\0b", "a\u{7f}b", "a\u{85}b", "a\rb", "a\u{1b}[31m"] {
            assert!(NOTE.check(bad).is_err(), "{bad:?}");
        }
        assert!(NAME.check("a\nb").unwrap_err().contains("U+000A"));
    }
}
