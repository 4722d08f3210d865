//! Erases a member, after showing what goes, what stays and why.

use bursar_app::privacy::{self, Item, Looking, Plan};
use bursar_app::{DbError, View, resources};
use bursar_domain::ids::kind;
use bursar_domain::member::Member;

use super::ask::{Ask, Field};
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Member>(0)?;
    let plan = privacy::preview(view, id, &Looking::default())?;
    let back = (frame.at(&format!("members/{id}")), plan.name.clone());
    let ask = Ask::new(frame, form, format!("Erase {}?", plan.name), back).rows(rows(&plan));
    if !plan.open.is_empty() {
        let open = plan.open.join("; ");
        return ask
            .lead(format!("{} cannot be erased yet: {open}.", plan.name))
            .button("Look again")
            .page();
    }
    ask.lead(format!(
        "This cannot be undone. Names, addresses and texts are removed. Amounts, dates, accounts and references stay: your books are kept \
         for {} years. Backups keep the member until they are deleted.",
        plan.retention_years
    ))
    .fields([
        Field::text("name", "Enter the name of the member").hint(plan.name.clone()),
        Field::text("reason", "Why").hint("For the activity log, without the name."),
        Field::text("also", "Another name to look for").hint("A nickname or an earlier name, if there is one."),
    ])
    .button("Erase permanently")
    .dangerous()
    .page()
}

fn rows(plan: &Plan) -> Vec<(String, String)> {
    let row = |verb: &str, item: &Item| {
        let count = match item.count {
            1 => String::new(),
            count => format!(" ({count})"),
        };
        (format!("{verb}: {}{count}", item.what), item.why.clone())
    };
    let goes = plan.goes.iter().map(|item| row("Goes", item));
    let stays = plan.stays.iter().map(|item| row("Stays", item));
    let mentions = plan.mentions.iter();
    let mentions = mentions.map(|mention| (format!("Named in {}", mention.place), mention.text.clone()));
    let shared = plan.shared.iter().map(|text| {
        let why = "somebody else has it too, so it stays in texts about others";
        (format!("Stays: {text}"), why.to_owned())
    });
    let more = (plan.mentions_more > 0).then(|| {
        let count = plan.mentions_more;
        ("Named elsewhere".to_owned(), format!("in {count} more texts"))
    });
    goes.chain(stays)
        .chain(shared)
        .chain(mentions)
        .chain(more)
        .collect()
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let id = member.id;
    let plan = privacy::preview(view, id, &Looking::default())?;
    if plan.open.is_empty() && form.get("name").to_lowercase() != plan.name.to_lowercase() {
        return Err(Problem::of("name", format!("Enter {} to erase this member.", plan.name)).into());
    }
    let reason = match plan.open.is_empty() {
        true => form.required("reason", "Enter a reason for the activity log.")?,
        false => "refused".to_owned(),
    };
    let looking = Looking {
        also: form.some("also").into_iter().collect(),
        is_full_name_only: false,
    };
    let (to, outbox) = (
        asking.frame.at(&format!("members/{id}")),
        asking.frame.outbox.clone(),
    );
    Ok(Sent::Do(Box::new(move |act| {
        let erased = privacy::erase(act, id, &looking, &reason)?;
        // Before the commit: a file that cannot be removed keeps the member.
        privacy::remove_files(&outbox, &erased).map_err(|error| {
            DbError::Unwritable(format!(
                "the files of the member's messages cannot be removed: {error}"
            ))
        })?;
        let said = "Erased the member. The server administrator removes old content from the database file with `bursar compact`.";
        Ok(Done::new(to.clone(), said))
    })))
}
