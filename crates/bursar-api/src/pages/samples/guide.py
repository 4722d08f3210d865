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


def sync():
    """Bring the copy up to date."""
    global since
    latest = since
    for member in bursar.members.list(limit=100, updated_since=since):
        copy[member.id] = member
        latest = member.updated_at  # Oldest change first: the last one's is the largest.
    since = latest  # Only now that the walk is finished.


sync()  # All of them.
sync()  # What changed since.
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

# How often a request is sent at most, with pauses between.
bursar = Bursar(base_url="http://127.0.0.1:8080", max_attempts=8)
print(bursar.get_token().name)

# [receive]
import http.server
import os

from bursar import webhooks

SECRET = os.environ["WEBHOOK_SECRET"]
last = {}  # The last event of each resource.


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = webhooks.verify(body, self.headers, SECRET)
        except ValueError:
            self.send_response(401)
        else:
            apply(event)
            self.send_response(204)  # Only now that the event is safe.
        self.end_headers()


def apply(event):
    held = last.get(event.resource_id)
    # A repetition or an older event changes nothing.
    if held is None or event.created_at > held.created_at:
        last[event.resource_id] = event
        print(event.type, event.resource_id, flush=True)


http.server.HTTPServer(("127.0.0.1", 3000), Receiver).serve_forever()

# [catch_up]
from bursar import Bursar

bursar = Bursar(base_url="http://127.0.0.1:8080")
since = None  # The created_at of the last event that you have.

for event in bursar.events.list(limit=100, created_since=since):
    print(event.created_at, event.type, event.resource_id)
    since = event.created_at
