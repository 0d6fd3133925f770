"""The shape of a scenario, and one-line builders for the objects in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.parity.case import Object, Result
from tests.parity.generating.cluster import Cluster

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Scenario:
    """``expect`` names what must hold of the result of the last pod: fields of Result, and for ``scores`` at least
    the plugins given (None: the plugin must not have scored); ``devices`` are those of its claims, by their names."""

    name: str
    title: str
    pod: Object
    expect: dict[str, Any]
    nodes: tuple[Object, ...] = ()
    bound: tuple[Object, ...] = ()
    others: tuple[Object, ...] = ()
    terminating: tuple[str, ...] = field(default=())
    # on purpose; docs/parity.md says why
    bayplan_differs: bool = False

    def cluster(self) -> Cluster:
        return Cluster(
            name=f"fact-{self.name}",
            style="scenario",
            objects=[*self.others, *self.nodes],
            bound=list(self.bound),
            pending=[self.pod],
            terminating=[("default", name) for name in self.terminating],
        )

    def check(self, result: Result) -> list[str]:
        """Where the result is not as expected."""
        wrong = []
        for key, wanted in self.expect.items():
            found = _devices(result) if key == "devices" else getattr(result, key)
            if key == "scores":
                found = {plugin: (found or {}).get(plugin) for plugin in wanted}
            if found != wanted:
                wrong.append(f"{key}: expected {wanted!r}, kube-scheduler {found!r}")
        return wrong


def _devices(result: Result) -> dict[str, list[str]]:
    return {
        called: [each["device"] for each in given["devices"]["results"]]
        for called, given in (result.allocations or {}).items()
    }


def node(name: str, cpu: str = "4", memory: str = "32Gi", *, pods: str = "110", **fields: Any) -> Object:
    """``labels``, ``taints``, ``images`` ({name: MiB}) and ``extra`` resources; the hostname label is always there."""
    sizes = {"cpu": cpu, "memory": memory, "pods": pods} | fields.get("extra", {})
    images = [{"names": [image], "sizeBytes": mib * MIB} for image, mib in fields.get("images", {}).items()]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name} | fields.get("labels", {})},
        "spec": {"taints": fields.get("taints", [])},
        "status": {"capacity": sizes, "allocatable": sizes, "images": images},
    }


def pod(name: str, cpu: str = "", memory: str = "", *, on: str = "", **fields: Any) -> Object:
    """``labels``, ``namespace``, ``spec`` (merged in) and ``status``; ``on`` a node it runs there since ``started``."""
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    container = {"name": "main", "image": "app:1"} | ({"resources": {"requests": requests}} if requests else {})
    spec = {"containers": [container]} | fields.get("spec", {}) | ({"nodeName": on} if on else {})
    document: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": fields.get("namespace", "default"),
            "labels": fields.get("labels", {}),
        },
        "spec": spec,
    }
    status = {"phase": "Running", "startTime": f"2026-01-01T{fields.get('started', '10:00')}:00Z"} if on else {}
    status |= fields.get("status", {})
    return document | {"status": status} if status else document


def required_terms(kind: str, *terms: Object) -> Object:
    """``affinity`` with required terms of the kind."""
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}}


def preferred_terms(kind: str, *weighted: tuple[int, Object]) -> Object:
    """``affinity`` with preferred terms of the kind."""
    key = "preference" if kind == "nodeAffinity" else "podAffinityTerm"
    terms = [{"weight": weight, key: term} for weight, term in weighted]
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}


def about_app(app: str, key: str = "kubernetes.io/hostname", **fields: Any) -> Object:
    """A pod affinity term."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}} | fields


def spread(key: str, when: str = "DoNotSchedule", app: str | None = "a", skew: int = 1, **fields: Any) -> Object:
    """A topology spread constraint; ``app=None`` gives the selector that selects everything."""
    selector = {} if app is None else {"matchLabels": {"app": app}}
    constraint = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector}
    return constraint | fields


def priority_class(name: str, value: int, **fields: Any) -> Object:
    typed = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    return typed | {"value": value} | fields


def budget(name: str, app: str, allowed: int) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
    }


def service(name: str, app: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"clusterIP": "None", "ports": [{"port": 80}], "selector": {"app": app}},
    }


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
