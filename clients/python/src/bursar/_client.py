"""The client."""

from __future__ import annotations

import copy
import os
import ssl
from collections.abc import Iterator
from datetime import datetime
from types import TracebackType

from . import webhooks
from ._connections import Connections
from ._errors import EventsGone, InvalidRequest
from ._generated.models import Event
from ._generated.resources import Operations
from ._http import Http
from ._values import parse_given


class Webhooks:
    """Also in the module `bursar.webhooks`, for receivers that call nothing."""

    verify = staticmethod(webhooks.verify)


class Bursar(Operations):
    """A client of a bursar server. One is enough for a program: threads may share it.

    `token`: Else the environment's BURSAR_TOKEN. It appears in no log, error or repr.

    `base_url`: Else the environment's BURSAR_URL.

    `timeout`: Seconds for a call with all its retries. A list makes a call for each page.

    `attempt_timeout`: Seconds for one attempt.

    `max_retries`: After 429, 500, 502, 503, 504 and lost connections, with growing pauses and never sooner than the server
    asks. Writes keep their idempotency key, so that they have one effect.

    `ssl_context`: To trust a certificate authority of your own.
    """

    webhooks = Webhooks()

    def __init__(
        self,
        token: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 120.0,
        attempt_timeout: float = 30.0,
        max_retries: int = 8,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        token = os.environ.get("BURSAR_TOKEN") if token is None else token
        base_url = os.environ.get("BURSAR_URL") if base_url is None else base_url
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ValueError("a token is needed, as the argument `token` or in BURSAR_TOKEN")
        if not base_url:
            raise ValueError("the server's address is needed, as the argument `base_url` or in BURSAR_URL")
        self._base_url = base_url
        super().__init__(Http(Connections(base_url, ssl_context), token, timeout, attempt_timeout, max_retries))

    def with_options(
        self,
        *,
        timeout: float | None = None,
        attempt_timeout: float | None = None,
        max_retries: int | None = None,
    ) -> Bursar:
        """The same client with other limits. Both share their connections."""
        other = copy.copy(self)
        Operations.__init__(other, self._http.with_options(timeout, attempt_timeout, max_retries))
        return other

    def catch_up(self, since: datetime | str) -> Iterator[Event]:
        """What happened after `since`, oldest first: call it after an outage, or instead of webhooks.

        `since`: The `created_at` of the last event that you have processed. That one is left out; times of events are unique in an
        organization. Keep the `created_at` of each event with what you make of it, and pass the last one the next time.

        Raises EventsGone if events from that time on are no longer kept (30 days unless the operator chose otherwise).
        """
        after = parse_given(since)
        try:
            for event in self.events.list(created_since=after):
                if event.created_at > after:
                    yield event
        except InvalidRequest as error:
            if error.param != "createdSince":
                raise
            raise EventsGone(
                error.message,
                code="events_gone",
                status=error.status,
                request_id=error.request_id,
                docs_url=error.docs_url,
            ) from error

    def close(self) -> None:
        """Closes idle connections. The client can still be used."""
        self._http.connections.close()

    def __enter__(self) -> Bursar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Bursar(base_url={self._base_url!r})"
