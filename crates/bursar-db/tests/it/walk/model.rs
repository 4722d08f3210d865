//! Every version of every row.

use std::collections::BTreeMap;

use bursar_domain::Timestamp;
use bursar_domain::cursor::Filters;

use super::sample::Sample;

/// The versions of each row, oldest first.
pub(super) struct Model<R>(BTreeMap<[u8; 16], Vec<R>>);

impl<R> Default for Model<R> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<R: Sample> Model<R> {
    pub(super) fn put(&mut self, row: R) {
        self.0.entry(row.id().to_bytes()).or_default().push(row);
    }

    /// What a list shows at a watermark: of each row the version that stood then, if it passes the filters.
    pub(super) fn at(&self, watermark: Timestamp, filters: &Filters) -> Vec<R> {
        let standing = self.0.values().filter_map(|versions| {
            let before = |row: &&R| row.stamps().updated_at <= watermark;
            versions.iter().rev().find(before)
        });
        let since = |row: &&R| {
            filters
                .updated_since
                .is_none_or(|since| row.stamps().updated_at >= since)
        };
        let mut rows: Vec<R> = standing
            .filter(since)
            .filter(|row| row.passes(filters))
            .cloned()
            .collect();
        rows.sort_by_key(|row| (row.stamps().updated_at, row.id()));
        rows
    }

    /// Every row as it is now.
    pub(super) fn newest(&self) -> Vec<R> {
        self.at(Timestamp::from_micros(i64::MAX), &Filters::default())
    }
}

/// The rows as a page shows them.
pub(super) fn joined<R: Sample>(rows: &[R]) -> String {
    rows.iter()
        .map(bursar_domain::Resource::document)
        .collect::<Vec<_>>()
        .join(",")
}
