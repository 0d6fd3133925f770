"""The annotator's manifests: the published policy, a role for its lease, harmless settings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import bayplan
from bayplan.app.install_manifests import APART, manifests
from bayplan.cli.annotator import LEASE
from bayplan.objects.third_party.crane import published_policy
from bayplan.objects.third_party.crane_reading import policy_in_config_map

NAME = "bayplan-annotator"


def documents() -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in yaml.safe_load_all(manifests("annotator"))}


def container() -> dict[str, Any]:
    (found,) = documents()["Deployment"]["spec"]["template"]["spec"]["containers"]
    made: dict[str, Any] = found
    return made


def test_the_policy_that_ships_is_the_published_one() -> None:
    assert policy_in_config_map(documents()["ConfigMap"]["data"], "shipped") == published_policy()
    assert f"--policy-config-path=/etc/bayplan/{'policy.yaml'}" in container()["args"]


def test_the_role_is_for_the_lease_that_it_takes() -> None:
    assert documents()["Role"]["rules"][1]["resourceNames"] == [LEASE]
    assert documents()["Role"]["metadata"]["namespace"] == "kube-system"


def test_no_rule_is_a_wildcard_or_touches_secrets() -> None:
    for kind in ("ClusterRole", "Role"):
        for rule in documents()[kind]["rules"]:
            assert not {"*", "secrets"} & {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_the_pods_run_this_version_and_may_do_as_little_as_possible() -> None:
    found = container()
    assert found["image"] == f"bayplan:{bayplan.__version__}"
    assert found["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert found["ports"] == [{"name": "https", "containerPort": 8090}]
    selector = documents()["Deployment"]["spec"]["selector"]
    assert documents()["PodDisruptionBudget"]["spec"]["selector"] == selector
    assert documents()["Service"]["spec"]["selector"] == selector["matchLabels"]


@pytest.mark.parametrize("part", APART)
def test_what_stands_apart_is_printed_alone_and_not_with_all(part: str) -> None:
    assert list(yaml.safe_load_all(manifests(part)))
    assert manifests(part) not in manifests()
