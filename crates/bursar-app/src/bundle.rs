//! The lines of a data bundle that are not resources: organizations, users, roles, policies and the books.

use bursar_db::statements::Link;
use bursar_domain::access::{Policy, Role};
use bursar_domain::account::{Account, AccountType};
use bursar_domain::attachment::{Attachment, ContentType, Part};
use bursar_domain::ids::{
    AccountId, AttachmentId, CampaignId, EntryId, MemberId, OrderId, OrganizationId, PaymentId, ReceiptId,
    ReimbursementId, StatementId, StatementLineId, UserId,
};
use bursar_domain::journal::{Entry, EntryKind, Posting};
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::{Organization, User};
use bursar_domain::receipt::{Method, Receipt, ReceiptStatus};
use bursar_domain::statement::{Balance, LineStatus, Statement, StatementFormat, StatementLine, Target};
use bursar_domain::{Date, Timestamp};
use serde::Serialize;

/// The parent is null when the bundle does not contain it.
pub fn organization_line(organization: &Organization, parent_id: Option<OrganizationId>) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: OrganizationId,
        name: &'a str,
        kind: &'static str,
        parent_id: Option<OrganizationId>,
        currency: &'static str,
        contact_email: Option<&'a str>,
        contact_phone: Option<&'a str>,
        card_issuing: &'static str,
        time_zone: &'a str,
        closed_until: Option<Date>,
        auto_credit: bool,
        auto_reference: bool,
        pay_text: Option<&'a str>,
        iban: Option<&'a str>,
        retention_years: i64,
        autopay_retries: String,
    }
    json(&Line {
        r#type: "organization",
        id: organization.id,
        name: &organization.name,
        kind: organization.kind.as_str(),
        parent_id,
        currency: organization.currency.code(),
        contact_email: organization.contact_email.as_deref(),
        contact_phone: organization.contact_phone.as_deref(),
        card_issuing: organization.card_issuing.as_str(),
        time_zone: organization.time_zone.name(),
        closed_until: organization.closed_until,
        auto_credit: organization.auto_credit,
        auto_reference: organization.auto_reference,
        pay_text: organization.pay_text.as_deref(),
        iban: organization.iban.as_deref(),
        retention_years: organization.retention_years,
        autopay_retries: organization.autopay_retries.to_string(),
    })
}

pub fn user_line(user: &User) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        r#type: &'static str,
        id: UserId,
        email: &'a str,
        name: Option<&'a str>,
    }
    json(&Line {
        r#type: "user",
        id: user.id,
        email: &user.email,
        name: user.name.as_deref(),
    })
}

pub fn role_line(organization_id: OrganizationId, user_id: UserId, role: Role) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        r#type: &'static str,
        organization_id: OrganizationId,
        user_id: UserId,
        role: Role,
    }
    json(&Line {
        r#type: "role",
        organization_id,
        user_id,
        role,
    })
}

pub fn policy_line(organization_id: OrganizationId, policy: Policy) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        r#type: &'static str,
        organization_id: OrganizationId,
        blocked_scopes: bursar_domain::access::ScopeSet,
        max_token_days: Option<u16>,
    }
    json(&Line {
        r#type: "policy",
        organization_id,
        blocked_scopes: policy.blocked_scopes,
        max_token_days: policy.max_token_days,
    })
}

pub fn account_line(organization_id: OrganizationId, account: &Account, currency: Currency) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: AccountId,
        organization_id: OrganizationId,
        name: &'a str,
        account_type: AccountType,
        is_closed: bool,
        budget: Option<Money>,
        statement_columns: &'a [String],
    }
    json(&Line {
        r#type: "account",
        id: account.id,
        organization_id,
        name: &account.name,
        account_type: account.account_type,
        is_closed: account.is_closed,
        budget: account.budget.map(|minor| Money::new(minor, currency)),
        statement_columns: &account.statement_columns,
    })
}

/// A payment, order or chapter that is not in the bundle cannot be named: `references` says which organizations are.
pub fn entry_line(
    organization_id: OrganizationId,
    entry: &Entry,
    currency: Currency,
    references: &mut dyn FnMut(OrganizationId) -> bool,
) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: EntryId,
        organization_id: OrganizationId,
        date: Date,
        recorded_at: Timestamp,
        kind: EntryKind,
        recorder_kind: &'a str,
        recorder_id: Option<&'a str>,
        reverses_id: Option<EntryId>,
        receipt_id: Option<ReceiptId>,
        memo: Option<&'a str>,
        reference: Option<&'a str>,
        payer_name: Option<&'a str>,
        postings: Vec<PostingPart>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct PostingPart {
        account_id: AccountId,
        amount: Money,
        member_id: Option<MemberId>,
        chapter_id: Option<OrganizationId>,
        payment_id: Option<PaymentId>,
        order_id: Option<OrderId>,
        reimbursement_id: Option<ReimbursementId>,
        campaign_id: Option<CampaignId>,
    }
    let part = |posting: &Posting| PostingPart {
        account_id: posting.account,
        amount: Money::new(posting.amount, currency),
        member_id: posting.about.member,
        chapter_id: posting.about.chapter.filter(|id| references(*id)),
        payment_id: posting.about.payment,
        order_id: posting.about.order,
        reimbursement_id: posting.about.reimbursement,
        campaign_id: posting.about.campaign,
    };
    json(&Line {
        r#type: "journalEntry",
        id: entry.id,
        organization_id,
        date: entry.date,
        recorded_at: entry.recorded_at,
        kind: entry.kind,
        recorder_kind: &entry.recorder.kind,
        recorder_id: entry.recorder.id.as_deref(),
        reverses_id: entry.reverses,
        receipt_id: entry.receipt,
        memo: entry.note.memo.as_deref(),
        reference: entry.note.reference.as_deref(),
        payer_name: entry.note.payer_name.as_deref(),
        postings: entry.postings.iter().map(part).collect(),
    })
}

