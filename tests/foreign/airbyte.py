"""Reads the demonstration with the manifest in connectors/airbyte, run by Airbyte's own program."""

import json
import os
import pathlib
import subprocess

import connectors

MANIFEST = pathlib.Path(__file__).parents[2] / "connectors/airbyte/manifest.yaml"
PROGRAM = os.environ["AIRBYTE"]
EMPTY = {name: dict.fromkeys(connectors.documented(name)) for name in connectors.LISTS}


def run(*args, refused=False):
    done = subprocess.run(
        [PROGRAM, *args, "--manifest-path", MANIFEST, "--config", "config.json"], capture_output=True, text=True
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    errors = [log for log in only("LOG", messages) if log["level"] not in ("INFO", "DEBUG")]
    assert done.returncode == 0 and bool(errors) == refused, (done.stderr[-2000:], str(errors)[:4000])
    return messages


def only(kind, messages):
    body = {"CONNECTION_STATUS": "connectionStatus"}.get(kind, kind.lower())
    return [message[body] for message in messages if message["type"] == kind]


def sync():
    messages = run("read", "--catalog", "catalog.json", "--state", "state.json")
    states = {state["stream"]["stream_descriptor"]["name"]: state for state in only("STATE", messages)}
    pathlib.Path("state.json").write_text(json.dumps(list(states.values())))
    rows = {}
    for record in only("RECORD", messages):
        # A field that is null is left out.
        rows.setdefault(record["stream"], []).append(EMPTY[record["stream"]] | record["data"])
    return rows


def configure(**more):
    pathlib.Path("config.json").write_text(json.dumps({"base_url": connectors.URL, "token": connectors.TOKEN} | more))


def discover():
    (catalog,) = only("CATALOG", run("discover"))
    streams = catalog["streams"]
    pathlib.Path("catalog.json").write_text(json.dumps({
        "streams": [
            {"stream": stream, "sync_mode": "incremental", "destination_sync_mode": "append_dedup"} for stream in streams
        ]
    }))
    return {stream["name"]: stream for stream in streams}


configure(token="nobody")
(status,) = only("CONNECTION_STATUS", run("check", refused=True))
assert status["status"] == "FAILED" and "invalid_token" in status["message"], status

# Chapters are optional, and one that is added later comes whole.
configure()
pathlib.Path("state.json").write_text("[]")
discover()
assert not [name for name in sync() if name.startswith("chapter")]
newest, *others = connectors.CHAPTERS
configure(chapters=[{"id": chapter} for chapter in others])
discover()
sync()
configure(chapters=[{"id": chapter} for chapter in connectors.CHAPTERS])
streams = discover()
whole = connectors.walk(connectors.LISTS[f"chapter_members_{newest}"])
added = sync()[f"chapter_members_{newest}"]
assert {row["id"] for row in added} == set(whole), "a chapter that is added later comes with all its rows"

(status,) = only("CONNECTION_STATUS", run("check"))
assert status["status"] == "SUCCEEDED", status
for name, stream in streams.items():
    assert stream["source_defined_primary_key"] == [["id"]] and stream["default_cursor_field"] == ["updatedAt"], stream
    connectors.check_schema(name, stream["json_schema"]["properties"], connectors.documented(name))
pathlib.Path("state.json").write_text("[]")
print("airbyte-cdk:", connectors.check(sync))
