//! Every operation, called with things that are not there, in the order of the list of rules.

use std::sync::atomic::{AtomicU32, Ordering};

use bursar_app::books::entries::{self, NewPosting};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::refunds::{self, Refund};
use bursar_app::books::{accounts, count, credit, periods};
use bursar_app::export::{self, ExportError};
use bursar_app::housekeeping::{self, Retention};
use bursar_app::import::{self, ImportError};
use bursar_app::lists::{self, List};
use bursar_app::notices::{self, Expiring};
use bursar_app::online::{self, autopay, port, providers};
use bursar_app::organizations::{self, NewOrganization, OrganizationChange};
use bursar_app::outbox::{self, Attempt, Claimed, Job, Message};
use bursar_app::payments::{self, Adjustment, Debtor, Every, NewCharges, NewPlan, Received};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::resources::{self, Readable, Walk};
use bursar_app::roster::{self, Roster, RosterError};
use bursar_app::secrets::KeyFile;
use bursar_app::sign_in::login::Begun;
use bursar_app::sign_in::passkey::Passkeys;
use bursar_app::statements::reconciliation::reconciliation;
use bursar_app::statements::{self, Booking, Lines, NewStatement};
use bursar_app::tokens::{self, Holder, NewToken, Uses, last_used};
use bursar_app::webhooks::{self, SECRET_ENTROPY, delivery};
use bursar_app::worker_clock::{self, Seen};
use bursar_app::{
    Act, App, AppError, Identity, View, activity, attachments, audit, backlog, campaigns, cards, chapters,
    check, copy, desk, dues, events, groups, inspect, journal_export, late_fees, member_access, member_page,
    member_statement, members, messages, names, pages, policy, preview, privacy, pro_rata, reports, roles,
    search, setup, sign_in, store, undo, uploads,
};
use bursar_db::testing::TestDb;
use bursar_domain::access::{Role, ScopeSet};
use bursar_domain::account::AccountType;
use bursar_domain::campaign::{Campaign, CampaignVerb};
use bursar_domain::card::{Card, CardVerb, LimitFrequency, NewCard};
use bursar_domain::chapter::Chapter;
use bursar_domain::cursor::Filters;
use bursar_domain::group::{Group, GroupChange, NewGroup};
use bursar_domain::ids::{OrganizationId, TokenId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::message::JobKind;
use bursar_domain::money::{Currency, Money};
use bursar_domain::online::{OnlineState, ProviderKind};
use bursar_domain::order::{Order, OrderVerb};
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::page::PageLimit;
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Method as Paid;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus, ReimbursementVerb};
use bursar_domain::reminder::{Audience, Method, Reminder};
use bursar_domain::sealed::SecretKey;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::login::Proven;
use bursar_domain::token::{ENTROPY_BYTES, TokenKind};
use bursar_domain::{Date, Refusal};

use super::{Call, act, by_itself, call, no, view, whole};
use crate::support::{app_at, now, org};

fn read<R: Readable + Send>(list: List) -> [Call; 5] {
    let export = move |app: &App, who| {
        let work = move |view: &mut View<'_, '_>| {
            let done = exported(lists::export(view, list, &mut Vec::new(), &mut |_| ()));
            Ok((R::READ.check(view.caller()), done.map(drop)))
        };
        app.view(who, org(1), work).wait()
    };
    [
        view(&R::READ, |view| resources::one::<R>(view, no())),
        view(&R::READ, |view| resources::each::<R>(view, |_| ())),
        view(&R::READ, |view| resources::get::<R>(view, no())),
        view(&R::READ, |view| resources::page::<R>(view, &walk(), Vec::new())),
        call(&R::READ, export),
    ]
}

/// Every operation.
pub(super) fn all(service: TokenId) -> Vec<Call> {
    let mut calls = desk();
    calls.extend(work());
    calls.extend(access(service));
    calls
}

/// What a caller may not see is not found.
fn named_organization(find: fn(&App, Identity) -> Result<OrganizationId, AppError>) -> Call {
    call(&organizations::LIST, move |app, who| {
        let rule = |view: &mut View<'_, '_>| Ok::<_, AppError>(organizations::LIST.check(view.caller()));
        let rule = app.view(who, org(1), rule).wait()?;
        Ok((rule, find(app, who).map(drop).map_err(|_| left_out())))
    })
}

fn new_attachment() -> attachments::NewAttachment {
    attachments::NewAttachment {
        subject: bursar_domain::attachment::Subject::Entry(no()),
        name: "receipt.pdf".into(),
        bytes: b"%PDF-1.7".to_vec(),
    }
}

