"""Checks a bill of materials against CycloneDX's schema, and its components against Cargo.lock.

    bill.py BILL LOCK
"""

import json
import sys
import tomllib

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

bill_file, lock_file = sys.argv[1:]
text = open(bill_file).read()
bill = json.loads(text)
version = SchemaVersion["V" + bill["specVersion"].replace(".", "_")]
problem = JsonStrictValidator(version).validate_str(text)
assert problem is None, problem
locked = {(package["name"], package["version"]) for package in tomllib.load(open(lock_file, "rb"))["package"]}
listed = {(component["name"], component["version"]) for component in bill["components"]}
assert listed <= locked, listed - locked
for name in ("hyper", "rusqlite", "rustls", "ring", "jiff", "bursar-domain"):
    assert any(name == listed_name for listed_name, _ in listed), f"{name} is not listed"
for name in ("proptest", "tempfile", "bursar-testing"):
    assert all(name != listed_name for listed_name, _ in listed), f"{name} is for tests only, and is listed"
print(f"{len(listed)} components, valid CycloneDX {bill['specVersion']}")
