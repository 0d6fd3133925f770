"""
PodTopologySpread against the rule in its plainest words, counted anew from every pod, on random clusters.

The plugin reads kept counts and judges domains as arrays; here dictionaries are filled pod by pod instead.
"""

from __future__ import annotations

import math
import random

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState, NodeView
from bayplan.objects.affinity import SpreadConstraint
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.objects.pod import Pod
from bayplan.objects.toleration import untolerated
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.builders import NodeBuilder, PodBuilder

KEYS = (ZONE, HOST, "rack")


@pytest.mark.parametrize("seed", range(60))
def test_kept_counts_give_the_answers_of_a_recount(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [_node(rng, number) for number in range(rng.randint(1, 9))]
    running = [_pod(rng, f"p{number}").on(f"n{rng.randrange(len(nodes))}") for number in range(rng.randint(0, 25))]
    cache = cluster(nodes, running)
    plugin = make(PodTopologySpread, cache)
    for number in range(4):
        new = _spread(rng, _pod(rng, f"new{number}")).build()
        rejected = {name: texts[0] for name, texts in reasons(run_filter(plugin, new, cache)).items()}
        assert rejected == _rejected(new, cache)
        feasible = sorted(set(cache.nodes.names) - set(rejected), key=cache.nodes.names.index)
        if feasible:
            assert run_score(plugin, new, cache, feasible=feasible) == _scores(new, cache, feasible)
        _forms_agree(plugin, new, cache)


@pytest.mark.parametrize("seed", range(40))
def test_imagining_a_pod_is_as_good_as_having_it(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [_node(rng, number) for number in range(rng.randint(2, 9))]
    running = [_pod(rng, f"p{number}").on(f"n{rng.randrange(len(nodes))}") for number in range(20)]
    before = cluster(nodes, running)
    plugin = make(PodTopologySpread, before)
    other = pod("other").label(app=rng.choice(["web", "db"])).on(f"n{rng.randrange(len(nodes))}").build()
    new = pod("new").label(app="web").spread(rng.choice(KEYS), 1).spread(ZONE, 2, selector={"app": "db"})
    row = before.nodes.row_of(other.node_name)
    state, pod_to_place = CycleState(), new.build()
    assert plugin.pre_filter(state, pod_to_place, before.nodes) is None
    assert row is not None
    there = state.clone()
    plugin.add_pod(there, pod_to_place, other, before.nodes.node(row))
    after = cluster(nodes, [*running, other])
    fresh = CycleState()
    assert plugin.pre_filter(fresh, pod_to_place, after.nodes) is None
    expected = plugin.filter(fresh, pod_to_place, after.nodes).tolist()
    assert plugin.filter(there, pod_to_place, before.nodes).tolist() == expected
    plugin.remove_pod(there, pod_to_place, other, before.nodes.node(row))
    unchanged = plugin.filter(state, pod_to_place, before.nodes).tolist()
    assert plugin.filter(there, pod_to_place, before.nodes).tolist() == unchanged


def _node(rng: random.Random, number: int) -> NodeBuilder:
    made = node(f"n{number}")
    if rng.random() < 0.9:
        made = made.zone(rng.choice("abc"))
    if rng.random() < 0.7:
        made = made.label(rack=rng.choice("123"))
    if rng.random() < 0.2:
        made = made.without_label(HOST)
    if rng.random() < 0.3:
        made = made.taint("t", effect=rng.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"]))
    return made.label(pool=rng.choice("xy"))


def _pod(rng: random.Random, name: str) -> PodBuilder:
    made = pod(name).namespace(rng.choice(["default", "default", "other"])).label(app=rng.choice(["web", "db"]))
    return made.terminating() if rng.random() < 0.15 else made


def _spread(rng: random.Random, made: PodBuilder) -> PodBuilder:
    if rng.random() < 0.3:
        made = made.node_selector(pool="x")
    if rng.random() < 0.3:
        made = made.tolerates("t")
    for _ in range(rng.randint(1, 3)):
        made = made.spread(
            rng.choice(KEYS),
            rng.randint(1, 3),
            hard=rng.random() < 0.5,
            selector=rng.choice([{"app": "web"}, {"app": "db"}, {}]),
            min_domains=rng.choice([None, None, 2, 4]),
            node_affinity_policy=rng.choice([None, "Honor", "Ignore"]),
            node_taints_policy=rng.choice([None, "Honor", "Ignore"]),
        )
    return made


# -- the rule in its plainest words --


def _views(cache: ClusterCache) -> list[NodeView]:
    return [cache.nodes.node(row) for row in range(len(cache.nodes))]


def _count(new: Pod, constraint: SpreadConstraint, view: NodeView) -> int:
    if constraint.selector.is_empty:
        return 0
    alive = [each for each in view.pods if each.namespace == new.namespace and not each.is_terminating]
    return sum(constraint.selector.matches(each.labels) for each in alive)


def _domains(new: Pod, constraint: SpreadConstraint, keys: set[str], cache: ClusterCache) -> dict[str, int]:
    found: dict[str, int] = {}
    for view in _views(cache):
        if keys - set(view.labels):
            continue
        required = new.required_node_affinity
        if constraint.honor_affinity and required and not required.matches(view.name, view.labels):
            continue
        if constraint.honor_taints and untolerated(new.tolerations, view.taints):
            continue
        value = view.labels[constraint.topology_key]
        found[value] = found.get(value, 0) + _count(new, constraint, view)
    return found


def _rejected(new: Pod, cache: ClusterCache) -> dict[str, str]:
    hard = [each for each in new.spread_constraints if each.hard]
    keys = {each.topology_key for each in hard}
    rejected: dict[str, str] = {}
    for constraint in hard:
        domains = _domains(new, constraint, keys, cache)
        least = min(domains.values()) if len(domains) >= constraint.min_domains else 0
        own = int(constraint.selector.matches(new.labels))
        for view in _views(cache):
            text = "node(s) didn't match pod topology spread constraints"
            value = view.labels.get(constraint.topology_key)
            if value is None:
                rejected.setdefault(view.name, f"{text} (missing required label)")
            elif domains.get(value, 0) + own - least > constraint.max_skew:
                rejected.setdefault(view.name, text)
    return rejected


def _scores(new: Pod, cache: ClusterCache, feasible: list[str]) -> dict[str, int]:
    soft = [each for each in new.spread_constraints if not each.hard]
    keys = {each.topology_key for each in soft}
    scored = [view for view in _views(cache) if view.name in feasible and not keys - set(view.labels)]
    if not soft:
        return {}
    raw = dict.fromkeys((view.name for view in scored), 0.0)
    for constraint in soft:
        key = constraint.topology_key
        size = len(scored) if key == HOST else len({view.labels[key] for view in scored})
        domains = _domains(new, constraint, keys, cache)
        for view in scored:
            pods = _count(new, constraint, view) if key == HOST else domains.get(view.labels[key], 0)
            raw[view.name] += pods * math.log(size + 2) + (constraint.max_skew - 1)
    whole = {name: math.floor(value) + (value % 1 >= 0.5) for name, value in raw.items()}
    high, low = max(whole.values(), default=0), min(whole.values(), default=0)
    turned = {name: 100 * (high + low - value) // high if high else 100 for name, value in whole.items()}
    return {name: turned.get(name, 0) for name in feasible}


def _forms_agree(plugin: PodTopologySpread, new: Pod, cache: ClusterCache) -> None:
    state = CycleState()
    if plugin.pre_filter(state, new, cache.nodes) is None:
        codes = plugin.filter(state, new, cache.nodes)
        one_by_one = [plugin.filter_node(state, new, view) for view in _views(cache)]
        assert [plugin.reasons[code - 1] if code else None for code in codes] == one_by_one
