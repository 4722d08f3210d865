"""Checks what no schema says of the manifests and the Compose file: they fit together, and name what bursar has.

    manifests.py PACKAGING
"""

import pathlib
import subprocess
import sys
import tomllib

import yaml

packaging = pathlib.Path(sys.argv[1])
version = tomllib.loads((packaging / "../Cargo.toml").read_text())["workspace"]["package"]["version"]
folder = packaging / "kubernetes"
kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
assert kustomization["images"][0]["newTag"] == version, "kustomization.yaml has another version"
named = set(kustomization["resources"])
assert named == {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml", "secret.example.yaml"}, named
objects = [each for name in named for each in yaml.safe_load_all((folder / name).read_text())]
secrets = {each["metadata"]["name"]: each for each in yaml.safe_load_all((folder / "secret.example.yaml").read_text())}
config = next(each for each in objects if each["kind"] == "ConfigMap")


def pods():
    for each in objects:
        spec = each.get("spec", {})
        if each["kind"] == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            yield each["metadata"]["name"], spec["template"]


found = dict(pods())
assert set(found) == {"bursar", "bursar-worker", "bursar-backup", "bursar-check"}, set(found)
for name, pod in found.items():
    spec = pod["spec"]
    assert spec["securityContext"]["runAsNonRoot"] and not spec["automountServiceAccountToken"], name
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"], name
        assert context["capabilities"] == {"drop": ["ALL"]} and "memory" in container["resources"]["limits"], name
        for reference in container.get("envFrom", []):
            target = reference.get("secretRef") or reference["configMapRef"]
            assert target["name"] in secrets or target["name"] == config["metadata"]["name"], target
    for volume in spec["volumes"]:
        assert "secret" not in volume or volume["secret"]["secretName"] in secrets, volume

server = found["bursar"]
probes = server["spec"]["containers"][0]
assert probes["readinessProbe"]["httpGet"]["path"] == "/readyz" and probes["livenessProbe"]["httpGet"]["path"] == "/healthz"
readiness = probes["readinessProbe"]
assert readiness["periodSeconds"] * readiness["failureThreshold"] < 7, "a server stops before it is seen as not ready"
for kind in ("PodDisruptionBudget", "Service"):
    each = next(each for each in objects if each["kind"] == kind)
    selector = each["spec"]["selector"]
    assert selector.get("matchLabels", selector) == server["metadata"]["labels"], kind

# Files are up to 10 MB, and ingress-nginx allows 1 MB by default.
ingress = next(each for each in objects if each["kind"] == "Ingress")
assert ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-body-size"] == "11m"
assert "client_max_body_size 11m;" in (packaging / "nginx/bursar.conf").read_text()

# Every variable is one that the program, its worker or its image knows.
compose = yaml.safe_load((packaging / "compose/compose.yaml").read_text())
networks = {name: set(service["networks"]) for name, service in compose["services"].items()}
assert networks["caddy"] & networks["bursar"] == {"proxy"}, "Caddy reaches bursar from an address that is not trusted"
reference = (packaging / "../docs/reference/commands.md").read_text()
variables = {*config["data"], *secrets["bursar"]["stringData"], *compose["services"]["bursar"]["environment"]}
for variable in variables:
    assert f"`{variable}`" in reference, f"{variable} is no setting of bursar"
assert f":-{version}}}" in compose["services"]["bursar"]["image"], "compose.yaml has another version"
example = (packaging / "compose/.env.example").read_text()
for variable in ("POSTGRES_PASSWORD", "BURSAR_DOMAIN", "BURSAR_SMTP_URL", "BURSAR_MAIL_FROM"):
    assert f"\n{variable}=" in example, f".env.example has no {variable}"
# The shell in the backup job.
backup = found["bursar-backup"]["spec"]["containers"][0]["command"][-1]
subprocess.run(["shellcheck", "--shell=sh", "--exclude=SC2012", "-"], input=backup, text=True, check=True)
print(f"{len(objects)} objects, {len(variables)} settings")
