"""What schemathesis takes for a failure and is none, one by one, each with its reason; and values that it cannot make.

`scripts/schemathesis.toml` names this file. An exception holds for one kind of failure, one status and one error code
of the API, so that any other answer to the same request still fails.
"""

import functools
import itertools
import json
import os
import pathlib
import tomllib
import urllib.error
import urllib.request

import jsonschema_rs
import schemathesis

# (failure, status, code of the error body): reason
EXCEPTIONS = {
    ("RejectedPositiveData", 400, "invalid_cursor"):
        "A cursor is what the page before gave. A schema says which characters it has, but one that was made up "
        "cannot carry a matching checksum, and one of another walk does not fit other filters.",
    ("RejectedPositiveData", 400, "invisible"):
        "A name must have a visible character. Which ones are is a table of Unicode's that no pattern can hold.",
    ("RejectedPositiveData", 400, "pruned"):
        "Events before a time that only the server knows are no longer kept, and a list from before it would have a gap.",
    ("UnsupportedMethodResponse", 401, "invalid_token"):
        "The document is the one thing that needs no token, so here schemathesis sends none. Another method on its path "
        "is no operation, and who has no token is told so (401) before which methods a path has (405).",
    ("AcceptedNegativeData", 200, "trimmed"):
        "White space around a text is taken off before its length counts. `maxLength` is of the whole text: a text that "
        "is too long only by the space around it is taken. Any other break of the body's schema still fails.",
    ("AcceptedNegativeData", 201, "trimmed"):
        "As above, for what is created.",
}

URL, TOKEN = os.environ["BURSAR_URL"], os.environ["BURSAR_TOKEN"]
SETTINGS = tomllib.loads((pathlib.Path(__file__).parents[2] / "scripts/schemathesis.toml").read_text())
cursors, keys = {}, set()
turns = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Every second made-up cursor becomes one that the server gave, and every second used key a new one."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    turn = next(turns)
    # The configuration's ids are for fuzzing; in these two phases ids are the document's examples, which name nothing.
    if case.meta.phase.name.value in ("examples", "coverage"):
        for name in case.path_parameters or {}:
            # Which events there are depends on what was done before.
            if setting := SETTINGS["parameters"].get(f"path.{name}"):
                ids = SETTINGS["dictionaries"][setting["dictionary"]]["values"]
                case.path_parameters[name] = ids[turn // 2 % len(ids)]
    if "cursor" in (case.query or {}) and turn % 2 and (cursor := real_cursor(case.formatted_path)):
        # Without filters: the cursor carries those of its walk.
        case.query = {name: value for name, value in case.query.items() if name == "limit"} | {"cursor": cursor}
    key = (case.headers or {}).get("Idempotency-Key")
    if key and key in keys and turn % 2:
        case.headers["Idempotency-Key"] = f"{key[:240]}-{turn}"
    keys.add(key)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """False drops the failure."""
    try:
        error = json.loads(response.content)["error"]
        code = error["code"]
        if "must have a visible character" in error["message"]:
            code = "invisible"
        elif "earlier events are no longer kept" in error["message"]:
            code = "pruned"
    except (ValueError, KeyError, TypeError):
        code = "trimmed" if is_valid_when_trimmed(case) else None
    query = case.query or {}
    if "cursor" in query and query["cursor"] in cursors.values() and not set(query) - {"limit", "cursor"}:
        return True  # The server gave it.
    return (type(failure).__name__, response.status_code, code) not in EXCEPTIONS


def is_valid_when_trimmed(case):
    """Whether the body breaks its schema, and no longer does without the space around its texts."""
    if not isinstance(case.body, dict):
        return False
    operation = document()["paths"][case.path][case.method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    validator = jsonschema_rs.validator_for(schema | {"components": document()["components"]})
    trimmed = {name: text.strip() if isinstance(text, str) else text for name, text in case.body.items()}
    return not validator.is_valid(case.body) and validator.is_valid(trimmed)


@functools.cache
def document():
    with urllib.request.urlopen(f"{URL}/v1/openapi.json") as response:
        return json.load(response)


def real_cursor(path):
    """The cursor of a list's second page; none where there is no such list or page."""
    if path not in cursors:
        request = urllib.request.Request(f"{URL}{path}?limit=1", headers={"Authorization": f"Bearer {TOKEN}"})
        try:
            with urllib.request.urlopen(request) as response:
                cursors[path] = json.load(response)["nextCursor"]
        except urllib.error.HTTPError:
            cursors[path] = None
    return cursors[path]
