"""A rolling restart under load: three replicas on PostgreSQL are stopped and started in turn, behind HAProxy with
packaging/haproxy/haproxy.cfg and behind nginx with packaging/nginx/bursar.conf, and no request fails.

Takes from the environment what replicas.py does.
"""

import http.client
import json
import signal
import subprocess
import threading
import time
import uuid

from replicas import (FOLDER, PACKAGING, TOKEN, call, certificate, context, free_ports, name_replicas, start_nginx,
                      start_replica)

CONFIG = PACKAGING / "haproxy/haproxy.cfg"


def start_haproxy(port, replicas):
    """HAProxy with the ready-made file; ports and certificate are this test's. Trying again is taken out of it, so that
    nothing but the replicas' own leaving keeps requests from failing."""
    certificate()
    (FOLDER / "haproxy.pem").write_text((FOLDER / "key.pem").read_text() + (FOLDER / "cert.pem").read_text())
    site = name_replicas(CONFIG.read_text(), replicas)
    for was, now in {
        "bind :443": f"bind 127.0.0.1:{port}",
        "/etc/haproxy/dues.example.org.pem": f"{FOLDER}/haproxy.pem",
        "option redispatch 1": "no option redispatch",
        "retries 2": "retries 0",
        "retry-on conn-failure empty-response response-timeout 502 503 504": "retry-on none",
    }.items():
        assert was in site, was
        site = site.replace(was, now)
    (FOLDER / "haproxy.cfg").write_text(site)
    command = ["haproxy", "-f", str(FOLDER / "haproxy.cfg")]
    subprocess.run([*command, "-c"], check=True, capture_output=True)
    return subprocess.Popen([*command, "-db"], stdout=open(FOLDER / "haproxy.log", "w"), stderr=subprocess.STDOUT)


class Load:
    """Four clients that keep their connections, reading and writing."""

    def __init__(self, port):
        self.port, self.stopped, self.lock = port, threading.Event(), threading.Lock()
        self.answered, self.failures = 0, []
        self.workers = [threading.Thread(target=self.work, daemon=True) for _ in range(4)]
        for worker in self.workers:
            worker.start()

    def work(self):
        connection, number = None, 0
        while not self.stopped.wait(0.005):
            number += 1
            headers = {"Authorization": f"Bearer {TOKEN}"}
            if number % 2:
                request, expected = ("GET", "/v1/members?limit=5", None), 200
            else:
                headers |= {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"}
                request, expected = ("POST", "/v1/groups", json.dumps({"name": "Restarted"})), 201
            # A third of the time on a new connection.
            if connection is None or number % 3 == 0:
                connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
            try:
                connection.request(*request, headers)
                response = connection.getresponse()
                told = response.read()
                failure = None if response.status == expected else (response.status, told[:200])
            except (OSError, http.client.HTTPException) as error:
                failure, connection = repr(error), None
            with self.lock:
                self.answered += 1
                if failure is not None:
                    self.failures.append(failure)

    def end(self):
        self.stopped.set()
        for worker in self.workers:
            worker.join()


def wait_for(port):
    for _ in range(100):
        try:
            if call("GET", "/healthz", port=port)[0] == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit("\n".join(["the proxy did not start", *(log.read_text()[-500:] for log in FOLDER.glob("*.log"))]))


def roll(name, start_proxy):
    front, *replicas = free_ports(4)
    processes = {port: start_replica(port) for port in replicas}
    proxy = start_proxy(front, replicas)
    try:
        wait_for(front)
        for path in ("/readyz", "/metrics"):
            assert call("GET", path, port=front)[0] == 404, f"{name} shows {path} to the world"
        load = Load(front)
        time.sleep(2)
        for port in replicas:
            processes[port].send_signal(signal.SIGTERM)
            assert processes[port].wait(60) == 0
            processes[port] = start_replica(port)
            # Until the proxy has found it again.
            time.sleep(5)
        load.end()
        assert not load.failures, f"{name}: {len(load.failures)} of {load.answered} failed: {load.failures[:3]}"
        assert load.answered > 500, f"{name}: only {load.answered} requests"
        print(f"{name}: three replicas restarted, {load.answered} requests, none failed", flush=True)
    finally:
        proxy.send_signal(signal.SIGQUIT if name == "nginx" else signal.SIGTERM)
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        for process in [proxy, *processes.values()]:
            process.wait(60)


def main():
    roll("HAProxy", start_haproxy)
    roll("nginx", start_nginx)


if __name__ == "__main__":
    main()