/// What officers do and read.
fn desk() -> Vec<Call> {
    let mut calls = vec![
        act(&campaigns::CREATE, |act| {
            campaigns::create(act, &Default::default())
        }),
        act(&campaigns::CHANGE, |act| {
            campaigns::set(act, no(), &Default::default())
        }),
        act(&campaigns::MOVE, |act| {
            campaigns::perform(act, no(), CampaignVerb::End)
        }),
        act(&cards::CREATE, |act| cards::create(act, &new_card())),
        act(&cards::CHANGE, |act| cards::perform(act, no(), CardVerb::Freeze)),
        act(&cards::LIMITS, |act| {
            cards::set_limits(act, no(), &Default::default())
        }),
        act(&cards::DECIDE, |act| cards::decide(act, no(), true)),
        view(&cards::APPLICATIONS, cards::applications),
        view(&chapters::READ, |view| {
            chapters::roster(view, no(), &walk(), Vec::new())
        }),
        act(&chapters::READ, |act| chapters::read_roster(act, no(), None, 1)),
        whole(&chapters::READ, |whole| chapters::log_read(whole, org(1), 1)),
        act(&groups::CREATE, |act| groups::create(act, &new_group())),
        act(&groups::CHANGE, |act| {
            groups::change(act, no(), &GroupChange::default())
        }),
        act(&groups::SET, |act| groups::set(act, no(), &Default::default())),
        act(&groups::REMOVE_MEMBER, |act| {
            groups::remove_member(act, no(), no())
        }),
        act(&groups::ADD_MEMBER, |act| groups::add_member(act, no(), no())),
        act(&groups::ADD, |act| {
            groups::add_by_address(act, no(), &["nobody".into()])
        }),
        act(&groups::ADD, |act| groups::add_many(act, no(), &[no()])),
        act(&privacy::EXPORT, |act| privacy::export(act, no())),
        view(&privacy::ERASE, |view| {
            privacy::preview(view, no(), &privacy::Looking::default())
        }),
        act(&privacy::ERASE, |act| {
            privacy::erase(act, no(), &privacy::Looking::default(), "asked to")
        }),
        view(&pro_rata::LEAVING, |view| pro_rata::leaving(view, no(), None)),
        act(&pro_rata::ADJUST, |act| pro_rata::adjust(act, no(), None)),
        act(&attachments::ATTACH, |act| {
            attachments::add(act, &new_attachment())
        }),
        view(&attachments::READ, |view| attachments::list(view, None)),
        view(&attachments::READ, |view| attachments::get(view, no())),
        act(&attachments::REMOVE, |act| attachments::remove(act, no())),
        whole(&attachments::OWNER, |whole| attachments::owner(whole, no())),
        act(&members::ADD, |act| members::add(act, &Default::default())),
        act(&members::CHANGE, |act| {
            members::change(act, no(), &MemberChange::default())
        }),
        act(&members::ARCHIVE, |act| members::archive_many(act, &[no()])),
        view(&Member::READ, |view| members::owed(view, no())),
        view(&Member::READ, |view| {
            desk::members(view, &desk::MemberQuery::default())
        }),
        view(&Member::READ, |view| desk::balances(view, &[no()])),
        view(&Payment::READ, |view| {
            desk::charges(view, &desk::ChargeQuery::default(), None)
        }),
        view(&Payment::READ, |view| desk::group_year(view, no())),
        view(&Order::READ, |view| desk::orders(view, desk::Orders::All, None)),
        view(&Reimbursement::READ, |view| desk::reimbursements_of(view, no())),
        view(&Reimbursement::READ, |view| {
            pages::reimbursements(view, ReimbursementStatus::Draft, None)
        }),
        view(&Reimbursement::READ, |view| {
            pages::reimbursements_in(view, ReimbursementStatus::Draft)
        }),
        view(&reminders::LIST, |view| {
            pages::reminders(view, pages::Reminders::Planned, None)
        }),
        view(&reminders::LIST, |view| pages::reminders_like(view, no(), None)),
        view(&reminders::LIST, |view| {
            pages::reminders_in(view, pages::Reminders::Planned)
        }),
        view(&entries::READ, |view| {
            pages::journal(view, (Date::FIRST, Date::LAST), None, None)
        }),
        view(&receipts::READ, |view| {
            pages::receipts(view, (Date::FIRST, Date::LAST), None)
        }),
        view(&receipts::READ, |view| pages::receipts_of(view, no())),
        view(&receipts::READ, |view| receipts::by_reference(view, "1", 1)),
        view(&receipts::READ, |view| {
            pages::received(view, (Date::FIRST, Date::LAST))
        }),
        view(&messages::LIST, |view| messages::of_member(view, no(), 20)),
        view(&messages::LIST, |view| messages::failed(view, None)),
        view(&Campaign::READ, campaigns::raised),
        view(&Campaign::READ, |view| campaigns::raised_for(view, no(), 1)),
        view(&desk::OVERVIEW, desk::overview),
        view(&desk::OVERVIEW, desk::glance),
        whole(&sign_in::MAKE_LINK, |whole| {
            sign_in::make_link(whole, "nobody@example.org", &[0; 32])
        }),
        whole(&sign_in::OPEN_LINK, |whole| {
            sign_in::open_link(whole, &SecretHash::of(""))
        }),
        whole(&sign_in::ENTER, |whole| {
            sign_in::enter(whole, &SecretHash::of(""), (SecretHash::of("x"), ""), None)
        }),
        whole(&sign_in::address::CHANGE, |whole| {
            // Each browser asks once.
            static BROWSERS: AtomicU32 = AtomicU32::new(0);
            let browser = format!("browser {}", BROWSERS.fetch_add(1, Ordering::Relaxed));
            sign_in::address::ask(whole, "new@example.org", &browser, &[0; 32], "here")
        }),
        whole(&sign_in::address::CHANGE, |whole| {
            sign_in::address::confirm(whole, "", "").map(drop)
        }),
        whole(&sign_in::code::ASK, |whole| {
            sign_in::code::ask(
                whole,
                "nobody@example.org",
                "browser",
                &[0; 32],
                "example.org",
                None,
            )
        }),
        whole(&member_access::ANNOUNCE, |whole| {
            member_access::announce(whole, "https://dues.example.org", &[7; 32])
        }),
        view(&member_access::LINK, |view| member_access::link(view, no())),
        act(&member_access::REVOKE, |act| member_access::revoke(act, no())),
        whole(&member_access::ASK, |whole| member_access::entrance(whole, no())),
        whole(&member_access::ASK, |whole| {
            member_access::ask(whole, no(), "nobody@example.org", "x", &[0; 32])
        }),
        whole(&member_access::ASK, |whole| {
            member_access::asked(whole, &SecretHash::of(""))
        }),
        act(&member_access::ASK_OWN, |act| {
            // Each browser asks once.
            static BROWSERS: AtomicU32 = AtomicU32::new(0);
            let browser = format!("member's browser {}", BROWSERS.fetch_add(1, Ordering::Relaxed));
            member_access::ask_own(act, &browser, &[0; 32])
        }),
        whole(&member_access::ENTER, |whole| {
            member_access::enter(whole, "", "", SecretHash::of("x"))
        }),
        whole(&member_access::ENTER, |whole| {
            member_access::choice(whole, &SecretHash::of(""))
        }),
        whole(&member_access::ENTER, |whole| {
            member_access::choose(whole, &SecretHash::of(""), no())
        }),
        whole(&member_access::ENTER, |whole| {
            member_access::end(whole, &SecretHash::of(""))
        }),
        view(&member_page::READ, member_page::read),
        view(&member_page::READ, |view| member_page::who(view)),
        view(&member_page::STATEMENT, |view| {
            member_page::statement(view, (None, None))
        }),
        view(&member_page::RECEIPT, |view| member_page::receipt(view, no())),
        act(&member_page::CONTACT, |act| {
            member_page::set_contact(act, "ada@example.org", None)
        }),
        whole(&sign_in::code::ASK, |whole| {
            sign_in::code::asked(whole, &SecretHash::of(""))
        }),
        whole(&sign_in::ENTER, |whole| {
            sign_in::code::enter(whole, "", "", (SecretHash::of("x"), ""), None)
        }),
        whole(&sign_in::passkey::ASK, |whole| {
            sign_in::passkey::begin_entering(whole, &place(), &SecretHash::of("x"))
        }),
        whole(&sign_in::ENTER, |whole| {
            let (told, begun) = ((&SecretHash::of(""), ""), (SecretHash::of("x"), ""));
            sign_in::passkey::enter(whole, &place(), told, begun, None)
        }),
        whole(&sign_in::ONESELF, sign_in::passkey::list),
        whole(&sign_in::passkey::CHANGE, |whole| {
            sign_in::passkey::begin_adding(whole, &place(), &SecretHash::of(""))
        }),
        whole(&sign_in::passkey::CHANGE, |whole| {
            sign_in::passkey::add(whole, &place(), &SecretHash::of(""), "phone", "")
        }),
        whole(&sign_in::passkey::CHANGE, |whole| {
            sign_in::passkey::remove(whole, &SecretHash::of(""))
        }),
        whole(&sign_in::login::ASK, |whole| {
            sign_in::login::begin(whole, &SecretHash::of("begun"), &begun())
        }),
        whole(&sign_in::login::ASK, |whole| {
            sign_in::login::take(whole, &SecretHash::of("none"))
        }),
        whole(&sign_in::login::ASK, |whole| {
            sign_in::login::waiting(whole, &SecretHash::of("none"))
        }),
        whole(&sign_in::ENTER, |whole| {
            let proven = Proven::new("https://id.example", "x", None).unwrap();
            let (session, key) = (SecretHash::of("x"), SecretHash::of("new"));
            sign_in::login::enter(whole, (&proven, None), (session, ""), None, &key)
        }),
        whole(&sign_in::ONESELF, sign_in::login::list),
        whole(&sign_in::login::CHANGE, |whole| {
            sign_in::login::remove(whole, &SecretHash::of(""))
        }),
        whole(&setup::LINK, |whole| setup::make_link(whole, &[0; 32])),
        whole(&setup::OPEN, |whole| setup::open(whole, &SecretHash::of(""))),
        whole(&setup::BEGIN, |whole| {
            let person = ("", "nobody@example.org");
            setup::begin(
                whole,
                &SecretHash::of(""),
                &new_organization(),
                person,
                (SecretHash::of("x"), ""),
            )
        }),
        whole(&sign_in::ONESELF, |whole| {
            sign_in::oneself(whole, &SecretHash::of(""))
        }),
        whole(&sign_in::ONESELF, sign_in::sessions),
        whole(&sign_in::ONESELF, |whole| {
            sign_in::seen(whole, &SecretHash::of(""))
        }),
        whole(&sign_in::ONESELF, |whole| {
            sign_in::end(whole, &SecretHash::of(""))
        }),
        view(&sign_in::SENT, |view| sign_in::sent(view, "")),
        view(&Member::READ, |view| names::find::<kind::Member>(view, "nobody")),
        view(&Member::READ, |view| names::member(view, "nobody")),
        view(&Group::READ, |view| names::find::<kind::Group>(view, "nobody")),
        view(&Campaign::READ, |view| {
            names::find::<kind::Campaign>(view, "nobody")
        }),
        view(&Listing::READ, |view| {
            names::find::<kind::Listing>(view, "nobody")
        }),
        view(&Member::READ, |view| {
            search::members(view, "nobody", desk::Filter::default(), 1)
        }),
        view(&Member::READ, |view| search::members_by_parts(view, "nobody", 1)),
        view(&Payment::READ, |view| search::charge(view, "RF18 5390 0754 7034")),
        view(&Card::READ, |view| search::has::<Card>(view, "nothing")),
        view(&Member::READ, |view| names::of::<kind::Member>(view, &[no()])),
        view(&Member::READ, |view| names::of_references::<Member>(view, &[])),
        act(&payments::RAISE, |act| payments::raise(act, &new_charges(), None)),
        act(&payments::RECORD, |act| payments::record(act, no(), &received())),
        act(&payments::REVERSE, |act| {
            payments::reverse(act, no(), no(), None, false)
        }),
        act(&payments::CHANGE, |act| payments::cancel(act, no(), false, None)),
        act(&payments::CHANGE, |act| payments::dispute(act, no())),
        act(&payments::CHANGE, |act| {
            payments::adjust(act, no(), "1", Adjustment::Discount, "why")
        }),
        act(&payments::CHANGE, |act| {
            payments::set(act, no(), &Default::default())
        }),
        act(&payments::CHANGE, |act| payments::plan(act, no(), &new_plan())),
        act(&payments::REFUND, |act| payments::refund(act, no(), &refund())),
        view(&payments::RAISE, |view| payments::preview(view, &new_charges())),
        view(&payments::SHOW, |view| {
            payments::show(view, no()).map(|shown| shown.payment)
        }),
        act(&receipts::RECORD, |act| receipts::record(act, &new_receipt())),
        view(&receipts::RECORD, |view| receipts::propose(view, &new_receipt())),
        act(&receipts::CHANGE, |act| receipts::move_to(act, no(), no())),
        act(&receipts::CHANGE, |act| receipts::reverse(act, no(), None)),
        act(&receipts::CHANGE, |act| receipts::bounce(act, no(), None, None)),
        act(&refunds::REFUND, |act| refunds::refund(act, no(), &refund())),
        view(&receipts::READ, |view| receipts::show(view, no())),
        view(&receipts::READ, |view| receipts::list(view, (None, None), None)),
        view(&credit::LIST, credit::list),
        act(&credit::APPLY, |act| credit::apply(act, no())),
        act(&credit::REFUND, |act| credit::refund(act, no(), &refund())),
        act(&entries::RECORD, |act| entries::record(act, &new_posting())),
        act(&entries::REVERSE, |act| entries::reverse(act, no(), "why")),
        view(&entries::READ, |view| {
            entries::accounts(view).map(|found| found.0.len())
        }),
        view(&entries::READ, |view| entries::some(view, &[no()])),
        view(&entries::READ, |view| entries::list(view, (None, None), None)),
        view(&accounts::LIST, |view| accounts::list(view, None)),
        view(&statements::IMPORT, |view| {
            statements::read(view, &new_statement()).map(drop)
        }),
        call(&statements::IMPORT, |app, who| {
            let read = |view: &mut View<'_, '_>| statements::read(view, &new_statement());
            let read = app.view(Identity::Operator, org(1), read).wait()?;
            let work = move |act: &mut Act<'_, '_>| {
                let rule = statements::IMPORT.check(act.caller());
                Ok((rule, statements::import(act, &read, false).map(drop)))
            };
            app.act(who, org(1), work).wait()
        }),
        act(&statements::IMPORT, |act| statements::remove(act, no())),
        view(&statements::READ, |view| statements::list(view, None)),
        view(&statements::READ, |view| {
            statements::show(view, &Lines::default())
        }),
        view(&statements::READ, |view| statements::line(view, no())),
        act(&statements::CHANGE, |act| statements::choose(act, no(), &[])),
        act(&statements::CHANGE, |act| statements::confirm(act, &[no()])),
        act(&statements::CHANGE, |act| {
            statements::confirm_proposed(act, "none")
        }),
        act(&statements::CHANGE, |act| statements::split(act, no(), &[])),
        act(&statements::CHANGE, |act| statements::book(act, no(), &booking())),
        act(&statements::CHANGE, |act| statements::ignore(act, &[no()])),
        act(&statements::CHANGE, |act| statements::undo(act, &[no()])),
        view(&statements::RECONCILE, |view| {
            reconciliation(view, "bank", None).map(drop)
        }),
        act(&accounts::CREATE, |act| {
            accounts::create(act, "", AccountType::Asset)
        }),
        act(&accounts::CHANGE, |act| {
            accounts::set(act, "none", &Default::default())
        }),
        act(&accounts::CHANGE, |act| accounts::close(act, "none", true)),
        act(&count::COUNT, |act| count::count(act, "none", "1", None)),
        view(&periods::READ, periods::show),
        act(&periods::CLOSE, |act| {
            periods::close(act, now().date().plus_days(9))
        }),
        act(&periods::REOPEN, |act| periods::reopen(act, None, "why")),
        act(&payments::CHANGE, |act| payments::win_dispute(act, no())),
        act(&payments::CHANGE, |act| payments::lose_dispute(act, no(), &[])),
        view(&Reimbursement::READ, |view| {
            reimbursements::is_for_caller(view, no())
        }),
        act(&reimbursements::DRAFT, |act| reimbursements::draft(act, &draft())),
        act(&reimbursements::MOVE, |act| moved(act, ReimbursementVerb::Submit)),
        act(&reimbursements::MOVE, |act| moved(act, ReimbursementVerb::Reopen)),
        act(&reimbursements::MOVE, |act| moved(act, ReimbursementVerb::Void)),
        act(&reimbursements::SETTLE, |act| {
            moved(act, ReimbursementVerb::Reject)
        }),
        act(&reimbursements::SETTLE, |act| moved(act, ReimbursementVerb::Pay)),
        act(&reimbursements::APPROVE, |act| {
            moved(act, ReimbursementVerb::Approve)
        }),
        view(&reports::DUES, |view| reports::dues(view, no_days())),
        view(&reports::OWING, reports::owing),
        view(&reports::LEDGER, |view| reports::ledger(view, no_days(), None)),
        view(&reports::CHAPTERS, |view| reports::chapters(view, None)),
        view(&reports::INCOME, |view| {
            reports::income(view, no_days(), reports::Basis::Cash)
        }),
        view(&reports::BALANCES, |view| reports::balances(view, None)),
        view(&journal_export::EXPORT, |view| {
            exported(journal_export::export(
                view,
                journal_export::Format::Hledger,
                (Some(now().date()), Some(now().date().plus_days(-1))),
                &mut Vec::new(),
                &mut |_| (),
            ))
        }),
        whole(&resources::OWNER, |whole| resources::owner::<Member>(whole, no())),
    ];
    calls.extend(read::<Card>(List::Card));
    calls.extend(read::<Reminder>(List::Reminder));
    calls.extend(read::<Member>(List::Member));
    calls.extend(read::<Group>(List::Group));
    calls.extend(read::<Reimbursement>(List::Reimbursement));
    calls.extend(read::<Payment>(List::Payment));
    calls.extend(read::<Campaign>(List::Campaign));
    calls.extend(read::<Listing>(List::Listing));
    calls.extend(read::<Order>(List::Order));
    calls.extend(read::<Chapter>(List::Chapter));
    calls.extend([
        view(&events::READ, |view| events::page(view, &walk(), Vec::new())),
        view(&events::READ, |view| events::get(view, no())),
    ]);
    calls.push(view(&Chapter::READ, |view| {
        chapters::page(view, &walk(), Vec::new())
    }));
    calls.extend([
        view(&roster::PREVIEW, |view| {
            told(roster::preview(view, &no_roster(), &Default::default()))
        }),
        act(&roster::IMPORT, |act| {
            told(roster::import(
                act,
                &no_roster(),
                &Default::default(),
                &mut |_| (),
            ))
        }),
        act(&store::CREATE_LISTING, |act| {
            store::create_listing(act, &Default::default())
        }),
        act(&store::CHANGE_LISTING, |act| {
            store::set_listing(act, no(), &Default::default())
        }),
        act(&store::CHANGE_LISTING, |act| store::set_on_sale(act, no(), true)),
        act(&store::ORDER, |act| store::order(act, no(), None, &[])),
        act(&store::REFUND_ORDER, |act| {
            store::perform_order(act, no(), OrderVerb::Refund, &Default::default()).map(drop)
        }),
        act(&store::CHANGE_ORDER, |act| {
            store::perform_order(act, no(), OrderVerb::Pay, &Default::default())
        }),
        act(&undo::UNDO, |act| undo::undo(act, no())),
        view(&undo::UNDO, |view| undo::about(view, no())),
        whole(&undo::OWNER, |whole| undo::owner(whole, no())),
        act(&uploads::PARK, |act| uploads::park(act, "members.csv", b"x")),
        act(&uploads::PARK, |act| uploads::remove(act, no())),
        view(&uploads::READ, |view| uploads::get(view, no())),
    ]);
    calls
}

