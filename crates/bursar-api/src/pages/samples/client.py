# [setup]
import os
import random
import time
import uuid

import requests

BASE_URL = "http://127.0.0.1:8080"
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["BURSAR_TOKEN"]


# [call]
def call(method, path, key=None, attempts=8, **options):
    """Sends a request, and sends it again where that is safe and may help."""
    headers = {"Idempotency-Key": key} if key else {}
    for attempt in range(attempts):
        wait = 0.0
        try:
            response = session.request(method, BASE_URL + path, headers=headers, timeout=40, **options)
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError):
            pass  # No response, or part of one: it may have taken effect. Repeating it with the same key is safe.
        else:
            if response.ok:
                return response.json()
            in_use = response.status_code == 409 and response.json()["error"]["code"] == "idempotency_key_in_use"
            if not in_use and response.status_code not in (429, 500, 502, 503, 504):
                error = response.json()["error"]
                raise RuntimeError(f"{error['code']}: {error['message']} ({error['requestId']})")
            wait = float(response.headers.get("Retry-After", 0))
        # Never sooner than Retry-After; the random part spreads the retries of several workers.
        time.sleep(wait + random.uniform(0, min(30, 2**attempt)))
    raise RuntimeError(f"{method} {path}: gave up after {attempts} attempts")


# [sync]
def walk(path, since=None):
    """Every row of a list, as all of them were when the walk began."""
    params = {"limit": 100}
    if since:
        params["updatedSince"] = since
    while True:
        page = call("GET", path, params=params)
        yield from page["data"]
        if not page["hasMore"]:
            return
        params["cursor"] = page["nextCursor"]


def sync(path, copy, since=None):
    """Brings a copy, a dict by id, up to date. Keep what it returns as the next `since`."""
    for row in walk(path, since):
        copy[row["id"]] = row
        since = row["updatedAt"]  # Rows come oldest change first: the last one's is the largest.
    return since


# [verify]
import base64
import hmac
import json


def verify(secret, headers, body):
    """The event of a delivery. Raises ValueError unless the secret signed it in the last five minutes."""
    id, seconds, signatures = (headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if abs(time.time() - int(seconds)) > 300:
        raise ValueError("an old delivery that somebody sent again")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    code = hmac.digest(key, f"{id}.{seconds}.".encode() + body, "sha256")
    expected = b"v1," + base64.b64encode(code)
    # While a secret is rotated there are two signatures.
    if not any(hmac.compare_digest(expected, one.encode()) for one in signatures.split()):
        raise ValueError("not signed with this secret")
    return json.loads(body)


# [receive]
import http.server


class Receiver(http.server.BaseHTTPRequestHandler):
    """Its server has a `secret` and a `copy`: the last event of each resource, by the resource's id."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = verify(self.server.secret, self.headers, body)
        except ValueError:
            self.send_response(401)
        else:
            apply(self.server.copy, event)
            self.send_response(204)  # Only now that the event is safe, and within 15 seconds.
        self.end_headers()


# [apply]
def apply(copy, event):
    """Applies an event to a copy. Drops an event that is not newer than the stored one."""
    if event["type"] == "test":
        return
    held = copy.get(event["resourceId"])
    if held is None or event["createdAt"] > held["createdAt"]:
        copy[event["resourceId"]] = event


# [catch_up]
def catch_up(copy, since):
    """Fetches the events since a time. Keep what it returns as the next `since`."""
    params = {"limit": 100, "createdSince": since}
    while True:
        page = call("GET", "/v1/events", params=params)
        for event in page["data"]:
            apply(copy, event)
            since = event["createdAt"]
        if not page["hasMore"]:
            return since
        params["cursor"] = page["nextCursor"]


# [first]
for member in walk("/v1/members"):
    print(member["id"], member["firstName"], member["lastName"])


# [write]
key = str(uuid.uuid4())  # Make it once, and keep it with the job until the job is done.
group = call("POST", "/v1/groups", key=key, json={"name": "Alumni"})
