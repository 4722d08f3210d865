"""Collects deliveries, for the official libraries to verify: of `bursar listen` and of the server's own endpoints, before,
during and after the rotation of a secret.

Takes from the environment: BURSAR (the program), BURSAR_DATABASE, BURSAR_URL, BURSAR_TOKEN, ORGANIZATION. `deliveries.py FILE`
writes one JSON a line.
"""

import base64
import http.server
import itertools
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time
import urllib.request

URL, TOKEN, BURSAR = (os.environ[name] for name in ("BURSAR_URL", "BURSAR_TOKEN", "BURSAR"))
ORGANIZATION = os.environ["ORGANIZATION"]
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
came = queue.Queue()
names = (f"Name {number}" for number in itertools.count())


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        assert self.headers["content-type"] == "application/json", self.headers
        assert self.headers["user-agent"].startswith("bursar/"), self.headers
        came.put(({name: self.headers[name] for name in HEADERS}, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


def call(method, path, body=None):
    request = urllib.request.Request(URL + path, body and json.dumps(body).encode(), method=method)
    request.add_header("Authorization", f"Bearer {TOKEN}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def bursar(*args):
    done = subprocess.run([BURSAR, *args, "--json"], capture_output=True, text=True)
    assert done.returncode == 0, (args, done.stderr)
    return json.loads(done.stdout)


def delivered(event_type):
    """The next delivery of this type."""
    deadline = time.monotonic() + 60
    while True:
        headers, body = came.get(timeout=max(0.1, deadline - time.monotonic()))
        if json.loads(body)["type"] == event_type:
            return headers, body


def renamed(member):
    """The delivery of a change."""
    name = next(names)
    call("PATCH", f"/v1/members/{member}", {"firstName": name})
    while True:
        headers, body = delivered("member.updated")
        if json.loads(body)["data"]["firstName"] == name:
            return headers, body


def secret():
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


def main(file):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    to = f"http://127.0.0.1:{server.server_port}/hooks"
    member = call("GET", "/v1/members?limit=1")["data"][0]["id"]
    lines = []

    def keep(delivery, good, bad):
        headers, body = delivery
        assert len(headers["webhook-signature"].split()) == len(good), headers
        lines.append({"headers": headers, "body": body, "good": good, "bad": bad})

    # A developer's machine: one secret, and two as during a rotation.
    one, two = secret(), secret()
    for good, bad in (([one], [two]), ([one, two], [secret()])):
        args = [arg for each in good for arg in ("--secret", each)]
        listen = subprocess.Popen(
            [BURSAR, "listen", "--json", "--url", URL, "--forward-to", to, *args],
            stdout=subprocess.PIPE, text=True, env={"BURSAR_TOKEN": TOKEN},
        )
        listen.stdout.readline()
        keep(renamed(member), good, bad)
        listen.terminate()
        listen.wait()

    # An endpoint of the server.
    made = bursar("webhook", "create", "--organization", ORGANIZATION, "--url", to)
    webhook, first = made["id"], made["secret"]
    keep(renamed(member), [first], [one])
    second = bursar("webhook", "rotate", webhook)["secret"]
    keep(renamed(member), [first, second], [one])
    bursar("webhook", "test", webhook)
    keep(delivered("test"), [first, second], [one])
    third = bursar("webhook", "rotate", webhook, "--overlap-hours", "0")["secret"]
    keep(renamed(member), [third], [first, second])
    pathlib.Path(file).write_text("".join(json.dumps(line) + "\n" for line in lines))


main(sys.argv[1])
