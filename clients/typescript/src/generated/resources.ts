// The operations of the API, grouped as its reference groups them.
// Generated from the OpenAPI document by `python3 clients/generate`. Do not edit.

import { Http, pathPart, type RequestOptions, type WriteOptions } from "../http.js";
import { Walk } from "../paging.js";
import type {
    Campaign,
    CampaignStatus,
    Card,
    CardCreation,
    CardStatus,
    Chapter,
    Event,
    EventType,
    Group,
    Member,
    Payment,
    PaymentStatus,
    Reimbursement,
    ReimbursementStatus,
    Reminder,
    ReminderStatus,
    SentReminder,
    SpendLimitFrequency,
    StoreListing,
    StoreOrder,
    StoreOrderStatus,
    Token,
} from "./models.js";

/** What cards.create takes. */
export interface CreateCardFields {
    /** Name of the card. */
    name: string;
    /** Spend limit, as a JSON number with no more decimals than the organization's currency has. */
    spendLimit: number;
    /** Period of the spend limit. */
    spendLimitFrequency: SpendLimitFrequency;
    /** Maximum amount of one transaction. Null for no such limit. */
    transactionLimit?: number | null | undefined;
    /** The active member who will hold the card. Null for nobody. */
    assignedMemberId?: string | null | undefined;
}

/** What cards.list takes. */
export interface ListCardsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only rows in this state. */
    status?: CardStatus | undefined;
}

/** What reminders.list takes. */
export interface ListRemindersFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only rows in this state. */
    status?: ReminderStatus | undefined;
}

/** What members.update takes. */
export interface UpdateMemberFields {
    /** Given name. */
    firstName?: string | undefined;
    /** Family name. */
    lastName?: string | undefined;
    /** E-mail address. */
    email?: string | undefined;
    /** False archives the member, true restores it. */
    isActive?: boolean | undefined;
}

/** What members.list takes. */
export interface ListMembersFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only active members, or only archived ones. */
    isActive?: boolean | undefined;
}

/** What groups.create takes. */
export interface CreateGroupFields {
    /** Name of the group. */
    name: string;
    /** Purpose of the group. Null for none. */
    description?: string | null | undefined;
}

/** What groups.list takes. */
export interface ListGroupsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
}

/** What groups.update takes. */
export interface UpdateGroupFields {
    /** Name of the group. */
    name?: string | undefined;
    /** Purpose of the group. */
    description?: string | undefined;
}

/** What chapters.list takes. */
export interface ListChaptersFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
}

/** What chapters.listMembers takes. */
export interface ListChapterMembersFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only active members, or only archived ones. */
    isActive?: boolean | undefined;
}

/** What reimbursements.list takes. */
export interface ListReimbursementsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only rows in this state. */
    status?: ReimbursementStatus | undefined;
}

/** What payments.list takes. */
export interface ListPaymentsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only rows in this state. */
    status?: PaymentStatus | undefined;
    /** Only rows of this member. */
    memberId?: string | undefined;
}

/** What campaigns.list takes. */
export interface ListCampaignsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only rows in this state. */
    status?: CampaignStatus | undefined;
}

/** What store.listListings takes. */
export interface ListStoreListingsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
}

/** What store.listOrders takes. */
export interface ListStoreOrdersFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /** Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset. */
    updatedSince?: string | Date | undefined;
    /** Only rows in this state. */
    status?: StoreOrderStatus | undefined;
    /** Only rows of this member. */
    memberId?: string | undefined;
    /** Only orders from this listing. */
    listingId?: string | undefined;
}

/** What events.list takes. */
export interface ListEventsFilters {
    /** How many rows a page has at most. */
    limit?: number | undefined;
    /**
     * The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the
     * filters: leave them out, or repeat them as they were. `limit` may change.
     */
    cursor?: string | undefined;
    /**
     * Only events whose `createdAt` is at or after this time: RFC 3339, with an offset. A time from before the events
     * that are kept is refused.
     */
    createdSince?: string | Date | undefined;
    /** Only events of this type. */
    type?: EventType | undefined;
    /** Only events of this resource. */
    resourceId?: string | undefined;
}

