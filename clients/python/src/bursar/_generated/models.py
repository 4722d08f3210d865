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
    """Who made the change."""

    kind: ActorKind
    """`token`: an API token. `user`: a person in the console. `member`: a member on their own page. `operator`: the
    command line. `worker`: the service itself.
    """
    id: str | None
    """Id of the token, the user or the member. Null for `operator` and `worker`."""

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
    """`role`: the role does not allow it. `policy`: the organization blocks it."""

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
    """E-mail address. Not unique, because families share one. Null if the member has none."""
    is_active: bool
    """False when the member is archived."""
    join_date: date | None
    """The day on which the member joined."""
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
    """Name of the group."""
    description: str
    """Purpose of the group. Empty if there is none."""
    amount_due: str | None
    """Dues of each member for a period. Null if the group has no dues."""
    due_date: date | None
    """The day on which the next dues are due."""
    is_recurring: bool
    """Whether the dues are recurring."""
    recurring_interval: RecurringInterval | None
    """Interval of recurring dues. Null unless `is_recurring`."""
    member_count: int
    """Number of active members."""
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
    """A charge: dues or another amount that a member or a chapter owes the organization."""

    id: str
    member_id: str | None
    """The member who owes it."""
    group_id: str | None
    """The group whose dues these are."""
    target_organization_id: str | None
    """The chapter that owes it."""
    description: str
    """Purpose of the charge. Empty if there is none."""
    amount: str
    """Total amount of the charge."""
    paid_to_date: str
    """Amount received so far. Never more than `amount`."""
    currency: str
    """The organization's currency, as an ISO 4217 code."""
    status: PaymentStatus
    """Status of the payment."""
    due_date: date | None
    """The day on which it is due."""
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
    """An expense that the organization pays back to a member or to another organization."""

    id: str
    member_id: str | None
    """The member who is paid."""
    recipient_organization_id: str | None
    """The organization that is paid."""
    amount: str
    """Amount to be paid."""
    currency: str
    """The organization's currency, as an ISO 4217 code."""
    category: str | None
    """Category of the expense, such as Travel."""
    description: str
    """Description of the expense. Empty if there is none."""
    incurred_at: date | None
    """The day on which the expense was incurred."""
    status: ReimbursementStatus
    """Status of the reimbursement."""
    submitted_at: datetime | None
    """When it was submitted for review."""
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
    """A message by e-mail or SMS to members or to an organization, sent once or repeatedly."""

    id: str
    target_member_id: str | None
    """The member who gets it."""
    target_organization_id: str | None
    """The organization whose contact gets it."""
    group_id: str | None
    """The group whose active members get it. With `target_member_id`, only that member gets it, and only dues of this
    group are considered.
    """
    method: ReminderMethod
    """Channel: e-mail or SMS."""
    status: ReminderStatus
    """Status of the reminder."""
    subject: str | None
    """Subject of the e-mail."""
    body: str | None
    """Text of the message."""
    scheduled_at: datetime | None
    """When it will be sent."""
    sent_at: datetime | None
    """When a message was last delivered."""
    is_recurring: bool
    """Whether it is sent repeatedly."""
    recurring_interval_days: int | None
    """Days between two runs."""
    include_payment_info: bool
    """Whether the message includes the recipient's open amount. If so, only members who owe something get it."""
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
    """Name of the card."""
    status: CardStatus | None
    """Status of the card."""
    last4: str | None
    """Last four digits of the card number. Null until the issuer reports them."""
    spend_limit: str | None
    """Spend limit for the period in `spend_limit_frequency`."""
    spend_limit_frequency: SpendLimitFrequency | None
    """Period of the spend limit."""
    transaction_limit: str | None
    """Maximum amount of one transaction."""
    assigned_member_id: str | None
    """The member who holds the card."""
    invited_at: datetime | None
    """When the holder was invited."""
    activated_at: datetime | None
    """When it was activated."""
    canceled_at: datetime | None
    """When it was canceled."""
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
    """A fundraising campaign with a goal and a last day."""

    id: str
    name: str
    """Name of the campaign."""
    note: str | None
    """Purpose of the campaign."""
    goal_amount: str | None
    """Amount that the campaign wants to raise."""
    currency: str
    """The organization's currency, as an ISO 4217 code."""
    start_date: date | None
    """First day of the campaign."""
    end_date: date | None
    """Last day of the campaign."""
    status: CampaignStatus
    """Status of the campaign."""
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
    """Name of the listing."""
    description: str
    """Description of what is sold. Empty if there is none."""
    currency: str
    """The organization's currency, as an ISO 4217 code."""
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
    """A purchase in the store."""

    id: str
    listing_id: str | None
    """The listing that was bought."""
    member_id: str | None
    """The member who bought it."""
    total_amount: str
    """Total amount of the order."""
    currency: str
    """The organization's currency, as an ISO 4217 code."""
    status: StoreOrderStatus
    """Status of the order."""
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
    """Name of the chapter."""
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
    """A change of a member."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Member
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a group."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Group
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a payment."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Payment
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a reimbursement."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Reimbursement
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a reminder."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Reminder
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a card."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Card
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a campaign."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Campaign
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of a listing."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: StoreListing
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """A change of an order."""

    id: str
    type: EventType
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: StoreOrder
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """Sent when somebody tests the endpoint. Nothing has changed."""

    id: str
    type: str
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: None
    """Kind of resource that changed."""
    resource_id: None
    """Id of the resource that changed."""
    data: Mapping[str, Any]
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
    """The reminder after the send, and the outcome."""

    id: str
    target_member_id: str | None
    """The member who gets it."""
    target_organization_id: str | None
    """The organization whose contact gets it."""
    group_id: str | None
    """The group whose active members get it. With `target_member_id`, only that member gets it, and only dues of this
    group are considered.
    """
    method: ReminderMethod
    """Channel: e-mail or SMS."""
    status: ReminderStatus
    """Status of the reminder."""
    subject: str | None
    """Subject of the e-mail."""
    body: str | None
    """Text of the message."""
    scheduled_at: datetime | None
    """When it will be sent."""
    sent_at: datetime | None
    """When a message was last delivered."""
    is_recurring: bool
    """Whether it is sent repeatedly."""
    recurring_interval_days: int | None
    """Days between two runs."""
    include_payment_info: bool
    """Whether the message includes the recipient's open amount. If so, only members who owe something get it."""
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
    """`card`: the card was created. `application`: the organization is not approved for issuing yet, so an application
    was recorded.
    """
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
    """Name of the token."""
    organization_id: str
    """The organization that it belongs to."""
    role: Role
    """The role that it acts with now."""
    expires_at: datetime
    """When it expires."""
    scopes: tuple[Scope, ...]
    """Scopes that it was created with."""
    effective_scopes: tuple[Scope, ...]
    """Scopes that work now."""
    withheld: tuple[Withheld, ...]
    """Scopes that it was created with but that do not work now, with the reason."""

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
    """Type of the event: the most specific one that applies."""
    created_at: datetime
    """The `updated_at` that the change gave the resource."""
    organization_id: str
    """The organization in which it happened."""
    resource: EventResource
    """Kind of resource that changed."""
    resource_id: str
    """Id of the resource that changed."""
    data: Mapping[str, Any]
    """The resource after the change, as the API returns it."""
    changed: tuple[str, ...]
    """Names of the fields of `data` that changed, without `updated_at`. Empty for a new resource, and if only fields
    that the API does not return have changed.
    """
    actor: Actor
    """Who made the change."""
    request_id: str | None
    """The request that made the change. Null if there was none."""

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
