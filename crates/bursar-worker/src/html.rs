//! The HTML of an e-mail: text, a table of what is owed, and the sender. Styles are inline, because mail programs drop
//! others; there are no images or scripts.

use std::fmt::Write as _;

use bursar_app::statement::{Standing, Statement, StatementLine};
use bursar_app::texts::{TEXTS, say};
use bursar_domain::text::html_escaped;

const GREY: &str = "#6b6b6b";
const GREEN: &str = "#1b6e4b";
const RED: &str = "#b3261e";
const LINE: &str = "#c8c8c8";
const PARAGRAPH: &str = "margin:0 0 16px";

/// Escapes everything.
pub(super) fn page(body: &str, statement: Option<&Statement>, sender: &str, signature: &[&str]) -> String {
    let mut out = String::with_capacity(4_096 + body.len() * 2);
    out.push_str(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n</head>\n\
         <body style=\"margin:0;padding:24px 16px;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;\
         font-size:16px;line-height:1.5\">\n<div style=\"max-width:600px;margin:0 auto\">\n",
    );
    if !sender.is_empty() {
        let _ = writeln!(
            out,
            "<p style=\"margin:0 0 24px;padding-bottom:12px;border-bottom:1px solid {LINE};font-size:18px;font-weight:600\">{}</p>",
            html_escaped(sender)
        );
    }
    paragraphs(&mut out, body);
    if let Some(statement) = statement {
        let _ = writeln!(out, "<div lang=\"{}\">", TEXTS.language);
        table(&mut out, statement);
        how_to_pay(&mut out, statement);
        pay_link(&mut out, statement);
        out.push_str("</div>\n");
    }
    let footer: Vec<String> = signature.iter().map(|line| html_escaped(line)).collect();
    if !footer.is_empty() {
        let _ = writeln!(
            out,
            "<p style=\"margin:32px 0 0;padding-top:12px;border-top:1px solid {LINE};font-size:13px;color:{GREY}\">{}</p>",
            footer.join("<br>\n")
        );
    }
    out.push_str("</div>\n</body>\n</html>\n");
    out
}

fn paragraphs(out: &mut String, text: &str) {
    for paragraph in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
        let lines: Vec<String> = paragraph.trim_matches('\n').split('\n').map(line).collect();
        let _ = writeln!(out, "<p style=\"{PARAGRAPH}\">{}</p>", lines.join("<br>\n"));
    }
}

const WHAT: &str = "padding:8px 12px 8px 0;text-align:left;vertical-align:top";
const DUE: &str = "padding:8px 12px 8px 0;text-align:left;vertical-align:top;white-space:nowrap";
const SUM: &str = "padding:8px 0;text-align:right;vertical-align:top;white-space:nowrap";

fn table(out: &mut String, statement: &Statement) {
    out.push_str(
        "<table role=\"table\" style=\"width:100%;border-collapse:collapse;margin:8px 0 24px;font-variant-numeric:tabular-nums\">\n",
    );
    let head = format!("border-bottom:2px solid {LINE};font-size:13px;font-weight:600;color:{GREY}");
    let _ = writeln!(
        out,
        "<thead><tr><td style=\"{WHAT};{head}\"></td><th scope=\"col\" style=\"{DUE};{head}\">{}</th>\
         <th scope=\"col\" style=\"{SUM};{head}\">{}</th></tr></thead>",
        TEXTS.due_heading,
        html_escaped(&statement.currency)
    );
    for (standing, lines) in statement.sections() {
        let colour = match standing {
            Standing::Overdue => format!(";color:{RED}"),
            Standing::Due | Standing::NotDue => String::new(),
        };
        let _ = writeln!(
            out,
            "<tbody>\n<tr><th scope=\"rowgroup\" colspan=\"3\" style=\"padding:16px 0 4px;text-align:left{colour}\">{}</th></tr>",
            standing.heading()
        );
        for charge in lines {
            row(out, charge, statement.lines.len() > 1);
        }
        out.push_str("</tbody>\n");
    }
    out.push_str("<tfoot>\n");
    for (what, sum) in statement.sums() {
        let _ = writeln!(
            out,
            "<tr><td style=\"{WHAT};font-weight:600\" colspan=\"2\">{what}</td><td style=\"{SUM};font-weight:600\">{}</td></tr>",
            html_escaped(&sum)
        );
    }
    out.push_str("</tfoot>\n</table>\n");
}

/// Below what a charge is for: whose it is, and its reference where there are several.
fn row(out: &mut String, charge: &StatementLine, with_reference: bool) {
    let line = format!("border-bottom:1px solid {LINE}");
    let reference = charge.reference.as_deref().filter(|_| with_reference);
    let reference = reference.map(|reference| say(TEXTS.reference, &[("reference", reference)]));
    let below: Vec<String> = charge
        .member
        .clone()
        .into_iter()
        .chain(reference)
        .map(|text| html_escaped(&text))
        .collect();
    let below = match below.is_empty() {
        true => String::new(),
        false => format!(
            "<br><span style=\"font-size:13px;color:{GREY}\">{}</span>",
            below.join(" · ")
        ),
    };
    let _ = writeln!(
        out,
        "<tr><td style=\"{WHAT};{line}\">{}{below}</td><td style=\"{DUE};{line}\">{}</td><td style=\"{SUM};{line}\">{}</td></tr>",
        html_escaped(&charge.what),
        html_escaped(charge.due.as_deref().unwrap_or_default()),
        html_escaped(&charge.amount)
    );
}

fn how_to_pay(out: &mut String, statement: &Statement) {
    let told = statement.pay_paragraphs();
    if told.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<p style=\"margin:0 0 4px;font-weight:600\">{}</p>",
        TEXTS.how_to_pay
    );
    paragraphs(out, &told.join("\n\n"));
}

fn pay_link(out: &mut String, statement: &Statement) {
    let Some(link) = &statement.pay_link else {
        return;
    };
    let _ = writeln!(
        out,
        "<p style=\"margin:24px 0 16px\"><a href=\"{}\" style=\"display:inline-block;padding:12px 20px;border-radius:6px;\
         background:{GREEN};color:#ffffff;font-weight:600;text-decoration:none\">{}</a></p>",
        html_escaped(link),
        TEXTS.pay_link
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
        let html = page("<script>alert(1)</script>\n\n\"a\" & b", None, "<b>Club</b>", &[]);
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
