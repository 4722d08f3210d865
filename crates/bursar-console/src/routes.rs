//! The one table of pages.

use bursar_app::{Act, Rule, View};

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Form, Sent};
use crate::pages;
use crate::reply::Download;

pub(crate) type Show = fn(&mut View<'_, '_>, &Asking, &Form) -> Result<String, Failure>;
pub(crate) type Make = fn(&mut View<'_, '_>, &Asking) -> Result<Download, Failure>;
pub(crate) type Log = fn(&mut Act<'_, '_>, &Asking) -> Result<String, Failure>;
pub(crate) type Send = fn(&mut View<'_, '_>, &Asking, &Form) -> Result<Sent, Failure>;

/// A page below `/console/ORG`. `{}` stands for an id.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// The entry of the menu that it belongs to.
    pub(crate) here: &'static str,
    pub(crate) show: Show,
    /// What its form does, and the rule of that.
    pub(crate) send: Option<(&'static Rule, Send)>,
    /// Makes the file that it is, instead of a page.
    pub(crate) file: Option<Make>,
    /// Reads what must be logged, so it is a page and an act in one.
    pub(crate) logged: Option<Log>,
    /// Whether its form has files.
    pub(crate) takes_files: bool,
    /// Whether the page is also for those who may not send its forms.
    pub(crate) is_board: bool,
}

const fn page(path: &'static str, here: &'static str, show: Show) -> Route {
    Route {
        path,
        here,
        show,
        send: None,
        file: None,
        logged: None,
        takes_files: false,
        is_board: false,
    }
}

const fn form(path: &'static str, here: &'static str, show: Show, rule: &'static Rule, send: Send) -> Route {
    Route {
        path,
        here,
        show,
        send: Some((rule, send)),
        file: None,
        logged: None,
        takes_files: false,
        is_board: false,
    }
}

const fn file(path: &'static str, here: &'static str, make: Make) -> Route {
    Route {
        file: Some(make),
        ..page(path, here, pages::problem::no_page)
    }
}

const fn logged(path: &'static str, here: &'static str, log: Log) -> Route {
    Route {
        logged: Some(log),
        ..page(path, here, pages::problem::no_page)
    }
}

/// A page for everybody, with forms for some.
const fn board(path: &'static str, here: &'static str, show: Show, rule: &'static Rule, send: Send) -> Route {
    Route {
        is_board: true,
        ..form(path, here, show, rule, send)
    }
}

/// A form with files.
const fn upload(
    path: &'static str,
    here: &'static str,
    show: Show,
    rule: &'static Rule,
    send: Send,
) -> Route {
    Route {
        takes_files: true,
        ..form(path, here, show, rule, send)
    }
}

