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
    /** E-mail address. Not unique, because families share one. Null if the member has none. */
    email: string | null;
    /** False when the member is archived. */
    isActive: boolean;
    /** The day on which the member joined. */
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
    /** Name of the group. */
    name: string;
    /** Purpose of the group. Empty if there is none. */
    description: string;
    /** Dues of each member for a period. Null if the group has no dues. */
    amountDue: string | null;
    /** The day on which the next dues are due. */
    dueDate: string | null;
    /** Whether the dues are recurring. */
    isRecurring: boolean;
    /** Interval of recurring dues. Null unless `isRecurring`. */
    recurringInterval: RecurringInterval | null;
    /** Number of active members. */
    memberCount: number;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A charge: dues or another amount that a member or a chapter owes the organization. */
export interface Payment {
    id: string;
    /** The member who owes it. */
    memberId: string | null;
    /** The group whose dues these are. */
    groupId: string | null;
    /** The chapter that owes it. */
    targetOrganizationId: string | null;
    /** Purpose of the charge. Empty if there is none. */
    description: string;
    /** Total amount of the charge. */
    amount: string;
    /** Amount received so far. Never more than `amount`. */
    paidToDate: string;
    /** The organization's currency, as an ISO 4217 code. */
    currency: string;
    /** Status of the payment. */
    status: PaymentStatus;
    /** The day on which it is due. */
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

/** An expense that the organization pays back to a member or to another organization. */
export interface Reimbursement {
    id: string;
    /** The member who is paid. */
    memberId: string | null;
    /** The organization that is paid. */
    recipientOrganizationId: string | null;
    /** Amount to be paid. */
    amount: string;
    /** The organization's currency, as an ISO 4217 code. */
    currency: string;
    /** Category of the expense, such as Travel. */
    category: string | null;
    /** Description of the expense. Empty if there is none. */
    description: string;
    /** The day on which the expense was incurred. */
    incurredAt: string | null;
    /** Status of the reimbursement. */
    status: ReimbursementStatus;
    /** When it was submitted for review. */
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

/** A message by e-mail or SMS to members or to an organization, sent once or repeatedly. */
export interface Reminder {
    id: string;
    /** The member who gets it. */
    targetMemberId: string | null;
    /** The organization whose contact gets it. */
    targetOrganizationId: string | null;
    /**
     * The group whose active members get it. With `targetMemberId`, only that member gets it, and only dues of this
     * group are considered.
     */
    groupId: string | null;
    /** Channel: e-mail or SMS. */
    method: ReminderMethod;
    /** Status of the reminder. */
    status: ReminderStatus;
    /** Subject of the e-mail. */
    subject: string | null;
    /** Text of the message. */
    body: string | null;
    /** When it will be sent. */
    scheduledAt: string | null;
    /** When a message was last delivered. */
    sentAt: string | null;
    /** Whether it is sent repeatedly. */
    isRecurring: boolean;
    /** Days between two runs. */
    recurringIntervalDays: number | null;
    /** Whether the message includes the recipient's open amount. If so, only members who owe something get it. */
    includePaymentInfo: boolean;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A card with a spend limit. This shape is frozen in v1. */
export interface Card {
    id: string;
    /** Name of the card. */
    name: string | null;
    /** Status of the card. */
    status: CardStatus | null;
    /** Last four digits of the card number. Null until the issuer reports them. */
    last4: string | null;
    /** Spend limit for the period in `spendLimitFrequency`. */
    spendLimit: string | null;
    /** Period of the spend limit. */
    spendLimitFrequency: SpendLimitFrequency | null;
    /** Maximum amount of one transaction. */
    transactionLimit: string | null;
    /** The member who holds the card. */
    assignedMemberId: string | null;
    /** When the holder was invited. */
    invitedAt: string | null;
    /** When it was activated. */
    activatedAt: string | null;
    /** When it was canceled. */
    canceledAt: string | null;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A fundraising campaign with a goal and a last day. */
export interface Campaign {
    id: string;
    /** Name of the campaign. */
    name: string;
    /** Purpose of the campaign. */
    note: string | null;
    /** Amount that the campaign wants to raise. */
    goalAmount: string | null;
    /** The organization's currency, as an ISO 4217 code. */
    currency: string;
    /** First day of the campaign. */
    startDate: string | null;
    /** Last day of the campaign. */
    endDate: string | null;
    /** Status of the campaign. */
    status: CampaignStatus;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** Something the organization sells. */
export interface StoreListing {
    id: string;
    /** Name of the listing. */
    name: string;
    /** Description of what is sold. Empty if there is none. */
    description: string;
    /** The organization's currency, as an ISO 4217 code. */
    currency: string;
    /** Whether it is on sale. */
    isActive: boolean;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** A purchase in the store. */
export interface StoreOrder {
    id: string;
    /** The listing that was bought. */
    listingId: string | null;
    /** The member who bought it. */
    memberId: string | null;
    /** Total amount of the order. */
    totalAmount: string;
    /** The organization's currency, as an ISO 4217 code. */
    currency: string;
    /** Status of the order. */
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
    /** Name of the chapter. */
    name: string;
    /** When it was created. */
    createdAt: string;
    /** When any field last changed, by the organization's change clock. */
    updatedAt: string;
}

/** Who made the change. */
export interface Actor {
    /**
     * `token`: an API token. `user`: a person in the console. `member`: a member on their own page. `operator`: the
     * command line. `worker`: the service itself.
     */
    kind: ActorKind;
    /** Id of the token, the user or the member. Null for `operator` and `worker`. */
    id: string | null;
}

/** A change of a member. */
export interface MemberEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: MemberEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "member";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Member;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a group. */
export interface GroupEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: GroupEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "group";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Group;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a payment. */
export interface PaymentEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: PaymentEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "payment";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Payment;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a reimbursement. */
export interface ReimbursementEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: ReimbursementEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "reimbursement";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Reimbursement;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a reminder. */
export interface ReminderEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: ReminderEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "reminder";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Reminder;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a card. */
export interface CardEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: CardEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "card";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Card;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a campaign. */
export interface CampaignEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: CampaignEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "campaign";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: Campaign;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of a listing. */
export interface StoreListingEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: StoreListingEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "listing";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: StoreListing;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** A change of an order. */
export interface StoreOrderEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: StoreOrderEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: "order";
    /** Id of the resource that changed. */
    resourceId: string;
    /** The resource after the change, as the API returns it. */
    data: StoreOrder;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** Sent when somebody tests the endpoint. Nothing has changed. */
export interface TestEvent {
    id: string;
    /** Type of the event: the most specific one that applies. */
    type: TestEventType;
    /** The `updatedAt` that the change gave the resource. */
    createdAt: string;
    /** The organization in which it happened. */
    organizationId: string;
    /** Kind of resource that changed. */
    resource: null;
    /** Id of the resource that changed. */
    resourceId: null;
    /** The resource after the change, as the API returns it. */
    data: Record<string, unknown>;
    /**
     * Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only fields
     * that the API does not return have changed.
     */
    changed: string[];
    /** Who made the change. */
    actor: Actor;
    /** The request that made the change. Null if there was none. */
    requestId: string | null;
}

/** The reminder after the send, and the outcome. */
export interface SentReminder {
    id: string;
    /** The member who gets it. */
    targetMemberId: string | null;
    /** The organization whose contact gets it. */
    targetOrganizationId: string | null;
    /**
     * The group whose active members get it. With `targetMemberId`, only that member gets it, and only dues of this
     * group are considered.
     */
    groupId: string | null;
    /** Channel: e-mail or SMS. */
    method: ReminderMethod;
    /** Status of the reminder. */
    status: ReminderStatus;
    /** Subject of the e-mail. */
    subject: string | null;
    /** Text of the message. */
    body: string | null;
    /** When it will be sent. */
    scheduledAt: string | null;
    /** When a message was last delivered. */
    sentAt: string | null;
    /** Whether it is sent repeatedly. */
    isRecurring: boolean;
    /** Days between two runs. */
    recurringIntervalDays: number | null;
    /** Whether the message includes the recipient's open amount. If so, only members who owe something get it. */
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
    /**
     * `card`: the card was created. `application`: the organization is not approved for issuing yet, so an application
     * was recorded.
     */
    kind: CardCreationKind;
    /** The card. Null for an application. */
    card: Card | null;
    /** The application. Null for a card. */
    applicationId: string | null;
}

/** One entry. */
export interface Withheld {
    scope: Scope;
    /** `role`: the role does not allow it. `policy`: the organization blocks it. */
    by: WithheldBy;
}

/** What the calling token is and can do now. */
export interface Token {
    id: string;
    /** `personal` acts as a user, `service` as the organization. */
    kind: TokenKind;
    /** Name of the token. */
    name: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** The role that it acts with now. */
    role: Role;
    /** When it expires. */
    expiresAt: string;
    /** Scopes that it was created with. */
    scopes: Scope[];
    /** Scopes that work now. */
    effectiveScopes: Scope[];
    /** Scopes that it was created with but that do not work now, with the reason. */
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
