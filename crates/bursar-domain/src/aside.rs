//! What is kept beside a row, so that a page need not read all rows: a charge in the sums of its day and group, a member
//! under the words that find it.

use crate::ids::GroupId;
use crate::time::Date;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aside {
    Charge(Charged),
    /// In order, each once.
    Words(Vec<String>),
}

/// What a charge adds to the sums of its due day and group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    pub due: Option<Date>,
    pub group: Option<GroupId>,
    pub sums: Sums,
}

/// In minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// What was charged; of a cancelled charge, what was paid.
    pub expected: i64,
    pub collected: i64,
    /// What can be paid now.
    pub open: i64,
}
