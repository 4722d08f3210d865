// What the server sends.
// Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.

export const ActorKind = {
    Token: "token",
    User: "user",
    Member: "member",
    Operator: "operator",
    Worker: "worker",
} as const;
export type ActorKind = (typeof ActorKind)[keyof typeof ActorKind];

export const CampaignEventType = {
    CampaignCreated: "campaign.created",
    CampaignDraft: "campaign.draft",
    CampaignActive: "campaign.active",
    CampaignEnded: "campaign.ended",
    CampaignUpdated: "campaign.updated",
} as const;
export type CampaignEventType = (typeof CampaignEventType)[keyof typeof CampaignEventType];

export const CampaignStatus = {
    Draft: "draft",
    Active: "active",
    Ended: "ended",
} as const;
export type CampaignStatus = (typeof CampaignStatus)[keyof typeof CampaignStatus];

export const CardCreationKind = {
    Card: "card",
    Application: "application",
} as const;
export type CardCreationKind = (typeof CardCreationKind)[keyof typeof CardCreationKind];

export const CardEventType = {
    CardCreated: "card.created",
    CardActive: "card.active",
    CardFrozen: "card.frozen",
    CardCanceled: "card.canceled",
    CardInvited: "card.invited",
    CardDenied: "card.denied",
    CardUpdated: "card.updated",
} as const;
export type CardEventType = (typeof CardEventType)[keyof typeof CardEventType];

export const CardStatus = {
    Active: "active",
    Frozen: "frozen",
    Canceled: "canceled",
    Invited: "invited",
    Denied: "denied",
} as const;
export type CardStatus = (typeof CardStatus)[keyof typeof CardStatus];

export const EventResource = {
    Member: "member",
    Group: "group",
    Payment: "payment",
    Reimbursement: "reimbursement",
    Reminder: "reminder",
    Card: "card",
    Campaign: "campaign",
    Listing: "listing",
    Order: "order",
} as const;
export type EventResource = (typeof EventResource)[keyof typeof EventResource];

export const EventType = {
    MemberCreated: "member.created",
    MemberArchived: "member.archived",
    MemberRestored: "member.restored",
    MemberUpdated: "member.updated",
    GroupCreated: "group.created",
    GroupUpdated: "group.updated",
    PaymentCreated: "payment.created",
    PaymentPending: "payment.pending",
    PaymentProcessing: "payment.processing",
    PaymentPartiallyPaid: "payment.partially_paid",
    PaymentPaid: "payment.paid",
    PaymentCancelled: "payment.cancelled",
    PaymentFailed: "payment.failed",
    PaymentDisputed: "payment.disputed",
    PaymentUpdated: "payment.updated",
    ReimbursementCreated: "reimbursement.created",
    ReimbursementDraft: "reimbursement.draft",
    ReimbursementSubmitted: "reimbursement.submitted",
    ReimbursementApproved: "reimbursement.approved",
    ReimbursementRejected: "reimbursement.rejected",
    ReimbursementPaid: "reimbursement.paid",
    ReimbursementVoided: "reimbursement.voided",
    ReimbursementUpdated: "reimbursement.updated",
    ReminderCreated: "reminder.created",
    ReminderScheduled: "reminder.scheduled",
    ReminderSending: "reminder.sending",
    ReminderSent: "reminder.sent",
    ReminderFailed: "reminder.failed",
    ReminderCompleted: "reminder.completed",
    ReminderCancelled: "reminder.cancelled",
    ReminderUpdated: "reminder.updated",
    CardCreated: "card.created",
    CardActive: "card.active",
    CardFrozen: "card.frozen",
    CardCanceled: "card.canceled",
    CardInvited: "card.invited",
    CardDenied: "card.denied",
    CardUpdated: "card.updated",
    CampaignCreated: "campaign.created",
    CampaignDraft: "campaign.draft",
    CampaignActive: "campaign.active",
    CampaignEnded: "campaign.ended",
    CampaignUpdated: "campaign.updated",
    ListingCreated: "listing.created",
    ListingActivated: "listing.activated",
    ListingRetired: "listing.retired",
    ListingUpdated: "listing.updated",
    OrderCreated: "order.created",
    OrderPending: "order.pending",
    OrderPaid: "order.paid",
    OrderFulfilled: "order.fulfilled",
    OrderCancelled: "order.cancelled",
    OrderRefunded: "order.refunded",
    OrderUpdated: "order.updated",
} as const;
export type EventType = (typeof EventType)[keyof typeof EventType];

