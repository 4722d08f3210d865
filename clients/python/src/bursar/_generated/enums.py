"""The words of the API.

Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.
"""

from typing import Literal, TypeAlias

from .._values import OpenEnum

__all__ = [
    "ActorKind",
    "CampaignStatus",
    "CampaignStatusInput",
    "CardCreationKind",
    "CardStatus",
    "CardStatusInput",
    "EventResource",
    "EventType",
    "EventTypeInput",
    "PaymentStatus",
    "PaymentStatusInput",
    "RecurringInterval",
    "ReimbursementStatus",
    "ReimbursementStatusInput",
    "ReminderMethod",
    "ReminderOutcome",
    "ReminderStatus",
    "ReminderStatusInput",
    "Role",
    "Scope",
    "SpendLimitFrequency",
    "SpendLimitFrequencyInput",
    "StoreOrderStatus",
    "StoreOrderStatusInput",
    "TokenKind",
    "WithheldBy",
]


class ActorKind(OpenEnum):
    TOKEN = "token"
    USER = "user"
    MEMBER = "member"
    OPERATOR = "operator"
    WORKER = "worker"


class CampaignStatus(OpenEnum):
    DRAFT = "draft"
    ACTIVE = "active"
    ENDED = "ended"


class CardCreationKind(OpenEnum):
    CARD = "card"
    APPLICATION = "application"


class CardStatus(OpenEnum):
    ACTIVE = "active"
    FROZEN = "frozen"
    CANCELED = "canceled"
    INVITED = "invited"
    DENIED = "denied"


class EventResource(OpenEnum):
    MEMBER = "member"
    GROUP = "group"
    PAYMENT = "payment"
    REIMBURSEMENT = "reimbursement"
    REMINDER = "reminder"
    CARD = "card"
    CAMPAIGN = "campaign"
    LISTING = "listing"
    ORDER = "order"


class EventType(OpenEnum):
    MEMBER_CREATED = "member.created"
    MEMBER_ARCHIVED = "member.archived"
    MEMBER_RESTORED = "member.restored"
    MEMBER_UPDATED = "member.updated"
    GROUP_CREATED = "group.created"
    GROUP_UPDATED = "group.updated"
    PAYMENT_CREATED = "payment.created"
    PAYMENT_PENDING = "payment.pending"
    PAYMENT_PROCESSING = "payment.processing"
    PAYMENT_PARTIALLY_PAID = "payment.partially_paid"
    PAYMENT_PAID = "payment.paid"
    PAYMENT_CANCELLED = "payment.cancelled"
    PAYMENT_FAILED = "payment.failed"
    PAYMENT_DISPUTED = "payment.disputed"
    PAYMENT_UPDATED = "payment.updated"
    REIMBURSEMENT_CREATED = "reimbursement.created"
    REIMBURSEMENT_DRAFT = "reimbursement.draft"
    REIMBURSEMENT_SUBMITTED = "reimbursement.submitted"
    REIMBURSEMENT_APPROVED = "reimbursement.approved"
    REIMBURSEMENT_REJECTED = "reimbursement.rejected"
    REIMBURSEMENT_PAID = "reimbursement.paid"
    REIMBURSEMENT_VOIDED = "reimbursement.voided"
    REIMBURSEMENT_UPDATED = "reimbursement.updated"
    REMINDER_CREATED = "reminder.created"
    REMINDER_SCHEDULED = "reminder.scheduled"
    REMINDER_SENDING = "reminder.sending"
    REMINDER_SENT = "reminder.sent"
    REMINDER_FAILED = "reminder.failed"
    REMINDER_COMPLETED = "reminder.completed"
    REMINDER_CANCELLED = "reminder.cancelled"
    REMINDER_UPDATED = "reminder.updated"
    CARD_CREATED = "card.created"
    CARD_ACTIVE = "card.active"
    CARD_FROZEN = "card.frozen"
    CARD_CANCELED = "card.canceled"
    CARD_INVITED = "card.invited"
    CARD_DENIED = "card.denied"
    CARD_UPDATED = "card.updated"
    CAMPAIGN_CREATED = "campaign.created"
    CAMPAIGN_DRAFT = "campaign.draft"
    CAMPAIGN_ACTIVE = "campaign.active"
    CAMPAIGN_ENDED = "campaign.ended"
    CAMPAIGN_UPDATED = "campaign.updated"
    LISTING_CREATED = "listing.created"
    LISTING_ACTIVATED = "listing.activated"
    LISTING_RETIRED = "listing.retired"
    LISTING_UPDATED = "listing.updated"
    ORDER_CREATED = "order.created"
    ORDER_PENDING = "order.pending"
    ORDER_PAID = "order.paid"
    ORDER_FULFILLED = "order.fulfilled"
    ORDER_CANCELLED = "order.cancelled"
    ORDER_REFUNDED = "order.refunded"
    ORDER_UPDATED = "order.updated"


