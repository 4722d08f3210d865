"""The errors that calls raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class BursarError(Exception):
    """Base of all errors of this package. Programs read `code`, people read `message`.

    v1 may gain codes, so treat one that you do not know by its class.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        param: str | None = None,
        request_id: str | None = None,
        docs_url: str | None = None,
        required_scopes: tuple[str, ...] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        """The HTTP status. None if there was no response."""
        self.param = param
        """The field, parameter or header at fault, when one is."""
        self.request_id = request_id
        """Log it: the operator finds the request by it."""
        self.docs_url = docs_url
        self.required_scopes = required_scopes
        self.retry_after = retry_after
        """Seconds to wait at least, if the server said so."""
        self.idempotency_key: str | None = None
        """Of a write. It may have been done: call again with this key, and it has one effect."""

    def __str__(self) -> str:
        at = f" (param {self.param})" if self.param else ""
        request = f" [{self.request_id}]" if self.request_id else ""
        return f"{self.code}: {self.message}{at}{request}"


class InvalidRequest(BursarError):
    """400, 405, 413 or 415: correct the request. `param` names what is wrong."""


class InvalidToken(BursarError):
    """401: the token is missing, mistyped, expired or revoked. Get a new one."""


class InsufficientScope(BursarError):
    """403: `required_scopes` says what the operation needs, and the message who withholds it."""


class NotFound(BursarError):
    """404: there is no such thing, or it belongs to another organization."""


class Conflict(BursarError):
    """409: the state does not allow it. Read the resource again, then decide."""


class RateLimited(BursarError):
    """429, after all retries."""


class ServerError(BursarError):
    """5xx, after all retries."""


class UnexpectedResponse(BursarError):
    """Not a response of bursar. Is the base URL right?"""


class ConnectionFailed(BursarError):
    """There was no response, after all retries."""


class EventsGone(BursarError):
    """Events from that time on are no longer kept: read the lists once, and follow events from the time you began."""


class InvalidSignature(BursarError, ValueError):
    """A delivery that the secret did not sign, or an old one that somebody sent again. Respond with 401."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="invalid_signature")


_BY_STATUS: dict[int, type[BursarError]] = {
    401: InvalidToken,
    403: InsufficientScope,
    404: NotFound,
    409: Conflict,
    429: RateLimited,
}


def error_of(status: int, request_id: str | None, retry_after: float | None, body: object) -> BursarError:
    """The error of a response. A proxy's own response has no error object."""
    kind = _BY_STATUS.get(status)
    if kind is None:
        kind = ServerError if status >= 500 else InvalidRequest if 400 <= status < 500 else UnexpectedResponse
    error: Mapping[str, Any] | None = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        message = f"status {status}, without an error object in the body"
        return kind(message, code="unexpected_response", status=status, request_id=request_id, retry_after=retry_after)
    return kind(
        str(error.get("message", "")),
        code=str(error.get("code", "")),
        status=status,
        param=error.get("param"),
        request_id=error.get("requestId", request_id),
        docs_url=error.get("docsUrl"),
        required_scopes=tuple(error.get("requiredScopes", ())),
        retry_after=retry_after,
    )
