"""Pods: the ones that run already, in every state, and the ones to schedule."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.parity.generating import constraints, resources
from tests.parity.generating.cluster import Object, World, chance
from tests.parity.generating.nodes import IMAGES
from tests.parity.generating.policies import APPS, NAMESPACES, OWNER_KINDS, PRIORITIES, owner_name

Feature = Callable[[Random, Object, World], None]
PREEMPTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


def make_bound_pods(rng: Random, world: World) -> list[Object]:
    """Pods that have a node already."""
    count = round(len(world.nodes) * rng.uniform(*world.style.bound_per_node))
    pods = [_make_bound_pod(rng, world, f"bound-{index:03}") for index in range(count)]
    pods += [_make_idle_pod(rng, world, f"idle-{index}") for index in range(rng.choice([0, 0, 1, 2]))]
    # One pod may lack a start time, as a kubelet that has not reported leaves it. With two of them the real
    # scheduler's order is decided by which clock reading came first.
    if pods and chance(rng, 0.3):
        rng.choice(pods).get("status", {}).pop("startTime", None)
    return pods


def _make_idle_pod(rng: Random, world: World, name: str) -> Object:
    """A pending pod that this scheduler must not care about: gated, or somebody else's."""
    pod = _make_pod(rng, world, name, world.style.pending_size, ["low", "high"])
    if chance(rng, 0.5):
        pod["spec"]["schedulingGates"] = [{"name": "example.com/gate"}]
    else:
        pod["spec"]["schedulerName"] = "someone-else"
        pod["status"] = {"nominatedNodeName": world.node_name(rng)}
    return pod


def _make_bound_pod(rng: Random, world: World, name: str) -> Object:
    low = [one for one in PRIORITIES if one[1] < 1000]
    pod = _make_pod(rng, world, name, world.style.bound_size, [name for name, _, _ in low])
    pod["spec"]["nodeName"] = world.node_name(rng)
    second, minute = rng.randrange(60), rng.randrange(60)
    pod["status"] = {"phase": "Running", "startTime": f"2026-01-01T10:{minute:02}:{second:02}Z"}
    if chance(rng, 0.05):
        pod["status"]["phase"] = rng.choice(["Succeeded", "Failed"])
    elif chance(rng, 0.08):
        _add_resize(rng, pod)
    elif chance(rng, world.style.terminating):
        world.terminating.append((pod["metadata"]["namespace"], name))
        if chance(rng, 0.5):
            pod["metadata"]["finalizers"] = ["example.com/hold"]
        if chance(rng, 0.5):
            pod["status"]["conditions"] = [PREEMPTED]
            world.being_vacated.append(pod["spec"]["nodeName"])
    return pod


def _add_resize(rng: Random, pod: Object) -> None:
    """A running pod whose containers really have something else than the spec says."""
    statuses = []
    for container in pod["spec"]["containers"]:
        actual = {"cpu": f"{rng.choice([10, 300, 900])}m", "memory": f"{rng.choice([10, 300, 900])}Mi"}
        allocated = actual if chance(rng, 0.5) else {"cpu": "200m", "memory": "200Mi"}
        statuses.append(
            {
                "name": container["name"],
                "image": container["image"],
                "imageID": "",
                "ready": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": "2026-01-01T10:00:00Z"}},
                "allocatedResources": allocated,
                "resources": {"requests": actual},
            }
        )
    pod["status"]["containerStatuses"] = statuses
    if chance(rng, 0.5):
        reason = rng.choice(["Infeasible", "Deferred"])
        pod["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]


def free_ports_held_twice(bound: list[Object]) -> None:
    """No scheduler gives a port of a node to two pods; where it happens all the same, see docs/parity.md."""
    held: set[tuple[str, ...]] = set()
    for pod in (each for each in bound if "nodeName" in each["spec"]):
        spec, mine = pod["spec"], set()
        for container in (*spec["containers"], *spec.get("initContainers", ())):
            kept = []
            for port in container.get("ports", ()):
                # On the node's own network every port is one of the node's.
                number = port.get("hostPort") or (port["containerPort"] if spec.get("hostNetwork") else 0)
                place = (
                    spec["nodeName"], port.get("hostIP") or "0.0.0.0", port.get("protocol", "TCP"), str(number)
                )  # fmt: skip
                if not number or place not in held:
                    kept.append(port)
                    mine.add(place)
            if "ports" in container:
                container["ports"] = kept
        held |= mine


def make_pending_pods(rng: Random, world: World) -> list[Object]:
    """Pods to schedule, in this order."""
    names = [name for name, _, _ in PRIORITIES]
    if world.style.priorities > 0.5:
        names += ["high", "high", "high", "middle"]
    size = world.style.pending_size
    return [_make_pod(rng, world, f"pending-{index:02}", size, names) for index in range(world.style.pending)]


def _make_pod(rng: Random, world: World, name: str, size: float, priorities: list[str]) -> Object:
    namespace = rng.choice(["default", "default", *NAMESPACES][: world.style.namespaces + 2])
    spec: Object = {"containers": resources.make_containers(rng, world, size)}
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": _make_labels(rng, world)},
        "spec": spec,
    }
    if chance(rng, world.style.priorities):
        spec["priorityClassName"] = rng.choice(priorities)
        if chance(rng, 0.02):
            spec["priorityClassName"] = "system-node-critical"
    for feature in _pick_features(rng, world, is_pending=name.startswith("pending")):
        FEATURES[feature](rng, pod, world)
    return pod