/** The people of the organization. */
export class Members {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * Get a member.
     *
     * Returns one member, active or archived.
     *
     * Needs the scope `members:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    get(memberId: string, options: RequestOptions = {}): Promise<Member> {
        return this.#http.request("GET", `/v1/members/${pathPart(memberId)}`, {}, undefined, options);
    }

    /**
     * Change, archive or restore a member.
     *
     * Changes the fields that the body names and keeps the others. `isActive: false` archives the member: an archived
     * member stays in its groups and keeps its payments, but is not counted in `memberCount`. Their active cards are
     * frozen, and `isActive: true` does not unfreeze them. A member whose data was erased cannot be changed. A body
     * that changes nothing leaves `updatedAt` as it is. `null` is refused.
     *
     * Needs the scope `members:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute by
     * default).
     */
    update(memberId: string, fields: UpdateMemberFields, options: WriteOptions = {}): Promise<Member> {
        return this.#http.request("PATCH", `/v1/members/${pathPart(memberId)}`, {}, { ...fields }, options);
    }

    /**
     * List members.
     *
     * Returns the organization's members, oldest change first. To keep a copy up to date, follow `nextCursor` to the
     * end, then ask again with `updatedSince` set to the largest `updatedAt` you saw.
     *
     * Needs the scope `members:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListMembersFilters = {}, options: RequestOptions = {}): Walk<Member> {
        return new Walk(this.#http, "/v1/members", { ...filters }, filters.updatedSince, "updatedAt", options);
    }
}

/** Members who owe the same dues. */
export class Groups {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * Create a group.
     *
     * Creates a group. Its dues (`amountDue`, `dueDate`, `isRecurring`, `recurringInterval`) are set by officers: in a
     * body they are refused.
     *
     * Needs the scope `groups:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute by
     * default).
     */
    create(fields: CreateGroupFields, options: WriteOptions = {}): Promise<Group> {
        return this.#http.request("POST", "/v1/groups", {}, { ...fields }, options);
    }

    /**
     * List groups with their dues and member counts.
     *
     * Returns the organization's groups with their dues and how many active members each has, oldest change first.
     *
     * Needs the scope `groups:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListGroupsFilters = {}, options: RequestOptions = {}): Walk<Group> {
        return new Walk(this.#http, "/v1/groups", { ...filters }, filters.updatedSince, "updatedAt", options);
    }

    /**
     * Get a group.
     *
     * Returns one group with its dues and how many active members it has.
     *
     * Needs the scope `groups:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    get(groupId: string, options: RequestOptions = {}): Promise<Group> {
        return this.#http.request("GET", `/v1/groups/${pathPart(groupId)}`, {}, undefined, options);
    }

    /**
     * Rename a group or change its description.
     *
     * Changes the name, the description or both. A body that changes nothing leaves `updatedAt` as it is. `null` and
     * the read-only fields are refused.
     *
     * Needs the scope `groups:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute by
     * default).
     */
    update(groupId: string, fields: UpdateGroupFields, options: WriteOptions = {}): Promise<Group> {
        return this.#http.request("PATCH", `/v1/groups/${pathPart(groupId)}`, {}, { ...fields }, options);
    }

    /**
     * Remove a member from a group.
     *
     * Removes a member from a group and returns the group. The member and its payments stay as they are. A member who
     * is not in the group is not found. The body is an empty JSON object, or none.
     *
     * Needs the scope `groups:write` and at least the role editor. Costs 1 unit of the write bucket (120 per minute by
     * default).
     */
    removeMember(groupId: string, memberId: string, options: WriteOptions = {}): Promise<Group> {
        return this.#http.request(
            "DELETE",
            `/v1/groups/${pathPart(groupId)}/members/${pathPart(memberId)}`,
            {},
            {},
            options,
        );
    }
}

/** Dues and other charges. */
export class Payments {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * List payments.
     *
     * Returns the charges that the organization raised, oldest change first. Providers' identifiers are hidden in v1.
     *
     * Needs the scope `payments:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListPaymentsFilters = {}, options: RequestOptions = {}): Walk<Payment> {
        return new Walk(this.#http, "/v1/payments", { ...filters }, filters.updatedSince, "updatedAt", options);
    }
}

/** Expenses that the organization pays back. */
export class Reimbursements {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * List reimbursements.
     *
     * Returns the organization's reimbursements, oldest change first. Receipts, payout references and reviewers' notes
     * are hidden in v1.
     *
     * Needs the scope `reimbursements:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per
     * minute by default).
     */
    list(filters: ListReimbursementsFilters = {}, options: RequestOptions = {}): Walk<Reimbursement> {
        return new Walk(this.#http, "/v1/reimbursements", { ...filters }, filters.updatedSince, "updatedAt", options);
    }
}

