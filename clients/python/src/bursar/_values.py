"""What generated enums and models are made of, and how values are written into requests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")


class OpenEnum(str, Enum):
    """A word of the API. Members are strings: `payment.status == "paid"`.

    A newer server may send a word that this version does not know. It becomes a value whose `is_known` is False and which
    is not among the members, so that nothing fails for a program that has no use for it.
    """

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = value
        unknown._value_ = value
        return unknown

    @property
    def is_known(self) -> bool:
        return self._name_ in type(self).__members__

    # What these give for such an enum differs between versions of Python.
    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, spec: str) -> str:
        return str.__format__(self, spec)


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """What the server sent, as attributes."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The JSON object as it came, with fields that this version does not know."""


def parse_timestamp(text: str) -> datetime:
    # Python 3.10 does not read the `Z`.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def parse_given(given: datetime | str) -> datetime:
    """A time that a caller wrote: any RFC 3339, of which Python 3.10 reads only a part."""
    if isinstance(given, datetime):
        return given
    text = given.upper().replace("Z", "+00:00")
    return datetime.fromisoformat(re.sub(r"\.(\d+)", lambda fraction: f".{fraction[1][:6]:0<6}", text))


def parse_date(text: str) -> date:
    return date.fromisoformat(text)


def optional(parse: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else parse(value)


def query_text(value: object) -> str:
    """A value of a query as the server reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone; use datetime.now(timezone.utc) and the like")
        return value.isoformat()
    return str(value)


def body_value(value: object) -> object:
    """For values that the json module does not know. Limits have 15 digits at most, so a float keeps a Decimal exactly."""
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} cannot be sent")