def _make_labels(rng: Random, world: World) -> dict[str, str]:
    if chance(rng, 0.04):
        return {}
    labels = {"app": rng.choice(APPS[: world.style.apps])}
    if chance(rng, 0.4):
        labels["tier"] = rng.choice(constraints.TIERS)
    if chance(rng, 0.6):
        labels["version"] = rng.choice(["v1", "v2"])
    return labels


def _pick_features(rng: Random, world: World, *, is_pending: bool) -> list[str]:
    """Different features in the order of FEATURES, since later ones build on what earlier ones left."""
    weights = dict(world.style.features)
    if not is_pending:
        for name in ("nomination", "oversize"):
            weights.pop(name, None)
    picked: set[str] = set()
    for _ in range(min(rng.choice(world.style.feature_counts), len(weights))):
        left = {name: weight for name, weight in weights.items() if name not in picked}
        picked.add(rng.choices(list(left), list(left.values()))[0])
    return [name for name in FEATURES if name in picked]


def _add_owner(rng: Random, pod: Object, world: World) -> None:
    """A controller that made the pod. Its selector, not the pod's labels, then counts for default spreading."""
    kind = rng.choice(list(OWNER_KINDS))
    app = pod["metadata"]["labels"].get("app", "web") if chance(rng, 0.9) else rng.choice(APPS)
    name = owner_name(kind, app) if chance(rng, 0.95) else "deleted-owner"
    reference = {"apiVersion": OWNER_KINDS[kind], "kind": kind, "name": name, "uid": f"uid-of-{name}"}
    pod["metadata"]["ownerReferences"] = [reference | {"controller": True}]


def _add_nomination(rng: Random, pod: Object, world: World) -> None:
    """As if an earlier attempt had chosen a node and evicted pods there."""
    is_vacated = world.being_vacated and chance(rng, 0.5)
    pod["status"] = {"nominatedNodeName": rng.choice(world.being_vacated) if is_vacated else world.node_name(rng)}


def _add_restart_rules(rng: Random, pod: Object, world: World) -> None:
    """A field that only nodes which declare the feature can honour."""
    rule = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}
    pod["spec"]["containers"][0] |= {"restartPolicy": "Never", "restartPolicyRules": [rule]}


def _add_image_volume(rng: Random, pod: Object, world: World) -> None:
    pod["spec"]["volumes"] = [{"name": "model", "image": {"reference": rng.choice(IMAGES)[0]}}]


FEATURES: dict[str, Feature] = {
    "tolerations": constraints.add_tolerations,
    "node_selector": constraints.add_node_selector,
    "node_affinity": constraints.add_node_affinity,
    "preferred_node_affinity": constraints.add_preferred_node_affinity,
    "spread": constraints.add_spread,
    "pod_affinity": constraints.add_pod_affinity,
    "pod_anti_affinity": constraints.add_pod_anti_affinity,
    "scarce_resources": resources.add_scarce_resources,
    "sidecars": resources.add_sidecars,
    "overhead": resources.add_overhead,
    "pod_level_resources": resources.add_pod_level_resources,
    "oversize": resources.add_oversize,
    "host_ports": constraints.add_host_ports,
    "owner": _add_owner,
    "nomination": _add_nomination,
    "restart_rules": _add_restart_rules,
    "image_volume": _add_image_volume,
}
