"""
InterPodAffinity against the rule in its plainest words, counted anew from every pod, on random clusters.

The plugin reads kept counts and judges domains as arrays; here every pod is compared with every term instead.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState, NodeView
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.pod import Pod
from bayplan.objects.selector import PodTerm
from bayplan.objects.workload import Namespace
from bayplan.plugins.inter_pod_affinity import InterPodAffinity
from bayplan.testing import cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.builders import NodeBuilder, PodBuilder

KEYS = (ZONE, HOST, "rack")
TEAMS = {"default": {}, "red": {"team": "red"}, "blue": {"team": "blue"}}
NAMESPACES = [msgspec.convert({"metadata": {"name": name, "labels": team}}, Namespace) for name, team in TEAMS.items()]

WHERE: list[dict[str, Any]] = [
    {},
    {},
    {"namespaces": ["red", "default"]},
    {"ns_selector": {}},
    {"ns_selector": {"team": "red"}},
    {"ns_expressions": [("team", "NotIn", "red")]},
]

Pair = tuple[str, str]


@pytest.mark.parametrize("seed", range(60))
def test_kept_counts_give_the_answers_of_a_recount(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [_node(rng, number) for number in range(rng.randint(1, 8))]
    running = [_pod(rng, f"p{number}").on(f"n{rng.randrange(len(nodes))}") for number in range(rng.randint(0, 15))]
    cache = cluster(nodes, running, NAMESPACES)
    plugin = make(InterPodAffinity, cache, hardPodAffinityWeight=rng.choice([0, 1, 30]))
    for number in range(4):
        new = _pod(rng, f"new{number}").build()
        rejected = {name: texts[0] for name, texts in reasons(run_filter(plugin, new, cache)).items()}
        assert rejected == _rejected(new, cache)
        assert run_score(plugin, new, cache) == _scores(new, cache, plugin.args.hard_pod_affinity_weight)
        _forms_agree(plugin, new, cache)


@pytest.mark.parametrize("seed", range(40))
def test_imagining_a_pod_is_as_good_as_having_it(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [_node(rng, number) for number in range(rng.randint(2, 8))]
    running = [_pod(rng, f"p{number}").on(f"n{rng.randrange(len(nodes))}") for number in range(10)]
    before = cluster(nodes, running, NAMESPACES)
    plugin = make(InterPodAffinity, before)
    other = _pod(rng, "other").on(f"n{rng.randrange(len(nodes))}").build()
    new = _pod(rng, "new").affinity({"app": "db"}, rng.choice(KEYS)).anti_affinity({"app": "web"}, HOST).build()
    row = before.nodes.row_of(other.node_name)
    state, fresh = CycleState(), CycleState()
    assert plugin.pre_filter(state, new, before.nodes) is None
    assert row is not None
    there = state.clone()
    plugin.add_pod(there, new, other, before.nodes.node(row))
    after = cluster(nodes, [*running, other], NAMESPACES)
    assert plugin.pre_filter(fresh, new, after.nodes) is None
    assert plugin.filter(there, new, before.nodes).tolist() == plugin.filter(fresh, new, after.nodes).tolist()
    plugin.remove_pod(there, new, other, before.nodes.node(row))
    assert plugin.filter(there, new, before.nodes).tolist() == plugin.filter(state, new, before.nodes).tolist()


def _node(rng: random.Random, number: int) -> NodeBuilder:
    made = node(f"n{number}")
    if rng.random() < 0.9:
        made = made.zone(rng.choice("abc"))
    if rng.random() < 0.7:
        made = made.label(rack=rng.choice("123"))
    return made.without_label(HOST) if rng.random() < 0.2 else made


def _pod(rng: random.Random, name: str) -> PodBuilder:
    made = pod(name).namespace(rng.choice(list(TEAMS))).label(app=rng.choice(["web", "db"]), tier=rng.choice("fb"))
    if rng.random() < 0.15:
        made = made.terminating()
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        selector = rng.choice([{"app": "web"}, {"app": "db"}, {"tier": "f"}, {}])
        more = rng.choice(WHERE)
        key, weight = rng.choice(KEYS), rng.randint(1, 100)
        kind = rng.randrange(4)
        if kind == 0:
            made = made.affinity(selector, key, **more)
        elif kind == 1:
            made = made.anti_affinity(selector, key, **more)
        elif kind == 2:
            made = made.prefers_pods(weight, selector, key, **more)
        else:
            made = made.avoids_pods(weight, selector, key, **more)
    return made


# -- the rule in its plainest words --


def _views(cache: ClusterCache) -> list[NodeView]:
    return [cache.nodes.node(row) for row in range(len(cache.nodes))]


def _wants(term: PodTerm, other: Pod) -> bool:
    """A term of the pod to be placed: its selector is asked about the namespace, and about one without labels."""
    labels = TEAMS[other.namespace]
    return term.matches(other.namespace, labels, other.labels) or term.matches(other.namespace, {}, other.labels)


def _is_wanted(term: PodTerm, new: Pod) -> bool:
    """A term of a pod on a node."""
    return term.matches(new.namespace, TEAMS[new.namespace], new.labels)


def _add(counts: Counter[Pair], term: PodTerm, view: NodeView, weight: int = 1) -> None:
    if term.topology_key in view.labels:
        counts[term.topology_key, view.labels[term.topology_key]] += weight


def _meets(terms: Sequence[PodTerm], other: Pod) -> bool:
    return bool(terms) and all(_wants(term, other) for term in terms)


def _rejected(new: Pod, cache: ClusterCache) -> dict[str, str]:
    needed: Counter[Pair] = Counter()
    shunned: Counter[Pair] = Counter()
    shunning: Counter[Pair] = Counter()
    affinity, anti_affinity = new.required_affinity_terms, new.required_anti_affinity_terms
    for view in _views(cache):
        for other in view.pods:
            for term in affinity if _meets(affinity, other) else ():
                _add(needed, term, view)
            for term in anti_affinity:
                if _wants(term, other):
                    _add(shunned, term, view)
            for term in other.required_anti_affinity_terms:
                if _is_wanted(term, new):
                    _add(shunning, term, view)
    rejected: dict[str, str] = {}
    for view in _views(cache):
        labels = view.labels
        has_keys = all(term.topology_key in labels for term in affinity)
        beside = has_keys and all(needed[term.topology_key, labels[term.topology_key]] for term in affinity)
        is_first = has_keys and not needed and _meets(affinity, new)
        if affinity and not (beside or is_first):
            rejected[view.name] = "node(s) didn't match pod affinity rules"
        elif any(shunned[term.topology_key, labels.get(term.topology_key, "?")] for term in anti_affinity):
            rejected[view.name] = "node(s) didn't match pod anti-affinity rules"
        elif any(shunning[pair] for pair in labels.items()):
            rejected[view.name] = "node(s) didn't satisfy existing pods anti-affinity rules"
    return rejected


def _scores(new: Pod, cache: ClusterCache, hard_weight: int) -> dict[str, int]:
    worth: Counter[Pair] = Counter()
    for view in _views(cache):
        for other in view.pods:
            mine = [(weight, term) for weight, term in new.preferred_affinity_terms if _wants(term, other)]
            mine += [(-weight, term) for weight, term in new.preferred_anti_affinity_terms if _wants(term, other)]
            theirs = [(weight, term) for weight, term in other.preferred_affinity_terms]
            theirs += [(-weight, term) for weight, term in other.preferred_anti_affinity_terms]
            if hard_weight:
                theirs += [(hard_weight, term) for term in other.required_affinity_terms]
            for weight, term in [*mine, *(each for each in theirs if _is_wanted(each[1], new))]:
                _add(worth, term, view, weight)
    if not worth:
        return {}
    raw = {view.name: sum(worth[pair] for pair in view.labels.items()) for view in _views(cache)}
    low, high = min(raw.values()), max(raw.values())
    return {name: int(100 * ((value - low) / (high - low))) if high > low else 0 for name, value in raw.items()}


def _forms_agree(plugin: InterPodAffinity, new: Pod, cache: ClusterCache) -> None:
    state, views = CycleState(), _views(cache)
    if plugin.pre_filter(state, new, cache.nodes) is None:
        codes = plugin.filter(state, new, cache.nodes)
        one_by_one = [plugin.filter_node(state, new, view) for view in views]
        assert [plugin.reasons[code - 1] if code else None for code in codes] == one_by_one
    if plugin.pre_score(state, new, cache.nodes, np.arange(len(views))) is None:
        scores = plugin.score(state, new, cache.nodes).tolist()
        assert scores == [plugin.score_node(state, new, view) for view in views]
