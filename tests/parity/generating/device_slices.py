"""What drivers publish, for clusters about devices: pools of every sort, some of them broken or out of date."""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, chance
from tests.parity.generating.device_style import DRIVERS, MODELS, Traits

RACK_X: Object = {
    "nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["x"]}]}],
}
LARGE = 40


def make_slices(rng: Random, nodes: list[str], traits: Traits) -> list[Object]:
    """The slices of all drivers."""
    found = [each for driver in DRIVERS for each in _pools(rng, driver, nodes, traits)]
    if traits.has_large_pool:
        devices = [{"name": f"dev-{place}", "attributes": {"model": {"string": "a"}}} for place in range(LARGE)]
        found.append(_slice(DRIVERS[0], "large", 0, 1, 1, {"nodeName": nodes[0], "devices": devices}))
    return found


def _pools(rng: Random, driver: str, nodes: list[str], traits: Traits) -> list[Object]:
    found: list[Object] = []
    for node in nodes:
        if chance(rng, 0.85):
            found += _pool(rng, driver, f"{node}-pool", {"nodeName": node}, traits)
    if chance(rng, 0.3):
        found += _pool(rng, driver, "common", {"allNodes": True}, traits)
    if chance(rng, 0.3):
        found += _pool(rng, driver, "rack-x", {"nodeSelector": RACK_X}, traits)
    if chance(rng, 0.2):
        found += _pool(rng, driver, "each", {"perDeviceNodeSelection": True}, traits, nodes)
    return found


def _pool(
    rng: Random, driver: str, name: str, where: Object, traits: Traits, nodes: list[str] | None = None
) -> list[Object]:
    slices = rng.choice((1, 1, 1, 2))
    counters = _counter_sets(rng) if chance(rng, 0.3) else []
    prepares = traits.prepares and chance(rng, 0.6)
    count = slices + bool(counters) + (chance(rng, 0.05))
    bodies: list[Object] = []
    for number in range(slices):
        first = 0 if chance(rng, 0.03) else number * 10
        devices = [_device(rng, f"dev-{first + place}", counters, nodes, traits) for place in range(rng.randint(2, 8))]
        if prepares:
            devices = [each | _preparing(rng, nodes) for each in devices]
        bodies.append({"devices": devices})
    if counters:
        bodies.append({"sharedCounters": counters})
    made = [_slice(driver, name, number, 2, count, where | body) for number, body in enumerate(bodies)]
    if chance(rng, 0.15):
        old = {"devices": [_device(rng, "dev-old", [], nodes, traits)]}
        made.append(_slice(driver, name, 9, rng.choice((1, 1, 3)), 1, where | old))
    rng.shuffle(made)
    return made


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


def _device(rng: Random, name: str, counters: list[Object], nodes: list[str] | None, traits: Traits) -> Object:
    device: Object = {"name": name, "attributes": _attributes(rng)}
    if chance(rng, 0.6):
        device["capacity"] = {"memory": {"value": rng.choice(("4Gi", "8Gi", "16Gi"))}}
        if traits.shares and chance(rng, 0.5):
            device["allowMultipleAllocations"] = True
            if chance(rng, 0.5):
                device["capacity"]["memory"]["requestPolicy"] = _policy(rng)
            if chance(rng, 0.3):
                device["capacity"]["slots"] = {"value": str(rng.randint(1, 4))}
    if counters and chance(rng, 0.7):
        device["consumesCounters"] = _consumption(rng, counters)
    if chance(rng, 0.15):
        effect = rng.choice(("NoSchedule", "NoSchedule", "NoExecute", "None"))
        device["taints"] = [{"key": "sick", "effect": effect, **rng.choice(({}, {"value": "very"}))}]
    if nodes is not None:
        device |= rng.choice(({"allNodes": True}, {"nodeName": rng.choice(nodes)}, {"nodeSelector": RACK_X}))
    return device


def _attributes(rng: Random) -> Object:
    attributes: Object = {"model": {"string": rng.choice(MODELS)}}
    if chance(rng, 0.8):
        attributes["numa"] = {"int": rng.randrange(3)}
    if chance(rng, 0.3):
        attributes["example.com/link"] = {"string": rng.choice("pq")}
    if chance(rng, 0.3):
        attributes["release"] = {"version": rng.choice(("1.2.0", "2.0.0"))}
    if chance(rng, 0.3):
        attributes["example.com/fast"] = {"bool": chance(rng, 0.5)}
    return attributes


def _consumption(rng: Random, counters: list[Object]) -> list[Object]:
    taken = {"slots": {"value": str(rng.randint(1, 3))}}
    if chance(rng, 0.4):
        taken["memory"] = {"value": rng.choice(("2Gi", "4Gi"))}
    chosen = rng.sample(counters, 2 if len(counters) > 1 and chance(rng, 0.2) else 1)
    return [{"counterSet": each["name"], "counters": taken} for each in chosen]


def _policy(rng: Random) -> Object:
    if chance(rng, 0.5):
        return {"default": "1Gi", "validValues": ["1Gi", "2Gi", "4Gi"]}
    return {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi", **rng.choice(({}, {"max": "3Gi"}))}}


def _preparing(rng: Random, nodes: list[str] | None) -> Object:
    """What a driver must report of the device before a pod is bound; some devices of the pool need nothing."""
    if chance(rng, 0.3):
        return {}
    conditions: Object = {
        "bindingConditions": ["example.com/ready", "example.com/wired"][: rng.randint(1, 2)],
        "bindingFailureConditions": ["example.com/broken"],
    }
    return conditions | ({"bindsToNode": True} if nodes is None and chance(rng, 0.5) else {})
