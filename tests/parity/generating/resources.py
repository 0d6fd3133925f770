"""What containers ask for: missing, zero, limits only, odd spellings, scarce things, init containers and sidecars."""

from __future__ import annotations

from random import Random

from tests.parity.generating.cluster import Object, World, chance
from tests.parity.generating.nodes import CPU_MILLI, IMAGES, MEMORY_MIB


def make_containers(rng: Random, world: World, size: float) -> list[Object]:
    """One to three containers that together ask for about ``size`` of a node."""
    count = rng.choice([1, 1, 1, 2, 3])
    return [make_container(rng, world, f"main-{index}", size / count) for index in range(count)]


def make_container(rng: Random, world: World, name: str, size: float) -> Object:
    container: Object = {"name": name, "image": rng.choice(IMAGES)[0]}
    if chance(rng, 0.06):
        container["image"] = "unknown:1"
    if resources := _make_resources(rng, world, size):
        container["resources"] = resources
    return container


def _make_resources(rng: Random, world: World, size: float) -> Object:
    amounts = {"cpu": some_cpu(rng, world, size), "memory": some_memory(rng, world, size)}
    match rng.choices(["both", "limits only", "cpu", "memory", "zero", "none", "storage too"], [10, 2, 2, 2, 1, 2, 2])[
        0
    ]:
        case "both":
            return {"requests": amounts}
        case "limits only":
            return {"limits": amounts}
        case "cpu" | "memory" as one:
            return {"requests": {one: amounts[one]}}
        case "zero":
            return {"requests": {"cpu": "0", "memory": amounts["memory"]}}
        case "storage too":
            return {"requests": amounts | {"ephemeral-storage": rng.choice(["1Gi", "4Gi", "15Gi"])}}
    return {}


def some_cpu(rng: Random, world: World, size: float) -> str:
    """A share of some node, in one of the ways people write it."""
    milli = max(1, round(CPU_MILLI[_capacity(rng, world, "cpu")] * size * rng.uniform(0.4, 1.6)))
    return rng.choice([f"{milli}m", f"{milli}m", f"{milli / 1000:.3f}", f"{milli * 1000}u"])


def some_memory(rng: Random, world: World, size: float) -> str:
    mib = max(1, round(MEMORY_MIB[_capacity(rng, world, "memory")] * size * rng.uniform(0.4, 1.6)))
    return rng.choice([f"{mib}Mi", f"{mib}Mi", f"{mib * 1024}Ki", f"{mib}M", f"{mib * 1048576}"])


def _capacity(rng: Random, world: World, resource: str) -> str:
    return str(rng.choice(world.nodes)["status"]["capacity"][resource])


def add_scarce_resources(rng: Random, pod: Object, world: World) -> None:
    """Extended resources and huge pages; the API wants limits, and for huge pages cpu or memory beside them."""
    container = pod["spec"]["containers"][0]
    resources = container.setdefault("resources", {})
    wanted = rng.choice(
        [
            {"example.com/gpu": "1"},
            {"example.com/gpu": "2"},
            {"example.com/fpga": "1"},
            {"example.com/nowhere": "1"},
            {"hugepages-2Mi": "64Mi"},
            {"hugepages-2Mi": "128Mi"},
            {"example.com/gpu": "1", "example.com/fpga": "1"},
            {"example.com/gpu": "0"},
        ]
    )
    requests = resources.setdefault("requests", dict(resources.get("limits", {})))
    if any(name.startswith("hugepages") for name in wanted):
        requests.setdefault("cpu", "50m")
        if "cpu" in resources.get("limits", {}):
            requests["cpu"] = resources["limits"]["cpu"]
    requests.update(wanted)
    resources.setdefault("limits", {}).update(wanted)


def add_sidecars(rng: Random, pod: Object, world: World) -> None:
    """Init containers, some of which keep running."""
    init = []
    for index in range(rng.randint(1, 3)):
        container = make_container(rng, world, f"init-{index}", world.style.pending_size * 1.2)
        if chance(rng, 0.5):
            container["restartPolicy"] = "Always"
        init.append(container)
    pod["spec"]["initContainers"] = init


def add_overhead(rng: Random, pod: Object, world: World) -> None:
    pod["spec"]["runtimeClassName"] = "sandboxed"


def add_pod_level_resources(rng: Random, pod: Object, world: World) -> None:
    """Requests of the pod as a whole. The API wants at least what the containers ask for, so those are kept small."""
    for container in pod["spec"]["containers"]:
        small = {"cpu": "20m", "memory": "16Mi"}
        container["resources"] = rng.choice([{}, {"requests": small}, {"requests": {"cpu": "20m"}}])
    pod["spec"].pop("initContainers", None)
    size = max(world.style.pending_size, 0.1)
    requests = {"cpu": some_cpu(rng, world, size), "memory": f"{rng.choice([64, 200, 512, 1000])}Mi"}
    if chance(rng, 0.3):
        del requests[rng.choice(["cpu", "memory"])]
    pod["spec"]["resources"] = {"requests": requests}


def add_oversize(rng: Random, pod: Object, world: World) -> None:
    """More than some or all nodes have in total: preemption cannot help there."""
    too_much = rng.choice([{"cpu": "3"}, {"cpu": "64"}, {"memory": "6Gi"}, {"memory": "1Ti", "cpu": "5"}])
    if "resources" in pod["spec"]:
        pod["spec"]["resources"]["requests"].update(too_much)
        return
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    limits = resources.pop("limits", {})
    resources["requests"] = limits | resources.get("requests", {}) | too_much
    # These must stay limited; cpu and memory must not be limited to less than the new request.
    if scarce := {name: value for name, value in limits.items() if name not in ("cpu", "memory")}:
        resources["limits"] = scarce
