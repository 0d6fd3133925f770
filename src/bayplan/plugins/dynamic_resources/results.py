"""
What a claim's status says of an allocation: devices, settings for their drivers, and the nodes that can use them.

``plugin`` makes it from the allocator's answer for the node it reserves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import NAMESPACE_URL, uuid5

from bayplan.objects.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from bayplan.objects.devices.names import FROM_CLAIM, FROM_CLASS
from bayplan.objects.devices.resource_claim import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from bayplan.objects.requirement import IN
from bayplan.objects.selector import NODE_NAME_FIELD
from bayplan.plugins.dynamic_resources.capacity import taken
from bayplan.plugins.dynamic_resources.node_devices import Found, NodeDevices
from bayplan.plugins.dynamic_resources.search import Answer, Choice
from bayplan.plugins.dynamic_resources.shape import Shape, Wanted


def allocations(
    shape: Shape, answer: Answer, claims: Sequence[ResourceClaim], devices: NodeDevices, node_name: str
) -> list[AllocationResult]:
    """One for each claim, in their order."""
    return [
        _allocation(shape, claim, number, choices, devices, node_name)
        for number, (claim, choices) in enumerate(zip(claims, answer.claims, strict=True))
    ]


def _allocation(
    shape: Shape, claim: ResourceClaim, number: int, choices: Sequence[Choice], devices: NodeDevices, node_name: str
) -> AllocationResult:
    found = [devices.at(choice.position) for choice in choices]
    results = tuple(
        _result(claim, place, shape.wanted[choice.wanted], device)
        for place, (choice, device) in enumerate(zip(choices, found, strict=True))
    )
    config = tuple(_config(shape, claim, number, choices))
    return AllocationResult(
        devices=DeviceAllocationResult(results=results or None, config=config or None),
        node_selector=_node_selector(found, node_name),
    )


def _result(claim: ResourceClaim, place: int, wanted: Wanted, found: Found) -> DeviceRequestAllocationResult:
    device = found.device
    driver, pool, name = found.key
    share_id, consumed = None, None
    if device.allow_multiple_allocations:
        # Made of what it stands for, so that a simulation repeats itself.
        share_id = str(uuid5(NAMESPACE_URL, f"{claim.uid or claim.key}/{place}/{driver}/{pool}/{name}"))
        consumed = _consumed(wanted, found)
    return DeviceRequestAllocationResult(
        request=wanted.full_name,
        driver=driver,
        pool=pool,
        device=name,
        admin_access=True if wanted.is_admin else None,
        tolerations=wanted.asks.tolerations,
        binding_conditions=device.binding_conditions,
        binding_failure_conditions=device.binding_failure_conditions,
        share_id=share_id,
        consumed_capacity=consumed,
    )


def _consumed(wanted: Wanted, found: Found) -> dict[str, str | int | float] | None:
    takes = taken(wanted.asks.capacity_requests, found.device.capacity or {})
    return None if isinstance(takes, str) or not takes else {take.name: take.amount.text for take in takes}


def _config(
    shape: Shape, claim: ResourceClaim, number: int, choices: Sequence[Choice]
) -> Iterable[DeviceAllocationConfiguration]:
    """The settings of classes, each once with the requests it is for; then those of the claim."""
    chosen = _chosen(shape, number, choices)
    by_class: dict[str, list[Wanted]] = {}
    for wanted in chosen:
        by_class.setdefault(wanted.device_class.name, []).append(wanted)
    for wanteds in by_class.values():
        for config in wanteds[0].device_class.spec.config or ():
            requests = tuple(wanted.full_name for wanted in wanteds)
            yield DeviceAllocationConfiguration(source=FROM_CLASS, requests=requests, opaque=config.opaque)
    for own in claim.spec.devices.config or ():
        named = own.requests or ()
        # One that names several requests is handed on once for each, as kube-scheduler does.
        times = sum(wanted.name in named or wanted.full_name in named for wanted in chosen) if named else 1
        for _ in range(times):
            yield DeviceAllocationConfiguration(source=FROM_CLAIM, requests=own.requests, opaque=own.opaque)


def _chosen(shape: Shape, number: int, choices: Sequence[Choice]) -> list[Wanted]:
    """For each request of the claim the alternative that was chosen."""
    numbers = {choice.wanted for choice in choices}
    return [
        next((wanted for wanted in alternatives if wanted.number in numbers), alternatives[0])
        for alternatives in shape.claims[number]
    ]


def _node_selector(found: Sequence[Found], node_name: str) -> NodeSelector | None:
    """The nodes that can use all of the devices; ``None`` for all nodes."""
    fields: list[NodeSelectorRequirement] = []
    expressions: list[NodeSelectorRequirement] = []
    for each in found:
        by_device = each.slice.spec.per_device_node_selection
        name = each.device.node_name if by_device else each.slice.spec.node_name
        if name is not None or each.device.binds_to_node:
            only = NodeSelectorRequirement(key=NODE_NAME_FIELD, operator=IN, values=(node_name,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(only,)),))
        selector = each.device.node_selector if by_device else each.slice.spec.node_selector
        for term in (selector.node_selector_terms if selector is not None else None) or ():
            _add(fields, term.match_fields)
            _add(expressions, term.match_expressions)
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(match_fields=tuple(fields) or None, match_expressions=tuple(expressions) or None)
    return NodeSelector(node_selector_terms=(term,))


def _add(to: list[NodeSelectorRequirement], more: Iterable[NodeSelectorRequirement] | None) -> None:
    for each in more or ():
        same = (_meaning(each) == _meaning(known) for known in to)
        if not any(same):
            to.append(each)


def _meaning(written: NodeSelectorRequirement) -> tuple[str, str, frozenset[str]]:
    return written.key, written.operator, frozenset(written.values or ())
