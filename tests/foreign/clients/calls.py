"""Every operation of the Python client, behind a proxy that spoils responses. calls.ts makes the same calls."""

from decimal import Decimal
from typing import TypeVar

import bursar as package
from bursar import (
    Bursar,
    CardCreationKind,
    Conflict,
    EventsGone,
    GroupEvent,
    InvalidRequest,
    InvalidToken,
    Model,
    NotFound,
    PaymentStatus,
    ReminderStatus,
    Role,
    Scope,
    Walk,
    new_key,
)

CHAPTER = "org_01jbst1c01e009wdvsq5zmmz0n"
T = TypeVar("T", bound=Model)
bursar = Bursar()


def every(walk: Walk[T]) -> list[T]:
    rows = list(walk)
    ids = [row.raw["id"] for row in rows]
    assert rows and len(set(ids)) == len(ids), "a row came twice"
    assert walk.watermark == max(getattr(row, "updated_at", None) or getattr(row, "created_at") for row in rows)
    return rows


# Lists, two rows a page.
members = every(bursar.members.list(limit=2))
groups = every(bursar.groups.list(limit=2))
payments = every(bursar.payments.list(limit=2))
every(bursar.reimbursements.list(limit=2))
reminders = every(bursar.reminders.list(limit=2))
cards = every(bursar.cards.list(limit=2))
campaigns = every(bursar.campaigns.list(limit=2))
listings = every(bursar.store.list_listings(limit=2))
orders = every(bursar.store.list_orders(limit=2))
every(bursar.chapters.list(limit=2))
every(bursar.chapters.list_members(CHAPTER, limit=2))
assert any(card.status is None for card in cards)
paid = every(bursar.payments.list(status="paid"))
assert all(payment.status is PaymentStatus.PAID for payment in paid)
assert paid == every(bursar.payments.list(status=PaymentStatus.PAID))
assert not list(bursar.members.list(is_active=False)) == members

# What changed since. The watermark includes its own moment; imported rows may have one time.
walk = bursar.members.list()
assert list(walk) == members
again = bursar.members.list(updated_since=walk.watermark)
assert list(again) == [member for member in members if member.updated_at == walk.watermark]
assert again.watermark == walk.watermark
none = bursar.members.list(updated_since="2199-01-01t00:00:00.5z")
assert list(none) == [] and str(none.watermark) == "2199-01-01 00:00:00.500000+00:00"

# Pages, and a walk that is not finished.
page = bursar.members.list(limit=1).first_page()
assert page.has_more and page.data[0] == members[0]
rest = bursar.members.list(cursor=page.next_cursor)
assert list(rest) == members[1:]
assert [len(page.data) for page in bursar.members.list(limit=1).pages()] == [1] * len(members)
for _ in walk:
    break
try:
    walk.watermark
except RuntimeError:
    pass
else:
    raise AssertionError("a watermark that skips rows")

# Single resources.
assert bursar.members.get(members[0].id) == members[0]
assert bursar.groups.get(groups[0].id) == groups[0]
assert bursar.store.get_listing(listings[0].id) == listings[0]
assert bursar.store.get_order(orders[0].id) == orders[0]
assert bursar.campaigns.get(campaigns[0].id) == campaigns[0]
token = bursar.get_token()
assert token.role is Role.ADMIN and Scope.CARDS_READ in token.effective_scopes and token.withheld == ()
assert bursar.get_openapi()["openapi"].startswith("3.1")

# Writes: one effect for one key, also over calls. Another body with that key is a conflict.
key = new_key()
group = bursar.groups.create(name="Made by a client", description="Ünïcode ✓", idempotency_key=key)
assert (group.name, group.description, group.member_count) == ("Made by a client", "Ünïcode ✓", 0)
assert bursar.groups.create(name="Made by a client", description="Ünïcode ✓", idempotency_key=key) == group
try:
    bursar.groups.create(name="Another", idempotency_key=key)
except Conflict as error:
    assert error.code == "idempotency_key_reused" and error.idempotency_key == key
else:
    raise AssertionError("a key for two operations")
other = bursar.groups.create(name="Made without a key")
assert [one.name for one in bursar.groups.list()].count("Made by a client") == 1
assert [one.name for one in bursar.groups.list()].count("Made without a key") == 1
assert bursar.groups.update(group.id, name="Renamed").description == "Ünïcode ✓"
assert bursar.members.update(members[0].id, first_name="Zoe").first_name == "Zoe"
member = next(member for member in members if member.groups)
assert bursar.groups.remove_member(member.groups[0], member.id).id == member.groups[0]
made = bursar.cards.create(name="Fuel", spend_limit=Decimal("12.34"), spend_limit_frequency="weekly")
assert made.kind is CardCreationKind.CARD and made.card and made.card.spend_limit == "12.34"
scheduled = next(reminder for reminder in reminders if reminder.status is ReminderStatus.SCHEDULED)
assert bursar.reminders.send(scheduled.id).outcome in ("sent", "skipped")
sent = next(reminder for reminder in reminders if reminder.status is ReminderStatus.SENT)
try:
    bursar.reminders.send(sent.id)
except Conflict as error:
    assert error.code == "conflict" and error.status == 409

# Events of these writes.
events = list(bursar.events.list())
first = bursar.events.get(events[0].id)
assert first == events[0]
assert isinstance(first, GroupEvent) and first.data.id == group.id and first.resource_id == group.id
after = list(bursar.catch_up(events[0].created_at))
assert after == events[1:] and list(bursar.catch_up(events[-1].created_at.isoformat())) == []
try:
    list(bursar.catch_up("2000-01-01T00:00:00Z"))
except EventsGone as error:
    assert error.code == "events_gone"
else:
    raise AssertionError("a gap looks like silence")

# Errors.
try:
    bursar.members.get("mem_nobody/../..?x#y")
except NotFound as error:
    assert (error.code, error.status, error.param) == ("not_found", 404, None)
    assert error.docs_url and error.docs_url.endswith("#not_found")
    assert error.request_id and error.request_id.startswith("req_") and error.request_id in str(error)
else:
    raise AssertionError("nobody was found")
try:
    bursar.members.list(limit=101).first_page()
except InvalidRequest as error:
    assert (error.code, error.param) == ("invalid_request", "limit")
else:
    raise AssertionError("a page of 101")
try:
    Bursar(token="bursar_pat_wrong").get_token()
except InvalidToken as error:
    assert error.code == "invalid_token" and "bursar_pat_wrong" not in repr(error) + str(error)
else:
    raise AssertionError("a wrong token")
assert bursar._http.token not in repr(bursar) + repr(bursar._http) + repr(vars(bursar))
print(f"bursar {package.__version__} for Python: every call as expected")
