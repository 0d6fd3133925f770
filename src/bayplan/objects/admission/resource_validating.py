"""Mistakes in what containers and pods ask for.

`validating` calls these; `field` is where the resources stand in the object.
"""

from __future__ import annotations

from bayplan.objects import quantity
from bayplan.objects.admission.pod_defaulting import with_container_defaults
from bayplan.objects.mistakes import Mistakes, mistake, quantities
from bayplan.objects.pod_spec import ContainerStatus, PodSpec, PodStatus, ResourceRequirements
from bayplan.objects.quantity import milli_value
from bayplan.objects.requests import container_requests
from bayplan.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    in_milli,
    is_extended_name,
    is_pod_level_name,
    whole_units,
)

_STANDARD = (CPU, MEMORY, EPHEMERAL_STORAGE)


def container_resources(field: str, resources: ResourceRequirements) -> Mistakes:
    wrong = False
    for part, written in (("requests", resources.requests), ("limits", resources.limits)):
        for name in written or {}:
            if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
                yield mistake(
                    f"{field}.{part}.{name}",
                    f'"{name}" is not a resource of containers',
                    f"write {', '.join(_STANDARD)}, hugepages-<size> or a full name such as example.com/gpu",
                )
        for found in quantities(f"{field}.{part}", written):
            wrong = True
            yield found
    if not wrong:
        yield from _amounts(field, resources)


def _amounts(field: str, resources: ResourceRequirements) -> Mistakes:
    """How requests and limits go together, once each is known to be a quantity."""
    limits = resources.limits or {}
    for part, written in (("requests", resources.requests), ("limits", limits)):
        for name, amount in (written or {}).items():
            if is_extended_name(name) and milli_value(amount) % 1000:
                yield mistake(f"{field}.{part}.{name}", f"{amount} is not whole", "write a whole number")
    for name, asked in (resources.requests or {}).items():
        at = f"{field}.requests.{name}"
        exact = is_extended_name(name) or name.startswith("hugepages-")
        if name not in limits:
            if exact:
                yield mistake(f"{field}.limits.{name}", f"{name} needs a limit as well", f"write {asked} there too")
            continue
        limit = limits[name]
        if milli_value(asked) > milli_value(limit):
            yield mistake(at, f"{asked} is more than the limit of {limit}", f"write at most {limit}")
        elif exact and milli_value(asked) != milli_value(limit):
            yield mistake(at, f"{asked} is not the limit of {limit}", f"write {limit}: {name} cannot be overcommitted")


def reported(status: PodStatus) -> Mistakes:
    """What a kubelet reports of a pod and its containers."""
    parts: list[tuple[str, PodStatus | ContainerStatus]] = [("status", status)]
    for name, each in (
        ("containerStatuses", status.container_statuses),
        ("initContainerStatuses", status.init_container_statuses),
    ):
        parts += [(f"status.{name}[{index}]", one) for index, one in enumerate(each or ())]
    for field, part in parts:
        yield from quantities(f"{field}.allocatedResources", part.allocated_resources)
        if part.resources is not None:
            yield from quantities(f"{field}.resources.requests", part.resources.requests)
            yield from quantities(f"{field}.resources.limits", part.resources.limits)


def pod_resources(field: str, spec: PodSpec) -> Mistakes:
    """Of the pod as a whole, by themselves and against its containers."""
    resources = spec.resources
    if resources is None:
        return
    for part, written in (("requests", resources.requests), ("limits", resources.limits)):
        for name in written or {}:
            if not is_pod_level_name(name):
                fix = "write cpu, memory or hugepages-<size>"
                yield mistake(f"{field}.{part}.{name}", "not a resource of a whole pod", fix)
    yield from container_resources(field, resources)
    try:
        together = container_requests(with_container_defaults(spec))
        requests, limits = in_milli(resources.requests, ""), in_milli(resources.limits, "")
    except ValueError:
        return  # said already, where the bad quantity stands
    for name, amount in together.items():
        least = _written(name, amount)
        if amount > requests.get(name, amount):
            problem = "less than what the containers ask for together"
            yield mistake(f"{field}.requests.{name}", problem, f"write at least {least}")
        elif name not in requests and is_pod_level_name(name) and amount > limits.get(name, amount):
            problem = "less than what the containers ask for together"
            yield mistake(f"{field}.limits.{name}", problem, f"write at least {least}")


def _written(name: str, milli: int) -> str:
    return quantity.format_resource(name, milli if name == CPU else whole_units(milli))
