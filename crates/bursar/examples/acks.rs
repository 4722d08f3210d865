//! Writes members from several threads and prints the id of each one when it is acknowledged: what the crash tests
//! kill. `acks URL ORGANIZATION GROUP THREADS [WRITES]`

use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bursar_app::members::{self, NewMember};
use bursar_app::{App, AppError, DatabaseUrl, Identity, Opening, Options};
use bursar_domain::Timestamp;
use bursar_domain::ids::{GroupId, IdSource, MemberId, OrganizationId};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, organization, group, threads, rest @ ..] = &args[..] else {
        return Err("acks URL ORGANIZATION GROUP THREADS [WRITES]".into());
    };
    let url: DatabaseUrl = url.parse()?;
    let organization = OrganizationId::parse(organization).ok_or("not an organization's id")?;
    let group = GroupId::parse(group).ok_or("not a group's id")?;
    let writes: u64 = rest.first().map_or(Ok(u64::MAX), |writes| writes.parse())?;
    let ids = IdSource::seeded(RandomState::new().build_hasher().finish());
    let app = App::open(&url, &Options::default(), Opening::Require, Arc::new(now), ids)?;
    let threads: Vec<_> = (0..threads.parse::<u64>()?)
        .map(|_| {
            let app = app.clone();
            std::thread::spawn(move || -> Result<(), AppError> {
                for _ in 0..writes {
                    let id = add_member(&app, organization, group)?;
                    // One write a line, whatever the others print meanwhile. Nobody reads: nobody to tell.
                    let _ = std::io::stdout().write_all(format!("{id}\n").as_bytes());
                }
                Ok(())
            })
        })
        .collect();
    for thread in threads {
        thread.join().map_err(|_| "a writer panicked")??;
    }
    Ok(())
}

/// One transaction over four tables: a member, its membership, the group's count and history, an activity line.
fn add_member(app: &App, organization: OrganizationId, group: GroupId) -> Result<MemberId, AppError> {
    let new = NewMember {
        first_name: "Ada".to_owned(),
        last_name: "Larsen".to_owned(),
        email: Some("ada@example.org".to_owned()),
        phone: None,
        join_date: None,
        groups: vec![group],
    };
    let written = app.act(Identity::Operator, organization, move |act| {
        members::add(act, &new).map(|added| added.member.id)
    });
    written.wait()
}

#[expect(clippy::disallowed_methods, reason = "this program is an edge of its own")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
