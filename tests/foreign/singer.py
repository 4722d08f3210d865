"""Reads the demonstration with the configuration in connectors/singer and tap-rest-api-msdk."""

import json
import os
import pathlib
import subprocess

import connectors

CONFIG = pathlib.Path(__file__).parents[2] / "connectors/singer/config.json"
TAP = os.environ["SINGER_TAP"]


def configure():
    """The ready-made file with the address, and its chapter once for every chapter. The token is in the environment."""
    config = json.loads(CONFIG.read_text())
    config["api_url"] = f"{connectors.URL}/v1"
    *streams, template = config["streams"]
    for chapter in connectors.CHAPTERS:
        streams.append(json.loads(json.dumps(template).replace("CHAPTER", chapter)))
    config["streams"] = streams
    pathlib.Path("config.json").write_text(json.dumps(config))
    return streams


def sync():
    environment = os.environ | {"TAP_REST_API_MSDK_BEARER_TOKEN": connectors.TOKEN}
    args = [TAP, "--config", "config.json", "--config=ENV"]
    if pathlib.Path("state.json").exists():
        args += ["--state", "state.json"]
    done = subprocess.run(args, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "ERROR" not in done.stderr, done.stderr[-4000:]
    rows, state = {}, None
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["type"] == "RECORD":
            # The tap writes a list as a text.
            row = message["record"]
            if "groups" in row:
                row["groups"] = json.loads(row["groups"])
            rows.setdefault(message["stream"], []).append(row)
        elif message["type"] == "STATE":
            state = message["value"]
    pathlib.Path("state.json").write_text(json.dumps(state))
    return rows


for stream in configure():
    connectors.check_schema(
        stream["name"], stream["schema"]["properties"], connectors.documented(stream["name"]),
        known=lambda field: {"type": "string"} if field["type"] == "array" else field,
    )
print("tap-rest-api-msdk:", connectors.check(sync, to_the_second=True))
