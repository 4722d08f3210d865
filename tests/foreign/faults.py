"""Faults of one PostgreSQL server under load: it is killed, restarted, frozen and cut off, its connections are used up, an
outsider locks a table, its disk gets full. Three replicas answer all the time, and work again soon after each fault.
Afterwards every write that was acknowledged is looked up, and every walk is compared.

Takes from the environment what cluster.py does, and: DATA (a folder of PostgreSQL's user, on a small disk of its own).
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import threading
import time
import types

from cluster import ORGANIZATION, World, check_patches, check_replays, check_writes, wait_for_write
from cluster_load import Load
from cluster_nodes import BURSAR_PASSWORD, OWNER, fixed_ports
from replicas import FOLDER, call

BIN, DATA = pathlib.Path(os.environ["POSTGRES_BIN"]), pathlib.Path(os.environ["DATA"])
CONNECTIONS_MAX = 60
# Seconds after the end of a fault until each replica acknowledges a write.
BACK_MAX = 10
# A replica's readiness is known soon, whatever the database does.
READY_MAX = 5


class Postgres:
    def __init__(self):
        self.port = fixed_ports(1)[0]
        self.own("initdb", "-D", DATA / "data", "--locale=C", "--encoding=UTF8", "-A", "trust", "-U", "postgres")
        with open(DATA / "data/postgresql.conf", "a") as settings:
            settings.write(f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = '{DATA}'\n"
                           f"max_connections = {CONNECTIONS_MAX}\nmin_wal_size = '32MB'\nmax_wal_size = '64MB'\n")
        self.start()

    def hosts_url(self):
        return f"postgres://bursar:{BURSAR_PASSWORD}@127.0.0.1:{self.port}/bursar"

    proxy_url = hosts_url

    def own(self, program, *arguments):
        done = subprocess.run([*OWNER, BIN / program, *arguments], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{program}: {done.stdout[-1000:]}{done.stderr[-1000:]}"

    def start(self):
        log = open(FOLDER / "postgres.log", "a")
        self.process = subprocess.Popen([*OWNER, BIN / "postgres", "-D", DATA / "data"], stdout=log, stderr=log)
        for _ in range(300):
            if subprocess.run([BIN / "pg_isready", "-q", "-h", DATA, "-p", str(self.port)]).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError((FOLDER / "postgres.log").read_text()[-3000:])

    def outsider(self, sql):
        """A superuser's psql that runs these commands, says so, and stays."""
        psql = subprocess.Popen([*self.client(), "bursar"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.DEVNULL)
        psql.stdin.write(f"{sql};\n\\echo done\n")
        psql.stdin.flush()
        return psql

    def client(self):
        return [BIN / "psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", DATA, "-p", str(self.port), "-U", "postgres"]

    def psql(self, sql):
        subprocess.run([*self.client(), "-c", sql], check=True, capture_output=True, timeout=60)

    def everyone(self):
        """The process numbers of the server and its children."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def signal_all(self, number):
        for pid in self.everyone():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self):
        self.signal_all(signal.SIGCONT)
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)


def is_killed(postgres):
    postgres.process.kill()
    postgres.process.wait()
    time.sleep(3)
    postgres.start()


def is_restarted(postgres):
    postgres.process.send_signal(signal.SIGINT)
    postgres.process.wait(60)
    postgres.start()


def is_frozen(postgres):
    # Twice: a process may have started in between.
    postgres.signal_all(signal.SIGSTOP)
    postgres.signal_all(signal.SIGSTOP)
    time.sleep(30)
    postgres.signal_all(signal.SIGCONT)


END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bursar'"


def loses_all_connections(postgres):
    for _ in range(10):
        postgres.psql(END_OTHERS)
        time.sleep(0.5)


def has_no_connection_left(postgres):
    """Outsiders take what is free, and what bursar's connections leave when they are ended."""
    outsiders = []
    for _ in range(3):
        outsiders += [postgres.outsider("SELECT 1") for _ in range(CONNECTIONS_MAX // 2)]
        with contextlib.suppress(subprocess.CalledProcessError):
            postgres.psql(END_OTHERS)
    time.sleep(10)
    for psql in outsiders:
        psql.kill()
        psql.wait()


def is_locked_by_an_outsider(postgres):
    psql = postgres.outsider("BEGIN; LOCK TABLE groups IN ACCESS EXCLUSIVE MODE")
    assert psql.stdout.readline() == "done\n"
    time.sleep(30)
    psql.kill()
    psql.wait()


def has_no_room_on_its_disk(postgres):
    assert DATA.is_mount(), "it would fill the machine's disk"
    filler = DATA / "filler"
    with open(filler, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
        end = time.monotonic() + 10
        while time.monotonic() < end:
            # What PostgreSQL gives back is taken too.
            with contextlib.suppress(OSError):
                file.write(bytes(4096))
    filler.unlink()
    assert "No space left on device" in (FOLDER / "postgres.log").read_text(), "the disk did not get full"
    # It ends itself if it cannot write its log.
    time.sleep(2)
    if postgres.process.poll() is not None:
        postgres.start()


class Readiness:
    """Asks each replica all the time whether it is ready, and keeps the longest time that an answer took."""

    def __init__(self, ports):
        self.longest, self.seen, self.stopped = 0.0, set(), threading.Event()
        self.threads = [threading.Thread(target=self.ask, args=(port,), daemon=True) for port in ports]
        for thread in self.threads:
            thread.start()

    def ask(self, port):
        while not self.stopped.wait(0.2):
            began = time.monotonic()
            try:
                self.seen.add(call("GET", "/readyz", port=port, tls=False)[0])
            except OSError as error:
                self.seen.add(repr(error))
            self.longest = max(self.longest, time.monotonic() - began)

    def end(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def suffer(world, load, fault):
    readiness, refused = Readiness(world.ports), load.statuses[503]
    fault(world.cluster)
    refused = load.statuses[503] - refused
    over = types.SimpleNamespace(at=time.monotonic())
    times = [wait_for_write(load, place, over, BACK_MAX) for place in range(len(world.ports))]
    readiness.end()
    name = fault.__name__.replace("_", " ")
    assert readiness.longest < READY_MAX, f"{name}: /readyz took {readiness.longest:.1f} s"
    assert readiness.seen <= {200, 503}, f"{name}: /readyz gave {readiness.seen}"
    assert refused or 503 in readiness.seen or fault in MENDED_UNSEEN, f"{name}: no request noticed"
    back = ", ".join(f"{seconds:.1f}" for seconds in times)
    ready = f"/readyz took {readiness.longest:.1f} s at most"
    print(f"PostgreSQL {name}: {refused} times 503, writes again after {back} s; {ready}", flush=True)


def end_beside_a_silent_database(world):
    world.cluster.signal_all(signal.SIGSTOP)
    times = [world.stop_replica(place) for place in range(len(world.ports))]
    world.cluster.signal_all(signal.SIGCONT)
    print(f"SIGTERM beside a frozen PostgreSQL: ended in {', '.join(f'{each:.1f}' for each in times)} s", flush=True)


FAULTS = [is_killed, is_restarted, is_frozen, loses_all_connections, has_no_connection_left, is_locked_by_an_outsider,
          has_no_room_on_its_disk]
# A new connection is there at once, and what was sent is sent again: clients may see nothing.
MENDED_UNSEEN = [is_restarted, loses_all_connections]


def run(world):
    members = [member["id"] for member in world.exported("member") if member["organizationId"] == ORGANIZATION]
    load = Load(world.ports, world.token, members)
    load.start()
    time.sleep(2)
    for fault in FAULTS:
        suffer(world, load, fault)
        time.sleep(2)
    load.end()
    print(f"responses: {dict(sorted(load.statuses.items()))}", flush=True)
    assert not load.statuses[0], f"{load.statuses[0]} requests got no response"
    check_writes(world, load)
    check_patches(world, load)
    check_replays(world, load)
    assert load.walks and not load.wrong_walks, f"{len(load.wrong_walks)} of {load.walks} walks are wrong: {load.wrong_walks[:5]}"
    print(f"walks: {load.walks}, no row repeated, none skipped", flush=True)
    world.run("check")
    end_beside_a_silent_database(world)


def main():
    postgres, world = Postgres(), None
    try:
        world = World(postgres)
        run(world)
    finally:
        for replica in world.replicas if world else []:
            replica.kill()
            replica.wait()
        postgres.stop()


if __name__ == "__main__":
    main()