pub fn receipt_line(organization_id: OrganizationId, receipt: &Receipt, currency: Currency) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: ReceiptId,
        organization_id: OrganizationId,
        date: Date,
        recorded_at: Timestamp,
        amount: Money,
        method: Method,
        account_id: AccountId,
        payer_id: Option<MemberId>,
        payer_name: Option<&'a str>,
        reference: Option<&'a str>,
        entry_id: EntryId,
        status: ReceiptStatus,
    }
    json(&Line {
        r#type: "receipt",
        id: receipt.id,
        organization_id,
        date: receipt.date,
        recorded_at: receipt.recorded_at,
        amount: Money::new(receipt.amount, currency),
        method: receipt.method,
        account_id: receipt.account,
        payer_id: receipt.payer,
        payer_name: receipt.payer_name.as_deref(),
        reference: receipt.reference.as_deref(),
        entry_id: receipt.entry,
        status: receipt.status,
    })
}

pub fn attachment_line(organization_id: OrganizationId, attachment: &Attachment) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: AttachmentId,
        organization_id: OrganizationId,
        reimbursement_id: Option<ReimbursementId>,
        entry_id: Option<EntryId>,
        name: &'a str,
        content_type: ContentType,
        size: i64,
        sha256: String,
        created_at: Timestamp,
    }
    json(&Line {
        r#type: "attachment",
        id: attachment.id,
        organization_id,
        reimbursement_id: attachment.subject.reimbursement(),
        entry_id: attachment.subject.entry(),
        name: &attachment.name,
        content_type: attachment.content_type,
        size: attachment.size,
        sha256: attachment.sha256_text(),
        created_at: attachment.created_at,
    })
}

/// Far below the length that a line may have.
pub fn attachment_part_line(
    organization_id: OrganizationId,
    attachment_id: AttachmentId,
    number: i64,
    data: &[u8],
) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line {
        r#type: &'static str,
        organization_id: OrganizationId,
        attachment_id: AttachmentId,
        number: i64,
        data: String,
    }
    json(&Line {
        r#type: "attachmentPart",
        organization_id,
        attachment_id,
        number,
        data: Part::text(data),
    })
}

pub fn statement_line(organization_id: OrganizationId, statement: &Statement, currency: Currency) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: StatementId,
        organization_id: OrganizationId,
        account_id: AccountId,
        format: StatementFormat,
        file_hash: &'a str,
        own_account: Option<&'a str>,
        first_date: Option<Date>,
        last_date: Option<Date>,
        opening_date: Option<Date>,
        opening_balance: Option<Money>,
        closing_date: Option<Date>,
        closing_balance: Option<Money>,
        recorder_kind: &'a str,
        recorder_id: Option<&'a str>,
        imported_at: Timestamp,
    }
    let date = |balance: Option<Balance>| balance.map(|balance| balance.date);
    let amount = |balance: Option<Balance>| balance.map(|balance| Money::new(balance.amount, currency));
    json(&Line {
        r#type: "statement",
        id: statement.id,
        organization_id,
        account_id: statement.account,
        format: statement.format,
        file_hash: &statement.file_hash,
        own_account: statement.own_account.as_deref(),
        first_date: statement.first_date,
        last_date: statement.last_date,
        opening_date: date(statement.opening),
        opening_balance: amount(statement.opening),
        closing_date: date(statement.closing),
        closing_balance: amount(statement.closing),
        recorder_kind: &statement.recorder.kind,
        recorder_id: statement.recorder.id.as_deref(),
        imported_at: statement.imported_at,
    })
}

/// A line of a bank statement, with the entries that account for it.
pub fn statement_line_line(
    organization_id: OrganizationId,
    line: &StatementLine,
    links: &[Link],
    currency: Currency,
) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Line<'a> {
        r#type: &'static str,
        id: StatementLineId,
        organization_id: OrganizationId,
        statement_id: StatementId,
        account_id: AccountId,
        date: Date,
        amount: Money,
        reference: Option<&'a str>,
        end_to_end: Option<&'a str>,
        counterparty_name: Option<&'a str>,
        counterparty_account: Option<&'a str>,
        text: &'a str,
        number: i64,
        status: LineStatus,
        chosen: Vec<String>,
        entries: Vec<LinkPart>,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct LinkPart {
        entry_id: EntryId,
        is_made: bool,
    }
    let part = |link: &Link| LinkPart {
        entry_id: link.entry,
        is_made: link.is_made,
    };
    json(&Line {
        r#type: "statementLine",
        id: line.id,
        organization_id,
        statement_id: line.statement,
        account_id: line.account,
        date: line.date,
        amount: Money::new(line.amount, currency),
        reference: line.reference.as_deref(),
        end_to_end: line.end_to_end.as_deref(),
        counterparty_name: line.counterparty_name.as_deref(),
        counterparty_account: line.counterparty_account.as_deref(),
        text: &line.text,
        number: line.number,
        status: line.status,
        chosen: line.chosen.iter().map(Target::to_string).collect(),
        entries: links.iter().map(part).collect(),
    })
}

/// Cannot fail: ids, texts and numbers always have a JSON form.
fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_default()
}
