"""
Extended resources that come from devices: the claim that stands for what a pod's containers ask for.

There is one request for each container and resource.  Init containers that end use what later containers ask for, and
only the largest of them asks for more.  ``plugin`` makes the claim when the pod is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from bayplan.objects.devices.names import EXACT_COUNT, EXTENDED_RESOURCE_CLAIM
from bayplan.objects.devices.resource_claim import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from bayplan.objects.meta import ObjectMeta, OwnerReference
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import Container, ContainerExtendedResourceRequest
from bayplan.objects.quantity import MAX_INT64, parse

IN_MEMORY = "<extended-resources>"
"""The name of the claim before it is made; no claim can be called so."""

NEVER_SCHEDULED_AGAIN = "cannot schedule extended resource claim"
NOT_THERE = "cannot fit resource"


class ExtendedClaim(NamedTuple):
    """The claim, and which container's resource each of its requests is for."""

    claim: ResourceClaim
    mappings: tuple[ContainerExtendedResourceRequest, ...]


def is_made_for(claim: ResourceClaim, pod: Pod) -> bool:
    """Was the claim made for the pod's extended resources, in an earlier attempt?"""
    owner = claim.controller
    is_one = claim.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true"
    return is_one and owner is not None and owner.uid == pod.uid and owner.name == pod.name


def extended_claim(pod: Pod, resources: Iterable[str], class_name: Callable[[str], str]) -> ExtendedClaim:
    """The claim for these resources of a pod."""
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource in sorted(resources):
        made, named = _for_resource(pod, resource, class_name(resource))
        requests += made
        mappings += named
    requests.sort(key=lambda request: request.name)
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    claim = ResourceClaim(
        metadata=ObjectMeta(
            name=IN_MEMORY,
            namespace=pod.namespace,
            generate_name=f"{pod.name}-extended-resources-",
            uid=f"{IN_MEMORY}/{pod.uid}",
            owner_references=(owner,),
            annotations={EXTENDED_RESOURCE_CLAIM: "true"},
        ),
        spec=ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests))),
    )
    return ExtendedClaim(claim, tuple(mappings))


def _for_resource(
    pod: Pod, resource: str, class_name: str
) -> tuple[list[DeviceRequest], list[ContainerExtendedResourceRequest]]:
    first = tuple(pod.spec.init_containers or ())
    containers = (*first, *(pod.spec.containers or ()))
    is_short = [place < len(first) and not each.is_sidecar for place, each in enumerate(containers)]
    lasting: list[DeviceRequest | None] = [None] * len(containers)
    mappings: list[ContainerExtendedResourceRequest] = []
    for place, container in enumerate(containers):
        if not is_short[place]:
            lasting[place], named = _for_container(place, container, resource, class_name, ())
            mappings += named
    largest: DeviceRequest | None = None
    of_short: list[ContainerExtendedResourceRequest] = []
    own_names: set[str] = set()
    for place, container in enumerate(containers):
        if is_short[place]:
            request, named = _for_container(place, container, resource, class_name, lasting[place:])
            of_short += named
            if request is not None:
                own_names.add(request.name)
                if largest is None or _count(largest) < _count(request):
                    largest = request
    if largest is not None:
        of_short = [_renamed(each, largest.name) if each.request_name in own_names else each for each in of_short]
    requests = [*((largest,) if largest is not None else ()), *(each for each in lasting if each is not None)]
    return requests, [*mappings, *of_short]


def _for_container(
    place: int, container: Container, resource: str, class_name: str, usable: Sequence[DeviceRequest | None]
) -> tuple[DeviceRequest | None, list[ContainerExtendedResourceRequest]]:
    """What the container must ask for beyond the requests it can use, and all that it uses."""
    asked = container.resources.requests or {}
    wanted = _whole(asked.get(resource))
    mappings: list[ContainerExtendedResourceRequest] = []
    if not wanted:
        return None, mappings
    have = 0
    for each in usable:
        if each is not None:
            have += _count(each)
            mappings.append(_mapping(container, resource, each.name))
            if have >= wanted:
                return None, mappings
    request = DeviceRequest(
        name=f"container-{place}-request-{sorted(asked).index(resource)}",
        exactly=ExactDeviceRequest(device_class_name=class_name, allocation_mode=EXACT_COUNT, count=wanted - have),
    )
    return request, [*mappings, _mapping(container, resource, request.name)]


def _whole(quantity: str | int | float | None) -> int:
    amount = parse(quantity) if quantity is not None else Fraction(0)
    return int(amount) if amount.denominator == 1 and amount <= MAX_INT64 else 0


def _count(request: DeviceRequest) -> int:
    assert request.exactly is not None
    return request.exactly.count


def _mapping(container: Container, resource: str, request: str) -> ContainerExtendedResourceRequest:
    return ContainerExtendedResourceRequest(container_name=container.name, resource_name=resource, request_name=request)


def _renamed(mapping: ContainerExtendedResourceRequest, request: str) -> ContainerExtendedResourceRequest:
    return ContainerExtendedResourceRequest(
        container_name=mapping.container_name, resource_name=mapping.resource_name, request_name=request
    )
