"""The operations of the API, grouped as its reference groups them.

Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from .._http import Http, path_part
from .._paging import Walk
from . import models
from .enums import (
    CampaignStatusInput,
    CardStatusInput,
    EventTypeInput,
    PaymentStatusInput,
    ReimbursementStatusInput,
    ReminderStatusInput,
    SpendLimitFrequencyInput,
    StoreOrderStatusInput,
)


class Members:
    """The people of the organization."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def get(
        self,
        member_id: str,
    ) -> models.Member:
        """Get a member.

        Returns one member, active or archived.

        Needs the scope `members:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `member_id`: The id of the member.
        """
        return self._http.request(
            "GET",
            f"/v1/members/{path_part(member_id)}",
            models.Member.from_dict,
        )

    def update(
        self,
        member_id: str,
        *,
        first_name: str | None = None,
        last_name: str | None = None,
        email: str | None = None,
        is_active: bool | None = None,
        idempotency_key: str | None = None,
    ) -> models.Member:
        """Change, archive or restore a member.

        Changes the fields that the body names and keeps the others. `is_active: false` archives the member: an
        archived member stays in its groups and keeps its payments, but is not counted in `member_count`. Their active
        cards are frozen, and `is_active: true` does not unfreeze them. A member whose data was erased cannot be
        changed. A body that changes nothing leaves `updated_at` as it is. `null` is refused.

        Needs the scope `members:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute
        by default).

        `member_id`: The id of the member.

        `first_name`: Given name.

        `last_name`: Family name.

        `email`: E-mail address.

        `is_active`: False archives the member, true restores it.
        """
        return self._http.request(
            "PATCH",
            f"/v1/members/{path_part(member_id)}",
            models.Member.from_dict,
            body={
                "firstName": first_name,
                "lastName": last_name,
                "email": email,
                "isActive": is_active,
            },
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        is_active: bool | None = None,
    ) -> Walk[models.Member]:
        """List members.

        Returns the organization's members, oldest change first. To keep a copy up to date, follow `next_cursor` to
        the end, then ask again with `updated_since` set to the largest `updated_at` you saw.

        Needs the scope `members:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `is_active`: Only active members, or only archived ones.
        """
        return Walk(
            self._http,
            "/v1/members",
            models.Member.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "isActive": is_active,
            },
            since="updatedSince",
            time="updated_at",
        )


class Groups:
    """Members who owe the same dues."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(
        self,
        *,
        name: str,
        description: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.Group:
        """Create a group.

        Creates a group. Its dues (`amount_due`, `due_date`, `is_recurring`, `recurring_interval`) are set by
        officers: in a body they are refused.

        Needs the scope `groups:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute
        by default).

        `name`: Name of the group.

        `description`: Purpose of the group. Null for none.
        """
        return self._http.request(
            "POST",
            "/v1/groups",
            models.Group.from_dict,
            body={
                "name": name,
                "description": description,
            },
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
    ) -> Walk[models.Group]:
        """List groups with their dues and member counts.

        Returns the organization's groups with their dues and how many active members each has, oldest change first.

        Needs the scope `groups:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.
        """
        return Walk(
            self._http,
            "/v1/groups",
            models.Group.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
            },
            since="updatedSince",
            time="updated_at",
        )

    def get(
        self,
        group_id: str,
    ) -> models.Group:
        """Get a group.

        Returns one group with its dues and how many active members it has.

        Needs the scope `groups:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `group_id`: The id of the group.
        """
        return self._http.request(
            "GET",
            f"/v1/groups/{path_part(group_id)}",
            models.Group.from_dict,
        )

    def update(
        self,
        group_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.Group:
        """Rename a group or change its description.

        Changes the name, the description or both. A body that changes nothing leaves `updated_at` as it is. `null`
        and the read-only fields are refused.

        Needs the scope `groups:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute
        by default).

        `group_id`: The id of the group.

        `name`: Name of the group.

        `description`: Purpose of the group.
        """
        return self._http.request(
            "PATCH",
            f"/v1/groups/{path_part(group_id)}",
            models.Group.from_dict,
            body={
                "name": name,
                "description": description,
            },
            idempotency_key=idempotency_key,
        )

    def remove_member(
        self,
        group_id: str,
        member_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> models.Group:
        """Remove a member from a group.

        Removes a member from a group and returns the group. The member and its payments stay as they are. A member
        who is not in the group is not found. The body is an empty JSON object, or none.

        Needs the scope `groups:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute
        by default).

        `group_id`: The id of the group.

        `member_id`: The id of the member.
        """
        return self._http.request(
            "DELETE",
            f"/v1/groups/{path_part(group_id)}/members/{path_part(member_id)}",
            models.Group.from_dict,
            body={},
            idempotency_key=idempotency_key,
        )


class Payments:
    """Dues and other charges."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        status: PaymentStatusInput | None = None,
        member_id: str | None = None,
    ) -> Walk[models.Payment]:
        """List payments.

        Returns the charges that the organization raised, oldest change first. Providers' identifiers are hidden in
        v1.

        Needs the scope `payments:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `status`: Only rows in this state.

        `member_id`: Only rows of this member.
        """
        return Walk(
            self._http,
            "/v1/payments",
            models.Payment.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "status": status,
                "memberId": member_id,
            },
            since="updatedSince",
            time="updated_at",
        )


class Reimbursements:
    """Expenses that the organization pays back."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        status: ReimbursementStatusInput | None = None,
    ) -> Walk[models.Reimbursement]:
        """List reimbursements.

        Returns the organization's reimbursements, oldest change first. Receipts, payout references and reviewers'
        notes are hidden in v1.

        Needs the scope `reimbursements:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per
        minute by default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `status`: Only rows in this state.
        """
        return Walk(
            self._http,
            "/v1/reimbursements",
            models.Reimbursement.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "status": status,
            },
            since="updatedSince",
            time="updated_at",
        )


