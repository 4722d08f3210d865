"""Two replicas on PostgreSQL and Redis behind nginx with packaging/nginx/bursar.conf: one is killed and comes back, and
no request fails; counts are shared; the client's address is believed from nginx and from nobody else.

Takes from the environment: BURSAR, BURSAR_DATABASE, BURSAR_TEST_REDIS, BURSAR_TOKEN.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import uuid

PACKAGING = pathlib.Path(__file__).parents[2] / "packaging"
CONFIG = PACKAGING / "nginx/bursar.conf"
BURSAR, TOKEN, REDIS = os.environ["BURSAR"], os.environ.get("BURSAR_TOKEN"), os.environ["BURSAR_TEST_REDIS"]
FOLDER = pathlib.Path.cwd()
REQUESTS_EACH_TIME = 200


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start_replica(port, *more):
    log = open(FOLDER / f"{port}.log", "a")
    process = subprocess.Popen(
        [BURSAR, "serve", "--listen", f"127.0.0.1:{port}", "--redis", REDIS, "--trusted-proxy", "127.0.0.1",
         "--base-url", "https://dues.example.org", "--rate-limit-write", "100000", "--rate-limit-read", "100000", *more],
        stdout=log, stderr=log,
    )
    for _ in range(300):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return process
        except OSError:
            pass
        assert process.poll() is None, (FOLDER / f"{port}.log").read_text()
        time.sleep(0.1)
    raise SystemExit("a replica did not become ready")


def certificate():
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
         "-subj", "/CN=dues.example.org"], cwd=FOLDER, check=True, capture_output=True,
    )


def name_replicas(site, replicas):
    """A ready-made file is for two replicas. Its line for the second becomes one for each other."""
    lines = []
    for line in site.splitlines():
        if "127.0.0.1:8082" in line:
            lines += [line.replace("8082", str(port)).replace("two", f"other{port}") for port in replicas[1:]]
        else:
            lines.append(line.replace("127.0.0.1:8081", f"127.0.0.1:{replicas[0]}"))
    named = "\n".join(lines) + "\n"
    assert all(f"127.0.0.1:{port}" in named for port in replicas), named
    return named


def start_nginx(port, replicas):
    """nginx with the ready-made file; only ports, certificate and folders are this test's."""
    certificate()
    site = name_replicas(CONFIG.read_text(), replicas)
    for was, now in {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/certs/dues.example.org.pem": f"{FOLDER}/cert.pem",
        "/etc/ssl/private/dues.example.org.key": f"{FOLDER}/key.pem",
    }.items():
        assert was in site, was
        site = site.replace(was, now)
    (FOLDER / "bursar.conf").write_text(site)
    user = "user root;" if os.getuid() == 0 else ""
    temporary = "".join(f"{each}_temp_path {FOLDER}/{each};" for each in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (FOLDER / "nginx.conf").write_text(
        f"daemon off; {user} pid {FOLDER}/nginx.pid; error_log {FOLDER}/nginx.log; worker_processes 2;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary} include {FOLDER}/bursar.conf; }}\n"
    )
    command = ["/usr/sbin/nginx", "-p", str(FOLDER), "-c", str(FOLDER / "nginx.conf"), "-e", str(FOLDER / "nginx.log")]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    return subprocess.Popen(command)


context = ssl._create_unverified_context()


def call(method, path, body=None, source="127.0.0.1", port=None, tls=True, headers={}):
    make = http.client.HTTPSConnection if tls else http.client.HTTPConnection
    more = {"context": context} if tls else {}
    connection = make("127.0.0.1", port, timeout=60, source_address=(source, 0), **more)
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    return response.status, response.headers, answer


def main():
    front, metrics, *replicas = free_ports(4)
    processes = {port: start_replica(port, *more) for port, more in
                 zip(replicas, [["--metrics-listen", f"127.0.0.1:{metrics}"], []])}
    nginx = start_nginx(front, replicas)
    try:
        for _ in range(100):
            try:
                if call("GET", "/healthz", port=front)[0] == 200:
                    break
            except OSError:
                time.sleep(0.1)
        addresses(front, replicas)
        counts(front)
        alerts(metrics)
        survive(front, replicas, processes)
    finally:
        nginx.send_signal(signal.SIGQUIT)
        for process in processes.values():
            process.terminate()
        for process in [nginx, *processes.values()]:
            assert process.wait(30) is not None


def addresses(front, replicas):
    remaining = lambda **how: int(call("GET", "/v1/members", **how)[1]["RateLimit-Remaining"])
    behind = remaining(port=front, source="127.0.0.2")
    assert remaining(port=front, source="127.0.0.2") == behind - 1, "one client, one count, on both replicas"
    other = remaining(port=front, source="127.0.0.3")
    assert other == behind, "another client has a count of its own"
    forged = {"X-Forwarded-For": "198.51.100.7"}
    assert remaining(port=front, source="127.0.0.2", headers=forged) == behind - 2, "what a client claims is not believed"
    past = remaining(port=replicas[0], source="127.0.0.4", tls=False, headers=forged)
    assert remaining(port=replicas[1], source="127.0.0.4", tls=False) == past - 1, "only the proxy is believed"
    print("addresses: X-Forwarded-For is believed from nginx and from nobody else")


def counts(front):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    seen = [int(call("GET", "/v1/groups", port=front, headers=headers)[1]["RateLimit-Remaining"]) for _ in range(20)]
    assert seen == list(range(seen[0], seen[0] - 20, -1)), seen
    print("counts: 20 requests over two replicas, counted as one server would")


def alerts(metrics):
    """The rules use metrics that are there; promtool looks at the rest where it is installed."""
    _, _, exposed = call("GET", "/metrics", port=metrics, tls=False)
    there = set(re.findall(r"^(?:# TYPE )?(\w+)", exposed.decode(), re.MULTILINE))
    for file in ("alerts.yml", "alerts.test.yml"):
        used = set(re.findall(r"\bbursar_\w+", (PACKAGING / "prometheus" / file).read_text()))
        assert used and used <= there, f"{file} uses metrics that are not there: {used - there}"
    if shutil.which("promtool"):
        for command in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"], ["check", "config", "bursar.yml"]):
            subprocess.run(["promtool", *command], cwd=PACKAGING / "prometheus", check=True, stdout=subprocess.DEVNULL)
    print(f"alerts: every metric of the rules is there{', and promtool is content' if shutil.which('promtool') else ''}")


def survive(front, replicas, processes):
    """Reads and writes go on while a replica is killed, comes back, and the other is stopped as for an upgrade."""
    failures, made, lock, stopped = [], [], threading.Lock(), threading.Event()
    answered = 0

    def work(worker):
        nonlocal answered
        number = 0
        while not stopped.wait(0.01):
            number += 1
            headers = {"Authorization": f"Bearer {TOKEN}"}
            if number % 2:
                status, _, answer = call("GET", "/v1/members?limit=5", port=front, headers=headers)
                expected = 200
            else:
                headers |= {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"}
                name = f"By {worker}, {number}"
                status, _, answer = call("POST", "/v1/groups", {"name": name}, port=front, headers=headers)
                expected = 201
            with lock:
                answered += 1
                if status != expected:
                    failures.append((status, answer[:200]))
                elif expected == 201:
                    made.append(name)

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(4)]
    for worker in workers:
        worker.start()

    def go_on():
        enough = answered + REQUESTS_EACH_TIME
        while answered < enough:
            assert any(worker.is_alive() for worker in workers), "the workers ended"
            time.sleep(0.01)

    go_on()
    processes[replicas[0]].kill()
    processes[replicas[0]].wait()
    go_on()
    processes[replicas[0]] = start_replica(replicas[0])
    # Until nginx asks it again: `fail_timeout`, and a little.
    time.sleep(3)
    processes[replicas[1]].terminate()
    assert processes[replicas[1]].wait(60) == 0
    go_on()
    processes[replicas[1]] = start_replica(replicas[1])
    go_on()
    stopped.set()
    for worker in workers:
        worker.join()
    log = (FOLDER / "nginx.log").read_text()
    assert not failures, f"{log[-1500:]}\n{len(failures)} requests failed: {failures[:3]}"
    exported = subprocess.run([BURSAR, "export"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r'"name":"(By \d+, \d+)"', exported)
    assert sorted(names) == sorted(made), f"{len(names)} groups for {len(made)} requests"
    print(f"a replica killed, another stopped: {answered} requests, none failed, {len(made)} writes, each once")


if __name__ == "__main__":
    main()
