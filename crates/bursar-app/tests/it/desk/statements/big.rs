//! Many lines in every format, in files that overlap and are imported twice: no line is taken twice, and no proposal is
//! wrong.

use std::collections::{BTreeMap, HashMap};

use bursar_domain::creditor_reference;
use bursar_statements::testing::Writing;
use bursar_statements::{Balance, Day, Line, Options, Statement};
use fastrand::Rng;

use super::*;

/// What a line really is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Truth {
    /// It names this charge of a member.
    Charge(MemberId, PaymentId),
    /// Money of a member, for a charge of its amount.
    Payer(MemberId),
    /// Nobody's: proposing anything is wrong.
    Nothing,
}

struct World {
    people: Vec<(MemberId, String)>,
    /// With the amount in cents.
    charges: Vec<(MemberId, PaymentId, String, i64)>,
}

const FIRST: [&str; 20] = [
    "Anna", "Ben", "Carla", "David", "Eva", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karin", "Leo", "Mia",
    "Nils", "Olga", "Paul", "Rosa", "Samuel", "Tina", "Viktor",
];
const LAST: [&str; 25] = [
    "Abel", "Bauer", "Cohen", "Diaz", "Ebert", "Fischer", "Garcia", "Huber", "Ivanov", "Jansen", "Klein",
    "Lopez", "Meyer", "Novak", "Olsen", "Peters", "Quinn", "Rossi", "Schmidt", "Torres", "Ulrich", "Vogel",
    "Weber", "Young", "Zeller",
];
/// Two of them alike, so that the amount alone does not tell which.
const ROUNDS: [i64; 4] = [4_000, 4_000, 2_500, 6_050];

fn found(desk: &Desk, members: usize) -> World {
    let group = desk.group("All").id;
    let mut people = Vec::new();
    for at in 0..members {
        let (first, last) = (FIRST[at % 20], LAST[at / 20 % 25]);
        let new = NewMember {
            first_name: first.into(),
            last_name: last.into(),
            email: None,
            groups: vec![group],
            ..NewMember::default()
        };
        let member = desk.act(move |act| members::add(act, &new)).member.id;
        people.push((member, format!("{first} {last}")));
    }
    let mut charges = Vec::new();
    for cents in ROUNDS {
        let mut new = super::super::charges(
            Debtor::Group(group),
            &format!("{}.{:02}", cents / 100, cents % 100),
        );
        new.again = true;
        new.description = format!("Dues of {cents}");
        let raised = desk.act(move |act| payments::raise(act, &new, None));
        for payment in raised.payments {
            let reference = payment.reference.clone().unwrap();
            charges.push((payment.member_id.unwrap(), payment.id, reference, cents));
        }
    }
    World { people, charges }
}

/// A reference as people and banks write it.
fn written(rng: &mut Rng, reference: &str) -> String {
    let spelled = match rng.u8(..5) {
        0 => creditor_reference::spaced(reference),
        1 => reference.to_lowercase(),
        2 => creditor_reference::spaced(reference).to_lowercase(),
        3 => format!("{} {}", &reference[..3], &reference[3..]),
        _ => reference.to_owned(),
    };
    match rng.u8(..4) {
        0 => format!("Dues, {spelled}"),
        1 => format!("{spelled} thank you"),
        2 => format!("payment ({spelled})"),
        _ => spelled,
    }
}

fn account_of(member: usize) -> String {
    format!("DE{:020}", 7_000_000 + member)
}