/** Messages by e-mail or SMS. */
export class Reminders {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * Send a scheduled reminder now.
     *
     * Sends a scheduled reminder without waiting for its time. `outcome` is `sent` when at least one recipient
     * qualifies: the reminder is `sending` until the messages are delivered. It is `skipped` when nobody does:
     * archived, without an address for the method, or owing nothing where `includePaymentInfo` is set. A skipped
     * reminder is `completed`; a recurring one is scheduled again. A reminder that is not `scheduled` is a conflict.
     * The body is an empty JSON object, or none.
     *
     * Needs the scope `reminders:write` and at least the role editor. Costs 1 unit of the messaging bucket (20 per
     * minute by default).
     */
    send(reminderId: string, options: WriteOptions = {}): Promise<SentReminder> {
        return this.#http.request("POST", `/v1/reminders/${pathPart(reminderId)}/send`, {}, {}, options);
    }

    /**
     * List reminders.
     *
     * Returns the organization's reminders, oldest change first.
     *
     * Needs the scope `reminders:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListRemindersFilters = {}, options: RequestOptions = {}): Walk<Reminder> {
        return new Walk(this.#http, "/v1/reminders", { ...filters }, filters.updatedSince, "updatedAt", options);
    }
}

/** Spending with a limit, in the organization's name. */
export class Cards {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * Create a card, or apply for one.
     *
     * Creates a card with a spend limit. When the organization is approved for issuing, the response has `kind` `card`:
     * the card is `invited` when a member is to hold it, else `active` immediately. When it is not approved yet, the
     * response has `kind` `application`, and each new key creates a new application. A card for an archived member is a
     * conflict.
     *
     * Needs the scope `cards:write` and at least the role admin. Costs 1 unit of the write bucket (120 per minute by
     * default).
     */
    create(fields: CreateCardFields, options: WriteOptions = {}): Promise<CardCreation> {
        return this.#http.request("POST", "/v1/cards", {}, { ...fields }, options);
    }

