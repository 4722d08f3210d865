//! The database: whether it opens, its engine, schema and configuration. Nothing is migrated here.

use std::sync::Arc;

use bursar_app::inspect::{self, EngineFacts, ServerFacts};
use bursar_app::{App, AppError, DatabaseUrl, DbError, Identity, Opening, Options, TlsMode, schema_version};
use bursar_domain::ids::IdSource;

use super::{Finding, Setup, bytes};

/// A larger file is left to `bursar check`, which has a progress bar.
const QUICK_BYTES_MAX: u64 = 256 << 20;

/// Also returns the open database for the other checks.
pub(super) fn check(setup: &Setup<'_>) -> (Vec<Finding>, Option<App>) {
    let url: DatabaseUrl = match setup.database.parse() {
        Ok(url) => url,
        Err(error) => {
            let advice = "give --database sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE";
            return (
                vec![Finding::problem("database", error.to_string(), advice)],
                None,
            );
        }
    };
    let options = Options {
        connections: 2,
        ..Options::default()
    };
    let now = setup.now;
    // Nothing is created that needs an id.
    let ids = IdSource::seeded(0);
    let app = match App::open(&url, &options, Opening::Require, Arc::new(move || now), ids) {
        Ok(app) => app,
        Err(error) => return (vec![not_opened(&error)], None),
    };
    let mut findings = Vec::new();
    match app.survey(Identity::Operator, inspect::engine) {
        Ok(EngineFacts::Sqlite {
            version,
            journal_mode,
        }) => {
            let file = setup.database_file().unwrap_or_default();
            findings.push(Finding::ok(
                "database",
                format!(
                    "SQLite {version} in {}, journal mode {journal_mode}, synchronous full",
                    file.display()
                ),
            ));
        }
        Ok(EngineFacts::Postgres(facts)) => findings.extend(server(setup, &facts)),
        Err(AppError::Db(error)) => findings.push(not_opened(&error)),
        Err(error) => findings.push(Finding::problem(
            "database",
            error.to_string(),
            "run `bursar check`",
        )),
    }
    findings.push(schema(&app));
    findings.extend(integrity(setup, &app));
    (findings, Some(app))
}

/// Opening has verified it. What an operator added is harmless, but worth knowing.
fn schema(app: &App) -> Finding {
    match app.examine_schema().wait() {
        Ok(beside) if beside.is_empty() => Finding::ok(
            "schema",
            format!("version {}, this program's own", schema_version()),
        ),
        Ok(beside) => Finding::ok(
            "schema",
            format!(
                "version {}, this program's own; beside it: {}",
                schema_version(),
                beside.join(", ")
            ),
        ),
        Err(error) => not_opened(&error),
    }
}

fn not_opened(error: &DbError) -> Finding {
    match error {
        DbError::NoDatabase(line) => Finding::warning(
            "database",
            line.split("; ").next().unwrap_or(line),
            "`bursar serve` creates it on first start; if it should exist, check --database and the working directory",
        ),
        DbError::SchemaOlder { found: 0, wanted } => Finding::warning(
            "schema",
            format!("the database is empty, this program has version {wanted}"),
            "`bursar serve` creates the tables on first start",
        ),
        DbError::SchemaOlder { found, wanted } => Finding::warning(
            "schema",
            format!("version {found}, this program has {wanted}"),
            "`bursar serve` brings it up at its start: make a backup first",
        ),
        DbError::SchemaNewer { found, known } => Finding::problem(
            "schema",
            format!("version {found}, this program knows only {known}"),
            "use the newer version of bursar that created it",
        ),
        DbError::SchemaDamaged(what) => Finding::problem(
            "schema",
            what.clone(),
            "restore a backup, or put back what was removed",
        ),
        DbError::Unavailable(why) => Finding::problem(
            "database",
            why.clone(),
            "start the database server, or correct --database",
        ),
        DbError::Full(why) => Finding::problem("database", why.clone(), "free some space on its disk"),
        // These messages name the way out themselves.
        DbError::Foreign(line)
        | DbError::FileReplaced(line)
        | DbError::Unwritable(line)
        | DbError::BadUrl(line) => {
            let (found, advice) = line.rsplit_once("; ").unwrap_or((line, "correct --database"));
            Finding::problem("database", found, advice)
        }
        DbError::Constraint(_) | DbError::Panicked(_) | DbError::Internal(_) => Finding::problem(
            "database",
            error.to_string(),
            "run `bursar check`, and restore a backup if it finds damage",
        ),
    }
}

