"""Runs the programs of docs/integrating.md, Python and TypeScript, against a server whose answers get lost.

Between a program and the server stands the proxy of spoiling.py. However often it spoils answers, a key has one effect, and a
copy equals the source.

The receivers get events from `bursar listen`, deliveries that were changed, recorded ones, and old ones late.

Takes from the environment: BURSAR_URL, BURSAR_TOKEN, BURSAR (the program). `guide.py py FILE` runs FILE; `guide.py ts FILE`
writes what is to be compiled, `guide.py js FILE` runs that.
"""

import base64
import datetime
import hmac
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import spoiling

ROOT = pathlib.Path(__file__).parents[3]
SAMPLES = ROOT / "crates/bursar-api/src/pages/samples"
DOCUMENT = ROOT / "docs/integrating.md"
URL, TOKEN = os.environ["BURSAR_URL"], os.environ["BURSAR_TOKEN"]
SAMPLE_URL = "http://127.0.0.1:8080"

# With RECEIVE the program is a receiver, until its input ends.
PYTHON_MORE = """
import sys
import threading

if "RECEIVE" in os.environ:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.secret, server.copy = os.environ["RECEIVE"], {}
    catch_up(server.copy, os.environ["SINCE"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("PORT", server.server_port, flush=True)
    sys.stdin.read()
    print("COPY" + json.dumps({id: event["data"] for id, event in server.copy.items()}))
    sys.exit()
copy, since = {}, None
since = sync("/v1/members", copy, since)
first = next(iter(copy.values()))
call("PATCH", "/v1/members/" + first["id"], json={"firstName": "Changed by Python"})
since = sync("/v1/members", copy, since)
import json as j
print("COPY" + j.dumps(copy), "GROUP" + group["id"])
"""
TYPESCRIPT_MORE = """
if (process.env.RECEIVE) {
  const held = new Map<string, any>();
  await catchUp(held, process.env.SINCE!);
  const server = receiver(process.env.RECEIVE, held).listen(0, "127.0.0.1", () => {
    console.log("PORT", (server.address() as any).port);
  });
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.on("end", resolve));
  console.log("COPY" + JSON.stringify(Object.fromEntries([...held].map(([id, event]) => [id, event.data]))));
  process.exit();
}
const copy = new Map<string, any>();
let since = await sync("/v1/members", copy);
const [first] = copy.values();
await call("PATCH", `/v1/members/${first.id}`, { body: { firstName: "Changed by TypeScript" } });
since = await sync("/v1/members", copy, since);
console.log("COPY" + JSON.stringify(Object.fromEntries(copy)), "GROUP" + group.id);
"""