fn lines(rng: &mut Rng, world: &World, count: usize) -> Vec<(Line, Truth)> {
    let first: Day = "2026-01-05".parse().unwrap();
    let mut free: Vec<usize> = (0..world.charges.len()).collect();
    rng.shuffle(&mut free);
    let place = |id: MemberId| world.people.iter().position(|(member, _)| *member == id).unwrap();
    let mut lines: Vec<(Line, Truth)> = Vec::new();
    for at in 0..count {
        let day = first.saturating_add(jiff::Span::new().days(i64::try_from(at * 60 / count).unwrap()));
        let mut line = Line {
            day,
            value_day: Some(day),
            amount: 0,
            reference: (rng.u8(..5) > 0).then(|| format!("BANK{at:06}")),
            end_to_end: None,
            counterparty_name: Some(format!("Stranger {at}")),
            counterparty_account: Some(format!("FR{:020}", 1_000 + at)),
            text: format!("text {at}"),
            place: 1,
        };
        let truth = match (rng.u8(..100), free.pop()) {
            (0..70, Some(charge)) => {
                let (member, payment, reference, cents) = &world.charges[charge];
                let who = place(*member);
                line.text = written(rng, reference);
                line.amount = match rng.u8(..20) {
                    0 => cents / 2,
                    1 => cents + 700,
                    _ => *cents,
                };
                if rng.bool() {
                    line.counterparty_name = Some(world.people[who].1.to_uppercase());
                }
                line.counterparty_account = Some(account_of(who));
                Truth::Charge(*member, *payment)
            }
            (70..80, Some(charge)) => {
                let (member, _, _, cents) = &world.charges[charge];
                let who = place(*member);
                let name = &world.people[who].1;
                let (given, family) = name.split_once(' ').unwrap();
                line.counterparty_name = Some(match rng.bool() {
                    true => name.clone(),
                    false => format!("{family}, {given}"),
                });
                line.amount = *cents;
                line.counterparty_account = Some(account_of(who));
                Truth::Payer(*member)
            }
            (80..85, Some(charge)) => {
                let (member, _, _, cents) = &world.charges[charge];
                line.amount = *cents;
                line.counterparty_account = Some(account_of(place(*member)));
                Truth::Payer(*member)
            }
            // Foreign references, typing mistakes, other people's money of our amounts, and money out.
            (85..90, _) => {
                line.amount = ROUNDS[rng.usize(..4)];
                line.text = creditor_reference::spaced(&creditor_reference::of_number(rng.i64(10_000_000..)));
                Truth::Nothing
            }
            (90..93, Some(charge)) => {
                let mut reference = world.charges[charge].2.clone().into_bytes();
                let last = reference.len() - 1;
                reference[last] = b'0' + (reference[last] - b'0' + 1) % 10;
                line.amount = world.charges[charge].3;
                line.text = String::from_utf8(reference).unwrap();
                Truth::Nothing
            }
            (93..97, _) => {
                line.amount = -ROUNDS[rng.usize(..4)];
                Truth::Nothing
            }
            _ => {
                line.amount = ROUNDS[rng.usize(..4)];
                Truth::Nothing
            }
        };
        // Now and then the same once more, which only the number of equal lines tells apart.
        if truth == Truth::Nothing && rng.u8(..4) == 0 {
            line.reference = None;
            lines.push((line.clone(), truth.clone()));
        }
        lines.push((line, truth));
    }
    lines
}

fn statement(lines: &[(Line, Truth)], days: (usize, usize)) -> Statement {
    let day = |back: usize| -> Day {
        let first: Day = "2026-01-05".parse().unwrap();
        first.saturating_add(jiff::Span::new().days(i64::try_from(back).unwrap()))
    };
    let (from, until) = (day(days.0), day(days.1));
    let inside: Vec<Line> = lines
        .iter()
        .map(|(line, _)| line.clone())
        .filter(|line| (from..=until).contains(&line.day))
        .collect();
    Statement {
        account: Some("DE00123".into()),
        currency: Some("USD".into()),
        id: Some("S1".into()),
        opening: Some(Balance {
            day: Some(from),
            amount: 100_000,
        }),
        closing: None,
        lines: inside,
    }
}

#[derive(Debug, Default)]
struct Tally {
    right: usize,
    wrong: Vec<String>,
    open: usize,
}

