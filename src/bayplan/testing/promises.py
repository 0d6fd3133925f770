"""
Does a plugin keep what it promises?  ``assert_promises_hold(plugin)`` tries it on random clusters and pods.

The engine keeps answers on the strength of ``Plugin.promise``, so a promise that is not kept is a wrong decision.
Each promise is tried in pairs: pods of one template, templates with equal keys, and clusters that share what the
answers may depend on and differ in all else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from random import Random
from typing import Any, NamedTuple, TypeAlias

import msgspec

from bayplan.engine.cache import ClusterCache
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from bayplan.framework.promise import Depends, Promise
from bayplan.framework.results import PreFilterResult
from bayplan.framework.status import as_status
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.pod import Condition, Pod, PodStatus
from bayplan.testing.agreement import codes_as_statuses, random_node, random_pod
from bayplan.testing.harness import cluster, make, rows_of

KEPT = "node-0"
"""The node that both clusters of a pair have."""

_NARROW = frozenset(Depends) - {Depends.DOMAIN, Depends.ANYTHING}
"""Answers that depend on more may depend on everything, so there is nothing to compare."""

Answer: TypeAlias = "dict[str, Any]"
"""By node: the filter's status or the raw score; under "" what PreFilter or PreScore said."""


def assert_promises_hold(
    plugin: type[Plugin] | Callable[[ClusterCache], Plugin],
    pods: Iterable[Pod] = (),
    *,
    objects: Iterable[Any] = (),
    seeds: Iterable[int] = range(6),
) -> None:
    """
    Raise with the plugin, the pod and the node where a promise is not kept.

    ``plugin`` is its class, or makes one that reads a given cluster.  ``pods`` are tried beside random ones: give some
    that it treats in a special way.  ``objects`` are in every cluster.
    """
    maker = _maker(plugin)
    for seed in seeds:
        rng = Random(seed)
        rich = [random_pod(rng, f"rich-{number}") for number in range(12)]
        plain = [random_pod(rng, f"plain-{number}", traits=0.12) for number in range(12)]
        asked = [*pods, *rich, *plain]
        pair = _Pair.of(seed, Depends.ANYTHING, tuple(objects))
        made = maker(pair.one)
        _same_for_alike(made, pair.one, asked)
        promises = [promise for each in asked if (promise := promise_for(made, each)) is not None]
        for depends in {each for promise in promises for each in (promise.filter, promise.score)} & _NARROW:
            pair = _Pair.of(seed, depends, tuple(objects))
            _same_in_both(maker(pair.one), maker(pair.other), pair, depends, asked)


def _maker(plugin: type[Plugin] | Callable[[ClusterCache], Plugin]) -> Callable[[ClusterCache], Plugin]:
    if isinstance(plugin, type):
        cls: type[Plugin] = plugin
        return lambda cache: make(cls, cache)
    return plugin


# -- what a plugin says --


def promise_for(plugin: Plugin, pod: Pod) -> Promise | None:
    """What it promises for a pod."""
    promise = plugin.promise(pod.template)
    return None if promise is None else promise.for_pod(pod)


def filter_answer(plugin: FilterPlugin, pod: Pod, cache: ClusterCache) -> Answer:
    """What PreFilter says, and Filter of every node if it is asked."""
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
    """What PreScore says, and Score of every node if it is asked."""
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin):
        plugin.pre_filter(state, pod, cache.nodes)
    if isinstance(plugin, PreScorePlugin):
        said = as_status(plugin.pre_score(state, pod, cache.nodes, rows_of(cache)))
        if not said.is_success:
            return {"": said}
    scores = plugin.score(state, pod, cache.nodes).tolist()
    return {"": None, **dict(zip(cache.nodes.names, scores, strict=True))}


def _answers(plugin: Plugin, pod: Pod, cache: ClusterCache) -> Iterator[tuple[str, Answer]]:
    if isinstance(plugin, FilterPlugin):
        yield "filter", filter_answer(plugin, pod, cache)
    if isinstance(plugin, ScorePlugin):
        yield "score", score_answer(plugin, pod, cache)


# -- one template, and templates with equal keys --


