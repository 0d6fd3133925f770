"""
How few nodes, of which templates and at which price, hold everything that waits: a shopping list.

The search proposes lists; for each the nodes are added to the world, the engine places what it can, and everything is
put back.  ``bayplan fit --node-template`` calls ``buy``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec.structs import replace

from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodStatus
from bayplan.simulator import simulation
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.fit.more_pods import Kind, MorePods
from bayplan.simulator.fit.shopping import Plan, search
from bayplan.simulator.loading import Given
from bayplan.simulator.pod_records import DELETED
from bayplan.simulator.report.simulation_report import PENDING, state_of
from bayplan.simulator.simulation import Progress
from bayplan.simulator.what_if import new_nodes
from bayplan.simulator.world import Look, World, assemble


@dataclass(frozen=True, slots=True)
class Offer:
    """A node that can be bought; the price of each is 1 where none is said."""

    name: str
    node: Node
    price: float


def buy(
    given: Given,
    offers: Sequence[Offer],
    kind: Kind | None,
    count: int | None,
    *,
    seed: int = 0,
    now: float | None = None,
    warn: Callable[[str], None] = lambda warning: None,
    progress: Progress = lambda tried, total: None,
    look: Look | None = None,
) -> dict[str, Any]:
    """The document ``kind: Fit`` with ``buy``."""
    prospects = () if kind is None else (kind.thing, *kind.beside)
    world = assemble(given, seed=seed, now=now, prospects=prospects, keeps_history=look is not None, warn=warn)
    buying = _Buying(world, offers, kind, count)
    stopped = simulation.run(world, progress=progress, then=buying.go_on)
    document = buying.document()
    if look is not None:
        look("", world)
    return {**document, "stopped": stopped} if stopped else document


class _Buying:
    def __init__(self, world: World, offers: Sequence[Offer], kind: Kind | None, count: int | None) -> None:
        self._world = world
        self._offers = {each.name: each for each in offers}
        self._kind = kind
        self._count = count
        self._steps = self._tried()
        self._settled: set[str] = set()
        """Pods that had a node before anything was bought."""
        self._plan: Plan = {}
        self._left: list[dict[str, Any]] = []
        self._preempted: list[Pod] = []
        """Who had to go for the pods that the question is about."""
        self._wanted = self._fits = 0
        self._least: dict[str, int] = {}

    async def go_on(self) -> bool:
        return next(self._steps, None) is not None

    def _tried(self) -> Generator[bool, None, None]:
        before = [pod for pod in self._world.cluster.living() if pod.node_name]
        if self._kind is not None:
            more = MorePods(self._world, self._kind, may_preempt=True)
            more.begin()
            missing = max(0, self._kind.replicas - more.present)
            more.make(missing if self._count is None else self._count)
            self._wanted = len(more.made)
            yield True
            records = self._world.cluster.records
            self._fits = sum(bool(records[uid].pod.node_name) for uid in more.made)
            self._preempted = [pod for pod in before if records[pod.uid].is_gone]
            if self._preempted:  # they want to be held as well
                self._make_again(self._preempted)
                yield True
        self._settled = {pod.uid for pod in self._world.cluster.living() if pod.node_name}
        waiting = self._waiting()
        if not waiting:
            return
        self._least = {name: _least(waiting, offer.node) for name, offer in self._offers.items()}
        proposals = search({name: each.price for name, each in self._offers.items()}, self._least, len(waiting))
        plan = next(proposals)
        while True:
            nodes = self._add(plan)
            yield True
            left = self._waiting()
            try:
                self._put_back(nodes)
                plan = proposals.send(len(left))
            except StopIteration as found:
                plan = found.value
                break
        self._plan = plan
        self._add(plan)
        yield True
        self._left = [self._told(pod) for pod in self._waiting()]

    def _waiting(self) -> list[Pod]:
        records = self._world.cluster.records.values()
        waiting = [each for each in records if not each.is_gone and not each.pod.node_name]
        return [each.pod for each in waiting if state_of(self._world, each)[0] == PENDING]

    def _add(self, plan: Plan) -> list[Node]:
        taken = set(self._world.workloads.nodes)
        nodes: list[Node] = []
        for name, count in plan.items():
            for made in new_nodes.names(name, count, taken):
                taken.add(made)
                nodes.append(new_nodes.fresh(self._offers[name].node, made))
        self._world.changes.play([(True, node) for node in nodes])
        return nodes

    def _put_back(self, nodes: Sequence[Node]) -> None:
        """As if nothing had been bought: the nodes go, and pods that came to a node since wait again."""
        cluster = self._world.cluster
        names = {node.name for node in nodes}
        moved = [pod for pod in cluster.living() if pod.node_name and pod.uid not in self._settled]
        here = self._world.workloads.nodes
        self._world.changes.lose([here[name] for name in names])
        for pod in moved:
            if pod.node_name not in names:
                cluster.end(pod, DELETED, "put back")
        self._make_again(moved)

    def _make_again(self, pods: Sequence[Pod]) -> None:
        """Pods that are gone wait once more, where no controller sees to it."""
        for pod in pods:
            if not self._world.workloads.looks_after(pod):
                meta = replace(pod.metadata, uid=f"{pod.uid}+")
                again = pod.evolve(metadata=meta, spec=replace(pod.spec, node_name=""), status=PodStatus())
                self._world.cluster.add_pod(again)

    def _told(self, pod: Pod) -> dict[str, Any]:
        record = self._world.cluster.records[pod.uid]
        owner = self._world.workloads.owner(pod)
        message = state_of(self._world, record)[1]
        return {"namespace": pod.namespace, "name": pod.name, "owner": owner, "message": message}

    def document(self) -> dict[str, Any]:
        chosen = {name: count for name, count in self._plan.items() if count}
        cost = sum(self._offers[name].price * count for name, count in chosen.items())
        per_node = Counter(
            pod.node_name
            for pod in self._world.cluster.living()
            if pod.node_name and pod.uid not in self._settled and not _is_daemon(pod)
        )
        return {
            "apiVersion": API_VERSION,
            "kind": "Fit",
            "wanted": self._wanted,
            "fits": self._fits,
            "perNode": dict(sorted(per_node.items(), key=lambda pair: (-pair[1], pair[0]))),
            "buy": [
                {"template": name, "count": count, "price": self._offers[name].price} for name, count in chosen.items()
            ],
            "total": {"nodes": sum(chosen.values()), "price": round(cost, 6)},
            "atLeast": self._least,
            "pending": self._left,
            "preempted": [
                {"namespace": pod.namespace, "name": pod.name, "from": pod.node_name} for pod in self._preempted
            ],
        }


def _is_daemon(pod: Pod) -> bool:
    return pod.controller is not None and pod.controller.kind == "DaemonSet"


def _least(pods: Sequence[Pod], node: Node) -> int:
    """Fewer nodes of this kind cannot hold all of them, whatever the rules."""
    asked: Counter[str] = Counter()
    for pod in pods:
        asked.update(pod.requests.as_map())
    had: Mapping[str, int] = node.allocatable.as_map()
    needed = [int(np.ceil(amount / had[name])) for name, amount in asked.items() if had.get(name)]
    return max([1, *needed])
