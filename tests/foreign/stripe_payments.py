"""Members pay by card at a server in the shape of Stripe's, while reports are lost, doubled, late, forged and replayed, answers
break off, and `bursar serve` is killed (-9). In the end the books agree with the provider, and nothing is there twice.

Reports are signed by Stripe's own library."""

import json
import random
import sys
import time

from stripe_club import Club, signed
from stripe_shape import DECLINED

COUNT, SEED, DATABASE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
chance = random.Random(SEED)
began = time.monotonic()
club = Club("payments", DATABASE, COUNT + 10, "--online-faster", "500", "--worker-lease", "2s")
try:
    club.serve()
    done = 0

    # A report that Stripe's library signed is taken, and brings the payment forward; others change nothing.
    one = club.start(1)
    assert club.shape.pay(one)
    body = club.event(one)
    forged = [
        signed(body, "whsec_other"), signed(body, at=time.time() - 400), signed(body, at=time.time() + 400), "", "t=1,v1=00",
        signed(body + " "), signed(body).replace("v1=", "v0="),
    ]
    assert [club.report(body, header) for header in forged] == [400] * len(forged)
    assert club.report(body, signed(body), "org_00000000000000000000000009") == 400
    assert club.report(json.dumps({"type": "x", "data": {"object": {"object": "customer", "id": "cus_1"}}}), "t=1") == 400
    header = signed(body)
    assert club.report(body, header) == 200
    found = club.eventually("a signed report", club.is_at(one, "succeeded"))
    assert found["fee"] == "0.59" and club.status(1) == "paid", found
    # Replayed and doubled.
    assert [club.report(body, header) for _ in range(5)] == [200] * 5
    other = json.dumps({"type": "customer.created", "data": {"object": {"object": "customer", "id": "cus_1"}}})
    assert club.report(other, signed(other)) == 200
    done += 1

    # Declined, then paid on the same page; declined, then given up; paid again later.
    two, three = club.start(2), club.start(3)
    assert not club.shape.pay(two, DECLINED) and not club.shape.pay(three, DECLINED)
    club.eventually("a declined card", lambda: club.state(two)["failure"] == "Your card was declined.")
    assert club.status(2) == "pending" and club.shape.pay(two)
    club.shape.expire(three)
    club.eventually("a page that ended", club.is_at(three, "failed"))
    club.eventually("a second try", club.is_at(two, "succeeded"))
    assert club.status(2) == "paid" and club.status(3) == "failed"
    again = club.start(3)
    assert club.shape.pay(again)
    club.eventually("a retry", club.is_at(again, "succeeded"))
    done += 1

    # Two tabs.
    tabs = [club.start(4), club.start(4)]
    assert all(club.shape.pay(tab) for tab in tabs)
    club.eventually("two tabs", lambda: sorted(club.state(tab)["state"] for tab in tabs) == ["refunded", "succeeded"])
    assert club.status(4) == "paid"
    club.eventually("the second tab's money", club.agrees)
    done += 1

    # A refund whose answer breaks off; a dispute that is won, and one that is lost; a payout.
    club.shape.cuts = 1
    club.bursar("online", "refund", one, "--amount", "5.00")
    club.eventually("a refund", lambda: club.state(one)["refunded"] == "5.00")
    club.shape.dispute(two, "needs_response")
    club.shape.dispute(again, "needs_response")
    for online in (two, again):
        dispute = club.event(online)
        assert club.report(dispute, signed(dispute)) == 200
    club.eventually("disputes", lambda: (club.status(2), club.status(3)) == ("disputed", "disputed"))
    club.shape.dispute(two, "won")
    club.shape.dispute(again, "lost")
    # Nobody reports it.
    club.eventually("the ends of disputes", lambda: (club.status(2), club.status(3)) == ("paid", "failed"))
    club.eventually("books after disputes", club.agrees)
    club.shape.pay_out()
    club.eventually("a payout", lambda: club.balances()["bank"] > 0 and club.agrees())
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
                    waiting[club.start(started.pop())] = False
                except AssertionError:
                    pass
        club.shape.cuts = chance.choice([0, 0, 1, 2])
        for online in [online for online, is_paid in waiting.items() if not is_paid]:
            if club.shape.session_of(online)["object"]["status"] == "open" and chance.random() < 0.7:
                waiting[online] = club.shape.pay(online)
                for _ in range(chance.choice([0, 1, 2])):
                    body = club.event(online)
                    club.report(body, signed(body))
        time.sleep(chance.uniform(0, 0.3))
        club.kill()
        kills += 1
        club.serve()
    club.shape.cuts = 0
    for online in waiting:
        club.eventually(f"{online} after kills", club.is_at(online, "succeeded"))
    # A start whose answer broke off was begun too: it is open, and nobody paid.
    paid = club.is_whole()
    done += 1
    print(f"{club.engine}: {paid} payments, {kills} kills at random times, seed {SEED}, {time.monotonic() - began:.0f} s")
    print(f"test result: ok. {done} passed; 0 failed")
finally:
    club.close()
