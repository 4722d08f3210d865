// Uses that the compiler must refuse: it reports an unused `@ts-expect-error` where it does not.

import { Bursar, PaymentStatus, verify, type Event, type Payment } from "bursar";

export async function uses(bursar: Bursar, event: Event, payment: Payment): Promise<void> {
    // @ts-expect-error there is no such status
    bursar.payments.list({ status: "lost" });
    // @ts-expect-error there is no such filter
    bursar.payments.list({ state: "paid" });
    // @ts-expect-error there is no such operation
    await bursar.payments.get("pay_1");
    // @ts-expect-error an id is a string
    await bursar.members.get(1);
    // @ts-expect-error a group has a name
    await bursar.groups.create({ description: "No name" });
    // @ts-expect-error reads have no key
    await bursar.members.get("mem_1", { idempotencyKey: "mine" });
    // @ts-expect-error a limit is a number
    await bursar.cards.create({ name: "Fuel", spendLimit: "12.34", spendLimitFrequency: "weekly" });
    // @ts-expect-error rows are asynchronous
    for (const member of bursar.members.list()) console.log(member);
    // @ts-expect-error not everybody has an address
    for await (const member of bursar.members.list()) member.email.toLowerCase();
    // @ts-expect-error there is no such word
    PaymentStatus.Lost;
    // @ts-expect-error amounts are strings
    payment.amount * 2;
    // @ts-expect-error not every event is about a payment
    event.data.amount;
    if (event.resource === "payment") event.data.amount.toUpperCase();
    // @ts-expect-error a card has no amount
    if (event.resource === "card") event.data.amount;
    // @ts-expect-error the body has to be as it came
    verify({ a: 1 }, {}, "whsec_x");
}