def get(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def rows(path):
    page = get(f"{path}?limit=100")
    assert not page["hasMore"], "the demonstration has fewer"
    return {row["id"]: row for row in page["data"]}


def blocks(language, document=DOCUMENT):
    found = re.findall(rf"^```{language}\n(.*?)^```$", document.read_text(), re.MULTILINE | re.DOTALL)
    return {block.strip() for block in found}


def sample(language, file):
    """The program as the served guide has it, of which the document shows the parts, all but the one that prints."""
    source = (SAMPLES / file).read_text()
    parts = re.split(r"^(?:#|//) \[\w+\]\n", source, flags=re.MULTILINE)[1:]
    known = {part.strip() for part in parts}
    # Those with our clients are run from the clients' own pages.
    shown = blocks(language) - blocks(language, ROOT / "clients" / language / "README.md")
    assert shown <= known, f"docs/integrating.md has a {language} block that is not in {file}: {sorted(shown - known)[0]}"
    assert len(known - shown) == 1, f"{file} has parts that docs/integrating.md does not show"
    return source


def check(name, command):
    proxy = spoiling.Proxy(URL)
    alumni = lambda: {id for id, group in rows("/v1/groups").items() if group["name"] == "Alumni"}
    before = alumni()
    environment = os.environ | {"BURSAR_TOKEN": TOKEN, "ADDRESS": proxy.address}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    *printed, last = done.stdout.strip().splitlines()
    made = alumni() - before
    copy, group = re.fullmatch(r"COPY(.*) GROUP(\w+)", last).groups()
    assert made == {group}, f"one key made {len(made)} groups"
    members = rows("/v1/members")
    assert json.loads(copy) == members, "the copy equals the source"
    assert {line.split()[0] for line in printed} == set(members)
    faults = proxy.spoiled()
    assert faults > 3 and any(row["firstName"].startswith("Changed by") for row in members.values())
    print(f"{name}: {len(proxy.requests)} requests, {faults} answers spoiled, one effect for one key, {len(members)} rows equal")


def patch(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), method="PATCH")
    request.add_header("Authorization", f"Bearer {TOKEN}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as response:
        return json.load(response)


SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


def sign(event, body, secret=SECRET, seconds=None):
    """The headers of a delivery."""
    seconds = str(int(seconds or time.time()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    code = hmac.digest(key, f"{event['id']}.{seconds}.".encode() + body, "sha256")
    signature = "v1," + base64.b64encode(code).decode()
    return {"webhook-id": event["id"], "webhook-timestamp": seconds, "webhook-signature": signature}


def check_receiver(name, command):
    """What happened before it was up, what is forwarded, and nothing that is forged."""
    first, second, *_ = rows("/v1/members")
    since = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    patch(f"/v1/members/{first}", {"firstName": "While it was down"})
    environment = os.environ | {"BURSAR_TOKEN": TOKEN, "ADDRESS": URL, "RECEIVE": SECRET, "SINCE": since}
    # Python's server writes a line for every request.
    receiver = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    line = ""
    while not line.startswith("PORT"):
        line = receiver.stdout.readline()
        assert line, "the receiver ended"
    to = f"http://127.0.0.1:{line.split()[1]}/"

    def deliver(headers, body):
        try:
            return urllib.request.urlopen(urllib.request.Request(to, body, headers), timeout=10).status
        except urllib.error.HTTPError as error:
            return error.code

    listen = subprocess.Popen(
        [os.environ["BURSAR"], "listen", "--json", "--url", URL, "--forward-to", to, "--secret", SECRET],
        env={"BURSAR_TOKEN": TOKEN}, stdout=subprocess.PIPE, text=True,
    )
    assert json.loads(listen.stdout.readline())["secret"] == SECRET
    for first_name in ("Once", "Twice"):
        patch(f"/v1/members/{second}", {"firstName": first_name})
    once, twice = get(f"/v1/events?resourceId={second}&createdSince={since}")["data"]
    events = [{"id": None}]
    while events[-1]["id"] != twice["id"]:
        events.append(json.loads(listen.stdout.readline()))
        assert events[-1]["status"] == 204, events[-1]
    listen.terminate()
    listen.wait()

    assert once["data"]["firstName"] == "Once"
    body = json.dumps(once).encode()
    changed = body.replace(b"Once", b"Mean")
    other = "whsec_" + base64.b64encode(bytes(32)).decode()
    two = sign(once, body, other)
    two["webhook-signature"] += " " + sign(once, body)["webhook-signature"]
    mixed = sign(once, body) | {"webhook-id": "evt_other"}
    for headers, sent, status in [
        (sign(once, body), body, 204),  # Old, and late: it changes nothing.
        (two, body, 204),
        (sign(once, body), changed, 401),
        (sign(once, body, other), body, 401),
        (sign(once, body, seconds=time.time() - 400), body, 401),
        (sign(once, body, seconds=time.time() + 400), body, 401),
        (mixed, body, 401),
        ({}, body, 401),
        ({"webhook-id": "x", "webhook-timestamp": "soon", "webhook-signature": "v1,"}, body, 401),
    ]:
        assert deliver(headers, sent) == status, (headers, sent, status)
    printed, _ = receiver.communicate()
    copy = json.loads(printed.strip().splitlines()[-1].removeprefix("COPY"))
    members = rows("/v1/members")
    assert {id: copy[id] for id in (first, second)} == {id: members[id] for id in (first, second)}
    assert copy[first]["firstName"] == "While it was down" and copy[second]["firstName"] == "Twice"
    print(f"{name} as a receiver: caught up, {len(events) - 1} events forwarded, 7 forged deliveries refused")


def main(what, file):
    if what == "py":
        source = sample("python", "client.py").replace(f'"{SAMPLE_URL}"', 'os.environ["ADDRESS"]')
        pathlib.Path(file).write_text(source + PYTHON_MORE)
        check("the Python program", [sys.executable, file])
        check_receiver("the Python program", [sys.executable, file])
    elif what == "ts":
        source = sample("typescript", "client.ts").replace(f'"{SAMPLE_URL}"', "process.env.ADDRESS")
        # An import makes it a module, which may await.
        pathlib.Path(file).write_text(f"export {{}};\n{source}{TYPESCRIPT_MORE}")
    else:
        check("the TypeScript program", ["node", file])
        check_receiver("the TypeScript program", ["node", file])


main(*sys.argv[1:])
