"""Everything around pods and nodes: namespaces, priority and runtime classes, budgets, services, owners."""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, chance

NAMESPACES = {
    "default": {},
    "shop": {"team": "red", "env": "prod"},
    "data": {"team": "blue", "env": "prod"},
    "lab": {"team": "blue"},
}
# name, value, preemptionPolicy
PRIORITIES = [
    ("negative", -10, None),
    ("low", 10, None),
    ("middle", 100, None),
    ("high", 1000, None),
    ("polite", 1000, "Never"),
]
APPS = ["web", "db", "cache", "batch"]
OWNER_KINDS = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicationController": "v1",
}
OVERHEAD = {"cpu": "120m", "memory": "64Mi"}


def make_namespaces(rng: Random) -> list[Object]:
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name, labels in NAMESPACES.items()
        if name != "default"
    ]


def make_classes(rng: Random) -> list[Object]:
    """PriorityClasses, one of them perhaps the global default, and the RuntimeClass that adds overhead."""
    default = rng.choice(["low", "middle"]) if chance(rng, 0.15) else None
    classes: list[Object] = []
    for name, value, policy in PRIORITIES:
        one: Object = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        one |= {"value": value, "globalDefault": name == default}
        if policy:
            one["preemptionPolicy"] = policy
        classes.append(one)
    sandbox = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "sandboxed"}}
    return [*classes, sandbox | {"handler": "sandboxed", "overhead": {"podFixed": OVERHEAD}}]


def make_owners(rng: Random) -> list[Object]:
    """Services and controllers. Pods with their labels are spread even if they do not ask for it."""
    owners: list[Object] = []
    for namespace in NAMESPACES:
        for app in APPS:
            if chance(rng, 0.25):
                owners.append(_make_service(rng, namespace, app))
            owners += [_make_owner(kind, namespace, app) for kind in OWNER_KINDS]
    return owners


def _make_service(rng: Random, namespace: str, app: str) -> Object:
    selector = {"app": app} if chance(rng, 0.8) else {"app": app, "tier": rng.choice(["front", "back"])}
    spec: Object = {"clusterIP": "None", "ports": [{"port": 80}], "selector": selector}
    if chance(rng, 0.1):
        del spec["selector"]
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": app, "namespace": namespace}, "spec": spec}


def owner_name(kind: str, app: str) -> str:
    return f"{app}-{kind.lower()}"


def _make_owner(kind: str, namespace: str, app: str) -> Object:
    template = {
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": "web:1"}]},
    }
    selector: Object = {"app": app} if kind == "ReplicationController" else {"matchLabels": {"app": app}}
    spec: Object = {"replicas": 0, "selector": selector, "template": template}
    if kind == "StatefulSet":
        spec["serviceName"] = app
    return {
        "apiVersion": OWNER_KINDS[kind],
        "kind": kind,
        "metadata": {"name": owner_name(kind, app), "namespace": namespace},
        "spec": spec,
    }


def make_budgets(rng: Random) -> list[Object]:
    """PodDisruptionBudgets with the status their controller would have written."""
    return [
        _make_budget(rng, namespace, app)
        for namespace in NAMESPACES
        for app in [*APPS, ""]
        if chance(rng, 0.3 if app else 0.06)
    ]


def _make_budget(rng: Random, namespace: str, app: str) -> Object:
    selector: Object = {"matchLabels": {"app": app}} if app else {}
    if app and chance(rng, 0.2):
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, rng.choice(APPS)]}]}
    allowed = rng.choice([0, 0, 1, 1, 2])
    status = {"disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 3 - allowed, "expectedPods": 3}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": f"{app or 'all'}-budget", "namespace": namespace},
        "spec": {"minAvailable": 3 - allowed, "selector": selector},
        "status": status,
    }
