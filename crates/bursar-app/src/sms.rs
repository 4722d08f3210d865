//! The text of an SMS, and how many parts it is sent in.

use bursar_db::outbox::Message;

use crate::statement::{Statement, full_text};

/// The longest text that every provider accepts.
pub const TEXT_MAX: usize = 1_600;
/// A longer statement names fewer payments, because each part costs money.
pub const PARTS_MAX: usize = 6;
/// Ends a text that was cut. An ellipsis character would more than double the parts.
const CUT: &str = "...";

/// A statement names as many payments as [`PARTS_MAX`] parts hold, and always the total; how to pay if there is room. The officer's own text is
/// not shortened for that, only to keep within [`TEXT_MAX`] characters.
pub fn text(message: &Message) -> String {
    let body = message.body.as_str();
    let Some(owed) = message.owed.as_deref().and_then(Statement::from_json) else {
        return cut(&full_text(message), TEXT_MAX);
    };
    let with = |shown: usize| match body {
        "" => owed.short_text(shown),
        body => format!("{body}\n\n{}", owed.short_text(shown)),
    };
    let fits = |text: &str| segments(text) <= PARTS_MAX && text.chars().count() <= TEXT_MAX;
    let whole = with(owed.lines.len());
    if fits(&whole) {
        let how_to_pay = owed.how_to_pay.as_deref().map(|how| format!("{whole}\n\n{how}"));
        return how_to_pay.filter(|text| fits(text)).unwrap_or(whole);
    }
    // Binary search: `few` lines fit, `many` do not.
    let (mut few, mut many) = (0, owed.lines.len());
    while many - few > 1 {
        let middle = few.midpoint(many);
        match fits(&with(middle)) {
            true => few = middle,
            false => many = middle,
        }
    }
    let short = with(few);
    if short.chars().count() <= TEXT_MAX {
        return short;
    }
    let total = owed.short_text(0);
    let body = cut(body, TEXT_MAX.saturating_sub(total.chars().count() + 2));
    format!("{body}\n\n{total}")
}

/// Cuts at a space if one is near, and never inside a character.
fn cut(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.to_owned();
    }
    let kept = characters_max.saturating_sub(CUT.len());
    let end = text.char_indices().nth(kept).map_or(text.len(), |(at, _)| at);
    let kept = &text[..end];
    let words = kept
        .rfind(char::is_whitespace)
        .filter(|space| *space > kept.len() / 2);
    let kept = kept[..words.unwrap_or(kept.len())].trim_end();
    format!("{kept}{CUT}")
}

/// The characters of GSM 03.38 that take one septet, and those that take two.
const GSM: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const GSM_DOUBLE: &str = "\u{c}^{}\\[~]|€";

