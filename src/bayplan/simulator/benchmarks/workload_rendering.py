"""
The manifests of a workload file: templates laid over the usual node and pod, with the numbers filled in.

``engine_speed`` makes objects of the engine from them, ``benchmarks.running`` sends them to an API server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bayplan.simulator.benchmarks.workload_file import Churn, CreateNodes, CreateObjects, CreatePods, Manifest, Sizes

_NUMBER = re.compile(r"\{number(?: *% *([1-9]\d*|nodes|pods))?\}")


def nodes(action: CreateNodes, sizes: Sizes) -> Iterator[Manifest]:
    """The nodes of a step."""
    for number in range(sizes.count(action.count)):
        yield rendered(_laid_over(_NODE, action.template), number, sizes)


def objects(action: CreateObjects, sizes: Sizes) -> Iterator[Manifest]:
    for number in range(sizes.count(action.count)):
        yield rendered(action.template, number, sizes)


def pods(action: CreatePods, sizes: Sizes) -> Iterator[Manifest]:
    """The pods of a step, each template in turn."""
    count = sizes.count(action.count)
    if action.atMost is not None:
        count = min(count, sizes.count(action.atMost))
    templates = [_laid_over(_POD, each) for each in action.templates]
    for number in range(count):
        yield _named(rendered(templates[number % len(templates)], number, sizes), action.name, number)


def churned(action: Churn, number: int, sizes: Sizes) -> Manifest:
    """The next object of a churn."""
    template = action.template if "kind" in action.template else _laid_over(_POD, action.template)
    return _named(rendered(template, number, sizes), action.name, number)


def rendered(template: Any, number: int, sizes: Sizes) -> Any:
    """A template with ``{number}`` and ``{number % 3}`` filled in."""
    if isinstance(template, dict):
        return {key: rendered(value, number, sizes) for key, value in template.items()}
    if isinstance(template, list):
        return [rendered(value, number, sizes) for value in template]
    if isinstance(template, str) and "{" in template:
        return _NUMBER.sub(lambda found: str(_of(number, found[1], sizes)), template)
    return template


def _of(number: int, divisor: str | None, sizes: Sizes) -> int:
    return number if divisor is None else number % sizes.count(divisor)


def _named(manifest: Manifest, name: str, number: int) -> Manifest:
    return {**manifest, "metadata": {**manifest.get("metadata", {}), "name": f"{name}-{number}"}}


def _laid_over(below: Any, above: Any) -> Any:
    """``above`` goes before ``below``; mappings are merged, everything else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: _laid_over(below.get(key), value) for key, value in above.items()}}


_AMOUNTS = {"cpu": "4", "memory": "32Gi", "pods": "110"}
_NODE: Manifest = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "node-{number}",
        "labels": {"kubernetes.io/hostname": "node-{number}", "topology.kubernetes.io/zone": "zone-{number % 3}"},
    },
    "status": {"capacity": _AMOUNTS, "allocatable": _AMOUNTS},
}
_POD: Manifest = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"namespace": "default", "labels": {"app": "bench"}},
    "spec": {
        "containers": [
            {"name": "main", "image": "pause", "resources": {"requests": {"cpu": "100m", "memory": "500Mi"}}}
        ],
        "terminationGracePeriodSeconds": 0,
    },
}
