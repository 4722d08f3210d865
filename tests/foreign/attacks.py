"""A client that behaves, beside others that do not. Each attack runs for some seconds against a server of its own, after
an idle run of the same server; the good client must see no failure, and 99 of 100 responses within a quarter of a second.

Takes from the environment: BURSAR, BURSAR_TOKENS (of the good client), BURSAR_TEST_SQLITE and BURSAR_TEST_POSTGRES_DB
(databases that have them), and CHAPTER, the id of a chapter.
"""

import http.client
import multiprocessing
import os
import pathlib
import random
import resource
import selectors
import signal
import socket
import string
import struct
import subprocess
import time
import zlib

BURSAR, TOKENS, CHAPTER = os.environ["BURSAR"], os.environ["BURSAR_TOKENS"].split(), os.environ["CHAPTER"]
SQLITE, POSTGRES = os.environ["BURSAR_TEST_SQLITE"], os.environ["BURSAR_TEST_POSTGRES_DB"]
FOLDER = pathlib.Path.cwd()
SECONDS = 12
P99_MAX = 0.25
# What 4,800 responses may cost that nobody takes: the room for their streams, and none for their bytes.
HELD_MAX = 64 << 20


def start(database, open_files):
    log = open(FOLDER / "server.log", "w")
    limit = None if open_files is None else lambda: resource.setrlimit(resource.RLIMIT_NOFILE, open_files)
    process = subprocess.Popen(
        [BURSAR, "serve", "--listen", "127.0.0.1:0", "--database", database, "--no-worker", "--log-level", "warn"],
        stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=limit,
    )
    line = process.stdout.readline()
    assert line.startswith("listening on http://"), (FOLDER / "server.log").read_text()
    host, port = line.strip().removeprefix("listening on http://").split(":")
    return process, (host, int(port))


def memory(process):
    pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def good_client(address, seconds, results):
    """40 requests a second from an address of its own: one on a kept connection, one on a new one, and so on."""
    times, failures = [], []
    make = lambda: http.client.HTTPConnection(*address, timeout=30, source_address=("127.0.0.2", 0))
    kept, until, number = make(), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        connection = kept if number % 2 else make()
        began = time.monotonic()
        try:
            headers = {"Authorization": f"Bearer {TOKENS[number % len(TOKENS)]}"}
            connection.request("GET", "/v1/members?limit=5", headers=headers)
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                failures.append(response.status)
        except OSError as error:
            failures.append(repr(error))
            kept = make() if connection is kept else kept
        times.append(time.monotonic() - began)
        if connection is not kept:
            connection.close()
        time.sleep(max(0, began + 0.025 - time.monotonic()))
    results.put((times, failures))


