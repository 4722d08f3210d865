//! What a page of a list costs in instructions, straight from the engine.
//!
//! Counts do not depend on how busy the machine is. A run of `2 K` pages less a run of `K` pages leaves the cost of
//! `K`: opening the file, preparing statements and the benchmark's own start drop out.

use std::path::{Path, PathBuf};

use bursar_db::walk::{self, Ask, Page, WalkError};
use bursar_db::{DatabaseUrl, Db, Opening, Options};
use bursar_domain::cursor::{Belongs, Cursor, Filters};
use bursar_domain::ids::OrganizationId;
use bursar_domain::member::Member;
use bursar_domain::page::PageLimit;
use serde_json::json;

use crate::bundle::Size;
use crate::{Args, Outcome, bundle, callgrind, database, report};

const INSTRUCTIONS_MAX: u64 = 130_000;
/// Ratios are in thousandths: deep to first, and the largest database to the smallest.
const RATIO_MAX: u64 = 1_100;
const PATH: &str = "/v1/members";

/// `bench page`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let pages = args.number("pages", 200)?;
    let sizes = args.text("members").unwrap_or("10000,1000000").split(',');
    let sizes: Vec<u64> = sizes
        .map(|size| size.parse().map_err(|_| format!("--members: {size}")))
        .collect::<Result<_, _>>()?;
    let mut counted: Vec<(u64, u64, u64)> = Vec::new();
    for members in sizes {
        let target = build(&scratch, members)?;
        let first = count(&target, "first", pages)?;
        let deep = count(&target, "deep", pages)?;
        counted.push((members, first, deep));
    }
    let (_, smallest_first, smallest_deep) = *counted.first().ok_or("--members is empty")?;
    let thousandths = |a: u64, b: u64| a * 1_000 / b.max(1);
    let shown = |ratio: u64| format!("{}.{:03}", ratio / 1_000, ratio % 1_000);
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for (members, first, deep) in &counted {
        let ratios = [
            ("deep to first", thousandths(*deep, *first)),
            (
                "first to the smallest database's",
                thousandths(*first, smallest_first),
            ),
            (
                "deep to the smallest database's",
                thousandths(*deep, smallest_deep),
            ),
        ];
        rows.push(vec![
            report::grouped(*members),
            report::grouped(*first),
            report::grouped(*deep),
            shown(ratios[0].1),
            shown(ratios[1].1),
            shown(ratios[2].1),
        ]);
        figures.push(json!({ "members": members, "firstPage": first, "deepestPage": deep }));
        for (name, count) in [("first", *first), ("deepest", *deep)] {
            if count > INSTRUCTIONS_MAX {
                missed.push(format!("{name} page of {members}: {count} instructions"));
            }
        }
        for (name, ratio) in ratios.iter().filter(|(_, ratio)| *ratio > RATIO_MAX) {
            missed.push(format!("{members} members, {name}: {}", shown(*ratio)));
        }
    }
    println!("instructions a page of 50 members, SQLite (limits: 130,000; ratios 1.100)");
    report::table(
        &[
            "members",
            "first",
            "deepest",
            "deep/first",
            "first/smallest",
            "deep/smallest",
        ],
        &rows,
    );
    report::save(
        "page",
        &json!({ "unit": "instructions a page of 50, callgrind", "pages": pages, "sizes": figures }),
    )?;
    report::verdict(&missed)
}

/// A database of one organization, with the cursor of its deepest page.
struct Target {
    database: PathBuf,
    organization: OrganizationId,
    cursor: String,
}

