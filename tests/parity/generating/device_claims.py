"""What is claimed, for clusters about devices: claims with all that a claim can say."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.parity.generating.cluster import Object, chance
from tests.parity.generating.device_style import (
    ADMIN_NAMESPACE,
    CLASSES,
    DRIVERS,
    MODELS,
    NAMESPACE,
    SETTINGS,
    Traits,
)

ATTRIBUTES = (
    "gpu.example.com/numa",
    "gpu.example.com/numa",
    "gpu.example.com/model",
    "gpu.example.com/release",
    "example.com/link",
    "example.com/fast",
)
TOLERATIONS: tuple[Object, ...] = (
    {"key": "sick", "operator": "Exists"},
    {"key": "sick", "operator": "Exists"},
    {"operator": "Exists"},
    {"key": "sick", "operator": "Equal", "value": "very"},
    {"key": "sick", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "kept", "operator": "Exists"},
)


def claim(rng: Random, name: str, traits: Traits, namespace: str = NAMESPACE, owner: str = "") -> Object:
    """A claim; with an owner it is made for one pod, whose uid is not known yet."""
    requests = [_request(rng, f"r{number}", traits, namespace) for number in range(rng.choice((1, 1, 1, 1, 2, 3)))]
    devices: Object = {"requests": requests}
    if chance(rng, 0.3):
        devices["constraints"] = [_constraint(rng, requests) for _ in range(rng.choice((1, 1, 2)))]
    if chance(rng, 0.2):
        config: Object = {"opaque": {"driver": DRIVERS[0], "parameters": SETTINGS}}
        if chance(rng, 0.5):
            config["requests"] = [rng.choice(_names(requests))]
        devices["config"] = [config]
    return _claim(name, namespace, devices, owner)


def held_claims(rng: Random, slices: list[Object]) -> list[Object]:
    """Claims that have a device from the beginning: of one node, and used by nobody or by a pod that is not there."""
    own = [
        (each["spec"], device)
        for each in slices
        if "nodeName" in each["spec"]
        for device in each["spec"].get("devices", ())
        if not {"allowMultipleAllocations", "bindingConditions", "consumesCounters"} & set(device)
    ]
    held: list[Object] = []
    chosen = rng.sample(own, min(len(own), rng.randint(1, 3)))
    taken = {(spec["driver"], spec["pool"]["name"], device["name"]): spec["nodeName"] for spec, device in chosen}
    for number, ((driver, pool, device), node) in enumerate(taken.items()):
        made = _claim(
            f"held-{number}", NAMESPACE, {"requests": [{"name": "r0", "exactly": {"deviceClassName": "any"}}]}
        )
        result = {"request": "r0", "driver": driver, "pool": pool, "device": device}
        only = {"key": "metadata.name", "operator": "In", "values": [node]}
        selector = {"nodeSelectorTerms": [{"matchFields": [only]}]}
        status: Object = {"allocation": {"devices": {"results": [result]}, "nodeSelector": selector}}
        if chance(rng, 0.3):
            status["reservedFor"] = [{"resource": "pods", "name": "elsewhere", "uid": f"elsewhere-{number}"}]
        held.append(made | {"status": status})
    return held


def large_claim(rng: Random, name: str, owner: str) -> Object:
    """More devices than a claim can have, unless an alternative is taken."""
    others = [{"name": "s", "deviceClassName": "gpu", "count": 20}, {"name": "t", "deviceClassName": "gpu", "count": 5}]
    requests = [
        {"name": "r0", "exactly": {"deviceClassName": "gpu", "count": 20}},
        {"name": "r1", "firstAvailable": others[: rng.randint(1, 2)]},
    ]
    return _claim(name, NAMESPACE, {"requests": requests}, owner)


def _claim(name: str, namespace: str, devices: Object, owner: str = "") -> Object:
    metadata: Object = {"name": name, "namespace": namespace}
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


def _request(rng: Random, name: str, traits: Traits, namespace: str) -> Object:
    if chance(rng, 0.3):
        alternatives = [{"name": each, **_asks(rng, traits)} for each in "stu"[: rng.randint(1, 3)]]
        return {"name": name, "firstAvailable": alternatives}
    asks = _asks(rng, traits)
    if namespace == ADMIN_NAMESPACE and chance(rng, 0.6):
        asks["adminAccess"] = True
    return {"name": name, "exactly": asks}


def _asks(rng: Random, traits: Traits) -> Object:
    asks: Object = {"deviceClassName": rng.choice(("any", "any", "gpu", "gpu", *CLASSES))}
    if not traits.shares and chance(rng, 0.06):
        asks["allocationMode"] = "All"
    elif chance(rng, 0.4):
        asks["count"] = rng.choice((1, 2, 2, 3))
    if chance(rng, 0.3):
        asks["selectors"] = [{"cel": {"expression": _expression(rng)}} for _ in range(rng.choice((1, 1, 1, 2)))]
    if chance(rng, 0.3):
        asks["tolerations"] = [rng.choice(TOLERATIONS)]
    if chance(rng, 0.25) and asks.get("allocationMode") != "All":
        amounts = {"memory": rng.choice(("1Gi", "1500Mi", "3Gi", "5Gi"))}
        asks["capacity"] = {"requests": amounts | ({"slots": "1"} if chance(rng, 0.15) else {})}
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
        'device.attributes["example.com"].?fast.orValue(false)',
        f'cel.bind(own, device.attributes["{domain}"], "numa" in own && own.numa < 2)',
    )
    return rng.choice(expressions)


def _is_single(asks: Object | None) -> bool:
    return asks is not None and asks.get("count", 1) == 1 and "allocationMode" not in asks


def _names(requests: list[Any]) -> list[str]:
    """What a constraint or a setting can be about: requests, and single alternatives."""
    alternatives = [f"{each['name']}/{one['name']}" for each in requests for one in each.get("firstAvailable", ())]
    return [each["name"] for each in requests] * 3 + alternatives


def _constraint(rng: Random, requests: list[Any]) -> Object:
    attribute = rng.choice(ATTRIBUTES)
    single = [each["name"] for each in requests if _is_single(each.get("exactly"))]
    # v1.36 forgets values where a request gets several devices; docs/parity.md has that difference.
    if single and chance(rng, 0.3):
        return {"requests": single, "distinctAttribute": attribute}
    if chance(rng, 0.5):
        return {"matchAttribute": attribute}
    named = sorted(set(rng.sample(_names(requests), rng.randint(1, len(requests)))))
    return {"requests": named, "matchAttribute": attribute}
