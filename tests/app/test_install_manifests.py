"""Install manifests: one source, harmless settings, and rules that follow from what the plugins read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import bayplan
from bayplan.app.install_manifests import ALL, APART, PARTS, manifests
from bayplan.app.scheduler.informers import kinds_for
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.profile import build_profiles
from bayplan.framework.registry import Registry
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "bayplan" / "app" / "manifests"
DEPLOYED = {
    "base": "scheduler",
    "rebalancer": "rebalancer",
    "annotator": "annotator",
    "placement": "placement",
    "shadow": "shadow",
    "ui": "ui",
}


def documents(part: str = "scheduler", image: str | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    found = yaml.safe_load_all(manifests(part, image))
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def pod_spec() -> dict[str, Any]:
    spec: dict[str, Any] = documents()["Deployment", "bayplan-scheduler"]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("part", [*PARTS, "shadow", "ui", "network-policies"])
def test_every_file_of_a_part_is_printed_in_the_order_of_its_kustomization(part: str) -> None:
    listed = yaml.safe_load((SOURCE / part / "kustomization.yaml").read_text())["resources"]
    apart = {file for folder, file in APART.values() if folder == part}

    assert {file.name for file in (SOURCE / part).iterdir()} == {"kustomization.yaml", *listed, *apart}
    assert manifests(part) == "---\n".join((SOURCE / part / file).read_text() for file in listed)


@pytest.mark.parametrize(("folder", "part"), DEPLOYED.items())
def test_deploy_refers_to_the_files_that_the_command_prints(folder: str, part: str) -> None:
    deploy = ROOT / "deploy" / folder

    assert [file.name for file in deploy.iterdir()] == ["kustomization.yaml"]
    (named,) = yaml.safe_load((deploy / "kustomization.yaml").read_text())["resources"]
    assert (deploy / named).resolve() == SOURCE / part


def test_the_operator_gets_the_recording_rules_under_its_own_head() -> None:
    rules = yaml.safe_load(manifests("prometheus-rules"))
    wrapped = yaml.safe_load(manifests("prometheus-operator-rules"))

    assert wrapped["kind"] == "PrometheusRule"
    assert wrapped["spec"] == rules


def test_the_rebalancer_reads_what_the_scheduler_reads_and_the_policies() -> None:
    def readable(part: str, role: str) -> set[tuple[str, str]]:
        rules = documents(part)["ClusterRole", role]["rules"]
        return {
            (group, resource)
            for rule in rules
            if "watch" in rule["verbs"]
            for group in rule["apiGroups"]
            for resource in rule["resources"]
        }

    policies = readable("crds", "bayplan-policy-reader")
    assert readable("rebalancer", "bayplan-rebalancer") == readable("scheduler", "bayplan-scheduler") | policies
    deployment = documents("rebalancer")["Deployment", "bayplan-rebalancer"]
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == f"bayplan:{bayplan.__version__}"


def test_the_shadow_reads_what_the_scheduler_reads_and_may_do_nothing_else() -> None:
    rules = documents("shadow")["ClusterRole", "bayplan-shadow"]["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list", "watch"}
    reads = [rule for rule in documents()["ClusterRole", "bayplan-scheduler"]["rules"] if "watch" in rule["verbs"]]
    assert rules == reads
    found = documents("shadow")
    assert {kind for kind, _ in found} & {"Role", "RoleBinding"} == set()
    pod = found["Deployment", "bayplan-shadow"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == f"bayplan:{bayplan.__version__}"
    assert container["securityContext"] == pod_spec()["containers"][0]["securityContext"]
    written = found["ConfigMap", "bayplan-shadow"]["data"]["scheduler-config.yaml"]
    config, warnings = load_config(yaml.safe_load(written), "scheduler-config.yaml")
    assert warnings == []
    assert f"--profile={config.profiles[0].scheduler_name}" in container["args"]


def test_all_is_every_part() -> None:
    assert documents(ALL) == {key: value for part in PARTS for key, value in documents(part).items()}


def test_the_image_is_that_of_this_version_unless_another_is_given() -> None:
    assert pod_spec()["containers"][0]["image"] == f"bayplan:{bayplan.__version__}"
    other = documents(image="mirror:5000/team/bayplan:next")["Deployment", "bayplan-scheduler"]
    assert other["spec"]["template"]["spec"]["containers"][0]["image"] == "mirror:5000/team/bayplan:next"


def shipped_config() -> tuple[SchedulerConfig, list[str]]:
    written = documents()["ConfigMap", "bayplan-scheduler"]["data"]["scheduler-config.yaml"]
    return load_config(yaml.safe_load(written), "scheduler-config.yaml")


def test_the_role_reads_exactly_the_kinds_that_the_shipped_configuration_asks_for() -> None:
    rules = documents()["ClusterRole", "bayplan-scheduler"]["rules"]
    readable = {
        (group, resource)
        for rule in rules
        if "watch" in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    profiles, _ = build_profiles(shipped_config()[0], Registry(IN_TREE), DEFAULT_PLUGINS)

    assert readable == {(kind.group, kind.plural) for kind in kinds_for(profiles.values())}


def test_no_rule_is_a_wildcard_or_touches_secrets() -> None:
    for document in documents().values():
        for rule in document.get("rules", ()):
            words = [*rule.get("apiGroups", ()), *rule.get("resources", ()), *rule["verbs"]]
            assert "*" not in words
            assert "secrets" not in words


def test_the_configuration_loads_without_warnings_and_matches_the_lease_role() -> None:
    config, warnings = shipped_config()
    (role,) = (each for key, each in documents().items() if key[0] == "Role")

    assert warnings == []
    assert [profile.scheduler_name for profile in config.profiles] == ["bayplan"]
    assert role["metadata"]["namespace"] == config.leader_election.resource_namespace
    assert role["rules"][1]["resourceNames"] == [config.leader_election.resource_name]


def test_the_pods_may_do_as_little_as_possible() -> None:
    spec = pod_spec()
    (container,) = spec["containers"]

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_probes_ask_the_port_that_the_scheduler_serves() -> None:
    (container,) = pod_spec()["containers"]
    (port,) = container["ports"]

    assert port == {"name": "https", "containerPort": 10259}
    for probe, path in (("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}


def test_one_replica_may_go_at_a_time() -> None:
    found = documents()

    assert found["Deployment", "bayplan-scheduler"]["spec"]["replicas"] == 2
    assert found["PodDisruptionBudget", "bayplan-scheduler"]["spec"]["maxUnavailable"] == 1
    selector = found["Deployment", "bayplan-scheduler"]["spec"]["selector"]
    assert found["PodDisruptionBudget", "bayplan-scheduler"]["spec"]["selector"] == selector
    assert found["Service", "bayplan-scheduler"]["spec"]["selector"] == selector["matchLabels"]
