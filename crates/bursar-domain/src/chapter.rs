//! Chapters: the direct children of an organization, as it sees them.

use crate::resource::{Invariants, resource};
use crate::text::NAME;

resource! {
    /// An organization directly below this one. Both times come from the change clock of the organization above:
    /// `createdAt` is when the chapter was created or moved here, `updatedAt` when it was last renamed.
    Chapter = "chapter" {
        /// Name of the chapter.
        name: String => shown("name").text(NAME).required(),
    }
}

impl Invariants for Chapter {}
