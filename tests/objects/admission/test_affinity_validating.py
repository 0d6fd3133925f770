"""Mistakes in selectors, affinity, spreading and tolerations."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.admission.validating import check_object
from tests.objects.making import make_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def only_line(spec: dict[str, Any]) -> str:
    found = [str(each) for each in check_object(make_pod(spec))]
    assert len(found) == 1, found
    return found[0]


def expression(**parts: Any) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "a", **parts}]}


@pytest.mark.parametrize(
    ("term", "line"),
    [
        (
            expression(operator="Is", values=["x"]),
            '.matchExpressions[0].operator: "Is" is not an operator here; '
            "write one of In, NotIn, Exists, DoesNotExist, Gt, Lt",
        ),
        (expression(operator="In"), ".matchExpressions[0].values: operator In needs at least one value; "),
        (expression(operator="Gt", values=["many"]), ".matchExpressions[0].values: operator Gt compares whole numbers"),
        (expression(operator="Exists", key="a b"), '.matchExpressions[0].key: "a b" is not a label key; '),
        (
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]},
            ".matchFields[0].values: a field is compared with exactly one value",
        ),
        (
            {"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]},
            '.matchFields[0].key: "spec.x" is not possible here; write metadata.name',
        ),
        (
            {"matchFields": [{"key": "metadata.name", "operator": "Gt", "values": ["1"]}]},
            '.matchFields[0].operator: "Gt" is not possible here',
        ),
    ],
)
def test_node_terms(term: dict[str, Any], line: str) -> None:
    required = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}
    at = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0]"
    assert only_line({"affinity": required}).startswith(at + line)
    preferred = {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": term}]}}
    at = f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference"
    assert only_line({"affinity": preferred}).startswith(at + line)


@pytest.mark.parametrize("weight", [0, 101, -1])
def test_weights_go_from_1_to_100(weight: int) -> None:
    node = {"nodeAffinity": {PREFERRED: [{"weight": weight, "preference": expression(operator="Exists")}]}}
    assert only_line({"affinity": node}) == (
        f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight: {weight} is no weight; write a whole number from 1 to 100"
    )
    pod = {"podAffinity": {PREFERRED: [{"weight": weight, "podAffinityTerm": {"topologyKey": "zone"}}]}}
    assert f"podAffinity.{PREFERRED}[0].weight: " in only_line({"affinity": pod})


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ({"topologyKey": ""}, ".topologyKey: empty; write a node label such as topology.kubernetes.io/zone"),
        ({"topologyKey": "a b"}, '.topologyKey: "a b" is not a label key; '),
        (
            {"labelSelector": expression(operator="Gt", values=["1"])},
            '.labelSelector.matchExpressions[0].operator: "Gt" is not',
        ),
        ({"labelSelector": {"matchLabels": {"a": "?"}}}, '.labelSelector.matchLabels.a: "?" is not a label value; '),
        ({"namespaceSelector": expression(operator="NotIn")}, ".namespaceSelector.matchExpressions[0].values: "),
        ({"matchLabelKeys": ["a"]}, ".matchLabelKeys: there is no labelSelector to add it to; "),
        ({"labelSelector": {}, "matchLabelKeys": ["?"]}, '.matchLabelKeys[0]: "?" is not a label key; '),
        (
            {"labelSelector": {}, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"]},
            '.matchLabelKeys: "a" is in mismatchLabelKeys too; keep one of the two',
        ),
    ],
)
@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_pod_terms(kind: str, term: dict[str, Any], line: str) -> None:
    found = only_line({"affinity": {kind: {REQUIRED: [{"topologyKey": "zone", **term}]}}})
    assert found.startswith(f"spec.affinity.{kind}.{REQUIRED}[0]{line}")


GOOD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"maxSkew": 0}, "[0].maxSkew: 0 is no skew; write 1 or more"),
        ({"maxSkew": -1}, "[0].maxSkew: -1 is no skew; write 1 or more"),
        ({"topologyKey": ""}, "[0].topologyKey: empty; "),
        (
            {"whenUnsatisfiable": "Refuse"},
            '[0].whenUnsatisfiable: "Refuse" is not possible here; write DoNotSchedule or ScheduleAnyway',
        ),
        ({"whenUnsatisfiable": ""}, '[0].whenUnsatisfiable: "" is not possible here; '),
        ({"maxSkew": 2**31}, "[0].maxSkew: 2147483648 is too large; write a 32-bit whole number"),
        ({"minDomains": 2**31}, "[0].minDomains: 2147483648 is too large; write a 32-bit whole number"),
        ({"minDomains": 0}, "[0].minDomains: 0 is no number of domains; "),
        (
            {"minDomains": 2, "whenUnsatisfiable": "ScheduleAnyway"},
            "[0].minDomains: goes with whenUnsatisfiable: DoNotSchedule only; ",
        ),
        (
            {"nodeTaintsPolicy": "Maybe"},
            '[0].nodeTaintsPolicy: "Maybe" is not possible here; write Honor or Ignore instead',
        ),
        ({"nodeAffinityPolicy": "honor"}, '[0].nodeAffinityPolicy: "honor" is not possible here; '),
        ({"matchLabelKeys": ["a"]}, "[0].matchLabelKeys: there is no labelSelector"),
    ],
)
def test_spread_constraints(change: dict[str, Any], line: str) -> None:
    found = only_line({"topologySpreadConstraints": [{**GOOD, **change}]})
    assert found.startswith("spec.topologySpreadConstraints" + line)


def test_two_constraints_may_not_be_about_the_same_thing() -> None:
    assert only_line({"topologySpreadConstraints": [GOOD, GOOD]}) == (
        "spec.topologySpreadConstraints[1]: zone with DoNotSchedule is there already; keep one of the two constraints"
    )
    soft = {**GOOD, "whenUnsatisfiable": "ScheduleAnyway"}
    assert list(check_object(make_pod({"topologySpreadConstraints": [GOOD, soft]}))) == []


@pytest.mark.parametrize(
    ("toleration", "line"),
    [
        ({"key": "a", "operator": "Like"}, '.operator: "Like" is not possible here; write Equal or Exists instead'),
        ({"key": "a", "operator": "Gt", "value": "1"}, '.operator: "Gt" is not possible here; '),
        ({"value": "x"}, ".operator: without a key it must be Exists; write operator: Exists or add a key"),
        ({"key": "a", "operator": "Exists", "value": "x"}, ".value: operator Exists takes no value; "),
        (
            {"key": "a", "operator": "Exists", "effect": "Never"},
            '.effect: "Never" is not possible here; write NoSchedule or ',
        ),
        ({"key": "a", "value": "a b"}, '.value: "a b" is not a label value; '),
        ({"key": "a b", "operator": "Exists"}, '.key: "a b" is not a label key; '),
        (
            {"key": "a", "operator": "Exists", "tolerationSeconds": 5},
            ".tolerationSeconds: goes with effect NoExecute only; ",
        ),
    ],
)
def test_tolerations(toleration: dict[str, Any], line: str) -> None:
    assert only_line({"tolerations": [toleration]}).startswith(f"spec.tolerations[0]{line}")


def test_what_is_right_is_not_complained_about() -> None:
    spec = {
        "affinity": {
            "nodeAffinity": {
                REQUIRED: {"nodeSelectorTerms": [expression(operator="Gt", values=["8"])]},
                PREFERRED: [{"weight": 100, "preference": {}}],
            },
            "podAntiAffinity": {
                REQUIRED: [{"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "matchLabelKeys": ["a"]}]
            },
        },
        "tolerations": [{"operator": "Exists"}, {"key": "a", "effect": "NoExecute", "tolerationSeconds": 5}],
        "topologySpreadConstraints": [{**GOOD, "minDomains": 2, "nodeTaintsPolicy": "Honor"}],
    }
    assert list(check_object(make_pod(spec))) == []
