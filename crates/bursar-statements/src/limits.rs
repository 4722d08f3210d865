//! How much of a file is read at most. Real statements stay far below.

/// The size of a file. Callers check it before they read a file into memory.
pub const FILE_BYTES_MAX: usize = 64 << 20;

/// The length of a line of MT940 and CSV, and of a single value in XML and OFX, where a whole file may be one line.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// Statement lines in a file.
pub const LINES_MAX: usize = 200_000;

/// How deep elements are nested; CAMT.053 needs 13 levels, OFX 9.
pub(crate) const DEPTH_MAX: usize = 64;

/// Elements of one entry of a CAMT file, which are in memory together: enough for a batch of 30,000 payments.
pub(crate) const ENTRY_ELEMENTS_MAX: usize = 1_000_000;
