//! Rows about the same person: what they say is taken together, unless they contradict each other.

use bursar_domain::ids::GroupId;
use serde::Serialize;

use super::cells::is_same_phone;
use super::header::Field;
use super::problem::Fault;
use super::rows::Row;

/// A row about somebody who has an earlier row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repeat {
    pub line: u64,
    pub first_line: u64,
    /// It says the same; else the two complete each other.
    pub is_exact: bool,
}

/// A person with everything that the rows say.
pub(super) struct Person {
    pub row: Row,
    pub groups: Vec<GroupId>,
}

impl Person {
    /// Takes what another row says of the person. Refuses what contradicts.
    pub(super) fn take(
        &mut self,
        row: &Row,
        groups: &[GroupId],
    ) -> Result<Repeat, Vec<(Field, Fault, String)>> {
        let first = &mut self.row;
        let mut wrong = Vec::new();
        let way_out = match row.email {
            Some(_) => "correct one of the two rows, or remove it",
            None => {
                "correct one of the two rows; if they are two people without an e-mail, remove one and add it with \
                 `bursar member add`"
            }
        };
        let mut differ = |field: Field, this: String, that: String| {
            let fault = Fault::new("is not the same in two rows of one person", way_out);
            wrong.push((field, fault, format!("{this}, and {that} in line {}", first.line)));
        };
        if let (Some(that), Some(this)) = (&first.phone, &row.phone)
            && !is_same_phone(that, this)
        {
            differ(Field::Phone, this.clone(), that.clone());
        }
        if let (Some(that), Some(this)) = (first.is_active, row.is_active)
            && this != that
        {
            let word = |active| if active { "active" } else { "archived" }.to_owned();
            differ(Field::IsActive, word(this), word(that));
        }
        if let (Some(that), Some(this)) = (first.join_date, row.join_date)
            && this != that
        {
            differ(Field::JoinDate, this.to_string(), that.to_string());
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let is_exact = first.phone.is_some() == row.phone.is_some()
            && first.is_active == row.is_active
            && first.join_date == row.join_date
            && self.groups == groups;
        let repeat = Repeat {
            line: row.line,
            first_line: first.line,
            is_exact,
        };
        if first.phone.is_none() {
            first.phone.clone_from(&row.phone);
        }
        first.is_active = first.is_active.or(row.is_active);
        first.join_date = first.join_date.or(row.join_date);
        first.groups.extend(row.groups.iter().cloned());
        self.groups.extend(groups);
        self.groups.sort_unstable();
        self.groups.dedup();
        Ok(repeat)
    }
}

#[cfg(test)]
mod tests {
    use bursar_domain::Date;

    use super::*;

    fn row(line: u64, phone: Option<&str>, joined: Option<&str>, active: Option<bool>) -> Row {
        Row {
            line,
            id: None,
            first_name: "Ada".into(),
            last_name: "Larsen".into(),
            email: Some("ada@example.org".into()),
            phone: phone.map(str::to_owned),
            is_active: active,
            join_date: joined.map(|date| Date::parse(date).unwrap()),
            groups: Vec::new(),
        }
    }

    #[test]
    fn rows_complete_each_other_or_contradict() {
        let (day, other) = (Some("2020-01-31"), Some("2021-01-31"));
        let (one, two) = ([GroupId::from_bits(1)], [GroupId::from_bits(2)]);
        for (this, groups, expected) in [
            (row(9, Some("+1 202 555 0123"), day, None), &one[..], Ok(true)),
            (row(9, Some("+1 202-555-0123"), day, None), &one, Ok(true)),
            (row(9, None, day, None), &one, Ok(false)),
            (row(9, None, None, Some(true)), &one, Ok(false)),
            (row(9, Some("+1 202 555 0123"), day, None), &two, Ok(false)),
            (row(9, Some("+1 202 555 0124"), day, None), &one, Err(1)),
            (row(9, Some("+1 202 555 0124"), other, None), &one, Err(2)),
        ] {
            let mut person = Person {
                row: row(2, Some("+1 202 555 0123"), day, None),
                groups: one.to_vec(),
            };
            let taken = person.take(&this, groups);
            let told = taken.map(|repeat| repeat.is_exact).map_err(|wrong| wrong.len());
            assert_eq!(told, expected, "{this:?}");
            assert_eq!(person.row.phone.as_deref(), Some("+1 202 555 0123"));
            assert!(told.is_err() || groups.iter().all(|group| person.groups.contains(group)));
        }
    }
}
