"""What the server sends.

Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeAlias

from .._values import Model, optional, parse_date, parse_timestamp
from .enums import (
    ActorKind,
    CampaignStatus,
    CardCreationKind,
    CardStatus,
    EventResource,
    EventType,
    PaymentStatus,
    RecurringInterval,
    ReimbursementStatus,
    ReminderMethod,
    ReminderOutcome,
    ReminderStatus,
    Role,
    Scope,
    SpendLimitFrequency,
    StoreOrderStatus,
    TokenKind,
    WithheldBy,
)

__all__ = [
    "Actor",
    "Campaign",
    "CampaignEvent",
    "Card",
    "CardCreation",
    "CardEvent",
    "Chapter",
    "Event",
    "Group",
    "GroupEvent",
    "Member",
    "MemberEvent",
    "Payment",
    "PaymentEvent",
    "Reimbursement",
    "ReimbursementEvent",
    "Reminder",
    "ReminderEvent",
    "SentReminder",
    "StoreListing",
    "StoreListingEvent",
    "StoreOrder",
    "StoreOrderEvent",
    "TestEvent",
    "Token",
    "UnknownEvent",
    "WebhookEvent",
    "Withheld",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor(Model):
    """Who did it."""

    kind: ActorKind
    """`user` is a person, `member` a member on their own page, `operator` the command line, `worker` the service itself.
    """
    id: str | None
    """The token, the user or the member. Null for the others."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Actor":
        return cls(
            kind=ActorKind(raw["kind"]),
            id=raw["id"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Withheld(Model):
    """One entry."""

    scope: Scope
    by: WithheldBy
    """`role`: above the role. `policy`: blocked by the organization."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Withheld":
        return cls(
            scope=Scope(raw["scope"]),
            by=WithheldBy(raw["by"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Member(Model):
    """A person of the organization. Members are archived, never deleted."""

    id: str
    first_name: str
    """Given name."""
    last_name: str
    """Family name."""
    email: str | None
    """Where to write to. Not unique: families share one. Null for a member without an address."""
    is_active: bool
    """False when the member is archived."""
    join_date: date | None
    """The day the member joined."""
    groups: tuple[str, ...]
    """The ids of the member's groups, ascending."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Member":
        return cls(
            id=raw["id"],
            first_name=raw["firstName"],
            last_name=raw["lastName"],
            email=raw["email"],
            is_active=raw["isActive"],
            join_date=optional(parse_date, raw["joinDate"]),
            groups=tuple(raw["groups"]),
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Group(Model):
    """Members who owe the same dues. The dues are set by officers and read-only here."""

    id: str
    name: str
    """What people call it."""
    description: str
    """What it is for. Empty when unset."""
    amount_due: str | None
    """What each member owes a period. Null without dues."""
    due_date: date | None
    """The day the next dues fall due."""
    is_recurring: bool
    """Whether dues come back."""
    recurring_interval: RecurringInterval | None
    """How often dues come back. Null unless `is_recurring`."""
    member_count: int
    """How many active members it has."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Group":
        return cls(
            id=raw["id"],
            name=raw["name"],
            description=raw["description"],
            amount_due=raw["amountDue"],
            due_date=optional(parse_date, raw["dueDate"]),
            is_recurring=raw["isRecurring"],
            recurring_interval=optional(RecurringInterval, raw["recurringInterval"]),
            member_count=raw["memberCount"],
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Payment(Model):
    """A charge that the organization raised."""

    id: str
    member_id: str | None
    """Who owes it."""
    group_id: str | None
    """The group whose dues it is."""
    target_organization_id: str | None
    """The chapter that owes it."""
    description: str
    """What it is for. Empty when unset."""
    amount: str
    """What is owed in all."""
    paid_to_date: str
    """What was received so far. Never more than `amount`."""
    currency: str
    """The organization's currency: an ISO 4217 code."""
    status: PaymentStatus
    """Where it stands. It is `processing` while a payment provider collects it."""
    due_date: date | None
    """The day it is due."""
    paid_at: datetime | None
    """When it was paid in full."""
    voided_at: datetime | None
    """When it was cancelled."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Payment":
        return cls(
            id=raw["id"],
            member_id=raw["memberId"],
            group_id=raw["groupId"],
            target_organization_id=raw["targetOrganizationId"],
            description=raw["description"],
            amount=raw["amount"],
            paid_to_date=raw["paidToDate"],
            currency=raw["currency"],
            status=PaymentStatus(raw["status"]),
            due_date=optional(parse_date, raw["dueDate"]),
            paid_at=optional(parse_timestamp, raw["paidAt"]),
            voided_at=optional(parse_timestamp, raw["voidedAt"]),
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Reimbursement(Model):
    """What the organization owes for an expense."""

    id: str
    member_id: str | None
    """The member who is paid."""
    recipient_organization_id: str | None
    """The organization that is paid."""
    amount: str
    """How much."""
    currency: str
    """The organization's currency: an ISO 4217 code."""
    category: str | None
    """What kind of expense."""
    description: str
    """What for. Empty when unset."""
    incurred_at: date | None
    """The day of the expense."""
    status: ReimbursementStatus
    """Where it stands."""
    submitted_at: datetime | None
    """When it was submitted."""
    reviewed_at: datetime | None
    """When it was approved or rejected."""
    paid_at: datetime | None
    """When it was paid out."""
    voided_at: datetime | None
    """When it was withdrawn."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Reimbursement":
        return cls(
            id=raw["id"],
            member_id=raw["memberId"],
            recipient_organization_id=raw["recipientOrganizationId"],
            amount=raw["amount"],
            currency=raw["currency"],
            category=raw["category"],
            description=raw["description"],
            incurred_at=optional(parse_date, raw["incurredAt"]),
            status=ReimbursementStatus(raw["status"]),
            submitted_at=optional(parse_timestamp, raw["submittedAt"]),
            reviewed_at=optional(parse_timestamp, raw["reviewedAt"]),
            paid_at=optional(parse_timestamp, raw["paidAt"]),
            voided_at=optional(parse_timestamp, raw["voidedAt"]),
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Reminder(Model):
    """A message to members or to an organization, once or again and again."""

    id: str
    target_member_id: str | None
    """The member to write to."""
    target_organization_id: str | None
    """The organization whose contact to write to."""
    group_id: str | None
    """The group whose active members to write to. Beside a member, the group whose dues count."""
    method: ReminderMethod
    """How it is sent."""
    status: ReminderStatus
    """Where it stands."""
    subject: str | None
    """The subject line."""
    body: str | None
    """The text."""
    scheduled_at: datetime | None
    """When it is to be sent."""
    sent_at: datetime | None
    """When something was last delivered."""
    is_recurring: bool
    """Whether it comes back."""
    recurring_interval_days: int | None
    """After how many days it comes back."""
    include_payment_info: bool
    """Says what is owed, and goes only to those who owe."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Reminder":
        return cls(
            id=raw["id"],
            target_member_id=raw["targetMemberId"],
            target_organization_id=raw["targetOrganizationId"],
            group_id=raw["groupId"],
            method=ReminderMethod(raw["method"]),
            status=ReminderStatus(raw["status"]),
            subject=raw["subject"],
            body=raw["body"],
            scheduled_at=optional(parse_timestamp, raw["scheduledAt"]),
            sent_at=optional(parse_timestamp, raw["sentAt"]),
            is_recurring=raw["isRecurring"],
            recurring_interval_days=raw["recurringIntervalDays"],
            include_payment_info=raw["includePaymentInfo"],
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Card(Model):
    """A card with a spend limit. This shape is frozen in v1."""

    id: str
    name: str | None
    """What people call it."""
    status: CardStatus | None
    """Where it stands."""
    last4: str | None
    """The number's last digits. Null until the issuer reports them."""
    spend_limit: str | None
    """What can be spent."""
    spend_limit_frequency: SpendLimitFrequency | None
    """The time that the spend limit counts over."""
    transaction_limit: str | None
    """What can be spent at once."""
    assigned_member_id: str | None
    """Who holds it."""
    invited_at: datetime | None
    """When its holder was asked."""
    activated_at: datetime | None
    """When it could first be used."""
    canceled_at: datetime | None
    """When it ended."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Card":
        return cls(
            id=raw["id"],
            name=raw["name"],
            status=optional(CardStatus, raw["status"]),
            last4=raw["last4"],
            spend_limit=raw["spendLimit"],
            spend_limit_frequency=optional(SpendLimitFrequency, raw["spendLimitFrequency"]),
            transaction_limit=raw["transactionLimit"],
            assigned_member_id=raw["assignedMemberId"],
            invited_at=optional(parse_timestamp, raw["invitedAt"]),
            activated_at=optional(parse_timestamp, raw["activatedAt"]),
            canceled_at=optional(parse_timestamp, raw["canceledAt"]),
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Campaign(Model):
    """Raising funds for something, by a day."""

    id: str
    name: str
    """What people call it."""
    note: str | None
    """What it is for."""
    goal_amount: str | None
    """How much is hoped for."""
    currency: str
    """The organization's currency: an ISO 4217 code."""
    start_date: date | None
    """Its first day."""
    end_date: date | None
    """Its last day."""
    status: CampaignStatus
    """Where it stands."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Campaign":
        return cls(
            id=raw["id"],
            name=raw["name"],
            note=raw["note"],
            goal_amount=raw["goalAmount"],
            currency=raw["currency"],
            start_date=optional(parse_date, raw["startDate"]),
            end_date=optional(parse_date, raw["endDate"]),
            status=CampaignStatus(raw["status"]),
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreListing(Model):
    """Something the organization sells."""

    id: str
    name: str
    """What people call it."""
    description: str
    """What it is. Empty when unset."""
    currency: str
    """The organization's currency: an ISO 4217 code."""
    is_active: bool
    """Whether it is on sale."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "StoreListing":
        return cls(
            id=raw["id"],
            name=raw["name"],
            description=raw["description"],
            currency=raw["currency"],
            is_active=raw["isActive"],
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreOrder(Model):
    """What somebody bought."""

    id: str
    listing_id: str | None
    """The listing it was bought from."""
    member_id: str | None
    """Who bought."""
    total_amount: str
    """What it costs in all."""
    currency: str
    """The organization's currency: an ISO 4217 code."""
    status: StoreOrderStatus
    """Where it stands."""
    paid_at: datetime | None
    """When it was paid."""
    created_at: datetime
    """When it was created."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "StoreOrder":
        return cls(
            id=raw["id"],
            listing_id=raw["listingId"],
            member_id=raw["memberId"],
            total_amount=raw["totalAmount"],
            currency=raw["currency"],
            status=StoreOrderStatus(raw["status"]),
            paid_at=optional(parse_timestamp, raw["paidAt"]),
            created_at=parse_timestamp(raw["createdAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Chapter(Model):
    """An organization directly below this one. Both times come from the change clock of the organization above:
    `created_at` is when the chapter was created or moved here, `updated_at` when it was last renamed.
    """

    id: str
    name: str
    """What people call it."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Chapter":
        return cls(
            id=raw["id"],
            name=raw["name"],
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberEvent(Model):
    """A write of a member."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Member
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "MemberEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Member.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupEvent(Model):
    """A write of a group."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Group
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "GroupEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Group.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentEvent(Model):
    """A write of a payment."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Payment
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "PaymentEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Payment.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReimbursementEvent(Model):
    """A write of a reimbursement."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Reimbursement
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "ReimbursementEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Reimbursement.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReminderEvent(Model):
    """A write of a reminder."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Reminder
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "ReminderEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Reminder.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CardEvent(Model):
    """A write of a card."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Card
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "CardEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Card.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CampaignEvent(Model):
    """A write of a campaign."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Campaign
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "CampaignEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=Campaign.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreListingEvent(Model):
    """A write of a listing."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: StoreListing
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "StoreListingEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=StoreListing.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreOrderEvent(Model):
    """A write of an order."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: StoreOrder
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "StoreOrderEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=StoreOrder.from_dict(raw["data"]),
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TestEvent(Model):
    """An event that nothing caused: somebody tests the endpoint."""

    id: str
    type: str
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: None
    """What the event is about."""
    resource_id: None
    """The resource."""
    data: Mapping[str, Any]
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "TestEvent":
        return cls(
            id=raw["id"],
            type=raw["type"],
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=raw["resource"],
            resource_id=raw["resourceId"],
            data=raw["data"],
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SentReminder(Model):
    """The reminder after the send, and what became of it."""

    id: str
    target_member_id: str | None
    """The member to write to."""
    target_organization_id: str | None
    """The organization whose contact to write to."""
    group_id: str | None
    """The group whose active members to write to. Beside a member, the group whose dues count."""
    method: ReminderMethod
    """How it is sent."""
    status: ReminderStatus
    """Where it stands."""
    subject: str | None
    """The subject line."""
    body: str | None
    """The text."""
    scheduled_at: datetime | None
    """When it is to be sent."""
    sent_at: datetime | None
    """When something was last delivered."""
    is_recurring: bool
    """Whether it comes back."""
    recurring_interval_days: int | None
    """After how many days it comes back."""
    include_payment_info: bool
    """Says what is owed, and goes only to those who owe."""
    created_at: datetime
    """When it was created."""
    updated_at: datetime
    """When any field last changed, by the organization's change clock."""
    outcome: ReminderOutcome
    """`sent`: at least one message is on its way. `skipped`: nobody qualified."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "SentReminder":
        return cls(
            id=raw["id"],
            target_member_id=raw["targetMemberId"],
            target_organization_id=raw["targetOrganizationId"],
            group_id=raw["groupId"],
            method=ReminderMethod(raw["method"]),
            status=ReminderStatus(raw["status"]),
            subject=raw["subject"],
            body=raw["body"],
            scheduled_at=optional(parse_timestamp, raw["scheduledAt"]),
            sent_at=optional(parse_timestamp, raw["sentAt"]),
            is_recurring=raw["isRecurring"],
            recurring_interval_days=raw["recurringIntervalDays"],
            include_payment_info=raw["includePaymentInfo"],
            created_at=parse_timestamp(raw["createdAt"]),
            updated_at=parse_timestamp(raw["updatedAt"]),
            outcome=ReminderOutcome(raw["outcome"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CardCreation(Model):
    """The card, or the application for one."""

    kind: CardCreationKind
    """`card`: the card is there. `application`: the organization is not approved for issuing yet."""
    card: Card | None
    """The card. Null for an application."""
    application_id: str | None
    """The application. Null for a card."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "CardCreation":
        return cls(
            kind=CardCreationKind(raw["kind"]),
            card=optional(Card.from_dict, raw["card"]),
            application_id=raw["applicationId"],
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Token(Model):
    """What the calling token is and can do now."""

    id: str
    kind: TokenKind
    """`personal` acts as a user, `service` as the organization."""
    name: str
    """What its maker called it."""
    organization_id: str
    """The organization it works in."""
    role: Role
    """The role it acts with now."""
    expires_at: datetime
    """When it stops working."""
    scopes: tuple[Scope, ...]
    """What it was given."""
    effective_scopes: tuple[Scope, ...]
    """What it can do now."""
    withheld: tuple[Withheld, ...]
    """What it was given and cannot do now, and why."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "Token":
        return cls(
            id=raw["id"],
            kind=TokenKind(raw["kind"]),
            name=raw["name"],
            organization_id=raw["organizationId"],
            role=Role(raw["role"]),
            expires_at=parse_timestamp(raw["expiresAt"]),
            scopes=tuple(Scope(one) for one in raw["scopes"]),
            effective_scopes=tuple(Scope(one) for one in raw["effectiveScopes"]),
            withheld=tuple(Withheld.from_dict(one) for one in raw["withheld"]),
            raw=raw,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class UnknownEvent(Model):
    """A write of a resource that this version of the client does not know."""

    id: str
    type: EventType
    """What happened, in the most specific word."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization it happened in."""
    resource: EventResource
    """What the event is about."""
    resource_id: str
    """The resource."""
    data: Mapping[str, Any]
    """The resource after the change, as the API shows it."""
    changed: tuple[str, ...]
    """The fields of `data` that differ from before, without `updated_at`. Empty for a new resource, and where only what
    the API does not show has changed.
    """
    actor: Actor
    """Who did it."""
    request_id: str | None
    """The request that did it. Null where there was none."""

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> "UnknownEvent":
        return cls(
            id=raw["id"],
            type=EventType(raw["type"]),
            created_at=parse_timestamp(raw["createdAt"]),
            organization_id=raw["organizationId"],
            resource=EventResource(raw["resource"]),
            resource_id=raw["resourceId"],
            data=raw["data"],
            changed=tuple(raw["changed"]),
            actor=Actor.from_dict(raw["actor"]),
            request_id=raw["requestId"],
            raw=raw,
        )


# As a list or a get gives it. `match` or `isinstance` tell what it is about.
Event: TypeAlias = (
    MemberEvent
    | GroupEvent
    | PaymentEvent
    | ReimbursementEvent
    | ReminderEvent
    | CardEvent
    | CampaignEvent
    | StoreListingEvent
    | StoreOrderEvent
    | UnknownEvent
)
# As a webhook delivers it.
WebhookEvent: TypeAlias = Event | TestEvent

_EVENTS: dict[str, type[Event]] = {
    "member": MemberEvent,
    "group": GroupEvent,
    "payment": PaymentEvent,
    "reimbursement": ReimbursementEvent,
    "reminder": ReminderEvent,
    "card": CardEvent,
    "campaign": CampaignEvent,
    "listing": StoreListingEvent,
    "order": StoreOrderEvent,
}


def event_from_dict(raw: Mapping[str, Any]) -> Event:
    return _EVENTS.get(raw["resource"], UnknownEvent).from_dict(raw)


def webhook_event_from_dict(raw: Mapping[str, Any]) -> WebhookEvent:
    return TestEvent.from_dict(raw) if raw["type"] == "test" else event_from_dict(raw)
