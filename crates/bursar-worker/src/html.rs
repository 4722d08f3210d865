//! The HTML of an e-mail: text, a table of what is owed, and the sender. Styles are inline, because mail programs drop
//! others; there are no images or scripts.

use std::fmt::Write as _;

use bursar_app::statement::Statement;
use bursar_domain::text::html_escaped;

/// Escapes everything.
pub(super) fn page(body: &str, statement: Option<&Statement>, sender: &str) -> String {
    let mut out = String::with_capacity(2_048 + body.len() * 2);
    out.push_str(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n</head>\n\
         <body style=\"margin:0;padding:24px 16px;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;\
         font-size:16px;line-height:1.5\">\n<div style=\"max-width:560px;margin:0 auto\">\n",
    );
    for paragraph in body.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let lines: Vec<String> = paragraph.trim_matches('\n').split('\n').map(line).collect();
        let _ = writeln!(out, "<p style=\"margin:0 0 16px\">{}</p>", lines.join("<br>\n"));
    }
    if let Some(statement) = statement {
        table(&mut out, statement);
    }
    if !sender.is_empty() {
        let _ = writeln!(
            out,
            "<p style=\"margin:32px 0 0;padding-top:12px;border-top:1px solid #bbb;font-size:13px;color:#767676\">{}</p>",
            html_escaped(sender)
        );
    }
    out.push_str("</div>\n</body>\n</html>\n");
    out
}

fn table(out: &mut String, statement: &Statement) {
    const CELL: &str =
        "padding:8px 12px 8px 0;border-bottom:1px solid #ccc;text-align:left;vertical-align:top";
    const SUM: &str =
        "padding:8px 0;border-bottom:1px solid #ccc;text-align:right;vertical-align:top;white-space:nowrap";
    const HEAD: &str = "font-size:13px;font-weight:600;color:#767676";
    out.push_str(
        "<table role=\"table\" style=\"width:100%;border-collapse:collapse;margin:8px 0 16px;font-variant-numeric:tabular-nums\">\n",
    );
    let _ = writeln!(
        out,
        "<thead><tr><th style=\"{CELL};{HEAD}\">What is owed</th><th style=\"{CELL};{HEAD}\">Due</th>\
         <th style=\"{SUM};{HEAD}\">{}</th></tr></thead>\n<tbody>",
        html_escaped(&statement.currency)
    );
    for owed in &statement.lines {
        let _ = writeln!(
            out,
            "<tr><td style=\"{CELL}\">{}</td><td style=\"{CELL};white-space:nowrap\">{}</td><td style=\"{SUM}\">{}</td></tr>",
            html_escaped(&owed.what),
            html_escaped(owed.due.as_deref().unwrap_or_default()),
            html_escaped(&owed.amount)
        );
    }
    let _ = writeln!(
        out,
        "</tbody>\n<tfoot><tr><td style=\"{CELL};border-bottom:0;font-weight:600\" colspan=\"2\">Total</td>\
         <td style=\"{SUM};border-bottom:0;font-weight:600\">{}</td></tr></tfoot>\n</table>",
        html_escaped(&statement.total)
    );
}

/// Turns web addresses into links: mail programs do not do it reliably for HTML.
fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(start) = first_link(rest) {
        let (before, from) = rest.split_at(start);
        let end = from
            .find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"'))
            .unwrap_or(from.len());
        // Punctuation that ends the sentence is not part of the address.
        let link = from[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '\'']);
        out.push_str(&html_escaped(before));
        let link_text = html_escaped(link);
        let _ = write!(out, "<a href=\"{link_text}\">{link_text}</a>");
        rest = &from[link.len()..];
    }
    out.push_str(&html_escaped(rest));
    out
}

fn first_link(text: &str) -> Option<usize> {
    let https = text.find("https://");
    let http = text.find("http://");
    https.into_iter().chain(http).min()
}

#[cfg(test)]
mod tests {
    use super::{line, page};

    #[test]
    fn what_people_write_stays_text() {
        let html = page("<script>alert(1)</script>\n\n\"a\" & b", None, "<b>Club</b>");
        assert!(!html.contains("<script>") && !html.contains("<b>"), "{html}");
        assert!(html.contains("&quot;a&quot; &amp; b"));
    }

    #[test]
    fn web_addresses_are_links() {
        assert_eq!(
            line("Pay at https://example.org/p?a=1&b=2. Thanks"),
            "Pay at <a href=\"https://example.org/p?a=1&amp;b=2\">https://example.org/p?a=1&amp;b=2</a>. Thanks"
        );
        assert_eq!(
            line("(http://a.example) https://\"onmouseover=x"),
            "(<a href=\"http://a.example\">http://a.example</a>) <a href=\"https://\">https://</a>&quot;onmouseover=x"
        );
        assert_eq!(line("no link"), "no link");
    }
}