def measure(address, seconds):
    results = multiprocessing.Queue()
    client = multiprocessing.Process(target=good_client, args=(address, seconds, results))
    client.start()
    times, failures = results.get(timeout=seconds + 120)
    client.join()
    return sorted(times)[len(times) * 99 // 100], len(times), failures


def unknown_token():
    """Of the right form and with the right checksum, so that only the database can tell."""
    alphabet = string.digits + string.ascii_uppercase + string.ascii_lowercase
    secret = "".join(random.choices(alphabet, k=30))
    number, check = zlib.crc32(secret.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        check = alphabet[digit] + check
    return f"bursar_pat_{secret}{check}"


def connect(address, source):
    connection = socket.socket()
    connection.bind((source, 0))
    connection.settimeout(30)
    connection.connect(address)
    return connection


def ask_without_end(address, connections, request, seconds, pause=0):
    """Keeps so many connections, each with a request under way; one that is closed is opened again."""
    until = time.monotonic() + seconds
    selector, answered = selectors.DefaultSelector(), 0

    def begin():
        connection = connect(address, "127.0.0.1")
        connection.sendall(request())
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ)

    for _ in range(connections):
        begin()
    while time.monotonic() < until:
        for key, _ in selector.select(0.1):
            try:
                came = key.fileobj.recv(65536)
            except OSError:
                came = b""
            if came:
                answered += 1
                time.sleep(pause)
                try:
                    key.fileobj.sendall(request())
                    continue
                except OSError:
                    pass
            selector.unregister(key.fileobj)
            key.fileobj.close()
            begin()
    return answered


def many_names(address, seconds):
    names = "&".join(f"{number:x}" for number in range(6500))
    head = f"GET /v1/chapters/{CHAPTER}/members?{names} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    ask_without_end(address, 4, lambda: head, seconds, pause=0.004)


def unknown_tokens(address, seconds):
    one = lambda: f"GET /v1/members HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {unknown_token()}\r\n\r\n".encode()
    ask_without_end(address, 1500, one, seconds)


def readiness(address, seconds):
    ask_without_end(address, 100, lambda: b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", seconds)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def headers(stream, path):
    literal = lambda index, text: bytes([index, len(text)]) + text.encode()
    # :method GET and :scheme http from the static table, :path and :authority as literals.
    block = b"\x82\x86" + literal(0x04, path) + literal(0x01, "x")
    return frame(1, 5, stream, block)


def closed_windows(address, seconds):
    """Streams whose windows never open, on connections that are kept alive by other requests."""
    until, opened = time.monotonic() + seconds, []
    settings = frame(4, 0, 0, struct.pack(">HI", 4, 0))
    for number in range(48):
        connection = connect(address, f"127.0.0.{10 + number % 8}")
        connection.setblocking(False)
        path = "/v1/openapi.json" if number % 2 else "/docs"
        begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings + frame(4, 1, 0, b"")
        connection.sendall(begin + b"".join(headers(2 * stream + 1, path) for stream in range(100)))
        opened.append([connection, 201])
    while time.monotonic() < until:
        time.sleep(0.5)
        for entry in opened:
            connection, stream = entry
            try:
                while connection.recv(65536):
                    pass
            except OSError:
                pass
            try:
                connection.sendall(headers(stream, "/healthz"))
                entry[1] += 2
            except OSError:
                pass


def idle_connections(address, seconds):
    """Twice as many connections as the server may have files, of every idle kind; those that are closed come again."""
    until, opened = time.monotonic() + seconds, {}
    openings = [b"", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"PRI * HTTP/2.0\r\n"]

    def begin(number):
        connection = connect(address, "127.0.0.1")
        connection.setblocking(False)
        try:
            connection.sendall(openings[number % len(openings)])
        except OSError:
            pass
        opened[number] = connection

    for number in range(2000):
        begin(number)
    while time.monotonic() < until:
        for number, connection in list(opened.items()):
            try:
                if connection.recv(4096) != b"":
                    continue
            except BlockingIOError:
                continue
            except OSError:
                pass
            connection.close()
            begin(number)
        time.sleep(0.2)


def run(name, database, attackers, open_files=None, held_max=None):
    process, address = start(database, open_files)
    try:
        measure(address, 1)
        idle, _, broken = measure(address, SECONDS / 2)
        assert not broken, f"{name}: the good client fails without an attack: {broken[:5]}"
        before = memory(process)
        attacks = [multiprocessing.Process(target=each, args=(address, SECONDS + 2)) for each in attackers]
        for attack in attacks:
            attack.start()
        # From the beginning: the first moments, before anything is counted, are the worst.
        p99, count, failures = measure(address, SECONDS)
        grown = memory(process) - before
        for attack in attacks:
            attack.join()
            assert attack.exitcode == 0, f"{name}: an attacker failed"
        assert process.poll() is None, f"{name}: the server ended"
        print(f"{name}: {count} requests, {len(failures)} failed, p99 {p99 * 1000:.1f} ms (idle {idle * 1000:.1f} ms), "
              f"memory {grown / 2**20:+.0f} MiB", flush=True)
        wrong = failures[:5] if failures else None
        if p99 > P99_MAX:
            wrong = f"p99 is above {P99_MAX * 1000:.0f} ms"
        if held_max is not None and grown > held_max:
            wrong = f"it holds {grown / 2**20:.0f} MiB more than before"
        return None if wrong is None else f"{name}: {wrong}"
    finally:
        # It does not wait for balancers then.
        process.send_signal(signal.SIGINT)
        process.wait(60)


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    assert most >= 4096, "the attackers need 4096 open files"
    wrong = [
        run("thousands of names in a query", SQLITE, [many_names]),
        run("unknown tokens on PostgreSQL", POSTGRES, [unknown_tokens, readiness]),
        run("closed windows of HTTP/2", SQLITE, [closed_windows], held_max=HELD_MAX),
        run("idle connections", SQLITE, [idle_connections], open_files=(1024, 1024)),
    ]
    wrong = [each for each in wrong if each]
    assert not wrong, "\n".join(wrong)


if __name__ == "__main__":
    main()