fn server(setup: &Setup<'_>, facts: &ServerFacts) -> Vec<Finding> {
    // Packagers append their own text.
    let version = facts.version.split(' ').next().unwrap_or_default();
    let mut findings = vec![Finding::ok("database", format!("PostgreSQL {version}"))];
    if let Some(DatabaseUrl::Postgres(url)) = setup.url()
        && url.is_remote()
    {
        findings.push(encryption(url.tls_mode()));
    }
    if facts.is_standby {
        findings.push(Finding::problem(
            "database",
            "the server is a standby and takes no writes",
            "give --database the address of the primary",
        ));
    }
    if let Some(withheld) = &facts.withheld {
        let tables = match withheld.tables.as_slice() {
            [one] => one.clone(),
            several => format!("{} tables", several.len()),
        };
        let what = format!("the user may not select, insert, update and delete in {tables}");
        findings.push(Finding::problem("database rights", what, &withheld.advice));
    }
    for setting in &facts.unsafe_settings {
        findings.push(Finding::problem(
            "database",
            format!("{setting}: a crash can lose what was acknowledged"),
            "turn it on in postgresql.conf, and reload",
        ));
    }
    let another = "create another with `createdb --template=template0 --locale=C --encoding=UTF8 NAME`, and move the data \
                   there with `bursar copy`; the server does not start on this one";
    if facts.encoding != "UTF8" {
        let what = format!("the database is encoded in {}, not in UTF8", facts.encoding);
        findings.push(Finding::problem("encoding", what, another));
    }
    if !facts.sorts_by_bytes {
        let what = format!("the database sorts texts as {}, not as C", facts.collation);
        findings.push(Finding::problem("collation", what, another));
    }
    findings.push(connections(setup, facts));
    findings
}

/// How the connection to a server on another machine is protected.
fn encryption(mode: TlsMode) -> Finding {
    let weakness = match mode {
        TlsMode::VerifyFull => {
            return Finding::ok(
                "database TLS",
                "the server's certificate is verified (sslmode=verify-full)",
            );
        }
        TlsMode::Disable => "the connection is not encrypted",
        TlsMode::Prefer => {
            "the connection is encrypted only if the server offers it, and any server is trusted"
        }
        TlsMode::Require => "the connection is encrypted, but any server is trusted",
        TlsMode::VerifyCa => "any server with a certificate of the authority is trusted",
    };
    Finding::warning(
        "database TLS",
        format!("{weakness} (sslmode={})", mode.name()),
        "leave sslmode out of --database, so that the certificate is verified, and name its authority with sslrootcert=FILE",
    )
}

/// A server has as many lanes as readers, at least two of each, and sometimes one more for long work.
fn connections(setup: &Setup<'_>, facts: &ServerFacts) -> Finding {
    let asked = i64::from(setup.serve.database_connections);
    let wanted = (asked / 2).max(2) * 2 + 1;
    let (max, others) = (facts.connections_max, facts.connections_of_others);
    let found = format!("{wanted} wanted, {max} allowed, {others} in use by others");
    if wanted > max {
        let advice = "lower --database-connections, or raise max_connections in postgresql.conf";
        return Finding::problem("connections", found, advice);
    }
    if wanted > max - others {
        let advice = "no trouble if those are a bursar that is being replaced; else lower --database-connections, or raise max_connections";
        return Finding::warning("connections", found, advice);
    }
    Finding::ok("connections", found)
}

fn integrity(setup: &Setup<'_>, app: &App) -> Option<Finding> {
    let file = setup.database_file()?;
    let size = std::fs::metadata(&file).ok()?.len();
    if size > QUICK_BYTES_MAX {
        return Some(Finding::ok(
            "integrity",
            format!(
                "not looked at, the file has {}: `bursar check` does it",
                bytes(size)
            ),
        ));
    }
    let damage = app.survey::<_, AppError>(Identity::Operator, inspect::damage);
    Some(match damage {
        Ok(lines) => match lines.first() {
            None => Finding::ok(
                "integrity",
                "the file is intact; `bursar check` verifies the data",
            ),
            Some(first) => Finding::problem(
                "integrity",
                format!("SQLite finds {} faults, the first: {first}", lines.len()),
                "stop the server, keep a copy of the file, and restore a backup",
            ),
        },
        Err(error) => Finding::problem("integrity", error.to_string(), "restore a backup"),
    })
}
