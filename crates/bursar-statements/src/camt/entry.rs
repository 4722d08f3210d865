//! One entry (`Ntry`) of a CAMT statement: one line, or the parts of a batch.

use super::{account_of, amount, day, is_credit, missing};
use crate::number::{minor_units, quoted};
use crate::text::{joined, reference, some_text, tidy};
use crate::xml::Element;
use crate::{Line, Options, Problem};

/// The texts of a batch that cannot be split are joined up to this length.
const BATCH_TEXT_MAX: usize = 1_000;

/// The width of unstructured remittance information.
const TEXT_WIDTH: usize = 140;

/// The lines of a booked entry. None for an entry that is not booked.
pub(super) fn lines(
    entry: &Element,
    own_account: Option<&str>,
    options: &Options,
) -> Result<Option<Vec<Line>>, Problem> {
    // The code is the text of the element up to 001.03, and one level below since 001.04.
    let status = entry.value(&["Sts", "Cd"]).or_else(|| entry.value(&["Sts"]));
    match status {
        // A statement has booked entries only, unless it says otherwise.
        Some("BOOK") | None => {}
        Some("PDNG" | "INFO" | "FUTR") => return Ok(None),
        Some(other) => {
            let reason = format!(
                "the status {} is not known; it must be BOOK, PDNG, INFO or FUTR",
                quoted(other)
            );
            return Err(Problem::at(entry.line, reason));
        }
    }
    let is_credit = is_credit(entry)?;
    let amount = amount(entry, options)?;
    let value_day = day(entry, "ValDt")?;
    let whole = Line {
        day: day(entry, "BookgDt")?
            .or(value_day)
            .ok_or_else(|| missing(entry, "booking day (BookgDt)"))?,
        value_day,
        amount: if is_credit { amount } else { -amount },
        reference: entry.value(&["AcctSvcrRef"]).and_then(reference),
        end_to_end: None,
        counterparty_name: None,
        counterparty_account: None,
        text: entry.value(&["AddtlNtryInf"]).map(tidy).unwrap_or_default(),
        place: entry.line,
    };
    let is_reversal = matches!(entry.value(&["RvslInd"]), Some("true" | "1"));
    let details: Vec<&Element> = entry
        .all("NtryDtls")
        .flat_map(|details| details.all("TxDtls"))
        .collect();
    // The parties of a reversal keep the roles of the original, in which the money went the other way.
    let is_theirs_debtor = is_credit != is_reversal;
    let described = |detail: &&Element| describe(&whole, detail, is_theirs_debtor, own_account);
    match &details[..] {
        [] => Ok(Some(vec![whole])),
        [only] => Ok(Some(vec![described(only)])),
        several => {
            let mut parts: Vec<Line> = several.iter().map(described).collect();
            let amounts: Option<Vec<i64>> = several
                .iter()
                .map(|part| part_amount(part, is_credit, options))
                .collect();
            match amounts {
                Some(amounts)
                    if amounts.iter().map(|a| i128::from(*a)).sum::<i128>() == whole.amount.into() =>
                {
                    for ((part, detail), amount) in parts.iter_mut().zip(several).zip(amounts) {
                        part.amount = amount;
                        part.place = detail.line;
                    }
                    name_parts(&mut parts, several, whole.reference.as_deref());
                    Ok(Some(parts))
                }
                _ => Ok(Some(vec![together(whole, &parts)])),
            }
        }
    }
}

