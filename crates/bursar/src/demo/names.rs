//! Plausible names in several scripts, for the demonstration.

/// Given and family names that go together, script by script.
pub(super) const NAMES: [(&[&str], &[&str]); 8] = [
    (
        &[
            "Alice", "Marcus", "Priya", "Owen", "Sofía", "Liam", "Hannah", "Dario", "Ingrid", "Tomás",
            "Grace", "Noel",
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
        ],
    ),
    (
        &["Łucja", "Zdeněk", "Ágnes", "Şebnem", "Jürgen", "Åse"],
        &["Wójcik", "Dvořák", "Szűcs", "Yıldız", "Größler", "Øvergård"],
    ),
    (
        &["Олена", "Андрій", "Марія", "Иван"],
        &["Шевченко", "Коваленко", "Ткачук", "Орлов"],
    ),
    (
        &["Ελένη", "Νίκος", "Μαρία"],
        &["Παπαδοπούλου", "Γεωργίου", "Οικονόμου"],
    ),
    (&["陽菜", "蓮", "結衣", "大輔"], &["佐藤", "鈴木", "高橋", "渡辺"]),
    (&["서연", "민준", "지우"], &["김", "이", "박"]),
    (&["ليلى", "يوسف", "مريم"], &["حداد", "منصور", "القاضي"]),
    (&["आरव", "अनन्या", "ईशान"], &["शर्मा", "वर्मा", "गुप्ता"]),
];

/// How often each script comes, out of a hundred.
pub(super) const SHARES: [u32; 8] = [62, 12, 6, 4, 5, 4, 4, 3];

/// The chapters: name, city for texts.
pub(super) const CHAPTERS: [&str; 6] = [
    "Harbor Chapter",
    "Lakeside Chapter",
    "Old Town Chapter",
    "North Shore Chapter",
    "Millpond Chapter",
    "Delta Chapter",
];
