"""How the Python client takes what the server of odd.py does. behaviour.ts does the same."""

import base64
import json
import os
import socket
import ssl
import time
import urllib.request
from collections.abc import Callable
from typing import Any, TypeVar

from bursar import (
    Bursar,
    BursarError,
    ConnectionFailed,
    RateLimited,
    ServerError,
    UnexpectedResponse,
    UnknownEvent,
)

ODD = os.environ["ODD_URL"]
E = TypeVar("E", bound=BursarError)


def client(behaviour: str, **options: Any) -> Bursar:
    return Bursar("odd_token", f"{ODD}/{behaviour}/", **options)


def requests(behaviour: str) -> list[dict[str, str]]:
    directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with directly.open(f"{ODD}/{behaviour}/requests") as response:
        found: list[dict[str, str]] = json.load(response)
        return found


def refused(kind: type[E], call: Callable[[], object]) -> E:
    try:
        call()
    except kind as error:
        assert "odd_token" not in f"{error!r} {error}"
        return error
    raise AssertionError(f"not refused with {kind.__name__}")


def seconds(call: Callable[[], object]) -> float:
    started = time.monotonic()
    call()
    return time.monotonic() - started


# A newer server: words, fields and events that nobody knew.
group = client("newer").groups.get("grp_1")
assert group.recurring_interval == "fortnightly" and not group.recurring_interval.is_known
assert group.raw["colour"] == "blue"
(event,) = client("newer").events.list()
assert isinstance(event, UnknownEvent) and event.type == "boat.launched" and event.data["id"] == "boat_1"
assert not event.actor.kind.is_known
# An older one, which lacks fields.
assert "firstName" not in str(refused(UnexpectedResponse, lambda: client("older").groups.get("grp_1")))

# Waits as long as the server asks, and keeps the key.
assert 2 <= seconds(lambda: client("limited").groups.create(name="Odd")) < 10
keys = [request["idempotency-key"] for request in requests("limited")]
assert len(keys) == 3 and len(set(keys)) == 1 and len(keys[0]) == 36
assert {request["body"] for request in requests("limited")} == {'{"name": "Odd"}'}
client("in_use").groups.create(name="Odd", idempotency_key="mine")
assert [request["idempotency-key"] for request in requests("in_use")] == ["mine", "mine"]
# Not at all if that is longer than there is time.
busy = client("busy", timeout=5)
assert seconds(lambda: refused(RateLimited, lambda: busy.groups.get("grp_1"))) < 1
error = refused(RateLimited, lambda: busy.groups.create(name="Odd", idempotency_key="mine"))
assert (error.retry_after, error.request_id, error.idempotency_key) == (60, "req_1", "mine")

# Gives up: after so many attempts, or when the time is over.
refused(ServerError, lambda: client("down", max_retries=2).groups.get("grp_1"))
assert len(requests("down")) == 3
silent = client("silent", attempt_timeout=0.3).with_options(timeout=1)
assert 0.3 <= seconds(lambda: refused(ConnectionFailed, lambda: silent.groups.get("grp_1"))) < 2
assert len(requests("silent")) >= 1
drip = client("drip", attempt_timeout=0.5, max_retries=0)
assert 0.4 < seconds(lambda: refused(ConnectionFailed, lambda: drip.groups.get("grp_1"))) < 2
with socket.socket() as unused:
    unused.bind(("127.0.0.1", 0))
    nobody = Bursar("odd_token", f"http://127.0.0.1:{unused.getsockname()[1]}", max_retries=1)
    assert "2 times" in str(refused(ConnectionFailed, nobody.get_token))

# Not bursar, and not where a token should be sent.
refused(UnexpectedResponse, lambda: client("page").groups.get("grp_1"))
refused(UnexpectedResponse, lambda: client("moved").groups.get("grp_1"))
assert len(requests("page")) == 1 and requests("elsewhere") == []

# A connection that was closed while idle is no reason for a pause.
closing = client("closing", max_retries=0)
for _ in range(3):
    closing.groups.get("grp_1")
    time.sleep(0.05)
assert len(requests("closing")) == 3

# TLS: only whom it trusts, also through a proxy that the environment names.
SECURE = os.environ["SECURE_URL"]
untrusted = Bursar("odd_token", f"{SECURE}/newer")
assert "certificate" in str(refused(ConnectionFailed, lambda: untrusted.groups.get("grp_1")))
trust = ssl.create_default_context(cafile=os.environ["ODD_CERTIFICATE"])
assert Bursar("odd_token", f"{SECURE}/newer", ssl_context=trust).groups.get("grp_1").name == "Odd"
os.environ.update({name: ODD.replace("//", "//me:p%40ss@") for name in ("http_proxy", "https_proxy")}, no_proxy="")
basic = "Basic " + base64.b64encode(b"me:p@ss").decode()
assert Bursar("odd_token", "http://bursar.invalid/elsewhere").groups.get("grp_1").name == "Odd"
(proxied,) = requests("elsewhere")
assert (proxied["host"], proxied["proxy-authorization"]) == ("bursar.invalid", basic)
through = Bursar("odd_token", f"{SECURE}/tunnelled", ssl_context=trust)
assert [through.groups.get("grp_1").name for _ in range(2)] == ["Odd", "Odd"]
(connect,) = requests("connect")
assert connect["proxy-authorization"] == basic and "authorization" not in connect
assert all("proxy-authorization" not in request for request in requests("tunnelled"))
os.environ.update(http_proxy="http://127.0.0.1:1", no_proxy="127.0.0.1")
assert client("newer").groups.get("grp_1").name == "Odd"

for wrong in ("", "bursar.example.org", "ftp://x", "http://user:secret@x", "http://x/?y"):
    try:
        Bursar("odd_token", wrong)
    except ValueError as refusal:
        assert "odd_token" not in str(refusal)
    else:
        raise AssertionError(f"{wrong} is taken for an address")
for token in ("", "two words", "line\nend"):
    try:
        Bursar(token, ODD)
    except ValueError as refusal:
        assert token == "" or token not in str(refusal)
    else:
        raise AssertionError("a header that cannot be sent")
print("bursar for Python: behaves among odd servers")
