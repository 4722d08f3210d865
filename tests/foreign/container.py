"""A bare Debian in a container of systemd-nspawn, booted with its own systemd and a network of its own."""

import os
import pathlib
import signal
import subprocess
import time

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Container:
    def __init__(self, root, log):
        self.root, self.log = pathlib.Path(root), pathlib.Path(log)

    def __enter__(self):
        # sudo looks the machine's own name up.
        (self.root / "etc/hostname").write_text("club\n")
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost club\n")
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                ["systemd-nspawn", f"--directory={self.root}", f"--machine=bursar-test-{os.getpid()}", "--boot",
                 "--private-network", "--register=no", "--keep-unit", "--console=pipe", "--quiet"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )
        try:
            self.leader = self.wait(self.child, "systemd-nspawn started nothing")
            self.wait(lambda: self.run("systemctl is-system-running")[1].strip() in ("running", "degraded"),
                      "systemd did not come up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait(self, ready, message):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            if found := ready():
                return found
            time.sleep(0.2)
        raise AssertionError(f"{message}\n{self.log.read_text()}")

    def child(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def inside(self, *namespaces):
        return ["nsenter", f"--target={self.leader}", *namespaces, "--"]

    def run(self, command, **variables):
        """Runs a command as root in /root. Its exit code, and all that it prints."""
        done = subprocess.run(
            [*self.inside("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wdns=/root"),
             "env", "-i", f"PATH={PATH}", "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
             *(f"{name}={value}" for name, value in variables.items()), "bash", "-c", command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        )
        return done.returncode, done.stdout

    def must(self, command, **variables):
        status, printed = self.run(command, **variables)
        assert status == 0, f"{command}: exit code {status}\n{printed}"
        return printed

    def refused(self, command, *parts, **variables):
        status, printed = self.run(command, **variables)
        assert status != 0, f"{command} succeeded\n{printed}"
        for part in parts:
            assert part in printed, f"{command} does not say {part!r}\n{printed}"
        return printed

    def __exit__(self, *_):
        # Halts what is inside; once more, and it is ended at once.
        for _ in range(2):
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(20)
                except subprocess.TimeoutExpired:
                    pass
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
