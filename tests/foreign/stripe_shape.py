"""A server in the shape of Stripe's API. Payment intents, charges and refunds are those of localstripe (PyPI), which this
process starts and calls; it has no Checkout, fees, disputes or payouts, so those are here."""

import http.server
import json
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

# What is kept of a payment, and of a dispute.
FEE, DISPUTE_FEE = 59, 1500
GOOD, DECLINED = "4242424242424242", "4000000000000341"


def free_port():
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Stripe:
    def __init__(self):
        self.lock = threading.RLock()
        self.sessions, self.keys, self.disputes, self.payouts = {}, {}, {}, {}
        self.balance = 0
        # Calls whose answer is cut off after they were carried out.
        self.cuts = 0
        # Is told "before" and "after" each call. The caller gets no answer if it returns true.
        self.watch = lambda moment: False
        self.inner_port = free_port()
        self.inner = subprocess.Popen(
            [sys.executable, "-m", "localstripe", "--port", str(self.inner_port), "--from-scratch"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(100):
            try:
                self.local("GET", "/v1/refunds")
                break
            except OSError:
                time.sleep(0.1)
        stripe = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.answer("GET", {})

            def do_POST(self):
                length = int(self.headers.get("content-length") or 0)
                self.answer("POST", dict(urllib.parse.parse_qsl(self.rfile.read(length).decode())))

            def answer(self, method, form):
                split = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(split.query))
                with stripe.lock:
                    is_cut = stripe.watch("before")
                    if not is_cut:
                        status, body = stripe.call(method, split.path, query, form, self.headers)
                        is_cut = stripe.watch("after")
                        if stripe.cuts and status == 200:
                            stripe.cuts -= 1
                            is_cut = True
                if is_cut:
                    self.close_connection = True
                    return
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        class Quiet(http.server.ThreadingHTTPServer):
            # Clients are killed here.
            def handle_error(self, *_):
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.inner.kill()
        self.inner.wait()

    def local(self, method, path, form=None):
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        asked = urllib.request.Request(f"http://127.0.0.1:{self.inner_port}{path}", data, method=method)
        asked.add_header("authorization", "Bearer sk_test_local")
        try:
            with urllib.request.urlopen(asked, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    # What bursar calls.

    def call(self, method, path, query, form, headers):
        if headers.get("authorization") != "Bearer rk_test_51abcdefghijklmnop4242":
            return 401, {"error": {"message": "Invalid API Key provided"}}
        assert headers.get("stripe-version") == "2024-06-20", headers
        key = headers.get("idempotency-key")
        if method == "POST" and (path, key) in self.keys:
            known, answer = self.keys[path, key]
            assert known == form, (known, form)
            return answer
        answer = self.routed(method, path, query, form)
        if method == "POST" and answer[0] == 200:
            assert key, "a write without a key"
            self.keys[path, key] = (form, answer)
        return answer

    def routed(self, method, path, query, form):
        parts = path.split("/")
        since = int(query.get("created[gte]", 0))

        def listed(found):
            data = [o for o in found if o["created"] >= since]
            return 200, {"object": "list", "data": data, "has_more": False}

        if (method, path) == ("GET", "/v1/balance"):
            return 200, {"livemode": False, "available": [{"currency": "usd", "amount": self.balance}]}
        if (method, path) == ("POST", "/v1/checkout/sessions"):
            return self.open(form)
        if method == "GET" and path.startswith("/v1/checkout/sessions/"):
            return 200, self.sessions[parts[-1]]["object"]
        if method == "GET" and path.startswith("/v1/payment_intents/"):
            return 200, self.intent(parts[-1])
        if (method, path) == ("GET", "/v1/payment_intents"):
            return listed([])
        if (method, path) == ("GET", "/v1/refunds"):
            of = query.get("payment_intent")
            found = self.local("GET", "/v1/refunds?limit=100" + (f"&payment_intent={of}" if of else ""))
            return listed(found[1]["data"])
        if (method, path) == ("POST", "/v1/refunds"):
            answer = self.local("POST", "/v1/refunds", form)
            if answer[0] == 200:
                self.balance -= answer[1]["amount"]
            return answer
        if (method, path) == ("GET", "/v1/disputes"):
            of = query.get("payment_intent")
            return listed([d for d in self.disputes.values() if of in (None, d["payment_intent"])])
        if (method, path) == ("GET", "/v1/payouts"):
            return listed(list(self.payouts.values()))
        return 404, {"error": {"message": f"Unrecognized request URL ({method}: {path})"}}

    def open(self, form):
        name = f"cs_test_{len(self.sessions) + 1}"
        amount = sum(int(v) for k, v in form.items() if k.endswith("[unit_amount]"))
        assert form["mode"] == "payment" and form["payment_intent_data[metadata][bursar_payment]"]
        session = {
            "id": name, "object": "checkout.session", "status": "open", "payment_status": "unpaid",
            "payment_intent": None, "url": f"{self.url}/pay/{name}", "created": int(time.time()),
            "client_reference_id": form["client_reference_id"],
        }
        self.sessions[name] = {"object": session, "amount": amount, "form": form}
        return 200, session

    def intent(self, name):
        _, intent = self.local("GET", f"/v1/payment_intents/{name}")
        charges = (intent.get("charges") or {}).get("data") or []
        charge = charges[0] if charges else None
        paid = intent["status"] == "succeeded"
        intent["amount_received"] = intent["amount"] if paid else 0
        if charge:
            charge["disputed"] = any(d["payment_intent"] == name for d in self.disputes.values())
            charge["balance_transaction"] = (
                {"id": f"txn_{name}", "object": "balance_transaction", "fee": FEE, "currency": "usd"} if paid else None
            )
        intent["latest_charge"] = charge
        return intent

    # What payers, banks and Stripe itself do.

    def session_of(self, online):
        return next(s for s in self.sessions.values() if s["object"]["client_reference_id"] == online)

    def pay(self, online, card=GOOD):
        with self.lock:
            session = self.session_of(online)
            assert session["object"]["status"] == "open", session
            _, method = self.local("POST", "/v1/payment_methods", {
                "type": "card", "card[number]": card, "card[exp_month]": "12", "card[exp_year]": "2040", "card[cvc]": "123",
            })
            status, intent = self.local("POST", "/v1/payment_intents", {
                "amount": session["amount"], "currency": "usd", "payment_method": method["id"],
                "metadata[bursar_payment]": online,
            })
            assert status == 200, intent
            status, _ = self.local("POST", f"/v1/payment_intents/{intent['id']}/confirm", {})
            session["object"]["payment_intent"] = intent["id"]
            if status == 200:
                session["object"].update(status="complete", payment_status="paid")
                self.balance += session["amount"] - FEE
            return status == 200

    def expire(self, online):
        with self.lock:
            self.session_of(online)["object"]["status"] = "expired"

    def dispute(self, online, status):
        with self.lock:
            session = self.session_of(online)
            name = f"dp_{online}"
            # What was refunded is not disputed.
            amount = session["amount"] - sum(refund["amount"] for refund in self.refunds_of(online))
            if name not in self.disputes:
                self.disputes[name] = {
                    "id": name, "object": "dispute", "amount": amount, "currency": "usd", "status": status,
                    "payment_intent": session["object"]["payment_intent"], "reason": "fraudulent",
                    "created": int(time.time()),
                    "balance_transactions": [{"amount": -amount, "fee": DISPUTE_FEE, "currency": "usd"}],
                }
                self.balance -= amount + DISPUTE_FEE
            elif status == "won":
                self.disputes[name]["balance_transactions"].append({"amount": amount, "fee": 0, "currency": "usd"})
                self.balance += amount
            self.disputes[name]["status"] = status
            return self.disputes[name]

    def refunds_of(self, online):
        intent = self.session_of(online)["object"]["payment_intent"]
        return self.local("GET", f"/v1/refunds?limit=100&payment_intent={intent}")[1]["data"]

    def pay_out(self):
        with self.lock:
            name = f"po_{len(self.payouts) + 1}"
            self.payouts[name] = {
                "id": name, "object": "payout", "amount": self.balance, "currency": "usd", "status": "paid",
                "created": int(time.time()), "arrival_date": int(time.time()),
            }
            self.balance = 0
            return self.payouts[name]
