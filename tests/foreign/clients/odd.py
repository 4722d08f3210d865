"""A server that behaves oddly. The first part of the path says how: a client's base URL is ADDRESS/BEHAVIOUR.

Runs a program with ODD_URL in its environment, until that ends. GET ADDRESS/BEHAVIOUR/requests has the headers of all
requests so far. `odd.py COMMAND…`.
"""

import collections
import http.server
import json
import os
import subprocess
import sys
import threading
import time

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
        _, behaviour, *rest = self.path.split("/")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if rest == ["requests"]:
            return self.respond(200, came[behaviour])
        came[behaviour].append({name.lower(): value for name, value in self.headers.items()} | {"body": body.decode()})
        getattr(self, behaviour)(len(came[behaviour]))

    do_GET = do_POST = handle_any

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


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.run(sys.argv[1:], env=os.environ | {"ODD_URL": f"http://127.0.0.1:{server.server_port}"}).returncode)