export const GroupEventType = {
    GroupCreated: "group.created",
    GroupUpdated: "group.updated",
} as const;
export type GroupEventType = (typeof GroupEventType)[keyof typeof GroupEventType];

export const MemberEventType = {
    MemberCreated: "member.created",
    MemberArchived: "member.archived",
    MemberRestored: "member.restored",
    MemberUpdated: "member.updated",
} as const;
export type MemberEventType = (typeof MemberEventType)[keyof typeof MemberEventType];

export const PaymentEventType = {
    PaymentCreated: "payment.created",
    PaymentPending: "payment.pending",
    PaymentProcessing: "payment.processing",
    PaymentPartiallyPaid: "payment.partially_paid",
    PaymentPaid: "payment.paid",
    PaymentCancelled: "payment.cancelled",
    PaymentFailed: "payment.failed",
    PaymentDisputed: "payment.disputed",
    PaymentUpdated: "payment.updated",
} as const;
export type PaymentEventType = (typeof PaymentEventType)[keyof typeof PaymentEventType];

export const PaymentStatus = {
    Pending: "pending",
    Processing: "processing",
    PartiallyPaid: "partially_paid",
    Paid: "paid",
    Cancelled: "cancelled",
    Failed: "failed",
    Disputed: "disputed",
} as const;
export type PaymentStatus = (typeof PaymentStatus)[keyof typeof PaymentStatus];

export const RecurringInterval = {
    Weekly: "weekly",
    Monthly: "monthly",
    Quarterly: "quarterly",
    Semiannual: "semiannual",
    Annual: "annual",
} as const;
export type RecurringInterval = (typeof RecurringInterval)[keyof typeof RecurringInterval];

export const ReimbursementEventType = {
    ReimbursementCreated: "reimbursement.created",
    ReimbursementDraft: "reimbursement.draft",
    ReimbursementSubmitted: "reimbursement.submitted",
    ReimbursementApproved: "reimbursement.approved",
    ReimbursementRejected: "reimbursement.rejected",
    ReimbursementPaid: "reimbursement.paid",
    ReimbursementVoided: "reimbursement.voided",
    ReimbursementUpdated: "reimbursement.updated",
} as const;
export type ReimbursementEventType = (typeof ReimbursementEventType)[keyof typeof ReimbursementEventType];

export const ReimbursementStatus = {
    Draft: "draft",
    Submitted: "submitted",
    Approved: "approved",
    Rejected: "rejected",
    Paid: "paid",
    Voided: "voided",
} as const;
export type ReimbursementStatus = (typeof ReimbursementStatus)[keyof typeof ReimbursementStatus];

export const ReminderEventType = {
    ReminderCreated: "reminder.created",
    ReminderScheduled: "reminder.scheduled",
    ReminderSending: "reminder.sending",
    ReminderSent: "reminder.sent",
    ReminderFailed: "reminder.failed",
    ReminderCompleted: "reminder.completed",
    ReminderCancelled: "reminder.cancelled",
    ReminderUpdated: "reminder.updated",
} as const;
export type ReminderEventType = (typeof ReminderEventType)[keyof typeof ReminderEventType];

export const ReminderMethod = {
    Email: "email",
    Sms: "sms",
} as const;
export type ReminderMethod = (typeof ReminderMethod)[keyof typeof ReminderMethod];

export const ReminderOutcome = {
    Sent: "sent",
    Skipped: "skipped",
} as const;
export type ReminderOutcome = (typeof ReminderOutcome)[keyof typeof ReminderOutcome];

export const ReminderStatus = {
    Scheduled: "scheduled",
    Sending: "sending",
    Sent: "sent",
    Failed: "failed",
    Completed: "completed",
    Cancelled: "cancelled",
} as const;
export type ReminderStatus = (typeof ReminderStatus)[keyof typeof ReminderStatus];

