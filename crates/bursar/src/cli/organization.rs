use std::collections::HashMap;

use bursar_app::organizations::{self, NewOrganization, OrganizationChange, create};
use bursar_app::{AppError, Opening};
use bursar_domain::ids::{OrganizationId, kind};
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, Organization, OrganizationKind};
use bursar_domain::zone::Zone;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::desk::or_dash;
use super::door::{Door, Ref, parse_ref};
use super::{Globals, Outcome, output};
use crate::ambient;

#[derive(Debug, Subcommand)]
pub(crate) enum OrganizationCommand {
    /// Create an organization
    Create(CreateArgs),
    /// Change an organization's settings
    Set(SetArgs),
    /// List the organizations; with `--as`, those in which the person has a role
    List,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name
    #[arg(long)]
    name: String,
    /// national, chapter or independent
    #[arg(long, value_parser = parse_kind)]
    kind: OrganizationKind,
    /// Parent of a chapter, by name or id: a national organization or another chapter
    #[arg(long, value_name = "ORG", value_parser = parse_ref::<kind::Organization>)]
    parent: Option<Ref<kind::Organization>>,
    /// Currency, as an ISO 4217 code
    #[arg(long, default_value = "USD", value_parser = parse_currency)]
    currency: Currency,
    /// Contact e-mail address
    #[arg(long, value_name = "EMAIL")]
    contact_email: Option<String>,
    /// Contact phone number for SMS
    #[arg(long, value_name = "PHONE")]
    contact_phone: Option<String>,
    /// Card issuing: approved or pending
    #[arg(long, default_value = "pending", value_parser = parse_issuing)]
    card_issuing: CardIssuing,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The organization: name or id
    #[arg(value_name = "ORG", value_parser = parse_ref::<kind::Organization>)]
    one: Ref<kind::Organization>,
    /// Name
    #[arg(long)]
    name: Option<String>,
    /// Time zone that days begin and end by, such as Europe/Berlin
    #[arg(long, value_name = "ZONE", value_parser = Zone::parse)]
    time_zone: Option<Zone>,
    /// Contact e-mail address; an empty value removes it
    #[arg(long, value_name = "EMAIL")]
    contact_email: Option<String>,
    /// Contact phone number for SMS; an empty value removes it
    #[arg(long, value_name = "PHONE")]
    contact_phone: Option<String>,
    /// Card issuing: approved or pending
    #[arg(long, value_parser = parse_issuing)]
    card_issuing: Option<CardIssuing>,
    /// Apply a member's credit when a charge is raised: on or off
    #[arg(long, value_name = "ON", value_parser = parse_switch)]
    auto_credit: Option<bool>,
    /// Book bank lines with exactly one reference without asking: on or off
    #[arg(long, value_name = "ON", value_parser = parse_switch)]
    auto_reference: Option<bool>,
    /// How members pay, for reminders and statements; an empty value removes it
    #[arg(long, value_name = "TEXT")]
    pay_text: Option<String>,
    /// Bank account that members pay to; an empty value removes it
    #[arg(long)]
    iban: Option<String>,
    /// How many years after its end a year's books are kept
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=100))]
    retention_years: Option<i64>,
    /// Days after which a failed charge to a saved card is tried again, such as 3,5,7, or none
    #[arg(long, value_name = "DAYS")]
    autopay_retries: Option<String>,
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("must be on or off".to_owned()),
    }
}

fn parse_kind(text: &str) -> Result<OrganizationKind, String> {
    OrganizationKind::parse(text).ok_or_else(|| format!("must be one of {}", OrganizationKind::WORDS))
}

fn parse_issuing(text: &str) -> Result<CardIssuing, String> {
    CardIssuing::parse(text).ok_or_else(|| format!("must be one of {}", CardIssuing::WORDS))
}

fn parse_currency(text: &str) -> Result<Currency, String> {
    Currency::parse(text).ok_or_else(|| "must be an ISO 4217 code in upper case, such as USD".to_owned())
}

pub(crate) fn run(globals: &Globals, command: OrganizationCommand) -> Outcome {
    match command {
        OrganizationCommand::Create(args) => create_one(globals, args),
        OrganizationCommand::Set(args) => set(globals, args),
        OrganizationCommand::List => list(globals),
    }
}

