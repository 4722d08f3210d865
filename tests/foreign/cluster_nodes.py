"""The processes of a PostgreSQL cluster: etcd, three nodes of Patroni with packaging/cluster/patroni.yml, and HAProxy with
packaging/cluster/haproxy-postgres.cfg. Only ports, paths and passwords are the test's own.

Takes from the environment: OWNER (the command that runs another as the unprivileged user), POSTGRES_BIN, and PATRONI (a folder
of Python packages that this user can read).
"""

import http.client
import json
import os
import pathlib
import random
import secrets
import signal
import socket
import subprocess
import threading
import time

from replicas import FOLDER, PACKAGING

OWNER, POSTGRES_BIN = os.environ["OWNER"].split(), os.environ["POSTGRES_BIN"]
PATRONI = ["env", f"PYTHONPATH={os.environ['PATRONI']}", "python3"]
SUPERUSER, REPLICATION, BURSAR_PASSWORD = (secrets.token_hex(8) for _ in range(3))


def fill_in(path, replaced):
    """A ready-made file with other values. Each of those that are replaced must be there."""
    text = path.read_text()
    for was, now in replaced.items():
        assert was in text, f"{path.name} has no {was}"
        text = text.replace(was, now)
    return text


def fixed_ports(count):
    """Free ports below the range from which the kernel takes ports for outgoing connections, so that a program that is
    started again finds its port free."""
    found = set()
    while len(found) < count:
        port = random.randrange(20000, 32000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            found.add(port)
        except OSError:
            pass
    return list(found)


def wait_until(what, condition, seconds=120):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    logs = "\n".join(f"== {log.name}\n{log.read_text()[-3000:]}" for log in sorted(FOLDER.glob("*.log")))
    raise AssertionError(f"{logs}\nwaited {seconds} s in vain: {what}")


def rest(port, path):
    """Patroni's REST API: the status and the body, or None if it does not respond."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


def signal_to(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Node:
    def __init__(self, name, postgres_port, rest_port):
        self.name, self.postgres_port, self.rest_port = name, postgres_port, rest_port
        self.folder, self.patroni = FOLDER / "nodes" / name, None

    def write_configuration(self, etcd_port):
        text = fill_in(PACKAGING / "cluster/patroni.yml", {
            "etcd1.example.org:2379": f"127.0.0.1:{etcd_port}",
            "    - etcd2.example.org:2379\n    - etcd3.example.org:2379\n": "",
            "/etc/postgresql/db1.example.org": f"{FOLDER}/nodes/server",
            "db1.example.org:8008": f"127.0.0.1:{self.rest_port}",
            "db1.example.org:5432": f"127.0.0.1:{self.postgres_port}",
            "0.0.0.0:8008": f"127.0.0.1:{self.rest_port}",
            "0.0.0.0:5432": f"127.0.0.1:{self.postgres_port}",
            "name: db1": f"name: {self.name}",
            "/usr/lib/postgresql/15/bin": POSTGRES_BIN,
            "/var/lib/postgresql/15/bursar": f"{self.folder}/data",
            "/var/lib/postgresql/patroni.pgpass": f"{self.folder}/pgpass",
            "/var/run/postgresql": str(self.folder),
            "SUPERUSER_PASSWORD": SUPERUSER,
            "REPLICATION_PASSWORD": REPLICATION,
            # A frozen node of this test must not reset this machine.
            "mode: automatic": "mode: 'off'",
        })
        self.file = self.folder / "patroni.yml"
        self.file.write_text(text)

    def start(self):
        log = open(FOLDER / f"{self.name}.log", "a")
        self.patroni = subprocess.Popen([*OWNER, *PATRONI, "-m", "patroni", str(self.file)], stdout=log, stderr=log)

    def processes(self):
        """Patroni, the postmaster and all of its children."""
        found = [] if self.patroni.poll() is not None else [self.patroni.pid]
        try:
            postmaster = int((self.folder / "data/postmaster.pid").read_text().split()[0])
            if f"{self.folder}/data" not in pathlib.Path(f"/proc/{postmaster}/cmdline").read_text():
                return found
            found.append(postmaster)
            for thread in pathlib.Path(f"/proc/{postmaster}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
        except (OSError, IndexError):
            pass
        return found

    def send(self, number):
        for pid in self.processes():
            signal_to(pid, number)

    def kill(self):
        self.send(signal.SIGKILL)
        self.patroni.wait()

    def is_primary(self):
        found = rest(self.rest_port, "/primary")
        return found is not None and found[0] == 200


class Cluster:
    def __init__(self):
        etcd, peer, self.proxy_port, *ports = fixed_ports(9)
        self.etcd_port, self.peer_port = etcd, peer
        self.nodes = [Node(f"db{number + 1}", *ports[2 * number:2 * number + 2]) for number in range(3)]
        self.helpers = []

    def start(self):
        for folder in [FOLDER / "nodes/etcd", *(node.folder for node in self.nodes)]:
            folder.mkdir(parents=True)
        for node in self.nodes:
            node.write_configuration(self.etcd_port)
        self.make_certificate()
        owner = os.environ["OWNER_ID"]
        subprocess.run(["chown", "-R", owner, FOLDER / "nodes"], check=True)
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.peer_port}"
        self.helper("etcd", [
            *OWNER, "etcd", "--enable-v2", "--name", "one", "--data-dir", f"{FOLDER}/nodes/etcd",
            "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
            "--initial-advertise-peer-urls", peer, "--initial-cluster", f"one={peer}", "--unsafe-no-fsync",
        ])
        wait_until("etcd starts", lambda: rest(self.etcd_port, "/health"))
        self.nodes[0].start()
        wait_until("the first node is primary", self.nodes[0].is_primary, 60)
        for node in self.nodes[1:]:
            node.start()
        self.wait_whole()
        self.start_proxy()

    def helper(self, name, command):
        log = open(FOLDER / f"{name}.log", "w")
        self.helpers.append(subprocess.Popen(command, stdout=log, stderr=log))

    def make_certificate(self):
        """One for all nodes and for HAProxy, as they share an address here."""
        folder = FOLDER / "nodes"
        (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
        key = ["-newkey", "rsa:2048", "-nodes", "-subj", "/CN=db.example.org"]
        for command in (
            ["req", "-x509", *key, "-keyout", "ca.key", "-out", FOLDER / "ca.pem", "-days", "2"],
            ["req", "-new", *key, "-keyout", "server.key", "-out", "server.csr"],
            ["x509", "-req", "-in", "server.csr", "-CA", FOLDER / "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
             "-extfile", "names", "-out", "server.pem"],
        ):
            subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)

    def start_proxy(self):
        site = PACKAGING / "cluster/haproxy-postgres.cfg"
        replaced = {"127.0.0.1:5000": f"127.0.0.1:{self.proxy_port}", "default-server port 8008": "default-server"}
        for number, node in enumerate(self.nodes, 1):
            replaced[f"192.0.2.1{number}:5432 check"] = f"127.0.0.1:{node.postgres_port} check port {node.rest_port}"
        (FOLDER / "haproxy-postgres.cfg").write_text(fill_in(site, replaced))
        self.helper("haproxy", ["haproxy", "-db", "-f", str(FOLDER / "haproxy-postgres.cfg")])

    def hosts_url(self):
        """Every node in the URL. The first is not always the primary."""
        hosts = ",".join(f"127.0.0.1:{node.postgres_port}" for node in self.nodes)
        return f"postgres://bursar:{BURSAR_PASSWORD}@{hosts}/bursar?{self.tls()}"

    def proxy_url(self):
        place = f"127.0.0.1:{self.proxy_port}"
        return f"postgres://bursar:{BURSAR_PASSWORD}@{place}/bursar?target_session_attrs=read-write&{self.tls()}"

    def tls(self):
        return f"sslmode=verify-full&sslrootcert={FOLDER}/ca.pem"

    def psql(self, sql, node=None):
        port = (node or self.primary()).postgres_port
        environment = os.environ | {"PGPASSWORD": SUPERUSER, "PGCONNECT_TIMEOUT": "5"}
        command = [f"{POSTGRES_BIN}/psql", "-XAtq", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def patronictl(self, *arguments):
        command = [*OWNER, *PATRONI, "-c", "from patroni.ctl import ctl; ctl()", "-c", str(self.nodes[0].file), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, f"patronictl {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def primary(self):
        return wait_until("there is a primary", lambda: next((node for node in self.nodes if node.is_primary()), None))

    def members(self):
        """What a node that responds says about all of them."""
        for node in self.nodes:
            found = rest(node.rest_port, "/cluster")
            if found is not None and found[0] == 200:
                return found[1]["members"]
        return []

    def is_whole(self):
        """One primary, two standbys that stream from it, one of them synchronous."""
        members = self.members()
        states = sorted(member["state"] for member in members)
        roles = {member["role"] for member in members}
        return states == ["running", "streaming", "streaming"] and {"leader", "sync_standby"} <= roles

    def wait_whole(self):
        wait_until("the cluster is whole", self.is_whole, 180)

    def stop(self):
        """Throws everything away, so nothing has to end properly."""
        for node in self.nodes:
            if node.patroni is not None:
                node.send(signal.SIGKILL)
                node.patroni.wait()
        for helper in self.helpers:
            helper.kill()
            helper.wait()


class Promotion:
    """Notices when another node becomes primary, and when."""

    def __init__(self, cluster, old):
        self.at = self.node = None
        self.found = threading.Event()
        for node in cluster.nodes:
            if node is not old:
                threading.Thread(target=self.look, args=(node,), daemon=True).start()

    def look(self, node):
        deadline = time.monotonic() + 120
        while not self.found.is_set() and time.monotonic() < deadline:
            if node.is_primary() and not self.found.is_set():
                self.at, self.node = time.monotonic(), node
                self.found.set()
            time.sleep(0.05)

    def wait(self):
        assert self.found.wait(120), "no other node became primary within 120 s"
        return self
