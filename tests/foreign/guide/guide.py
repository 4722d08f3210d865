"""Runs the programs of docs/integrating.md, Python and TypeScript, against a server whose answers get lost.

Between a program and the server stands a proxy that spoils answers by turns: it does the work and cuts the connection,
does it and sends half of the answer, refuses with 503 or 429, or answers like a proxy whose server is down. However often
that happens, a key has one effect, and a copy equals the source.

Takes from the environment: BURSAR_URL, BURSAR_TOKEN. `guide.py py FILE` runs FILE; `guide.py ts FILE` writes what
is to be compiled, `guide.py js FILE` runs that.
"""

import http.client
import http.server
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).parents[3]
SAMPLES = ROOT / "crates/bursar-api/src/pages/samples"
DOCUMENT = ROOT / "docs/integrating.md"
URL, TOKEN = os.environ["BURSAR_URL"], os.environ["BURSAR_TOKEN"]
SAMPLE_URL = "http://127.0.0.1:8080"
# Not twice in a row for long, or the programs would rightly give up.
SPOILED = itertools.cycle(["cut", None, "half", "503", None, "429", "502", None, None])
spoiled = []

PYTHON_MORE = """
copy, since = {}, None
since = sync("/v1/members", copy, since)
first = next(iter(copy.values()))
call("PATCH", "/v1/members/" + first["id"], json={"firstName": "Changed by Python"})
since = sync("/v1/members", copy, since)
import json as j
print("COPY" + j.dumps(copy), "GROUP" + group["id"])
"""
TYPESCRIPT_MORE = """
const copy = new Map<string, any>();
let since = await sync("/v1/members", copy);
const [first] = copy.values();
await call("PATCH", `/v1/members/${first.id}`, { body: { firstName: "Changed by TypeScript" } });
since = await sync("/v1/members", copy, since);
console.log("COPY" + JSON.stringify(Object.fromEntries(copy)), "GROUP" + group.id);
"""


class Proxy(http.server.BaseHTTPRequestHandler):
    def handle_any(self):
        how = next(SPOILED)
        spoiled.append(how)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if how in ("503", "429", "502"):
            self.send_response(int(how))
            if how != "502":
                self.send_header("Retry-After", "1")
            self.end_headers()
            self.wfile.write(b"<html>not JSON</html>")
            return
        server = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        server.request(self.command, self.path, body or None, headers)
        response = server.getresponse()
        answer = response.read()
        if how == "cut":
            self.connection.close()
            return
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() != "transfer-encoding":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer[: len(answer) // 2] if how == "half" else answer)
        self.close_connection = True

    do_GET = do_POST = do_PATCH = handle_any

    def log_message(self, *args):
        pass


def get(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def rows(path):
    page = get(f"{path}?limit=100")
    assert not page["hasMore"], "the demonstration has fewer"
    return {row["id"]: row for row in page["data"]}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


def sample(language, file):
    """The program as the served guide has it, of which the document shows the parts, all but the one that prints."""
    source = (SAMPLES / file).read_text()
    parts = re.split(r"^(?:#|//) \[\w+\]\n", source, flags=re.MULTILINE)[1:]
    known = {part.strip() for part in parts}
    shown = {block.strip() for block in blocks(language)}
    assert shown <= known, f"docs/integrating.md has a {language} block that is not in {file}: {sorted(shown - known)[0]}"
    assert len(known - shown) == 1, f"{file} has parts that docs/integrating.md does not show"
    return source


def check(name, command):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    alumni = lambda: {id for id, group in rows("/v1/groups").items() if group["name"] == "Alumni"}
    before = alumni()
    environment = os.environ | {"BURSAR_TOKEN": TOKEN, "ADDRESS": f"http://127.0.0.1:{server.server_port}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    *printed, last = done.stdout.strip().splitlines()
    made = alumni() - before
    copy, group = re.fullmatch(r"COPY(.*) GROUP(\w+)", last).groups()
    assert made == {group}, f"one key made {len(made)} groups"
    members = rows("/v1/members")
    assert json.loads(copy) == members, "the copy equals the source"
    assert {line.split()[0] for line in printed} == set(members)
    faults = sum(how is not None for how in spoiled)
    assert faults > 3 and any(row["firstName"].startswith("Changed by") for row in members.values())
    print(f"{name}: {len(spoiled)} requests, {faults} answers spoiled, one effect for one key, {len(members)} rows equal")


def main(what, file):
    if what == "py":
        source = sample("python", "client.py").replace(f'"{SAMPLE_URL}"', 'os.environ["ADDRESS"]')
        pathlib.Path(file).write_text(source + PYTHON_MORE)
        check("the Python program", [sys.executable, file])
    elif what == "ts":
        source = sample("typescript", "client.ts").replace(f'"{SAMPLE_URL}"', "process.env.ADDRESS")
        # An import makes it a module, which may await.
        pathlib.Path(file).write_text(f"export {{}};\n{source}{TYPESCRIPT_MORE}")
    else:
        check("the TypeScript program", ["node", file])


main(*sys.argv[1:])
