//! One line of a statement: what it is, and everything that can be done with it.

mod acts;

use askama::Template;
use bursar_app::desk::{self, ChargeQuery, Charges, Filter, MemberLine};
use bursar_app::statements::{self, CHANGE, ShownLine, reconciliation};
use bursar_app::{View, books, resources, search};
use bursar_domain::account::{Account, AccountType};
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::ids::{EntryId, Id, MemberId, StatementLineId, kind};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::statement::LineStatus;

pub(crate) use acts::send;

use super::rows::{self, LineRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::pages::rows::{ChargeRow, EntryRow};
use crate::words;

/// Parts that a line is split into on this page.
pub(super) const PARTS: [&str; 4] = ["1", "2", "3", "4"];
/// Entries this many days around a line may account for it.
const DAYS_AROUND: i64 = 90;
const FOUND_MAX: usize = 8;

const SHOWN: &[&str] = &[];

/// A part of a line, as it was typed.
struct PartRow {
    number: &'static str,
    /// The name of the member's field.
    field: String,
    amount: String,
    member: String,
    account: String,
}

/// The member whose money it may be.
struct Payer {
    id: MemberId,
    name: String,
    owes: String,
    charges: Vec<ChargeRow>,
}

#[derive(Template)]
#[template(path = "bank/line.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    row: LineRow,
    account: String,
    from: String,
    reference: String,
    statement: String,
    amount: String,
    is_open: bool,
    may_change: bool,
    entries: Vec<EntryRow>,
    /// What was typed to find a member.
    sought: String,
    found: Vec<(MemberId, String, String)>,
    is_unknown: bool,
    payer: Option<Payer>,
    recorded: Vec<(EntryId, String)>,
    accounts: Targets,
    split: Vec<PartRow>,
    is_split_open: bool,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id: StatementLineId = asking.id::<kind::StatementLine>(0)?;
    let shown = statements::line(view, id)?;
    let (known, currency) = books::entries::accounts(view)?;
    let made = books::entries::some(view, &shown.entries)?;
    let is_open = shown.line.status == LineStatus::Open;
    let may_change = frame.may(&CHANGE);
    let dash = || "\u{2013}".to_owned();
    let line = &shown.line;
    let sought = form.or("payer", asking.query("member")).to_owned();
    let (mut found, mut payer, mut recorded) = (Vec::new(), None, Vec::new());
    if is_open && may_change {
        if line.amount > 0 {
            (found, payer) = seek(view, frame, &shown, &sought)?;
        }
        recorded = like(view, &shown)?;
    }
    let row = rows::lines(view, std::slice::from_ref(&shown))?.pop();
    let missing = || bursar_domain::Refusal::missing("there is no such line");
    let page = Page {
        frame,
        form,
        row: row.ok_or_else(missing)?,
        account: known.get(&line.account).map_or_else(dash, super::account_name),
        from: line.counterparty_account.clone().unwrap_or_else(dash),
        reference: line
            .reference
            .clone()
            .or_else(|| line.end_to_end.clone())
            .unwrap_or_else(dash),
        statement: line.statement.to_string(),
        amount: words::money_in(Money::new(line.amount, currency)),
        is_open,
        may_change,
        entries: crate::pages::rows::entries(&made, &known, currency),
        is_unknown: found.is_empty() && payer.is_none() && !sought.is_empty(),
        sought: match Id::<kind::Member>::parse(&sought) {
            Some(_) => String::new(),
            None => sought,
        },
        found,
        payer,
        recorded,
        accounts: targets(view, &shown)?,
        is_split_open: form.get("do") == "split",
        split: PARTS.into_iter().map(|number| part(form, number)).collect(),
    };
    Ok(page.render()?)
}

fn part(form: &Form, number: &'static str) -> PartRow {
    let typed = |name: &str| form.get(&format!("{name}-{number}")).to_owned();
    PartRow {
        number,
        field: format!("member-{number}"),
        amount: typed("amount"),
        member: typed("member"),
        account: typed("account"),
    }
}

