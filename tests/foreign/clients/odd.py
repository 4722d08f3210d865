"""A server that behaves oddly. The first part of the path says how: a client's base URL is ADDRESS/BEHAVIOUR.

Runs a program until it ends, with ODD_URL in its environment, and for TLS SECURE_URL with ODD_CERTIFICATE. It is a proxy too. GET
ADDRESS/BEHAVIOUR/requests has the headers of all requests so far. `odd.py COMMAND…`.
"""

import collections
import http.server
import json
import os
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

came = collections.defaultdict(list)
GROUP = {
    "id": "grp_1", "name": "Odd", "description": "", "amountDue": None, "dueDate": None, "isRecurring": True,
    "recurringInterval": "fortnightly", "memberCount": 1, "createdAt": "2026-01-02T03:04:05.000006Z",
    "updatedAt": "2026-01-02T03:04:05.000006Z", "colour": "blue",
}
EVENT = {
    "id": "evt_1", "type": "boat.launched", "createdAt": "2026-01-02T03:04:05.000006Z", "organizationId": "org_1",
    "resource": "boat", "resourceId": "boat_1", "data": {"id": "boat_1"}, "changed": [],
    "actor": {"kind": "robot", "id": None}, "requestId": None,
}


class Odd(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self):
        # A proxy gets the whole address.
        _, behaviour, *rest = urllib.parse.urlsplit(self.path).path.split("/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if rest == ["requests"]:
            return self.respond(200, came[behaviour])
        came[behaviour].append({name.lower(): value for name, value in self.headers.items()} | {"body": body.decode()})
        getattr(self, behaviour)(len(came[behaviour]))

    do_GET = do_POST = handle_any

    def do_CONNECT(self):
        """A tunnel, to this machine alone."""
        came["connect"].append({name.lower(): value for name, value in self.headers.items()})
        self.send_response(200)
        self.end_headers()
        with socket.create_connection(("127.0.0.1", int(self.path.rpartition(":")[2]))) as to:
            ends = {self.connection: to, to: self.connection}
            while True:
                for ready in select.select(list(ends), [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        self.close_connection = True
                        return
                    ends[ready].sendall(data)

    def respond(self, status, value, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def newer(self, _):
        if "/events" in self.path:
            self.respond(200, {"data": [EVENT], "hasMore": False, "nextCursor": None, "total": 1})
        else:
            self.respond(200, GROUP)

    tunnelled = newer

    def older(self, _):
        self.respond(200, {"id": "grp_1"})

    def limited(self, count):
        error = {"error": {"code": "rate_limited", "message": "wait", "requestId": "req_1", "docsUrl": "http://docs"}}
        self.respond(429, error, Retry_After="1") if count < 3 else self.respond(201, GROUP)

    def busy(self, _):
        error = {"error": {"code": "rate_limited", "message": "wait", "requestId": "req_1", "docsUrl": "http://docs"}}
        self.respond(429, error, Retry_After="60")

    def in_use(self, count):
        error = {"error": {"code": "idempotency_key_in_use", "message": "wait", "requestId": "req_1", "docsUrl": "x"}}
        self.respond(409, error) if count < 2 else self.respond(201, GROUP)

    def down(self, _):
        self.respond(503, {"error": {"code": "unavailable", "message": "no", "requestId": "req_1", "docsUrl": "x"}})

    def page(self, _):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"hi")

    def moved(self, _):
        self.respond(302, {}, Location="/elsewhere/v1/groups/grp_1")

    def elsewhere(self, _):
        self.respond(200, GROUP)

    def silent(self, _):
        time.sleep(5)

    def drip(self, _):
        """Each byte comes in time, all of them do not."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "1000")
        self.end_headers()
        for _ in range(50):
            try:
                self.wfile.write(b" ")
            except OSError:
                break
            time.sleep(0.1)
        self.close_connection = True

    def closing(self, _):
        """Closes the connection after the response without saying so, as servers do with idle ones."""
        self.respond(200, GROUP)
        self.close_connection = True

    def log_message(self, *args):
        pass


def listen():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.daemon_threads = True
    return server


def start(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


with tempfile.TemporaryDirectory() as folder:
    key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        + ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, stderr=subprocess.DEVNULL,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    secure = listen()
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    odd = {"ODD_URL": f"http://127.0.0.1:{start(listen())}", "SECURE_URL": f"https://localhost:{start(secure)}"}
    done = subprocess.run(sys.argv[1:], env=os.environ | odd | {"ODD_CERTIFICATE": certificate})
sys.exit(done.returncode)
