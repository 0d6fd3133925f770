"""The pods of clusters about devices, and the claims they come with.

Every claim is there from the beginning, made for one pod or shared by several, since no controller makes claims from
templates here.
"""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, chance
from tests.parity.generating.device_claims import claim, large_claim
from tests.parity.generating.device_style import ADMIN_NAMESPACE, NAMESPACE, PRIORITIES, RESOURCES, Traits

# A class stands behind this name without saying so.
IMPLICIT = "deviceclass.resource.kubernetes.io/big"


def make_pods(
    rng: Random, traits: Traits, nodes: list[str], held: list[Object]
) -> tuple[list[Object], dict[str, list[Object]], list[Object]]:
    """The pods, by name the claims made for them, and the claims that several use; those of ``held`` are used too."""
    own: dict[str, list[Object]] = {}
    namespaces = (NAMESPACE, NAMESPACE, ADMIN_NAMESPACE) if traits.administers else (NAMESPACE,)
    shared = [claim(rng, f"shared-{number}", traits, rng.choice(namespaces)) for number in range(rng.randint(0, 2))]
    count = rng.randint(4, 6) if traits.prepares else rng.randint(6, 10)
    pods = [_pod(rng, f"pending-{number:02}", rng.choice(namespaces), traits, nodes) for number in range(count)]
    for pod in pods:
        common = [each for each in (*shared, *held) if each["metadata"]["namespace"] == pod["metadata"]["namespace"]]
        _add_claims(rng, pod, traits, common, own)
    return pods, own, shared


def _add_claims(rng: Random, pod: Object, traits: Traits, common: list[Object], own: dict[str, list[Object]]) -> None:
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    wanted: list[Object] = []
    statuses: list[Object] = []
    has_resources = any("resources" in each for each in pod["spec"]["containers"][:1])
    for place in range(rng.choice((0, 1, 1, 1, 2)) if has_resources else rng.choice((1, 1, 1, 2, 3))):
        if common and chance(rng, 0.25):
            chosen = rng.choice(common)["metadata"]["name"]
            if all(each.get("resourceClaimName") != chosen for each in wanted):
                wanted.append({"name": f"c{place}", "resourceClaimName": chosen})
                continue
        called = f"{name}-c{place}"
        is_large = traits.has_large_pool and namespace == NAMESPACE and chance(rng, 0.3)
        made = large_claim(rng, called, name) if is_large else claim(rng, called, traits, namespace, name)
        own.setdefault(name, []).append(made)
        wanted.append({"name": f"c{place}", "resourceClaimTemplateName": "template"})
        statuses.append({"name": f"c{place}", "resourceClaimName": called})
    if wanted:
        pod["spec"]["resourceClaims"] = wanted
    if statuses:
        pod["status"] = {"resourceClaimStatuses": statuses}


def _pod(rng: Random, name: str, namespace: str, traits: Traits, nodes: list[str]) -> Object:
    containers: list[Object] = [{"name": "main", "image": "web:1"}]
    spec: Object = {"containers": containers}
    if chance(rng, 0.2):
        _ask_for_resources(rng, spec, containers)
    if chance(rng, 0.1):
        spec["nodeSelector"] = {"kubernetes.io/hostname": rng.choice(nodes)}
    if traits.is_crowded:
        spec["priorityClassName"] = rng.choice(tuple(PRIORITIES))
        containers.append({"name": "busy", "image": "web:1", "resources": {"requests": {"cpu": "900m"}}})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "a"}},
        "spec": spec,
    }


def _ask_for_resources(rng: Random, spec: Object, containers: list[Object]) -> None:
    """Extended resources that classes stand behind, in some containers."""
    containers[0]["resources"] = _amounts(rng, 2)
    if chance(rng, 0.3):
        containers.append({"name": "second", "image": "web:1", "resources": _amounts(rng, 2)})
    if chance(rng, 0.4):
        first: Object = {"name": "first", "image": "web:1", "resources": _amounts(rng, 3)}
        spec["initContainers"] = [first | ({"restartPolicy": "Always"} if chance(rng, 0.3) else {})]
        if chance(rng, 0.4):
            spec["initContainers"].append({"name": "next", "image": "web:1", "resources": _amounts(rng, 3)})


def _amounts(rng: Random, most: int) -> Object:
    names = [rng.choice((*RESOURCES, RESOURCES[0], RESOURCES[0], IMPLICIT))]
    if chance(rng, 0.2):
        names.append(RESOURCES[1])
    amounts = {name: str(rng.randint(1, most)) for name in names}
    return {"requests": dict(amounts), "limits": amounts}
