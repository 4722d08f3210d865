"""The official Python library of Standard Webhooks: takes our deliveries, and refuses those that were changed.

`verify.py FILE`: deliveries, one JSON a line: headers, body, the secrets that signed it (`good`) and others (`bad`).
"""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def is_refused(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


taken = refused = 0
for line in open(sys.argv[1]):
    delivery = json.loads(line)
    headers, body = delivery["headers"], delivery["body"]
    for secret in delivery["good"]:
        assert Webhook(secret).verify(body, headers) == json.loads(body)
        taken += 1
        later = str(int(headers["webhook-timestamp"]) + 1)
        old = str(int(headers["webhook-timestamp"]) - 600)
        changed = [
            (body.replace('"type":"', '"type":"x', 1), headers),
            (body + " ", headers),
            (body, headers | {"webhook-id": headers["webhook-id"] + "x"}),
            (body, headers | {"webhook-timestamp": later}),
            (body, headers | {"webhook-timestamp": old}),
            (body, headers | {"webhook-signature": "v1," + "A" * 43 + "="}),
            (body, {name: value for name, value in headers.items() if name != "webhook-signature"}),
        ]
        for body_, headers_ in changed:
            assert is_refused(secret, body_, headers_), (body_, headers_)
            refused += 1
    for secret in delivery["bad"]:
        assert is_refused(secret, body, headers), secret
        refused += 1
assert taken > 0 and refused > 0
print(f"standardwebhooks for Python: {taken} taken, {refused} refused")
