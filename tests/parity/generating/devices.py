"""Clusters about devices: slices in pools of every sort, classes, claims with all that a claim can say, and pods.

``generate`` makes one for seeds from ``FIRST_DEVICE_SEED`` on. Every claim is there from the beginning, made for one
pod or shared by several, since no controller makes claims from templates here.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.parity.generating.cluster import Cluster, Object, chance

FIRST_DEVICE_SEED = 30_000
STYLE = "devices"

# Settings for drivers are empty: the API server compares them byte by byte, and refuses a change of spaces.
SETTINGS: dict[str, str] = {}

DRIVERS = ("gpu.example.com", "nic.example.com")
MODELS = ("a", "b", "c")
NAMESPACE = "default"
CLASSES = ("any", "gpu", "model-a", "big")
RESOURCE = "example.com/gpu"


def generate_devices(seed: int) -> Cluster:
    """The cluster of this seed."""
    rng = Random(seed)
    nodes = [_node(rng, f"node-{number}") for number in range(rng.randint(2, 5))]
    names = [node["metadata"]["name"] for node in nodes]
    # v1.36 gives a request for all devices the rest where one is used up; docs/parity.md has that difference.  So there
    # are devices to share in some clusters, and requests for all devices in the others.
    shares = chance(rng, 0.6)
    slices = [each for driver in DRIVERS for each in _pools(rng, driver, names, shares)]
    pending, own, shared = _pods(rng, shares)
    return Cluster(
        name=f"{seed:04}",
        style=STYLE,
        objects=[*nodes, *_classes(rng), *slices, *shared],
        bound=[],
        pending=pending,
        own_claims=own,
    )


def _node(rng: Random, name: str) -> Object:
    sizes = {"cpu": "64", "memory": "64Gi", "pods": "110"}
    if chance(rng, 0.15):
        sizes[RESOURCE] = "2"
    labels = {"kubernetes.io/hostname": name, "rack": rng.choice("xy")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": sizes, "allocatable": dict(sizes)},
    }


def _classes(rng: Random) -> list[Object]:
    expressions = {
        "any": [],
        "gpu": ['device.driver == "gpu.example.com"'],
        "model-a": ['device.attributes["gpu.example.com"].?model.orValue("") == "a"'],
        "big": ['device.capacity["gpu.example.com"].?memory.orValue(quantity("0")).compareTo(quantity("8Gi")) >= 0'],
    }
    classes = []
    for name in CLASSES:
        spec: Object = {"selectors": [{"cel": {"expression": each}} for each in expressions[name]]}
        if name == "gpu" and chance(rng, 0.6):
            spec["extendedResourceName"] = RESOURCE
        if chance(rng, 0.3):
            spec["config"] = [{"opaque": {"driver": DRIVERS[0], "parameters": SETTINGS}}]
        classes.append(
            {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}
        )
    return classes


# -- what drivers publish --


def _pools(rng: Random, driver: str, nodes: list[str], shares: bool) -> list[Object]:
    found: list[Object] = []
    for node in nodes:
        if chance(rng, 0.85):
            found += _pool(rng, driver, f"{node}-pool", {"nodeName": node}, shares)
    if chance(rng, 0.3):
        found += _pool(rng, driver, "common", {"allNodes": True}, shares)
    if chance(rng, 0.3):
        chosen = {"key": "rack", "operator": "In", "values": ["x"]}
        found += _pool(
            rng, driver, "rack-x", {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [chosen]}]}}, shares
        )
    if chance(rng, 0.2):
        found += _pool(rng, driver, "each", {"perDeviceNodeSelection": True}, shares, nodes)
    return found


def _pool(
    rng: Random, driver: str, name: str, where: Object, shares: bool, nodes: list[str] | None = None
) -> list[Object]:
    slices = rng.choice((1, 1, 1, 2))
    counters = _counter_sets(rng) if chance(rng, 0.3) else []
    count = slices + bool(counters) + (chance(rng, 0.05))
    bodies: list[Object] = []
    for number in range(slices):
        first = 0 if chance(rng, 0.03) else number * 10
        devices = [_device(rng, f"dev-{first + place}", counters, nodes, shares) for place in range(rng.randint(2, 8))]
        if chance(rng, 0.03):
            devices.append(devices[0] | {"name": devices[0]["name"]})
        bodies.append({"devices": devices})
    if counters:
        bodies.append({"sharedCounters": counters})
    made = [_slice(driver, name, number, 2, count, where | body) for number, body in enumerate(bodies)]
    if chance(rng, 0.15):
        old = {"devices": [_device(rng, "dev-old", [], nodes, shares)]}
        made.append(_slice(driver, name, 9, rng.choice((1, 1, 3)), 1, where | old))
    rng.shuffle(made)
    return [each for each in made if not _has_twins(each)]


def _has_twins(slice: Object) -> bool:
    """The API server refuses two devices of one name in a slice; in two slices it does not look."""
    names = [device["name"] for device in slice["spec"].get("devices", ())]
    return len(names) != len(set(names))


def _slice(driver: str, pool: str, number: int, generation: int, count: int, spec: Object) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{driver.partition('.')[0]}-{pool}-{number}"},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            **spec,
        },
    }


def _counter_sets(rng: Random) -> list[Object]:
    return [
        {"name": f"set-{number}", "counters": {"slots": {"value": str(rng.randint(2, 6))}, "memory": {"value": "8Gi"}}}
        for number in range(rng.randint(1, 2))
    ]


def _device(rng: Random, name: str, counters: list[Object], nodes: list[str] | None, shares: bool) -> Object:
    attributes: Object = {"model": {"string": rng.choice(MODELS)}}
    if chance(rng, 0.8):
        attributes["numa"] = {"int": rng.randrange(3)}
    if chance(rng, 0.3):
        attributes["example.com/link"] = {"string": rng.choice("pq")}
    if chance(rng, 0.3):
        attributes["release"] = {"version": rng.choice(("1.2.0", "2.0.0"))}
    device: Object = {"name": name, "attributes": attributes}
    if chance(rng, 0.6):
        device["capacity"] = {"memory": {"value": rng.choice(("4Gi", "8Gi", "16Gi"))}}
        if shares and chance(rng, 0.5):
            device["allowMultipleAllocations"] = True
            if chance(rng, 0.5):
                device["capacity"]["memory"]["requestPolicy"] = _policy(rng)
    if counters and chance(rng, 0.7):
        taken = {"slots": {"value": str(rng.randint(1, 3))}}
        if chance(rng, 0.4):
            taken["memory"] = {"value": rng.choice(("2Gi", "4Gi"))}
        device["consumesCounters"] = [{"counterSet": rng.choice(counters)["name"], "counters": taken}]
    if chance(rng, 0.15):
        device["taints"] = [{"key": "sick", "effect": rng.choice(("NoSchedule", "NoExecute"))}]
    if nodes is not None:
        device |= rng.choice(({"allNodes": True}, {"nodeName": rng.choice(nodes)}))
    return device


def _policy(rng: Random) -> Object:
    if chance(rng, 0.5):
        return {"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]}
    return {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi", **rng.choice(({}, {"max": "3Gi"}))}}


# -- what pods ask for --


def _pods(rng: Random, shares: bool) -> tuple[list[Object], dict[str, list[Object]], list[Object]]:
    pods: list[Object] = []
    own: dict[str, list[Object]] = {}
    shared = [_claim(rng, f"shared-{number}", shares) for number in range(rng.randint(0, 2))]
    for number in range(rng.randint(6, 10)):
        name = f"pending-{number:02}"
        pod = _pod(rng, name)
        wanted: list[Object] = []
        statuses: list[Object] = []
        for place in range(rng.choice((0, 1, 1, 1, 2)) if RESOURCE in _asked(pod) else rng.choice((1, 1, 1, 2, 3))):
            if shared and chance(rng, 0.2):
                chosen = rng.choice(shared)["metadata"]["name"]
                if all(each.get("resourceClaimName") != chosen for each in wanted):
                    wanted.append({"name": f"c{place}", "resourceClaimName": chosen})
                    continue
            claim = _claim(rng, f"{name}-c{place}", shares, owner=name)
            own.setdefault(name, []).append(claim)
            wanted.append({"name": f"c{place}", "resourceClaimTemplateName": "template"})
            statuses.append({"name": f"c{place}", "resourceClaimName": claim["metadata"]["name"]})
        if wanted:
            pod["spec"]["resourceClaims"] = wanted
        if statuses:
            pod["status"] = {"resourceClaimStatuses": statuses}
        pods.append(pod)
    return pods, own, shared


def _asked(pod: Object) -> Object:
    found: Object = pod["spec"]["containers"][0].get("resources", {}).get("requests", {})
    return found


def _pod(rng: Random, name: str) -> Object:
    containers: list[Object] = [{"name": "main", "image": "web:1"}]
    spec: Object = {"containers": containers}
    if chance(rng, 0.2):
        amount = {RESOURCE: str(rng.randint(1, 2))}
        containers[0]["resources"] = {"requests": dict(amount), "limits": amount}
        if chance(rng, 0.4):
            first = {RESOURCE: str(rng.randint(1, 3))}
            spec["initContainers"] = [
                {"name": "first", "image": "web:1", "resources": {"requests": first, "limits": first}}
            ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": "a"}},
        "spec": spec,
    }


def _claim(rng: Random, name: str, shares: bool, owner: str = "") -> Object:
    requests = [_request(rng, f"r{number}", shares) for number in range(rng.choice((1, 1, 1, 1, 2, 3)))]
    devices: Object = {"requests": requests}
    if chance(rng, 0.3):
        devices["constraints"] = [_constraint(rng, requests)]
    if chance(rng, 0.2):
        config: Object = {"opaque": {"driver": DRIVERS[0], "parameters": SETTINGS}}
        if chance(rng, 0.5):
            config["requests"] = [rng.choice(requests)["name"]]
        devices["config"] = [config]
    metadata: Object = {"name": name, "namespace": NAMESPACE}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": "", "controller": True}
        ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": devices},
    }


def _request(rng: Random, name: str, shares: bool) -> Object:
    if chance(rng, 0.3):
        return {
            "name": name,
            "firstAvailable": [{"name": each, **_asks(rng, shares)} for each in "stu"[: rng.randint(1, 3)]],
        }
    asks = _asks(rng, shares)
    return {"name": name, "exactly": asks}


def _asks(rng: Random, shares: bool) -> Object:
    asks: Object = {"deviceClassName": rng.choice(("any", "any", "gpu", "gpu", *CLASSES))}
    if not shares and chance(rng, 0.06):
        asks["allocationMode"] = "All"
    elif chance(rng, 0.4):
        asks["count"] = rng.choice((1, 2, 2, 3))
    if chance(rng, 0.3):
        asks["selectors"] = [{"cel": {"expression": _expression(rng)}}]
    if chance(rng, 0.3):
        asks["tolerations"] = [{"key": "sick", "operator": "Exists"}]
    if chance(rng, 0.25) and asks.get("allocationMode") != "All":
        asks["capacity"] = {"requests": {"memory": rng.choice(("1Gi", "1500Mi", "3Gi", "5Gi"))}}
    return asks


def _expression(rng: Random) -> str:
    domain = rng.choice((DRIVERS[0], DRIVERS[0], DRIVERS[0], DRIVERS[1]))
    of_driver = f'device.driver == "{domain}" && '
    expressions = (
        f'device.driver == "{domain}"',
        f'device.attributes["{domain}"].model == "{rng.choice(MODELS)}"',
        f'{of_driver}device.attributes["{domain}"].model == "{rng.choice(MODELS)}"',
        f'{of_driver}device.attributes["{domain}"].model != "{rng.choice(MODELS)}"',
        f'device.attributes["{domain}"].?numa.orValue(0) == {rng.randrange(3)}',
        f'"numa" in device.attributes["{domain}"] && device.attributes["{domain}"].numa > 0',
        f'has(device.attributes["{domain}"].model) && device.attributes["{domain}"].model != "b"',
        f'device.capacity["{domain}"].?memory.orValue(quantity("0")).isGreaterThan(quantity("5Gi"))',
        f'device.attributes["{domain}"].?release.orValue(semver("0.0.1")).isGreaterThan(semver("1.9.0"))',
        "device.allowMultipleAllocations",
        'device.attributes["example.com"].?link.orValue("") == "p"',
    )
    return rng.choice(expressions)


def _is_single(asks: Object | None) -> bool:
    return asks is not None and asks.get("count", 1) == 1 and "allocationMode" not in asks


def _constraint(rng: Random, requests: list[Any]) -> Object:
    attribute = rng.choice(("gpu.example.com/numa", "gpu.example.com/model", "example.com/link"))
    single = [each["name"] for each in requests if _is_single(each.get("exactly"))]
    named = [each["name"] for each in requests]
    # v1.36 forgets values where a request gets several devices; docs/parity.md has that difference.
    if single and chance(rng, 0.3):
        return {"requests": single, "distinctAttribute": attribute}
    if chance(rng, 0.5):
        return {"matchAttribute": attribute}
    return {"requests": rng.sample(named, rng.randint(1, len(named))), "matchAttribute": attribute}
