//! Callers: threads that patch members, each change one put with its history and one activity line.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bursar_app::{App, AppError, Identity, members};
use bursar_db::{Db, Reply};
use bursar_domain::cursor::Filters;
use bursar_domain::ids::{IdSource, MemberId, OrganizationId};
use bursar_domain::member::{Member, MemberChange};

use crate::{Outcome, database, page};

/// Changes a member's name, as `PATCH /v1/members/{id}` does.
pub(crate) fn patch(
    db: &Db,
    organization: OrganizationId,
    member: MemberId,
    ids: &mut IdSource,
    n: u64,
) -> Reply<(), AppError> {
    let app = App::new(db.clone(), Arc::new(database::now), ids.fork());
    let change = MemberChange {
        first_name: Some(format!("Name {n}")),
        ..MemberChange::default()
    };
    app.act(Identity::Operator, organization, move |act| {
        members::change(act, member, &change).map(drop)
    })
}

/// Reads the first page of the members.
pub(crate) fn list(db: &Db, organization: OrganizationId) -> Outcome {
    let now = database::now();
    let page = db.read(move |tx| {
        bursar_db::walk::first_page::<Member>(
            tx,
            page::ask(organization),
            Filters::default(),
            now,
            page::begun(),
        )
    });
    page.wait()
        .map(drop)
        .map_err(|error: bursar_db::walk::WalkError| format!("{error:?}"))
}

/// Patches members until told to stop, one caller a member and one call after the other; how long each call took.
pub(crate) fn patch_until(
    db: &Db,
    organization: OrganizationId,
    members: &[MemberId],
    stop: &AtomicBool,
) -> Outcome<Vec<Duration>> {
    let run = |seed: u64, member: MemberId| -> Outcome<Vec<Duration>> {
        let mut ids = IdSource::seeded(seed);
        let mut times = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let since = Instant::now();
            let n = times.len() as u64;
            patch(db, organization, member, &mut ids, n)
                .wait()
                .map_err(|error| error.to_string())?;
            times.push(since.elapsed());
        }
        Ok(times)
    };
    std::thread::scope(|scope| {
        let callers: Vec<_> = (3..)
            .zip(members)
            .map(|(seed, member)| scope.spawn(move || run(seed, *member)))
            .collect();
        let mut all = Vec::new();
        for caller in callers {
            all.extend(caller.join().map_err(|_| "a caller panicked")??);
        }
        Ok(all)
    })
}

/// Sets the flag when this long has passed.
pub(crate) fn stop_after(stop: &AtomicBool, time: Duration) {
    std::thread::sleep(time);
    stop.store(true, Ordering::Relaxed);
}
