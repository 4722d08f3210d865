"""A proxy that spoils responses by turns: it does the work and cuts the connection, does it and sends half of the response,
refuses with 503 or 429, or responds like a proxy whose server is down."""

import http.client
import http.server
import itertools
import threading
import urllib.parse

# Not twice in a row for long, or programs would rightly give up.
WAYS = ["cut", None, "half", "503", None, "429", "502", None, None]


class Proxy:
    """`address` is its own, `requests` has the method, the path and the way of each request."""

    def __init__(self, url):
        self.requests = []
        handler = type("Handler", (Handler,), {"to": urllib.parse.urlsplit(url).netloc, "log": self.requests})
        handler.ways = itertools.cycle(WAYS)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{server.server_port}"

    def spoiled(self):
        return sum(how is not None for _, _, how in self.requests)


class Handler(http.server.BaseHTTPRequestHandler):
    def handle_any(self):
        how = next(self.ways)
        self.log.append((self.command, self.path, how))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if how in ("503", "429", "502"):
            self.send_response(int(how))
            if how != "502":
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(b"<html>not JSON</html>")
            return
        server = http.client.HTTPConnection(self.to)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        server.request(self.command, self.path, body or None, headers)
        response = server.getresponse()
        answer = response.read()
        if how == "cut":
            self.connection.close()
            return
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() != "transfer-encoding":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer[: len(answer) // 2] if how == "half" else answer)
        self.close_connection = True

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any

    def log_message(self, *args):
        pass