/// Tokens, roles, policy, organizations, and what is about all data.
fn access(service: TokenId) -> Vec<Call> {
    vec![
        whole(&bursar_app::act::ACT_AS, |whole| {
            whole.act_as(Identity::Worker, now(), org(1), |_| Ok::<_, AppError>(()))
        }),
        view(&activity::LIST, |view| activity::list(view, &Default::default())),
        view(&activity::LIST, |view| activity::names(view, &[])),
        view(&activity::LIST, |view| activity::subjects(view, &[])),
        view(&activity::LAST, |view| {
            activity::last(view, activity::About::Action("policy"), now())
        }),
        whole(&check::CHECK, |whole| check::check(whole, &mut |_| ())),
        by_itself(&copy::COPY, |app, who| {
            let to = TestDb::sqlite();
            copy::copy(app, who, &app_at(&to.db, now()), &mut |_, _| ()).map(drop)
        }),
        whole(&export::EXPORT, |whole| {
            exported(export::export(whole, None, &mut Vec::new(), &mut |_| ()))
        }),
        by_itself(&import::IMPORT, |app, who| {
            let open = || Ok(Box::new(std::io::empty()) as Box<dyn std::io::BufRead>);
            match import::import(app, who, &import::Source { open: &open }, &mut |_| ()) {
                Err(ImportError::App(error)) => Err(error),
                _ => Ok(()),
            }
        }),
        whole(&inspect::INSPECT, inspect::engine),
        whole(&inspect::INSPECT, inspect::damage),
        whole(&organizations::CREATE, |whole| {
            organizations::create(whole, no(), &new_organization())
        }),
        // What a caller may not see is left out.
        call(&organizations::LIST, |app, who| {
            let rule = |view: &mut View<'_, '_>| Ok::<_, AppError>(organizations::LIST.check(view.caller()));
            let (rule, seen) = (
                app.view(who, org(1), rule).wait()?,
                app.look(who, organizations::list),
            );
            let is_seen = !seen.wait()?.is_empty();
            Ok((rule, is_seen.then_some(()).ok_or_else(left_out)))
        }),
        named_organization(|app, who| {
            let found = app.look(who, |whole| names::organization(whole, "club"));
            found.wait()
        }),
        named_organization(|app, who| app.look(who, names::only_organization).wait()),
        view(&organizations::LIST, |view| names::neighbour(view, "club")),
        view(&organizations::LIST, |view| {
            names::of_organizations(view, &[org(1)])
        }),
        view(&organizations::LIST, organizations::show),
        whole(&organizations::COUNT, organizations::count),
        act(&organizations::SET, |act| {
            organizations::set(act, &OrganizationChange::default())
        }),
        act(&organizations::APPROVE, |act| {
            let change = OrganizationChange {
                card_issuing: Some(CardIssuing::Approved),
                ..OrganizationChange::default()
            };
            organizations::set(act, &change)
        }),
        view(&policy::SHOW, policy::show),
        act(&policy::SET, |act| policy::set(act, &Default::default())),
        act(&roles::SET, |act| roles::set(act, "", Role::Viewer)),
        act(&roles::SET, |act| roles::invite(act, "", Role::Viewer, "")),
        act(&roles::REMOVE, |act| roles::remove(act, "")),
        view(&roles::LIST, roles::list),
        whole(&roles::PERSON, |whole| roles::person(whole, "")),
        // A personal token is one's own.
        call(&tokens::CREATE, |app, who| {
            let new = new_token(Holder::Person(own_address(app, who)?));
            let work = move |act: &mut Act<'_, '_>| {
                let done = tokens::create(act, &new, &[0; ENTROPY_BYTES]);
                Ok((tokens::CREATE.check(act.caller()), done.map(drop)))
            };
            app.act(who, org(1), work).wait()
        }),
        act(&tokens::CREATE_SERVICE, |act| {
            tokens::create(act, &new_token(Holder::Service(Role::Admin)), &[0; ENTROPY_BYTES])
        }),
        act(&tokens::ROTATE, |act| {
            tokens::rotate(act, no(), None, &[0; ENTROPY_BYTES])
        }),
        act(&tokens::REVOKE, |act| tokens::revoke(act, no())),
        call(&tokens::REVOKE_SERVICE, move |app, who| {
            let rule = |act: &mut Act<'_, '_>| tokens::REVOKE_SERVICE.check(act.caller());
            let work = move |act: &mut Act<'_, '_>| Ok((rule(act), tokens::revoke(act, service).map(drop)));
            app.act(who, org(1), work).wait()
        }),
        view(&tokens::LIST, tokens::list),
        view(&tokens::LIST_ALL, |view| {
            let is_service = |token: &tokens::Record| token.kind == TokenKind::Service;
            let is_seen = tokens::list(view)?.iter().any(is_service);
            is_seen.then_some(()).ok_or_else(left_out)
        }),
        view(&tokens::GET, |view| tokens::get(view, no())),
        view(&tokens::GET, |view| tokens::explain_by_id(view, no())),
        view(&tokens::SELF, |view| tokens::explain_caller(view)),
        whole(&tokens::FIND, |whole| tokens::organization_of(whole, no())),
        act(&webhooks::CREATE, |act| {
            webhooks::create(
                act,
                &new_webhook(),
                &SecretKey::new([1; 32]),
                &[0; SECRET_ENTROPY],
            )
        }),
        view(&webhooks::LIST, webhooks::list),
        view(&webhooks::LIST, |view| webhooks::get(view, no())),
        view(&webhooks::LIST, |view| webhooks::deliveries(view, no(), None, 1)),
        view(&webhooks::LIST, |view| {
            webhooks::key(view, &KeyFile::None, [1; 32])
        }),
        act(&webhooks::SET, |act| {
            webhooks::set(act, no(), &Default::default())
        }),
        act(&webhooks::ROTATE, |act| {
            webhooks::rotate(act, no(), None, &SecretKey::new([1; 32]), &[0; SECRET_ENTROPY])
        }),
        act(&webhooks::DISABLE, |act| webhooks::disable(act, no())),
        act(&webhooks::ENABLE, |act| webhooks::enable(act, no(), false)),
        act(&webhooks::TEST, |act| webhooks::test(act, no())),
        act(&webhooks::REPLAY, |act| webhooks::replay(act, no(), no())),
        act(&webhooks::REPLAY, |act| webhooks::replay_since(act, no(), now())),
        act(&webhooks::DELETE, |act| webhooks::delete(act, no())),
        whole(&webhooks::FIND, |whole| webhooks::organization_of(whole, no())),
        act(&providers::SET, |act| {
            providers::set(
                act,
                &new_provider(),
                &SecretKey::new([1; 32]),
                &[0; providers::ENTROPY],
            )
        }),
        view(&providers::SHOW, providers::show),
        view(&providers::SHOW, |view| {
            providers::sealing_key(view, &KeyFile::None, [1; 32])
        }),
        view(&providers::TEST, providers::check_test),
        act(&providers::REMOVE, providers::remove),
        act(&online::BEGIN, |act| online::begin(act, &new_online())),
        view(&online::OFFERED, online::is_offered),
        view(&online::OWN, |view| online::own(view, no())),
        view(&online::OWN, |view| online::own_list(view, 1)),
        view(&online::READ, |view| online::list(view, None, 1)),
        view(&online::READ, |view| online::get(view, no())),
        view(&online::READ, |view| online::payouts(view, 1)),
        view(&online::READ, |view| online::of_receipt(view, no())),
        view(&online::READ, |view| {
            online::lists::payments(view, online::lists::Which::All, None)
        }),
        view(&online::READ, |view| online::lists::of_charge(view, no())),
        view(&online::READ, |view| online::lists::by_name(view, "pi_1")),
        view(&online::READ, online::lists::disputes),
        view(&online::READ, online::lists::counts),
        view(&online::READ, |view| online::lists::payouts(view, None)),
        act(&online::REFUND, |act| online::refund(act, no(), None, None)),
        whole(&online::FIND, |whole| online::organization_of(whole, no())),
        act(&autopay::START, |act| autopay::start(act, "", "")),
        act(&autopay::STOP, |act| autopay::stop(act, Some(no()))),
        view(&autopay::OWN, autopay::own),
        view(&autopay::OWN, |view| autopay::own_begun(view, no())),
        view(&autopay::READ, |view| autopay::of_member(view, no())),
        view(&autopay::READ, autopay::list),
    ]
}

