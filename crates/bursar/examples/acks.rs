//! Writes members from several threads and prints the id of each one when it is acknowledged: what the crash tests
//! kill. `acks URL ORGANIZATION GROUP THREADS [WRITES]`

use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use bursar_app::{Act, Actor, AppError, Context};
use bursar_db::{DatabaseUrl, Db, Opening, Options, memberships, table};
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, IdSource, MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::{Refusal, Resource, Stamps, Timestamp};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [url, organization, group, threads, rest @ ..] = &args[..] else {
        return Err("acks URL ORGANIZATION GROUP THREADS [WRITES]".into());
    };
    let url: DatabaseUrl = url.parse()?;
    let organization = OrganizationId::parse(organization).ok_or("not an organization's id")?;
    let group = GroupId::parse(group).ok_or("not a group's id")?;
    let writes: u64 = rest.first().map_or(Ok(u64::MAX), |writes| writes.parse())?;
    let db = Db::open(&url, &Options::default(), Opening::Require)?;
    let threads: Vec<_> = (0..threads.parse::<u64>()?)
        .map(|_| {
            let db = db.clone();
            std::thread::spawn(move || -> Result<(), AppError> {
                let mut ids = IdSource::seeded(RandomState::new().build_hasher().finish());
                for _ in 0..writes {
                    let id = add_member(&db, organization, group, &mut ids)?;
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
fn add_member(
    db: &Db,
    organization: OrganizationId,
    group: GroupId,
    ids: &mut IdSource,
) -> Result<MemberId, AppError> {
    let mut context = Context {
        now: now(),
        ids: ids.fork(),
        actor: Actor::Operator,
        request_id: None,
    };
    let written = db.write(organization.to_bytes(), move |tx| {
        Act::run(tx, &mut context, organization, |act| {
            let found: Option<Group> = table::get(act.tx, organization, group)?;
            let mut found = found.ok_or_else(|| Refusal::missing("the group is gone"))?;
            let id: MemberId = act.new_id();
            let mut member = Member::blank(id, found.currency, Stamps::at(act.tick()));
            member.first_name = "Ada".to_owned();
            member.last_name = "Larsen".to_owned();
            member.email = "ada@example.org".to_owned();
            member.groups = vec![group];
            act.insert(&member)?;
            memberships::add(act.tx, organization, group, id, act.context.now)?;
            found.member_count += 1;
            act.update(&mut found)?;
            act.log("member.create", Some(id.to_string()), None)?;
            Ok::<_, AppError>(id)
        })
    });
    written.wait()
}

#[expect(clippy::disallowed_methods, reason = "this program is an edge of its own")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
