"""
After any order of events every column, count and term equals one built fresh from the objects that are left.

Columns are asked for before, between or after the events, since a column that exists is kept up to date and one
that does not is made from the objects.  A second claim holds the journal to its word: a row that changed is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.engine.cache import ClusterCache
from bayplan.framework.snapshot import COLUMNS, PodMatcher, TermKind
from bayplan.objects.meta import LabelSelector, ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.selector import EVERYTHING, compile_label_selector
from bayplan.objects.toleration import DO_NOT_SCHEDULE
from bayplan.objects.workload import Namespace
from bayplan.testing import node, pod

GPU, ZONE, HOST = "example.com/gpu", "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NODES = ["n0", "n1", "n2"]
HOMES = [*NODES, "never-there"]
PODS = [f"p{number}" for number in range(4)]
WEB = compile_label_selector(LabelSelector(match_labels={"app": "web"}))
SELECTIVE = pod("q").requires_node(ZONE, "In", "z0").build()
TOLERANT = pod("q").tolerates("t0").build()
TARGETS = [pod("q").label(app="web").build(), pod("q").namespace("blue").label(app="web", tier="x").build()]


@cache
def a_node(name: str, kind: int) -> Node:
    """A node under one of several descriptions."""
    random = Random(kind)
    made = node(name).cpu(random.randrange(1, 9)).memory(f"{random.randrange(1, 9)}Gi").pods(random.randrange(1, 9))
    made = made.annotation(load=str(random.random()))
    if random.random() < 0.7:
        made = made.zone(f"z{random.randrange(3)}")
    for number in range(random.randrange(3)):
        made = made.taint(f"t{number}").image([f"app:{number}", f"app:{number}-alias"], 1000 * (number + 1))
    if random.random() < 0.5:
        made = made.scalar(GPU, random.randrange(5))
    return (made.cordoned() if random.random() < 0.3 else made).build()


@cache
def a_pod(name: str, kind: int, home: str) -> Pod:
    """A pod under one of several descriptions, on a node."""
    random = Random(kind)
    made = pod(name).uid(name).on(home).namespace(random.choice(["default", "blue"])).cpu(f"{random.randrange(2000)}m")
    if random.random() < 0.8:
        made = made.label(app=random.choice(["web", "web", "db"]))
    if random.random() < 0.3:
        made = made.scalar(GPU, 1).request(ephemeral_storage="1Gi", memory="1Gi")
    if random.random() < 0.3:
        made = made.port(random.choice([80, 443]), ip=random.choice(["", "10.0.0.1"]))
    if random.random() < 0.3:
        made = made.claim(random.choice(["data", "logs"])).claim("data")
    if random.random() < 0.5:
        made = made.terminating()
    if random.random() < 0.5:
        made = made.owned_by("ReplicaSet", random.choice(["web", "db"]))
    for _ in range(random.randrange(3)):
        method = random.choice([("affinity",), ("anti_affinity",), ("prefers_pods", 7), ("avoids_pods", 3)])
        more: dict[str, Any] = {"ns_selector": {"team": "blue"}} if random.random() < 0.4 else {}
        wanted, key = {"app": random.choice(["web", "db"])}, random.choice([HOST, ZONE])
        made = getattr(made, str(method[0]))(*method[1:], wanted, key, **more)
    return made.build()


class World:
    """A cache that lives through events, and the objects that are left of them."""

    def __init__(self, seed: int) -> None:
        self.cache = ClusterCache()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.assumed: set[str] = set()
        self.team = ""
        if seed:
            self._populate(Random(seed))

    def _populate(self, random: Random) -> None:
        """So that events meet a cluster in full swing."""
        for name in NODES:
            self.node_told(name, random.randrange(16))
        for name in PODS:
            self.pod_told(name, random.randrange(16), random.choice(HOMES))
        self.asked(random.randrange(8))

    def node_told(self, name: str, kind: int) -> None:
        self.nodes[name] = a_node(name, kind)
        self.cache.add_node(self.nodes[name])

    def node_gone(self, name: str) -> None:
        self.nodes.pop(name, None)
        self.cache.remove_node(name)

    def pod_told(self, name: str, kind: int, home: str) -> None:
        """Added, updated, moved, or an assumed one confirmed, maybe elsewhere."""
        self.pods[name] = a_pod(name, kind, home)
        self.assumed.discard(name)
        self.cache.add_pod(self.pods[name])

    def pod_gone(self, name: str) -> None:
        gone = self.pods.pop(name, None)
        self.assumed.discard(name)
        self.cache.remove_pod(gone or a_pod(name, 0, "n0"))

    def assumed_on(self, name: str, kind: int, home: str) -> None:
        made = a_pod(name, kind, home)
        if self.cache.pod(made.uid) is None:
            self.pods[name] = made
            self.assumed.add(name)
            self.cache.assume(made)

    def forgotten(self, name: str) -> None:
        if name in self.assumed:
            self.assumed.discard(name)
            self.cache.forget(self.pods.pop(name))

    def namespace_told(self, team: str) -> None:
        self.team = team
        tell_namespace(self.cache, team)

    def asked(self, seed: int) -> None:
        """Half of the questions, so that some columns exist from here on and some do not."""
        for ask in Random(seed).sample(QUESTIONS, len(QUESTIONS) // 2):
            ask(self.cache)


def tell_namespace(kept: ClusterCache, team: str) -> None:
    kept.objects.put("Namespace", "", "blue", Namespace(metadata=ObjectMeta(name="blue", labels={"team": team})))
    kept.namespaces_changed()


# -- everything there is to ask, as values by node name --


def by_name(kept: ClusterCache, values: Any) -> dict[str, Any]:
    return dict(zip(kept.nodes.names, np.asarray(values).tolist(), strict=True))


def number(column: str, kept: ClusterCache) -> Any:
    return by_name(kept, getattr(kept.nodes, column))


def taints(kept: ClusterCache) -> Any:
    return {name: kept.nodes.taint_sets[i] for name, i in by_name(kept, kept.nodes.taints_id).items()}


def label(key: str, kept: ClusterCache) -> Any:
    column = kept.nodes.label(key)
    return {name: column.values[i] if i >= 0 else None for name, i in by_name(kept, column.ids).items()}


def derived(kept: ClusterCache) -> Any:
    return by_name(kept, kept.nodes.derive("load", lambda each: float(each.annotations["load"]), np.float64))


def held(kept: ClusterCache) -> Any:
    """Objects and pods."""
    rows = enumerate(kept.nodes.names)
    return {name: (kept.nodes.object_at(row), sorted(p.name for p in kept.nodes.pods_at(row))) for row, name in rows}


def image(name: str, kept: ClusterCache) -> Any:
    known = kept.nodes.image(name)
    return known and (known.size_bytes, known.num_nodes, sorted(kept.nodes.names[row] for row in known.rows))


def ports(port: int, kept: ClusterCache) -> Any:
    return sorted((kept.nodes.names[row], ip) for row, ip in kept.nodes.port_users("TCP", port))


def storage(key: tuple[str, ...], kept: ClusterCache) -> Any:
    return sorted((kept.nodes.names[row], each.name) for row, each in kept.nodes.storage_users(key))


def owned(name: str, kept: ClusterCache) -> Any:
    found = kept.nodes.pods_of("ReplicaSet", "default", name)
    return sorted((kept.nodes.names[row], each.name) for row, each in found)


def selected(kept: ClusterCache) -> Any:
    assert SELECTIVE.required_node_affinity is not None
    return by_name(kept, kept.nodes.matching(SELECTIVE.required_node_affinity))


def counts(matcher: PodMatcher, skip: bool, kept: ClusterCache) -> Any:
    return by_name(kept, kept.nodes.matching_pods(matcher, skip_terminating=skip))


def terms(kind: TermKind, target: Pod, kept: ClusterCache) -> Any:
    columns = kept.nodes.terms(kind, target)
    return sorted((each.topology_key, each.weight, sorted(by_name(kept, each.counts).items())) for each in columns)


QUESTIONS: list[Callable[[ClusterCache], Any]] = [
    *(partial(number, column) for column in COLUMNS if column != "taints_id"),
    taints,
    partial(label, ZONE),
    partial(label, HOST),
    lambda kept: by_name(kept, kept.nodes.scalar_alloc(GPU)),
    lambda kept: by_name(kept, kept.nodes.scalar_req(GPU)),
    derived,
    held,
    partial(owned, "web"),
    *(partial(image, name) for name in ("app:0", "app:1", "app:1-alias")),
    *(partial(ports, port) for port in (80, 443)),
    *(partial(storage, ("claim", namespace, "data")) for namespace in ("default", "blue")),
    selected,
    lambda kept: by_name(kept, kept.nodes.untolerated(TOLERANT.tolerations, DO_NOT_SCHEDULE)),
    partial(counts, PodMatcher(None, WEB), False),
    partial(counts, PodMatcher(frozenset(("blue",)), WEB), True),
    partial(counts, PodMatcher(frozenset(("default",)), EVERYTHING), False),
    *(partial(terms, kind, target) for kind in TermKind for target in TARGETS),
]


def everything(kept: ClusterCache) -> list[Any]:
    return [ask(kept) for ask in QUESTIONS]


def rebuilt(world: World, seed: int) -> ClusterCache:
    """A new cache of what is left, told in any order."""
    fresh = ClusterCache()
    tell_namespace(fresh, world.team)
    told: list[Node | Pod] = [*world.nodes.values(), *world.pods.values()]
    Random(seed).shuffle(told)
    for each in told:
        if isinstance(each, Node):
            fresh.add_node(each)
        else:
            fresh.add_pod(each)
    return fresh


KINDS = st.integers(0, 15)
EVENTS = st.one_of(
    st.tuples(st.just("node_told"), st.sampled_from(NODES), KINDS),
    st.tuples(st.just("node_gone"), st.sampled_from(NODES)),
    st.tuples(st.just("pod_told"), st.sampled_from(PODS), KINDS, st.sampled_from(HOMES)),
    st.tuples(st.just("pod_gone"), st.sampled_from(PODS)),
    st.tuples(st.just("assumed_on"), st.sampled_from(PODS), KINDS, st.sampled_from(HOMES)),
    st.tuples(st.just("forgotten"), st.sampled_from(PODS)),
    st.tuples(st.just("namespace_told"), st.sampled_from(["blue", "red"])),
    st.tuples(st.just("asked"), st.integers(0, 7)),
)


@given(st.lists(EVENTS, max_size=60), st.integers(0, 20))
@settings(max_examples=200, deadline=None)
def test_what_was_kept_equals_what_is_counted_anew(events: list[Any], seed: int) -> None:
    world = World(seed)
    for name, *arguments in events:
        getattr(world, name)(*arguments)
    assert_equals_rebuild(world, seed)


@pytest.mark.parametrize("seed", range(1, 13))
def test_so_it_does_after_a_long_life(seed: int) -> None:
    random, world = Random(seed), World(seed)
    for step in range(200):
        node_name, pod_name, kind = random.choice(NODES), random.choice(PODS), random.randrange(16)
        random.choice(
            [
                partial(world.node_told, node_name, kind),
                partial(world.node_gone, node_name),
                partial(world.pod_told, pod_name, kind, random.choice(HOMES)),
                partial(world.pod_gone, pod_name),
                partial(world.assumed_on, pod_name, kind, random.choice(HOMES)),
                partial(world.forgotten, pod_name),
                partial(world.namespace_told, random.choice(["blue", "red"])),
                partial(world.asked, kind),
            ]
        )()
        if step % 20 == 0:
            assert_equals_rebuild(world, seed)


def assert_equals_rebuild(world: World, seed: int) -> None:
    fresh = rebuilt(world, seed)
    assert everything(world.cache) == everything(fresh)
    assert world.cache.pod_count == len(world.pods)
    assert {each.name for each in world.cache.pods() if world.cache.is_assumed(each.uid)} == world.assumed
    assert sorted(world.cache.node_order().tolist()) == list(range(len(world.nodes)))


@given(st.lists(EVENTS, max_size=30))
@settings(max_examples=75, deadline=None)
def test_a_row_that_changed_is_in_the_journal(events: list[Any]) -> None:
    world = World(seed=1)
    for name, *arguments in events:
        position, generation = world.cache.journal.position, world.cache.generation
        names = list(world.cache.nodes.names)
        before = rows(world.cache)
        getattr(world, name)(*arguments)
        told = world.cache.journal.since(position)
        assert (told is not None) == (world.cache.nodes.names == names)
        if told is not None:
            after = rows(world.cache)
            changed = {row for row in range(len(after)) if before[row] != after[row]}
            assert changed <= set(told)
            assert not changed or world.cache.generation > generation


def rows(kept: ClusterCache) -> list[Any]:
    """All that is known of each row but terms and counts, which belong to pods that are listed here."""
    fixed = [getattr(kept.nodes, column).tolist() for column in COLUMNS]
    objects = [(kept.nodes.object_at(row), list(kept.nodes.pods_at(row))) for row in range(len(kept.nodes))]
    return list(zip(*fixed, objects, strict=True)) if objects else []
