"""
Random clusters whose end does not hang on luck: pods that compete for something are alike, or of different priority.

Which of two unlike pods gets the last place depends on which was evicted a millisecond earlier, so there are none such.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
SCHEDULER = "bayplan"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


@dataclass
class Case:
    """A cluster, and the node that is drained."""

    nodes: list[Object]
    objects: list[Object] = field(default_factory=list)
    drained: str = ""


class Generator:
    """One cluster for each seed."""

    def __init__(self, seed: int, namespace: str) -> None:
        self._rng = random.Random(seed)
        self._space = namespace
        self._case = Case([])

    def case(self) -> Case:
        rng, case = self._rng, self._case
        zones = rng.randint(2, 3)
        for number in range(rng.randint(4, 7)):
            case.nodes.append(self._node(f"n{number}", "abc"[number % zones]))
        makers = [
            self._slots,
            self._hosts,
            self._zones,
            self._small,
            self._stateful,
            self._pair,
            self._daemon,
            self._alone,
        ]
        for number, make in enumerate([self._slots, *rng.choices(makers, k=rng.randint(4, 7))]):
            make(f"w{number}")
        case.drained = rng.choice(case.nodes)["metadata"]["name"]
        return case

    # -- kinds of workloads --

    def _slots(self, name: str) -> None:
        """Pods that need something of which nodes have a few: the rest waits."""
        total = self._offer(f"example.com/{name}")
        replicas = max(1, total + self._rng.choice((-2, -1, 0, 0, 1)))
        self._deploy(name, replicas, {f"example.com/{name}": "1"})

    def _hosts(self, name: str) -> None:
        """No two on one host."""
        term = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": HOST}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        self._deploy(name, len(self._case.nodes) - self._rng.randint(0, 1), {}, affinity=affinity)

    def _zones(self, name: str) -> None:
        constraint = {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": name}},
        }
        self._deploy(name, self._rng.randint(2, 6), {}, topologySpreadConstraints=[constraint])

    def _small(self, name: str) -> None:
        self._deploy(name, self._rng.randint(1, 6), {})

    def _stateful(self, name: str) -> None:
        total = self._offer(f"example.com/{name}")
        made = self._workload(
            "StatefulSet", name, max(1, total - self._rng.randint(0, 2)), {f"example.com/{name}": "1"}
        )
        made["spec"] |= {"serviceName": name, "podManagementPolicy": self._rng.choice(("OrderedReady", "Parallel"))}
        self._case.objects.append(made)
        self._budget(name, made["spec"]["replicas"])

    def _pair(self, name: str) -> None:
        """Two that want the same, one of them more important."""
        resource = f"example.com/{name}"
        total = self._offer(resource)
        high = self._rng.randint(1, max(1, total - 1))
        for suffix, replicas in (("low", max(1, total - high)), ("high", high)):
            made = self._workload("Deployment", f"{name}-{suffix}", replicas, {resource: "1"})
            made["spec"]["template"]["spec"]["priorityClassName"] = suffix
            self._case.objects.append(made)

    def _daemon(self, name: str) -> None:
        made = self._workload("DaemonSet", name, 0, {})
        del made["spec"]["replicas"]
        self._case.objects.append(made)

    def _alone(self, name: str) -> None:
        spec = self._workload("Deployment", name, 1, {})["spec"]["template"]["spec"]
        meta = {"name": name, "namespace": self._space}
        self._case.objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})

    # -- parts --

    def _node(self, name: str, zone: str) -> Object:
        sizes = {"cpu": "64", "memory": "256Gi", "pods": "110"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {HOST: name, ZONE: zone}},
            "status": {"allocatable": dict(sizes), "capacity": dict(sizes)},
        }

    def _offer(self, resource: str) -> int:
        """Nodes have up to three of it, and at least one node has some."""
        amounts = [self._rng.choice((0, 1, 1, 2, 3)) for _ in self._case.nodes]
        amounts[self._rng.randrange(len(amounts))] = 2
        for node, amount in zip(self._case.nodes, amounts, strict=True):
            for field_name in ("allocatable", "capacity"):
                node["status"][field_name][resource] = str(amount)
        return sum(amounts)

    def _deploy(self, name: str, replicas: int, asks: dict[str, str], **spec: Any) -> None:
        self._case.objects.append(self._workload("Deployment", name, replicas, asks, **spec))
        self._budget(name, replicas)

    def _workload(self, kind: str, name: str, replicas: int, asks: dict[str, str], **spec: Any) -> Object:
        container = {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "10m", **asks}, "limits": asks}}
        given = {
            "schedulerName": SCHEDULER,
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
            **spec,
        }
        template = {"metadata": {"labels": {"app": name}}, "spec": given}
        return {
            "apiVersion": "apps/v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": self._space},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
        }

    def _budget(self, name: str, replicas: int) -> None:
        if self._rng.random() < 0.5:
            return
        limits: list[Object] = [
            {"maxUnavailable": 1},
            {"maxUnavailable": 1},
            {"maxUnavailable": "34%"},
            {"maxUnavailable": 0},
            {"minAvailable": max(1, replicas - 1)},
            {"minAvailable": "50%"},
        ]
        spec = {**self._rng.choice(limits), "selector": {"matchLabels": {"app": name}}}
        meta = {"name": name, "namespace": self._space}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}
        self._case.objects.append(budget)


def priority_classes() -> list[Object]:
    return [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("low", 10), ("high", 1000))
    ]
