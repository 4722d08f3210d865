"""Failovers of a PostgreSQL cluster under load: the primary is killed, switched over and frozen in turn, while three replicas
of bursar (two with every node in the URL, one through HAProxy) serve writers, walkers and holders of revoked tokens. Nothing
that was acknowledged is lost, nothing happens twice, and each replica works again soon after the promotion.

Takes from the environment what cluster_nodes.py does, BURSAR, BURSAR_TEST_REDIS and FIXTURE; its arguments are the number of
keys that many clients share, the number of failovers, and, to have others than all, which ones to take in turn.
"""

import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time

import cluster_keys
from cluster_load import Client, Load, Token
from cluster_nodes import BURSAR_PASSWORD, Cluster, Promotion, fixed_ports, rest, wait_until
from replicas import BURSAR, start_replica

ORGANIZATION = "org_01jbst1c00e008000000000000"
SCOPES = "members:read,members:write,groups:read,groups:write,events:read"
# Seconds from the promotion until a replica acknowledges a write: with all nodes in the URL, and through HAProxy, which closes
# the connections to a frozen node.
BACK_MAX = {"kill": (10, 10), "switchover": (10, 10), "freeze": (35, 10)}
STOP_MAX = 40


class World:
    """The cluster, three replicas, and the load on them."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.database = cluster.hosts_url()
        self.prepare()
        self.ports = fixed_ports(3)
        self.urls = [self.database, self.database, cluster.proxy_url()]
        self.replicas = [start_replica(port, "--database", url) for port, url in zip(self.ports, self.urls)]

    def prepare(self):
        self.cluster.psql(f"CREATE ROLE bursar LOGIN PASSWORD '{BURSAR_PASSWORD}'")
        self.cluster.psql("CREATE DATABASE bursar OWNER bursar TEMPLATE template0 LOCALE 'C' ENCODING 'UTF8'")
        self.run("import", os.environ["FIXTURE"])
        self.token = self.new_token("load")

    def new_token(self, name):
        made = self.run("token", "create", "--json", "--user", "ada@example.org", "--name", name, "--scopes", SCOPES)
        return json.loads(made)["secret"]

    def run(self, *arguments):
        environment = {"BURSAR_DATABASE": self.database, "BURSAR_ORGANIZATION": ORGANIZATION}
        done = subprocess.run([BURSAR, *arguments], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"bursar {arguments[0]}: {done.stdout[-1000:]}{done.stderr[-1000:]}"
        return done.stdout

    def exported(self, kind):
        records = map(json.loads, self.run("export").splitlines())
        return [record for record in records if record["type"] == kind]

    def stop_replica(self, place):
        """Returns how long it took."""
        began = time.monotonic()
        self.replicas[place].send_signal(signal.SIGTERM)
        try:
            code = self.replicas[place].wait(STOP_MAX)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"replica {place + 1} did not end within {STOP_MAX} s of SIGTERM") from None
        assert code == 0, f"replica {place + 1} ended with {code}"
        return time.monotonic() - began

    def start_replica(self, place):
        self.replicas[place] = start_replica(self.ports[place], "--database", self.urls[place])


def fail_over(world, load, how, is_first):
    """One failover, until the cluster is whole again. Prints how long each replica took."""
    cluster = world.cluster
    old = cluster.primary()
    tokens = [Token(world.database, ORGANIZATION, f"{how} {when}") for when in ("before", "during", "after")]
    load.tokens[:] = tokens
    time.sleep(1)
    tokens[0].revoke()
    load.forget_times()
    promotion = Promotion(cluster, old)
    began = time.monotonic()
    during = threading.Thread(target=load.guarded, args=(tokens[1].revoke,), daemon=True)
    during.start()
    if how == "kill":
        old.kill()
    elif how == "switchover":
        told = cluster.patronictl("switchover", "--leader", old.name, "--force")
        assert "Successfully switched over" in told, told
    else:
        # Twice: a process may have started in between.
        old.send(signal.SIGSTOP)
        old.send(signal.SIGSTOP)
    promotion.wait()
    tokens[2].revoke()
    hosts_max, proxy_max = BACK_MAX[how]
    times = [wait_for_write(load, *each) for each in zip(range(3), [promotion] * 3, (hosts_max, hosts_max, proxy_max))]
    during.join()
    stopped = ""
    if how == "freeze":
        if is_first:
            # Ending and starting work while the old primary, which is in the URL, accepts connections and says nothing.
            stopped = f"; a replica ended in {world.stop_replica(0):.1f} s and started again beside the frozen node"
            world.start_replica(0)
        old.send(signal.SIGCONT)
        time.sleep(5)
    elif how == "kill":
        old.start()
    cluster.wait_whole()
    time.sleep(1)
    load.tokens[:] = []
    told = ", ".join(f"{seconds:.1f}" for seconds in times)
    moved = f"{old.name} → {promotion.node.name} in {promotion.at - began:.1f} s"
    print(f"{how}: {moved}; replicas write again after {told} s{stopped}", flush=True)
    return tokens


def wait_for_write(load, place, promotion, seconds):
    """How long after the promotion the replica acknowledged a write."""
    while True:
        at = next((at for at in load.acknowledged[place] if at > promotion.at), None)
        if at is None and time.monotonic() < promotion.at + seconds:
            time.sleep(0.02)
            continue
        assert at is not None and at <= promotion.at + seconds, (
            f"replica {place + 1} acknowledged no write within {seconds} s of the promotion")
        return at - promotion.at


def check_writes(world, load):
    found = {}
    for group in world.exported("group"):
        found.setdefault(group["name"], []).append(group["id"])
    lost = [write for write in load.creates if write.told["id"] not in found.get(write.body["name"], [])]
    doubled = [name for name, ids in found.items() if name.startswith(("Made ", "Own ")) and len(ids) > 1]
    assert not lost, f"{len(lost)} of {len(load.creates)} creates were lost: {[write.body for write in lost[:5]]}"
    assert not doubled, f"{len(doubled)} creates have two effects: {doubled[:5]}"
    retried = sum(write.attempts > 1 for write in load.creates + load.patches)
    assert retried, "no write was ever retried: the faults were not noticed"
    print(f"writes: {len(load.creates)} creates, each there once; {retried} writes were retried with their key", flush=True)


def check_patches(world, load):
    """Every acknowledged change has one event. Each sets another value."""
    client, effects, cursor = Client(world.ports), collections.Counter(), ""
    while cursor is not None:
        status, told = client.ask(0, "GET", f"/v1/events?limit=100{cursor}", world.token)
        assert status == 200, told
        for event in told["data"]:
            effects.update(event["data"][field] for field in ("description", "lastName") if field in event["changed"])
        cursor = f"&cursor={told['nextCursor']}" if told["nextCursor"] else None
    wrong = {}
    for write in load.patches:
        (value,) = write.body.values()
        if effects[value] != 1:
            wrong[value] = effects[value]
    assert not wrong, f"{len(wrong)} of {len(load.patches)} changes were lost or doubled (value: events): {wrong}"
    print(f"changes: {len(load.patches)}, each with one event", flush=True)


def check_replays(world, load):
    """Keys that were retried, and others, are sent again to every replica: the response is the first one."""
    retried = [write for write in load.creates if write.attempts > 1]
    chosen, client = retried[-200:] + load.creates[-100:], Client(world.ports)
    for number, write in enumerate(chosen):
        status, told = client.ask(number % 3, write.method, write.path, world.token, body=write.body, key=write.key)
        assert (status, told) == (201, write.told), f"a key that was used for {write.told} now gets {status}: {told}"
    print(f"keys: {len(chosen)} sent again, each with its first response", flush=True)


def check_tokens(tokens):
    stale = [(token.name, *seen) for token in tokens for seen in token.stale]
    assert not stale, f"revoked tokens were accepted {len(stale)} times (token, replica, s after, s it took): {stale[:10]}"
    for token in tokens:
        assert token.refused, f"{token.name}: never used after it was revoked"
        assert token.accepted, f"{token.name}: never used before it was revoked"
    refused = sum(token.refused for token in tokens)
    print(f"tokens: {len(tokens)} revoked around failovers, {refused} uses afterwards, none accepted", flush=True)


def check_commands(cluster):
    """The commands of docs/cluster.md, besides the switchover."""
    listed = cluster.patronictl("list")
    assert all(word in listed for word in ("db1", "db2", "db3", "Leader", "Sync Standby", "streaming")), listed
    cluster.patronictl("edit-config", "--set", "ttl=25", "--force")
    wait_until("the new ttl is there", lambda: rest(cluster.primary().rest_port, "/config")[1]["ttl"] == 25)
    standby = next(node for node in cluster.nodes if not node.is_primary())
    cluster.patronictl("reinit", "bursar", standby.name, "--force", "--wait")
    cluster.wait_whole()
    print(f"commands: listed, configured, {standby.name} created again", flush=True)


def main():
    keys, failovers, *faults = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    cluster = Cluster()
    world = None
    try:
        cluster.start()
        world = World(cluster)
        run(world, int(keys), int(failovers), faults or list(BACK_MAX))
    finally:
        for replica in world.replicas if world else []:
            replica.kill()
            replica.wait()
        cluster.stop()


def run(world, keys, failovers, faults):
    members = [member["id"] for member in world.exported("member") if member["organizationId"] == ORGANIZATION]
    load = Load(world.ports, world.token, members)
    load.start()
    tokens = []
    for number in range(failovers):
        how = faults[number % len(faults)]
        tokens += fail_over(world, load, how, is_first=number < len(faults))
    load.end()
    print(f"responses: {dict(sorted(load.statuses.items()))}", flush=True)
    check_writes(world, load)
    check_patches(world, load)
    check_replays(world, load)
    assert not load.wrong_walks, f"{len(load.wrong_walks)} of {load.walks} walks are wrong: {load.wrong_walks[:5]}"
    assert load.walks >= failovers, f"only {load.walks} walks"
    print(f"walks: {load.walks} over all replicas, no row repeated, none skipped", flush=True)
    check_tokens(tokens)
    check_commands(world.cluster)
    cluster_keys.check(world, keys)
    world.run("check")
    times = [world.stop_replica(place) for place in range(3)]
    print(f"SIGTERM: replicas ended in {', '.join(f'{seconds:.1f}' for seconds in times)} s", flush=True)


if __name__ == "__main__":
    main()
