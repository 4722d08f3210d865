//! Every part that pages are made of, once. Only in the demonstration, where the browser tests photograph it.

use askama::Template;
use bursar_domain::money::Currency;

use super::chart::{Bar, Chart};
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form};
use crate::frame::Frame;
use crate::words::Moment;

#[derive(Template)]
#[template(path = "parts_page.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    chart: Chart,
    at: Moment,
    older: String,
}

pub(crate) fn show(mut frame: Frame) -> Result<String, Failure> {
    frame.done = Some(Done {
        undo: Some("nothing".to_owned()),
        ..Done::new("/console/parts", "Raised 34 charges, 6,120.00 USD in all.")
    });
    let mut form = Form::parse("email=nowhere");
    form.problem = Some(Problem::of("email", "Must have an @, got nowhere."));
    let bars = [("Rowers", 612_000, 459_000), ("Coxes", 120_000, 120_000)];
    let bars = bars.map(|(name, whole, part)| Bar::of_part(name, whole, part));
    let page = Page {
        frame: &frame,
        form: &form,
        chart: Chart::new(
            "Chart",
            ["Expected", "Collected"],
            bars.into_iter(),
            Currency::USD,
        )?,
        at: Moment {
            told: "5 Mar 2026, 14:05".to_owned(),
            exact: "2026-03-05T13:05:00Z".to_owned(),
        },
        older: "/console/parts".to_owned(),
    };
    Ok(page.render()?)
}
