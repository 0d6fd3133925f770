"""
After any order of events every column, count and term equals one built fresh from the objects that are left.

Columns are asked for before, between or after the events, since a column that exists is kept up to date and one
that does not is made from the objects.  A second claim holds the journal to its word: a row that changed is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
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
NODES = ["n0", "n1", "n2", "n3"]
HOMES = [*NODES, "never-there"]
PODS = [f"p{number}" for number in range(6)]
WEB = compile_label_selector(LabelSelector(match_labels={"app": "web"}))
SELECTIVE = pod("q").requires_node(ZONE, "In", "z0").build()
TOLERANT = pod("q").tolerates("t0").build()
TARGETS = [pod("q").label(app="web").build(), pod("q").namespace("blue").label(app="web", tier="x").build()]


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


def a_pod(name: str, kind: int, home: str) -> Pod:
    """A pod under one of several descriptions, on a node."""
    random = Random(kind)
    made = pod(name).on(home).namespace(random.choice(["default", "blue"])).cpu(f"{random.randrange(2000)}m")
    if random.random() < 0.6:
        made = made.label(app=random.choice(["web", "db"]))
    if random.random() < 0.3:
        made = made.scalar(GPU, 1).request(ephemeral_storage="1Gi", memory="1Gi")
    if random.random() < 0.3:
        made = made.port(random.choice([80, 443]), ip=random.choice(["", "10.0.0.1"]))
    if random.random() < 0.3:
        made = made.terminating()
    for _ in range(random.randrange(3)):
        key, app = random.choice([HOST, ZONE]), {"app": random.choice(["web", "db"])}
        selector = {"team": "blue"} if random.random() < 0.4 else None
        made = random.choice(
            [
                lambda each, key=key, app=app, ns=selector: each.anti_affinity(app, key, ns_selector=ns),
                lambda each, key=key, app=app, ns=selector: each.affinity(app, key, ns_selector=ns),
                lambda each, key=key, app=app, ns=selector: each.prefers_pods(7, app, key, ns_selector=ns),
                lambda each, key=key, app=app, ns=selector: each.avoids_pods(3, app, key, ns_selector=ns),
            ]
        )(made)
    return made.build()


class World:
    """A cache that lives through events, and the objects that are left of them."""

    def __init__(self) -> None:
        self.cache = ClusterCache()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.assumed: set[str] = set()
        self.team = ""

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

    def asked(self, question: int) -> None:
        list(QUESTIONS.values())[question % len(QUESTIONS)](self.cache)


def tell_namespace(cache: ClusterCache, team: str) -> None:
    namespace = Namespace(metadata=ObjectMeta(name="blue", labels={"team": team}))
    cache.objects.put("Namespace", "", "blue", namespace)
    cache.namespaces_changed()


# -- everything there is to ask, as values by node name --


def by_name(cache: ClusterCache, values: Any) -> dict[str, Any]:
    return dict(zip(cache.nodes.names, np.asarray(values).tolist(), strict=True))


def label(cache: ClusterCache, key: str) -> dict[str, Any]:
    column = cache.nodes.label(key)
    return {name: column.values[i] if i >= 0 else None for name, i in by_name(cache, column.ids).items()}


def image(cache: ClusterCache, name: str) -> Any:
    known = cache.nodes.image(name)
    return known and (known.size_bytes, known.num_nodes, sorted(cache.nodes.names[row] for row in known.rows))


def terms(cache: ClusterCache, kind: TermKind, target: Pod) -> list[Any]:
    columns = cache.nodes.terms(kind, target)
    return sorted((each.topology_key, each.weight, sorted(by_name(cache, each.counts).items())) for each in columns)


def ports(cache: ClusterCache, port: int) -> list[tuple[str, str]]:
    return sorted((cache.nodes.names[row], ip) for row, ip in cache.nodes.port_users("TCP", port))


NUMBERS = [column for column in COLUMNS if column != "taints_id"]  # ids are numbered as they come

QUESTIONS: dict[str, Callable[[ClusterCache], Any]] = {
    **{column: lambda cache, c=column: by_name(cache, getattr(cache.nodes, c)) for column in NUMBERS},
    "taints": lambda cache: {
        name: cache.nodes.taint_sets[number] for name, number in by_name(cache, cache.nodes.taints_id).items()
    },
    "zone": lambda cache: label(cache, ZONE),
    "host": lambda cache: label(cache, HOST),
    "gpu there": lambda cache: by_name(cache, cache.nodes.scalar_alloc(GPU)),
    "gpu taken": lambda cache: by_name(cache, cache.nodes.scalar_req(GPU)),
    "derived": lambda cache: by_name(
        cache, cache.nodes.derive("load", lambda each: float(each.annotations["load"]), np.float64)
    ),
    "pods": lambda cache: {
        name: sorted(each.name for each in cache.nodes.pods_at(row)) for row, name in enumerate(cache.nodes.names)
    },
    "objects": lambda cache: {name: cache.nodes.object_at(row) for row, name in enumerate(cache.nodes.names)},
    **{f"image {n}": lambda cache, n=n: image(cache, n) for n in ("app:0", "app:1", "app:1-alias")},
    **{f"port {n}": lambda cache, n=n: ports(cache, n) for n in (80, 443)},
    "selected": lambda cache: by_name(cache, cache.nodes.matching(SELECTIVE.required_node_affinity)),
    "tolerated": lambda cache: by_name(cache, cache.nodes.untolerated(TOLERANT.tolerations, DO_NOT_SCHEDULE)),
    "web": lambda cache: by_name(cache, cache.nodes.matching_pods(PodMatcher(None, WEB))),
    "staying web of blue": lambda cache: by_name(
        cache, cache.nodes.matching_pods(PodMatcher(frozenset(("blue",)), WEB), skip_terminating=True)
    ),
    "all of default": lambda cache: by_name(
        cache, cache.nodes.matching_pods(PodMatcher(frozenset(("default",)), EVERYTHING))
    ),
    **{
        f"{kind.value} for {number}": lambda cache, kind=kind, target=target: terms(cache, kind, target)
        for kind in TermKind
        for number, target in enumerate(TARGETS)
    },
}


def everything(cache: ClusterCache) -> dict[str, Any]:
    return {name: ask(cache) for name, ask in QUESTIONS.items()}


def rebuilt(world: World, seed: int) -> ClusterCache:
    """A new cache of what is left, told in any order."""
    cache = ClusterCache()
    tell_namespace(cache, world.team)
    told: list[Node | Pod] = [*world.nodes.values(), *world.pods.values()]
    Random(seed).shuffle(told)
    for each in told:
        if isinstance(each, Node):
            cache.add_node(each)
        else:
            cache.add_pod(each)
    return cache


KINDS = st.integers(0, 40)
EVENTS = st.one_of(
    st.tuples(st.just("node_told"), st.sampled_from(NODES), KINDS),
    st.tuples(st.just("node_gone"), st.sampled_from(NODES)),
    st.tuples(st.just("pod_told"), st.sampled_from(PODS), KINDS, st.sampled_from(HOMES)),
    st.tuples(st.just("pod_gone"), st.sampled_from(PODS)),
    st.tuples(st.just("assumed_on"), st.sampled_from(PODS), KINDS, st.sampled_from(HOMES)),
    st.tuples(st.just("forgotten"), st.sampled_from(PODS)),
    st.tuples(st.just("namespace_told"), st.sampled_from(["blue", "red"])),
    st.tuples(st.just("asked"), st.integers(0, 40)),
)


@given(st.lists(EVENTS, max_size=40), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_what_was_kept_equals_what_is_counted_anew(events: list[Any], seed: int) -> None:
    world = World()
    for name, *arguments in events:
        getattr(world, name)(*arguments)
    fresh = rebuilt(world, seed)
    assert everything(world.cache) == everything(fresh)
    assert world.cache.pod_count == len(world.pods)
    assert {each.name for each in world.cache.pods() if world.cache.is_assumed(each.uid)} == world.assumed
    assert sorted(world.cache.node_order().tolist()) == list(range(len(world.nodes)))


@given(st.lists(EVENTS, max_size=30))
@settings(max_examples=75, deadline=None)
def test_a_row_that_changed_is_in_the_journal(events: list[Any]) -> None:
    world = World()
    for name, *arguments in events:
        layout, position, generation = world.cache.layout, world.cache.position(), world.cache.generation
        before = rows(world.cache)
        getattr(world, name)(*arguments)
        if world.cache.layout == layout:
            after = rows(world.cache)
            changed = {row for row in range(len(after)) if before[row] != after[row]}
            told = world.cache.changed_since(position)
            assert told is not None
            assert changed <= told
            assert not changed or world.cache.generation > generation


def rows(cache: ClusterCache) -> list[Any]:
    """All that is known of each row but terms and counts, which belong to pods that are listed here."""
    fixed = [getattr(cache.nodes, column).tolist() for column in COLUMNS]
    objects = [(cache.nodes.object_at(row), list(cache.nodes.pods_at(row))) for row in range(len(cache.nodes))]
    return list(zip(*fixed, objects, strict=True)) if objects else []
