"""Prints the licenses of the crates that are linked into bursar, for packages of the program.

Usage: cargo metadata --format-version 1 | licenses.py

A license text that many crates share is printed once, with the names of all of them.
"""

import json
import pathlib
import sys

NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def linked(metadata):
    """The packages that the program is made of: its dependencies, without those of tests and builds."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    left = [id for id, package in packages.items() if package["name"] == "bursar" and package["source"] is None]
    found = set(left)
    while left:
        for dependency in nodes[left.pop()]["deps"]:
            if dependency["pkg"] not in found and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                found.add(dependency["pkg"])
                left.append(dependency["pkg"])
    foreign = [packages[id] for id in found if packages[id]["source"] is not None]
    return sorted(foreign, key=lambda package: (package["name"], package["version"]))


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(NAMES))
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in files]


def main():
    packages = linked(json.load(sys.stdin))
    if len(packages) < 50:
        sys.exit(f"only {len(packages)} crates are linked: is this bursar's metadata?")
    print("The crates in bursar, their licenses, and where their source is.\n")
    owners = {}
    for package in packages:
        name = f"{package['name']} {package['version']}"
        source = f"https://crates.io/crates/{package['name']}/{package['version']}"
        print(f"{name}: {package['license'] or 'see below'}, {source}")
        for text in texts(package):
            owners.setdefault(text, []).append(name)
    for text, names in owners.items():
        print(f"\n{'-' * 78}\n{', '.join(names)}\n{'-' * 78}\n\n{text}")


main()
