"""A server, clients that write to it without a pause, and what a database has of their writes.

Takes from the environment: BURSAR (the binary), BURSAR_DATABASE, BURSAR_TOKEN, FOLDER (for the server's log).
"""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import threading
import time
import uuid

BURSAR, TOKEN, FOLDER = os.environ["BURSAR"], os.environ["BURSAR_TOKEN"], pathlib.Path(os.environ["FOLDER"])
# Nothing outlives this program.
BOUND = ["setpriv", "--pdeathsig", "KILL", "--"]


def bursar(command, database):
    told = subprocess.run([BURSAR, command, "--database", database], capture_output=True, text=True)
    assert told.returncode == 0, f"bursar {command}: {told.stdout[-500:]}{told.stderr[-500:]}"
    return told.stdout


def groups(database):
    """When each group of a database was created, by its name."""
    rows = (json.loads(line) for line in bursar("export", database).splitlines())
    return {row["name"]: row["createdAt"] for row in rows if row["type"] == "group"}


class Server:
    """Without a worker, which would write by itself."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        limits = [f"--rate-limit-{kind}=1000000000" for kind in ("read", "write", "messaging")]
        self.process = subprocess.Popen(
            [*BOUND, BURSAR, "serve", "--listen", f"127.0.0.1:{self.port}", "--no-worker", "--log-level", "warn", *limits],
            stdout=subprocess.PIPE, stderr=open(FOLDER / "serve.log", "a"), text=True,
        )
        assert self.process.stdout.readline().startswith("listening"), (FOLDER / "serve.log").read_text()[-500:]

    def kill(self):
        self.process.kill()
        self.process.wait()


class Writers:
    """Eight clients that create groups. `acknowledged` has when each response was there, by the group's name."""

    def __init__(self, port):
        self.port, self.stopped, self.acknowledged = port, threading.Event(), {}
        self.threads = [threading.Thread(target=self.work, daemon=True) for _ in range(8)]
        for thread in self.threads:
            thread.start()

    def work(self):
        connection = None
        while not self.stopped.is_set():
            name = f"Boat {uuid.uuid4()}"
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            headers["Idempotency-Key"] = str(uuid.uuid4())
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                connection.request("POST", "/v1/groups", json.dumps({"name": name}), headers)
                response = connection.getresponse()
                response.read()
            except (OSError, http.client.HTTPException):
                connection = None
                self.stopped.wait(0.05)
                continue
            if response.status == 201:
                self.acknowledged[name] = time.time()
            else:
                # The database is away.
                assert response.status == 503, response.status
                self.stopped.wait(0.05)

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        return self.acknowledged


def write_for(server, seconds):
    writers = Writers(server.port)
    time.sleep(seconds)
    return writers.end()
