//! `bursar demo`: a database worth looking at, and a server on it.

mod data;
mod names;

use std::io::{BufRead, Cursor};

use bursar_app::import::{Source, import};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{AppError, Context};
use bursar_db::{DatabaseUrl, Db, Opening, Options, organizations};
use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::ids::OrganizationId;
use bursar_domain::organization::OrganizationKind;
use clap::Args;

use crate::ambient;
use crate::cli::serve::{ServeArgs, serve, start_log};
use crate::cli::{Failure, Outcome, Session, output};

/// Where the data is kept unless another database is named: never where real data may be.
const DATABASE: &str = "sqlite:bursar-demo.db";
/// What the demonstration's tokens are called.
const TOKEN_NAME: &str = "bursar demo";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    // The demonstration's own, instead of every command's: its default is another.
    /// The database: `sqlite:FILE` or `postgres://…` [default: sqlite:bursar-demo.db]
    #[arg(long, value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Makes other data
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    serve: ServeArgs,
}

pub(crate) fn run(session: &Session, args: &DemoArgs) -> Outcome {
    let mut serve_args = args.serve.clone();
    // The log of requests would run over what the newcomer is to read.
    if serve_args.log.log_level == "info" {
        serve_args.log.log_level = "warn".to_owned();
    }
    start_log(&serve_args.log);
    let url: DatabaseUrl = args.database.as_deref().unwrap_or(DATABASE).parse()?;
    let db = Db::open(&url, &Options::default(), Opening::Migrate)?;
    if db.read(organizations::all).wait()?.is_empty() {
        let records = fill(&db, args.seed)?;
        if !session.json_asked {
            output::say(&format!("made the demonstration's data: {records} records"));
        }
    }
    let (organization, name) = national(&db)?;
    let token = token(&db, organization)?;
    serve(db, &url, &serve_args, &mut |address| {
        introduce(session, address, &name, &token, &url)
    })
}

fn fill(db: &Db, seed: u64) -> Result<u64, Failure> {
    let now = ambient::now();
    let bundle = data::bundle(seed, now);
    let open = || Ok(Box::new(Cursor::new(bundle.clone().into_bytes())) as Box<dyn BufRead>);
    let done = import(
        db,
        &Source { open: &open },
        now,
        &mut ambient::ids()?,
        &mut |_| {},
    )?;
    Ok(done.records)
}

fn national(db: &Db) -> Result<(OrganizationId, String), Failure> {
    let all = db.read(organizations::all).wait()?;
    let found = all.into_iter().find(|o| o.kind == OrganizationKind::National);
    let officer = db
        .read(|tx| organizations::user_by_email(tx, data::OFFICER))
        .wait()?;
    found
        .filter(|_| officer.is_some())
        .map(|o| (o.id, o.name))
        .ok_or_else(|| {
            Failure::new("this database is not the demonstration's; name another with --database".into())
        })
}

/// A new token for the demonstration's treasurer; those of earlier runs are revoked, because their secrets are
/// not known any more.
fn token(db: &Db, organization: OrganizationId) -> Result<String, Failure> {
    let mut context: Context = ambient::operator()?;
    let entropy = ambient::entropy()?;
    let new = NewToken {
        holder: Holder::Person(data::OFFICER.to_owned()),
        name: Some(TOKEN_NAME.to_owned()),
        scopes: ScopeSet::of(Scope::ALL),
        days: Some(7),
    };
    let made = db.write::<_, AppError>(organization.to_bytes(), move |tx| {
        for old in tokens::list(tx, &context, organization)? {
            if old.name == TOKEN_NAME {
                tokens::revoke(tx, &mut context, organization, old.id)?;
            }
        }
        tokens::create(tx, &mut context, organization, &new, &entropy)
    });
    Ok(made.wait()?.secret.expose().to_owned())
}

fn introduce(session: &Session, address: &str, name: &str, token: &str, url: &DatabaseUrl) {
    if session.json_asked {
        let curl = format!("curl -H 'Authorization: Bearer {token}' '{address}/v1/members?limit=2'");
        let told = serde_json::json!({ "address": address, "docs": format!("{address}/docs"), "token": token, "curl": curl });
        output::say(&told.to_string());
        return;
    }
    output::say(&format!(
        "\n{name}, in {url}\n\n  API    {address}/v1\n  Docs   {address}/docs\n  Token  {token}\n\nTry:\n\n  \
         curl -H 'Authorization: Bearer {token}' '{address}/v1/members?limit=2'\n\nlistening on {address}"
    ));
}