export const Role = {
    Viewer: "viewer",
    Editor: "editor",
    Admin: "admin",
} as const;
export type Role = (typeof Role)[keyof typeof Role];

export const Scope = {
    CardsRead: "cards:read",
    CardsWrite: "cards:write",
    ChaptersRead: "chapters:read",
    FundraiseRead: "fundraise:read",
    GroupsRead: "groups:read",
    GroupsWrite: "groups:write",
    MembersRead: "members:read",
    MembersWrite: "members:write",
    PaymentsRead: "payments:read",
    ReimbursementsRead: "reimbursements:read",
    RemindersRead: "reminders:read",
    RemindersWrite: "reminders:write",
    StoreRead: "store:read",
    EventsRead: "events:read",
} as const;
export type Scope = (typeof Scope)[keyof typeof Scope];

export const SpendLimitFrequency = {
    Daily: "daily",
    Weekly: "weekly",
    Monthly: "monthly",
    OneTime: "one_time",
} as const;
export type SpendLimitFrequency = (typeof SpendLimitFrequency)[keyof typeof SpendLimitFrequency];

export const StoreListingEventType = {
    ListingCreated: "listing.created",
    ListingActivated: "listing.activated",
    ListingRetired: "listing.retired",
    ListingUpdated: "listing.updated",
} as const;
export type StoreListingEventType = (typeof StoreListingEventType)[keyof typeof StoreListingEventType];

export const StoreOrderEventType = {
    OrderCreated: "order.created",
    OrderPending: "order.pending",
    OrderPaid: "order.paid",
    OrderFulfilled: "order.fulfilled",
    OrderCancelled: "order.cancelled",
    OrderRefunded: "order.refunded",
    OrderUpdated: "order.updated",
} as const;
export type StoreOrderEventType = (typeof StoreOrderEventType)[keyof typeof StoreOrderEventType];

export const StoreOrderStatus = {
    Pending: "pending",
    Paid: "paid",
    Fulfilled: "fulfilled",
    Cancelled: "cancelled",
    Refunded: "refunded",
} as const;
export type StoreOrderStatus = (typeof StoreOrderStatus)[keyof typeof StoreOrderStatus];

export type TestEventType = "test";

export const TokenKind = {
    Personal: "personal",
    Service: "service",
} as const;
export type TokenKind = (typeof TokenKind)[keyof typeof TokenKind];

export const WithheldBy = {
    Role: "role",
    Policy: "policy",
} as const;
export type WithheldBy = (typeof WithheldBy)[keyof typeof WithheldBy];

