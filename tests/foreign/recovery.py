"""Recovery of PostgreSQL with the commands of docs/recovery.md: while clients write, PostgreSQL is killed, and its files are
replaced by a base backup and the archived log.

Takes from the environment what writers.py does, and: ROOT (of the repository), OWNER (a command that runs another as
PostgreSQL's user), PORTS (of the server and of the drill).
"""

import datetime
import os
import pathlib
import shlex
import signal
import subprocess
import time

from document import Document
from writers import FOLDER, Server, Writers, bursar, groups, write_for

ROOT, DATABASE, DATA = pathlib.Path(os.environ["ROOT"]), os.environ["BURSAR_DATABASE"], FOLDER / "postgres/main"
PORT, DRILL_PORT = os.environ["PORTS"].split()
# The document's is a minute.
ARCHIVE_TIMEOUT_S = 2
# And what a busy machine takes for a file of 16 MB.
BEHIND_MAX_S = ARCHIVE_TIMEOUT_S + 8
DOCUMENT = Document(
    ROOT / "docs/recovery.md",
    {
        "pg_ctlcluster 15 main": f"pg_ctl -D {DATA} -l {FOLDER}/postgres/log -w",
        "/var/lib/postgresql/15": FOLDER / "postgres",
        "/var/lib/postgresql": FOLDER / "postgres",
        "/mnt/backup": FOLDER / "postgres/backup",
        "archive_timeout = '60s'": f"archive_timeout = '{ARCHIVE_TIMEOUT_S}s'",
        "port = 5433": f"port = {DRILL_PORT}",
        "--port=5433": f"--port={DRILL_PORT}",
        "postgres://bursar@127.0.0.1:5433/bursar": DATABASE.replace(PORT, DRILL_PORT),
        "postgres://bursar@127.0.0.1/bursar": DATABASE,
    },
    become=shlex.split(os.environ["OWNER"]),
)
TARGET = "recovery_target_time = '2026-11-18 12:00:00+00'\nrecovery_target_action = 'promote'\n"


def query(sql):
    return subprocess.run(["psql", "-AtXc", sql, DATABASE], check=True, capture_output=True, text=True).stdout.strip()


def wait_until_promoted():
    for _ in range(600):
        if query("SELECT pg_is_in_recovery()") == "f":
            return
        time.sleep(0.1)
    raise AssertionError("PostgreSQL is still in recovery")


def restore(server, change, crashed=True, copy_log=False):
    """The section "Restore". bursar is stopped meanwhile, and goes on with what came back."""
    server.process.send_signal(signal.SIGINT)
    server.process.wait(60)
    subprocess.run(["rm", "-rf", FOLDER / "postgres/broken"], check=True)
    if not crashed:
        DOCUMENT.run("Restore", 0)
    newest = sorted(path.name for path in (FOLDER / "postgres/backup/base").iterdir())[-1]
    DOCUMENT.run("Restore", 1, lambda text: change(text).replace("base/2026-11-15", f"base/{newest}"))
    if copy_log:
        DOCUMENT.run("Restore", 2)
    DOCUMENT.run("Restore", 3)
    wait_until_promoted()
    assert "nothing is broken" in DOCUMENT.run("Restore", 4)
    DOCUMENT.run("Restore", 5, lambda text: text.replace("base/2026-11-18", f"base/{newest}-next"))
    server.start()


def without_target(text):
    assert TARGET in text
    return text.replace(TARGET, "")


def slowly(text):
    """Fetches each file of the log slowly, as from another place: nothing may be looked at before the last one."""
    assert "'cp /" in text
    return text.replace("'cp /", "'sleep 2; cp /")


def drill(server):
    """A second server on the backup, beside the one that works."""
    write_for(server, 1)
    time.sleep(BEHIND_MAX_S)
    # It finds what the first has, so that an empty restore does not pass.
    rows = bursar("check", DATABASE)
    started = time.monotonic()
    found = DOCUMENT.run("Drill", change=slowly)
    assert rows in found, f"the copy does not have what is there: {rows}{found}"
    print(f"drill: restored beside the working server, {rows.strip()}, in {time.monotonic() - started:.1f} s", flush=True)


def goes_back_to_a_time(server):
    early = write_for(server, 1)
    time.sleep(1)
    then = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f+00")
    time.sleep(1)
    late = write_for(server, 1)
    time.sleep(BEHIND_MAX_S)
    restore(server, lambda text: text.replace("2026-11-18 12:00:00+00", then), crashed=False)
    found = set(groups(DATABASE))
    assert set(early) <= found, "writes before the time are missing"
    assert not found & set(late), "writes after the time are there"
    print(f"back in time: {len(early)} earlier writes are there, {len(late)} later ones are not", flush=True)


def crash(server):
    """PostgreSQL is killed while clients write: what they were told, by when, and the time of death."""
    writers = Writers(server.port)
    time.sleep(6)
    dead_at = time.time()
    os.kill(int((DATA / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    time.sleep(1)
    return writers.end(), dead_at


def keeps_everything_with_the_old_log(server):
    acknowledged, _ = crash(server)
    restore(server, without_target, copy_log=True)
    lost = set(acknowledged) - set(groups(DATABASE))
    assert not lost, f"{len(lost)} of {len(acknowledged)} writes are lost"
    print(f"crash, with the old log: {len(acknowledged)} writes, none lost", flush=True)


def loses_seconds_without_it(server):
    acknowledged, dead_at = crash(server)
    restore(server, without_target)
    found = groups(DATABASE)
    lost = [at for name, at in acknowledged.items() if name not in found]
    behind = max((dead_at - at for at in lost), default=0.0)
    assert behind < BEHIND_MAX_S, f"a write that was acknowledged {behind:.1f} s before the end is lost"
    kept = [at for name, at in acknowledged.items() if name in found]
    # Eight clients have a write under way at a time, so one may be told a little later than the next.
    assert kept and max(kept) < min(lost, default=dead_at) + 1, "writes are missing among those that came back"
    gone = f"those of the last {behind:.1f} s ({len(lost)}) are gone"
    print(f"crash, disk lost: of {len(acknowledged)} writes, {gone}", flush=True)


def main():
    DOCUMENT.run("Archive the log")
    server = Server()
    try:
        writers = Writers(server.port)
        time.sleep(2)
        DOCUMENT.run("Back up the files")
        assert len(writers.end()) > 100
        drill(server)
        goes_back_to_a_time(server)
        keeps_everything_with_the_old_log(server)
        loses_seconds_without_it(server)
    finally:
        server.kill()


if __name__ == "__main__":
    main()
