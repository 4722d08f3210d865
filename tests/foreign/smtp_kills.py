"""Delivers reminders to a foreign mail server, aiosmtpd, by two workers that are killed (-9) in turn, on SQLite and on
PostgreSQL at the same time.

A mail is written down before it is answered, with the worker process that handed it over: each process says a name of
its own in EHLO. A worker has one mail in hand and records its delivery before the next, so a kill can lose the reply
to one mail, the last of that process. That says of every second copy whether it may be there."""

import asyncio
import collections
import dataclasses
import datetime
import email
import email.policy
import json
import os
import pathlib
import random
import sys
import time

from aiosmtpd.smtp import SMTP

BURSAR = os.environ["BURSAR"]
LEASE_SECONDS = 2
# How long the server takes over each mail: the mails must outlast some kills.
TAKES_SECONDS = 0.15
# Between two kills.
LIVES_SECONDS = (1.0, 2.0)
# To every so many recipients, the server breaks the connection once instead of answering, with the mail taken.
CUT_EVERY = 20
PATIENCE_SECONDS = 600
# From the writing of the reminders to their time: their import must end before.
DUE_SECONDS = 20
KILLED = -9


@dataclasses.dataclass
class Mail:
    """A mail that the server has taken."""

    worker: str
    recipient: str
    message_id: str
    content: bytes
    # `answered`, `cut` by the server, or `gone` with its client before the answer.
    reply: str = "pending"


class Sink:
    """The mail server's handler: what it took, in order."""

    def __init__(self):
        self.mails, self.cut, self.server = [], set(), None

    async def handle_DATA(self, server, session, envelope):
        mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert len(envelope.rcpt_tos) == 1, envelope.rcpt_tos
        taken = Mail(session.host_name, envelope.rcpt_tos[0], mail["Message-ID"], envelope.content)
        self.mails.append(taken)
        try:
            await asyncio.sleep(TAKES_SECONDS)
        except asyncio.CancelledError:  # aiosmtpd's way to tell that the connection is lost
            taken.reply = "gone"
            raise
        number = int(taken.recipient.removeprefix("m").partition("@")[0])
        if number % CUT_EVERY == 0 and number not in self.cut:
            self.cut.add(number)
            taken.reply = "cut"
            server.transport.abort()
            return "451 4.3.0 never seen"
        taken.reply = "answered"
        return f"250 2.0.0 Ok: queued as {len(self.mails)}"

    async def start(self):
        """Starts to serve; the port."""
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: SMTP(self, hostname="sink.example.org", loop=loop), "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]