fn build(scratch: &Path, members: u64) -> Outcome<Target> {
    let database = scratch.join(format!("page-{members}.db"));
    let bundle = scratch.join(format!("page-{members}.ndjson"));
    let size = Size {
        members,
        organizations: 1,
        charges: 0,
    };
    let organization = bundle::write(&bundle, size)?.first().ok_or("no organization")?.id;
    let url = DatabaseUrl::Sqlite(database.clone());
    if !database.exists() {
        eprintln!("building a database of {} members", report::grouped(members));
        let db = database::open(&url, &Options::default())?;
        let filled = database::fill(&db, &bundle);
        db.shutdown();
        // Half a database must not be taken for a whole one next time: the import is all or nothing.
        if filled.is_err() {
            database::remove(&database);
        }
        filled?;
    }
    std::fs::remove_file(&bundle).map_err(|error| error.to_string())?;
    let cursor = deepest(&url, organization)?.encode(belongs(organization));
    Ok(Target {
        database,
        organization,
        cursor,
    })
}

fn belongs(organization: OrganizationId) -> Belongs<'static> {
    Belongs {
        organization,
        path: PATH,
        words: &[],
    }
}

/// Walks the whole list and keeps the cursor of its last full page.
fn deepest(url: &DatabaseUrl, organization: OrganizationId) -> Outcome<Cursor> {
    let db = database::open(url, &Options::default())?;
    let mut page = first_page(&db, organization)?;
    let mut last_full = page.next.ok_or("the list has one page only")?;
    while let Some(cursor) = page.next {
        page = next_page(&db, organization, cursor)?;
        if page.count == PageLimit::DEFAULT.rows() {
            last_full = cursor;
        }
    }
    Ok(last_full)
}

/// What HTTP appends a page to.
pub(crate) fn begun() -> Vec<u8> {
    b"{\"data\":[".to_vec()
}

/// A page as HTTP asks for it.
pub(crate) fn ask(organization: OrganizationId) -> Ask {
    Ask {
        organization,
        limit: PageLimit::DEFAULT,
    }
}

fn first_page(db: &Db, organization: OrganizationId) -> Outcome<Page> {
    let read = db.read(move |tx| {
        walk::first_page::<Member>(
            tx,
            ask(organization),
            Filters::default(),
            database::now(),
            begun(),
        )
    });
    read.wait().map_err(|error: WalkError| format!("{error:?}"))
}

fn next_page(db: &Db, organization: OrganizationId, cursor: Cursor) -> Outcome<Page> {
    let read = db.snapshot(move |tx| walk::next_page::<Member>(tx, ask(organization), &cursor, begun()));
    read.wait().map_err(|error: WalkError| format!("{error:?}"))
}

/// The instructions of one page.
fn count(target: &Target, which: &str, pages: u64) -> Outcome<u64> {
    callgrind::of_one(pages, |pages| {
        let words = [
            "pages",
            "--which",
            which,
            "--pages",
            &pages.to_string(),
            "--database",
            &target.database.display().to_string(),
            "--organization",
            &target.organization.to_string(),
            "--cursor",
            &target.cursor,
        ];
        callgrind::instructions(&words, None)
    })
}

/// `bench pages`, which `bench page` runs under callgrind.
pub(crate) fn read_pages(args: &Args) -> Outcome {
    let path = args.text("database").ok_or("--database is required")?;
    let organization = args.text("organization").and_then(OrganizationId::parse);
    let organization = organization.ok_or("--organization is required")?;
    let text = args.text("cursor").ok_or("--cursor is required")?;
    let cursor = Cursor::decode(text, belongs(organization), &Filters::default(), database::now());
    let cursor = cursor.map_err(|error| format!("--cursor: {error:?}"))?;
    let url = DatabaseUrl::Sqlite(PathBuf::from(path));
    let db = Db::open(&url, &Options::default(), Opening::Require).map_err(|error| error.to_string())?;
    let deep = args.text("which") == Some("deep");
    for _ in 0..args.number("pages", 1)? {
        let page = if deep {
            next_page(&db, organization, cursor)?
        } else {
            first_page(&db, organization)?
        };
        if page.count != PageLimit::DEFAULT.rows() {
            return Err(format!("a page of {} rows", page.count));
        }
    }
    Ok(())
}
