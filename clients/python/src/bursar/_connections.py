"""Connections to one server: kept open between requests, shared by threads, through a proxy if the environment names one.

The standard library does all that this needs, so the package has no dependencies that could conflict with yours.
"""

from __future__ import annotations

import base64
import http.client
import ssl
import time
import urllib.parse
import urllib.request
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

BODY_MAX_BYTES = 64 * 1024 * 1024


class Lost(Exception):
    """There was no response, or only a part of it. The request may have been processed."""


class Untrusted(Exception):
    """The server's certificate is not trusted. Trying again would not help."""


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


class Connections:
    def __init__(self, base_url: str, context: ssl.SSLContext | None) -> None:
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"base_url must be like https://bursar.example.org, got {base_url!r}")
        if parts.username is not None:
            raise ValueError("base_url must have no user and password; the token is an argument of its own")
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._context = (context or ssl.create_default_context()) if parts.scheme == "https" else None
        self._proxy, credentials = proxy_for(parts)
        # A proxy gets the whole address and its credentials with each request. With TLS it only learns where to connect to.
        self._tunnel_headers = credentials
        self._headers: dict[str, str] = {}
        if self._proxy and not self._context:
            self._prefix = f"http://{parts.netloc}{self._prefix}"
            self._headers = credentials
        self._idle: deque[http.client.HTTPConnection] = deque()

    def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, seconds: float
    ) -> Response:
        """Takes `seconds` at most, from connecting to the last byte. Raises `Lost` or `Untrusted`."""
        deadline = time.monotonic() + seconds
        try:
            while True:
                try:
                    connection, is_reused = self._idle.pop(), True
                except IndexError:
                    connection, is_reused = self._open(), False
                try:
                    return self._exchange(connection, method, self._prefix + target, headers, body, deadline)
                except (OSError, http.client.HTTPException) as error:
                    connection.close()
                    # A server closes connections that are idle for long. That is no failure yet.
                    if not is_reused or isinstance(error, TimeoutError):
                        raise
        except ssl.SSLCertVerificationError as error:
            raise Untrusted(str(error)) from error
        except (OSError, http.client.HTTPException) as error:
            raise Lost(f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _open(self) -> http.client.HTTPConnection:
        host, port = self._proxy or (self._host, self._port)
        if not self._context:
            return http.client.HTTPConnection(host, port)
        connection = http.client.HTTPSConnection(host, port, context=self._context)
        if self._proxy:
            connection.set_tunnel(self._host, self._port or 443, self._tunnel_headers)
        return connection

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: float,
    ) -> Response:
        connection.timeout = remaining(deadline)
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        connection.request(method, target, body, {**headers, **self._headers})
        sock = connection.sock
        sock.settimeout(remaining(deadline))
        response = connection.getresponse()
        content = bytearray()
        while response.length != 0:
            sock.settimeout(remaining(deadline))
            part = response.read1(65536)
            if not part:
                break
            content += part
            if len(content) > BODY_MAX_BYTES:
                raise http.client.HTTPException("the response is too long")
        # `read1` ends without complaint when the connection does.
        if response.length:
            raise http.client.IncompleteRead(bytes(content), response.length)
        response.close()
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        names = {name.lower(): value for name, value in response.getheaders()}
        return Response(response.status, names, bytes(content))


def remaining(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("no response in time")
    return seconds


def proxy_for(url: urllib.parse.SplitResult) -> tuple[tuple[str, int | None] | None, dict[str, str]]:
    """The proxy that the environment names (HTTPS_PROXY, HTTP_PROXY, less NO_PROXY), and the headers it wants."""
    named = urllib.request.getproxies().get(url.scheme)
    if not named or urllib.request.proxy_bypass(url.netloc):
        return None, {}
    proxy = urllib.parse.urlsplit(named if "://" in named else f"http://{named}")
    if proxy.username is None:
        return (proxy.hostname or "", proxy.port), {}
    pair = f"{urllib.parse.unquote(proxy.username)}:{urllib.parse.unquote(proxy.password or '')}"
    return (proxy.hostname or "", proxy.port), {
        "Proxy-Authorization": "Basic " + base64.b64encode(pair.encode()).decode()
    }