/// The signed amount of a part of a batch, where the file has it in the currency of the account.
fn part_amount(part: &Element, is_entry_credit: bool, options: &Options) -> Option<i64> {
    let paths: [&[&'static str]; 3] = [
        &["Amt"],
        &["AmtDtls", "TxAmt", "Amt"],
        &["AmtDtls", "InstdAmt", "Amt"],
    ];
    let amount = paths.iter().find_map(|path| part.find(path))?;
    if amount
        .attribute("Ccy")
        .is_some_and(|currency| currency != options.currency)
    {
        return None;
    }
    let amount = minor_units(amount.text.trim(), '.', options).ok()?;
    let is_credit = match part.value(&["CdtDbtInd"]) {
        Some("CRDT") => true,
        Some("DBIT") => false,
        _ => is_entry_credit,
    };
    Some(if is_credit { amount } else { -amount })
}

/// Gives each part of a batch a reference that no other part has: its own where all differ, else that of the entry with
/// the number of the part, which is the same whenever the bank sends the entry again.
fn name_parts(parts: &mut [Line], details: &[&Element], entry_reference: Option<&str>) {
    let own: Vec<Option<String>> = details
        .iter()
        .map(|part| part.value(&["Refs", "AcctSvcrRef"]).and_then(reference))
        .collect();
    let mut different: Vec<_> = own.iter().flatten().collect();
    different.sort_unstable();
    different.dedup();
    let are_names = different.len() == parts.len();
    for (at, (part, own)) in parts.iter_mut().zip(own).enumerate() {
        part.reference = match entry_reference {
            _ if are_names => own,
            Some(reference) => Some(format!("{reference}/{}", at + 1)),
            None => None,
        };
    }
}

/// The line of a batch whose parts have no amounts: what they all agree on.
fn together(whole: Line, parts: &[Line]) -> Line {
    let agreed = |of: fn(&Line) -> &Option<String>| {
        let first = parts.first().and_then(|part| of(part).clone());
        first.filter(|first| parts.iter().all(|part| of(part).as_ref() == Some(first)))
    };
    let mut texts = Vec::new();
    let mut length = 0;
    for part in parts {
        length += part.text.len() + 1;
        if length > BATCH_TEXT_MAX {
            break;
        }
        if !part.text.is_empty() && texts.last() != Some(&part.text.as_str()) {
            texts.push(part.text.as_str());
        }
    }
    let text = if texts.is_empty() {
        whole.text.clone()
    } else {
        texts.join(" ")
    };
    Line {
        counterparty_name: agreed(|part| &part.counterparty_name),
        counterparty_account: agreed(|part| &part.counterparty_account),
        end_to_end: agreed(|part| &part.end_to_end),
        text,
        ..whole
    }
}

/// The line with what a transaction of the entry says about it.
fn describe(whole: &Line, detail: &Element, is_theirs_debtor: bool, own_account: Option<&str>) -> Line {
    let debtor = || Party::new(detail, &["Dbtr", "UltmtDbtr"], "DbtrAcct");
    let creditor = || Party::new(detail, &["Cdtr", "UltmtCdtr"], "CdtrAcct");
    let (theirs, other) = if is_theirs_debtor {
        (debtor(), creditor())
    } else {
        (creditor(), debtor())
    };
    let is_own = |party: &Party| own_account.is_some() && party.account.as_deref() == own_account;
    // Some banks name the counterparty in the wrong role. Without an account it could be the account's own holder.
    let is_absent = theirs.name.is_none() && theirs.account.is_none() && other.account.is_some();
    let party = if is_own(&theirs) || is_absent && !is_own(&other) {
        other
    } else {
        theirs
    };
    let text = remittance(detail)
        .or_else(|| detail.value(&["AddtlTxInf"]).map(tidy))
        .unwrap_or_else(|| whole.text.clone());
    Line {
        reference: whole
            .reference
            .clone()
            .or_else(|| detail.value(&["Refs", "AcctSvcrRef"]).and_then(reference)),
        end_to_end: detail.value(&["Refs", "EndToEndId"]).and_then(reference),
        counterparty_name: party.name,
        counterparty_account: party.account,
        text,
        ..whole.clone()
    }
}

struct Party {
    name: Option<String>,
    account: Option<String>,
}

impl Party {
    fn new(detail: &Element, roles: &[&'static str; 2], account: &'static str) -> Self {
        // A party is below `Pty` since 001.04, or is a bank.
        let name = roles.iter().find_map(|role| {
            let party = detail.find(&["RltdPties", role])?;
            party
                .value(&["Nm"])
                .or_else(|| party.value(&["Pty", "Nm"]))
                .or_else(|| party.value(&["Agt", "FinInstnId", "Nm"]))
        });
        Self {
            name: name.and_then(some_text),
            account: detail.find(&["RltdPties", account]).and_then(account_of),
        }
    }
}

/// What the payment is for: free text, then the structured references.
fn remittance(detail: &Element) -> Option<String> {
    let mut free = Vec::new();
    let mut structured = Vec::new();
    for information in detail.all("RmtInf") {
        free.extend(information.all("Ustrd").map(|text| text.text.as_str()));
        for part in information.all("Strd") {
            let paths: [&[&'static str]; 2] = [&["RfrdDocInf", "Nb"], &["CdtrRefInf", "Ref"]];
            structured.extend(paths.iter().filter_map(|path| part.value(path)));
            structured.extend(part.all("AddtlRmtInf").map(|text| text.text.as_str()));
        }
    }
    let free = joined(free, TEXT_WIDTH);
    some_text(&format!("{free} {}", structured.join(" ")))
}
