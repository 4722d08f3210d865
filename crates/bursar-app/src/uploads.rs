//! Files between two forms of the console: a person uploads one, sees what it would do, and says so or not. It is the
//! person's alone, and is kept for an hour.

use bursar_db::uploads::{self, Upload};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::attachment::FILE_NAME;
use bursar_domain::ids::{UploadId, UserId};

use crate::act::{Act, View};
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;

pub const PARK: Rule = Rule::of("upload.park", Role::Editor, "upload files").people_only();
pub const READ: Rule = Rule::of("upload.read", Role::Editor, "read uploads").people_only();
pub const RULES: &[&Rule] = &[&PARK, &READ];

pub const SIZE_MAX: usize = 10 << 20;
pub const KEPT_SECONDS: i64 = 3_600;
/// Of one person in an organization. A further one replaces the oldest.
const KEPT_MAX: usize = 5;

/// An upload with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    pub id: UploadId,
    pub name: String,
    pub bytes: Vec<u8>,
}

fn person<M>(act: &Act<'_, '_, M>) -> Result<UserId, AppError> {
    match *act.caller() {
        Caller::Person(user, ..) => Ok(user),
        _ => Err(PARK.forbidden()),
    }
}

pub fn park(act: &mut Act<'_, '_>, name: &str, bytes: &[u8]) -> Result<UploadId, AppError> {
    act.allow(&PARK)?;
    let user = person(act)?;
    if bytes.is_empty() || bytes.len() > SIZE_MAX {
        let rule = format!(
            "must have 1 byte to {} MB, got {} bytes",
            SIZE_MAX >> 20,
            bytes.len()
        );
        return Err(Refusal::invalid("file", rule).into());
    }
    let cut: String = name.chars().take(FILE_NAME.max).collect();
    let name = FILE_NAME.check(&cut).unwrap_or_else(|_| "file".to_owned());
    let earlier = uploads::of_user(act.tx, act.organization, user)?;
    for old in earlier.iter().skip(KEPT_MAX - 1) {
        uploads::remove(act.tx, act.organization, old.id)?;
    }
    let upload = Upload {
        id: act.new_id(),
        user,
        name,
        size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
        created_at: act.now(),
    };
    uploads::insert(act.tx, act.organization, &upload, bytes)?;
    Ok(upload.id)
}

/// Only for the person who uploaded it.
pub fn get(view: &mut View<'_, '_>, id: UploadId) -> Result<Parked, AppError> {
    view.allow(&READ)?;
    let (user, now) = (person(view)?, view.now());
    let found = uploads::get(view.tx, view.organization, id)?
        .filter(|upload| upload.user == user && upload.created_at.plus_seconds(KEPT_SECONDS) > now);
    let gone = || Refusal::missing("the file is kept for an hour after its upload; choose it again");
    let upload = found.ok_or_else(gone)?;
    let bytes = uploads::bytes(view.tx, view.organization, id)?;
    Ok(Parked {
        id,
        name: upload.name,
        bytes,
    })
}

/// When it has served its purpose. One that is gone, or of somebody else, is left as it is.
pub fn remove(act: &mut Act<'_, '_>, id: UploadId) -> Result<(), AppError> {
    act.allow(&PARK)?;
    let user = person(act)?;
    let found = uploads::get(act.tx, act.organization, id)?;
    if found.is_some_and(|upload| upload.user == user) {
        uploads::remove(act.tx, act.organization, id)?;
    }
    Ok(())
}
