//! `bursar provider`: who collects online payments for an organization.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use bursar_app::online::Teller;
use bursar_app::online::providers::{self, NewProvider, ProviderRecord};
use bursar_app::{App, DatabaseUrl};
use bursar_domain::online::ProviderKind;
use bursar_stripe::Stripe;
use clap::{Args, Subcommand};
use serde_json::json;

use super::door::Door;
use super::webhook::KeyArgs;
use super::{Failure, Globals, Outcome, output};
use crate::ambient;

/// A secret in a file is shorter.
const SECRET_BYTES_MAX: u64 = 4_096;

#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Connect a payment provider, or replace its key
    Set(SetArgs),
    /// Show the payment provider; the key is never shown
    Show,
    /// Ask the provider whether the key works
    Test(OnlineArgs),
    /// Disconnect the payment provider
    Remove,
}

/// What asking a payment provider needs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct OnlineArgs {
    #[command(flatten)]
    pub(crate) key: KeyArgs,
    #[command(flatten)]
    pub(crate) api: ApiArgs,
}

/// Where the payment provider is. Only the operator may say so: the keys go there.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ApiArgs {
    /// Address that stands in for Stripe's API; for tests
    #[arg(long, value_name = "URL", hide = true, hide_env_values = true, value_parser = bursar_stripe::parse_base)]
    stripe_api: Option<String>,
    /// Divide the waits between questions to payment providers by this; for tests
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    online_faster: Option<i64>,
}

impl ApiArgs {
    /// Something else answers in place of Stripe.
    pub(crate) fn stand_in(&mut self, base: String) {
        self.stripe_api = Some(base);
    }

    pub(crate) fn teller(&self, app: &App, url: &DatabaseUrl, key: &KeyArgs) -> Teller {
        let base = self.stripe_api.as_deref().unwrap_or(bursar_stripe::API);
        let teller = Teller::new(app.clone(), key.file(url), Arc::new(Stripe::new(base)));
        teller.faster(self.online_faster.unwrap_or(1))
    }
}

impl OnlineArgs {
    pub(crate) fn teller(&self, globals: &Globals, app: &App) -> Result<Teller, Failure> {
        Ok(self.api.teller(app, &globals.database().parse()?, &self.key))
    }
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// File with the restricted key of Stripe (rk_live_… or rk_test_…); - reads it from standard input; unchanged by
    /// default
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// File with the signing secret of the webhook endpoint at Stripe (whsec_…); unchanged by default
    #[arg(long, value_name = "FILE")]
    webhook_secret_file: Option<PathBuf>,
    /// Account that payouts go to [default: bank]
    #[arg(long, value_name = "ACCOUNT")]
    account: Option<String>,
    #[command(flatten)]
    key: KeyArgs,
}

fn secret(flag: &str, file: Option<&PathBuf>) -> Result<Option<String>, Failure> {
    let Some(file) = file else {
        return Ok(None);
    };
    let mut text = String::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().take(SECRET_BYTES_MAX).read_to_string(&mut text),
        false => std::fs::File::open(file)
            .and_then(|opened| opened.take(SECRET_BYTES_MAX).read_to_string(&mut text)),
    };
    read.map_err(|error| format!("{flag} {} cannot be read: {error}", file.display()))?;
    Ok(Some(text))
}

pub(crate) fn run(globals: &Globals, command: ProviderCommand) -> Outcome {
    let door = Door::open(globals)?;
    let organization = door.organization()?;
    match command {
        ProviderCommand::Set(args) => set(globals, &door, args),
        ProviderCommand::Show => {
            let record = door.view(organization, providers::show)?;
            show(globals, &record)
        }
        ProviderCommand::Test(args) => {
            door.view(organization, providers::check_test)?;
            let tested = args.teller(globals, &door.app)?.test(organization)?;
            let codes: Vec<&str> = tested.currencies.iter().map(|currency| currency.code()).collect();
            if globals.json {
                return output::json(&json!({ "isLive": tested.is_live, "currencies": codes }));
            }
            output::say(match tested.is_live {
                true => "The key works, with real money.",
                false => "The key works, in test mode: no real money moves.",
            });
            output::say(&format!("The account holds {}.", codes.join(", ")));
            Ok(())
        }
        ProviderCommand::Remove => {
            door.act(organization, providers::remove)?;
            match globals.json {
                true => output::json(&json!({ "organizationId": organization, "removed": true })),
                false => {
                    output::say("Disconnected the payment provider; members can no longer pay online");
                    Ok(())
                }
            }
        }
    }
}

fn set(globals: &Globals, door: &Door<'_>, args: SetArgs) -> Outcome {
    let organization = door.organization()?;
    let is_input = |file: &Option<PathBuf>| file.as_ref().is_some_and(|file| file.as_os_str() == "-");
    if is_input(&args.key_file) && is_input(&args.webhook_secret_file) {
        return Err(
            "only one of --key-file and --webhook-secret-file can be read from standard input".into(),
        );
    }
    let new = NewProvider {
        kind: ProviderKind::Stripe,
        key: secret("--key-file", args.key_file.as_ref())?,
        webhook_secret: secret("--webhook-secret-file", args.webhook_secret_file.as_ref())?,
        account: args.account,
    };
    let (file, random) = (args.key.file(&globals.database().parse()?), ambient::entropy()?);
    let key = door.view(organization, move |view| {
        providers::sealing_key(view, &file, random)
    })?;
    let entropy = ambient::entropy()?;
    // The field's name on the console's page.
    let name_flag = |message: String| message.replace("stripe-key", "--key-file");
    let record = door
        .act(organization, move |act| providers::set(act, &new, &key, &entropy))
        .map_err(|failure| failure.told(name_flag))?;
    if globals.json {
        return output::json(&record);
    }
    output::say(&format!(
        "Online payments are collected by {} with the key {}.",
        record.kind, record.key_hint
    ));
    if !record.has_webhook_secret {
        output::say(&format!(
            "Add an endpoint in the Stripe dashboard, {{base URL}}/hooks/stripe/{organization}, and give its signing secret \
             with --webhook-secret-file. Until then payments are booked with some delay."
        ));
    }
    output::say("Try it: bursar provider test");
    Ok(())
}

fn show(globals: &Globals, record: &ProviderRecord) -> Outcome {
    if globals.json {
        return output::json(record);
    }
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let fields = [
        ("provider", Some(record.kind.to_string())),
        ("key", Some(record.key_hint.clone())),
        ("real money", Some(yes(record.is_live))),
        ("webhook secret", Some(yes(record.has_webhook_secret))),
        (
            "webhook path",
            Some(format!("/hooks/stripe/{}", record.organization_id)),
        ),
        ("payouts to", Some(record.payout_account.clone())),
        ("set", Some(record.created_at.to_string())),
        ("set by", Some(record.created_by.clone())),
        ("last asked", record.asked_at.map(|at| at.to_string())),
        ("problem", record.problem.clone()),
    ];
    let rows = fields
        .into_iter()
        .filter_map(|(name, value)| Some([name.to_owned(), value?]));
    output::table(["field", "value"], rows.collect(), "");
    Ok(())
}
