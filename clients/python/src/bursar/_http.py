"""Requests with retries: the same request, with the same key, until there is a response that counts."""

from __future__ import annotations

import itertools
import json
import platform
import random
import time
import urllib.parse
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ._connections import Connections, Lost, Response, Untrusted
from ._errors import BursarError, ConnectionFailed, UnexpectedResponse, error_of
from ._values import body_value, query_text
from ._version import VERSION

T = TypeVar("T")

PAUSE_MAX_SECONDS = 30.0
RETRIED = {429, 500, 502, 503, 504}
USER_AGENT = f"bursar-python/{VERSION} (Python {platform.python_version()})"


def new_key() -> str:
    """A new idempotency key. Make it before the first attempt and keep it with the job: calls with one key have one effect."""
    return str(uuid.uuid4())


def path_part(text: str) -> str:
    """An id, so that it cannot lead elsewhere."""
    if text in ("", ".", ".."):
        raise ValueError(f"an id cannot be {text!r}")
    return urllib.parse.quote(text, safe="")


@dataclass(frozen=True)
class Http:
    connections: Connections
    token: str = field(repr=False)
    timeout: float
    """Seconds for a call with all its retries."""
    attempt_timeout: float
    """Seconds for one attempt."""
    max_retries: int

    def with_options(self, timeout: float | None, attempt_timeout: float | None, max_retries: int | None) -> Http:
        return replace(
            self,
            timeout=self.timeout if timeout is None else timeout,
            attempt_timeout=self.attempt_timeout if attempt_timeout is None else attempt_timeout,
            max_retries=self.max_retries if max_retries is None else max_retries,
        )

    def request(
        self,
        method: str,
        path: str,
        parse: Callable[[Any], T],
        *,
        query: Mapping[str, object] | None = None,
        body: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
    ) -> T:
        """A value of None in `query` or `body` leaves the name out."""
        given = [(name, query_text(value)) for name, value in (query or {}).items() if value is not None]
        target = path + ("?" + urllib.parse.urlencode(given) if given else "")
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
        }
        data = None
        if body is not None:
            fields = {name: value for name, value in body.items() if value is not None}
            data = json.dumps(fields, default=body_value).encode()
            headers["Content-Type"] = "application/json"
            # Made here and not for each attempt: all of them are one operation.
            idempotency_key = new_key() if idempotency_key is None else idempotency_key
            headers["Idempotency-Key"] = idempotency_key
        try:
            return parse(self._send(method, target, headers, data))
        except BursarError as error:
            error.idempotency_key = idempotency_key
            raise
        except KeyError as missing:
            message = f"the response has no {missing}: is the server older than this client?"
            raise UnexpectedResponse(message, code="unexpected_response") from missing

    def _send(self, method: str, target: str, headers: Mapping[str, str], data: bytes | None) -> Any:
        deadline = time.monotonic() + self.timeout
        for attempt in itertools.count():
            seconds = min(self.attempt_timeout, deadline - time.monotonic())
            error: BursarError
            cause: Exception | None = None
            try:
                response = self.connections.send(method, target, headers, data, seconds)
            except Untrusted as untrusted:
                raise ConnectionFailed(str(untrusted), code="connection_failed") from untrusted
            except Lost as lost:
                error, cause = no_response(method, target, attempt, str(lost)), lost
            else:
                value = json_of(response)
                if 200 <= response.status < 300:
                    if value is not None:
                        return value
                    # Half of a response: the rest got lost.
                    error = no_response(method, target, attempt, "the response is not JSON")
                else:
                    error = error_of(
                        response.status, response.headers.get("x-request-id"), retry_after(response), value
                    )
                    if response.status not in RETRIED and error.code != "idempotency_key_in_use":
                        raise error
            # Never sooner than Retry-After. The random part spreads the retries of several workers.
            pause = (error.retry_after or 0.0) + random.uniform(0, min(PAUSE_MAX_SECONDS, 0.5 * 2**attempt))
            if attempt >= self.max_retries or time.monotonic() + pause >= deadline:
                raise error from cause
            time.sleep(pause)
        raise AssertionError("unreachable")


def no_response(method: str, target: str, attempt: int, why: str) -> ConnectionFailed:
    tried = "once" if attempt == 0 else f"{attempt + 1} times"
    message = f"{method} {target.partition('?')[0]} was tried {tried}, last: {why}"
    return ConnectionFailed(message, code="connection_failed")


def json_of(response: Response) -> Any:
    """None if it is not JSON. No response of bursar is `null`."""
    is_json = response.headers.get("content-type", "").partition(";")[0].strip() == "application/json"
    if not is_json and 200 <= response.status < 300:
        raise UnexpectedResponse(
            "the response is not JSON: is the base URL that of a bursar server?",
            code="unexpected_response",
            status=response.status,
        )
    try:
        return json.loads(response.body)
    except ValueError:
        return None


def retry_after(response: Response) -> float | None:
    """Proxies may send a date instead of seconds. Then the usual pause has to do."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None
