"""Verifies deliveries of webhooks, signed as Standard Webhooks describes."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from collections.abc import Iterable
from typing import Protocol

from ._errors import InvalidSignature
from ._generated.models import WebhookEvent, webhook_event_from_dict


class Headers(Protocol):
    """The headers of a request, as every framework has them. Upper and lower case are the same."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify(
    body: bytes | str,
    headers: Headers,
    secret: str | Iterable[str],
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """The event of a delivery. Raises InvalidSignature unless the secret signed it within the last five minutes.

    `body`: The bytes as they came. A JSON parser that writes them anew breaks the signature.

    `secret`: As it was shown, `whsec_…`. While it is rotated, deliveries are signed with both the old and the new one, and
    either is enough. You may also give several.
    """
    named = {name.lower(): value for name, value in headers.items()}
    id, seconds, signatures = (named.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (id and signatures and seconds.isascii() and seconds.isdigit()):
        raise InvalidSignature(
            "the headers webhook-id, webhook-timestamp and webhook-signature are not those of a delivery"
        )
    if abs((time.time() if now is None else now) - int(seconds)) > tolerance_seconds:
        raise InvalidSignature("the delivery is old, or the clocks differ")
    data = body.encode() if isinstance(body, str) else bytes(body)
    expected = [
        sign(one, f"{id}.{seconds}.".encode() + data) for one in ([secret] if isinstance(secret, str) else secret)
    ]
    given = [one.encode() for one in signatures.split()]
    # Every pair is compared, each in constant time: how long it takes says nothing about a signature.
    if not any([hmac.compare_digest(ours, theirs) for ours in expected for theirs in given]):
        raise InvalidSignature("the delivery is not signed with this secret")
    return webhook_event_from_dict(json.loads(data))


def sign(secret: str, message: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise ValueError("the secret must be as it was shown: whsec_ and base64")
    return b"v1," + base64.b64encode(hmac.digest(key, message, "sha256"))
