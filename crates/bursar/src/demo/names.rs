//! Plausible names in several scripts, for the demo.

/// Given and family names that go together, script by script.
const NAMES: [(&[&str], &[&str]); 8] = [
    (
        &[
            "Alice", "Marcus", "Priya", "Owen", "Sofía", "Liam", "Hannah", "Dario", "Ingrid", "Tomás",
            "Grace", "Noel", "Amara", "Felix", "Rosa", "Caleb", "Nadia", "Theo", "Imani", "Jasper", "Leila",
            "Victor", "Maeve", "Kofi", "Camille", "Ruben", "Beatrice", "Samuel",
        ],
        &[
            "Walker",
            "Brennan",
            "Patel",
            "Okafor",
            "Herrera",
            "Lindqvist",
            "Fischer",
            "Moretti",
            "Dubois",
            "Novak",
            "O'Shea",
            "Baptiste",
            "Nakamura",
            "Adeyemi",
            "Castellano",
            "Whitfield",
            "Mbeki",
            "Johansen",
            "Ferreira",
            "Kowalski",
            "Sinclair",
            "Tran",
            "Haddad",
            "Bergmann",
            "Delgado",
            "Osei",
            "Rahman",
            "Larkin",
        ],
    ),
    (
        &[
            "Łucja", "Zdeněk", "Ágnes", "Şebnem", "Jürgen", "Åse", "Tereza", "Günter", "Šimon", "Élodie",
        ],
        &[
            "Wójcik",
            "Dvořák",
            "Szűcs",
            "Yıldız",
            "Größler",
            "Øvergård",
            "Müller",
            "Šťastná",
            "Lefèvre",
        ],
    ),
    (
        &["Олена", "Андрій", "Марія", "Иван", "Дарина", "Тарас"],
        &["Шевченко", "Коваленко", "Ткачук", "Орлов"],
    ),
    (
        &["Ελένη", "Νίκος", "Μαρία", "Γιώργος"],
        &["Παπαδοπούλου", "Γεωργίου", "Οικονόμου"],
    ),
    (
        &["陽菜", "蓮", "結衣", "大輔", "さくら"],
        &["佐藤", "鈴木", "高橋", "渡辺", "山本"],
    ),
    (&["서연", "민준", "지우", "하은"], &["김", "이", "박", "최"]),
    (&["ليلى", "يوسف", "مريم", "كريم"], &["حداد", "منصور", "القاضي"]),
    (&["आरव", "अनन्या", "ईशान", "मीरा"], &["शर्मा", "वर्मा", "गुप्ता"]),
];

/// In percent.
const SHARES: [u32; 8] = [62, 12, 6, 4, 5, 4, 4, 3];

pub(super) fn name(random: &mut fastrand::Rng) -> (String, String) {
    let mut draw = random.u32(0..SHARES.iter().sum());
    let script = SHARES.iter().position(|share| match draw.checked_sub(*share) {
        Some(left) => {
            draw = left;
            false
        }
        None => true,
    });
    let (given, family) = NAMES[script.unwrap_or(0)];
    let mut pick = |names: &[&str]| names[random.usize(0..names.len())].to_owned();
    (pick(given), pick(family))
}

pub(super) const CHAPTERS: [&str; 6] = [
    "Harbor Chapter",
    "Lakeside Chapter",
    "Old Town Chapter",
    "North Shore Chapter",
    "Millpond Chapter",
    "Delta Chapter",
];
