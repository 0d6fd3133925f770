"""
What in-tree plugins declare is true: ``filter_depends``, ``score_depends`` and ``signature``.

The engine keeps answers on the strength of these declarations, so a wrong one would be a wrong decision.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache as once
from random import Random
from typing import Any

import msgspec
import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import (
    UNSIGNED,
    CycleState,
    Depends,
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from bayplan.framework.status import as_status
from bayplan.objects.meta import ObjectMeta, OwnerReference
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod, PodStatus
from bayplan.plugins import IN_TREE
from bayplan.testing import cluster, make
from bayplan.testing.agreement import codes_as_statuses, random_cluster, random_node, random_pod
from bayplan.testing.harness import rows_of

JUDGES = [each for each in IN_TREE if issubclass(each, (FilterPlugin, ScorePlugin))]
# Plugins that promise less (DOMAIN, ANYTHING) may look at everything, so there is nothing to check.
FILTERS = [each for each in JUDGES if issubclass(each, FilterPlugin) and each.filter_depends <= Depends.NODES]
SCORERS = [each for each in JUDGES if issubclass(each, ScorePlugin) and each.score_depends <= Depends.NODES]
SEEDS = range(6)
# What these say of a pod is worked out once for all pods of its template.
TEMPLATED = [each for each in JUDGES if each.signature_by_template or each.sits_out_by_template]
KEPT = "node-0"

Answer = dict[str, Any]
"""By node name: the filter's status or the raw score; under "" what PreFilter or PreScore said."""


def filter_answer(plugin: FilterPlugin, pod: Pod, cache: ClusterCache) -> Answer:
    state = CycleState()
    said: Any = None
    if isinstance(plugin, PreFilterPlugin):
        said = plugin.pre_filter(state, pod, cache.nodes)
        if not isinstance(said, PreFilterResult):
            said = as_status(said)
            if not said.is_success:
                return {"": said}
    statuses = codes_as_statuses(plugin, state, pod, cache.nodes)
    return {"": said, **dict(zip(cache.nodes.names, statuses, strict=True))}


def score_answer(plugin: ScorePlugin, pod: Pod, cache: ClusterCache) -> Answer:
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin):
        plugin.pre_filter(state, pod, cache.nodes)
    if isinstance(plugin, PreScorePlugin):
        said = as_status(plugin.pre_score(state, pod, cache.nodes, rows_of(cache)))
        if not said.is_success:
            return {"": said}
    scores = plugin.score(state, pod, cache.nodes).tolist()
    return {"": None, **dict(zip(cache.nodes.names, scores, strict=True))}


@dataclass(frozen=True)
class Worlds:
    """Two clusters that share of one node what a plugin may read, and differ in all else; and pods to ask about."""

    one: ClusterCache
    other: ClusterCache
    pods: list[Pod]


@once
def worlds(seed: int, depends: Depends) -> Worlds:
    rng = Random(seed)
    node = random_node(rng, KEPT)
    here = [random_pod(rng, f"here-{number}", on=KEPT) for number in range(3)]
    elsewhere = _elsewhere(rng)
    again, there = node, here
    if depends is Depends.OBJECT:
        there = [random_pod(rng, f"there-{number}", on=KEPT) for number in range(2)]
    elif depends is Depends.AMOUNTS:
        again, there = _of_same_size(rng, node), [_as_large(each) for each in here]
    # The order in which nodes came is part of "all nodes": the first to report an image says how large it is.
    others = [again, *elsewhere] if depends is Depends.NODES else [*_elsewhere(rng), again]
    return Worlds(
        one=cluster([node, *elsewhere], [*here, *_placed(rng, elsewhere)]),
        other=cluster(others, [*_placed(rng, [each for each in others if each is not again]), *there]),
        pods=[random_pod(rng, f"pod-{number}") for number in range(25)],
    )


def _of_same_size(rng: Random, node: Node) -> Node:
    """Another node of that name with as much of everything."""
    other = random_node(rng, node.name)
    status = msgspec.structs.replace(other.status, allocatable=node.status.allocatable, capacity=node.status.capacity)
    return msgspec.structs.replace(other, status=status)


def _as_large(pod: Pod) -> Pod:
    """A pod that takes as much and has nothing else in common."""
    bare = tuple(msgspec.structs.replace(each, ports=None) for each in pod.containers)
    spec = msgspec.structs.replace(
        pod.spec, containers=bare, affinity=None, tolerations=None, node_selector=None, topology_spread_constraints=None
    )
    meta = ObjectMeta(name=f"like-{pod.name}", namespace="other", uid=f"like-{pod.uid}")
    return pod.evolve(metadata=meta, spec=spec)


def _elsewhere(rng: Random) -> list[Node]:
    return [random_node(rng, f"node-{number}") for number in range(1, rng.randrange(4, 12))]