/** A person of the organization. Members are archived, never deleted. */
export interface Member {
    id: string;
    /** Given name. */
    firstName: string;
    /** Family name. */
    lastName: string;
    /** Where to write to. Not unique: families share one. Null for a member without an address. */
    email: string | null;
    /** False when the member is archived. */
    isActive: boolean;
    /** The day the member joined. */
    joinDate: string | null;
    /** The ids of the member's groups, ascending. */
    groups: string[];
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** Members who owe the same dues. The dues are set by officers and read-only here. */
export interface Group {
    id: string;
    /** What people call it. */
    name: string;
    /** What it is for. Empty when unset. */
    description: string;
    /** What each member owes a period. Null without dues. */
    amountDue: string | null;
    /** The day the next dues fall due. */
    dueDate: string | null;
    /** Whether dues come back. */
    isRecurring: boolean;
    /** How often dues come back. Null unless `isRecurring`. */
    recurringInterval: RecurringInterval | null;
    /** How many active members it has. */
    memberCount: number;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A charge that the organization raised. */
export interface Payment {
    id: string;
    /** Who owes it. */
    memberId: string | null;
    /** The group whose dues it is. */
    groupId: string | null;
    /** The chapter that owes it. */
    targetOrganizationId: string | null;
    /** What it is for. Empty when unset. */
    description: string;
    /** What is owed in all. */
    amount: string;
    /** What was received so far. Never more than `amount`. */
    paidToDate: string;
    /** The organization's currency: an ISO 4217 code. */
    currency: string;
    /** Where it stands. It is `processing` while a payment provider collects it. */
    status: PaymentStatus;
    /** The day it is due. */
    dueDate: string | null;
    /** When it was paid in full. */
    paidAt: string | null;
    /** When it was cancelled. */
    voidedAt: string | null;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** What the organization owes for an expense. */
export interface Reimbursement {
    id: string;
    /** The member who is paid. */
    memberId: string | null;
    /** The organization that is paid. */
    recipientOrganizationId: string | null;
    /** How much. */
    amount: string;
    /** The organization's currency: an ISO 4217 code. */
    currency: string;
    /** What kind of expense. */
    category: string | null;
    /** What for. Empty when unset. */
    description: string;
    /** The day of the expense. */
    incurredAt: string | null;
    /** Where it stands. */
    status: ReimbursementStatus;
    /** When it was submitted. */
    submittedAt: string | null;
    /** When it was approved or rejected. */
    reviewedAt: string | null;
    /** When it was paid out. */
    paidAt: string | null;
    /** When it was withdrawn. */
    voidedAt: string | null;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A message to members or to an organization, once or again and again. */
export interface Reminder {
    id: string;
    /** The member to write to. */
    targetMemberId: string | null;
    /** The organization whose contact to write to. */
    targetOrganizationId: string | null;
    /** The group whose active members to write to. Beside a member, the group whose dues count. */
    groupId: string | null;
    /** How it is sent. */
    method: ReminderMethod;
    /** Where it stands. */
    status: ReminderStatus;
    /** The subject line. */
    subject: string | null;
    /** The text. */
    body: string | null;
    /** When it is to be sent. */
    scheduledAt: string | null;
    /** When something was last delivered. */
    sentAt: string | null;
    /** Whether it comes back. */
    isRecurring: boolean;
    /** After how many days it comes back. */
    recurringIntervalDays: number | null;
    /** Says what is owed, and goes only to those who owe. */
    includePaymentInfo: boolean;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A card with a spend limit. This shape is frozen in v1. */
export interface Card {
    id: string;
    /** What people call it. */
    name: string | null;
    /** Where it stands. */
    status: CardStatus | null;
    /** The number's last digits. Null until the issuer reports them. */
    last4: string | null;
    /** What can be spent. */
    spendLimit: string | null;
    /** The time that the spend limit counts over. */
    spendLimitFrequency: SpendLimitFrequency | null;
    /** What can be spent at once. */
    transactionLimit: string | null;
    /** Who holds it. */
    assignedMemberId: string | null;
    /** When its holder was asked. */
    invitedAt: string | null;
    /** When it could first be used. */
    activatedAt: string | null;
    /** When it ended. */
    canceledAt: string | null;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** Raising funds for something, by a day. */
export interface Campaign {
    id: string;
    /** What people call it. */
    name: string;
    /** What it is for. */
    note: string | null;
    /** How much is hoped for. */
    goalAmount: string | null;
    /** The organization's currency: an ISO 4217 code. */
    currency: string;
    /** Its first day. */
    startDate: string | null;
    /** Its last day. */
    endDate: string | null;
    /** Where it stands. */
    status: CampaignStatus;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** Something the organization sells. */
export interface StoreListing {
    id: string;
    /** What people call it. */
    name: string;
    /** What it is. Empty when unset. */
    description: string;
    /** The organization's currency: an ISO 4217 code. */
    currency: string;
    /** Whether it is on sale. */
    isActive: boolean;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** What somebody bought. */
export interface StoreOrder {
    id: string;
    /** The listing it was bought from. */
    listingId: string | null;
    /** Who bought. */
    memberId: string | null;
    /** What it costs in all. */
    totalAmount: string;
    /** The organization's currency: an ISO 4217 code. */
    currency: string;
    /** Where it stands. */
    status: StoreOrderStatus;
    /** When it was paid. */
    paidAt: string | null;
    /** When it was created. */
    createdAt: string;
}

/**
 * An organization directly below this one. Both times come from the change clock of the organization above: `createdAt`
 * is when the chapter was created or moved here, `updatedAt` when it was last renamed.
 */
export interface Chapter {
    id: string;
    /** What people call it. */
    name: string;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** Who did it. */
export interface Actor {
    /**
     * `user` is a person, `member` a member on their own page, `operator` the command line, `worker` the service
     * itself.
     */
    kind: ActorKind;
    /** The token, the user or the member. Null for the others. */
    id: string | null;
}

/** A write of a member. */
export interface MemberEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: MemberEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "member";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Member;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a group. */
export interface GroupEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: GroupEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "group";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Group;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a payment. */
export interface PaymentEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: PaymentEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "payment";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Payment;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a reimbursement. */
export interface ReimbursementEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: ReimbursementEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "reimbursement";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Reimbursement;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a reminder. */
export interface ReminderEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: ReminderEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "reminder";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Reminder;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a card. */
export interface CardEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: CardEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "card";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Card;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a campaign. */
export interface CampaignEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: CampaignEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "campaign";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: Campaign;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of a listing. */
export interface StoreListingEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: StoreListingEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "listing";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: StoreListing;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** A write of an order. */
export interface StoreOrderEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: StoreOrderEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: "order";
    /** The resource. */
    resourceId: string;
    /** The resource after the change, as the API shows it. */
    data: StoreOrder;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** An event that nothing caused: somebody tests the endpoint. */
export interface TestEvent {
    id: string;
    /** What happened, in the most specific word. */
    type: TestEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization it happened in. */
    organizationId: string;
    /** What the event is about. */
    resource: null;
    /** The resource. */
    resourceId: null;
    /** The resource after the change, as the API shows it. */
    data: Record<string, unknown>;
    /**
     * The fields of `data` that differ from before, without `updatedAt`. Empty for a new resource, and where only what
     * the API does not show has changed.
     */
    changed: string[];
    /** Who did it. */
    actor: Actor;
    /** The request that did it. Null where there was none. */
    requestId: string | null;
}

/** The reminder after the send, and what became of it. */
export interface SentReminder {
    id: string;
    /** The member to write to. */
    targetMemberId: string | null;
    /** The organization whose contact to write to. */
    targetOrganizationId: string | null;
    /** The group whose active members to write to. Beside a member, the group whose dues count. */
    groupId: string | null;
    /** How it is sent. */
    method: ReminderMethod;
    /** Where it stands. */
    status: ReminderStatus;
    /** The subject line. */
    subject: string | null;
    /** The text. */
    body: string | null;
    /** When it is to be sent. */
    scheduledAt: string | null;
    /** When something was last delivered. */
    sentAt: string | null;
    /** Whether it comes back. */
    isRecurring: boolean;
    /** After how many days it comes back. */
    recurringIntervalDays: number | null;
    /** Says what is owed, and goes only to those who owe. */
    includePaymentInfo: boolean;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
    /** `sent`: at least one message is on its way. `skipped`: nobody qualified. */
    outcome: ReminderOutcome;
}

/** The card, or the application for one. */
export interface CardCreation {
    /** `card`: the card is there. `application`: the organization is not approved for issuing yet. */
    kind: CardCreationKind;
    /** The card. Null for an application. */
    card: Card | null;
    /** The application. Null for a card. */
    applicationId: string | null;
}

/** One entry. */
export interface Withheld {
    scope: Scope;
    /** `role`: above the role. `policy`: blocked by the organization. */
    by: WithheldBy;
}

/** What the calling token is and can do now. */
export interface Token {
    id: string;
    /** `personal` acts as a user, `service` as the organization. */
    kind: TokenKind;
    /** What its maker called it. */
    name: string;
    /** The organization it works in. */
    organizationId: string;
    /** The role it acts with now. */
    role: Role;
    /** When it stops working. */
    expiresAt: string;
    /** What it was given. */
    scopes: Scope[];
    /** What it can do now. */
    effectiveScopes: Scope[];
    /** What it was given and cannot do now, and why. */
    withheld: Withheld[];
}

/** A write of a resource's row, as a list or a get gives it. A comparison of `resource` tells the type of `data`. */
export type Event =
    | MemberEvent
    | GroupEvent
    | PaymentEvent
    | ReimbursementEvent
    | ReminderEvent
    | CardEvent
    | CampaignEvent
    | StoreListingEvent
    | StoreOrderEvent;

/** As a webhook delivers it. */
export type WebhookEvent = Event | TestEvent;
