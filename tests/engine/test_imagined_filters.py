"""Filters over many imagined nodes: who can be asked so, and what happens when one of them cannot answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.engine.node_filters import NodeFilters
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.store import Store
from bayplan.framework import (
    Code,
    CycleState,
    Depends,
    FilterPlugin,
    NodeTable,
    NodeView,
    Plugin,
    PodTemplate,
    Promise,
    Reason,
    Verdict,
)
from bayplan.framework.preemption.dry_run import RowsDryRun
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.snapshot import Codes
from bayplan.objects.pod import Pod
from bayplan.plugins.default_preemption import DefaultPreemption
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.testing import node, pod
from bayplan.testing.harness import NobodyNominated
from tests.engine.support import World, note_of, patch_of

BOSS = pod("boss").priority(100).cpu(2)
CROWDED = Reason(Code.UNSCHEDULABLE, "node(s) had company")


def by_amounts(self: Plugin, template: PodTemplate) -> Promise:
    return Promise(key=(), filter=Depends.AMOUNTS)


class AloneByNode(FilterPlugin):
    """Wants the node for itself; written for one node."""

    name = "AloneByNode"
    reasons = (CROWDED,)
    promise = by_amounts

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return CROWDED if node.pods_count else None


class LooksAtPods(FilterPlugin):
    """Says that amounts are all it looks at, and looks at pods."""

    name = "LooksAtPods"
    reasons = (CROWDED,)
    promise = by_amounts

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return CROWDED if any(other.priority < 50 for other in node.pods) else None


class Undeclared(LooksAtPods):
    name = "Undeclared"
    promise = Plugin.promise


class Nonsense(FilterPlugin):
    """Cannot count on imagined nodes."""

    name = "Nonsense"
    reasons = (CROWDED,)
    promise = by_amounts

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        return np.full(len(nodes), 7 if isinstance(nodes, WhatIfRows) else 0)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return None


def world(*plugins: Any) -> World:
    made = World(NodeResourcesFit, *plugins, DefaultPreemption)
    made.add(node("a").cpu(4), pod("on-a").on("a").cpu(4).priority(7))
    made.add(node("b").cpu(4), pod("on-b").on("b").cpu(2).priority(3), pod("too").on("b").cpu(2).priority(4))
    return made


@pytest.mark.parametrize(
    ("plugin", "by_columns"), [(AloneByNode, True), (LooksAtPods, False), (Undeclared, False), (Nonsense, False)]
)
def test_a_filter_that_cannot_be_asked_about_many_nodes_is_asked_about_one(
    plugin: type[FilterPlugin], by_columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []
    run = RowsDryRun.run

    def spied(self: RowsDryRun, *about: Any) -> Any:
        found = run(self, *about)
        used.append(found is not None)
        return found

    monkeypatch.setattr(RowsDryRun, "run", spied)
    made = world(plugin)
    made.add(BOSS)
    intents = made.schedule()
    assert patch_of(intents).nominated_node == "b"
    assert used == [by_columns]


@pytest.mark.parametrize("plugin", [AloneByNode, Nonsense, Undeclared])
def test_nodes_with_expected_pods_are_judged_with_them(plugin: type[FilterPlugin]) -> None:
    made = World(NodeResourcesFit, plugin)
    made.add(node("a").cpu(4), node("b").cpu(2))
    made.queue.nominations.nominate(pod("expected").priority(100).cpu(3).build(), "a")
    made.add(BOSS.cpu(3))
    assert note_of(made.schedule()) == "0/2 nodes are available: 2 Insufficient cpu."


def test_without_filters_that_look_at_pods_a_cycle_goes_by_columns() -> None:
    def filters_of(*plugins: type[FilterPlugin]) -> NodeFilters:
        return NodeFilters(world(*plugins).profile, NobodyNominated(), Store())

    calls = Calls(BOSS.build())
    assert filters_of().goes_by_columns(CycleState(), calls)
    assert not filters_of(Undeclared).goes_by_columns(CycleState(), calls)
    skipped = CycleState()
    skipped.skip_filter.add("Undeclared")
    assert filters_of(Undeclared).goes_by_columns(skipped, calls)