def _placed(rng: Random, nodes: list[Node]) -> list[Pod]:
    return [random_pod(rng, f"placed-{number}", on=rng.choice(nodes).name) for number in range(15)]


def of_kept(answer: Answer) -> tuple[Any, Any]:
    return answer[""], answer.get(KEPT)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("plugin", FILTERS, ids=lambda plugin: plugin.name)
def test_filters_read_no_more_than_they_declare(plugin: type[FilterPlugin], seed: int) -> None:
    both = worlds(seed, plugin.filter_depends)
    one, other = make(plugin, both.one), make(plugin, both.other)
    for pod in both.pods:
        assert of_kept(filter_answer(one, pod, both.one)) == of_kept(filter_answer(other, pod, both.other))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("plugin", SCORERS, ids=lambda plugin: plugin.name)
def test_scorers_read_no_more_than_they_declare(plugin: type[ScorePlugin], seed: int) -> None:
    both = worlds(seed, plugin.score_depends)
    one, other = make(plugin, both.one), make(plugin, both.other)
    for pod in both.pods:
        assert of_kept(score_answer(one, pod, both.one)) == of_kept(score_answer(other, pod, both.other))


def answers(plugin: Plugin, pod: Pod, cache: ClusterCache) -> list[Answer]:
    found: list[Answer] = []
    if isinstance(plugin, FilterPlugin):
        found.append(filter_answer(plugin, pod, cache))
    if isinstance(plugin, ScorePlugin):
        found.append(score_answer(plugin, pod, cache))
    return found


def twin(pod: Pod) -> Pod:
    """The same pod in all that scheduling reads, under another name."""
    meta = pod.metadata
    other = ObjectMeta(
        name=f"{meta.name}-twin",
        namespace=meta.namespace,
        uid=f"{meta.uid}-twin",
        labels=meta.labels,
        annotations={"note": "twin"},
        owner_references=meta.owner_references,
        creation_timestamp="2026-01-01T00:00:00Z",
    )
    spec = msgspec.structs.replace(pod.spec, priority=7, restart_policy="Never")
    return pod.evolve(metadata=other, spec=spec)


@once
def many_pods() -> list[Pod]:
    """Plain pods, which often have a signature in common, and pods with many traits; each with its twin."""
    rng = Random(5)
    plain = [random_pod(rng, f"plain-{number}", traits=0.12) for number in range(60)]
    rich = [random_pod(rng, f"rich-{number}") for number in range(20)]
    return [each for pod in (*plain, *rich) for each in (pod, twin(pod))]


@pytest.mark.parametrize("plugin", JUDGES, ids=lambda plugin: plugin.name)
def test_pods_with_equal_signatures_get_equal_answers(plugin: type[Plugin]) -> None:
    cache = random_cluster(Random(7))
    made = make(plugin, cache)
    by_signature: dict[Any, list[Pod]] = defaultdict(list)
    for pod in many_pods():
        signature = made.signature(pod)
        if signature is not UNSIGNED:
            by_signature[signature].append(pod)
    for first, *alike in by_signature.values():
        expected = answers(made, first, cache)
        for pod in alike:
            assert answers(made, pod, cache) == expected, f"{pod.key} and {first.key} have one signature"


@pytest.mark.parametrize("plugin", JUDGES, ids=lambda plugin: plugin.name)
def test_signatures_can_be_keys_and_leave_out_names(plugin: type[Plugin]) -> None:
    made = make(plugin)
    for pod, other in zip(many_pods()[::2], many_pods()[1::2], strict=True):
        assert {made.signature(pod): pod.key}.keys() == {made.signature(other): other.key}.keys()


def sibling(pod: Pod) -> Pod:
    """Another pod of the same template: it shares spec, labels, namespace and controller, and nothing else."""
    owner = OwnerReference(api_version="kubevirt.io/v1", kind="VirtualMachineInstance", name="vm", uid="vm")
    meta = msgspec.structs.replace(twin(pod).metadata, owner_references=(owner,))
    return pod.evolve(metadata=meta, status=PodStatus(phase="Pending", nominated_node_name=KEPT))


@pytest.mark.parametrize("plugin", TEMPLATED, ids=lambda plugin: plugin.name)
def test_what_goes_by_the_template_is_the_same_for_all_its_pods(plugin: type[Plugin]) -> None:
    cache = random_cluster(Random(7))
    made = make(plugin, cache)
    for pod in many_pods()[::2]:
        other = sibling(pod)
        if plugin.signature_by_template:
            assert made.signature(pod) == made.signature(other)
        if plugin.sits_out_by_template:
            assert made.sits_out(pod, cache.nodes) == made.sits_out(other, cache.nodes)