class PaymentStatus(OpenEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    PARTIALLY_PAID = "partially_paid"
    PAID = "paid"
    CANCELLED = "cancelled"
    FAILED = "failed"
    DISPUTED = "disputed"


class RecurringInterval(OpenEnum):
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    SEMIANNUAL = "semiannual"
    ANNUAL = "annual"


class ReimbursementStatus(OpenEnum):
    DRAFT = "draft"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    PAID = "paid"
    VOIDED = "voided"


class ReminderMethod(OpenEnum):
    EMAIL = "email"
    SMS = "sms"


class ReminderOutcome(OpenEnum):
    SENT = "sent"
    SKIPPED = "skipped"


class ReminderStatus(OpenEnum):
    SCHEDULED = "scheduled"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class Role(OpenEnum):
    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"


class Scope(OpenEnum):
    CARDS_READ = "cards:read"
    CARDS_WRITE = "cards:write"
    CHAPTERS_READ = "chapters:read"
    FUNDRAISE_READ = "fundraise:read"
    GROUPS_READ = "groups:read"
    GROUPS_WRITE = "groups:write"
    MEMBERS_READ = "members:read"
    MEMBERS_WRITE = "members:write"
    PAYMENTS_READ = "payments:read"
    REIMBURSEMENTS_READ = "reimbursements:read"
    REMINDERS_READ = "reminders:read"
    REMINDERS_WRITE = "reminders:write"
    STORE_READ = "store:read"
    EVENTS_READ = "events:read"


class SpendLimitFrequency(OpenEnum):
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    ONE_TIME = "one_time"


class StoreOrderStatus(OpenEnum):
    PENDING = "pending"
    PAID = "paid"
    FULFILLED = "fulfilled"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"


class TokenKind(OpenEnum):
    PERSONAL = "personal"
    SERVICE = "service"


class WithheldBy(OpenEnum):
    ROLE = "role"
    POLICY = "policy"


# What methods take: a member of the enum, or its word.
CampaignStatusInput: TypeAlias = (
    CampaignStatus
    | Literal[
        "draft",
        "active",
        "ended",
    ]
)
CardStatusInput: TypeAlias = (
    CardStatus
    | Literal[
        "active",
        "frozen",
        "canceled",
        "invited",
        "denied",
    ]
)
EventTypeInput: TypeAlias = (
    EventType
    | Literal[
        "member.created",
        "member.archived",
        "member.restored",
        "member.updated",
        "group.created",
        "group.updated",
        "payment.created",
        "payment.pending",
        "payment.processing",
        "payment.partially_paid",
        "payment.paid",
        "payment.cancelled",
        "payment.failed",
        "payment.disputed",
        "payment.updated",
        "reimbursement.created",
        "reimbursement.draft",
        "reimbursement.submitted",
        "reimbursement.approved",
        "reimbursement.rejected",
        "reimbursement.paid",
        "reimbursement.voided",
        "reimbursement.updated",
        "reminder.created",
        "reminder.scheduled",
        "reminder.sending",
        "reminder.sent",
        "reminder.failed",
        "reminder.completed",
        "reminder.cancelled",
        "reminder.updated",
        "card.created",
        "card.active",
        "card.frozen",
        "card.canceled",
        "card.invited",
        "card.denied",
        "card.updated",
        "campaign.created",
        "campaign.draft",
        "campaign.active",
        "campaign.ended",
        "campaign.updated",
        "listing.created",
        "listing.activated",
        "listing.retired",
        "listing.updated",
        "order.created",
        "order.pending",
        "order.paid",
        "order.fulfilled",
        "order.cancelled",
        "order.refunded",
        "order.updated",
    ]
)
PaymentStatusInput: TypeAlias = (
    PaymentStatus
    | Literal[
        "pending",
        "processing",
        "partially_paid",
        "paid",
        "cancelled",
        "failed",
        "disputed",
    ]
)
ReimbursementStatusInput: TypeAlias = (
    ReimbursementStatus
    | Literal[
        "draft",
        "submitted",
        "approved",
        "rejected",
        "paid",
        "voided",
    ]
)
ReminderStatusInput: TypeAlias = (
    ReminderStatus
    | Literal[
        "scheduled",
        "sending",
        "sent",
        "failed",
        "completed",
        "cancelled",
    ]
)
SpendLimitFrequencyInput: TypeAlias = (
    SpendLimitFrequency
    | Literal[
        "daily",
        "weekly",
        "monthly",
        "one_time",
    ]
)
StoreOrderStatusInput: TypeAlias = (
    StoreOrderStatus
    | Literal[
        "pending",
        "paid",
        "fulfilled",
        "cancelled",
        "refunded",
    ]
)
