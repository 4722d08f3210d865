"""Syncs with dlt's rest_api source while rows change, and compares every row and field at the end.

Takes from the environment: BURSAR_URL, BURSAR_TOKEN, BURSAR (the binary), BURSAR_DATABASE.
"""

import datetime
import json
import os
import random
import subprocess
import sys
import threading
import urllib.request
import uuid

os.environ |= {
    "RUNTIME__DLTHUB_TELEMETRY": "false",
    "RUNTIME__LOG_LEVEL": "ERROR",
    # Names as the API has them, and lists in one column.
    "SCHEMA__NAMING": "direct",
    "DLT_DATA_DIR": os.path.join(os.getcwd(), "dlt"),
}

import dlt

# The ready-made source, from connectors/dlt.
import bursar

URL, TOKEN, BURSAR = os.environ["BURSAR_URL"], os.environ["BURSAR_TOKEN"], os.environ["BURSAR"]
NATIONAL = "org_01jbst1c00e008000000000000"
CHAPTER = "org_01jbst1c01e009wdvsq5zmmz0n"
LISTS = bursar.LISTS | {f"chapter_members_{CHAPTER}": f"chapters/{CHAPTER}/members"}
RUNS_BESIDE_WRITER = 4
# Small pages, so that each walk has many and a row can change between two of them.
PAGE = 7
random = random.Random(20261115)


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/v1/{path}", data=data, headers=headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def import_records(records):
    with open("records.ndjson", "w") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    subprocess.run([BURSAR, "import", "records.ndjson"], check=True, stdout=subprocess.DEVNULL)


def made_id(prefix, number):
    """An id of the right shape; the fixture's own are made in November 2024."""
    return f"{prefix}_01jbst1d{number:018}"


def fill():
    """More rows than a page holds, in every list that a bundle can fill."""
    groups = [made_id("grp", n) for n in range(20)]
    records = [
        {"type": "group", "id": id, "organizationId": NATIONAL, "name": f"Group {n}"} for n, id in enumerate(groups)
    ]
    for n in range(150):
        records.append({
            "type": "member", "id": made_id("mem", n), "organizationId": NATIONAL, "firstName": f"First {n}",
            "lastName": f"Last {n}", "email": f"n{n}@example.org", "joinDate": "2024-05-06" if n % 3 else None,
            "isActive": n % 5 > 0, "groups": sorted(random.sample(groups, 3)),
        })
        records.append(payment(n, "0.00"))
    for n in range(40):
        records.append({
            "type": "member", "id": made_id("mem", 1000 + n), "organizationId": CHAPTER, "firstName": f"Child {n}",
            "lastName": "Chapter", "email": f"c{n}@example.org", "isActive": True, "groups": [],
        })
    import_records(records)


def payment(n, paid):
    return {
        "type": "payment", "id": made_id("pay", n), "organizationId": NATIONAL, "memberId": made_id("mem", n),
        "description": f"Dues {n}", "amount": "125.00", "paidToDate": paid, "currency": "USD",
        "status": "partially_paid" if paid != "0.00" else "pending", "dueDate": "2026-12-31",
    }


class Writer(threading.Thread):
    """Changes rows over the API, and what the API cannot change by the command line, until it is told to stop."""

    def __init__(self):
        super().__init__(daemon=True)
        self.stopped, self.changes, self.failure = threading.Event(), 0, None

    def run(self):
        try:
            while not self.stopped.wait(0.002):
                self.change(self.changes)
                self.changes += 1
        except Exception as error:
            self.failure = error

    def change(self, n):
        member, group = made_id("mem", random.randrange(150)), made_id("grp", random.randrange(20))
        match n % 8:
            case 0 | 1 | 2:
                call("PATCH", f"members/{member}", {"firstName": f"Renamed {n}"})
            case 3:
                active = call("GET", f"members/{member}")["isActive"]
                call("PATCH", f"members/{member}", {"isActive": not active})
            case 4:
                call("PATCH", f"groups/{group}", {"description": f"As of {n}"})
            case 5:
                call("POST", "groups", {"name": f"New {n}"})
            case 6:
                groups = call("GET", f"members/{member}")["groups"]
                if groups:
                    call("DELETE", f"groups/{groups[0]}/members/{member}", {})
                else:
                    call("POST", "cards", {"name": f"Card {n}", "spendLimit": 12.34, "spendLimitFrequency": "weekly"})
            case 7 if n % 40 == 7:
                import_records([payment(random.randrange(150), f"{1 + n % 100}.50")])


def walk(path):
    """Every row of a list, as the source has it."""
    rows, cursor = [], ""
    while cursor is not None:
        page = call("GET", f"{path}?limit=100" + (f"&cursor={cursor}" if cursor else ""))
        rows += page["data"]
        cursor = page["nextCursor"]
    return rows


def as_api(value, expected):
    """A value of the destination as the API writes it."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(expected, list) and isinstance(value, str):
        return json.loads(value)
    return value


def compare(pipeline):
    rows_compared = fields_compared = 0
    with pipeline.sql_client() as client:
        for name, path in LISTS.items():
            with client.execute_query(f'SELECT * FROM "{name}"') as cursor:
                columns = [column[0] for column in cursor.description]
                found = [dict(zip(columns, row)) for row in cursor.fetchall()]
            stored = {row["id"]: row for row in found}
            assert len(stored) == len(found), f"{name}: an id is stored twice"
            rows = walk(path)
            missing = {row["id"] for row in rows} ^ set(stored)
            assert not missing, f"{name}: on one side only: {sorted(missing)[:5]}"
            for row in rows:
                for field, expected in row.items():
                    value = as_api(stored[row["id"]].get(field), expected)
                    assert value == expected, f"{name} {row['id']}.{field}: {value!r}, and {expected!r} at the source"
                    fields_compared += 1
            rows_compared += len(rows)
    return rows_compared, fields_compared


def main():
    fill()
    pipeline = dlt.pipeline("bursar", destination=dlt.destinations.duckdb("copy.duckdb"), dataset_name="bursar")
    loaded = []

    def sync():
        pipeline.run(bursar.bursar(URL, TOKEN, [CHAPTER], PAGE)).raise_on_failed_jobs()
        counts = pipeline.last_trace.last_normalize_info.row_counts
        loaded.append(sum(counts.get(name, 0) for name in LISTS))

    writer = Writer()
    writer.start()
    for _ in range(RUNS_BESIDE_WRITER):
        sync()
    writer.stopped.set()
    writer.join()
    if writer.failure:
        sys.exit(f"the writer failed: {writer.failure!r}")
    assert writer.changes > 100, f"only {writer.changes} changes: nothing was shown"
    sync()
    rows, fields = compare(pipeline)
    print(f"dlt {dlt.__version__}: {writer.changes} changes during {RUNS_BESIDE_WRITER} syncs; "
          f"rows loaded by each sync: {loaded}; {rows} rows and {fields} fields equal")


if __name__ == "__main__":
    main()
