//! Bars beside their figures: one table that a screen reader reads and a printer prints.

use bursar_domain::Refusal;
use bursar_domain::money::{Currency, Money};

use crate::words;

/// In minor units.
pub(crate) struct Bar {
    name: String,
    whole: i128,
    part: i128,
    is_late: bool,
}

impl Bar {
    /// A part of a whole, such as collected of expected.
    pub(crate) fn of_part(name: &str, whole: i128, part: i128) -> Self {
        Self {
            name: name.to_owned(),
            whole,
            part,
            is_late: false,
        }
    }

    pub(crate) fn of_one(name: &str, amount: i128, is_late: bool) -> Self {
        Self {
            name: name.to_owned(),
            whole: amount,
            part: if is_late { amount } else { 0 },
            is_late,
        }
    }
}

pub(crate) struct Drawn {
    pub(crate) name: String,
    pub(crate) amount: String,
    /// Of 100.
    pub(crate) whole: i128,
    pub(crate) part: i128,
    pub(crate) tone: &'static str,
}

pub(crate) struct Chart {
    pub(crate) title: &'static str,
    /// What the pale and the full bars are.
    pub(crate) legend: [&'static str; 2],
    pub(crate) is_late: bool,
    pub(crate) bars: Vec<Drawn>,
}

impl Chart {
    pub(crate) fn new(
        title: &'static str,
        legend: [&'static str; 2],
        bars: impl Iterator<Item = Bar>,
        currency: Currency,
    ) -> Result<Self, Refusal> {
        let bars: Vec<Bar> = bars.collect();
        let most = bars.iter().map(|bar| bar.whole.max(bar.part)).max();
        let most = most.unwrap_or(0).max(1);
        let is_late = bars.iter().any(|bar| bar.is_late);
        let drawn = |bar: Bar| {
            let money = |minor| Ok::<_, Refusal>(words::money(Money::total(title, minor, currency)?));
            Ok(Drawn {
                amount: match is_late {
                    true => money(bar.whole)?,
                    false => format!("{} of {}", money(bar.part)?, money(bar.whole)?),
                },
                whole: bar.whole.max(0) * 100 / most,
                part: bar.part.max(0) * 100 / most,
                tone: if bar.is_late { "late" } else { "collected" },
                name: bar.name,
            })
        };
        Ok(Self {
            title,
            legend,
            is_late,
            bars: bars.into_iter().map(drawn).collect::<Result<_, Refusal>>()?,
        })
    }
}
