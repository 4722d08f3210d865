//! Drawings beside the names of the menu: strokes on a field of 18 by 18.

/// The path for an entry of the menu, by the end of its address.
pub(crate) fn of(end: &str) -> &'static str {
    match end {
        "" => "M2.5 2.5h5v5h-5zM10.5 2.5h5v5h-5zM2.5 10.5h5v5h-5zM10.5 10.5h5v5h-5z",
        "members" => "M9 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 15.5c.6-3 3-4.5 6-4.5s5.4 1.5 6 4.5",
        "groups" => {
            "M6.5 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 14.5c.4-2.6 2.4-4 5-4s4.6 1.4 5 4\
             M12 3.2a2.5 2.5 0 0 1 0 4.6M13.5 10.8c1.7.5 2.7 1.8 3 3.7"
        }
        "charges" => "M4 2.5h10v13l-2.5-1.5-2.5 1.5-2.5-1.5L4 15.5zM6.5 6.5h5M6.5 9.5h5",
        "money" => "M9 2.5v8M5.5 7.5 9 11l3.5-3.5M2.5 12v3.5h13V12",
        "online" => "M2 4h14v6M2 7h14M2 4v9h6M11.5 13.5l1.8 1.8 3.2-3.6",
        "bank" => "M2.5 7 9 3l6.5 4zM4.5 7v6M7.5 7v6M10.5 7v6M13.5 7v6M2.5 15h13",
        "reimbursements" => "M6.5 4.5 3 8l3.5 3.5M3 8h8a3.5 3.5 0 0 1 0 7H8",
        "journal" => "M4.5 2.5h10v13h-10a1.5 1.5 0 0 1-1.5-1.5V4a1.5 1.5 0 0 1 1.5-1.5zM6.5 2.5v13M9.5 6h2.5",
        "reminders" => {
            "M9 2.5a4 4 0 0 0-4 4c0 4-1.5 5-1.5 6h11c0-1-1.5-2-1.5-6a4 4 0 0 0-4-4zM7.5 15a1.6 1.6 0 0 0 3 0"
        }
        "campaigns" => "M4 16V2.5M4 3h9.5l-2 3.5 2 3.5H4",
        "store" => "M3.5 6h11l.8 9.5H2.7zM6.5 8V5a2.5 2.5 0 0 1 5 0v3",
        "cards" => "M2 4.5h14v9.5H2zM2 7.5h14M4.5 11h3",
        "reports" => "M3 15.5V9M7 15.5V3M11 15.5V7M15 15.5v-4",
        "chapters" => "M7 2.5h4V6H7zM2.5 12h4v3.5h-4zM11.5 12h4v3.5h-4zM9 6v3M4.5 12V9h9v3",
        "activity" => "M9 16A7 7 0 1 0 9 2a7 7 0 0 0 0 14zM9 5.5V9l2.5 1.5",
        "settings" => {
            "M2.5 5h7M13 5h2.5M2.5 13h2M8 13h7.5M11.5 3.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z\
             M6.5 11.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3z"
        }
        _ => "M9 5.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
    }
}