type Found = Vec<(MemberId, String, String)>;

/// The member who was named, or is proposed; several if the name is not enough.
fn seek(
    view: &mut View<'_, '_>,
    frame: &Frame,
    shown: &ShownLine,
    sought: &str,
) -> Result<(Found, Option<Payer>), Failure> {
    let proposed = shown
        .proposed
        .as_ref()
        .and_then(|proposed| proposed.payer.clone());
    let id = match (Id::parse(sought), sought, proposed) {
        (Some(id), ..) => Some(id),
        (None, "", proposed) => proposed.map(|(id, _)| id),
        (None, text, _) => {
            let (members, is_more) = search::members(view, text, Filter::default(), FOUND_MAX)?;
            match &members[..] {
                [one] if !is_more => Some(one.id),
                _ => {
                    let row = |member: &MemberLine| {
                        let name = format!("{} {}", member.first_name, member.last_name);
                        (member.id, name, member.email.clone().unwrap_or_default())
                    };
                    return Ok((members.iter().map(row).collect(), None));
                }
            }
        }
    };
    let Some(id) = id else {
        return Ok((Vec::new(), None));
    };
    let member: Member = resources::one(view, id)?;
    let own = &frame.place.organization;
    let today = own.time_zone.date(view.now());
    let open = ChargeQuery {
        which: Charges::Open,
        member: Some(id),
        ..ChargeQuery::default()
    };
    let charges = desk::charges(view, &open, None)?.rows;
    let owed = bursar_app::members::owed(view, id)?;
    let payer = Payer {
        id,
        name: member.name(),
        owes: words::money_in(owed),
        charges: crate::pages::rows::charges(view, &charges, own.currency, today)?,
    };
    Ok((Vec::new(), Some(payer)))
}

/// Entries of the same amount that account for no line yet.
fn like(view: &mut View<'_, '_>, shown: &ShownLine) -> Result<Vec<(EntryId, String)>, Failure> {
    let line = &shown.line;
    let until = Some(line.date.plus_days(DAYS_AROUND));
    let held = reconciliation::reconciliation(view, &line.account.to_string(), until)?;
    let first = line.date.plus_days(-DAYS_AROUND);
    let same = held
        .entries
        .into_iter()
        .filter(|(entry, amount)| amount.minor == line.amount && entry.date >= first);
    Ok(same
        .map(|(entry, _)| (entry.id, rows::entry_words(&entry)))
        .take(FOUND_MAX)
        .collect())
}

/// What a line can be booked to: groups of ids and names.
type Targets = Vec<(&'static str, Vec<(String, String)>)>;

fn targets(view: &mut View<'_, '_>, shown: &ShownLine) -> Result<Targets, Failure> {
    let (accounts, _) = books::entries::accounts(view)?;
    let may_take = |account: &&Account| {
        !account.is_closed
            && account.id != shown.line.account
            && account
                .standing()
                .is_none_or(|standing| !standing.moves_only_by_acts())
    };
    let of = |wanted: AccountType| -> Vec<(String, String)> {
        let found = accounts.values().filter(may_take);
        let found = found.filter(|account| account.account_type == wanted);
        let mut named: Vec<_> = found
            .map(|account| (account.id.to_string(), super::account_name(account)))
            .collect();
        named.sort_by(|(_, one), (_, other)| one.cmp(other));
        named
    };
    let (income, expense) = (
        ("Income", of(AccountType::Income)),
        ("Expenses", of(AccountType::Expense)),
    );
    let own = ("Own accounts: a transfer", of(AccountType::Asset));
    if shown.line.amount < 0 {
        return Ok(vec![expense, own, income]);
    }
    let mut campaigns = Vec::new();
    resources::each(view, |campaign: Campaign| {
        if campaign.status == CampaignStatus::Active {
            campaigns.push((campaign.id.to_string(), campaign.name));
        }
    })?;
    let mut groups = vec![income, ("Donation to a campaign", campaigns), own, expense];
    groups.retain(|(_, found)| !found.is_empty());
    Ok(groups)
}