fn play(test: &TestDb, writing: Writing, count: usize, seed: u64) -> Tally {
    let mut rng = Rng::with_seed(seed);
    let desk = Desk::open(test, seed, noon("2026-03-20"));
    let world = found(&desk, (count / 4).clamp(20, 500));
    let lines = lines(&mut rng, &world, count);
    let options = Options {
        currency: "USD".into(),
        decimals: 2,
        columns: Vec::new(),
    };
    // Three files that overlap, each of them twice.
    for days in [(0, 25), (15, 45), (15, 45), (40, 60), (0, 25), (40, 60)] {
        let bytes = writing.write(&statement(&lines, days), &options);
        let done = desk.try_import(file("bank", bytes), false);
        done.unwrap_or_else(|error| panic!("{writing:?}, seed {seed}: {error}"));
    }
    assert_eq!(
        desk.lines().len(),
        lines.len(),
        "{writing:?}, seed {seed}: a line was taken twice or left out"
    );
    // Which line is which, by what no format changes.
    let key = |day: String, amount: i64, account: &str, text: &str| {
        let bare: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
        (day, amount, account.to_owned(), bare)
    };
    let mut truths: BTreeMap<_, Truth> = BTreeMap::new();
    for (line, truth) in &lines {
        let account = line.counterparty_account.as_deref().unwrap_or_default();
        let key = key(line.day.to_string(), line.amount, account, &line.text);
        truths.insert(key, truth.clone());
    }
    let charges: HashMap<PaymentId, MemberId> = world.charges.iter().map(|(m, p, ..)| (*p, *m)).collect();
    let mut tally = Tally::default();
    loop {
        let settled = desk.act(|act| statements::confirm_proposed(act, "bank"));
        if settled.is_empty() {
            break;
        }
        for settled in settled {
            let line = &settled.line;
            let account = line.counterparty_account.as_deref().unwrap_or_default();
            let truth = &truths[&key(line.date.to_string(), line.amount, account, &line.text)];
            let proposed = settled.proposed.unwrap();
            let What::Receipt { payer, payments } = &proposed.proposal.what else {
                tally.wrong.push(format!("{line:?}: {proposed:?}"));
                continue;
            };
            let is_right = match truth {
                Truth::Charge(member, payment) => {
                    *payer == Some(*member) && (payments.contains(payment) || payments.is_empty())
                }
                Truth::Payer(member) => {
                    *payer == Some(*member) && payments.iter().all(|id| charges[id] == *member)
                }
                Truth::Nothing => false,
            };
            match is_right {
                true => tally.right += 1,
                false => tally.wrong.push(format!("{truth:?}: {line:?}: {proposed:?}")),
            }
        }
    }
    tally.open = lines.len() - tally.right - tally.wrong.len();
    let open = desk
        .lines()
        .iter()
        .filter(|shown| shown.line.status == LineStatus::Open)
        .count();
    assert_eq!(open, tally.open);
    assert_eq!(problems(&desk.db), []);
    tally
}

#[test]
fn no_line_is_taken_twice_and_no_proposal_is_wrong() {
    let count = if bursar_testing::is_full() { 2_000 } else { 160 };
    for writing in Writing::ALL {
        let seed = bursar_testing::seed();
        let engines: &[fn() -> TestDb] = match bursar_testing::is_full() || writing == Writing::Camt08 {
            true => &[TestDb::sqlite, TestDb::postgres],
            false => &[TestDb::sqlite],
        };
        for engine in engines {
            let tally = play(&engine(), writing, count, seed);
            println!(
                "{writing:?}, {count} lines, seed {seed}: {} matched right, {} wrong, {} open",
                tally.right,
                tally.wrong.len(),
                tally.open
            );
            assert!(
                tally.wrong.is_empty(),
                "{writing:?}, seed {seed}: {:#?}",
                tally.wrong
            );
            assert!(
                tally.right * 100 >= count * 70,
                "{writing:?}, seed {seed}: only {} are matched",
                tally.right
            );
        }
    }
}
