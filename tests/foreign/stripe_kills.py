"""Kills (-9) bursar at every step of a card payment, one after the other: right before each call of the provider is carried
out, right after it and before its answer, right after each commit, and right after each report is answered. bursar starts
again and goes on. Each time the books agree with the provider in the end, and nothing is there twice."""

import contextlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from stripe_club import Club, pay_id, report_of

MOMENTS, DATABASE = sys.argv[1].split(","), sys.argv[2]
# A step has fewer calls, and commits.
STEPS_MAX = 15


class Reaper:
    """Kills who works at the provider's call, or at the commit, that was chosen."""

    def __init__(self, club):
        self.club, self.command = club, None
        self.moment, self.number, self.count = None, 0, 0
        self.lock, self.struck, self.is_over = threading.Lock(), threading.Event(), threading.Event()
        self.last = time.monotonic()
        club.shape.watch = self.passes

    def arm(self, moment, number):
        with self.lock:
            self.moment, self.number, self.count = moment, number, 0
            self.struck.clear()

    def disarm(self):
        with self.lock:
            self.moment = None

    def is_quiet(self):
        """Whether what happened last is a while ago: a commit may follow the one that was waited for."""
        return time.monotonic() - self.last > 0.25

    def passes(self, moment):
        with self.lock:
            self.last = time.monotonic()
            self.count += moment == self.moment
            is_now = moment == self.moment and self.count == self.number
            if is_now:
                # A command that calls the provider, or the service.
                victim = self.command or self.club.process
                victim.send_signal(signal.SIGKILL)
                victim.wait()
                self.struck.set()
            return is_now

    def watch_commits(self):
        """Both engines have a number that grows with each transaction that wrote."""
        if self.club.engine == "sqlite":
            database = sqlite3.connect(DATABASE.removeprefix("sqlite:"), isolation_level=None)
            ask = "PRAGMA data_version"
        else:
            import psycopg

            database = psycopg.connect(DATABASE, autocommit=True)
            ask = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
        with contextlib.closing(database):
            seen = database.execute(ask).fetchone()
            while not self.is_over.is_set():
                now = database.execute(ask).fetchone()
                if now != seen:
                    seen = now
                    self.passes("commit")
                time.sleep(0.0002)


class Story:
    """A member pays, gets a part back, disputes the rest in vain, and the provider pays out."""

    def __init__(self, club, reaper, moment, number):
        self.club, self.reaper, self.moment, self.number = club, reaper, moment, number
        self.kills = 0

    def tell(self, n):
        club, shape = self.club, self.club.shape
        online = self.begin(n)
        assert shape.pay(online)
        self.step("a payment", club.event(online), lambda: club.is_at(online, "succeeded")() and club.status(n) == "paid")
        self.step("a refund", ("online", "refund", online, "--amount", "5.00"),
                  lambda: club.state(online)["refunded"] == "5.00")
        dispute = shape.dispute(online, "needs_response")
        self.step("a dispute", report_of(dispute, "charge.dispute.created"), lambda: club.status(n) == "disputed")
        dispute = shape.dispute(online, "won")
        self.step("its end", report_of(dispute, "charge.dispute.closed"), lambda: club.status(n) != "disputed")
        payout = shape.pay_out()
        self.step("a payout", report_of(payout, "payout.paid"), lambda: True)
        found = club.state(online)
        assert (found["state"], found["fee"], found["refunded"]) == ("succeeded", "0.59", "5.00"), found
        assert [refund["amount"] for refund in shape.refunds_of(online)] == [500]
        assert club.balances()["bank"] == sum(payout["amount"] for payout in shape.payouts.values())

    def begin(self, n):
        """The command opens the provider's page. What it left undone the worker does half a minute later; `online ask`
        does it now."""
        club = self.club
        command = subprocess.Popen(club.command(*club.start_words(n)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=club.env)
        self.reaper.command = command
        self.reaper.arm(self.moment, self.number)
        command.wait()
        self.reaper.disarm()
        self.reaper.command = None
        if command.returncode == -signal.SIGKILL:
            self.kills += 1
        begun = self.begun(n)
        if not begun:
            # It died before its first commit, and the member tries again.
            club.start(n)
            begun = self.begun(n)
        assert len(begun) == 1, begun
        online = begun[0]["id"]
        if begun[0]["state"] == "created":
            club.bursar("online", "ask", online, "--stripe-api", club.shape.url)
        club.eventually("a page", club.is_at(online, "open"))
        pages = [page for page in club.shape.sessions.values() if page["object"]["client_reference_id"] == online]
        assert len(pages) == 1, pages
        return online

    def begun(self, n):
        everything = self.club.bursar("online", "list", "--limit", "1000")
        return [found for found in everything if found["parts"][0]["paymentId"] == pay_id(n)]

    def step(self, name, what, is_done):
        """`what` is a report, or a command. A report that was not answered is sent again."""
        club, reaper = self.club, self.reaper
        is_taken, is_killed = False, False
        until = time.monotonic() + 30
        reaper.arm(self.moment, self.number)
        while True:
            if not is_taken:
                is_taken = self.act(what)
            if reaper.struck.is_set() and not is_killed:
                is_killed = True
                club.process.stdout.close()
                club.serve()
            elif is_taken and reaper.is_quiet() and is_done() and club.agrees():
                reaper.disarm()
                if is_killed == reaper.struck.is_set():
                    break
            assert time.monotonic() < until, f"{name}: {self.moment} {self.number}\n{club.log()}"
            time.sleep(0.05)
        self.kills += is_killed

    def act(self, what):
        if isinstance(what, str):
            is_taken = self.club.report(what) == 200
        else:
            self.club.bursar(*what)
            is_taken = True
        self.reaper.passes("answer")
        return is_taken


began = time.monotonic()
club = Club("kills", DATABASE, 50, "--online-faster", "20", "--worker-lease", "1s")
try:
    club.serve()
    reaper = Reaper(club)
    n = 0
    passed = {}
    for moment in MOMENTS:
        passed[moment] = number = 0
        if moment == "commit":
            threading.Thread(target=reaper.watch_commits, daemon=True).start()
        while True:
            number, n = number + 1, n + 1
            story = Story(club, reaper, moment, number)
            story.tell(n)
            passed[moment] += story.kills
            if not story.kills or number == STEPS_MAX:
                break
        # A watch that sees nothing would kill nobody.
        assert passed[moment] >= 5, passed
    reaper.is_over.set()
    paid = club.is_whole()
    assert paid == n, (paid, n)
    points = ", ".join(f"{moment} {count}" for moment, count in passed.items())
    print(f"{club.engine}: {paid} payments, {sum(passed.values())} kill points ({points}), {time.monotonic() - began:.0f} s")
    print(f"test result: ok. {len(MOMENTS)} passed; 0 failed")
finally:
    club.close()