/// What the service does by itself, and what is about that.
fn work() -> Vec<Call> {
    vec![
        whole(&backlog::REPORT, |whole| backlog::report(whole, 1, 1)),
        whole(&backlog::MEASURE, backlog::measure),
        act(&campaigns::END_IF_OVER, |act| campaigns::end_if_over(act, no())),
        whole(&campaigns::OVER, |whole| campaigns::over(whole, now(), 1)),
        act(&dues::RAISE, |act| dues::raise(act, no(), None)),
        act(&dues::END_DAY, |act| dues::end_day(act, no(), now().date(), None)),
        act(&dues::SET, |act| dues::set(act, no(), None)),
        view(&dues::PREVIEW, |view| dues::preview(view, no())),
        whole(&dues::DUE, |whole| dues::due(whole, now(), None, 1)),
        act(&late_fees::RAISE, |act| late_fees::raise(act, no(), None)),
        whole(&late_fees::DUE, |whole| late_fees::due(whole, None, 1)),
        whole(&housekeeping::PRUNE, |whole| {
            housekeeping::prune(whole, retention())
        }),
        whole(&housekeeping::PRUNE, |whole| {
            housekeeping::prunable(whole, retention())
        }),
        act(&housekeeping::PRUNE, |act| {
            housekeeping::prune_organization(act, retention())
        }),
        view(&audit::PACK, |view| {
            exported(audit::pack(view, 2026, &mut |_, _| Ok(())))
        }),
        act(&member_statement::MAIL, |act| {
            member_statement::mail(act, no(), (None, None))
        }),
        view(&member_statement::READ, |view| {
            member_statement::read(view, no(), (None, None))
        }),
        view(&messages::LIST, |view| messages::list(view, no_query())),
        view(&messages::LIST, |view| messages::counts(view, no())),
        act(&messages::RETRY, |act| messages::retry(act, no())),
        whole(&notices::DUE, |whole| notices::due(whole, now(), 1)),
        whole(&notices::QUEUE, |whole| notices::queue(whole, &expiring(), now())),
        whole(&outbox::IS_DUE, |whole| outbox::is_due(whole, Method::Email)),
        whole(&online::ASK, online::next_due),
        whole(&online::ASK, |whole| online::claim(whole, now(), 1)),
        whole(&online::ASK, online::pull_in),
        view(&online::ASK, |view| online::settle::question(view, no())),
        act(&online::SETTLE, |act| {
            online::settle::opened(act, no(), &opened())
        }),
        act(&online::SETTLE, |act| online::settle::abandon(act, no())),
        act(&online::SETTLE, |act| {
            online::settle::settle(act, no(), &outcome())
        }),
        act(&online::SETTLE, |act| {
            online::settle::rest(act, &online_payment(), None, 1)
        }),
        act(&online::HEAR, |act| online::hear(act, &online::Report::Other)),
        view(&providers::ACCESS, |view| providers::access(view, &KeyFile::None)),
        view(&providers::ACCESS, |view| {
            providers::webhook_secret(view, &KeyFile::None)
        }),
        whole(&delivery::CLAIM, delivery::next_due),
        whole(&delivery::CLAIM, |whole| {
            delivery::claim(whole, now(), delivery::LIMITS, 1)
        }),
        whole(&delivery::CLAIM, |whole| delivery::renew(whole, &[], now())),
        whole(&delivery::CLAIM, |whole| delivery::release(whole, &[])),
        whole(&delivery::CLAIM, delivery::pull_in),
        whole(&delivery::CLAIM, delivery::lags),
        whole(&delivery::CLAIM, |whole| delivery::first(whole, webhook_claim())),
        whole(&delivery::ATTEMPTED, |whole| {
            delivery::attempted(whole, webhook_claim(), &parcel(), &delivered(), terms())
        }),
        whole(&outbox::IS_DUE, outbox::has_due_job),
        whole(&outbox::CLAIM, |whole| outbox::put_off(whole, &job(), now())),
        whole(&outbox::CLAIM, |whole| outbox::claim_jobs(whole, now(), 1)),
        whole(&outbox::CLAIM, |whole| {
            outbox::claim(whole, Method::Email, now(), 1)
        }),
        whole(&outbox::CLAIM, |whole| outbox::renew(whole, &[], now())),
        whole(&outbox::CLAIM, |whole| outbox::release(whole, &[], None)),
        whole(&outbox::CLAIM, outbox::pull_in),
        act(&outbox::EXPAND, |act| outbox::expand(act, &job())),
        act(&outbox::ATTEMPTED, |act| {
            outbox::attempted(act, &claimed(), &attempt())
        }),
        whole(&outbox::ATTEMPTED, |whole| {
            outbox::attempted_only(whole, &claimed(), &attempt())
        }),
        act(&reminders::SCHEDULE, |act| {
            reminders::schedule(act, &new_reminder())
        }),
        view(&reminders::LIST, |view| reminders::list(view, None)),
        act(&reminders::CANCEL, |act| reminders::cancel(act, no())),
        act(&reminders::RETRY, |act| reminders::retry(act, no())),
        act(&reminders::SEND_NOW, |act| reminders::send_now(act, no())),
        whole(&reminders::DUE, |whole| reminders::due(whole, now(), 1)),
        act(&reminders::RUN_DUE, |act| reminders::run_due(act, no())),
        view(&preview::PREVIEW, |view| preview::preview(view, no())),
        view(&preview::PREVIEW, |view| {
            preview::preview_new(view, &new_reminder())
        }),
        act(&preview::TEST, |act| preview::test(act, no(), "a@example.org")),
        whole(&last_used::STORE, |whole| last_used::store(whole, &uses())),
        whole(&worker_clock::KNOWN, worker_clock::known),
        whole(&worker_clock::KNOWN, worker_clock::furthest_change),
        whole(&worker_clock::TRUST, |whole| worker_clock::trust(whole, seen())),
    ]
}
fn walk() -> Walk {
    Walk {
        limit: PageLimit::DEFAULT,
        filters: Filters::default(),
        cursor: None,
    }
}

