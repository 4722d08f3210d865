"""Bursar as a source for dlt: every list, kept up to date by `updatedSince`.

`python bursar.py` loads it into DuckDB; README.md beside this file says how to configure it.
"""

import dlt
from dlt.sources.rest_api import rest_api_resources

LISTS = {
    "members": "members",
    "groups": "groups",
    "payments": "payments",
    "reimbursements": "reimbursements",
    "reminders": "reminders",
    "cards": "cards",
    "campaigns": "campaigns",
    "store_listings": "store/listings",
}


@dlt.source(name="bursar", max_table_nesting=0)
def bursar(
    base_url: str = dlt.config.value,
    token: str = dlt.secrets.value,
    chapters: list[str] = (),
    page_size: int = 100,
):
    """`chapters` are the ids of child chapters whose rosters to bring; for national organizations.

    Each chapter is a resource of its own, because each organization has a change clock of its own.
    """
    lists = LISTS | {f"chapter_members_{chapter}": f"chapters/{chapter}/members" for chapter in chapters}
    yield from rest_api_resources({
        "client": {
            "base_url": f"{base_url.rstrip('/')}/v1/",
            "auth": {"type": "bearer", "token": token},
            "paginator": {"type": "cursor", "cursor_path": "nextCursor", "cursor_param": "cursor"},
        },
        "resource_defaults": {
            "primary_key": "id",
            "write_disposition": "merge",
            "endpoint": {
                "data_selector": "data",
                "params": {"limit": page_size, "updatedSince": "{incremental.start_value}"},
                # The largest updatedAt of a finished walk is the right updatedSince of the next one: no lag is needed.
                "incremental": {"cursor_path": "updatedAt", "initial_value": "1970-01-01T00:00:00Z"},
            },
        },
        "resources": [{"name": name, "endpoint": {"path": path}} for name, path in lists.items()],
    })


if __name__ == "__main__":
    # DuckDB's file gets the pipeline's name, and cannot tell a dataset of the same name from it.
    pipeline = dlt.pipeline("bursar_copy", destination="duckdb", dataset_name="bursar")
    print(pipeline.run(bursar()))
