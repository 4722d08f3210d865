//! A receipt as a letter.

use bursar_documents::{Align, Block, Column, Letter, Row, Table, Unset};
use bursar_domain::money::Money;
use bursar_domain::receipt::ReceiptStatus;

use super::OwnReceipt;
use crate::texts::{TEXTS, say};

/// A PDF that can be printed and filed.
pub fn pdf(receipt: &OwnReceipt) -> Result<Vec<u8>, Unset> {
    bursar_documents::pdf(&letter(receipt))
}

fn with_currency(money: Money) -> String {
    format!("{money} {}", money.currency)
}

fn letter(own: &OwnReceipt) -> Letter {
    let (receipt, organization) = (&own.recorded.receipt, &own.organization);
    let received = say(
        TEXTS.received,
        &[
            ("organization", &organization.name),
            ("name", &own.member.name()),
            ("amount", &with_currency(own.recorded.amount)),
            ("date", &receipt.date.to_string()),
        ],
    );
    let mut blocks = vec![Block::Paragraph(received)];
    let returned = match receipt.status {
        ReceiptStatus::Recorded => None,
        ReceiptStatus::Bounced => Some(TEXTS.receipt_returned),
        ReceiptStatus::Reversed => Some(TEXTS.receipt_reversed),
    };
    blocks.extend(returned.map(|text| Block::Paragraph(text.to_owned())));
    if own.recorded.refunded.minor > 0 {
        let refunded = with_currency(own.recorded.refunded);
        blocks.push(Block::Paragraph(say(TEXTS.refunded, &[("amount", &refunded)])));
    }
    blocks.push(Block::Table(paid(own)));
    let mut facts = vec![
        (TEXTS.date.to_owned(), receipt.date.to_string()),
        (TEXTS.receipt_number.to_owned(), receipt.id.to_string()),
        (
            TEXTS.method.to_owned(),
            (TEXTS.method_of)(receipt.method).to_owned(),
        ),
    ];
    let reference = receipt.reference.clone();
    facts.extend(reference.map(|reference| (TEXTS.reference_word.to_owned(), reference)));
    let mut sender = vec![organization.name.clone()];
    sender.extend(organization.contact_email.clone());
    Letter {
        language: TEXTS.language.to_owned(),
        title: TEXTS.receipt.to_owned(),
        sender,
        recipient: [Some(own.member.name()), own.member.email.clone()]
            .into_iter()
            .flatten()
            .collect(),
        facts,
        blocks,
        footer: TEXTS.page.to_owned(),
        missing: TEXTS.missing.to_owned(),
    }
}

fn paid(own: &OwnReceipt) -> Table {
    let row = |what: String, amount: Money, is_bold| Row {
        cells: vec![what.into(), amount.to_string().into()],
        is_bold,
    };
    let mut rows: Vec<Row> = own
        .paid
        .iter()
        .map(|(what, whose, amount)| {
            let what = match whose {
                Some(member) => say(TEXTS.for_member, &[("what", what), ("member", member)]),
                None => what.clone(),
            };
            row(what, *amount, false)
        })
        .collect();
    if own.recorded.credit.minor > 0 {
        rows.push(row(TEXTS.as_credit.to_owned(), own.recorded.credit, false));
    }
    if let Some(other) = &own.recorded.counts_for {
        rows.push(row(other.clone(), own.recorded.amount, false));
    }
    rows.push(row(TEXTS.total.to_owned(), own.recorded.amount, true));
    let amount = format!("{} {}", TEXTS.amount, own.organization.currency);
    let column = |heading: &str, align, is_wide| Column {
        heading: heading.to_owned(),
        align,
        is_wide,
    };
    Table {
        columns: vec![
            column(TEXTS.description, Align::Left, true),
            column(&amount, Align::Right, false),
        ],
        rows,
    }
}
