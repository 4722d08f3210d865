use std::fmt::Write;

use super::{decimal, escaped};
use crate::{Line, Options, Statement};

/// OFX 1 has values without closing tags, in Windows-1252; OFX 2 is XML in UTF-8.
pub(super) fn write(statement: &Statement, is_xml: bool, options: &Options) -> Vec<u8> {
    let header = if is_xml {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?OFX OFXHEADER=\"200\" VERSION=\"211\" SECURITY=\"NONE\" \
         OLDFILEUID=\"NONE\" NEWFILEUID=\"NONE\"?>\n"
    } else {
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE\n\
         OLDFILEUID:NONE\nNEWFILEUID:NONE\n\n"
    };
    let value = |name: &str, value: &str| {
        let end = if is_xml {
            format!("</{name}>")
        } else {
            String::new()
        };
        format!("<{name}>{}{end}\n", escaped(value))
    };
    let status = format!(
        "<STATUS>\n{}{}</STATUS>\n",
        value("CODE", "0"),
        value("SEVERITY", "INFO")
    );
    let mut out = format!(
        "{header}<OFX>\n<SIGNONMSGSRSV1><SONRS>\n{status}{}{}</SONRS></SIGNONMSGSRSV1>\n<BANKMSGSRSV1><STMTTRNRS>\n{}{status}\
         <STMTRS>\n{}<BANKACCTFROM>\n{}{}{}</BANKACCTFROM>\n<BANKTRANLIST>\n{}{}",
        value("DTSERVER", "20260101000000"),
        value("LANGUAGE", "ENG"),
        value("TRNUID", "0"),
        value("CURDEF", &options.currency),
        value("BANKID", "1"),
        value("ACCTID", statement.account.as_deref().unwrap_or("202051")),
        value("ACCTTYPE", "CHECKING"),
        value("DTSTART", "20260101"),
        value("DTEND", "20261231"),
    );
    for line in &statement.lines {
        transaction(&mut out, line, &value, options);
    }
    out.push_str("</BANKTRANLIST>\n");
    if let Some(closing) = statement.closing {
        let day = closing.day.unwrap_or(jiff::civil::date(2026, 1, 1));
        let amount = value("BALAMT", &signed(closing.amount, options));
        let day = value("DTASOF", &day.strftime("%Y%m%d").to_string());
        write!(out, "<LEDGERBAL>\n{amount}{day}</LEDGERBAL>\n").unwrap();
    }
    out.push_str("</STMTRS></STMTTRNRS></BANKMSGSRSV1>\n</OFX>\n");
    if is_xml {
        out.into_bytes()
    } else {
        encoding_rs::WINDOWS_1252.encode(&out).0.into_owned()
    }
}

fn signed(amount: i64, options: &Options) -> String {
    let sign = if amount < 0 { "-" } else { "" };
    format!("{sign}{}", decimal(amount, '.', options))
}

fn transaction(out: &mut String, line: &Line, value: &dyn Fn(&str, &str) -> String, options: &Options) {
    out.push_str("<STMTTRN>\n");
    out.push_str(&value(
        "TRNTYPE",
        if line.amount < 0 { "DEBIT" } else { "CREDIT" },
    ));
    out.push_str(&value(
        "DTPOSTED",
        &line.day.strftime("%Y%m%d120000[-5:EST]").to_string(),
    ));
    if let Some(day) = line.value_day {
        out.push_str(&value("DTAVAIL", &day.strftime("%Y%m%d").to_string()));
    }
    out.push_str(&value("TRNAMT", &signed(line.amount, options)));
    out.push_str(&value("FITID", line.reference.as_deref().unwrap_or("0")));
    for (name, of) in [("REFNUM", &line.end_to_end), ("NAME", &line.counterparty_name)] {
        if let Some(of) = of {
            out.push_str(&value(name, of));
        }
    }
    if let Some(account) = &line.counterparty_account {
        let number = format!("{}{}", value("ACCTID", account), value("ACCTTYPE", "CHECKING"));
        write!(
            out,
            "<BANKACCTTO>\n{}{number}</BANKACCTTO>\n",
            value("BANKID", "1")
        )
        .unwrap();
    }
    out.push_str(&value("MEMO", &line.text));
    out.push_str("</STMTTRN>\n");
}
