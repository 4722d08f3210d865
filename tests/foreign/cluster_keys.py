"""The same idempotency key from many clients over three replicas, with a failover in the middle: one effect each."""

import asyncio
import json
import time
import uuid

from cluster_nodes import Promotion

CLIENTS = 200
# How many of the clients send a key. Every hundredth key is sent by all of them.
SHARE = 8


class Connection:
    def __init__(self, port):
        self.port, self.streams = port, None

    async def create(self, name, key, token):
        """The status and the body; status 0 if there is no response."""
        body = json.dumps({"name": name}).encode()
        head = (f"POST /v1/groups HTTP/1.1\r\nHost: bursar\r\nAuthorization: Bearer {token}\r\nIdempotency-Key: {key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        try:
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            writer.write(head.encode() + body)
            return await asyncio.wait_for(self.read(reader), 45)
        except (OSError, EOFError, asyncio.TimeoutError):
            self.close()
            return 0, None

    async def read(self, reader):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if line)
        told = await reader.readexactly(int(fields["content-length"]))
        if fields.get("connection") == "close":
            self.close()
        return int(head[0].split()[1]), told

    def close(self):
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


class Shared:
    """One key. Its clients begin with it at about the same time."""

    def __init__(self, number):
        self.name, self.key, self.ids = f"Shared {number}", str(uuid.uuid4()), set()


async def client(number, keys, world, token, seen):
    connection = Connection(world.ports[number % 3])
    for place, shared in enumerate(keys):
        if place % 100 and (place * SHARE + number) % (CLIENTS // SHARE):
            continue
        deadline = time.monotonic() + 150
        while True:
            status, told = await connection.create(shared.name, shared.key, token)
            seen[status] = seen.get(status, 0) + 1
            if status == 201:
                shared.ids.add(json.loads(told)["id"])
                break
            assert status in (0, 409, 503), f"{status}: {told}"
            assert time.monotonic() < deadline, f"{shared.name} was not acknowledged within 150 s"
            await asyncio.sleep(0.1)
    connection.close()


async def run(world, keys, token, seen):
    clients = [asyncio.create_task(client(number, keys, world, token, seen)) for number in range(CLIENTS)]
    while sum(bool(shared.ids) for shared in keys) < len(keys) // 2:
        assert not any(task.done() and task.exception() for task in clients), "a client failed"
        await asyncio.sleep(0.05)
    old = world.cluster.primary()
    promotion = Promotion(world.cluster, old)
    old.kill()
    await asyncio.gather(*clients)
    promotion.wait()
    old.start()


def check(world, count):
    keys, seen = [Shared(number) for number in range(count)], {}
    asyncio.run(run(world, keys, world.new_token("keys"), seen))
    world.cluster.wait_whole()
    effects = {}
    for group in world.exported("group"):
        effects.setdefault(group["name"], []).append(group["id"])
    for shared in keys:
        assert len(shared.ids) == 1 and effects.get(shared.name) == list(shared.ids), (
            f"{shared.name}: responses name {shared.ids}, the database has {effects.get(shared.name)}")
    assert seen.get(0, 0) + seen.get(503, 0), "the failover was not noticed"
    print(f"shared keys: {count} from {CLIENTS} clients over three replicas, {sum(seen.values())} requests ({seen}), one effect each",
          flush=True)