/// A text in GSM 03.38 has 160 septets in one part, or 153 in each of several. Any other text has 70 or 67 UTF-16
/// units. A character that takes two is never split.
pub fn segments(text: &str) -> usize {
    let septets = |c: char| match (GSM.contains(c), GSM_DOUBLE.contains(c)) {
        (true, _) => Some(1),
        (false, true) => Some(2),
        (false, false) => None,
    };
    let widths: Option<Vec<usize>> = text.chars().map(septets).collect();
    let (widths, alone, each) = match widths {
        Some(widths) => (widths, 160, 153),
        None => (text.chars().map(char::len_utf16).collect(), 70, 67),
    };
    if widths.iter().sum::<usize>() <= alone {
        return 1;
    }
    let (mut parts, mut used) = (1, 0);
    for width in widths {
        if used + width > each {
            (parts, used) = (parts + 1, 0);
        }
        used += width;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statement::{Standing, StatementLine};
    use bursar_domain::ids::Id;
    use bursar_domain::reminder::Method;

    #[test]
    fn parts_of_an_sms() {
        for (text, parts) in [
            (String::new(), 1),
            ("a".repeat(160), 1),
            ("a".repeat(161), 2),
            ("a".repeat(306), 2),
            ("a".repeat(307), 3),
            ("€".repeat(80), 1),
            ("€".repeat(81), 2),
            // 152 septets, and a character of two that does not fit into the part's last one.
            (format!("{}€{}", "a".repeat(152), "a".repeat(152)), 3),
            ("é".repeat(160), 1),
            ("ż".repeat(70), 1),
            ("ż".repeat(71), 2),
            ("ż".repeat(134), 2),
            ("ż".repeat(135), 3),
            ("😀".repeat(35), 1),
            ("😀".repeat(36), 2),
            ("😀".repeat(66), 2),
            ("😀".repeat(67), 3),
        ] {
            assert_eq!(segments(&text), parts, "{text}");
        }
    }

    fn message(body: &str, payments: usize, what: &str) -> Message {
        let line = |n: usize| StatementLine {
            what: format!("{what} {n}"),
            due: None,
            amount: "12.50".to_owned(),
            standing: Standing::Due,
            reference: None,
            member: None,
        };
        let statement = Statement {
            currency: "USD".to_owned(),
            total: "4711.00".to_owned(),
            overdue: None,
            to_pay_now: None,
            reference: None,
            how_to_pay: None,
            pay_link: None,
            lines: (1..=payments).map(line).collect(),
        };
        Message {
            organization: Id::from_bits(1),
            id: Id::from_bits(1),
            job: [0; 16],
            recipient: [0; 16],
            method: Method::Sms,
            address: "+12025550100".to_owned(),
            name: String::new(),
            subject: "S".to_owned(),
            body: body.to_owned(),
            owed: (payments > 0).then(|| statement.to_json()),
            headers: String::new(),
            segments: None,
        }
    }

    #[test]
    fn a_statement_is_bounded_and_keeps_its_total() {
        for (body, what) in [
            ("", "Dues"),
            ("Please pay.", "Dues of the year"),
            ("Bitte zahlen, Łoś!", "Beitrag für das Jahr, Łoś 🚣"),
        ] {
            for payments in [1, 2, 5, 6, 20, 100, 5_000] {
                let message = message(body, payments, what);
                let text = text(&message);
                assert!(segments(&text) <= PARTS_MAX, "{} parts: {text}", segments(&text));
                assert!(text.starts_with(body) && text.contains("4711.00 USD"), "{text}");
                let told = text.lines().filter(|line| line.ends_with("12.50 USD")).count();
                let is_whole = told == payments;
                assert!(
                    is_whole || text.contains(&format!("- and {} more\n", payments - told)),
                    "{text}"
                );
                assert_eq!(is_whole, segments(&full_text(&message)) <= PARTS_MAX, "{text}");
            }
        }
        let long = text(&message("Hello.", 3, &"x".repeat(1_000)));
        assert_eq!(long, "Hello.\n\nTotal owed: 4711.00 USD (3 payments)");
    }

    #[test]
    fn an_officers_words_stay_whole_as_long_as_a_provider_takes_them() {
        let words = "A word or two. ".repeat(100);
        let said = text(&message(words.trim(), 40, "Dues"));
        assert!(said.starts_with(words.trim()) && said.ends_with("Total owed: 4711.00 USD (40 payments)"));
        for body in [
            "é".repeat(10_000),
            "é é é é é é é. ".repeat(1_000),
            "😀".repeat(1_600),
        ] {
            for payments in [0, 40] {
                let said = text(&message(&body, payments, "Dues"));
                assert!(said.chars().count() <= TEXT_MAX, "{}", said.chars().count());
                let beginning = said.split("\n\nTotal").next().unwrap();
                let beginning = beginning.strip_suffix(CUT).unwrap_or(beginning);
                assert!(body.starts_with(beginning) && beginning.chars().count() > 1_000);
                assert_eq!(
                    said.ends_with("Total owed: 4711.00 USD (40 payments)"),
                    payments > 0
                );
            }
        }
        assert_eq!(text(&message("Short.", 0, "")), "Short.");
    }
}
