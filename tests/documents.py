"""Runs the commands of a document's ```console blocks, top to bottom, and compares what they print with what is shown.

    documents.py FILE     in the folder that it is to be run in

A line that begins with `$ ` is a command; after a `\\` it goes on in the next line. What follows is what it prints.

- `…` in what is shown stands for any text within a line; a line that is only `…`, for any lines.
- `WORD…` in a command stands for the last word that was printed and begins so: a token, an id.
- A command that is shown to end with a line of `bursar: …` has to fail; any other has to succeed.
- A command that starts a server goes on until the end. The next comes once it has printed what is shown.
- `scripts/test` is not run, which would run this again: it has to be there, and to explain itself.

A port of 127.0.0.1 becomes one that is free. With BURSAR_TEST_BINARY, nothing is built: that program is what
`cargo run` runs and what `cargo install` installs.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ADDRESS = re.compile(r"127\.0\.0\.1:[0-9]+")
SERVER = re.compile(r"\b(cargo run .*-- demo|bursar (serve|demo|worker|listen))\b")
# A release build takes minutes where nothing is built yet.
PATIENCE = 60 if "BURSAR_TEST_BINARY" in os.environ else 3600


def commands(text):
    """Each command of the document with the lines it shows."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        command, shown = None, []
        for line in block.splitlines():
            if command is not None and command.endswith("\\"):
                command += "\n" + line
            elif line.startswith("$ "):
                if command is not None:
                    yield command, shown
                command, shown = line[2:], []
            else:
                assert command is not None, f"a console block begins with `$ `, not with {line!r}"
                shown.append(line)
        if command is not None:
            yield command, shown


def pattern(shown):
    """The regular expression that what is printed has to match."""
    while shown and not shown[-1]:
        shown = shown[:-1]
    lines = []
    for line in shown:
        if line == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(re.escape(part) for part in line.split("…")) + r"\n")
    return re.compile("".join(lines))


class Shell:
    """Runs commands one by one; folder and exported variables stay."""

    def __init__(self, scratch):
        self.scratch, self.servers, self.printed, self.runs = scratch, [], "", 0
        self.addresses = {}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("BURSAR_")}
        usual = self.place("127.0.0.1:8080")
        self.environment |= {"BURSAR_LISTEN": usual, "BURSAR_BASE_URL": f"http://{usual}"}
        installed = scratch / "installed"
        # What cargo tells of its work is of no interest.
        self.environment |= {"CARGO_INSTALL_ROOT": str(installed), "CARGO_TERM_QUIET": "true"}
        path = f"{installed}/bin:{self.environment['PATH']}"
        if binary := os.environ.get("BURSAR_TEST_BINARY"):
            path = f"{self.stand_in(binary, installed)}:{path}"
        self.environment["PATH"] = path
        (scratch / "exports").write_text("")
        (scratch / "folder").write_text(os.getcwd())

    def stand_in(self, binary, installed):
        """A `cargo` that takes the program which is built already."""
        folder = self.scratch / "bin"
        folder.mkdir()
        cargo, binary, bin = folder / "cargo", shlex.quote(binary), shlex.quote(f"{installed}/bin")
        cargo.write_text(
            "#!/bin/sh\n"
            'case "$*" in\n'
            f'"run --release -- "*) shift 3; exec {binary} "$@" ;;\n'
            f'"install --locked --path crates/bursar") mkdir -p {bin} && cp {binary} {bin}/bursar ;;\n'
            '*) echo "cargo $*: not known here" >&2; exit 1 ;;\n'
            "esac\n"
        )
        cargo.chmod(0o755)
        (folder / "bursar").symlink_to(os.environ["BURSAR_TEST_BINARY"])
        return folder

    def place(self, text):
        """The text with ports that are free here."""

        def free(found):
            if found[0] not in self.addresses:
                with socket.socket() as unused:
                    unused.bind(("127.0.0.1", 0))
                    self.addresses[found[0]] = f"127.0.0.1:{unused.getsockname()[1]}"
            return self.addresses[found[0]]

        return ADDRESS.sub(free, text)

    def fill_in(self, command):
        def last(found):
            words = re.findall(rf"\b{re.escape(found[1])}\w+", self.printed)
            assert words, f"nothing was printed that begins with {found[1]}"
            return words[-1]

        return self.place(re.sub(r"(\w+)…", last, command))

    def run(self, command, shown):
        """What is wrong; nothing when all is well."""
        if command.split()[0] == "scripts/test":
            command, shown = "scripts/test --help", ["Usage: scripts/test …", "…"]
        command = self.fill_in(command)
        expected = pattern([self.place(line) for line in shown])
        scratch = shlex.quote(str(self.scratch))
        script = (
            f'. {scratch}/exports; cd "$(cat {scratch}/folder)"\n{command}\n'
            f"status=$?; export -p >{scratch}/exports; pwd >{scratch}/folder; exit $status"
        )
        self.runs += 1
        log = self.scratch / f"{self.runs}.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                ["bash", "-c", script], env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
        self.servers.append(process)
        is_server = SERVER.search(command) is not None
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            if is_server and expected.fullmatch(self.read(log)):
                break
            time.sleep(0.05)
        printed = self.read(log)
        self.printed += printed
        told = f"--- shown\n{expected_text(shown)}--- printed\n{printed}---"
        if is_server and process.poll() is not None:
            return f"the server ended\n{told}"
        last = [line for line in shown if line][-1:]
        must_fail = any(line.startswith("bursar: ") for line in last)
        if not is_server and (process.poll() == 0) == must_fail:
            return f"exit code {process.poll()}\n{told}"
        if not expected.fullmatch(printed):
            return f"prints something else\n{told}"
        return None

    @staticmethod
    def read(log):
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in log.read_text().splitlines()]
        while lines and not lines[-1]:
            lines.pop()
        return "".join(f"{line}\n" for line in lines)

    def end(self):
        for process in self.servers:
            if process.poll() is None:
                # Not SIGINT: a shell lets what it runs in the background ignore that.
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(20)


def expected_text(shown):
    return "".join(f"{line}\n" for line in shown)


def main(file):
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="bursar-documents."))
    shell = Shell(scratch)
    passed = failed = 0
    try:
        for command, shown in commands(pathlib.Path(file).read_text()):
            problem = shell.run(command, shown)
            if problem:
                failed += 1
                print(f"{file}: $ {command}\n{problem}")
            else:
                passed += 1
    finally:
        shell.end()
        shutil.rmtree(scratch)
    assert passed + failed > 0, f"{file} has no commands"
    print(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(sys.argv[1])
