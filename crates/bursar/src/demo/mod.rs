//! `bursar demo`: a database worth looking at, and a server on it.

mod bank;
mod data;
mod life;
mod mail;
mod names;
mod welcome;

use std::io::{BufRead, Cursor};
use std::sync::Arc;

use bursar_app::import::{Progress, Source, import};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{App, AppError, DatabaseUrl, Identity, Opening, Options, organizations, roles};
use bursar_domain::Date;
use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::ids::{IdSource, OrganizationId, TokenId};
use bursar_domain::organization::{Organization, OrganizationKind};
use clap::Args;

use crate::ambient;
use crate::cli::serve::{ServeArgs, Until, serve, start_log};
use crate::cli::{Failure, Globals, Outcome, open, output, sign_in};
use welcome::Welcome;

/// Never a file that may hold real data.
const DATABASE: &str = "sqlite:bursar-demo.db";
const TOKEN_NAME: &str = "bursar demo";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    // Replaces the global flag: its default is different.
    /// The database: `sqlite:FILE` or `postgres://…` [default: sqlite:bursar-demo.db]
    #[arg(long, value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Random seed of the demo data
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    serve: ServeArgs,
}

pub(crate) fn run(globals: &Globals, args: &DemoArgs) -> Outcome {
    let mut serve_args = args.serve.clone();
    serve_args.is_demo = true;
    // Request lines would bury what the newcomer should read.
    if serve_args.log.log_level == "info" {
        serve_args.log.log_level = "warn".to_owned();
    }
    start_log(&serve_args.log);
    let url: DatabaseUrl = args.database.as_deref().unwrap_or(DATABASE).parse()?;
    let app = open(&url, &Options::default(), Opening::Migrate)?;
    let today = app.now().date();
    let is_new = organizations(&app)?.is_empty();
    if is_new {
        bring_in(&app, args.seed, today)?;
    }
    let (organization, name) = national(&app)?;
    live(&app, args.seed, today)?;
    let welcome = Welcome {
        token: token(&app, organization)?,
        sign_in: sign_in::make(&app, data::OFFICER)?,
        organization,
        name,
        database: url.to_string(),
        base_url: serve_args.base_url.clone(),
        contents: contents(&app)?,
        is_new,
        since: today.plus_days(-7),
    };
    serve(
        app,
        &url,
        &serve_args,
        Until::Signalled,
        &mut |address| match globals.json {
            true => output::document(&welcome.for_machines(address).to_string()),
            false => welcome.show(address),
        },
    )
}

/// Imports the bundle of everything up to two months ago.
fn bring_in(app: &App, seed: u64, today: Date) -> Outcome {
    let bundle = data::bundle(seed, today);
    let open = || Ok(Box::new(Cursor::new(bundle.clone().into_bytes())) as Box<dyn BufRead>);
    let bar = output::progress(0, "records");
    bar.set_message("making");
    let mut report = |at: Progress| bar.set_position(at.lines);
    let then = app.at(Arc::new(move || data::as_of(today)));
    import(&then, Identity::Operator, &Source { open: &open }, &mut report)?;
    bar.finish_and_clear();
    Ok(())
}

fn organizations(app: &App) -> Result<Vec<Organization>, Failure> {
    let all = app.look::<_, AppError>(Identity::Operator, organizations::list);
    Ok(all.wait()?)
}

/// Simulates the last two months for each organization without tokens, so an interrupted run is continued: each
/// organization is one transaction that creates tokens.
fn live(app: &App, seed: u64, today: Date) -> Outcome {
    let mut lives = Vec::new();
    for organization in organizations(app)? {
        let id = organization.id;
        let tokens = app.view::<_, AppError>(Identity::Operator, id, tokens::list);
        if tokens.wait()?.is_empty() {
            let mut random = life::random(id, seed);
            let app = app.with_ids(IdSource::seeded(random.u64(..)));
            lives.push(app.change(Identity::Operator, id, move |whole| {
                life::live(whole, &organization, &random, today)
            }));
        }
    }
    for life in lives {
        life.wait()?;
    }
    mail::send(app, seed, today)
}

fn national(app: &App) -> Result<(OrganizationId, String), Failure> {
    let found = organizations(app)?
        .into_iter()
        .find(|o| o.kind == OrganizationKind::National && o.name == data::NATIONAL);
    let officer = app.look::<_, AppError>(Identity::Operator, |whole| roles::person(whole, data::OFFICER));
    match (found, officer.wait()) {
        (Some(o), Ok(_)) => Ok((o.id, o.name)),
        _ => Err(Failure::new(
            "this database is not the demonstration's; name another with --database".into(),
        )),
    }
}

/// Revokes the tokens of earlier runs, because their secrets are lost.
fn token(app: &App, organization: OrganizationId) -> Result<String, Failure> {
    let entropy = ambient::entropy()?;
    let new = NewToken {
        holder: Holder::Person(data::OFFICER.to_owned()),
        name: Some(TOKEN_NAME.to_owned()),
        scopes: ScopeSet::of(Scope::ALL),
        days: Some(7),
    };
    let all = app.view::<_, AppError>(Identity::Operator, organization, tokens::list);
    let old: Vec<TokenId> = all
        .wait()?
        .iter()
        .filter(|t| t.name == TOKEN_NAME)
        .map(|t| t.id)
        .collect();
    let made = app.act::<_, AppError>(Identity::Operator, organization, move |act| {
        for id in &old {
            tokens::revoke(act, *id)?;
        }
        tokens::create(act, &new, &entropy)
    });
    Ok(made.wait()?.secret.expose().to_owned())
}

fn contents(app: &App) -> Result<String, Failure> {
    let organizations = organizations(app)?.len();
    let (members, payments) = app.survey::<_, AppError>(Identity::Operator, organizations::count)?;
    Ok(format!(
        "{}, {} and {}",
        output::many(organizations as u64, "organization"),
        output::many(members.unsigned_abs(), "member"),
        output::many(payments.unsigned_abs(), "payment")
    ))
}

#[cfg(test)]
mod tests {
    use bursar_app::check::check;
    use bursar_app::export::export;

    use super::*;

    fn exported(app: &App) -> String {
        let mut bundle = Vec::new();
        app.survey(Identity::Operator, |whole| {
            export(whole, None, &mut bundle, &mut |_| {})
        })
        .map_err(drop)
        .unwrap();
        String::from_utf8(bundle).unwrap()
    }

    /// The days on which a calendar goes wrong.
    #[test]
    fn every_day_has_a_demonstration() {
        for day in ["2026-03-01", "2028-02-29", "2026-12-31"] {
            let folder = tempfile::tempdir().unwrap();
            let url = format!("sqlite:{}", folder.path().join("demo.db").display());
            let app = open(&url.parse().unwrap(), &Options::default(), Opening::Migrate).unwrap();
            let today = Date::parse(day).unwrap();
            let app = app.at(Arc::new(move || today.plus_days(1).start()));
            bring_in(&app, 3, today).unwrap();
            live(&app, 3, today).unwrap();
            let done = app
                .survey::<_, AppError>(Identity::Operator, |whole| check(whole, &mut |_| {}))
                .unwrap();
            assert!(done.problems.is_empty(), "{day}: {:?}", done.problems);
            let bundle = exported(&app);
            live(&app, 3, today).unwrap();
            assert!(exported(&app) == bundle, "what was lived is not lived again");
            for line in bundle.lines() {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                let at = record["updatedAt"].as_str().unwrap_or_default();
                assert!(at < day, "{day} is not over when this happens: {line}");
            }
            app.shutdown();
        }
    }
}