pub(crate) const ROUTES: &[Route] = &[
    page("", "", pages::overview::show),
    page("search", "search", pages::search::show),
    page("members", "members", pages::members::show),
    form(
        "members/new",
        "members",
        pages::member_new::show,
        &bursar_app::members::ADD,
        pages::member_new::send,
    ),
    form(
        "members/selected",
        "members",
        pages::selected::show,
        &bursar_app::members::CHANGE,
        pages::selected::send,
    ),
    file("members/csv", "members", pages::lists::members),
    upload(
        "members/import",
        "members",
        pages::member_import::show,
        &bursar_app::roster::IMPORT,
        pages::member_import::send,
    ),
    form(
        "members/import/{}",
        "members",
        pages::member_import::check::show,
        &bursar_app::roster::IMPORT,
        pages::member_import::check::send,
    ),
    page("members/{}", "members", pages::member::show),
    form(
        "members/{}/edit",
        "members",
        pages::member_edit::show,
        &bursar_app::members::CHANGE,
        pages::member_edit::send,
    ),
    form(
        "members/{}/archive",
        "members",
        pages::archive::show,
        &bursar_app::members::CHANGE,
        pages::archive::send,
    ),
    form(
        "members/{}/credit",
        "members",
        pages::member_credit::show_apply,
        &bursar_app::books::credit::APPLY,
        pages::member_credit::send_apply,
    ),
    form(
        "members/{}/refund",
        "members",
        pages::member_credit::show_refund,
        &bursar_app::books::credit::REFUND,
        pages::member_credit::send_refund,
    ),
    board(
        "members/{}/statement",
        "members",
        pages::statement::show,
        &bursar_app::member_statement::MAIL,
        pages::statement::send,
    ),
    file("members/{}/statement/pdf", "members", pages::statement::pdf),
    page("groups", "groups", pages::groups::show),
    form(
        "groups/new",
        "groups",
        pages::group_form::show_new,
        &bursar_app::groups::CREATE,
        pages::group_form::send_new,
    ),
    file("groups/csv", "groups", pages::lists::groups),
    page("groups/{}", "groups", pages::group::show),
    form(
        "groups/{}/edit",
        "groups",
        pages::group_form::show,
        &bursar_app::groups::SET,
        pages::group_form::send,
    ),
    form(
        "groups/{}/add",
        "groups",
        pages::group_people::show_add,
        &bursar_app::groups::ADD,
        pages::group_people::send_add,
    ),
    form(
        "groups/{}/remove/{}",
        "groups",
        pages::group_people::show_remove,
        &bursar_app::groups::REMOVE_MEMBER,
        pages::group_people::send_remove,
    ),
    page("charges", "charges", pages::charges::show),
    form(
        "charges/new",
        "charges",
        pages::raise::show,
        &bursar_app::payments::RAISE,
        pages::raise::send,
    ),
    file("charges/csv", "charges", pages::lists::charges),
    page("charges/{}", "charges", pages::charge::show),
    form(
        "charges/{}/adjust",
        "charges",
        pages::charge_amount::show_adjust,
        &bursar_app::payments::CHANGE,
        pages::charge_amount::send_adjust,
    ),
    form(
        "charges/{}/plan",
        "charges",
        pages::charge_amount::show_plan,
        &bursar_app::payments::CHANGE,
        pages::charge_amount::send_plan,
    ),
    form(
        "charges/{}/edit",
        "charges",
        pages::charge_amount::show_edit,
        &bursar_app::payments::CHANGE,
        pages::charge_amount::send_edit,
    ),
    form(
        "charges/{}/cancel",
        "charges",
        pages::charge_end::show_cancel,
        &bursar_app::payments::CHANGE,
        pages::charge_end::send_cancel,
    ),
    form(
        "charges/{}/dispute",
        "charges",
        pages::charge_end::show_dispute,
        &bursar_app::payments::CHANGE,
        pages::charge_end::send_dispute,
    ),
    form(
        "charges/{}/resolve",
        "charges",
        pages::charge_end::show_resolve,
        &bursar_app::payments::CHANGE,
        pages::charge_end::send_resolve,
    ),
    form(
        "charges/{}/refund",
        "charges",
        pages::charge_end::show_refund,
        &bursar_app::payments::REFUND,
        pages::charge_end::send_refund,
    ),
    form(
        "charges/{}/reverse/{}",
        "charges",
        pages::charge_end::show_reverse,
        &bursar_app::payments::REVERSE,
        pages::charge_end::send_reverse,
    ),
    page("money", "money", pages::money::show),
    form(
        "money/new",
        "money",
        pages::record::show,
        &bursar_app::books::receipts::RECORD,
        pages::record::send,
    ),
    file("money/csv", "money", pages::lists::money),
    page("money/{}", "money", pages::receipt::show),
    form(
        "money/{}/reverse",
        "money",
        pages::receipt::show_reverse,
        &bursar_app::books::receipts::CHANGE,
        pages::receipt::send_reverse,
    ),
    form(
        "money/{}/refund",
        "money",
        pages::receipt::show_refund,
        &bursar_app::books::refunds::REFUND,
        pages::receipt::send_refund,
    ),
    form(
        "money/{}/move",
        "money",
        pages::receipt::show_move,
        &bursar_app::books::receipts::CHANGE,
        pages::receipt::send_move,
    ),
    page("bank", "bank", pages::bank::show),
    upload(
        "bank/import",
        "bank",
        pages::bank::import::show,
        &bursar_app::statements::IMPORT,
        pages::bank::import::send,
    ),
    form(
        "bank/import/{}",
        "bank",
        pages::bank::columns::show,
        &bursar_app::statements::IMPORT,
        pages::bank::columns::send,
    ),
    board(
        "bank/open",
        "bank",
        pages::bank::lines::show,
        &bursar_app::statements::CHANGE,
        pages::bank::lines::send,
    ),
    file("bank/open/csv", "bank", pages::lists::lines),
    board(
        "bank/lines/{}",
        "bank",
        pages::bank::line::show,
        &bursar_app::statements::CHANGE,
        pages::bank::line::send,
    ),
    page("bank/reconcile/{}", "bank", pages::bank::reconcile::show),
    board(
        "bank/{}",
        "bank",
        pages::bank::lines::show,
        &bursar_app::statements::CHANGE,
        pages::bank::lines::send,
    ),
    file("bank/{}/csv", "bank", pages::lists::lines),
    form(
        "undo/lines/{}",
        "bank",
        pages::bank::undo::show_lines,
        &bursar_app::statements::CHANGE,
        pages::bank::undo::send_lines,
    ),
    form(
        "undo/receipt/{}",
        "money",
        pages::receipt::show_undo,
        &bursar_app::books::receipts::CHANGE,
        pages::receipt::send_undo,
    ),
    form(
        "undo/statement/{}",
        "bank",
        pages::bank::undo::show_statement,
        &bursar_app::statements::IMPORT,
        pages::bank::undo::send_statement,
    ),
    page("reimbursements", "reimbursements", pages::reimbursements::show),
    upload(
        "reimbursements/new",
        "reimbursements",
        pages::reimbursements::new::show,
        &bursar_app::reimbursements::DRAFT,
        pages::reimbursements::new::send,
    ),
    file(
        "reimbursements/csv",
        "reimbursements",
        pages::lists::reimbursements,
    ),
    Route {
        is_board: true,
        ..upload(
            "reimbursements/{}",
            "reimbursements",
            pages::reimbursements::one::show,
            &bursar_app::reimbursements::MOVE,
            pages::reimbursements::one::send,
        )
    },
    file(
        "reimbursements/{}/receipts/{}",
        "reimbursements",
        pages::reimbursements::one::receipt,
    ),
    page("reminders", "reminders", pages::reminders::show),
    form(
        "reminders/new",
        "reminders",
        pages::reminders::write::show,
        &bursar_app::reminders::SCHEDULE,
        pages::reminders::write::send,
    ),
    file("reminders/csv", "reminders", pages::lists::reminders),
    form(
        "reminders/{}",
        "reminders",
        pages::reminders::one::show,
        &bursar_app::reminders::SEND_NOW,
        pages::reminders::one::send,
    ),
    page("journal", "journal", pages::journal::show),
    file("journal/csv", "journal", pages::lists::journal),
    page("campaigns", "campaigns", pages::campaigns::show),
    form(
        "campaigns/new",
        "campaigns",
        pages::campaigns::show_new,
        &bursar_app::campaigns::CREATE,
        pages::campaigns::send_new,
    ),
    page("campaigns/{}", "campaigns", pages::campaigns::show_one),
    form(
        "campaigns/{}/edit",
        "campaigns",
        pages::campaigns::show_edit,
        &bursar_app::campaigns::CHANGE,
        pages::campaigns::send_edit,
    ),
    form(
        "campaigns/{}/record",
        "campaigns",
        pages::campaigns::show_record,
        &bursar_app::books::receipts::RECORD,
        pages::campaigns::send_record,
    ),
    form(
        "campaigns/{}/move/{}",
        "campaigns",
        pages::campaigns::show_move,
        &bursar_app::campaigns::MOVE,
        pages::campaigns::send_move,
    ),
    page("store", "store", pages::store::show),
    form(
        "store/new",
        "store",
        pages::listing_form::show_new,
        &bursar_app::store::CREATE_LISTING,
        pages::listing_form::send_new,
    ),
    page("store/{}", "store", pages::store::show_listing),
    form(
        "store/{}/edit",
        "store",
        pages::listing_form::show,
        &bursar_app::store::CHANGE_LISTING,
        pages::listing_form::send,
    ),
    form(
        "store/{}/sale",
        "store",
        pages::store::show_sale,
        &bursar_app::store::CHANGE_LISTING,
        pages::store::send_sale,
    ),
    form(
        "store/{}/order",
        "store",
        pages::store::show_order,
        &bursar_app::store::ORDER,
        pages::store::send_order,
    ),
    file("orders/csv", "store", pages::lists::orders),
    page("orders/{}", "store", pages::order::show),
    form(
        "orders/{}/refunded",
        "store",
        pages::order::show_move,
        &bursar_app::store::REFUND_ORDER,
        pages::order::send_move,
    ),
    form(
        "orders/{}/{}",
        "store",
        pages::order::show_move,
        &bursar_app::store::CHANGE_ORDER,
        pages::order::send_move,
    ),
    page("cards", "cards", pages::cards::show),
    form(
        "cards/new",
        "cards",
        pages::cards::show_new,
        &bursar_app::cards::CREATE,
        pages::cards::send_new,
    ),
    page("cards/{}", "cards", pages::cards::show_one),
    form(
        "cards/{}/limits",
        "cards",
        pages::cards::show_limits,
        &bursar_app::cards::LIMITS,
        pages::cards::send_limits,
    ),
    form(
        "cards/{}/move/{}",
        "cards",
        pages::cards::show_move,
        &bursar_app::cards::CHANGE,
        pages::cards::send_move,
    ),
    form(
        "applications/{}",
        "cards",
        pages::cards::show_decide,
        &bursar_app::cards::DECIDE,
        pages::cards::send_decide,
    ),
    page("chapters", "chapters", pages::chapters::show),
    file("chapters/csv", "chapters", pages::lists::chapters),
    logged("chapters/{}", "chapters", pages::chapters::roster),
    page("reports", "reports", pages::reports::index),
    page("reports/{}", "reports", pages::reports::show),
    file("reports/{}/csv", "reports", pages::reports::csv),
    page("settings", "settings", pages::settings::show),
    form(
        "settings/edit",
        "settings",
        pages::settings::show_edit,
        &bursar_app::organizations::SET,
        pages::settings::send_edit,
    ),
    page("people", "settings", pages::people::show),
    form(
        "people/new",
        "settings",
        pages::people::show_new,
        &bursar_app::roles::SET,
        pages::people::send_new,
    ),
    form(
        "people/{}",
        "settings",
        pages::people::show_change,
        &bursar_app::roles::SET,
        pages::people::send_change,
    ),
    form(
        "people/{}/remove",
        "settings",
        pages::people::show_remove,
        &bursar_app::roles::REMOVE,
        pages::people::send_remove,
    ),
    page("tokens", "settings", pages::tokens::show),
    form(
        "tokens/new",
        "settings",
        pages::token_acts::show_new,
        &bursar_app::tokens::CREATE,
        pages::token_acts::send_new,
    ),
    page("tokens/{}", "settings", pages::tokens::show_one),
    form(
        "tokens/{}/rotate",
        "settings",
        pages::token_acts::show_rotate,
        &bursar_app::tokens::ROTATE,
        pages::token_acts::send_rotate,
    ),
    form(
        "tokens/{}/revoke",
        "settings",
        pages::token_acts::show_revoke,
        &bursar_app::tokens::REVOKE,
        pages::token_acts::send_revoke,
    ),
    page("webhooks", "settings", pages::webhooks::show),
    form(
        "webhooks/new",
        "settings",
        pages::webhook_acts::show_new,
        &bursar_app::webhooks::CREATE,
        pages::webhook_acts::send_new,
    ),
    page("webhooks/{}", "settings", pages::webhooks::show_one),
    form(
        "webhooks/{}/edit",
        "settings",
        pages::webhook_acts::show_edit,
        &bursar_app::webhooks::SET,
        pages::webhook_acts::send_edit,
    ),
    form(
        "webhooks/{}/rotate",
        "settings",
        pages::webhook_acts::show_rotate,
        &bursar_app::webhooks::ROTATE,
        pages::webhook_acts::send_rotate,
    ),
    form(
        "webhooks/{}/test",
        "settings",
        pages::webhook_acts::show_test,
        &bursar_app::webhooks::TEST,
        pages::webhook_acts::send_test,
    ),
    form(
        "webhooks/{}/replay",
        "settings",
        pages::webhook_acts::show_replay,
        &bursar_app::webhooks::REPLAY,
        pages::webhook_acts::send_replay,
    ),
    form(
        "webhooks/{}/disable",
        "settings",
        pages::webhook_acts::show_disable,
        &bursar_app::webhooks::DISABLE,
        pages::webhook_acts::send_disable,
    ),
    form(
        "webhooks/{}/enable",
        "settings",
        pages::webhook_acts::show_enable,
        &bursar_app::webhooks::ENABLE,
        pages::webhook_acts::send_enable,
    ),
    form(
        "webhooks/{}/delete",
        "settings",
        pages::webhook_acts::show_delete,
        &bursar_app::webhooks::DELETE,
        pages::webhook_acts::send_delete,
    ),
    page("policy", "settings", pages::policy::show),
    form(
        "policy/edit",
        "settings",
        pages::policy::show_edit,
        &bursar_app::policy::SET,
        pages::policy::send_edit,
    ),
    page("activity", "activity", pages::activity::show),
    file("activity/csv", "activity", pages::lists::activity),
    form(
        "undo/{}",
        "",
        pages::undo::show,
        &bursar_app::undo::UNDO,
        pages::undo::send,
    ),
];