fn new_card() -> NewCard {
    NewCard {
        name: String::new(),
        spend_limit: Money::zero(Currency::USD),
        spend_limit_frequency: LimitFrequency::Daily,
        transaction_limit: None,
        assigned_member_id: Some(no()),
    }
}

fn new_plan() -> NewPlan {
    NewPlan {
        into: 2,
        every: Every::Month,
        first: None,
    }
}

fn refund() -> Refund {
    Refund {
        amount: "1".into(),
        date: None,
        method: None,
        account: None,
    }
}

fn new_receipt() -> NewReceipt {
    NewReceipt {
        amount: String::new(),
        method: Paid::Cash,
        date: None,
        account: None,
        payer: None,
        payer_name: None,
        reference: None,
        payments: Vec::new(),
        campaign: None,
        income: None,
        again: false,
    }
}

fn new_statement() -> NewStatement {
    NewStatement {
        account: "bank".into(),
        bytes: b"Date;Amount;Text\n2026-01-02;1.00;x\n".to_vec(),
        format: None,
        columns: Vec::new(),
    }
}

fn booking() -> Booking {
    Booking {
        account: Some("none".into()),
        campaign: None,
        memo: None,
    }
}

fn new_posting() -> NewPosting {
    NewPosting {
        debit: "none".into(),
        credit: "none".into(),
        amount: "1".into(),
        date: None,
        memo: None,
        reference: None,
    }
}

