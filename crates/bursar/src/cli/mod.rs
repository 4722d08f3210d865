//! The command line. A command parses its arguments, calls one function of `bursar-app`, and prints.

mod activity;
mod clock;
mod consent;
mod data;
pub(crate) mod desk;
mod doctor;
pub(crate) mod door;
mod dues;
mod exit;
mod health;
pub mod here;
mod hint;
mod listen;
mod manual;
mod messages;
mod oidc;
mod online;
mod organization;
pub(crate) mod output;
mod policy;
mod provider;
#[cfg(test)]
mod reference;
mod reminder;
mod role;
mod roster;
pub(crate) mod serve;
mod server;
pub(crate) mod sign_in;
mod sync;
mod token;
pub(crate) mod url;
pub(crate) mod webhook;
pub(crate) mod worker;

use std::process::ExitCode;
use std::sync::Arc;

use bursar_app::{App, DatabaseUrl, Identity, Opening, Options, roles};
use bursar_domain::ids::{Id, Kind, kind};
use bursar_http::log;
use clap::parser::ValueSource;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use door::{Ref, parse_ref};
use exit::Exit;
pub(crate) use exit::Failure;

use crate::ambient;

/// `0.1.0`, with the commit if known (see build.rs).
const VERSION: &str = env!("BURSAR_VERSION");
/// The help heading of the global flags.
const GLOBAL: &str = "Options of every command";

