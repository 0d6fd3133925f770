"""What a pod asks for and what it costs a node: sums over containers, init containers, sidecars and overhead.

`pod_template` and `pod` keep the answers; NodeResourcesFit's score asks `scoring_request`. All sums are made in whole
thousandths, because the API server rounds every quantity up to a thousandth when it stores it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from bayplan.objects.quantity import MAX_INT64
from bayplan.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    Milli,
    Resources,
    in_milli,
    is_extended_name,
    is_pod_level_name,
    is_scalar_name,
    whole_units,
)

if TYPE_CHECKING:
    from bayplan.objects.pod_spec import Container, ContainerStatus, PodSpec, PodStatus
    from bayplan.objects.pod_template import PodTemplate

__all__ = [
    "CPU",
    "DEFAULT_CPU_MILLI",
    "DEFAULT_MEMORY_BYTES",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "PODS",
    "Resources",
    "accounted",
    "container_limits",
    "container_requests",
    "is_extended_name",
    "is_pod_level_name",
    "is_scalar_name",
    "nonzero",
    "requested",
    "scored",
    "scoring_request",
]

DEFAULT_CPU_MILLI = 100
DEFAULT_MEMORY_BYTES = 200 * 1024 * 1024
_DEFAULTS = {CPU: DEFAULT_CPU_MILLI, MEMORY: DEFAULT_MEMORY_BYTES * 1000}

_Read = Callable[["Container", str, bool], Milli]
"""How to read one container's amounts: (container, its field, whether it is an init container)."""


def requested(spec: PodSpec) -> Resources:
    """What the spec asks for: the measure for the pod that is being placed."""
    amounts = container_requests(spec)
    amounts.update(_pod_level(spec))
    return Resources.from_milli(_with_overhead(spec, amounts))


def accounted(spec: PodSpec, status: PodStatus) -> Resources:
    """What an assigned pod takes from its node; a pod that is being resized counts with the larger size."""
    return Resources.from_milli(_occupied(spec, status, {}))


def nonzero(spec: PodSpec, status: PodStatus) -> tuple[int, int]:
    """(cpu_milli, memory_bytes) an assigned pod counts with in scores, so that "nothing" is not free."""
    defaults = _DEFAULTS
    if _pod_level(spec):
        known = _occupied(spec, status, {})
        defaults = {name: amount for name, amount in _DEFAULTS.items() if name not in known}
    amounts = _occupied(spec, status, defaults)
    return min(amounts.get(CPU, 0), MAX_INT64), whole_units(amounts.get(MEMORY, 0))


def scored(spec: PodSpec) -> Milli:
    """What NodeResourcesFit's score counts an incoming pod with: with defaults, without pod-level requests."""
    return _with_overhead(spec, _sum(spec, _filled(_asked, _DEFAULTS)))


def scoring_request(template: PodTemplate, resource: str) -> int:
    """One resource of that."""
    milli = template.scored.get(resource, 0)
    return min(milli, MAX_INT64) if resource == CPU else whole_units(milli)


def container_requests(spec: PodSpec) -> Milli:
    """What the containers ask for together, in thousandths, without pod-level requests and overhead."""
    return _sum(spec, _asked)


def container_limits(spec: PodSpec) -> Milli:
    """The limits of the containers together, counted the same way."""
    return _sum(spec, _allowed)


def _occupied(spec: PodSpec, status: PodStatus, defaults: Mapping[str, int]) -> Milli:
    amounts = _sum(spec, _filled(_running(status), defaults))
    amounts.update(_resized(status, _pod_level(spec)))
    return _with_overhead(spec, amounts)


def _sum(spec: PodSpec, read: _Read) -> Milli:
    """The larger of what runs together and what the init phase needs at its peak."""
    together: Milli = {}
    for index, container in enumerate(spec.containers or ()):
        _add(together, read(container, f"spec.containers[{index}]", False))
    sidecars: Milli = {}
    peak: Milli = {}
    for index, container in enumerate(spec.init_containers or ()):
        needed = read(container, f"spec.initContainers[{index}]", True)
        if container.is_sidecar:
            _add(together, needed)
            _add(sidecars, needed)
            peak = _larger(peak, sidecars)
        else:
            _add(needed, sidecars)
            peak = _larger(peak, needed)
    return _larger(together, peak) if peak else together


def _asked(container: Container, where: str, is_init: bool) -> Milli:
    return in_milli(container.resources.requests, f"{where}.resources.requests")


def _allowed(container: Container, where: str, is_init: bool) -> Milli:
    return in_milli(container.resources.limits, f"{where}.resources.limits")


def _filled(read: _Read, defaults: Mapping[str, int]) -> _Read:
    """The same with `defaults` for what a container does not name; an explicit 0 stays 0."""
    if not defaults:
        return read

    def filled(container: Container, where: str, is_init: bool) -> Milli:
        return {**defaults, **read(container, where, is_init)}

    return filled


def _running(status: PodStatus) -> _Read:
    """Reads the largest of asked, running and allocated size where the kubelet reports the latter two."""
    reported = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    by_name = {each.name: each for each in reported if each.resources is not None}
    if not by_name:
        return _asked
    infeasible = _resize_is_infeasible(status)

    def read(container: Container, where: str, is_init: bool) -> Milli:
        asked = _asked(container, where, is_init)
        running = by_name.get(container.name)
        if running is None or (is_init and not container.is_sidecar):
            return asked
        return _effective({} if infeasible else asked, running)

    return read


def _effective(asked: Milli, running: ContainerStatus) -> Milli:
    actual = running.resources.requests if running.resources else None
    larger = _larger(asked, in_milli(actual, "status.containerStatuses.resources.requests"))
    return _larger(larger, in_milli(running.allocated_resources, "status.containerStatuses.allocatedResources"))


def _pod_level(spec: PodSpec) -> Milli:
    written = spec.resources.requests if spec.resources else None
    asked = in_milli(written, "spec.resources.requests")
    return {name: amount for name, amount in asked.items() if is_pod_level_name(name)}


def _resized(status: PodStatus, asked: Milli) -> Milli:
    """The pod-level requests of a pod that may be resizing as a whole."""
    actual = status.resources
    if actual is None or not asked:
        return asked
    wanted = {} if _resize_is_infeasible(status) else asked
    larger = _larger(wanted, in_milli(actual.requests, "status.resources.requests"))
    larger = _larger(larger, in_milli(status.allocated_resources, "status.allocatedResources"))
    return {name: larger.get(name, 0) for name in asked}


def _resize_is_infeasible(status: PodStatus) -> bool:
    for condition in status.conditions or ():
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _with_overhead(spec: PodSpec, amounts: Milli) -> Milli:
    if spec.overhead:
        _add(amounts, in_milli(spec.overhead, "spec.overhead"))
    return amounts


def _add(into: Milli, more: Milli) -> None:
    for name, amount in more.items():
        into[name] = into.get(name, 0) + amount


def _larger(one: Milli, other: Milli) -> Milli:
    result = dict(one)
    for name, amount in other.items():
        if name not in result or amount > result[name]:
            result[name] = amount
    return result
