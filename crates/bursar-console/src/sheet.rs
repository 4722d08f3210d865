//! A table of figures: as a page shows it, and as a spreadsheet reads it.

use bursar_app::spreadsheet::record;
use bursar_domain::Date;
use bursar_domain::money::Money;

use crate::words;

#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Text(String),
    /// A text that leads somewhere.
    Link(String, String),
    Money(Money),
    Count(i64),
    Day(Option<Date>),
    Nothing,
}

impl Cell {
    pub(crate) fn money(amount: Option<Money>) -> Self {
        amount.map_or(Self::Nothing, Self::Money)
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) | Self::Link(text, _) => text.clone(),
            Self::Money(amount) if amount.minor == 0 => "\u{2013}".to_owned(),
            Self::Money(amount) => words::money(*amount),
            Self::Count(count) => words::number(*count),
            Self::Day(day) => words::day_or_dash(*day),
            Self::Nothing => String::new(),
        }
    }

    /// Where it leads; empty if nowhere.
    pub(crate) fn to(&self) -> &str {
        match self {
            Self::Link(_, to) => to,
            _ => "",
        }
    }

    fn plain(&self) -> String {
        match self {
            Self::Text(text) | Self::Link(text, _) => text.clone(),
            Self::Money(amount) => amount.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Day(day) => day.map_or_else(String::new, |day| day.to_string()),
            Self::Nothing => String::new(),
        }
    }
}

/// Rows below a heading of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Section {
    /// Empty if the sheet has one section.
    pub(crate) name: String,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) totals: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) columns: Vec<&'static str>,
    /// Columns from this one on are figures.
    pub(crate) amounts: usize,
    pub(crate) sections: Vec<Section>,
    pub(crate) totals: Vec<Vec<Cell>>,
}

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.sections.iter().all(|section| section.rows.is_empty())
    }

    pub(crate) fn is_amount(&self, column: &usize) -> bool {
        *column >= self.amounts
    }

    pub(crate) fn column(&self, place: &usize) -> &'static str {
        self.columns.get(*place).copied().unwrap_or("")
    }

    /// A section's name is the first column.
    pub(crate) fn csv(&self) -> String {
        let has_names = self.sections.iter().any(|section| !section.name.is_empty());
        let line = |name: &str, cells: Vec<String>| {
            let first = has_names.then(|| name.to_owned());
            record(first.into_iter().chain(cells))
        };
        let plain = |row: &Vec<Cell>| row.iter().map(Cell::plain).collect();
        let heads = self.columns.iter().map(|name| (*name).to_owned()).collect();
        let mut text = line("Section", heads);
        for section in &self.sections {
            for row in section.rows.iter().chain(&section.totals) {
                text.push_str(&line(&section.name, plain(row)));
            }
        }
        for row in &self.totals {
            text.push_str(&line("", plain(row)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_gets_plain_figures_and_no_formula() {
        let usd = bursar_domain::money::Currency::parse("USD").unwrap();
        let sheet = Sheet {
            columns: vec!["Account", "Amount"],
            amounts: 1,
            sections: vec![Section {
                name: "Income".to_owned(),
                rows: vec![vec![Cell::text("=1+1"), Cell::Money(Money::new(-123_456, usd))]],
                totals: Vec::new(),
            }],
            totals: vec![vec![Cell::text("Total"), Cell::Nothing]],
        };
        assert_eq!(
            sheet.csv(),
            "Section,Account,Amount\nIncome,'=1+1,-1234.56\n,Total,\n"
        );
        assert_eq!(sheet.sections[0].rows[0][1].shown(), "\u{2212}1,234.56");
        assert!(sheet.is_amount(&1) && !sheet.is_amount(&0) && !sheet.is_empty());
    }
}
