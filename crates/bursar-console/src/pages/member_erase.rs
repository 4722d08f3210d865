//! Erases a member, after showing what is removed, what is kept and why.

use bursar_app::privacy::{self, Item, Looking, Plan};
use bursar_app::{DbError, View, resources};
use bursar_domain::ids::kind;
use bursar_domain::member::Member;

use super::ask::{Ask, Field};
use super::preview::{self, Person, Preview};
use super::seen::{self, Digest};
use super::tabbed::Column;
use crate::asking::Asking;
use crate::failure::{Failure, Problem, without_commands};
use crate::forms::{Done, Form, PLAN, Sent};

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Member>(0)?;
    let plan = privacy::preview(view, id, &Looking::default())?;
    let back = (frame.at(&format!("members/{id}")), plan.name.clone());
    let ask = Ask::new(frame, form, format!("Erase {}?", plan.name), back).rows(rows(&plan));
    if !plan.open.is_empty() {
        // There is nothing to confirm.
        return ask.lead(not_yet(&plan)).button("").page();
    }
    ask.lead(warning(&plan))
        .fields([
            Field::text("name", "Enter the name of the member").hint(plan.name.clone()),
            Field::text("reason", "Why").hint("For the activity log, without the name."),
            Field::text("also", "Another name to look for").hint(
                "A nickname or an earlier name, if there is one. The next page shows where it was found.",
            ),
        ])
        .button("Continue")
        .dangerous()
        .page()
}

fn warning(plan: &Plan) -> String {
    format!(
        "This cannot be undone. Names, addresses and texts are removed. Amounts, dates, accounts and references stay: your books are kept \
         for {} years. Backups keep the member until they are deleted.",
        plan.retention_years
    )
}

fn not_yet(plan: &Plan) -> String {
    let open: Vec<String> = plan.open.iter().map(|open| without_commands(open)).collect();
    format!("{} cannot be erased yet: {}.", plan.name, open.join("; "))
}

fn rows(plan: &Plan) -> Vec<(String, String)> {
    let row = |verb: &str, item: &Item| {
        let count = match item.count {
            1 => String::new(),
            count => format!(" ({count})"),
        };
        (format!("{verb}: {}{count}", item.what), item.why.clone())
    };
    let goes = plan.goes.iter().map(|item| row("Removed", item));
    let stays = plan.stays.iter().map(|item| row("Kept", item));
    let mentions = plan.mentions.iter();
    let mentions = mentions.map(|mention| (format!("Named in {}", mention.place), mention.text.clone()));
    let shared = plan.shared.iter().map(|text| {
        let why = "somebody else has it too, so it stays in texts about others";
        (format!("Kept: {text}"), why.to_owned())
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

/// What the preview shows.
fn digest(plan: &Plan) -> String {
    let mut digest = Digest::default();
    digest.add(&plan.name);
    for (what, result) in rows(plan) {
        digest.add(what).add(result);
    }
    digest.text()
}

fn look(asking: &Asking, form: &Form, plan: &Plan) -> Result<String, Failure> {
    let rows = rows(plan);
    let (shown, part) = preview::part(&rows, form, |(what, result)| format!("{what} {result}"));
    let page = Preview {
        frame: &asking.frame,
        form,
        title: format!("Erase {}?", plan.name),
        back: (
            asking.frame.at(&format!("members/{}", plan.member_id)),
            plan.name.clone(),
        ),
        lead: warning(plan),
        left_out: Vec::new(),
        button: "Erase permanently".to_owned(),
        is_dangerous: true,
        nothing: "",
        letter: None,
        heading: "What is removed and what is kept",
        columns: vec![Column::new("What"), Column::new("Result")],
        people: shown
            .iter()
            .map(|(what, result)| Person {
                name: what.clone(),
                cells: vec![result.clone()],
            })
            .collect(),
        nobody: "",
        total: String::new(),
        part,
        plan: digest(plan),
    };
    page.page()
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let id = member.id;
    let looking = Looking {
        also: form.some("also").into_iter().collect(),
        is_full_name_only: false,
    };
    let plan = privacy::preview(view, id, &looking)?;
    if !plan.open.is_empty() {
        return Err(Problem::new(not_yet(&plan)).into());
    }
    if form.get("name").to_lowercase() != plan.name.to_lowercase() {
        return Err(Problem::of("name", format!("Enter {} to erase this member.", plan.name)).into());
    }
    let reason = form.required("reason", "Enter a reason for the activity log.")?;
    // Other previews may be skipped; what this one shows is gone afterwards.
    if form.get("step") != "do" || form.get(PLAN) != digest(&plan) {
        return look(asking, form, &plan).map(Sent::Show);
    }
    let (to, outbox) = (
        asking.frame.at(&format!("members/{id}")),
        asking.frame.outbox.clone(),
    );
    let form = form.clone();
    Ok(Sent::Do(Box::new(move |act| {
        let plan = privacy::preview(&mut act.view(), id, &looking)?;
        seen::planned(&form, &digest(&plan))?;
        let erased = privacy::erase(act, id, &looking, &reason)?;
        // Before the commit: a file that cannot be removed keeps the member.
        privacy::remove_files(&outbox, &erased).map_err(|error| {
            DbError::Unwritable(format!(
                "the files of the member's messages cannot be removed: {error}"
            ))
        })?;
        let said = "Erased the member. On SQLite, ask the server administrator to run `bursar compact`.";
        Ok(Done::new(to.clone(), said))
    })))
}
