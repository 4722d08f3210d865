//! `bursar demo`: a database worth looking at, and a server on it.

mod bank;
pub(crate) mod cards;
mod data;
mod life;
mod mail;
mod names;
mod online;
mod welcome;

use std::io::{BufRead, Cursor};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::{fs, thread};

use bursar_app::import::{Progress, Source, import};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{
    App, AppError, DatabaseUrl, Identity, Opening, Options, member_access, organizations, roles,
};
use bursar_domain::Date;
use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::ids::{IdSource, MemberId, OrganizationId, TokenId};
use bursar_domain::organization::{Organization, OrganizationKind};
use clap::Args;

use crate::ambient;
use crate::cli::serve::{ServeArgs, Until, serve, start_log};
use crate::cli::{Failure, Globals, Outcome, open, output, sign_in};
use cards::CardDesk;
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
    // Where browsers reach a server that listens on all addresses, such as one in a container.
    if serve_args.listen.ip().is_unspecified() && serve_args.listen.port() != 0 {
        let port = serve_args.listen.port();
        serve_args
            .base_url
            .get_or_insert_with(|| format!("http://localhost:{port}"));
    }
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
    let desk = card_desk(&url, is_new, &app)?;
    let key = &mut serve_args.send.webhook.key;
    if key.secret_key_file.is_none() {
        key.secret_key_file = online::key_file(&url)?;
    }
    online::connect(&app, &key.file(&url), &desk, args.seed, today)?;
    mail::send(&app, args.seed, today)?;
    serve_args.send.online.stand_in(desk.url());
    serve_args.demo = Some(Arc::clone(&desk.counter));
    let member = online::somebody(&app, organization)?;
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
    let door = app.clone();
    serve(app, &url, &serve_args, Until::Signalled, &mut |address| {
        let page = member.and_then(|member| member_page(&door, organization, member));
        match globals.json {
            true => output::document(&welcome.for_machines(address, page.as_ref()).to_string()),
            false => welcome.show(address, page.as_ref()),
        }
    })
}

/// The demo's own card provider, with what it knew before.
fn card_desk(url: &DatabaseUrl, is_new: bool, app: &App) -> Result<CardDesk, Failure> {
    let file = online::state_file(url);
    // That of a database that is gone.
    if is_new && file.exists() {
        fs::remove_file(&file).map_err(|error| format!("{} cannot be removed: {error}", file.display()))?;
    }
    // Without its file it must not give ids a second time.
    let number = match is_new {
        true => 0,
        false => app.now().micros().div_euclid(1_000_000).unsigned_abs(),
    };
    Ok(CardDesk::start(
        (Ipv4Addr::LOCALHOST, 0).into(),
        Some(file),
        number,
    )?)
}

/// A member's name and a link to their page. The server that has just started has said where it is.
fn member_page(app: &App, organization: OrganizationId, member: MemberId) -> Option<(String, String)> {
    // This is called on a thread that must not wait.
    let asked = thread::scope(|scope| {
        let ask = || {
            let link = app.view::<_, AppError>(Identity::Operator, organization, move |view| {
                member_access::link(view, member)
            });
            link.wait()
        };
        scope.spawn(ask).join()
    });
    match asked {
        Ok(Ok((member, link, _))) => Some((format!("{} {}", member.first_name, member.last_name), link)),
        _ => None,
    }
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
    Ok(())
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
    use bursar_app::secrets::KeyFile;

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

    // The days on which a calendar goes wrong.

    #[test]
    fn the_first_of_march_has_a_demonstration() {
        demonstrate("2026-03-01");
    }

    #[test]
    fn a_leap_day_has_a_demonstration() {
        demonstrate("2028-02-29");
    }

    #[test]
    fn the_last_day_of_a_year_has_a_demonstration() {
        demonstrate("2026-12-31");
    }

    fn demonstrate(day: &str) {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("demo.db").display());
        let app = open(&url.parse().unwrap(), &Options::default(), Opening::Migrate).unwrap();
        let today = Date::parse(day).unwrap();
        let app = app.at(Arc::new(move || today.plus_days(1).start()));
        bring_in(&app, 3, today).unwrap();
        let desk = CardDesk::start((Ipv4Addr::LOCALHOST, 0).into(), None, 0).unwrap();
        let keys = KeyFile::of(&url.parse().unwrap(), None);
        let live = || {
            live(&app, 3, today).unwrap();
            online::connect(&app, &keys, &desk, 3, today).unwrap();
            mail::send(&app, 3, today).unwrap();
        };
        live();
        let done = app
            .survey::<_, AppError>(Identity::Operator, |whole| check(whole, &mut |_| {}))
            .unwrap();
        assert!(done.problems.is_empty(), "{day}: {:?}", done.problems);
        let bundle = exported(&app);
        live();
        assert!(exported(&app) == bundle, "what was lived is not lived again");
        for line in bundle.lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let at = record["updatedAt"].as_str().unwrap_or_default();
            assert!(at < day, "{day} is not over when this happens: {line}");
        }
        app.shutdown();
    }
}