/// An organization's money and people: members, dues, payments, reminders, cards, campaigns and a store.
#[derive(Debug, Parser)]
#[command(name = "bursar", version = VERSION, styles = output::STYLES, max_term_width = 120)]
struct Cli {
    /// The database: `sqlite:FILE` or `postgres://…` [default: sqlite:bursar.db]
    #[arg(long, global = true, value_name = "URL", hide_env_values = true, help_heading = GLOBAL)]
    database: Option<String>,
    /// Organization, by name or id; may be left out if there is only one
    #[arg(long, global = true, value_name = "ORG", value_parser = parse_ref::<kind::Organization>, help_heading = GLOBAL)]
    organization: Option<Ref<kind::Organization>>,
    /// Act as the person with this address, with their role; as the operator by default
    #[arg(long = "as", global = true, value_name = "EMAIL", help_heading = GLOBAL)]
    person: Option<String>,
    /// Print JSON on one line instead of text
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// Skip confirmation prompts
    #[arg(long, short = 'y', global = true, help_heading = GLOBAL)]
    yes: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Try bursar: create a demo database and serve it
    Demo(crate::demo::DemoArgs),
    /// Run the server
    Serve(serve::ServeArgs),
    /// Run only the background worker: reminders, dues, notices, delivery
    Worker(worker::WorkerArgs),
    /// Schedule, preview, send, list and cancel reminders
    #[command(subcommand)]
    Reminder(reminder::ReminderCommand),
    /// List messages with recipient, time, status and reason
    Messages(messages::MessagesArgs),
    /// Set, show and raise the dues of groups
    #[command(subcommand)]
    Dues(dues::DuesCommand),
    /// Create, change and list organizations
    #[command(subcommand)]
    Organization(organization::OrganizationCommand),
    /// Give, remove and list roles
    #[command(subcommand)]
    Role(role::RoleCommand),
    /// Create, list, explain, rotate and revoke access tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Send events to other programs: create, change, test and replay webhook endpoints
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Connect, test and remove the payment provider of an organization
    #[command(subcommand)]
    Provider(provider::ProviderCommand),
    /// Start, list, query and refund card payments
    #[command(subcommand)]
    Online(online::OnlineCommand),
    /// Show and change the token policy of an organization
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Show the activity log, newest first
    Activity(activity::ActivityArgs),
    /// Find, add, change, archive and list members
    #[command(subcommand)]
    Member(desk::member::MemberCommand),
    /// Create groups and change their members
    #[command(subcommand)]
    Group(desk::group::GroupCommand),
    /// Raise charges and record money received
    #[command(subcommand)]
    Payment(desk::payment::PaymentCommand),
    /// Record and correct money received
    #[command(subcommand)]
    Receipt(desk::receipt::ReceiptCommand),
    /// Manage what members paid in advance
    #[command(subcommand)]
    Credit(desk::credit::CreditCommand),
    /// Post to the journal and list its entries
    #[command(subcommand)]
    Journal(desk::journal::JournalCommand),
    /// Manage accounts
    #[command(subcommand)]
    Account(desk::account::AccountCommand),
    /// Close and reopen periods
    #[command(subcommand)]
    Period(desk::period::PeriodCommand),
    /// Import bank statements and match them with the books
    #[command(subcommand)]
    Statement(desk::statement::StatementCommand),
    /// Draft, approve and pay reimbursements
    #[command(subcommand)]
    Reimbursement(desk::reimbursement::ReimbursementCommand),
    /// Attach a PDF, JPEG or PNG file to a reimbursement or a journal entry
    Attach(desk::attachment::AttachArgs),
    /// List, download and remove attachments
    #[command(subcommand)]
    Attachment(desk::attachment::AttachmentCommand),
    /// Manage cards and card applications
    #[command(subcommand)]
    Card(desk::card::CardCommand),
    /// Create, start and end campaigns
    #[command(subcommand)]
    Campaign(desk::campaign::CampaignCommand),
    /// Create and change store listings
    #[command(subcommand)]
    Listing(desk::store::ListingCommand),
    /// Create and manage store orders
    #[command(subcommand)]
    Order(desk::store::OrderCommand),
    /// Report on income, balances, dues, debts, the ledger and chapters
    #[command(subcommand)]
    Report(desk::report::ReportCommand),
    /// Undo a bulk change; records changed since then are left alone
    Undo(desk::undo::UndoArgs),
    /// Import a data bundle or a roster (`.csv`), all or nothing
    Import(data::ImportArgs),
    /// Export a data bundle, a list as CSV or the journal for other programs, to standard output
    Export(data::ExportArgs),
    /// Check the data for errors
    Check,
    /// Check the configuration and everything `serve` depends on
    Doctor(Box<doctor::DoctorArgs>),
    /// Show or reset the clock check of the background worker
    Clock(clock::ClockArgs),
    /// Back up the embedded database while the server runs
    Backup(data::BackupArgs),
    /// Rewrite the embedded database file to clear removed data from it
    Compact,
    /// Print a link into the console that works once, for 15 minutes
    SignInLink(sign_in::SignInLinkArgs),
    /// Print the OpenAPI document
    Openapi(serve::OpenapiArgs),
    /// Mirror an organization's lists into NDJSON files over the API
    Sync(sync::SyncArgs),
    /// Forward events to a local URL as signed webhooks, while you develop a receiver
    Listen(listen::ListenArgs),
    /// Copy all data to an empty database of either engine; stop the server first
    Copy(data::CopyArgs),
    /// Check whether a running server is ready
    Health(health::HealthArgs),
    /// Print shell completions
    Completions(manual::CompletionsArgs),
    /// Print a manual page, or write all of them
    Man(manual::ManArgs),
}

impl Command {
    /// Its output has no personal data, so an output file may stay readable by everybody.
    const fn is_for_everybody(&self) -> bool {
        matches!(
            self,
            Self::Serve(_)
                | Self::Worker(_)
                | Self::Openapi(_)
                | Self::Health(_)
                | Self::Completions(_)
                | Self::Man(_)
        )
    }

    /// It is about one organization, or may be.
    const fn takes_organization(&self) -> bool {
        !matches!(
            self,
            Self::Demo(_)
                | Self::Serve(_)
                | Self::Worker(_)
                | Self::Organization(_)
                | Self::Check
                | Self::Doctor(_)
                | Self::Clock(_)
                | Self::Backup(_)
                | Self::Compact
                | Self::SignInLink(_)
                | Self::Openapi(_)
                | Self::Sync(_)
                | Self::Listen(_)
                | Self::Copy(_)
                | Self::Health(_)
                | Self::Completions(_)
                | Self::Man(_)
        )
    }

    /// It concerns the machine or all data and is not an operation with a rule, so no role allows it.
    const fn is_for_operator(&self) -> bool {
        matches!(
            self,
            Self::Demo(_)
                | Self::Serve(_)
                | Self::Worker(_)
                | Self::Doctor(_)
                | Self::Clock(_)
                | Self::Backup(_)
                | Self::Compact
                | Self::Copy(_)
                | Self::Sync(_)
                | Self::Listen(_)
        )
    }
}

