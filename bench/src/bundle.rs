//! Bundles of members, groups, memberships and charges, the same for the same numbers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use bursar_domain::Timestamp;
use bursar_domain::ids::{GroupId, IdSource, MemberId, OrganizationId, PaymentId};

use crate::{Args, Outcome, database};

/// Groups of each organization; a member is in two of them.
const GROUPS: u64 = 10;
/// The instant at which the first member was made: 2025-01-01.
const START_MICROS: i64 = 1_735_689_600_000_000;
const FIRST: [&str; 8] = [
    "Ada",
    "Łukasz",
    "Zoë",
    "Grace",
    "Omar",
    "Ines",
    "Tariq",
    "Marguerite",
];
const LAST: [&str; 8] = [
    "Larsen",
    "Żak",
    "O'Neil",
    "Hopper",
    "Farouk",
    "Castellanos",
    "Ito",
    "Featherstone",
];

/// How large a bundle is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) members: u64,
    pub(crate) organizations: u64,
    /// Of each member.
    pub(crate) charges: u64,
}

impl Size {
    /// The lines of the bundle.
    pub(crate) fn records(self) -> u64 {
        self.members * (1 + self.charges) + self.organizations * (1 + GROUPS)
    }
}

/// An organization of a bundle.
pub(crate) struct Tenant {
    pub(crate) id: OrganizationId,
    groups: Vec<GroupId>,
    /// Its first members, one for a caller.
    pub(crate) members: Vec<MemberId>,
}

/// Members that a tenant remembers.
const MEMBERS_KEPT: usize = 1_000;

/// Writes a bundle and returns the organizations in it.
pub(crate) fn write(path: &Path, size: Size) -> Outcome<Vec<Tenant>> {
    let unwritable = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).map_err(unwritable)?);
    let organizations = lines(&mut out, size).map_err(unwritable)?;
    out.flush().map_err(unwritable)?;
    Ok(organizations)
}

fn lines(out: &mut impl Write, size: Size) -> std::io::Result<Vec<Tenant>> {
    let mut ids = IdSource::seeded(1);
    let at = |micros: u64| Timestamp::from_micros(START_MICROS + i64::try_from(micros).unwrap_or(0));
    let mut tenants: Vec<Tenant> = Vec::new();
    for n in 0..size.organizations {
        let id: OrganizationId = ids.next(at(n));
        let kind = if n == 0 { "national" } else { "chapter" };
        let parent = tenants
            .first()
            .map_or("null".to_owned(), |first| format!("\"{}\"", first.id));
        writeln!(
            out,
            r#"{{"type":"organization","id":"{id}","name":"Chapter {n}","kind":"{kind}","parentId":{parent}}}"#
        )?;
        tenants.push(Tenant {
            id,
            groups: (0..GROUPS).map(|_| ids.next(at(n))).collect(),
            members: Vec::new(),
        });
    }
    for Tenant { id, groups, .. } in &tenants {
        for (n, group) in groups.iter().enumerate() {
            writeln!(
                out,
                r#"{{"type":"group","id":"{group}","organizationId":"{id}","name":"Group {n}","amountDue":"25.00","dueDate":"2025-02-01","isRecurring":true,"recurringInterval":"monthly"}}"#
            )?;
        }
    }
    let mut tenant = 0;
    for n in 0..size.members {
        let at = at((n + 1) * 1_000_000);
        let id = member_line(out, &mut tenants[tenant], &mut ids, n, at)?;
        for month in 0..size.charges {
            charge_line(out, &tenants[tenant], ids.next(at), (id, n, month))?;
        }
        tenant = (tenant + 1) % tenants.len();
    }
    Ok(tenants)
}

/// Members come a second apart: an organization of a million did not join in one microsecond.
fn member_line(
    out: &mut impl Write,
    tenant: &mut Tenant,
    ids: &mut IdSource,
    n: u64,
    at: Timestamp,
) -> std::io::Result<MemberId> {
    let id: MemberId = ids.next(at);
    if tenant.members.len() < MEMBERS_KEPT {
        tenant.members.push(id);
    }
    let pick = |n: u64, words: [&'static str; 8]| words[usize::try_from(n % 8).unwrap_or(0)];
    let group = |n: u64| tenant.groups[usize::try_from(n % GROUPS).unwrap_or(0)];
    writeln!(
        out,
        r#"{{"type":"member","id":"{id}","organizationId":"{}","firstName":"{}","lastName":"{}","email":"member{n}@example.org","phone":"+1202555{:04}","isActive":{},"joinDate":"20{:02}-0{}-1{}","groups":["{}","{}"],"createdAt":"{at}","updatedAt":"{at}"}}"#,
        tenant.id,
        pick(n, FIRST),
        pick(n / 8, LAST),
        n % 10_000,
        !(n / 20).is_multiple_of(10),
        n % 25,
        n % 9 + 1,
        n % 10,
        group(n / 20),
        group(n / 20 + 1 + n % 3),
    )?;
    Ok(id)
}

/// Dues of one month after the other, from this January on; of ten charges seven are paid, and one in part.
fn charge_line(
    out: &mut impl Write,
    tenant: &Tenant,
    id: PaymentId,
    (member, n, month): (MemberId, u64, u64),
) -> std::io::Result<()> {
    let group = tenant.groups[usize::try_from(n % GROUPS).unwrap_or(0)];
    let (paid, status) = match (n + month * 3) % 10 {
        0..7 => ("25.00", "paid"),
        7 => ("10.00", "partially_paid"),
        _ => ("0.00", "pending"),
    };
    let year = database::now().to_string();
    writeln!(
        out,
        r#"{{"type":"payment","id":"{id}","organizationId":"{}","memberId":"{member}","groupId":"{group}","description":"Dues","amount":"25.00","currency":"USD","paidToDate":"{paid}","status":"{status}","dueDate":"{}-{:02}-01"}}"#,
        tenant.id,
        year.get(..4).unwrap_or("2025"),
        month % 12 + 1,
    )
}

/// `bench bundle`.
pub(crate) fn write_file(args: &Args) -> Outcome {
    let file = args.text("file").ok_or("--file is required")?;
    let size = Size {
        members: args.number("members", 1_000_000)?,
        organizations: args.number("organizations", 20)?,
        charges: args.number("charges", 0)?,
    };
    write(Path::new(file), size).map(drop)
}
