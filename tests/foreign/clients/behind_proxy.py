"""Runs a program behind the proxy of spoiling.py, and demands that it called every operation of the document.

Takes BURSAR_URL from the environment, and gives the program another. `behind_proxy.py DOCUMENT COMMAND…`.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import spoiling

document, *command = sys.argv[1:]
proxy = spoiling.Proxy(os.environ["BURSAR_URL"])
done = subprocess.run(command, env=os.environ | {"BURSAR_URL": proxy.address})
assert done.returncode == 0, f"{command} failed"
missing = []
for path, methods in json.loads(pathlib.Path(document).read_text())["paths"].items():
    pattern = re.compile(re.sub(r"\{\w+\}", "[^/?]+", path) + r"(?:\?.*)?")
    for method, operation in methods.items():
        called = any(made == method.upper() and pattern.fullmatch(to) for made, to, _ in proxy.requests)
        missing += [] if called else [operation["operationId"]]
assert not missing, f"never called: {missing}"
assert proxy.spoiled() > 20
print(f"{len(proxy.requests)} requests, {proxy.spoiled()} spoiled, every operation called")
