"""Installs, upgrades, removes and purges the Debian package in a bare Debian, with systemd running.

    packages.py ROOT OLD NEW     ROOT: the Debian; OLD and NEW: folders with a package, NEW with SHA256SUMS as well

What docs/install.md shows for Debian is what is run.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))

from container import Container  # noqa: E402
from documents import commands, expected_text, pattern  # noqa: E402

OPEN_LINK = REPOSITORY / "tests/foreign/open_link.py"


def by_the_document(debian, version):
    """Every command of the document's Debian section, in turn; then the first sign-in with the link it printed."""
    text = (REPOSITORY / "docs/install.md").read_text()
    section = re.search(r"^## Debian and Ubuntu\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    steps = list(commands(section))
    assert len(steps) >= 8, steps
    began, signed_in = time.monotonic(), None
    for command, shown in steps:
        status, printed = debian.run(command)
        printed = "".join(f"{line.rstrip()}\n" for line in printed.strip().splitlines())
        print(f"$ {command}\n{printed}", end="", flush=True)
        told = f"$ {command}\nexit code {status}\n--- shown\n{expected_text(shown)}--- printed\n{printed}---"
        assert status == 0, told
        assert pattern(shown).fullmatch(printed), told
        if "sign-in-link" in command:
            opened = subprocess.run(
                [*debian.inside("--net"), sys.executable, OPEN_LINK, printed.strip(), "River Club"],
                capture_output=True, text=True, timeout=60,
            )
            assert opened.returncode == 0, opened.stdout + opened.stderr
            signed_in = time.monotonic() - began
    assert signed_in is not None and signed_in < 300, signed_in
    print(f"from the package to the first sign-in: {signed_in:.1f} s, by the commands of docs/install.md")
    assert version in debian.must("bursar --version")


def files_and_rights(debian):
    rights = "stat --format='%U:%G %a'"
    for path, expected in (
        ("/var/lib/bursar", "bursar:bursar 700"),
        ("/var/lib/bursar/bursar.db", "bursar:bursar 600"),
        ("/var/lib/bursar/backups", "bursar:bursar 700"),
        ("/etc/bursar/bursar.env", "root:root 600"),
        ("/usr/bin/bursar", "root:root 755"),
    ):
        assert debian.must(f"{rights} {path}").strip() == expected, path
    for path in (
        "man/man1/bursar.1.gz", "man/man1/bursar-token-create.1.gz", "man/man8/bursar-admin.8.gz",
        "bash-completion/completions/bursar", "zsh/vendor-completions/_bursar", "fish/vendor_completions.d/bursar.fish",
        "doc/bursar/copyright", "doc/bursar/changelog.gz", "doc/bursar/third-party-licenses.txt.gz",
        "doc/bursar/bursar.cdx.json.gz", "doc/bursar/examples/grafana/bursar.json",
    ):
        # A slim Debian leaves out manual pages and documents; this one must not be such.
        debian.must(f"test -s /usr/share/{path}")
    assert debian.must("systemctl show --property=User --value bursar").strip() == "bursar"
    # On the machine itself, and nowhere else.
    listening = debian.must("awk '$4 == \"0A\" { print $2 }' /proc/net/tcp /proc/net/tcp6").split()
    assert listening == ["0100007F:1F90"], listening
    debian.must("systemd-analyze verify --man=no /lib/systemd/system/bursar*.service /lib/systemd/system/bursar*.timer")
    assert "disabled" in debian.run("systemctl is-enabled bursar-worker")[1]
    exposure = debian.must("systemd-analyze security --no-pager bursar | tail -n 1")
    assert re.search(r"level for bursar\.service: [01]\.", exposure), exposure


def commands_as_the_service(debian):
    debian.refused("setpriv --reuid=nobody --clear-groups bursar-admin check", "only root may do this")
    debian.refused("bursar-admin", "Usage: bursar-admin")
    # Neither the caller's variables nor its folder decide.
    printed = debian.must("cd /tmp && BURSAR_DATABASE=sqlite:/tmp/other.db bursar-admin organization list")
    assert "River Club" in printed, printed
    debian.must("test ! -e /tmp/other.db")
    assert debian.must("stat --format=%U /var/lib/bursar/*").split().count("root") == 0
    # Settings in quotes and with spaces, as systemd takes them.
    with_settings(debian, '  BURSAR_BASE_URL= "https://dues.example.org" ', lambda: (
        expect(debian.must("bursar-admin sign-in-link --user you@example.org"), "https://dues.example.org/console/sign-in/")))
    # `echo` makes one backslash of these.
    with_settings(debian, "BURSAR_SMTP_URL=smtp://you:p\\\\w@mail.example.org", lambda: (
        debian.refused("bursar-admin organization list", "put the value of BURSAR_SMTP_URL in single quotes")))


def expect(printed, part):
    assert part in printed, printed


def with_settings(debian, line, work):
    debian.must(f"cp -p /etc/bursar/bursar.env /root/kept.env && echo '{line}' >>/etc/bursar/bursar.env")
    try:
        work()
    finally:
        debian.must("cp -p /root/kept.env /etc/bursar/bursar.env")


def failing_starts(debian):
    def wrong_address():
        debian.must("systemctl stop bursar; systemctl reset-failed bursar")
        debian.run("systemctl start bursar")
        wait_for(lambda: "--listen" in debian.run("journalctl --unit bursar --lines 20 --output cat")[1],
                 lambda: debian.run("journalctl --unit bursar --lines 20 --output cat")[1])

    with_settings(debian, "BURSAR_LISTEN=nonsense", wrong_address)
    debian.must("systemctl reset-failed bursar; systemctl restart bursar")
    wait_for_server(debian)


def wait_for(ready, tell):
    deadline = time.monotonic() + 60
    while not ready():
        assert time.monotonic() < deadline, tell()
        time.sleep(0.2)


def wait_for_server(debian):
    wait_for(lambda: debian.run("bursar-admin health")[0] == 0, lambda: debian.run("systemctl status bursar")[1])


def backups(debian):
    folder = "/var/lib/bursar/backups"
    debian.must(f"rm -f {folder}/*; echo mine >{folder}/notes.txt")

    def rotate():
        names = []
        for _ in range(3):
            debian.must("systemctl start bursar-backup")
            names.append(debian.must(f"ls {folder}/*.db").split()[-1])
            time.sleep(1.1)
        left = debian.must(f"ls {folder}/*.db").split()
        assert left == names[1:], (left, names)
        debian.must(f"test -e {folder}/notes.txt")
        # A copy that is there can be restored.
        debian.must(f"bursar-admin check --database sqlite:{left[-1]}")

    with_settings(debian, "BURSAR_BACKUP_KEEP=2", rotate)
    with_settings(debian, "BURSAR_BACKUP_KEEP=two", lambda: debian.refused("systemctl start bursar-backup"))
    expect(debian.must("journalctl --unit bursar-backup --lines 5 --output cat"), 'at least 1, got "two"')
    with_settings(debian, "BURSAR_DATABASE=postgres://db.example.org/bursar",
                  lambda: debian.refused("systemctl start bursar-backup"))
    expect(debian.must("journalctl --unit bursar-backup --lines 5 --output cat"), "pg_dump")
    debian.must("systemctl reset-failed bursar-backup")


def removed_and_purged(debian, package):
    debian.must("apt-get remove --yes bursar")
    assert debian.run("systemctl is-active bursar")[1].strip() != "active"
    debian.must("test ! -e /usr/bin/bursar && test -e /etc/bursar/bursar.env && test -e /var/lib/bursar/bursar.db")
    # Removed and installed again, it goes on where it was.
    debian.must(f"apt-get install --yes {package}")
    wait_for_server(debian)
    expect(debian.must("bursar-admin organization list"), "River Club")
    printed = debian.must("apt-get purge --yes bursar")
    expect(printed, "/var/lib/bursar is kept")
    debian.must("test ! -e /etc/bursar && test -e /var/lib/bursar/bursar.db && id bursar")
    # What belongs to no package is all that is left.
    left = debian.must("find / -xdev -iname '*bursar*' -not -path '/proc/*' -not -path '/root/*' "
                       "-not -path '/var/lib/bursar*' -not -path '/tmp/*' -not -path '/run/*' "
                       "-not -path '/var/cache/*' -not -path '/var/log/*'").split()
    assert left == [], left


def upgraded(debian, old, new):
    """From the version before, with settings that the operator changed while the package changed them too."""
    debian.must("rm -rf /var/lib/bursar")
    debian.must(f"apt-get install --yes {old}")
    wait_for_server(debian)
    debian.must("bursar-admin organization create --name 'Hill Club' --kind independent")
    debian.must("echo BURSAR_LOG_FORMAT=json >>/etc/bursar/bursar.env; systemctl restart bursar")
    debian.must("systemctl disable --now bursar-check.timer")
    wait_for_server(debian)
    before = debian.must("systemctl show --property=MainPID --value bursar")

    # A backup that cannot be taken stops the upgrade, and nothing has changed.
    debian.must("rm -rf /var/lib/bursar/backups; touch /var/lib/bursar/backups")
    upgrade = f"apt-get install --yes -o Dpkg::Options::=--force-confold {new}"
    debian.refused(upgrade, "the backup before the upgrade failed, so nothing was upgraded")
    assert debian.must("systemctl show --property=MainPID --value bursar") == before
    expect(debian.must("dpkg --status bursar"), "Version: 0.0.9")
    debian.must("rm /var/lib/bursar/backups; systemctl reset-failed bursar-backup")

    print(debian.must(upgrade), end="")
    wait_for_server(debian)
    expect(debian.must("dpkg --status bursar"), "Status: install ok installed")
    assert debian.must("systemctl show --property=MainPID --value bursar") != before, "it was not restarted"
    assert len(debian.must("ls /var/lib/bursar/backups/*.db").split()) == 1
    expect(debian.must("tail -n 1 /etc/bursar/bursar.env"), "BURSAR_LOG_FORMAT=json")
    expect(debian.must("cat /etc/bursar/bursar.env.dpkg-dist"), "BURSAR_BACKUP_KEEP")
    expect(debian.must("bursar-admin organization list"), "Hill Club")
    assert debian.run("systemctl is-enabled bursar-check.timer")[1].strip() == "disabled"
    assert debian.run("systemctl is-active bursar-check.timer")[1].strip() == "inactive"

    # What the operator has stopped stays so.
    debian.must("systemctl stop bursar")
    debian.must(f"apt-get install --yes --reinstall {new}")
    assert debian.run("systemctl is-active bursar")[1].strip() == "inactive"


def main(root, old, new):
    old, new = next(pathlib.Path(old).glob("*.deb")), next(pathlib.Path(new).glob("*.deb"))
    home = pathlib.Path(root) / "root"
    for file in (old, new, new.parent / "SHA256SUMS"):
        shutil.copy(file, home)
    version = new.name.split("_")[1]
    with Container(root, pathlib.Path(root).parent / "container.log") as debian:
        by_the_document(debian, version)
        steps = (
            lambda: files_and_rights(debian),
            lambda: commands_as_the_service(debian),
            lambda: failing_starts(debian),
            lambda: backups(debian),
            lambda: removed_and_purged(debian, f"./{new.name}"),
            lambda: upgraded(debian, f"./{old.name}", f"./{new.name}"),
        )
        for step in steps:
            step()
    print(f"{len(steps) + 1} stories of the package")


main(*sys.argv[1:])
