"""Lists that come in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from ._http import Http
from ._values import parse_given

T = TypeVar("T")

PAGE_MAX_ROWS = 100


@dataclass(frozen=True)
class Page(Generic[T]):
    data: tuple[T, ...]
    """The rows, oldest change first."""
    has_more: bool
    next_cursor: str | None
    """Give it back as `cursor` to get the next page. None on the last page."""


class Walk(Generic[T]):
    """A list. Nothing is requested until you iterate; each iteration is a walk of its own.

    A walk is a snapshot: its first page fixes a moment, and all pages show rows as they were then. A row that changes
    meanwhile is neither skipped nor repeated.

        walk = bursar.members.list(updated_since=since)
        for member in walk:
            copy[member.id] = member
        since = walk.watermark  # Keep it for the next time.
    """

    def __init__(
        self,
        http: Http,
        path: str,
        parse: Callable[[Mapping[str, Any]], T],
        *,
        query: Mapping[str, object],
        since: str,
        time: str,
    ) -> None:
        self._http = http
        self._path = path
        self._parse = parse
        self._query = query
        self._time = time
        given = query[since]
        self._since = parse_given(given) if isinstance(given, (str, datetime)) else None
        self._is_finished = False
        self._watermark: datetime | None = None

    def __iter__(self) -> Iterator[T]:
        """Every row, oldest change first."""
        for page in self.pages():
            yield from page.data

    def pages(self) -> Iterator[Page[T]]:
        self._is_finished = False
        last = self._since
        query = {**self._query, "limit": self._query.get("limit") or PAGE_MAX_ROWS}
        while True:
            page = self._page(query)
            yield page
            times: list[datetime] = [getattr(row, self._time) for row in page.data]
            last = max([*times, last] if last else times, default=None)
            if not page.has_more:
                break
            query["cursor"] = page.next_cursor
        self._watermark = last
        self._is_finished = True

    def first_page(self) -> Page[T]:
        """One page: the first, or the one that `cursor` names. It has 50 rows unless `limit` says otherwise."""
        return self._page(self._query)

    @property
    def watermark(self) -> datetime | None:
        """The largest time of change in the last walk: a correct `updated_since` (of events `created_since`) for the next one.

        Nothing is missed, and no look-back is needed. It includes its own moment, so the last row comes once more: write rows
        by `id`. A walk without rows gives back its own `updated_since`. Raises RuntimeError if the walk did not reach its end:
        then begin again from the old one.
        """
        if not self._is_finished:
            raise RuntimeError("the walk is not finished: its watermark would skip rows")
        return self._watermark

    def _page(self, query: Mapping[str, object]) -> Page[T]:
        def parse(raw: Mapping[str, Any]) -> Page[T]:
            return Page(tuple(self._parse(row) for row in raw["data"]), raw["hasMore"], raw["nextCursor"])

        return self._http.request("GET", self._path, parse, query=query)
