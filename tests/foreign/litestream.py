"""A continuous copy of a SQLite database with Litestream: under load, while the server and Litestream are killed; then the
machine is lost, and what is restored has every write but those of the last seconds, and none without its predecessors.

Takes from the environment what writers.py does, and: LITESTREAM (the program), ROOT (of the repository).
"""

import datetime
import os
import pathlib
import re
import signal
import subprocess
import time

from document import Document
from writers import BOUND, FOLDER, Server, Writers, bursar, groups, write_for

ROOT, LITESTREAM = pathlib.Path(os.environ["ROOT"]), os.environ["LITESTREAM"]
DATA, CONFIG = FOLDER / "data", FOLDER / "litestream.yml"
DATABASE = f"sqlite:{DATA}/bursar.db"
HERE = {"/var/lib/bursar": DATA, "/mnt/backup/bursar": FOLDER / "replica", "/etc/litestream.yml": CONFIG}
DOCUMENT = Document(ROOT / "docs/recovery.md", HERE)
SECTION = "SQLite with Litestream"
# The file's sync-interval of a second, and the time that a busy machine takes for a sync.
BEHIND_MAX_S = 5.0


def configure():
    text = (ROOT / "packaging/litestream/litestream.yml").read_text()
    for was, now in HERE.items():
        assert was in text, was
        text = text.replace(was, str(now))
    CONFIG.write_text(text)


def start_litestream():
    log = open(FOLDER / "litestream.log", "a")
    command = DOCUMENT.block(SECTION, 0).split()
    return subprocess.Popen([*BOUND, *command], stdout=log, stderr=subprocess.STDOUT)


def copies_under_kills(server):
    """Server and Litestream are killed in turn under load. In the end, the copy and the database have equal exports."""
    litestream = start_litestream()
    writers = Writers(server.port)
    for _ in range(3):
        time.sleep(1)
        server.kill()
        server.start()
        time.sleep(1)
        litestream.kill()
        litestream.wait()
        time.sleep(0.5)
        litestream = start_litestream()
    time.sleep(1)
    acknowledged = writers.end()
    assert len(acknowledged) > 100, f"only {len(acknowledged)} writes"
    time.sleep(BEHIND_MAX_S)
    lost = set(acknowledged) - set(groups(DATABASE))
    assert not lost, f"the server itself lost {len(lost)} writes"
    compare("quiet.db")
    print(f"copy: {len(acknowledged)} writes while server and Litestream were killed 3 times each; the copy is equal")
    return litestream


def compare(name):
    command = [LITESTREAM, "restore", "-config", CONFIG, "-o", DATA / name, DATA / "bursar.db"]
    subprocess.run(command, check=True, capture_output=True)
    assert bursar("export", f"sqlite:{DATA}/{name}") == bursar("export", DATABASE), "the copy is not the database"


def goes_back_to_a_time(server):
    """What was there at a time comes back, and nothing that came later."""
    early = write_for(server, 1)
    time.sleep(BEHIND_MAX_S)
    then = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    time.sleep(BEHIND_MAX_S)
    late = write_for(server, 1)
    time.sleep(BEHIND_MAX_S)
    DOCUMENT.run(SECTION, 2, lambda text: text.replace("2026-11-18T12:00:00Z", then))
    found = set(groups(f"sqlite:{DATA}/earlier.db"))
    assert set(early) <= found, "writes before the time are missing"
    assert not found & set(late), "writes after the time are there"
    print(f"back in time: {len(early)} earlier writes are there, {len(late)} later ones are not")


def survives_the_machine(server, litestream):
    """Server and Litestream are killed at once. What the disk had is used for the comparison only."""
    writers = Writers(server.port)
    time.sleep(8)
    dead_at = time.time()
    server.process.send_signal(signal.SIGKILL)
    litestream.send_signal(signal.SIGKILL)
    server.process.wait()
    litestream.wait()
    acknowledged = writers.end()
    DOCUMENT.run(SECTION, 1)
    made, found = groups(f"sqlite:{DATA}/broken/bursar.db"), groups(DATABASE)
    lost = [at for name, at in acknowledged.items() if name not in found]
    behind = max((dead_at - at for at in lost), default=0.0)
    assert behind < BEHIND_MAX_S, f"a write that was acknowledged {behind:.1f} s before the end is lost"
    # What came back is the database as it was at a moment: nothing is missing that is older than something that is there.
    newest = max(found.values())
    holes = [name for name, at in made.items() if at < newest and name not in found]
    assert not holes, f"{len(holes)} writes are missing among those that came back"
    print(f"machine lost: of {len(acknowledged)} writes, those of the last {behind:.1f} s ({len(lost)}) are gone; no holes")

    server.start()
    litestream = start_litestream()
    more = write_for(server, 2)
    time.sleep(BEHIND_MAX_S)
    compare("again.db")
    print(f"restored: it serves, and {len(more)} new writes are copied")
    return litestream


def main():
    configure()
    server = Server()
    litestream = copies_under_kills(server)
    try:
        goes_back_to_a_time(server)
        litestream = survives_the_machine(server, litestream)
    finally:
        for process in (server.process, litestream):
            process.send_signal(signal.SIGINT)
            process.wait(30)
    errors = re.findall(r"^.*level=ERROR.*$", (FOLDER / "litestream.log").read_text(), re.MULTILINE)
    assert not errors, errors[:3]


if __name__ == "__main__":
    main()
