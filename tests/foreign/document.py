"""Commands of a document, run as they stand there: only paths and ports are replaced."""

import os
import pathlib
import re
import subprocess


class Document:
    """`replaced` maps what the document says to what is here; `become` is a command that runs another as the user that owns
    the database server."""

    def __init__(self, path, replaced, become=()):
        self.text = pathlib.Path(path).read_text()
        self.replaced, self.become = replaced, list(become)

    def blocks(self, heading):
        """The `sh` blocks of a section, without those of the sections below it."""
        found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##+ |\Z)", self.text, re.M | re.S)
        assert found, f"no section {heading}"
        return re.findall(r"^```sh\n(.*?)^```$", found[1], re.M | re.S)

    def block(self, heading, number=0):
        text = self.blocks(heading)[number]
        for was, now in self.replaced.items():
            text = text.replace(was, str(now))
        return text

    def run(self, heading, number=0, change=lambda text: text, **variables):
        """Runs a block. What it prints, and an error if a command fails. bursar is run by this user."""
        printed = ""
        for part in re.split(r"(?m)^(bursar .*\n)", change(self.block(heading, number))):
            become = [] if part.startswith("bursar ") else self.become
            done = subprocess.run(
                [*become, "bash", "-euo", "pipefail", "-c", part], cwd="/", env=os.environ | variables, text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
            )
            assert done.returncode == 0, f"{heading}: exit code {done.returncode}\n{part}\n{done.stdout[-2000:]}"
            printed += done.stdout
        return printed
