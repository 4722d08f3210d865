//! How many rows a page of a list holds.

/// 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimit(u16);

impl PageLimit {
    pub const DEFAULT: Self = Self(50);
    pub const MAX: Self = Self(100);

    /// The error reads on after the parameter's name.
    pub fn parse(raw: &str) -> Result<Self, &'static str> {
        let rule = "must be an integer from 1 to 100";
        let plain = !raw.is_empty()
            && raw.len() <= 3
            && raw.bytes().all(|b| b.is_ascii_digit())
            && !raw.starts_with('0');
        match raw.parse() {
            Ok(n @ 1..=100) if plain => Ok(Self(n)),
            _ => Err(rule),
        }
    }

    pub const fn rows(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        for (raw, rows) in [("1", 1), ("50", 50), ("100", 100)] {
            assert_eq!(PageLimit::parse(raw).map(PageLimit::rows), Ok(rows));
        }
        for raw in [
            "0",
            "101",
            "-1",
            "1.0",
            "",
            " 1",
            "+1",
            "1e1",
            "٣",
            "007",
            "99999999999999999999",
        ] {
            assert!(PageLimit::parse(raw).is_err(), "{raw}");
        }
    }
}
