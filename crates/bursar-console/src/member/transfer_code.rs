//! A QR code as an SVG path: one step for each dark square.

use std::fmt::Write as _;

use qrcode::{Color, EcLevel, QrCode};

/// Light squares around a code, so that cameras find it.
const QUIET: usize = 4;

pub(super) struct Drawing {
    /// Squares on a side, with the quiet zone.
    pub(super) side: usize,
    pub(super) path: String,
}

/// `None` for a text that is too long for a code.
pub(super) fn draw(text: &str) -> Option<Drawing> {
    // The rules for payment data ask for level M.
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let mut path = String::new();
    for (i, color) in code.to_colors().into_iter().enumerate() {
        if color == Color::Dark {
            let (x, y) = (i % width + QUIET, i / width + QUIET);
            // Writing to a string does not fail.
            let _ = write!(path, "M{x} {y}h1v1h-1z");
        }
    }
    Some(Drawing {
        side: width + 2 * QUIET,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_finder_squares() {
        let drawing = draw("BCD\n002\n1\nSCT").unwrap();
        assert!(drawing.path.starts_with("M4 4h1v1h-1zM5 4h1"));
        assert_eq!(drawing.side, 21 + 8);
        assert!(draw(&"x".repeat(5_000)).is_none());
    }
}
