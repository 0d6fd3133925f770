"""A bench with rules, in few words."""

from __future__ import annotations

from typing import Any

from bayplan.plugins.dynamic_resources.device_score.args import DeviceScoreArgs
from tests.plugins.dynamic_resources.device_building import Bench, device, slice_of


def rules(*written: dict[str, Any], **more: Any) -> DeviceScoreArgs:
    return DeviceScoreArgs.model_validate({"rules": list(written), **more})


TIGHTEST = {"type": "Tightest"}
PACK = {"type": "Pack"}
SPREAD = {"type": "Spread"}
NUMA = {"type": "Together", "attribute": "gpu.example.com/numa"}


def bench(*objects: Any, score: DeviceScoreArgs | None) -> Bench:
    return Bench(*objects, device_score=score)


def partition(name: str, gpu: str, memory: int) -> dict[str, Any]:
    counters = {"memory": {"value": str(memory)}}
    attributes = {"gpu": gpu, "memory": memory}
    return device(name, attributes, capacity=counters, consumesCounters=[{"counterSet": gpu, "counters": counters}])


def cut_up(*gpus: str, node: str = "n1") -> list[Any]:
    """GPUs of a size of 80 each: whole, two halves and two quarters, the whole ones first."""
    counters = [{"name": gpu, "counters": {"memory": {"value": "80"}}} for gpu in gpus]
    devices = [partition(f"{gpu}-whole", gpu, 80) for gpu in gpus]
    devices += [partition(f"{gpu}-half{number}", gpu, 40) for gpu in gpus for number in range(2)]
    devices += [partition(f"{gpu}-quarter{number}", gpu, 20) for gpu in gpus for number in range(2)]
    return [
        slice_of(None, pool=node, name=f"{node}-counters", count=2, allNodes=True, sharedCounters=counters),
        slice_of(node, devices, pool=node, name=f"{node}-devices", count=2),
    ]
