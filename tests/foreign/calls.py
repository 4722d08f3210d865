"""Real calls with the client that openapi-python-client made. calls.ts makes the same ones."""

import datetime
import importlib
import os
import uuid

from organization_dues_and_payments_api_client import AuthenticatedClient, models
from organization_dues_and_payments_api_client.types import UNSET

URL = os.environ["BURSAR_URL"]
CHAPTER = "org_01jbst1c01e009wdvsq5zmmz0n"
client = AuthenticatedClient(base_url=URL, token=os.environ["BURSAR_TOKEN"])
calls = 0


def call(operation, *args, with_client=client, **kwargs):
    """The whole response of an operation, such as `groups.get_group`."""
    global calls
    calls += 1
    module = importlib.import_module(f"organization_dues_and_payments_api_client.api.{operation}")
    return module.sync_detailed(*args, client=with_client, **kwargs)


def expect(response, status, model):
    assert response.status_code == status, (response.status_code, response.content)
    assert isinstance(response.parsed, model), response.parsed
    return response.parsed


def walk(operation, model, *args, **filters):
    """All rows of a list, two a page."""
    rows, cursor = [], UNSET
    while True:
        page = expect(call(operation, *args, limit=2, cursor=cursor, **filters), 200, model)
        rows += page.data
        assert page.has_more == (page.next_cursor is not None)
        if not page.has_more:
            break
        cursor = page.next_cursor
    assert rows, f"{operation} gave nothing"
    assert len({row.id for row in rows}) == len(rows), f"{operation} gave a row twice"
    return rows


# Walks over every list.
members = walk("members.list_members", models.MemberPage)
groups = walk("groups.list_groups", models.GroupPage)
walk("payments.list_payments", models.PaymentPage)
walk("reimbursements.list_reimbursements", models.ReimbursementPage)
reminders = walk("reminders.list_reminders", models.ReminderPage)
cards = walk("cards.list_cards", models.CardPage)
listings = walk("store.list_store_listings", models.StoreListingPage)
walk("chapters.list_chapter_members", models.MemberPage, CHAPTER)
assert isinstance(members[0].updated_at, datetime.datetime)
assert any(card.status is None for card in cards)
paid = walk("payments.list_payments", models.PaymentPage, status=models.ListPaymentsStatus.PAID)
assert all(payment.status == models.PaymentStatus.PAID for payment in paid)
# `updatedSince` is inclusive: the last change at least comes back. Imported rows may have one time.
since = walk("members.list_members", models.MemberPage, updated_since=members[-1].updated_at)
assert since == [member for member in members if member.updated_at == members[-1].updated_at]
archived = walk("members.list_members", models.MemberPage, is_active=False)

# Single resources.
assert expect(call("members.get_member", members[0].id), 200, models.Member) == members[0]
expect(call("groups.get_group", groups[0].id), 200, models.Group)
expect(call("store.get_store_listing", listings[0].id), 200, models.StoreListing)
expect(call("store.get_store_order", "ord_01jbst1c00e008000000000000"), 200, models.StoreOrder)
expect(call("campaigns.get_campaign", "cmp_01jbst1c00e008000000000000"), 200, models.Campaign)
token = expect(call("service.get_token"), 200, models.Token)
assert token.role == models.TokenRole.ADMIN and not token.withheld
expect(call("service.get_openapi"), 200, models.GetOpenapiResponse200)

# A group is made once, however often it is asked for with one key; another body with that key is a conflict.
key = str(uuid.uuid4())
body = models.NewGroup(name="Made by a generated client", description="Ünïcode ✓")
first = call("groups.create_group", body=body, idempotency_key=key)
group = expect(first, 201, models.Group)
assert (group.name, group.description, group.member_count) == (body.name, body.description, 0)
again = call("groups.create_group", body=body, idempotency_key=key)
expect(again, 201, models.Group)
assert again.content == first.content and again.headers["Idempotent-Replayed"] == "true"
other = call("groups.create_group", body=models.NewGroup(name="Another"), idempotency_key=key)
assert expect(other, 409, models.Error).error.code == "idempotency_key_reused"

# Changes.
changed = call("groups.update_group", group.id, body=models.GroupChange(name="Renamed"))
assert expect(changed, 200, models.Group).name == "Renamed"
changed = call("members.update_member", members[0].id, body=models.MemberChange(first_name="Zoe"))
assert expect(changed, 200, models.Member).first_name == "Zoe"
with_group = next(member for member in members if member.groups)
removed = call("groups.remove_group_member", with_group.groups[0], with_group.id, body=models.EmptyObject())
expect(removed, 200, models.Group)
new_card = models.NewCard(
    name="Fuel", spend_limit=12.34, spend_limit_frequency=models.NewCardSpendLimitFrequency.WEEKLY
)
made = expect(call("cards.create_card", body=new_card, idempotency_key=str(uuid.uuid4())), 201, models.CardCreation)
assert made.kind == models.CardCreationKind.CARD and made.card.spend_limit == "12.34"
scheduled = next(reminder for reminder in reminders if reminder.status == models.ReminderStatus.SCHEDULED)
sent = call("reminders.send_reminder", scheduled.id, body=models.EmptyObject(), idempotency_key=str(uuid.uuid4()))
expect(sent, 200, models.SentReminder)
done = next(reminder for reminder in reminders if reminder.status == models.ReminderStatus.SENT)
again = call("reminders.send_reminder", done.id, body=models.EmptyObject(), idempotency_key=str(uuid.uuid4()))
assert expect(again, 409, models.Error).error.code == "conflict"

# Errors.
error = expect(call("members.get_member", "mem_nobody"), 404, models.Error).error
assert error.code == "not_found" and error.docs_url.startswith(URL) and error.request_id.startswith("req_")
error = expect(call("members.list_members", limit=101), 400, models.Error).error
assert (error.code, error.param) == ("invalid_request", "limit")
stranger = AuthenticatedClient(base_url=URL, token="nobody")
error = expect(call("members.list_members", with_client=stranger), 401, models.Error).error
assert error.code == "invalid_token"

print(f"the generated Python client: {calls} calls, every answer parsed")
