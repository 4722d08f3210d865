use std::fmt;
use std::str::FromStr;

use crate::Problem;

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Camt053,
    Mt940,
    Ofx,
    Csv,
}

/// What people bring by mistake, by its first bytes.
const OTHERS: [(&[u8], &str); 4] = [
    (b"%PDF", "a PDF"),
    (
        b"PK\x03\x04",
        "a ZIP archive or a spreadsheet (unpack an archive first)",
    ),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet"),
    (b"\x1f\x8b", "compressed (unpack it first)"),
];

impl Format {
    pub const ALL: [Self; 4] = [Self::Camt053, Self::Mt940, Self::Ofx, Self::Csv];

    pub fn name(self) -> &'static str {
        match self {
            Self::Camt053 => "camt053",
            Self::Mt940 => "mt940",
            Self::Ofx => "ofx",
            Self::Csv => "csv",
        }
    }

    /// Tells the format from the first bytes.
    pub fn detect(bytes: &[u8]) -> Result<Self, Problem> {
        let start = opening(bytes);
        if start.contains("camt.05") || start.contains("<BkToCstmr") {
            return Ok(Self::Camt053);
        }
        let upper = start.to_uppercase();
        if upper.contains("OFXHEADER") || upper.contains("<OFX>") {
            return Ok(Self::Ofx);
        }
        let is_swift = |line: &str| line.starts_with(":20:") || line.contains("{4:");
        if start.lines().any(is_swift) {
            return Ok(Self::Mt940);
        }
        for (sign, what) in OTHERS {
            if bytes.starts_with(sign) {
                return Err(Problem::whole(format!(
                    "this is {what}; export the statement as CAMT.053, MT940, OFX or CSV"
                )));
            }
        }
        if start.starts_with('<') || start.starts_with('{') {
            return Err(Problem::whole(
                "this is not a bank statement that can be read; export it as CAMT.053, MT940, OFX or CSV",
            ));
        }
        Ok(Self::Csv)
    }
}

/// The first characters, whatever the encoding: zero bytes and a byte order mark are left out.
fn opening(bytes: &[u8]) -> String {
    let start: Vec<u8> = bytes
        .iter()
        .take(8 << 10)
        .copied()
        .filter(|byte| *byte != 0)
        .collect();
    let text = String::from_utf8_lossy(&start).into_owned();
    text.trim_start_matches(['\u{feff}', '\u{fffd}'])
        .trim_start()
        .to_owned()
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("must be one of {names}, got {text:?}")
            })
    }
}