fn new_group() -> NewGroup {
    NewGroup {
        name: "Crew".into(),
        description: String::new(),
    }
}

fn new_charges() -> NewCharges {
    NewCharges {
        debtor: Debtor::Member(no()),
        amount: None,
        description: String::new(),
        due_date: None,
        category: None,
        again: false,
    }
}

fn received() -> Received {
    Received {
        amount: String::new(),
        method: Paid::Cash,
        received_on: None,
        reference: None,
        again: false,
    }
}

fn draft() -> Draft {
    Draft {
        member_id: None,
        recipient_organization_id: None,
        amount: String::new(),
        category: None,
        description: String::new(),
        incurred_at: None,
        receipts: Vec::new(),
    }
}

fn moved(act: &mut Act<'_, '_>, verb: ReimbursementVerb) -> Result<Reimbursement, AppError> {
    reimbursements::perform(act, no(), verb, &Remarks::default())
}

fn no_roster() -> Roster {
    roster::read(b"First,Last,Email\n,,\n", &roster::Options::default()).unwrap()
}

fn told<T>(done: Result<T, RosterError>) -> Result<T, AppError> {
    done.map_err(|error| match error {
        RosterError::App(error) => error,
        RosterError::Rows(_) => Refusal::unreadable("bad rows").into(),
    })
}