    /**
     * List cards.
     *
     * Returns the organization's cards, oldest change first.
     *
     * Needs the scope `cards:read` and at least the role editor. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListCardsFilters = {}, options: RequestOptions = {}): Walk<Card> {
        return new Walk(this.#http, "/v1/cards", { ...filters }, filters.updatedSince, "updatedAt", options);
    }
}

/** Fundraising. */
export class Campaigns {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * List campaigns.
     *
     * Returns the organization's fundraising campaigns, oldest change first.
     *
     * Needs the scope `fundraise:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListCampaignsFilters = {}, options: RequestOptions = {}): Walk<Campaign> {
        return new Walk(this.#http, "/v1/campaigns", { ...filters }, filters.updatedSince, "updatedAt", options);
    }

    /**
     * Get a campaign.
     *
     * Returns one fundraising campaign.
     *
     * Needs the scope `fundraise:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    get(campaignId: string, options: RequestOptions = {}): Promise<Campaign> {
        return this.#http.request("GET", `/v1/campaigns/${pathPart(campaignId)}`, {}, undefined, options);
    }
}

/** What the organization sells, and what was bought. */
export class Store {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * List store listings.
     *
     * Returns what the organization sells, oldest change first. Items and stock are hidden in v1.
     *
     * Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    listListings(filters: ListStoreListingsFilters = {}, options: RequestOptions = {}): Walk<StoreListing> {
        return new Walk(this.#http, "/v1/store/listings", { ...filters }, filters.updatedSince, "updatedAt", options);
    }

    /**
     * Get a store listing.
     *
     * Returns one store listing. Items and stock are hidden in v1.
     *
     * Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    getListing(listingId: string, options: RequestOptions = {}): Promise<StoreListing> {
        return this.#http.request("GET", `/v1/store/listings/${pathPart(listingId)}`, {}, undefined, options);
    }

    /**
     * List store orders.
     *
     * Returns what was bought, oldest change first. An order does not show when it last changed; `updatedSince`
     * compares that time all the same. To keep a copy up to date, pass the largest `createdAt` that you have: no change
     * is missed, and some orders are returned again.
     *
     * Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    listOrders(filters: ListStoreOrdersFilters = {}, options: RequestOptions = {}): Walk<StoreOrder> {
        return new Walk(this.#http, "/v1/store/orders", { ...filters }, filters.updatedSince, "createdAt", options);
    }

    /**
     * Get a store order.
     *
     * Returns one store order.
     *
     * Needs the scope `store:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    getOrder(orderId: string, options: RequestOptions = {}): Promise<StoreOrder> {
        return this.#http.request("GET", `/v1/store/orders/${pathPart(orderId)}`, {}, undefined, options);
    }
}

/** The child chapters of national organizations, and their rosters. */
export class Chapters {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * List the chapters of a national organization.
     *
     * Returns the direct child chapters of a national organization, oldest change first. For any other organization the
     * list is not found. `updatedAt` is when a chapter was created here, moved here or renamed. A chapter that moves
     * elsewhere leaves the list. Reading it is not recorded in any activity log, because it shows no person.
     *
     * Needs the scope `chapters:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListChaptersFilters = {}, options: RequestOptions = {}): Walk<Chapter> {
        return new Walk(this.#http, "/v1/chapters", { ...filters }, filters.updatedSince, "updatedAt", options);
    }

    /**
     * List the members of a direct child chapter.
     *
     * Returns the members of a chapter. It is for national organizations, and for their direct child chapters only:
     * anything else is not found. Each page that is read is noted in the chapter's own activity log, with the reader.
     * It returns the same fields as the member list, and no more.
     *
     * Needs the scopes `chapters:read` and `members:read` and at least the role viewer. Costs `limit` / 25 units,
     * rounded up (2 when `limit` is left out), of the read bucket (600 per minute by default).
     */
    listMembers(
        chapterId: string,
        filters: ListChapterMembersFilters = {},
        options: RequestOptions = {},
    ): Walk<Member> {
        return new Walk(
            this.#http,
            `/v1/chapters/${pathPart(chapterId)}/members`,
            { ...filters },
            filters.updatedSince,
            "updatedAt",
            options,
        );
    }
}

/** What happened, in order. */
export class Events {
    readonly #http: Http;

    constructor(http: Http) {
        this.#http = http;
    }

    /**
     * List events.
     *
     * Returns what happened to the organization's resources, oldest first: one event for every write of a row, with the
     * row's representation after it. `type` is the most specific word: `created` for a new row, else the status that it
     * moved to, else `archived` and `restored` (members) or `activated` and `retired` (listings), else `updated`. Only
     * events of resources that the token may read are in the list. Events are kept for 30 days by default; a
     * `createdSince` from before what is kept is refused, so that missing events are never mistaken for no events.
     * `createdAt` is the `updatedAt` that the change gave the row: pass the largest one that you have seen as
     * `createdSince` to continue.
     *
     * Needs the scope `events:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    list(filters: ListEventsFilters = {}, options: RequestOptions = {}): Walk<Event> {
        return new Walk(this.#http, "/v1/events", { ...filters }, filters.createdSince, "createdAt", options);
    }

    /**
     * Get an event.
     *
     * Returns one event. One of a resource that the token may not read is not found.
     *
     * Needs the scope `events:read` and at least the role viewer. Costs 1 unit of the read bucket (600 per minute by
     * default).
     */
    get(eventId: string, options: RequestOptions = {}): Promise<Event> {
        return this.#http.request("GET", `/v1/events/${pathPart(eventId)}`, {}, undefined, options);
    }
}

/** Every operation, grouped by tag. */
export class Operations {
    readonly #http: Http;
    /** The people of the organization. */
    readonly members: Members;
    /** Members who owe the same dues. */
    readonly groups: Groups;
    /** Dues and other charges. */
    readonly payments: Payments;
    /** Expenses that the organization pays back. */
    readonly reimbursements: Reimbursements;
    /** Messages by e-mail or SMS. */
    readonly reminders: Reminders;
    /** Spending with a limit, in the organization's name. */
    readonly cards: Cards;
    /** Fundraising. */
    readonly campaigns: Campaigns;
    /** What the organization sells, and what was bought. */
    readonly store: Store;
    /** The child chapters of national organizations, and their rosters. */
    readonly chapters: Chapters;
    /** What happened, in order. */
    readonly events: Events;

    constructor(http: Http) {
        this.#http = http;
        this.members = new Members(http);
        this.groups = new Groups(http);
        this.payments = new Payments(http);
        this.reimbursements = new Reimbursements(http);
        this.reminders = new Reminders(http);
        this.cards = new Cards(http);
        this.campaigns = new Campaigns(http);
        this.store = new Store(http);
        this.chapters = new Chapters(http);
        this.events = new Events(http);
    }

    /**
     * Inspect the current token.
     *
     * Describes the calling token: its organization, its role, when it expires, which scopes it was given and which of
     * them work now. `withheld` says why the others do not: the role does not allow them, or the organization's policy
     * blocks them. Call it first when a request is refused with `insufficient_scope`.
     *
     * Any valid token; no scope is needed. Costs 1 unit of the read bucket (600 per minute by default).
     */
    getToken(options: RequestOptions = {}): Promise<Token> {
        return this.#http.request("GET", "/v1/token", {}, undefined, options);
    }

    /**
     * Get this document.
     *
     * Returns the OpenAPI description of this API, which you are reading.
     *
     * No token is needed. Costs 1 unit of the read bucket (600 per minute by default).
     */
    getOpenapi(options: RequestOptions = {}): Promise<Record<string, unknown>> {
        return this.#http.request("GET", "/v1/openapi.json", {}, undefined, options);
    }
}
