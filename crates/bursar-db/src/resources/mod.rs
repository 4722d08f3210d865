//! How each resource lies in its table.

pub(crate) mod campaigns;
pub(crate) mod cards;
pub(crate) mod groups;
pub(crate) mod listings;
pub(crate) mod members;
pub(crate) mod orders;
pub(crate) mod payments;
pub(crate) mod reimbursements;
pub(crate) mod reminders;

use crate::table::Table;

/// Every resource's table, in the order of the data bundle.
pub static TABLES: [&Table; 9] = [
    &members::MEMBERS,
    &groups::GROUPS,
    &payments::PAYMENTS,
    &reimbursements::REIMBURSEMENTS,
    &reminders::REMINDERS,
    &cards::CARDS,
    &campaigns::CAMPAIGNS,
    &listings::LISTINGS,
    &orders::ORDERS,
];
