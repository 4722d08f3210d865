"""A typed client of bursar's API.

from bursar import Bursar

bursar = Bursar()  # BURSAR_TOKEN and BURSAR_URL from the environment
for member in bursar.members.list(is_active=True):
    print(member.first_name, member.id)
"""

from . import webhooks
from ._client import Bursar
from ._errors import (
    BursarError,
    Conflict,
    ConnectionFailed,
    EventsGone,
    InsufficientScope,
    InvalidRequest,
    InvalidSignature,
    InvalidToken,
    NotFound,
    RateLimited,
    ServerError,
    UnexpectedResponse,
)
from ._generated import enums as _enums
from ._generated import models as _models
from ._generated.enums import *  # noqa: F403
from ._generated.models import *  # noqa: F403
from ._http import new_key
from ._paging import Page, Walk
from ._values import Model
from ._version import VERSION as __version__

__all__ = [
    "Bursar",
    "BursarError",
    "Conflict",
    "ConnectionFailed",
    "EventsGone",
    "InsufficientScope",
    "InvalidRequest",
    "InvalidSignature",
    "InvalidToken",
    "Model",
    "NotFound",
    "Page",
    "RateLimited",
    "ServerError",
    "UnexpectedResponse",
    "Walk",
    "__version__",
    "new_key",
    "webhooks",
]
__all__ += _enums.__all__
__all__ += _models.__all__
