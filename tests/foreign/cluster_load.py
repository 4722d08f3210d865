"""Clients of three replicas, and what they are told: writers with idempotency keys, walkers, and holders of tokens that are
revoked. Each response is remembered, so that the database can be compared with it afterwards.
"""

import collections
import http.client
import json
import subprocess
import threading
import time
import uuid

from replicas import BURSAR

# Above a replica's own --request-timeout, 30 s.
TIMEOUT = 45
WRITERS, WALKERS, HOLDERS_EACH = 6, 2, 3


class Client:
    """One thread's connections to the replicas."""

    def __init__(self, ports):
        self.ports, self.connections = ports, {}

    def ask(self, place, method, path, token, body=None, key=None):
        """The status and the parsed body; status 0 if there is no response."""
        headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": key}
            body = json.dumps(body)
        # A server may close a connection that idles, and the request that finds out is sent again on a new one.
        for connection in filter(None, (self.connections.pop(place, None), self.connect(place))):
            try:
                connection.request(method, path, body, headers)
                response = connection.getresponse()
                told = response.read()
            except (ConnectionError, http.client.BadStatusLine):
                connection.close()
                continue
            except (OSError, http.client.HTTPException):
                connection.close()
                break
            if response.headers.get("Connection") != "close":
                self.connections[place] = connection
            return response.status, json.loads(told)
        return 0, None

    def connect(self, place):
        return http.client.HTTPConnection("127.0.0.1", self.ports[place], timeout=TIMEOUT)


class Write:
    def __init__(self, method, path, body):
        self.method, self.path, self.body, self.key = method, path, body, str(uuid.uuid4())
        self.attempts, self.told = 0, None


class Load:
    def __init__(self, ports, token, members):
        self.ports, self.token = ports, token
        self.stopped, self.lock = threading.Event(), threading.Lock()
        self.statuses = collections.Counter()
        # When each replica acknowledged writes.
        self.acknowledged = [[] for _ in ports]
        self.creates, self.patches = [], []
        self.walks, self.wrong_walks, self.failures = 0, [], []
        self.tokens = []
        self.threads = [threading.Thread(target=self.guarded, args=work, daemon=True) for work in [
            *((self.write, number, members[number % len(members)]) for number in range(WRITERS)),
            *((self.walk, number) for number in range(WALKERS)),
            *((self.hold, place) for place in range(len(ports)) for _ in range(HOLDERS_EACH)),
        ]]

    def start(self):
        for thread in self.threads:
            thread.start()

    def end(self):
        """Every write that was begun is acknowledged before this returns."""
        self.stopped.set()
        for thread in self.threads:
            thread.join(150)
            assert not thread.is_alive(), "a client got no response for 150 s"
        assert not self.failures, self.failures[:5]

    def forget_times(self):
        with self.lock:
            self.acknowledged = [[] for _ in self.ports]

    def guarded(self, work, *arguments):
        try:
            work(*arguments)
        except Exception as error:
            self.failures.append(f"{work.__name__}: {error!r}")

    def ask(self, client, place, *request, **more):
        status, told = client.ask(place, *request, **more)
        with self.lock:
            self.statuses[status] += 1
        if status not in (0, 200, 201, 401, 503) and not (status == 409 and told["error"]["code"] == "idempotency_key_in_use"):
            self.failures.append(f"{request[:2]} got {status}: {told}")
        return status, told

    def perform(self, client, number, write):
        """Sends it until it is acknowledged, with the same key. Half of the writers stay with one replica, so that its recovery
        is seen; the others try the next one each time."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            place = (number if number < len(self.ports) else number + write.attempts) % len(self.ports)
            write.attempts += 1
            status, told = self.ask(client, place, write.method, write.path, self.token, body=write.body, key=write.key)
            if status in (200, 201):
                write.told, write.at = told, time.monotonic()
                with self.lock:
                    self.acknowledged[place].append(write.at)
                return told
            time.sleep(0.1)
        raise AssertionError(f"{write.method} {write.path} was not acknowledged within 120 s")

    def write(self, number, member):
        client, count = Client(self.ports), 0
        own = Write("POST", "/v1/groups", {"name": f"Own {number}"})
        self.perform(client, number, own)
        self.creates.append(own)
        while not self.stopped.wait(0.03):
            count += 1
            if count % 2:
                write, made = Write("POST", "/v1/groups", {"name": f"Made {number}-{count}"}), self.creates
            elif count % 6:
                write = Write("PATCH", f"/v1/groups/{own.told['id']}", {"description": f"Change {number}-{count}"})
                made = self.patches
            else:
                write, made = Write("PATCH", f"/v1/members/{member}", {"lastName": f"Change {number}-{count}"}), self.patches
            self.perform(client, number, write)
            made.append(write)

    def walk(self, number):
        client, place = Client(self.ports), number
        while not self.stopped.wait(0.05):
            known = {write.told["id"] for write in list(self.creates)}
            seen, cursor = [], ""
            while cursor is not None and not self.stopped.is_set():
                # Every page from another replica.
                place = (place + 1) % len(self.ports)
                status, told = self.ask(client, place, "GET", f"/v1/groups?limit=100{cursor}", self.token)
                if status != 200:
                    time.sleep(0.1)
                    continue
                seen += [group["id"] for group in told["data"]]
                cursor = f"&cursor={told['nextCursor']}" if told["nextCursor"] else None
            if cursor is None:
                self.compare(known, seen)

    def compare(self, known, seen):
        with self.lock:
            self.walks += 1
            if len(seen) != len(set(seen)) or known - set(seen):
                repeated = len(seen) - len(set(seen))
                self.wrong_walks.append(f"{len(seen)} rows, {repeated} repeated, {len(known - set(seen))} skipped")

    def hold(self, place):
        """Calls one replica with every token that is watched."""
        client = Client(self.ports)
        while not self.stopped.wait(0.02):
            for token in list(self.tokens):
                asked_at = time.monotonic()
                status, _ = self.ask(client, place, "GET", "/v1/groups?limit=1", token.secret)
                token.note(place, status, asked_at)
                if status == 0:
                    time.sleep(0.2)


class Token:
    """A token that is revoked while it is used."""

    def __init__(self, database, organization, name):
        self.environment = {"BURSAR_DATABASE": database, "BURSAR_ORGANIZATION": organization}
        made = self.run("token", "create", "--json", "--user", "ada@example.org", "--name", name, "--scopes", "groups:read")
        made = json.loads(made.stdout)
        self.id, self.secret, self.name = made["id"], made["secret"], name
        self.revoked_at, self.accepted, self.refused, self.stale = None, 0, 0, []

    def run(self, *arguments):
        return subprocess.run([BURSAR, *arguments], env=self.environment, capture_output=True, text=True, timeout=120)

    def revoke(self):
        """Until it is acknowledged."""
        for _ in range(60):
            done = self.run("token", "revoke", "--yes", self.id)
            if done.returncode == 0 or "revoked" in done.stderr:
                self.revoked_at = time.monotonic()
                return
            time.sleep(0.2)
        raise AssertionError(f"{self.name} cannot be revoked: {done.stderr}")

    def note(self, place, status, asked_at):
        if status == 401:
            self.refused += 1
        elif status == 200:
            self.accepted += 1
            if self.revoked_at is not None and asked_at > self.revoked_at:
                self.stale.append((place, round(asked_at - self.revoked_at, 2), round(time.monotonic() - asked_at, 2)))