fn own_address(app: &App, who: Identity) -> Result<String, AppError> {
    let all = app.view(Identity::Operator, org(1), roles::list).wait()?;
    let own = all.iter().find(|holder| Identity::Person(holder.user.id) == who);
    Ok(own.map_or_else(String::new, |holder| holder.user.email.clone()))
}

fn left_out() -> AppError {
    let message = "it is left out".to_owned();
    Refusal::Forbidden { message }.into()
}

/// A report that is refused after its rule.
fn no_days() -> reports::Span {
    reports::Span::of(now().date(), now().date().plus_days(-1))
}

fn exported<T>(done: Result<T, ExportError>) -> Result<T, AppError> {
    done.map_err(|error| match error {
        ExportError::App(error) => error,
        ExportError::Output(_) => Refusal::unreadable("the output is broken").into(),
    })
}

fn begun() -> Begun {
    Begun {
        nonce: String::new(),
        verifier: String::new(),
        to: String::new(),
        is_again: false,
    }
}

fn place() -> Passkeys {
    Passkeys::of(&"https://dues.example.org".parse().unwrap()).unwrap()
}

fn new_organization() -> NewOrganization {
    NewOrganization {
        name: String::new(),
        kind: OrganizationKind::National,
        parent_id: None,
        currency: Currency::USD,
        contact_email: None,
        contact_phone: None,
        card_issuing: CardIssuing::Pending,
        time_zone: Default::default(),
    }
}

