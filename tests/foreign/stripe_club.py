"""A club with members who owe 25.00 each, its books in a database, and a provider in the shape of Stripe."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

import stripe
from stripe_shape import Stripe

BURSAR = os.environ["BURSAR"]
SECRET = "whsec_abcdefghijklmnopqrstuvwx"
ORG = "org_00000000000000000000000001"
ID = "0000000000000000000000"


def pay_id(n):
    return f"pay_{ID}{n:04d}"


def signed(body, secret=SECRET, at=None):
    at = int(at or time.time())
    return f"t={at},v1={stripe.WebhookSignature._compute_signature(f'{at}.{body}', secret)}"


def report_of(thing, kind="checkout.session.completed"):
    return json.dumps({"id": f"evt_{uuid.uuid4().hex}", "object": "event", "type": kind, "data": {"object": thing}})


class Club:
    def __init__(self, name, database, people, *options):
        self.database, self.engine, self.options = database, database.split(":")[0], options
        self.folder = pathlib.Path(f"{name}-{self.engine}").resolve()
        self.folder.mkdir()
        self.process = None
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        (self.folder / "key").write_text("rk_test_51abcdefghijklmnop4242\n")
        (self.folder / "secret").write_text(SECRET)
        if self.engine.startswith("postgres"):
            (self.folder / "sealing").write_text("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=\n")
            self.env["BURSAR_SECRET_KEY_FILE"] = str(self.folder / "sealing")
        self.shape = Stripe()
        try:
            self.found(people)
        except BaseException:
            self.close()
            raise

    def found(self, people):
        records = [{"type": "organization", "id": ORG, "name": "Club", "kind": "independent"}]
        for n in range(1, people + 1):
            member = f"mem_{ID}{n:04d}"
            records.append({"type": "member", "id": member, "organizationId": ORG, "firstName": f"M{n}", "lastName": "Moe",
                            "email": f"m{n}@example.org"})
            records.append({"type": "payment", "id": pay_id(n), "organizationId": ORG, "memberId": member,
                            "amount": "25.00", "description": f"Dues of {n} & more é", "status": "pending"})
        bundle = self.folder / "club.ndjson"
        bundle.write_text("".join(json.dumps(record) + "\n" for record in records))
        self.bursar("import", str(bundle))
        self.bursar("provider", "set", "--key-file", str(self.folder / "key"),
                    "--webhook-secret-file", str(self.folder / "secret"))
        tested = self.bursar("provider", "test", "--stripe-api", self.shape.url)
        assert tested == {"isLive": False, "currencies": ["USD"]}, tested

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        self.shape.close()

    # The service.

    def serve(self):
        self.process = subprocess.Popen(
            [BURSAR, "--database", self.database, "serve", "--listen", "127.0.0.1:0", "--log-level", "warn",
             "--drain-delay", "0", "--stripe-api", self.shape.url, *self.options],
            stdout=subprocess.PIPE, stderr=open(self.folder / "log", "a"), text=True, env=self.env,
        )
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.address = line.split("://")[1].strip()
                return
        raise AssertionError(self.log())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def log(self):
        return (self.folder / "log").read_text()[-3000:]

    def report(self, body, header=None, organization=ORG):
        """The status of the response, or None if none came. Signed unless there is a header."""
        try:
            connection = http.client.HTTPConnection(self.address, timeout=20)
            header = signed(body) if header is None else header
            headers = {"content-type": "application/json; charset=utf-8", "stripe-signature": header}
            connection.request("POST", f"/hooks/stripe/{organization}", body, headers)
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None

    # Commands.

    def command(self, *words):
        return [BURSAR, "--database", self.database, "--json", *words]

    def bursar(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, env=self.env)
        assert done.returncode == 0, (words, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip().startswith(("{", "[")) else done.stdout

    def start_words(self, n):
        return ["online", "start", "--member", f"mem_{ID}{n:04d}", "--payment", pay_id(n), "--success-url",
                "https://club.example/done", "--stripe-api", self.shape.url]

    def start(self, n):
        return self.bursar(*self.start_words(n))["id"]

    def event(self, online, kind="checkout.session.completed"):
        return report_of(self.shape.session_of(online)["object"], kind)

    def state(self, online):
        return self.bursar("online", "show", online)

    def is_at(self, online, wanted):
        return lambda: (found := self.state(online))["state"] == wanted and found["problem"] is None and found

    def status(self, n):
        return self.bursar("payment", "show", pay_id(n))["status"]

    def balances(self):
        return {line["name"]: round(float(line["balance"]) * 100) for line in self.bursar("account", "list")}

    def agrees(self):
        return self.balances()["clearing"] == self.shape.balance

    def eventually(self, what, check, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = check()
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{what}\n{self.log()}")

    def is_whole(self):
        """Every payment that came has one receipt, the books agree with the provider, and are sound. Ends the service.
        Returns how many came."""
        everything = self.bursar("online", "list", "--limit", "1000")
        assert all(payment["problem"] is None for payment in everything), everything
        paid = [payment["receiptId"] for payment in everything if payment["receiptId"]]
        receipts = self.bursar("receipt", "list")
        assert len(paid) == len(set(paid)) == len(receipts), (len(paid), len(receipts))
        self.eventually("books and provider", self.agrees)
        assert self.balances()["disputes"] == 0
        self.kill()
        self.bursar("check")
        return len(paid)
