"""What the checks of the connectors share: the demonstration, changes to each of its lists, and the comparison.

Takes from the environment: BURSAR_URL, BURSAR_TOKEN, BURSAR (the binary), BURSAR_DATABASE, BURSAR_CHAPTERS.
"""

import json
import os
import subprocess
import urllib.request
import uuid

URL, TOKEN, BURSAR = os.environ["BURSAR_URL"], os.environ["BURSAR_TOKEN"], os.environ["BURSAR"]
CHAPTERS = os.environ["BURSAR_CHAPTERS"].split()
LISTS = {
    "members": "members",
    "groups": "groups",
    "payments": "payments",
    "reimbursements": "reimbursements",
    "reminders": "reminders",
    "cards": "cards",
    "campaigns": "campaigns",
    "store_listings": "store/listings",
} | {f"chapter_members_{chapter}": f"chapters/{chapter}/members" for chapter in CHAPTERS}


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/v1/{path}", data=data, headers=headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def run(*args):
    return subprocess.run([BURSAR, *args], check=True, stdout=subprocess.PIPE, text=True).stdout


def walk(path):
    """Every row of a list by its id, as the source has it."""
    rows, cursor = {}, ""
    while cursor is not None:
        page = call("GET", f"{path}?limit=100" + (f"&cursor={cursor}" if cursor else ""))
        rows |= {row["id"]: row for row in page["data"]}
        cursor = page["nextCursor"]
    return rows


def everything():
    return {name: walk(path) for name, path in LISTS.items()}


def change(source):
    """Changes rows of every list, over the API where it can, else by the command line."""
    some = lambda name, **having: next(
        row for row in source[name].values() if all(row[field] == value for field, value in having.items())
    )
    member = next(row for row in source["members"].values() if row["groups"])
    call("PATCH", f"members/{member['id']}", {"firstName": "Renamed"})
    call("DELETE", f"groups/{member['groups'][0]}/members/{member['id']}", {})
    call("POST", "groups", {"name": "Made between two syncs"})
    call("POST", "cards", {"name": "Ferry", "spendLimit": 12.34, "spendLimitFrequency": "weekly"})
    run("payment", "record", some("payments", status="pending")["id"], "--amount", "1.00", "--method", "cash")
    run("reimbursement", "submit", some("reimbursements", status="draft")["id"])
    organization = call("GET", "token")["organizationId"]
    run("reminder", "cancel", some("reminders", status="scheduled")["id"], "--organization", organization, "--yes")
    run("campaign", "set", some("campaigns", status="draft")["id"], "--note", "Changed between two syncs")
    run("listing", "set", some("store_listings")["id"], "--description", "Changed between two syncs")
    for chapter in CHAPTERS:
        run("member", "set", some(f"chapter_members_{chapter}")["id"], "--last-name", "Renamed")


def check(sync, to_the_second=False):
    """Syncs twice, with changes between, and compares.

    `sync` brings {list: [row, …]}; what it keeps between two calls is its own. A connector that keeps its state only to
    the second may bring again what changed within that second.
    """
    before = everything()
    first = sync()
    assert set(first) == set(LISTS), f"the lists that came: {sorted(first)}"
    copy = {}
    for name, rows in first.items():
        copy[name] = {row["id"]: row for row in rows}
        assert len(copy[name]) == len(rows), f"{name}: a row came twice"
        compare(name, copy[name], before[name])

    change(before)
    after = everything()
    second = sync()
    for name, rows in after.items():
        changed = {id for id, row in rows.items() if row != before[name].get(id)}
        assert changed, f"{name}: nothing changed, so nothing is shown"
        came = {row["id"] for row in second[name]}
        assert changed <= came, f"{name}: a change did not come: {sorted(changed - came)[:5]}"
        # `updatedSince` is inclusive: what changed at the newest time that the first sync saw comes once more.
        newest = max(row["updatedAt"] for row in before[name].values())
        if to_the_second:
            newest = newest[:19]
        overlap = {id for id, row in before[name].items() if row["updatedAt"] >= newest}
        assert came <= changed | overlap, f"{name}: came without a change: {sorted(came - changed - overlap)[:5]}"
        copy[name] |= {row["id"]: row for row in second[name]}
        compare(name, copy[name], rows)
    count = lambda sets: sum(len(rows) for rows in sets.values())
    return (f"{len(LISTS)} lists; {count(first)} rows of {count(before)} by the first sync, {count(second)} by the second; "
            f"{sum(len(row) for rows in copy.values() for row in rows.values())} fields equal")


def compare(name, found, expected):
    missing = set(found) ^ set(expected)
    assert not missing, f"{name}: on one side only: {sorted(missing)[:5]}"
    for id, row in expected.items():
        assert found[id] == row, f"{name} {id}: {found[id]!r}, and {row!r} at the source"


def check_schema(name, properties, documented, known=lambda field: field):
    """A schema that a connector declares has the fields of the API's own, with their types."""
    assert list(properties) == list(documented), f"{name}: the fields are {list(properties)}"
    for field, expected in documented.items():
        declared, expected = known(properties[field]), known(expected)
        for key in ("type", "format"):
            assert declared.get(key) == expected.get(key), f"{name}.{field}: {key} is {declared.get(key)}"


def documented(name):
    """The properties of a list's rows, as the OpenAPI document has them; of formats only what are times."""
    document = json.loads(run("openapi"))
    page = document["paths"]["/v1/" + ("chapters/{chapterId}/members" if name.startswith("chapter") else LISTS[name])]
    schema = page["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    page = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    row = document["components"]["schemas"][page["properties"]["data"]["items"]["$ref"].rsplit("/", 1)[1]]
    return {
        field: {key: value for key, value in schema.items() if key == "type" or value in ("date", "date-time")}
        for field, schema in row["properties"].items()
    }
