"""Writes the generated parts of the clients from the OpenAPI document.

    python3 clients/generate           write them
    python3 clients/generate --check   fail if a committed file is not what would be written

The document is the one that the tests of bursar-api commit. Only the standard library is needed, so that the check is
cheap. document.py reads it; python.py and typescript.py write what is specific to a language.
"""

import pathlib
import sys

import python
import typescript
from document import Document

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "crates/bursar-api/tests/it/openapi.json"


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    document = Document.read(DOCUMENT)
    files = {}
    for name, text in python.files(document).items():
        files[ROOT / "clients/python/src/bursar/_generated" / name] = text
    for name, text in typescript.files(document).items():
        files[ROOT / "clients/typescript/src/generated" / name] = text
    behind = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if arguments == ["--check"]:
        for path in behind:
            print(f"{path.relative_to(ROOT)} is not what the document says", file=sys.stderr)
        sys.exit("run `python3 clients/generate` and commit what it writes" if behind else 0)
    for path in behind:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[path])
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1:])