/// The flags that every command has.
pub(crate) struct Globals {
    database: Option<String>,
    /// E-mail address from `--as`; `None` is the operator.
    person: Option<String>,
    pub(crate) organization: Option<Ref<kind::Organization>>,
    /// `--organization` is on the command line, not just in the variable.
    pub(crate) organization_is_typed: bool,
    /// Print JSON.
    pub(crate) json: bool,
    /// Do not ask for confirmation.
    pub(crate) yes: bool,
}

pub(crate) type Outcome = Result<(), Failure>;

impl Globals {
    pub(crate) fn database(&self) -> &str {
        self.database.as_deref().unwrap_or("sqlite:bursar.db")
    }

    pub(crate) fn open(&self, opening: Opening) -> Result<App, Failure> {
        open(&self.database().parse()?, &Options::default(), opening)
    }

    pub(crate) fn who(&self, app: &App) -> Result<Identity, Failure> {
        let Some(email) = self.person.clone() else {
            return Ok(Identity::Operator);
        };
        let found = app.look(Identity::Operator, move |whole| roles::person(whole, &email));
        Ok(Identity::Person(found.wait()?))
    }

    /// How many lines to show. People get the newest ones; a program gets all, up to this many.
    fn limit(&self, given: Option<u64>, most: u64) -> u64 {
        given.unwrap_or(if self.json { most } else { 50 })
    }

    /// Refuses `--as` for commands that no role allows.
    fn for_operator(&self) -> Outcome {
        match self.person {
            None => Ok(()),
            Some(_) => Err(Failure::new(
                "only the operator may run this command; leave --as (or BURSAR_AS) out".into(),
            )),
        }
    }
}

/// Opens a database with the system's clock and randomness.
pub(crate) fn open(url: &DatabaseUrl, options: &Options, opening: Opening) -> Result<App, Failure> {
    Ok(App::open(
        url,
        options,
        opening,
        Arc::new(ambient::now),
        ambient::ids()?,
    )?)
}

pub(crate) fn parse_id<K: Kind>(text: &str) -> Result<Id<K>, String> {
    Id::parse(text).ok_or_else(|| hint::not_an_id::<K>(text))
}

/// Every command, and every flag with its variable.
fn definition() -> clap::Command {
    with_variables(Cli::command())
}

/// Gives every flag its variable: `BURSAR_` and the flag's name in upper case. A variable that turns a switch off is left
/// out: clap takes the flag for given whatever its variable says, and refuses one that excludes it. A missing argument is
/// reported in one line like any other error: clap's choice to print the help instead would depend on the variables.
fn with_variables(command: clap::Command) -> clap::Command {
    let command = command
        .arg_required_else_help(false)
        .mut_args(|arg| match arg.get_long() {
            Some(long) if arg.get_env().is_none() && !matches!(long, "help" | "version") => {
                let variable = format!("BURSAR_{}", long.to_ascii_uppercase().replace('-', "_"));
                match arg.get_action() {
                    clap::ArgAction::SetTrue if ambient::turns_off(&variable) => arg,
                    clap::ArgAction::SetTrue => arg
                        .env(variable)
                        .value_parser(clap::builder::FalseyValueParser::new()),
                    _ => arg.env(variable),
                }
            }
            _ => arg,
        });
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, with_variables)
    })
}

/// Help is printed as is; for the bare program it is a success. An error on the command line is reported in one line,
/// like every other failure.
fn refuse(error: &clap::Error, is_bare: bool) -> ExitCode {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    if is_bare {
        let _ = definition().print_help();
        return ExitCode::SUCCESS;
    }
    if matches!(error.kind(), DisplayHelp | DisplayVersion) {
        error.exit();
    }
    let text = error.to_string();
    let said = text.split("\n\nUsage:").next().unwrap_or_default();
    let said = said.split("\n\nFor more information").next().unwrap_or_default();
    let said = said.trim_start_matches("error: ").replace("\n\n  tip: ", "; ");
    let words: Vec<&str> = said.split_whitespace().collect();
    output::complain(&format!("{}; see --help", words.join(" ")));
    Exit::Usage.into()
}