class Desk:
    """The program on one database."""

    def __init__(self, database):
        self.database = database

    async def run(self, *args):
        """Runs a command to its end; what it printed."""
        process = await asyncio.create_subprocess_exec(
            BURSAR, "--database", self.database, *args, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        printed, complained = await process.communicate()
        assert process.returncode == 0, f"bursar {' '.join(args)}: {complained.decode()}"
        return printed.decode()

    async def messages(self, organization):
        return json.loads(await self.run("messages", "--organization", organization, "--limit", "100000", "--json"))

    async def worker(self, port, name):
        return await asyncio.create_subprocess_exec(
            BURSAR, "--database", self.database, "worker", "--worker-lease", f"{LEASE_SECONDS}s", "--log-level", "error",
            "--smtp-url", f"smtp://127.0.0.1:{port}/{name}", stdout=asyncio.subprocess.DEVNULL)


def identifier(prefix, number):
    return f"{prefix}_01jbst1c00e008{number:012d}"


def members(count):
    """An organization with its members."""
    organization = identifier("org", 0)
    yield {"type": "organization", "id": organization, "name": "Zürcher Ruderclub", "kind": "independent"}
    for number in range(1, count + 1):
        yield {"type": "member", "id": identifier("mem", number), "organizationId": organization, "firstName": "Ada",
               "lastName": "Łoś", "email": f"m{number}@example.org"}


def reminders(count, due):
    """A reminder for each member."""
    for number in range(1, count + 1):
        yield {"type": "reminder", "id": identifier("rem", number), "organizationId": identifier("org", 0),
               "targetMemberId": identifier("mem", number), "method": "email", "subject": "Beiträge",
               "body": "Grüezi\n.\nMerci", "scheduledAt": due.isoformat()}


async def fill(engine, desk, count):
    """Imports reminders that are due soon. What is past at its import is never sent, so the database is made first."""
    file = pathlib.Path(f"{engine}.ndjson")

    async def load(records):
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        await desk.run("import", str(file))

    since = time.monotonic()
    await load(members(count))
    # As many reminders take about as long as the members did, on however busy a machine.
    seconds = max(DUE_SECONDS, 4 * (time.monotonic() - since))
    due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    await load(reminders(count, due))
    late = datetime.datetime.now(datetime.timezone.utc) - due
    assert late < datetime.timedelta(), f"{engine}: the import ended {late} after the reminders were due: too slow a machine"


async def deliver(engine, desk, count, seed):
    """Lets two workers deliver while they are killed in turn, and judges what the server took."""
    dice = random.Random(f"{engine} {seed}")
    await fill(engine, desk, count)
    organization = identifier("org", 0)
    sink = Sink()
    port = await sink.start()

    started, killed = 0, []

    async def start():
        nonlocal started
        started += 1
        name = f"worker-{started}"
        return name, await desk.worker(port, name)

    workers = [await start(), await start()]
    since = time.monotonic()
    try:
        while True:
            await asyncio.sleep(dice.uniform(*LIVES_SECONDS))
            messages = await desk.messages(organization)
            # Before the time has come there is none, and then they come in as the reminders run.
            if len(messages) == count and all(message["state"] == "delivered" for message in messages):
                break
            states = collections.Counter(message["state"] for message in messages)
            assert time.monotonic() - since < PATIENCE_SECONDS, f"{engine}: not delivered in time: {states}"
            name, victim = workers[len(killed) % 2]
            assert victim.returncode is None, f"{engine}: {name} ended by itself: {victim.returncode}"
            victim.kill()
            assert await victim.wait() == KILLED
            workers[len(killed) % 2] = await start()
            killed.append(name)
        for name, worker in workers:
            worker.terminate()
            assert await asyncio.wait_for(worker.wait(), 30) == 0, f"{engine}: {name} did not end well"
    finally:
        for _, worker in workers:
            if worker.returncode is None:
                worker.kill()
        sink.server.close()
    seconds = time.monotonic() - since

    copies, last = collections.defaultdict(list), {}
    for mail in sink.mails:
        copies[mail.recipient].append(mail)
        last[mail.worker] = mail
    everybody = {f"m{number}@example.org" for number in range(1, count + 1)}
    assert set(copies) == everybody, f"{engine}: without the mail: {sorted(everybody - set(copies))}"
    ids = {mails[0].message_id for mails in copies.values()}
    assert len(ids) == count and None not in ids, f"{engine}: {len(ids)} Message-IDs"
    lost = collections.Counter()
    for mails in copies.values():
        assert len({mail.message_id for mail in mails}) == 1, f"{engine}: copies under other Message-IDs: {mails}"
        assert len({mail.content for mail in mails}) == 1, f"{engine}: a copy is another mail: {mails}"
        assert mails[-1].reply != "cut", f"{engine}: nobody tried again: {mails[-1]}"
        for mail in mails[:-1]:
            in_hand = mail.worker in killed and last[mail.worker] is mail
            assert in_hand or mail.reply == "cut", f"{engine}: sent again although it was answered: {mail}"
            lost["cut" if mail.reply == "cut" else "kill"] += 1
    cuts = sum(mail.reply == "cut" for mail in sink.mails)
    assert cuts == count // CUT_EVERY, f"{engine}: {cuts} replies were cut"
    assert lost["kill"] <= len(killed), f"{engine}: {lost} by {len(killed)} kills"
    assert len(killed) >= 3, f"{engine}: only {len(killed)} kills: the server is too quick for this test"

    sent = json.loads(await desk.run("reminder", "list", "--organization", organization, "--status", "sent", "--json"))
    assert len(sent) == count, f"{engine}: {len(sent)} reminders are sent"
    assert "nothing is broken" in await desk.run("check")
    print(f"{engine}: {count} recipients, all have the mail; {len(killed)} kills and {cuts} replies cut left "
          f"{lost.total()} duplicates, {lost['kill']} by kills and {lost['cut']} by cuts; {seconds:.0f} s", flush=True)


async def command(*args):
    process = await asyncio.create_subprocess_exec(*args)
    assert await process.wait() == 0, args


async def main(count, seed):
    print(f"seed {seed}", flush=True)
    server, _, maintenance = os.environ["BURSAR_TEST_POSTGRES"].rpartition("/")
    name = f"bursar_smtp_{os.getpid()}"
    await command("createdb", "--maintenance-db", f"{server}/{maintenance}", "--template", "template0", "--locale", "C",
                  "--encoding", "UTF8", name)
    try:
        await asyncio.gather(deliver("sqlite", Desk(f"sqlite:{pathlib.Path.cwd()}/bursar.db"), count, seed),
                             deliver("postgres", Desk(f"{server}/{name}"), count, seed))
    finally:
        await command("dropdb", "--maintenance-db", f"{server}/{maintenance}", "--force", name)


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
