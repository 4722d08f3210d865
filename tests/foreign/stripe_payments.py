"""Members pay by card at a server in the shape of Stripe's, while reports are lost, doubled, late, forged and replayed, answers
break off, and `bursar serve` is killed (-9). In the end the books agree with the provider, and nothing is there twice.

Reports are signed by Stripe's own library."""

import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import stripe
from stripe_shape import DECLINED, DISPUTE_FEE, FEE, Stripe

BURSAR, COUNT, SEED = os.environ["BURSAR"], int(sys.argv[1]), int(sys.argv[2])
DATABASE = sys.argv[3]
SECRET = "whsec_abcdefghijklmnopqrstuvwx"
ORG = "org_00000000000000000000000001"
ID = "0000000000000000000000"
chance = random.Random(SEED)
folder = pathlib.Path("stripe-" + DATABASE.split(":")[0]).resolve()
folder.mkdir()


def bursar(*words):
    done = subprocess.run([BURSAR, "--database", DATABASE, "--json", *words], capture_output=True, text=True, env=ENV)
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip().startswith(("{", "[")) else done.stdout


class Server:
    def start(self):
        self.process = subprocess.Popen(
            [BURSAR, "--database", DATABASE, "serve", "--listen", "127.0.0.1:0", "--log-level", "warn", "--drain-delay", "0",
             "--stripe-api", shape.url, "--online-faster", "500", "--worker-lease", "2s"],
            stdout=subprocess.PIPE, stderr=open(folder / "log", "a"), text=True, env=ENV,
        )
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.address = line.split("://")[1].strip()
                return
        raise AssertionError((folder / "log").read_text())

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def report(self, body, header, organization=ORG):
        try:
            connection = http.client.HTTPConnection(self.address, timeout=20)
            headers = {"content-type": "application/json; charset=utf-8", "stripe-signature": header}
            connection.request("POST", f"/hooks/stripe/{organization}", body, headers)
            return connection.getresponse().status
        except OSError:
            return None


def event(online, kind="checkout.session.completed"):
    session = shape.session_of(online)["object"]
    return json.dumps({"id": f"evt_{chance.random()}", "object": "event", "type": kind, "data": {"object": session}})


def signed(body, secret=SECRET, at=None):
    at = int(at or time.time())
    return f"t={at},v1={stripe.WebhookSignature._compute_signature(f'{at}.{body}', secret)}"


def eventually(what, check):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what}\n{(folder / 'log').read_text()[-3000:]}")


def pay_id(n):
    return f"pay_{ID}{n:04d}"


def start(n, *more):
    words = ["online", "start", "--member", f"mem_{ID}{n:04d}", "--payment", pay_id(n), "--success-url", "https://club.example/done"]
    return bursar(*words, *more, "--stripe-api", shape.url)["id"]


def state(online):
    return bursar("online", "show", online)


def is_at(online, wanted):
    return lambda: (found := state(online))["state"] == wanted and found["problem"] is None and found


def status(n):
    return bursar("payment", "show", pay_id(n))["status"]


def balances():
    return {line["name"]: round(float(line["balance"]) * 100) for line in bursar("account", "list")}


def agrees():
    return balances()["clearing"] == shape.balance


ENV = {"PATH": os.environ["PATH"], "HOME": str(folder)}
key = folder / "key"
key.write_text("rk_test_51abcdefghijklmnop4242\n")
(folder / "secret").write_text(SECRET)
if DATABASE.startswith("postgres"):
    (folder / "sealing").write_text("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=\n")
    ENV["BURSAR_SECRET_KEY_FILE"] = str(folder / "sealing")