pub fn run() -> ExitCode {
    output::tell_panics();
    let exit = run_command();
    log::flush();
    exit
}

fn run_command() -> ExitCode {
    let parsed = definition().try_get_matches().and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((cli, matches))
    });
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&error, std::env::args_os().len() <= 1),
    };
    let globals = Globals {
        database: cli.database,
        person: cli.person,
        organization: cli.organization,
        organization_is_typed: matches.value_source("organization") == Some(ValueSource::CommandLine),
        json: cli.json,
        yes: cli.yes,
    };
    match consent::ask_for_good(&globals, &matches).and_then(|()| perform(&globals, cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&with_hint(&globals, &failure));
            failure.exit.into()
        }
    }
}

/// Adds a hint about what may have been meant, if something was not found.
fn with_hint(globals: &Globals, failure: &Failure) -> String {
    let hint = match failure.exit {
        Exit::Missing => hint::organization(globals, &failure.message),
        Exit::Failed | Exit::Usage | Exit::Conflict | Exit::Later => None,
    };
    match hint {
        Some(hint) => format!("{}; {hint}", failure.message),
        None => failure.message.clone(),
    }
}

fn perform(globals: &Globals, command: Command) -> Outcome {
    if !command.is_for_everybody() {
        output::keep_private();
    }
    if command.is_for_operator() {
        globals.for_operator()?;
    }
    if globals.organization_is_typed && !command.takes_organization() {
        return Err(Failure {
            message: "this command is not about one organization; leave --organization out".into(),
            exit: Exit::Usage,
        });
    }
    match command {
        Command::Demo(args) => crate::demo::run(globals, &args),
        Command::Serve(args) => serve::run(globals, &args),
        Command::Worker(args) => worker::run(globals, &args),
        Command::Reminder(command) => reminder::run(globals, command),
        Command::Messages(args) => messages::run(globals, &args),
        Command::Dues(command) => dues::run(globals, command),
        Command::Organization(command) => organization::run(globals, command),
        Command::Role(command) => role::run(globals, command),
        Command::Token(command) => token::run(globals, command),
        Command::Webhook(command) => webhook::run(globals, command),
        Command::Provider(command) => provider::run(globals, command),
        Command::Online(command) => online::run(globals, command),
        Command::Policy(command) => policy::run(globals, command),
        Command::Activity(args) => activity::run(globals, &args),
        Command::Member(command) => desk::member::run(globals, command),
        Command::Group(command) => desk::group::run(globals, command),
        Command::Payment(command) => desk::payment::run(globals, command),
        Command::Receipt(command) => desk::receipt::run(globals, command),
        Command::Credit(command) => desk::credit::run(globals, command),
        Command::Journal(command) => desk::journal::run(globals, command),
        Command::Account(command) => desk::account::run(globals, command),
        Command::Period(command) => desk::period::run(globals, command),
        Command::Attach(args) => desk::attachment::attach(globals, args),
        Command::Attachment(command) => desk::attachment::run(globals, command),
        Command::Statement(command) => desk::statement::run(globals, command),
        Command::Reimbursement(command) => desk::reimbursement::run(globals, command),
        Command::Card(command) => desk::card::run(globals, command),
        Command::Campaign(command) => desk::campaign::run(globals, command),
        Command::Listing(command) => desk::store::run_listing(globals, command),
        Command::Order(command) => desk::store::run_order(globals, command),
        Command::Report(command) => desk::report::run(globals, command),
        Command::Undo(args) => desk::undo::run(globals, &args),
        Command::Import(args) => data::import(globals, &args),
        Command::Export(args) => data::export(globals, &args),
        Command::Check => data::check(globals),
        Command::Doctor(args) => doctor::run(globals, &args),
        Command::Clock(args) => clock::run(globals, &args),
        Command::Backup(args) => data::backup(globals, &args),
        Command::Compact => data::compact(globals),
        Command::SignInLink(args) => sign_in::link(globals, &args),
        Command::Openapi(args) => serve::openapi(&args),
        Command::Sync(args) => sync::run(globals, &args),
        Command::Listen(args) => listen::run(globals, &args),
        Command::Copy(args) => data::copy(globals, &args),
        Command::Health(args) => health::run(globals, &args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    }
}
