//! The table of each resource. Its columns follow from the resource's fields.

use std::sync::OnceLock;

use bursar_domain::Resource;
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::chapter::Chapter;
use bursar_domain::group::Group;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

use crate::engine::{ColumnType, LoadTarget};
use crate::table::{COMMON, Stored, Table, columns};

/// Declares tables: name, number in `history`, filter columns and their indexes.
macro_rules! tables {
    ($($name:ident: $resource:ident = $table:literal, list $list:literal, filters [$($filter:literal),*], indexes [$($index:literal),*];)*) => {
        $(
            pub(crate) static $name: Table = Table {
                target: LoadTarget {
                    table: $table,
                    columns: {
                        const N: usize = COMMON.len() + $resource::FIELDS.len();
                        const COLUMNS: [(&str, ColumnType); N] = columns::<$resource, N>();
                        &COLUMNS
                    },
                },
                list: $list,
                filters: &[$($filter),*],
                indexes: &[$($index),*],
                texts: OnceLock::new(),
                walks: OnceLock::new(),
            };

            impl Stored for $resource {
                fn table() -> &'static Table {
                    &$name
                }
            }
        )*

        /// In the order of the data bundle, which has chapters as organizations.
        pub static TABLES: [&Table; 10] = [$(&$name),*];
    };
}

// A member's row has the ids of its groups; `memberships` leads from a group to its members. Items of listings and
// lines of orders are kept as JSON, because nothing queries them one by one. A row of `chapters` belongs to the parent;
// its id is the chapter's, and the truth about it is in `organizations`.
tables! {
    MEMBERS: Member = "members", list 1, filters ["is_active"], indexes ["active"];
    GROUPS: Group = "groups", list 2, filters [], indexes [];
    PAYMENTS: Payment = "payments", list 3, filters ["member_id", "status"], indexes ["member", "status", "member_status"];
    REIMBURSEMENTS: Reimbursement = "reimbursements", list 4, filters ["status"], indexes ["status"];
    REMINDERS: Reminder = "reminders", list 5, filters ["status"], indexes ["status"];
    CARDS: Card = "cards", list 6, filters ["status"], indexes ["status"];
    CAMPAIGNS: Campaign = "campaigns", list 7, filters ["status"], indexes ["status"];
    LISTINGS: Listing = "listings", list 8, filters [], indexes [];
    ORDERS: Order = "orders", list 9, filters ["member_id", "status", "listing_id"], indexes [
        "member", "status", "member_status", "listing", "member_listing", "status_listing", "member_status_listing"
    ];
    CHAPTERS: Chapter = "chapters", list 10, filters [], indexes [];
}
