//! `bursar demo`: a database worth looking at, and a server on it.

mod data;
mod life;
mod names;
mod welcome;

use std::io::{BufRead, Cursor};

use bursar_app::import::{Progress, Source, import};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{AppError, Context};
use bursar_db::{DatabaseUrl, Db, DbError, Opening, Options, organizations, table};
use bursar_domain::Date;
use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::ids::{IdSource, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::organization::OrganizationKind;
use bursar_domain::payment::Payment;
use clap::Args;

use crate::ambient;
use crate::cli::serve::{ServeArgs, serve, start_log};
use crate::cli::{Failure, Outcome, Session, output};
use welcome::Welcome;

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
    let today = ambient::now().date();
    let is_new = db.read(organizations::all).wait()?.is_empty();
    if is_new {
        bring_in(&db, args.seed, today)?;
    }
    let (organization, name) = national(&db)?;
    live(&db, args.seed, today)?;
    let welcome = Welcome {
        token: token(&db, organization)?,
        organization,
        name,
        database: url.to_string(),
        base_url: serve_args.base_url.clone(),
        contents: contents(&db)?,
        is_new,
        since: today.plus_days(-7),
    };
    serve(db, &url, &serve_args, &mut |address| match session.json_asked {
        true => output::document(&welcome.for_machines(address).to_string()),
        false => welcome.show(address),
    })
}

/// Brings in the bundle of everything up to two months ago.
fn bring_in(db: &Db, seed: u64, today: Date) -> Outcome {
    let bundle = data::bundle(seed, today);
    let open = || Ok(Box::new(Cursor::new(bundle.clone().into_bytes())) as Box<dyn BufRead>);
    let bar = output::progress(0, "records");
    bar.set_message("making");
    let mut ids = IdSource::seeded(seed);
    let mut report = |at: Progress| bar.set_position(at.lines);
    import(
        db,
        &Source { open: &open },
        data::as_of(today),
        &mut ids,
        &mut report,
    )?;
    bar.finish_and_clear();
    Ok(())
}

/// Lives the two months since, where an organization has not: a run that was cut short is taken up again. Each life
/// is one transaction, and leaves tokens.
fn live(db: &Db, seed: u64, today: Date) -> Outcome {
    let mut lives = Vec::new();
    for organization in db.read(organizations::all).wait()? {
        let (id, context) = (organization.id, ambient::operator()?);
        let tokens = db
            .read::<_, AppError>(move |tx| tokens::list(tx, &context, id))
            .wait()?;
        if tokens.is_empty() {
            lives.push(db.write::<_, AppError>(id.to_bytes(), move |tx| life::live(tx, id, seed, today)));
        }
    }
    for life in lives {
        life.wait()?;
    }
    Ok(())
}

fn national(db: &Db) -> Result<(OrganizationId, String), Failure> {
    let all = db.read(organizations::all).wait()?;
    let found = all
        .into_iter()
        .find(|o| o.kind == OrganizationKind::National && o.name == data::NATIONAL);
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

/// What there is to look at, in a line.
fn contents(db: &Db) -> Result<String, Failure> {
    let mut counts = [0_u64; 2];
    let organizations = db.read(organizations::all).wait()?.len();
    db.survey::<_, DbError>(|tx| {
        table::each_of_all::<Member>(
            tx,
            |_| true,
            |_, _| {
                counts[0] += 1;
                Ok(())
            },
        )?;
        table::each_of_all::<Payment>(
            tx,
            |_| true,
            |_, _| {
                counts[1] += 1;
                Ok(())
            },
        )
    })?;
    Ok(format!(
        "{}, {} and {}",
        output::many(organizations as u64, "organization"),
        output::many(counts[0], "member"),
        output::many(counts[1], "payment")
    ))
}

#[cfg(test)]
mod tests {
    use bursar_app::check::check;
    use bursar_app::export::export;

    use super::*;

    fn exported(db: &Db) -> String {
        let mut bundle = Vec::new();
        db.survey(|tx| export(tx, None, &mut bundle, &mut |_| {}))
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
            let db = Db::open(&url.parse().unwrap(), &Options::default(), Opening::Migrate).unwrap();
            let today = Date::parse(day).unwrap();
            bring_in(&db, 3, today).unwrap();
            live(&db, 3, today).unwrap();
            let done = db
                .survey::<_, DbError>(|tx| check(tx, today.plus_days(1).start(), &mut |_| {}))
                .unwrap();
            assert!(done.problems.is_empty(), "{day}: {:?}", done.problems);
            let bundle = exported(&db);
            live(&db, 3, today).unwrap();
            assert!(exported(&db) == bundle, "what was lived is not lived again");
            for line in bundle.lines() {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                let at = record["updatedAt"].as_str().unwrap_or_default();
                assert!(at < day, "{day} is not over when this happens: {line}");
            }
            db.shutdown();
        }
    }
}
