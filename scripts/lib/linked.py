"""Leaves in a bill of materials what is linked into the program: cargo-cyclonedx also lists what only tests need.

Usage: linked.py BILL TREE >OUT, where TREE has a line `NAME vVERSION …` for each crate, from `cargo tree --prefix none`.
"""

import json
import sys

bill = json.load(open(sys.argv[1]))
words = [line.split() for line in open(sys.argv[2]) if line.strip()]
linked = {(name, version.removeprefix("v")) for name, version, *_ in words}
left_out = {one["bom-ref"] for one in bill["components"] if (one["name"], one["version"]) not in linked}
bill["components"] = [one for one in bill["components"] if one["bom-ref"] not in left_out]
bill["dependencies"] = [
    one | ({"dependsOn": [ref for ref in one["dependsOn"] if ref not in left_out]} if "dependsOn" in one else {})
    for one in bill["dependencies"]
    if one["ref"] not in left_out
]
json.dump(bill, sys.stdout, indent=2, ensure_ascii=False)
print()
