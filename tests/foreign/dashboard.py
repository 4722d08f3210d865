"""Compares the metrics that the dashboard and the alerts name with those of a running server and a running worker.

    dashboard.py PACKAGING FOLDER     FOLDER: for a database and logs
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

packaging, folder = map(pathlib.Path, sys.argv[1:])
# Of Prometheus itself, node_exporter and kube-state-metrics.
FOREIGN = {
    "up", "ALERTS", "node_systemd_unit_state", "node_systemd_timer_last_trigger_seconds",
    "kube_cronjob_status_last_successful_time", "kube_job_status_failed",
}
NAME = re.compile(r"\b(?:bursar|node|kube)_[a-z_]+|\bup\b")


def measured(*arguments, until, without=None):
    """The names at /metrics of a process that is started for it, once it shows what is waited for."""
    port = 20000 + (os.getpid() + len(arguments)) % 12000
    environment = os.environ | {"BURSAR_DATABASE": f"sqlite:{folder}/dashboard.db"}
    command = [os.environ["BURSAR"], *(argument.format(port=port) for argument in arguments)]
    with (folder / f"{arguments[0]}.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
            except OSError:
                text = ""
            if until in text:
                break
            assert process.poll() is None and time.monotonic() < deadline, text + (folder / f"{arguments[0]}.log").read_text()
            time.sleep(0.1)
        if without:
            # Longer than workers wait between two measurements.
            time.sleep(12)
            text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
            assert without not in text, text
    finally:
        process.terminate()
        process.wait(60)
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    names = set(kinds)
    for name, kind in kinds.items():
        if kind == "histogram":
            names |= {f"{name}_{end}" for end in ("bucket", "sum", "count")}
    return names


def expressions():
    dashboard = json.loads((packaging / "grafana/bursar.json").read_text())
    ids, places = [], []
    for panel in dashboard["panels"]:
        ids.append(panel["id"])
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        for other in places:
            apart = (at["x"] >= other["x"] + other["w"] or other["x"] >= at["x"] + at["w"]
                     or at["y"] >= other["y"] + other["h"] or other["y"] >= at["y"] + at["h"])
            assert apart, f"{panel['title']} covers another panel"
        places.append(at)
        if panel["type"] != "row":
            assert panel["targets"] and panel["description"], panel["title"]
        for target in panel.get("targets", []):
            yield f"the panel {panel['title']}", target["expr"]
    assert len(ids) == len(set(ids)), "two panels have one id"
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"the variable {variable['name']}", variable["query"]["query"]
    alerts = (packaging / "prometheus/alerts.yml").read_text()
    for rule in re.split(r"^      - alert: ", alerts, flags=re.MULTILINE)[1:]:
        yield f"the alert {rule.split()[0]}", rule[rule.index("expr:"):rule.index("labels:")]


SERVE = ("serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s", "--metrics-listen", "127.0.0.1:{port}")
# Queues are measured every 10 seconds, by workers.
SIGN = "\nbursar_worker_queue_length{"
server = measured(*SERVE, until=SIGN)
worker = measured("worker", "--worker-metrics-listen", "127.0.0.1:{port}", until=SIGN)
# The alerts BursarNoWorker and BursarWebhookDisabled rest on that.
assert not measured(*SERVE, "--no-worker", until="\nbursar_requests_in_flight ", without=SIGN) - server
known = server | worker
used, count = set(), 0
for where, expression in expressions():
    names = set(NAME.findall(expression))
    assert names, f"{where} names no metric: {expression}"
    unknown = names - known - FOREIGN
    assert not unknown, f"{where} names {unknown}, which nothing measures"
    used |= names
    count += 1
    # A query that Prometheus cannot read.
    if not where.startswith("the variable") and not where.startswith("the alert"):
        rule = folder / "rule.yml"
        readable = expression.replace("$instance", ".*")
        rule.write_text(json.dumps({"groups": [{"name": "one", "rules": [{"record": "one", "expr": readable}]}]}))
        subprocess.run(["promtool", "check", "rules", rule], check=True, stdout=subprocess.DEVNULL)
# The other way round: what is measured is shown.
shown = {re.sub(r"_(bucket|sum|count)$", "", name) for name in used}
missing = {re.sub(r"_(bucket|sum|count)$", "", name) for name in known} - shown
assert not missing, f"no panel and no alert shows {missing}"
print(f"{count} queries name {len(used - FOREIGN)} metrics, and all of them are measured")
