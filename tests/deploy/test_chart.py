"""The charts render what ``bayplan manifests`` prints, with what values change, and refuse values that make no sense."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import bayplan
from bayplan.app.install_manifests import manifests
from bayplan.framework.config.loading import load_config
from tests.deploy.charts import CHART, CRDS, VALUE_FILES, Helm, Objects, by_name

pytestmark = [pytest.mark.kube]  # Helm is built beside the control plane

ALL_PARTS = CHART / "ci" / "everything.yaml"
SERVICES = ("scheduler", "rebalancer", "annotator", "placement", "shadow", "ui")


def without_release(thing: dict[str, Any]) -> dict[str, Any]:
    """An object without what only a release has."""
    labels = thing["metadata"]["labels"]
    mine = {key: value for key, value in labels.items() if not key.startswith("helm.sh/") and key not in RELEASE_LABELS}
    plain = {**thing, "metadata": {**thing["metadata"], "labels": mine}}
    if thing["kind"] == "ConfigMap":
        plain["data"] = {name: yaml.safe_load(text) for name, text in thing["data"].items()}
    if thing["kind"] == "Deployment":
        plain["spec"]["template"]["metadata"].pop("annotations", None)
        container = plain["spec"]["template"]["spec"]["containers"][0]
        container.pop("imagePullPolicy", None)
        container["args"] = [each for each in container["args"] if not each.startswith("--leader-elect-resource-names")]
    return plain


RELEASE_LABELS = {"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by"}


@pytest.mark.parametrize("part", [*SERVICES, "sticky-vm"])
def test_without_values_a_part_is_what_bayplan_manifests_prints(helm: Helm, part: str) -> None:
    rendered = helm.rendered(f"--values={ALL_PARTS}", "--set=annotator.prometheusAddress=")
    printed = by_name(manifests(part))

    assert printed
    for key, thing in printed.items():
        assert without_release(rendered[key]) == without_release(thing)


def test_kinds_are_those_of_bayplan_manifests_and_are_kept(helm: Helm) -> None:
    rendered = helm.rendered("--set=placement=true", chart=CRDS)
    printed = by_name(manifests("crds") + "---\n" + manifests("placement-crds"))
    about_the_scheduler = {key for key in printed if key[1] == "bayplan-policy-reader"}

    assert rendered.keys() == printed.keys() - about_the_scheduler
    kinds = [thing for (kind, _), thing in rendered.items() if kind == "CustomResourceDefinition"]
    assert all(thing["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" for thing in kinds)
    dropped = helm.rendered("--set=keep=false", chart=CRDS)
    assert not any(
        "helm.sh/resource-policy" in (thing["metadata"].get("annotations") or {}) for thing in dropped.values()
    )


@pytest.mark.parametrize("values", VALUE_FILES, ids=lambda path: path.stem)
def test_every_value_file_passes_the_linter_and_renders(helm: Helm, values: Path) -> None:
    helm("lint", "--strict", CHART, f"--values={values}")
    for thing in helm.rendered(f"--values={values}").values():
        assert thing["metadata"]["labels"]["app.kubernetes.io/instance"] == "bayplan"
        assert thing["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"


def test_versions_are_those_of_the_package() -> None:
    for chart in (CHART, CRDS):
        described = yaml.safe_load((chart / "Chart.yaml").read_text())
        assert described["version"] == described["appVersion"] == bayplan.__version__


def test_everything_is_in_the_namespace_of_the_release(helm: Helm) -> None:
    stream = helm("template", "bayplan", CHART, "--namespace=team", f"--values={ALL_PARTS}")

    assert "namespace: kube-system" not in stream
    found = by_name(stream)
    config = yaml.safe_load(found["ConfigMap", "bayplan-scheduler"]["data"]["scheduler-config.yaml"])
    assert config["leaderElection"]["resourceNamespace"] == "team"
    for part in ("rebalancer", "annotator", "placement"):
        assert "--leader-elect-resource-namespace=team" in container(found, part)["args"]


def container(found: Objects, part: str) -> dict[str, Any]:
    (only,) = found["Deployment", f"bayplan-{part}"]["spec"]["template"]["spec"]["containers"]
    return only


def test_a_configuration_keeps_its_lease_and_is_one_that_the_scheduler_reads(helm: Helm) -> None:
    found = helm.rendered(f"--values={CHART / 'ci' / 'two-profiles.yaml'}")
    text = found["ConfigMap", "bayplan-scheduler"]["data"]["scheduler-config.yaml"]
    config, _ = load_config(yaml.safe_load(text), "config.yaml")

    assert [each.scheduler_name for each in config.profiles] == ["bayplan", "packing"]
    assert config.leader_election.resource_name == "bayplan-scheduler"
    assert config.leader_election.leader_elect


def test_plugins_reach_all_who_decide(helm: Helm) -> None:
    found = helm.rendered(f"--values={CHART / 'ci' / 'own-plugin.yaml'}", f"--values={ALL_PARTS}")

    for part in ("scheduler", "rebalancer", "shadow", "ui"):
        assert "--plugin=/etc/bayplan-plugins/same_rack.py:SameRack" in container(found, part)["args"]
        assert "/etc/bayplan-plugins" in [each["mountPath"] for each in container(found, part)["volumeMounts"]]
    assert not any("plugin" in each for each in container(found, "annotator")["args"])
    assert list(found["ConfigMap", "bayplan-plugins"]["data"]) == ["same_rack.py"]


def test_pods_are_restarted_when_their_configuration_changes(helm: Helm) -> None:
    def checksum(*values: str) -> str:
        template = helm.rendered(*values)["Deployment", "bayplan-scheduler"]["spec"]["template"]
        return str(template["metadata"]["annotations"]["checksum/config"])

    assert checksum() == checksum("--set=scheduler.replicas=5")
    assert checksum() != checksum(f"--values={CHART / 'ci' / 'two-profiles.yaml'}")
    assert checksum() != checksum(f"--values={CHART / 'ci' / 'own-plugin.yaml'}")


def test_values_reach_the_pods(helm: Helm) -> None:
    found = helm.rendered(f"--values={CHART / 'ci' / 'guarded.yaml'}", f"--values={CHART / 'ci' / 'placed.yaml'}")
    deployment = found["Deployment", "bayplan-scheduler"]
    pod = deployment["spec"]["template"]

    assert pod["spec"]["nodeSelector"] == {"pool": "system"}
    assert pod["spec"]["priorityClassName"] == "system-node-critical"
    assert pod["metadata"]["labels"].items() >= {"tier": "control", "team": "platform"}.items()
    assert container(found, "scheduler")["args"][-1] == "--log-format=json"
    assert container(found, "scheduler")["resources"]["limits"] == {"memory": "4Gi"}
    assert deployment["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
    assert found["NetworkPolicy", "bayplan-rebalancer"]["spec"]["policyTypes"] == ["Ingress", "Egress"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("scheduler.replica=3", "'replica' not allowed"),
        ("scheduler.replicas=-1", "/scheduler/replicas"),
        ("scheduler.extraArgs={x}", "/scheduler/extraArgs/0"),
        ("image.pullPolicy=Sometimes", "/image/pullPolicy"),
        ("image.digest=sha256:1", "/image/digest"),
        ("annotator.prometheusAddress=prometheus:9090", "/annotator/prometheusAddress"),
        ("scheduler.config.kind=ConfigMap", "/scheduler/config/kind"),
        ("scheduler.plugins.load={SameRack}", "/scheduler/plugins/load/0"),
    ],
)
def test_values_that_make_no_sense_are_refused_with_their_place(helm: Helm, setting: str, said: str) -> None:
    ended = helm.run("template", "bayplan", CHART, f"--set={setting}")

    assert ended.returncode != 0
    assert said in ended.stderr


def test_every_value_with_a_default_is_in_the_schema(helm: Helm) -> None:
    """Values that the schema does not know are refused, so the defaults themselves prove it."""
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())

    assert {"scheduler", "rebalancer", "annotator", "placement"} <= defaults.keys()
    helm("lint", "--strict", CHART, f"--values={CHART / 'values.yaml'}")
