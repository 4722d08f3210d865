//! Makes a group, or changes one with its dues.

use bursar_app::dues::{self, NewDues};
use bursar_app::groups::{self, GroupSettings};
use bursar_app::{View, resources};
use bursar_domain::Refusal;
use bursar_domain::group::{Group, Interval, NewGroup, ProRata};
use bursar_domain::ids::kind;
use bursar_domain::late_fee::NONE;
use bursar_domain::text::{NAME, NOTE};

use super::ask::{Ask, Field};
use super::groups::every;
use super::seen::Seen;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let back = (frame.at("groups"), "Groups".to_owned());
    Ask::new(frame, form, "Create a group", back)
        .lead("A group has members who owe the same dues. The dues come next.")
        .fields([
            Field::text("name", "Name"),
            Field::text("description", "What it is for").hint("Optional."),
        ])
        .button("Create the group")
        .page()
}

pub(crate) fn send_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let new = NewGroup {
        name: NAME.check(form.get("name")).map_err(Refusal::of_field("name"))?,
        description: NOTE
            .check(form.get("description"))
            .map_err(Refusal::of_field("description"))?,
    };
    let to = asking.frame.at("groups");
    Ok(Sent::Do(Box::new(move |act| {
        let group = groups::create(act, &new)?;
        let said = format!("Created {}. Set its dues, then add people.", group.name);
        Ok(Done::new(format!("{to}/{}", group.id), said))
    })))
}

fn fields(currency: &str, group: &Group) -> Vec<Field> {
    let intervals = Interval::ALL
        .iter()
        .map(|interval| (interval.as_str(), every(Some(*interval))));
    let late = match (group.late_fee, group.late_percent) {
        (Some(fee), _) => fee.to_string(),
        (None, Some(percent)) => format!("{percent}%"),
        (None, None) => String::new(),
    };
    let in_currency = format!("In {currency}.");
    vec![
        Field::text("name", "Name").value(group.name.clone()),
        Field::text("description", "What it is for").value(group.description.clone()),
        Field::text("amountDue", "Dues for each member")
            .hint(format!("{in_currency} Leave it empty for a group without dues."))
            .value(text(group.amount_due)),
        Field::date("dueDate", "Next due day")
            .hint("Dues are charged automatically on this day.")
            .value(text(group.next_due())),
        Field::choice(
            "interval",
            "How often",
            [("", "Once")].into_iter().chain(intervals),
        )
        .value(group.recurring_interval.map_or("", Interval::as_str)),
        Field::text("late-fee", "Late fee")
            .hint("An amount such as 10, or a part of what is open such as 5%. Empty for none.")
            .value(late),
        Field::text("late-after", "Days after the due day")
            .hint("When the late fee is charged.")
            .value(text(group.late_after_days)),
        Field::text("late-cap", "At most")
            .hint(format!("{in_currency} Leave it empty for no limit."))
            .value(text(group.late_cap)),
        Field::choice(
            "pro-rata",
            "Joining within a period",
            [
                ("none", "Pays from the next due day on"),
                ("monthly", "Pays the remaining months immediately"),
            ],
        )
        .value(group.pro_rata.as_str()),
    ]
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let back = (frame.at(&format!("groups/{}", group.id)), group.name.clone());
    Ask::new(frame, form, format!("Edit {}", group.name), back)
        .fields(fields(&frame.currency(), &group))
        .editing(view.now())
        .page()
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let currency = asking.frame.place.organization.currency;
    let or_none = |field: &str| {
        let amount = form.amount(field, currency)?;
        Ok::<_, Problem>(Some(amount.unwrap_or_else(|| NONE.to_owned())))
    };
    let late_after = form.some("late-after").map(|days| days.parse());
    let late_after = late_after
        .transpose()
        .map_err(|_| Problem::of("late-after", "Enter a number of days, such as 14."))?;
    let settings = GroupSettings {
        name: Some(form.get("name").to_owned()),
        description: Some(form.get("description").to_owned()),
        late_fee: or_none("late-fee")?,
        late_after,
        late_cap: or_none("late-cap")?,
        pro_rata: ProRata::parse(form.get("pro-rata")),
    };
    let dues = match (form.amount("amountDue", currency)?, form.date("dueDate")?) {
        (None, _) => None,
        (Some(_), None) => return Err(Problem::of("dueDate", "Choose the first due day.").into()),
        (Some(amount), Some(due)) => Some(NewDues {
            amount,
            due,
            interval: Interval::parse(form.get("interval")),
        }),
    };
    let is_same = match &dues {
        None => group.amount_due.is_none(),
        Some(dues) => {
            group.amount_due.map(|amount| amount.to_string()).as_ref() == Some(&dues.amount)
                && group.next_due() == Some(dues.due)
                && group.recurring_interval == dues.interval
        }
    };
    let (id, to) = (group.id, asking.frame.at(&format!("groups/{}", group.id)));
    let (seen, currency) = (Seen::new(asking, form, id), asking.frame.currency());
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(fields(&currency, &resources::one(view, id)?)))?;
        if !is_same {
            dues::set(act, id, dues.as_ref())?;
        }
        let group = groups::set(act, id, &settings)?;
        Ok(Done::new(to.clone(), format!("Saved {}.", group.name)))
    })))
}