fn new_provider() -> providers::NewProvider {
    providers::NewProvider {
        kind: ProviderKind::Stripe,
        key: Some("rk_test_51abcdefghijklmnop".to_owned()),
        webhook_secret: None,
        account: None,
    }
}

fn new_online() -> online::NewOnlinePayment {
    online::NewOnlinePayment {
        member: no(),
        charges: vec![(no(), None)],
        success_url: String::new(),
        cancel_url: String::new(),
    }
}

fn online_payment() -> bursar_db::online::OnlinePayment {
    bursar_db::online::OnlinePayment {
        organization_id: org(1),
        id: no(),
        kind: ProviderKind::Stripe,
        member_id: no(),
        amount: 1,
        currency: Currency::USD,
        state: OnlineState::Open,
        created_at: now(),
        expires_at: now(),
        ended_at: None,
        success_url: String::new(),
        cancel_url: String::new(),
        url: None,
        session_id: None,
        intent_id: None,
        charge_id: None,
        failure: None,
        problem: None,
        receipt_id: None,
        fee: None,
        due_at: None,
        attempts: 0,
        heard: 0,
        autopay_id: None,
    }
}

fn opened() -> port::Opened {
    port::Opened {
        session: String::new(),
        url: String::new(),
    }
}

fn outcome() -> port::Outcome {
    port::Outcome {
        progress: port::Progress::Waiting,
        intent: None,
        charge: None,
        failure: None,
        fee: None,
        refunds: Vec::new(),
        disputes: Vec::new(),
    }
}

fn new_webhook() -> webhooks::NewWebhook {
    let reach = webhooks::Reach::new(Default::default());
    webhooks::NewWebhook {
        destination: reach.destination("https://8.8.8.8/").unwrap(),
        types: None,
        scopes: None,
        description: None,
    }
}

fn webhook_claim() -> delivery::Claim {
    delivery::Claim {
        organization: org(1),
        id: no(),
        number: 1,
    }
}

fn parcel() -> delivery::Parcel {
    delivery::Parcel {
        url: String::new(),
        event: no(),
        event_type: String::new(),
        document: String::new(),
        attempt: 1,
        refusals: 0,
        sealed: Vec::new(),
        turn: delivery::Turn::Extra(true),
    }
}

fn delivered() -> delivery::Attempted {
    delivery::Attempted {
        at: now(),
        duration_ms: 1,
        status: Some(200),
        error: None,
        retry_after_seconds: None,
    }
}

fn terms() -> delivery::Terms {
    delivery::Terms {
        back_off: Default::default(),
        random: 0,
        until: now(),
        goes_on: false,
    }
}

fn new_token(holder: Holder) -> NewToken {
    NewToken {
        holder,
        name: None,
        scopes: ScopeSet::NONE,
        days: None,
    }
}

fn retention() -> Retention {
    Retention {
        idempotency_seconds: 1,
        message_seconds: 1,
        event_seconds: 1,
    }
}

fn no_query() -> messages::Query {
    messages::Query {
        reminder: None,
        before: None,
        limit: 0,
    }
}

fn new_reminder() -> NewReminder {
    NewReminder {
        audience: Audience::Nobody,
        method: Method::Email,
        at: now(),
        subject: None,
        body: None,
        every_days: None,
        include_payment_info: false,
    }
}

fn job() -> Job {
    Job {
        organization: org(1),
        id: [0; 16],
        kind: JobKind::Reminder,
        subject: [0; 16],
        run_at: now(),
        expanded_to: None,
        is_expanded: false,
    }
}

fn claimed() -> Claimed {
    Claimed {
        message: Message {
            organization: org(1),
            id: no(),
            job: [0; 16],
            recipient: [0; 16],
            method: Method::Email,
            address: String::new(),
            name: String::new(),
            subject: String::new(),
            body: String::new(),
            owed: None,
            headers: String::new(),
            segments: None,
        },
        created_at: now(),
        attempt: 1,
        tries: 1,
        sender: String::new(),
        reply_to: None,
    }
}

fn attempt() -> Attempt {
    Attempt::Delivered(String::new())
}

fn seen() -> Seen {
    Seen {
        at: now(),
        steady_since: now(),
    }
}

fn uses() -> Uses {
    Uses {
        organization: org(1),
        tokens: Vec::new(),
    }
}

fn expiring() -> Expiring {
    Expiring {
        token: bursar_db::tokens::Token {
            organization_id: org(1),
            id: no(),
            kind: TokenKind::Service,
            name: String::new(),
            user_id: None,
            role: Some(Role::Viewer),
            scopes: ScopeSet::NONE,
            days: 1,
            created_at: now(),
            expires_at: now(),
            ends_at: now(),
            revoked_at: None,
            family_id: no(),
            predecessor_id: None,
            successor_id: None,
            created_by: String::new(),
            last_used_at: None,
        },
        noticed_days: None,
    }
}