def sibling(pod: Pod) -> Pod:
    """Another pod of the same template: it differs in all that is a pod's own."""
    meta = msgspec.structs.replace(
        pod.metadata,
        name=f"{pod.name}-sibling",
        uid=f"{pod.uid}-sibling",
        annotations={"note": "sibling"},
        creation_timestamp="2026-01-01T00:00:00Z",
    )
    told = Condition(type="PodScheduled", status="False", reason="Unschedulable")
    status = PodStatus(phase="Pending", conditions=(told,), nominated_node_name=KEPT)
    return pod.evolve(metadata=meta, status=status).like(pod.template)


def _same_for_alike(plugin: Plugin, cache: ClusterCache, pods: Iterable[Pod]) -> None:
    """Pods with equal keys get equal answers, those of one template first of all."""
    firsts: dict[Hashable, tuple[Pod, list[tuple[str, Answer]]]] = {}
    for pod in [each for one in pods for each in (one, sibling(one))]:
        promise = promise_for(plugin, pod)
        if promise is None:
            continue
        answers = [(point, each) for point, each in _answers(plugin, pod, cache) if _is_kept(promise, point)]
        key = promise.key, promise.filter, promise.score
        first, known = firsts.setdefault(key, (pod, answers))
        if answers != known:
            where = f"{first.key} and {pod.key}"
            raise AssertionError(f"{plugin.name} promises the same for {where}, but says {known} and {answers}")
        _does_nothing(plugin, promise, pod)


def _is_kept(promise: Promise, point: str) -> bool:
    return _depends(promise, point) is not Depends.ANYTHING


def _depends(promise: Promise, point: str) -> Depends:
    return promise.filter if point == "filter" else promise.score


def _does_nothing(plugin: Plugin, promise: Promise, pod: Pod) -> None:
    """Reserve and Permit of a plugin that has nothing to do there must not say no."""
    if promise.reserves:
        return
    said: list[Any] = [plugin.reserve(CycleState(), pod, KEPT)] if isinstance(plugin, ReservePlugin) else []
    said += [plugin.permit(CycleState(), pod, KEPT)] if isinstance(plugin, PermitPlugin) else []
    if any(each is not None and not as_status(each).is_success for each in said):
        raise AssertionError(f"{plugin.name} promises to reserve nothing for {pod.key}, but says {said}")


# -- two clusters --


class _Pair(NamedTuple):
    """Two clusters that share of one node what a plugin may read, and differ in all else."""

    one: ClusterCache
    other: ClusterCache

    @classmethod
    def of(cls, seed: int, depends: Depends, objects: tuple[Any, ...]) -> _Pair:
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
        one = [*here, *_placed(rng, elsewhere)]
        other = [*_placed(rng, [each for each in others if each is not again]), *there]
        if depends is Depends.TERMS:
            one, other = [_without_terms(each) for each in one], [_without_terms(each) for each in other]
        return cls(cluster([node, *elsewhere], one, objects), cluster(others, other, objects))


def _same_in_both(one: Plugin, other: Plugin, pair: _Pair, depends: Depends, pods: Iterable[Pod]) -> None:
    """What is promised to depend on no more than both clusters share is the same in both."""
    for pod in pods:
        promise = promise_for(one, pod)
        if promise is None or promise != promise_for(other, pod):
            continue
        both = zip(_answers(one, pod, pair.one), _answers(other, pod, pair.other), strict=True)
        for (point, said), (_, again) in both:
            if _depends(promise, point) is not depends:
                continue
            if depends is Depends.TERMS:
                _skips(one, pod, point, said)
            if (said[""], said.get(KEPT)) != (again[""], again.get(KEPT)):
                raise AssertionError(
                    f"{one.name} promises that its {point} for {pod.key} depends on {depends.name}, "
                    f"but says {said[''], said.get(KEPT)} and {again[''], again.get(KEPT)} where that is the same"
                )


def _skips(plugin: Plugin, pod: Pod, point: str, said: Answer) -> None:
    if said.keys() != {""} or not said[""].is_skip:
        raise AssertionError(
            f"{plugin.name} promises to skip {pod.key} at {point} while no term selects it, but says {said['']}"
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


def _without_terms(pod: Pod) -> Pod:
    return pod.evolve(spec=msgspec.structs.replace(pod.spec, affinity=None))


def _elsewhere(rng: Random) -> list[Node]:
    return [random_node(rng, f"node-{number}") for number in range(1, rng.randrange(4, 12))]


def _placed(rng: Random, nodes: list[Node]) -> list[Pod]:
    return [random_pod(rng, f"placed-{number}", on=rng.choice(nodes).name) for number in range(15)]
