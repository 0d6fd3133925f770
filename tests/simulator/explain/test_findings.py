"""What is read out of an explanation."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.explain import findings
from tests.simulator.support import START, Manifest, node, pod
from tests.support.explaining import explain_documents

TAINT = {"key": "gpu", "effect": "NoSchedule"}


def told(*manifests: Manifest) -> dict[str, Any]:
    return explain_documents(manifests, "default", "a", now=START, discover=False)


def test_groups_name_every_node_once_and_those_that_fit_first() -> None:
    document = told(node("n1", "1"), node("n2", "8"), node("n3", "1"), node("g", "9", taints=[TAINT]), pod("a", "4"))
    groups = findings.groups(document)
    assert [(group.plugin, sorted(group.nodes), group.fits, group.is_near) for group in groups] == [
        ("", ["n2"], True, False),
        ("NodeResourcesFit", ["n1", "n3"], False, True),
        ("TaintToleration", ["g"], False, False),
    ]


def test_misses_say_what_is_lacking_the_nearest_first() -> None:
    document = told(node("n1", "1"), node("n2", "3"), pod("a", "4"))
    assert findings.misses(document) == [("n2", "1 cpu of the 4 asked for"), ("n1", "3 cpu of the 4 asked for")]
    assert findings.misses(told(node("n1", "8"), node("n2", "1"), pod("a", "4"))) == []


def test_whether_preemption_would_help() -> None:
    low = pod("low", "3", priority=1, nodeName="n1")
    assert findings.preemption(told(node("n1"), low, pod("a", "3", priority=5))) == [
        "Preemption would help: without default/low it fits on n1."
    ]
    assert findings.preemption(told(node("n1"), low, pod("a", "3"))) == ["Preemption would not help."]
    assert findings.preemption(told(node("n1"), pod("a", "3"))) == []
