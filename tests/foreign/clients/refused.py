"""Uses that mypy --strict must refuse: it reports an unused `ignore` where it does not."""

from bursar import Bursar, CardEvent, Event, NotFound, Payment, PaymentEvent, PaymentStatus, webhooks

bursar = Bursar()
bursar.payments.list(status="lost")  # type: ignore[arg-type]
bursar.payments.list(state="paid")  # type: ignore[call-arg]
bursar.payments.get("pay_1")  # type: ignore[attr-defined]
bursar.members.get(1)  # type: ignore[arg-type]
bursar.groups.create(description="No name")  # type: ignore[call-arg]
bursar.groups.create("Positional")  # type: ignore[call-arg]
bursar.cards.create(name="Fuel", spend_limit="12.34", spend_limit_frequency="weekly")  # type: ignore[arg-type]
bursar.members.list().first_name  # type: ignore[attr-defined]
for member in bursar.members.list():
    member.first_name = "Changed"  # type: ignore[misc]
    member.firstName  # type: ignore[attr-defined]
    member.email.lower()  # type: ignore[union-attr]
PaymentStatus.LOST  # type: ignore[attr-defined]
error: NotFound = ValueError()  # type: ignore[assignment]
webhooks.verify({"a": 1}, {}, "whsec_x")  # type: ignore[arg-type]


def uses(event: Event, payment: Payment) -> None:
    payment.amount + 1  # type: ignore[operator]
    event.data.amount  # type: ignore[union-attr]
    if isinstance(event, PaymentEvent):
        event.data.amount.upper()
    if isinstance(event, CardEvent):
        event.data.amount  # type: ignore[attr-defined]