/// A page as it is told outside: the end of its address, and who may send its form.
#[derive(Clone, Copy, Debug)]
pub struct PageRule {
    /// Below `/console/ORG`; `{}` stands for an id.
    pub path: &'static str,
    /// The rule of its form, if it has one.
    pub form: Option<&'static Rule>,
    /// Whether it is also for those who may not send its form.
    pub is_board: bool,
    pub is_file: bool,
}

/// Every page of an organization.
pub fn page_rules() -> impl Iterator<Item = PageRule> {
    ROUTES.iter().map(|route| PageRule {
        path: route.path,
        form: route.send.map(|(rule, _)| rule),
        is_board: route.is_board,
        is_file: route.file.is_some(),
    })
}

/// The route of a path below the organization, and what stands at its places.
pub(crate) fn find(path: &str) -> Option<(&'static Route, Vec<String>)> {
    let asked: Vec<&str> = path.split('/').collect();
    ROUTES.iter().find_map(|route| {
        let parts: Vec<&str> = route.path.split('/').collect();
        let matches = |(part, asked): (&&str, &&str)| part == asked || (*part == "{}" && !asked.is_empty());
        if parts.len() != asked.len() || !parts.iter().zip(&asked).all(matches) {
            return None;
        }
        let places = parts.iter().zip(&asked).filter(|(part, _)| **part == "{}");
        Some((route, places.map(|(_, asked)| (*asked).to_owned()).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_before_an_id() {
        let found = |path| find(path).map(|(route, params)| (route.path, params));
        assert_eq!(found(""), Some(("", vec![])));
        assert_eq!(found("members/new"), Some(("members/new", vec![])));
        assert_eq!(
            found("members/mem_1"),
            Some(("members/{}", vec!["mem_1".to_owned()]))
        );
        assert_eq!(found("members/"), None);
        assert_eq!(found("nothing"), None);
    }
}
