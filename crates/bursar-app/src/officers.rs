//! Who may act for an organization: its people, by their role, and the operator.

use bursar_domain::access::Role;

use crate::act::Act;
use crate::error::AppError;
use crate::rule::Rule;

/// Refuses a caller below `least`.
pub(crate) fn require(act: &mut Act<'_, '_>, least: Role, deed: &'static str) -> Result<(), AppError> {
    act.allow(&Rule::of("", least, deed))
}
