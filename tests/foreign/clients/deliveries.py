"""The Python client takes our deliveries, and refuses those that were changed. deliveries.ts does the same.

`deliveries.py FILE`: deliveries, one JSON a line: headers, body, the secrets that signed it (`good`) and others (`bad`).
"""

import json
import sys
from collections.abc import Mapping

from bursar import InvalidSignature, MemberEvent, TestEvent, webhooks


def is_refused(body: str, headers: Mapping[str, str], secret: str, now: float | None = None) -> bool:
    try:
        webhooks.verify(body, headers, secret, now=now)
    except InvalidSignature:
        return True
    return False


taken = refused = 0
for line in open(sys.argv[1]):
    delivery = json.loads(line)
    headers, body = delivery["headers"], delivery["body"]
    sent = int(headers["webhook-timestamp"])
    for secret in delivery["good"]:
        event = webhooks.verify(body.encode(), {name.title(): value for name, value in headers.items()}, secret)
        assert event.raw == json.loads(body) and event.id == headers["webhook-id"]
        assert isinstance(event, TestEvent if event.type == "test" else MemberEvent)
        assert webhooks.verify(body, headers, [*delivery["bad"], secret]) == event
        webhooks.verify(body, headers, secret, now=sent + 299)
        taken += 1
        changed = [
            (body.replace('"type":"', '"type":"x', 1), headers),
            (body + " ", headers),
            (body, headers | {"webhook-id": headers["webhook-id"] + "x"}),
            (body, headers | {"webhook-timestamp": str(sent + 1)}),
            (body, headers | {"webhook-timestamp": "soon"}),
            (body, headers | {"webhook-signature": "v1," + "A" * 43 + "="}),
            (body, headers | {"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")}),
            (body, headers | {"webhook-signature": headers["webhook-signature"].replace("v1,", "")}),
            *((body, {name: value for name, value in headers.items() if name != left}) for left in headers),
        ]
        for body_, headers_ in changed:
            assert is_refused(body_, headers_, secret), (body_, headers_)
            refused += 1
        for now in (sent - 301, sent + 301):
            assert is_refused(body, headers, secret, now)
            refused += 1
    for secret in delivery["bad"]:
        assert is_refused(body, headers, secret), secret
        refused += 1
for wrong in ("", "whsec_", "whsec_ü"):
    try:
        webhooks.verify(body, headers, wrong)
    except ValueError as error:
        assert not isinstance(error, InvalidSignature)
    else:
        raise AssertionError("a secret that is none")
assert taken > 5 and refused > 50
print(f"bursar for Python: {taken} deliveries taken, {refused} refused")
