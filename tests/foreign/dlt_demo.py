"""Loads the demonstration into DuckDB with the source in connectors/dlt."""

import datetime
import json
import os
import subprocess
import sys

os.environ |= {
    "RUNTIME__DLTHUB_TELEMETRY": "false",
    "RUNTIME__LOG_LEVEL": "ERROR",
    "SCHEMA__NAMING": "direct",
    "DLT_DATA_DIR": os.path.join(os.getcwd(), "dlt"),
    "SOURCES__BURSAR__BASE_URL": os.environ["BURSAR_URL"],
    "SOURCES__BURSAR__TOKEN": os.environ["BURSAR_TOKEN"],
    "SOURCES__BURSAR__CHAPTERS": json.dumps(os.environ["BURSAR_CHAPTERS"].split()),
}

import dlt

import connectors
from bursar import __file__ as program
from bursar import bursar

pipeline = dlt.pipeline("demo", destination=dlt.destinations.duckdb("demo.duckdb"), dataset_name="bursar")


def sync():
    """The rows of this load alone."""
    pipeline.run(bursar()).raise_on_failed_jobs()
    (load,) = pipeline.last_trace.last_load_info.loads_ids
    rows = {}
    with pipeline.sql_client() as client:
        for name in connectors.LISTS:
            with client.execute_query(f'SELECT * FROM "{name}" WHERE _dlt_load_id = %s', load) as cursor:
                fields = [column[0] for column in cursor.description]
                # A column that was always null is not there.
                empty = dict.fromkeys(connectors.documented(name))
                rows[name] = [as_api(empty | dict(zip(fields, row))) for row in cursor.fetchall()]
    return rows


def as_api(row):
    """A row of the destination as the API writes it."""
    for field, value in row.items():
        if isinstance(value, datetime.datetime):
            row[field] = value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        elif isinstance(value, datetime.date):
            row[field] = value.isoformat()
    if isinstance(row.get("groups"), str):
        row["groups"] = json.loads(row["groups"])
    return {field: value for field, value in row.items() if not field.startswith("_dlt")}


print(f"dlt {dlt.__version__}:", connectors.check(sync))

# As a program, with names as dlt makes them.
os.environ["SCHEMA__NAMING"] = "snake_case"
subprocess.run([sys.executable, program], check=True, stdout=subprocess.DEVNULL)
copy = dlt.attach("bursar_copy", destination=dlt.destinations.duckdb("bursar_copy.duckdb"), dataset_name="bursar")
with copy.sql_client() as client:
    ((found,),) = client.execute_sql("SELECT count(first_name) FROM members")
assert found == len(connectors.walk("members")), f"{found} members in bursar_copy.duckdb"
