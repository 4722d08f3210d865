"""Runs every sample of the served docs pages, as a reader would: the commands with a shell, the programs with our clients.

Ids of the examples are replaced by real ones of the demonstration; nothing else is changed. Programs without our clients
(`plain-…`) are run by tests/foreign/guide.

Takes from the environment: BURSAR_URL, BURSAR_TOKEN, PYTHON (with the client installed), and for TypeScript WORK, a folder
with the packages `bursar` and `typescript`.
"""

import base64
import collections
import concurrent.futures
import hmac
import html.parser
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request

URL, TOKEN = os.environ["BURSAR_URL"], os.environ["BURSAR_TOKEN"]
WORK = pathlib.Path(os.environ["WORK"])
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()


class Samples(html.parser.HTMLParser):
    """The text of each sample of a page, by its name and language; and the pages of the navigation."""

    def __init__(self):
        super().__init__()
        self.found, self.pages, self.current, self.is_code = {}, [], None, False

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "data-sample" in attributes:
            self.current = (attributes["data-sample"], attributes["data-lang"])
        if tag == "code" and self.current:
            self.is_code = True
            self.found[self.current] = ""
        if tag == "a" and re.fullmatch(r"docs(/\w+)?", attributes.get("href", "")):
            self.pages.append(attributes["href"])

    def handle_endtag(self, tag):
        if tag == "code" and self.is_code:
            self.is_code, self.current = False, None

    def handle_data(self, data):
        if self.is_code:
            self.found[self.current] += data


def read(path):
    with urllib.request.urlopen(f"{URL}/{path}") as response:
        parser = Samples()
        parser.feed(response.read().decode())
        return parser


def get(path):
    request = urllib.request.Request(f"{URL}/v1/{path}", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


class Ids:
    """A real id for each example. What a sample uses up is given once."""

    def __init__(self):
        members = get("members?limit=100&isActive=true")["data"]
        self.pairs = collections.deque((group, member["id"]) for member in members for group in member["groups"])
        self.reminders = collections.deque(row["id"] for row in get("reminders?status=scheduled")["data"])
        self.first = {
            "mem": members[0]["id"],
            "grp": get("groups")["data"][0]["id"],
            "cmp": get("campaigns")["data"][0]["id"],
            "lst": get("store/listings")["data"][0]["id"],
            "ord": get("store/orders")["data"][0]["id"],
            "org": get("chapters")["data"][0]["id"],
            "evt": get("events")["data"][-1]["id"],
        }

    def put_in(self, name, text):
        ids = dict(self.first)
        if name == "removeGroupMember":
            ids["grp"], ids["mem"] = self.pairs.popleft()
        if name == "sendReminder":
            ids["rem"] = self.reminders.popleft()
        return re.sub(r"\b([a-z]{3})_01ka2k0v20[0-9a-z]{16}\b", lambda match: ids[match[1]], text)


def run(name, command, file):
    environment = os.environ | {"BURSAR_TOKEN": TOKEN, "WEBHOOK_SECRET": SECRET}
    done = subprocess.run([*command, file], env=environment, capture_output=True, text=True, timeout=120, cwd=WORK)
    assert done.returncode == 0, f"{name} failed:\n{file.read_text()}\n{done.stdout}{done.stderr[-2000:]}"
    return done.stdout


# Samples that show how to read an error.
REFUSED = {
    "errors",
    "reading",
    "invalid_request",
    "not_found",
    "method_not_allowed",
    "payload_too_large",
    "unsupported_media_type",
}


def check(name, lang, printed):
    assert printed.strip() or name == "write", f"{name} in {lang} prints nothing"
    if lang == "curl":
        is_refused = re.search(r'^\{"error":', printed, re.MULTILINE) is not None
        assert is_refused == (name in REFUSED), f"{name}: {printed[-500:]}"
    elif name in REFUSED:
        code = "invalid_request" if name == "errors" else "not_found"
        assert code in printed, f"{name} in {lang}: {printed}"


def check_receiver(lang, command, file):
    """A delivery that is signed is taken, a changed one is not, and a repetition changes nothing."""
    environment = os.environ | {"WEBHOOK_SECRET": SECRET}
    receiver = subprocess.Popen(
        [*command, file], env=environment, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        event = get("events?limit=1")["data"][0]
        body = json.dumps(event).encode()
        answers = [deliver(body, body), deliver(body, body + b" "), deliver(body, body)]
        assert answers == [204, 401, 204], f"the receiver in {lang} answers {answers}"
    finally:
        receiver.terminate()
    printed = receiver.communicate()[0]
    assert printed.split() == [event["type"], event["resourceId"]], f"{lang}: {printed}"


def deliver(signed, sent):
    event, seconds = json.loads(signed)["id"], str(int(time.time()))
    code = hmac.digest(base64.b64decode(SECRET[6:]), f"{event}.{seconds}.".encode() + signed, "sha256")
    headers = {
        "webhook-id": event,
        "webhook-timestamp": seconds,
        "webhook-signature": "v1," + base64.b64encode(code).decode(),
    }
    for attempt in range(200):
        request = urllib.request.Request("http://127.0.0.1:3000/", sent, headers)
        try:
            with urllib.request.urlopen(request) as response:
                return response.status
        except urllib.error.HTTPError as refused:
            return refused.code
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)  # It is not up yet.
    raise AssertionError("the receiver does not listen")


def main():
    samples = {}
    for page in dict.fromkeys(read("docs").pages):
        for (name, lang), text in read(page).found.items():
            if not name.startswith("plain-"):
                samples[name, lang] = text
    ids = Ids()
    names = {name for name, _ in samples}
    for operation in [row["operationId"] for methods in get("openapi.json")["paths"].values() for row in methods.values()]:
        for lang in ("curl", "python", "typescript"):
            assert (operation, lang) in samples, f"{operation} has no sample for {lang}"

    folder = WORK / "samples"
    folder.mkdir()
    jobs = []
    for (name, lang), text in samples.items():
        if name != "start":  # It shows where the token goes.
            assert "your token" not in text or name == "first-request", name
        text = ids.put_in(name, text).replace("export BURSAR_TOKEN='your token'\n", "")
        file = folder / f"{name}.{dict(curl='sh', python='py', typescript='ts')[lang]}"
        file.write_text(text + "\n")
        jobs.append((name, lang, file))
    # All of them at once: the types are right too.
    compiled = subprocess.run(["node", "node_modules/typescript/bin/tsc"], cwd=WORK, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stdout

    commands = {"curl": ["bash", "-e"], "python": [os.environ["PYTHON"]], "typescript": ["node"]}

    def do(job):
        name, lang, file = job
        if lang == "typescript":
            file = WORK / "out" / f"{file.stem}.js"
        if name == "receive":
            return None
        try:
            check(name, lang, run(f"{name} in {lang}", commands[lang], file))
        except AssertionError as wrong:
            return str(wrong)
        return None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(do, jobs) if text]
    assert not wrong, "\n".join(wrong)
    for lang in ("python", "typescript"):
        file = folder / "receive.py" if lang == "python" else WORK / "out/receive.js"
        check_receiver(lang, commands[lang], file)
    count = collections.Counter(lang for _, lang, _ in jobs)
    print(f"{len(names)} samples: " + ", ".join(f"{number} in {lang}" for lang, number in sorted(count.items())) + ", all run")


main()