shape = Stripe()
try:
    people = COUNT + 10
    records = [{"type": "organization", "id": ORG, "name": "Club", "kind": "independent"}]
    for n in range(1, people + 1):
        records.append({"type": "member", "id": f"mem_{ID}{n:04d}", "organizationId": ORG, "firstName": f"M{n}", "lastName": "Moe",
                        "email": f"m{n}@example.org"})
        records.append({"type": "payment", "id": pay_id(n), "organizationId": ORG, "memberId": f"mem_{ID}{n:04d}",
                        "amount": "25.00", "description": f"Dues of {n} & more é", "status": "pending"})
    bundle = folder / "club.ndjson"
    bundle.write_text("".join(json.dumps(record) + "\n" for record in records))
    bursar("import", str(bundle))
    bursar("provider", "set", "--key-file", str(key), "--webhook-secret-file", str(folder / "secret"))
    assert bursar("provider", "test", "--stripe-api", shape.url) == {"isLive": False, "currencies": ["USD"]}
    server = Server()
    server.start()
    done = 0

    # A report that Stripe's library signed is taken, and brings the payment forward; others change nothing.
    one = start(1)
    assert shape.pay(one)
    body = event(one)
    forged = [
        signed(body, "whsec_other"), signed(body, at=time.time() - 400), signed(body, at=time.time() + 400), "", "t=1,v1=00",
        signed(body + " "), signed(body).replace("v1=", "v0="),
    ]
    assert [server.report(body, header) for header in forged] == [400] * len(forged)
    assert server.report(body, signed(body), "org_00000000000000000000000009") == 400
    assert server.report(json.dumps({"type": "x", "data": {"object": {"object": "customer", "id": "cus_1"}}}), "t=1") == 400
    header = signed(body)
    assert server.report(body, header) == 200
    found = eventually("a signed report", is_at(one, "succeeded"))
    assert found["fee"] == "0.59" and status(1) == "paid", found
    # Replayed and doubled.
    assert [server.report(body, header) for _ in range(5)] == [200] * 5
    other = json.dumps({"type": "customer.created", "data": {"object": {"object": "customer", "id": "cus_1"}}})
    assert server.report(other, signed(other)) == 200
    done += 1

    # Declined, then paid on the same page; declined, then given up; paid again later.
    two, three = start(2), start(3)
    assert not shape.pay(two, DECLINED) and not shape.pay(three, DECLINED)
    eventually("a declined card", lambda: state(two)["failure"] == "Your card was declined.")
    assert status(2) == "pending" and shape.pay(two)
    shape.expire(three)
    eventually("a page that ended", is_at(three, "failed"))
    eventually("a second try", is_at(two, "succeeded"))
    assert status(2) == "paid" and status(3) == "failed"
    again = start(3)
    assert shape.pay(again)
    eventually("a retry", is_at(again, "succeeded"))
    done += 1

    # Two tabs.
    tabs = [start(4), start(4)]
    assert all(shape.pay(tab) for tab in tabs)
    eventually("two tabs", lambda: sorted(state(tab)["state"] for tab in tabs) == ["refunded", "succeeded"])
    assert status(4) == "paid"
    eventually("the second tab's money", agrees)
    done += 1

    # A refund whose answer breaks off; a dispute that is won, and one that is lost; a payout.
    shape.cuts = 1
    bursar("online", "refund", one, "--amount", "5.00")
    eventually("a refund", lambda: state(one)["refunded"] == "5.00")
    shape.dispute(two, "needs_response")
    shape.dispute(again, "needs_response")
    for online in (two, again):
        dispute = event(online)
        assert server.report(dispute, signed(dispute)) == 200
    eventually("disputes", lambda: (status(2), status(3)) == ("disputed", "disputed"))
    shape.dispute(two, "won")
    shape.dispute(again, "lost")
    # Nobody reports it.
    eventually("the ends of disputes", lambda: (status(2), status(3)) == ("paid", "failed"))
    eventually("books after disputes", agrees)
    shape.pay_out()
    eventually("a payout", lambda: balances()["bank"] > 0 and agrees())
    done += 1

    # Kills: the server dies again and again while members pay, answers break off, and some reports never come.
    waiting = {}
    started = list(range(11, 11 + COUNT))
    chance.shuffle(started)
    kills = 0
    while started or any(not is_paid for is_paid in waiting.values()):
        for _ in range(chance.randint(1, 3)):
            if started:
                try:
                    waiting[start(started.pop())] = False
                except AssertionError:
                    pass
        shape.cuts = chance.choice([0, 0, 1, 2])
        for online in [online for online, is_paid in waiting.items() if not is_paid]:
            if shape.session_of(online)["object"]["status"] == "open" and chance.random() < 0.7:
                waiting[online] = shape.pay(online)
                for _ in range(chance.choice([0, 1, 2])):
                    body = event(online)
                    server.report(body, signed(body))
        time.sleep(chance.uniform(0, 0.3))
        server.kill()
        kills += 1
        server.start()
    shape.cuts = 0
    for online in waiting:
        eventually(f"{online} after kills", is_at(online, "succeeded"))
    # A start whose answer broke off was begun too: it is open, and nobody paid.
    everything = bursar("online", "list", "--limit", "1000")
    assert all(payment["problem"] is None for payment in everything), everything
    receipts = bursar("receipt", "list")
    paid = [payment["receiptId"] for payment in everything if payment["receiptId"]]
    assert len(paid) == len(set(paid)) == len(receipts), (len(paid), len(receipts))
    eventually("books after kills", agrees)
    assert balances()["disputes"] == 0
    server.kill()
    bursar("check")
    done += 1
    print(f"{DATABASE.split(':')[0]}: {len(paid)} payments, {kills} kills, seed {SEED}")
    print(f"test result: ok. {done} passed; 0 failed")
finally:
    shape.close()
    if "server" in globals() and server.process.poll() is None:
        server.kill()