class Reminders:
    """Messages by e-mail or SMS."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def send(
        self,
        reminder_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> models.SentReminder:
        """Send a scheduled reminder now.

        Sends a scheduled reminder without waiting for its time. `outcome` is `sent` when at least one recipient
        qualifies: the reminder is `sending` until the messages are delivered. It is `skipped` when nobody does:
        archived, without an address for the method, or owing nothing where `include_payment_info` is set. A skipped
        reminder is `completed`; a recurring one is scheduled again. A reminder that is not `scheduled` is a conflict.
        The body is an empty JSON object, or none.

        Needs the scope `reminders:write` and at least the role editor. Costs 1 unit of the messaging bucket (20 per
        minute by default).

        `reminder_id`: The id of the reminder.
        """
        return self._http.request(
            "POST",
            f"/v1/reminders/{path_part(reminder_id)}/send",
            models.SentReminder.from_dict,
            body={},
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        status: ReminderStatusInput | None = None,
    ) -> Walk[models.Reminder]:
        """List reminders.

        Returns the organization's reminders, oldest change first.

        Needs the scope `reminders:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `status`: Only rows in this state.
        """
        return Walk(
            self._http,
            "/v1/reminders",
            models.Reminder.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "status": status,
            },
            since="updatedSince",
            time="updated_at",
        )


class Cards:
    """Spending with a limit, in the organization's name."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def create(
        self,
        *,
        name: str,
        spend_limit: Decimal | float,
        spend_limit_frequency: SpendLimitFrequencyInput,
        transaction_limit: Decimal | float | None = None,
        assigned_member_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> models.CardCreation:
        """Create a card, or apply for one.

        Creates a card with a spend limit. When the organization is approved for issuing, the response has `kind`
        `card`: the card is `invited` when a member is to hold it, else `active` immediately. When it is not approved
        yet, the response has `kind` `application`, and each new key creates a new application. A card for an archived
        member is a conflict.

        Needs the scope `cards:write` and at least the role admin. Costs 1 unit of the write bucket (120 per minute by
        default).

        `name`: Name of the card.

        `spend_limit`: Spend limit, as a JSON number with no more decimals than the organization's currency has.

        `spend_limit_frequency`: Period of the spend limit.

        `transaction_limit`: Maximum amount of one transaction. Null for no such limit.

        `assigned_member_id`: The active member who will hold the card. Null for nobody.
        """
        return self._http.request(
            "POST",
            "/v1/cards",
            models.CardCreation.from_dict,
            body={
                "name": name,
                "spendLimit": spend_limit,
                "spendLimitFrequency": spend_limit_frequency,
                "transactionLimit": transaction_limit,
                "assignedMemberId": assigned_member_id,
            },
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        status: CardStatusInput | None = None,
    ) -> Walk[models.Card]:
        """List cards.

        Returns the organization's cards, oldest change first.

        Needs the scope `cards:read` and at least the role editor. Costs 1 unit of the read bucket (600 per minute by
        default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `status`: Only rows in this state.
        """
        return Walk(
            self._http,
            "/v1/cards",
            models.Card.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "status": status,
            },
            since="updatedSince",
            time="updated_at",
        )


class Campaigns:
    """Fundraising."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        status: CampaignStatusInput | None = None,
    ) -> Walk[models.Campaign]:
        """List campaigns.

        Returns the organization's fundraising campaigns, oldest change first.

        Needs the scope `fundraise:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `status`: Only rows in this state.
        """
        return Walk(
            self._http,
            "/v1/campaigns",
            models.Campaign.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "status": status,
            },
            since="updatedSince",
            time="updated_at",
        )

    def get(
        self,
        campaign_id: str,
    ) -> models.Campaign:
        """Get a campaign.

        Returns one fundraising campaign.

        Needs the scope `fundraise:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `campaign_id`: The id of the campaign.
        """
        return self._http.request(
            "GET",
            f"/v1/campaigns/{path_part(campaign_id)}",
            models.Campaign.from_dict,
        )


class Store:
    """What the organization sells, and what was bought."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list_listings(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
    ) -> Walk[models.StoreListing]:
        """List store listings.

        Returns what the organization sells, oldest change first. Items and stock are hidden in v1.

        Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.
        """
        return Walk(
            self._http,
            "/v1/store/listings",
            models.StoreListing.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
            },
            since="updatedSince",
            time="updated_at",
        )

    def get_listing(
        self,
        listing_id: str,
    ) -> models.StoreListing:
        """Get a store listing.

        Returns one store listing. Items and stock are hidden in v1.

        Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `listing_id`: The id of the store listing.
        """
        return self._http.request(
            "GET",
            f"/v1/store/listings/{path_part(listing_id)}",
            models.StoreListing.from_dict,
        )

    def list_orders(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        status: StoreOrderStatusInput | None = None,
        member_id: str | None = None,
        listing_id: str | None = None,
    ) -> Walk[models.StoreOrder]:
        """List store orders.

        Returns what was bought, oldest change first. An order does not show when it last changed; `updated_since`
        compares that time all the same. To keep a copy up to date, pass the largest `created_at` that you have: no
        change is missed, and some orders are returned again.

        Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `status`: Only rows in this state.

        `member_id`: Only rows of this member.

        `listing_id`: Only orders from this listing.
        """
        return Walk(
            self._http,
            "/v1/store/orders",
            models.StoreOrder.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "status": status,
                "memberId": member_id,
                "listingId": listing_id,
            },
            since="updatedSince",
            time="created_at",
        )

    def get_order(
        self,
        order_id: str,
    ) -> models.StoreOrder:
        """Get a store order.

        Returns one store order.

        Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `order_id`: The id of the store order.
        """
        return self._http.request(
            "GET",
            f"/v1/store/orders/{path_part(order_id)}",
            models.StoreOrder.from_dict,
        )


class Chapters:
    """The child chapters of national organizations, and their rosters."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
    ) -> Walk[models.Chapter]:
        """List the chapters of a national organization.

        Returns the direct child chapters of a national organization, oldest change first. For any other organization
        the list is not found. `updated_at` is when a chapter was created here, moved here or renamed. A chapter that
        moves elsewhere leaves the list. Reading it is not recorded in any activity log, because it shows no person.

        Needs the scope `chapters:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute
        by default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.
        """
        return Walk(
            self._http,
            "/v1/chapters",
            models.Chapter.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
            },
            since="updatedSince",
            time="updated_at",
        )

    def list_members(
        self,
        chapter_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        updated_since: datetime | str | None = None,
        is_active: bool | None = None,
    ) -> Walk[models.Member]:
        """List the members of a direct child chapter.

        Returns the members of a chapter. It is for national organizations, and for their direct child chapters only:
        anything else is not found. Each page that is read is noted in the chapter's own activity log, with the
        reader. It returns the same fields as the member list, and no more.

        Needs the scopes `chapters:read` and `members:read` and at least the role viewer. Costs `limit` / 25 units,
        rounded up (2 when `limit` is left out), of the read bucket (600 per minute by default).

        `chapter_id`: The id of the chapter, which is an organization.

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `updated_since`: Only rows whose `updated_at` is at or after this time: RFC 3339, with an offset.

        `is_active`: Only active members, or only archived ones.
        """
        return Walk(
            self._http,
            f"/v1/chapters/{path_part(chapter_id)}/members",
            models.Member.from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "updatedSince": updated_since,
                "isActive": is_active,
            },
            since="updatedSince",
            time="updated_at",
        )


class Events:
    """What happened, in order."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        created_since: datetime | str | None = None,
        type: EventTypeInput | None = None,
        resource_id: str | None = None,
    ) -> Walk[models.Event]:
        """List events.

        Returns what happened to the organization's resources, oldest first: one event for every write of a row, with
        the row's representation after it. `type` is the most specific word: `created` for a new row, else the status
        that it moved to, else `archived` and `restored` (members) or `activated` and `retired` (listings), else
        `updated`. Only events of resources that the token may read are in the list. Events are kept for 30 days by
        default; a `created_since` from before what is kept is refused, so that missing events are never mistaken for
        no events. `created_at` is the `updated_at` that the change gave the row: pass the largest one that you have
        seen as `created_since` to continue.

        Needs the scope `events:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `limit`: How many rows a page has at most.

        `cursor`: The `next_cursor` of the page before, unchanged. It works for 24 hours from the walk's first page.
        It carries the filters: leave them out, or repeat them as they were. `limit` may change.

        `created_since`: Only events whose `created_at` is at or after this time: RFC 3339, with an offset. A time
        from before the events that are kept is refused.

        `type`: Only events of this type.

        `resource_id`: Only events of this resource.
        """
        return Walk(
            self._http,
            "/v1/events",
            models.event_from_dict,
            query={
                "limit": limit,
                "cursor": cursor,
                "createdSince": created_since,
                "type": type,
                "resourceId": resource_id,
            },
            since="createdSince",
            time="created_at",
        )

    def get(
        self,
        event_id: str,
    ) -> models.Event:
        """Get an event.

        Returns one event. One of a resource that the token may not read is not found.

        Needs the scope `events:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
        default).

        `event_id`: The id of the event.
        """
        return self._http.request(
            "GET",
            f"/v1/events/{path_part(event_id)}",
            models.event_from_dict,
        )


