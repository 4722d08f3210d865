# [start]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")
token = bursar.get_token()
print(token.name, token.effective_scopes)

# [list]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")

for member in bursar.members.list():
    print(member.id, member.first_name, member.last_name)

# [sync]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")
copy, since = {}, None


def sync(since):
    """Bring the copy up to date. Save what it returns for the next time."""
    walk = bursar.members.list(updated_since=since)
    for member in walk:
        copy[member.id] = member
    return walk.watermark  # The largest updated_at of the finished walk.


since = sync(since)  # All of them.
since = sync(since)  # What changed since.
print(len(copy), "members up to", since)

# [write]
from bursar import Bursar, new_key

bursar = Bursar(base_url="http://127.0.0.1:8080")

key = new_key()  # Save it with the job until the job is done.
group = bursar.groups.create(name="Alumni", idempotency_key=key)
same = bursar.groups.create(name="Alumni", idempotency_key=key)
assert same.id == group.id  # One effect, however often it is sent.

# [errors]
from bursar import Bursar, BursarError

bursar = Bursar(base_url="http://127.0.0.1:8080")

try:
    bursar.members.list(limit=0).first_page()
except BursarError as error:
    print(error.status, error.code, error.param)  # 400 invalid_request limit
    print(error.message, error.request_id, error.docs_url)

# [limits]
from bursar import Bursar

# Retries for a call at most, and seconds for all of them together.
bursar = Bursar(base_url="http://127.0.0.1:8080", max_retries=5, timeout=60)
print(bursar.get_token().name)

# [receive]
import http.server
import os

from bursar import InvalidSignature, webhooks

SECRET = os.environ["WEBHOOK_SECRET"]
last = {}  # The last event of each resource.


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = webhooks.verify(body, self.headers, SECRET)
        except InvalidSignature:
            self.send_response(401)
        else:
            apply(event)
            self.send_response(204)  # Only now that the event is safe.
        self.end_headers()


def apply(event):
    if event.type == "test":
        return
    held = last.get(event.resource_id)
    # A repetition or an older event changes nothing.
    if held is None or event.created_at > held.created_at:
        last[event.resource_id] = event
        print(event.type, event.resource_id, flush=True)


http.server.HTTPServer(("127.0.0.1", 3000), Receiver).serve_forever()

# [catch_up]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")

# The created_at of the last event that you have.
since = "2026-11-15T01:39:08.123456Z"
for event in bursar.catch_up(since):
    print(event.type, event.resource_id)
    since = event.created_at  # Save it together with the result of processing the event.