fn set(globals: &Globals, args: SetArgs) -> Outcome {
    let door = Door::open(globals)?;
    let id = door.any_organization(&args.one)?;
    let or_none = |given: Option<String>| given.map(|text| Some(text).filter(|text| !text.trim().is_empty()));
    let change = OrganizationChange {
        name: args.name,
        time_zone: args.time_zone,
        contact_email: or_none(args.contact_email),
        contact_phone: or_none(args.contact_phone),
        card_issuing: args.card_issuing,
        auto_credit: args.auto_credit,
        auto_reference: args.auto_reference,
        pay_text: or_none(args.pay_text),
        iban: or_none(args.iban),
        retention_years: args.retention_years,
        autopay_retries: args.autopay_retries,
    };
    let made = door.act(id, move |act| organizations::set(act, &change))?;
    if globals.json {
        return output::json(&as_json(&made));
    }
    let on = |is_on: bool| if is_on { "on" } else { "off" };
    let lines = [
        ("time zone", made.time_zone.to_string()),
        ("contact e-mail", or_dash(made.contact_email.as_deref())),
        ("contact phone", or_dash(made.contact_phone.as_deref())),
        ("card issuing", made.card_issuing.to_string()),
        ("auto credit", on(made.auto_credit).to_owned()),
        ("auto reference", on(made.auto_reference).to_owned()),
        ("pay text", or_dash(made.pay_text.as_deref())),
        ("iban", or_dash(made.iban.as_deref())),
        ("retention years", made.retention_years.to_string()),
        ("autopay retries", made.autopay_retries.to_string()),
    ];
    output::say(&format!("Settings of {} ({}):", made.name, made.id));
    for (what, value) in lines {
        output::say(&format!("  {what:<16}{value}"));
    }
    Ok(())
}

fn create_one(globals: &Globals, args: CreateArgs) -> Outcome {
    let door = Door::open_as(globals, Opening::Migrate)?;
    let parent = args.parent.as_ref();
    let new = NewOrganization {
        name: args.name,
        kind: args.kind,
        parent_id: parent.map(|named| door.any_organization(named)).transpose()?,
        currency: args.currency,
        contact_email: args.contact_email,
        contact_phone: args.contact_phone,
        card_issuing: args.card_issuing,
        time_zone: Zone::default(),
    };
    let id: OrganizationId = ambient::ids()?.next(door.app.now());
    let made = door
        .app
        .change::<_, AppError>(door.who, id, move |whole| create(whole, id, &new))
        .wait()?;
    if globals.json {
        return output::json(&as_json(&made));
    }
    output::say(&format!("Created {} ({}), {}", made.name, made.kind, made.id));
    Ok(())
}

fn list(globals: &Globals) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let all = app
        .look::<_, AppError>(globals.who(&app)?, organizations::list)
        .wait()?;
    if globals.json {
        return output::json(&all.iter().map(as_json).collect::<Vec<_>>());
    }
    let names: HashMap<OrganizationId, &str> = all.iter().map(|o| (o.id, o.name.as_str())).collect();
    let rows = all.iter().map(|o| {
        let parent = o.parent_id.map_or_else(String::new, |id| {
            names.get(&id).map_or_else(|| id.to_string(), ToString::to_string)
        });
        [
            o.id.to_string(),
            o.name.clone(),
            o.kind.to_string(),
            o.currency.to_string(),
            parent,
        ]
    });
    let none = "no organizations yet; make one with `bursar organization create` or `bursar import`";
    output::table(["id", "name", "kind", "currency", "parent"], rows.collect(), none);
    Ok(())
}

fn as_json(o: &Organization) -> Value {
    json!({
        "id": o.id, "name": o.name, "kind": o.kind, "parentId": o.parent_id, "currency": o.currency,
        "contactEmail": o.contact_email, "contactPhone": o.contact_phone, "cardIssuing": o.card_issuing,
        "timeZone": o.time_zone, "closedUntil": o.closed_until, "autoCredit": o.auto_credit,
        "autoReference": o.auto_reference, "payText": o.pay_text, "iban": o.iban,
        "retentionYears": o.retention_years, "autopayRetries": o.autopay_retries.to_string(),
    })
}
