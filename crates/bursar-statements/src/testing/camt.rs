use std::fmt::Write;

use super::{decimal, escaped};
use crate::{Balance, Line, Options, Statement};

pub(super) fn write(statement: &Statement, version: &str, options: &Options) -> String {
    let namespace = format!("urn:iso:std:iso:20022:tech:xsd:camt.053.001.{version}");
    let id = escaped(statement.id.as_deref().unwrap_or("1"));
    let account = escaped(statement.account.as_deref().unwrap_or("DE02120300000000202051"));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"{namespace}\">\n<BkToCstmrStmt>\n<GrpHdr><MsgId>{id}\
         </MsgId><CreDtTm>2026-01-01T00:00:00</CreDtTm></GrpHdr>\n<Stmt>\n<Id>{id}</Id>\
         <CreDtTm>2026-01-01T00:00:00</CreDtTm>\n<Acct><Id><IBAN>{account}</IBAN></Id><Ccy>{}</Ccy></Acct>\n",
        options.currency
    );
    balance(&mut out, "OPBD", statement.opening, options);
    balance(&mut out, "CLBD", statement.closing, options);
    for line in &statement.lines {
        entry(&mut out, line, version, options);
    }
    out.push_str("</Stmt>\n</BkToCstmrStmt>\n</Document>\n");
    out
}

fn balance(out: &mut String, code: &str, balance: Option<Balance>, options: &Options) {
    let Some(balance) = balance else { return };
    let day = balance.day.unwrap_or(jiff::civil::date(2026, 1, 1));
    writeln!(
        out,
        "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{}<Dt><Dt>{day}</Dt></Dt></Bal>",
        amount(balance.amount, options)
    )
    .unwrap();
}

fn amount(amount: i64, options: &Options) -> String {
    let direction = if amount < 0 { "DBIT" } else { "CRDT" };
    format!(
        "<Amt Ccy=\"{}\">{}</Amt><CdtDbtInd>{direction}</CdtDbtInd>",
        options.currency,
        decimal(amount, '.', options)
    )
}

fn entry(out: &mut String, line: &Line, version: &str, options: &Options) {
    let is_old = version < "04";
    let element = |name: &str, value: &Option<String>| match value {
        Some(value) => format!("<{name}>{}</{name}>", escaped(value)),
        None => String::new(),
    };
    let status = if is_old { "BOOK" } else { "<Cd>BOOK</Cd>" };
    write!(
        out,
        "<Ntry>{}<Sts>{status}</Sts><BookgDt><Dt>{}</Dt></BookgDt>",
        amount(line.amount, options),
        line.day
    )
    .unwrap();
    if let Some(day) = line.value_day {
        write!(out, "<ValDt><Dt>{day}</Dt></ValDt>").unwrap();
    }
    out.push_str(&element("AcctSvcrRef", &line.reference));
    out.push_str("<BkTxCd><Prtry><Cd>NTRF</Cd></Prtry></BkTxCd>\n<NtryDtls><TxDtls>");
    let end_to_end = line
        .end_to_end
        .clone()
        .unwrap_or_else(|| "NOTPROVIDED".to_owned());
    write!(out, "<Refs>{}</Refs>", element("EndToEndId", &Some(end_to_end))).unwrap();
    if !is_old {
        out.push_str(&amount(line.amount, options));
    }
    let role = if line.amount < 0 { "Cdtr" } else { "Dbtr" };
    let name = element("Nm", &line.counterparty_name);
    let party = if is_old || name.is_empty() {
        name
    } else {
        format!("<Pty>{name}</Pty>")
    };
    let account = element("IBAN", &line.counterparty_account);
    let party = if party.is_empty() {
        party
    } else {
        format!("<{role}>{party}</{role}>")
    };
    let account = match &account[..] {
        "" => String::new(),
        account => format!("<{role}Acct><Id>{account}</Id></{role}Acct>"),
    };
    write!(out, "<RltdPties>{party}{account}</RltdPties>").unwrap();
    if !line.text.is_empty() {
        let text: Vec<char> = line.text.chars().collect();
        let pieces: String = text
            .chunks(140)
            .map(|piece| format!("<Ustrd>{}</Ustrd>", escaped(&piece.iter().collect::<String>())))
            .collect();
        write!(out, "<RmtInf>{pieces}</RmtInf>").unwrap();
    }
    out.push_str("</TxDtls></NtryDtls></Ntry>\n");
}
