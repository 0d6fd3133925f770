"""A recording decided again: each bind by itself, in virtual time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayplan.framework import FilterPlugin
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.plugins.plugin_set import Plugins, registry
from bayplan.simulator.replay.replaying import Replayed, replay
from tests.simulator.replay.support import HEADER, SYNCED, add, bind, gone, node, pod, written

NODES = [add(0, node("big", "16")), add(0, node("small", "4")), SYNCED]
PACKING = {
    "pluginConfig": [
        {
            "name": "NodeResourcesFit",
            "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}},
        }
    ]
}


def config(**profile: Any) -> SchedulerConfig:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", **profile}],
    }
    return load_config(document, "test")[0]


def replayed(path: Path, *lines: dict[str, Any], warnings: list[str] | None = None, **profile: Any) -> Replayed:
    heard = [] if warnings is None else warnings
    found = written(path / "a.jsonl", *lines)
    return replay(found, config(**profile), registry(discover=False), warn=heard.append)


def test_the_same_configuration_gives_the_same_decisions(tmp_path: Path) -> None:
    done = replayed(tmp_path, *NODES, add(1, pod("p")), bind(2, "p", "big"))
    assert not done.tally.is_different
    document = done.as_document()
    assert document["kind"] == "Replay"
    assert document["summary"]["agree"] == document["summary"]["binds"] == 1
    assert document["pods"] == []
    assert document["recording"] == {
        "startedAt": "2026-01-31T10:00:00Z",
        "seconds": 60,
        "changes": 2,
        "nodes": 2,
        "pods": 1,
        "isAnonymous": False,
        "isWhole": True,
    }
    assert done.as_text() == "2 changes in 60 s; 2 nodes and 1 pods in the end\n1 bind: 1 agree"


def test_another_configuration_differs_pod_by_pod_with_the_plugin_that_tipped_it(tmp_path: Path) -> None:
    done = replayed(tmp_path, *NODES, add(1, pod("p")), bind(2, "p", "big"), **PACKING)
    (told,) = done.as_document()["pods"]
    assert (told["result"], told["theirs"]["node"], told["ours"]["node"]) == ("differ", "big", "small")
    assert told["because"] == "NodeResourcesFit"
    assert told["at"] == "2026-01-31T10:00:02.000000Z"
    assert done.as_text().splitlines()[1].split()[:3] == ["default/p", "differ", "big"]


def test_one_difference_does_not_make_others(tmp_path: Path) -> None:
    """The first pod goes where the recording says, so the second finds the cluster as it was."""
    large = [
        add(1, pod("first", "4")),
        bind(2, "first", "big"),
        add(40, pod("second", "4")),
        bind(41, "second", "small"),
    ]
    done = replayed(tmp_path, *NODES, *large, **PACKING)
    assert [verdict.name for verdict in done.told] == ["first"]


def test_what_comes_soon_after_is_looked_at(tmp_path: Path) -> None:
    lines = [add(1, pod("first", "14")), add(1, pod("second")), bind(2, "second", "small"), bind(2.1, "first", "big")]
    done = replayed(tmp_path, *NODES, *lines)
    assert [verdict.finding.value for verdict in done.told] == ["race"]


def test_deleted_pods_and_nodes_are_gone(tmp_path: Path) -> None:
    lines = [
        add(1, pod("p", "3")),
        bind(2, "p", "big"),
        gone(40, "Pod", "p"),
        gone(41, "Node", "big"),
        add(80, pod("q")),
        bind(81, "q", "small"),
    ]
    done = replayed(tmp_path, *NODES, *lines)
    assert done.as_document()["summary"]["agree"] == 2
    assert (done.nodes, done.pods) == (1, 1)


def test_a_recording_that_breaks_off_is_said_to(tmp_path: Path) -> None:
    path, warnings = tmp_path / "a.jsonl", list[str]()
    written(path, *NODES, add(1, pod("p")), bind(2, "p", "big"), whole=False)
    done = replay(path, config(), registry(discover=False), warn=warnings.append)
    assert (done.tally.binds, done.as_document()["recording"]["isWhole"]) == (1, False)
    assert warnings == [f"{path}: the recording breaks off after 2.0 s; it was read up to there"]
    written(path, NODES[0], whole=False)
    replay(path, config(), registry(discover=False), warn=warnings.append)
    assert "before it had seen the whole cluster" in warnings[-1]


class Own(FilterPlugin):
    name = "Own"

    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        return None


def test_what_a_plugin_of_ones_own_may_miss_is_said(tmp_path: Path) -> None:
    known, _ = registry(discover=False)
    known.register(Own, "tests")
    for kept, expected in (([], "has none"), (["a/b"], "has a/b"), (["*"], "")):
        warnings: list[str] = []
        path = written(tmp_path / "a.jsonl", *NODES, header={**HEADER, "annotations": kept})
        replay(path, config(), Plugins(known, ("Own",)), warn=warnings.append)
        assert [expected in warning for warning in warnings] == ([True] if expected else [])