class Service:
    """The calling token, and this description."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def get_token(
        self,
    ) -> models.Token:
        """Inspect the current token.

        Describes the calling token: its organization, its role, when it expires, which scopes it was given and which
        of them work now. `withheld` says why the others do not: the role does not allow them, or the organization's
        policy blocks them. Call it first when a request is refused with `insufficient_scope`.

        Any valid token; no scope is needed. Costs 1 unit of the read bucket (600 per minute by default).
        """
        return self._http.request(
            "GET",
            "/v1/token",
            models.Token.from_dict,
        )

    def get_openapi(
        self,
    ) -> Mapping[str, Any]:
        """Get this document.

        Returns the OpenAPI description of this API, which you are reading.

        No token is needed. Costs 1 unit of the read bucket (600 per minute by default).
        """
        return self._http.request(
            "GET",
            "/v1/openapi.json",
            dict,
        )


class Operations(Service):
    """Every operation, grouped by tag."""

    def __init__(self, http: Http) -> None:
        super().__init__(http)
        self.members = Members(http)
        self.groups = Groups(http)
        self.payments = Payments(http)
        self.reimbursements = Reimbursements(http)
        self.reminders = Reminders(http)
        self.cards = Cards(http)
        self.campaigns = Campaigns(http)
        self.store = Store(http)
        self.chapters = Chapters(http)
        self.events = Events(http)
