"""What an API server refuses in a ResourceSlice. `created` calls `check_slice`, `validating` calls `check_amounts`."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters, digits

from bayplan.objects.admission import affinity_validating as rules
from bayplan.objects.admission import device_names, name_checks
from bayplan.objects.admission.capacity_admission import check_capacity
from bayplan.objects.affinity import NodeSelector
from bayplan.objects.devices.resource_slice import (
    CapacityRequestPolicy,
    Counter,
    Device,
    DeviceAttribute,
    ResourceSlice,
    ResourceSliceSpec,
)
from bayplan.objects.mistakes import Mistakes, mistake, tried
from bayplan.objects.quantity import Quantity, parse
from bayplan.objects.requirement import check_key
from bayplan.objects.times import parse_time

_MAX_DEVICES, _MAX_ADVANCED = 128, 64
"""Devices of a slice; fewer if one has taints or uses counters."""
_MAX_ATTRIBUTES, _MAX_VALUE = 32, 64
_MAX_COUNTER_SETS, _MAX_COUNTERS, _MAX_CONSUMED = 8, 32, 2
_MAX_TAINTS, _MAX_CONDITIONS = 16, 4
_LETTERS = frozenset(ascii_letters + digits + "-")
_ONE_PLACE = "nodeName, nodeSelector, allNodes: true or perDeviceNodeSelection: true"


def check_amounts(thing: ResourceSlice) -> Mistakes:
    """Amounts and times that nobody could compute with."""
    for field, amount in _amounts(thing.spec):
        yield from tried(field, parse, amount)
    for number, device in enumerate(thing.devices):
        for index, each in enumerate(device.taints or ()):
            yield from tried(f"spec.devices[{number}].taints[{index}].timeAdded", parse_time, each.time_added)


def check_slice(thing: ResourceSlice) -> Mistakes:
    spec = thing.spec
    yield from device_names.driver("spec.driver", spec.driver)
    yield from device_names.pool("spec.pool.name", spec.pool.name)
    if spec.pool.resource_slice_count <= 0:
        yield mistake("spec.pool.resourceSliceCount", "there is none", "write how many slices the pool has")
    if spec.pool.generation < 0:
        yield mistake("spec.pool.generation", f"{spec.pool.generation} is less than nothing", "write 0 or more")
    yield from _place(spec)
    if spec.shared_counters is not None and spec.devices is not None:
        yield mistake("spec", "has both sharedCounters and devices", "write each in a slice of its own")
    yield from _devices(spec)
    yield from _counter_sets(spec)


def _place(spec: ResourceSliceSpec) -> Mistakes:
    chosen = _chosen(spec.node_name, spec.node_selector, spec.all_nodes) + (spec.per_device_node_selection is True)
    yield from _node_choice("spec", spec.node_name, spec.node_selector, spec.all_nodes)
    terms = spec.node_selector.node_selector_terms if spec.node_selector else None
    if terms and len(terms) != 1:
        yield mistake("spec.nodeSelector.nodeSelectorTerms", f"there are {len(terms)}", "write exactly one")
    if spec.per_device_node_selection is False:
        yield mistake("spec.perDeviceNodeSelection", "false says nothing", "write true, or remove it")
    if chosen != 1:
        yield mistake(
            "spec", f"says {'nothing' if not chosen else 'too much'} of its nodes", f"write one of {_ONE_PLACE}"
        )


def _chosen(name: str | None, selector: NodeSelector | None, every: bool | None) -> int:
    return bool(name) + (selector is not None) + (every is True)


def _node_choice(field: str, name: str | None, selector: NodeSelector | None, every: bool | None) -> Mistakes:
    if name is not None:
        yield from name_checks.subdomain(f"{field}.nodeName", name)
    if selector is not None:
        yield from rules.node_terms(f"{field}.nodeSelector.nodeSelectorTerms", selector.node_selector_terms)
    if every is False:
        yield mistake(f"{field}.allNodes", "false says nothing", "write true, or remove it")


def _devices(spec: ResourceSliceSpec) -> Mistakes:
    devices = spec.devices or ()
    is_advanced = any(each.taints or each.consumes_counters for each in devices)
    most = _MAX_ADVANCED if is_advanced else _MAX_DEVICES
    if len(devices) > most:
        yield from device_names.at_most("spec.devices", devices, most)
        return
    for index, device in enumerate(devices):
        yield from _device(f"spec.devices[{index}]", device, spec.per_device_node_selection is True)
    yield from name_checks.unique("spec.devices", (each.name for each in devices))


def _device(field: str, device: Device, chooses_nodes: bool) -> Mistakes:
    yield from name_checks.label(f"{field}.name", device.name)
    attributes, capacity = device.attributes or {}, device.capacity or {}
    yield from device_names.at_most(f"{field}.attributes", (*attributes, *capacity), _MAX_ATTRIBUTES)
    for name, attribute in attributes.items():
        yield from device_names.attribute(f"{field}.attributes.{name}", name)
        yield from _attribute(f"{field}.attributes.{name}", attribute)
    for name, each in capacity.items():
        yield from device_names.attribute(f"{field}.capacity.{name}", name)
        yield from check_capacity(f"{field}.capacity.{name}", each, device.allow_multiple_allocations is True)
    yield from device_names.at_most(f"{field}.taints", device.taints, _MAX_TAINTS)
    for index, taint in enumerate(device.taints or ()):
        yield from device_names.taint(f"{field}.taints[{index}]", taint)
    yield from _consumed(field, device)
    yield from _conditions(field, device)
    choice = device.node_name, device.node_selector, device.all_nodes
    if not chooses_nodes and choice != (None, None, None):
        yield mistake(field, "says which nodes can use it", "write spec.perDeviceNodeSelection: true, or remove that")
    elif chooses_nodes:
        yield from _node_choice(field, *choice)
        if _chosen(*choice) != 1:
            yield mistake(
                field, "must say which nodes can use it", "write one of nodeName, nodeSelector or allNodes: true"
            )


def _attribute(field: str, attribute: DeviceAttribute) -> Mistakes:
    values = (attribute.int_value, attribute.bool_value, attribute.string_value, attribute.version_value)
    if sum(each is not None for each in values) != 1:
        yield mistake(field, "must have exactly one value", "write one of int, bool, string or version")
    for text in filter(None, (attribute.string_value, attribute.version_value)):
        if len(text.encode()) > _MAX_VALUE:
            yield mistake(field, f"{len(text.encode())} bytes", f"write at most {_MAX_VALUE}")
    version = attribute.version_value
    if version is not None and not _is_version(version):
        yield mistake(f"{field}.version", f'"{version}" is not a version', "write one such as 1.2.3")


def _is_version(text: str) -> bool:
    """Three numbers; then perhaps "-" and words for what comes before the release, "+" and words for the build."""
    before, plus, build = text.partition("+")
    numbers, dash, early = before.partition("-")
    parts = numbers.split(".")
    return (
        len(parts) == 3
        and all(_is_number(part) for part in parts)
        and (not dash or all(_is_word(word) and _is_plain(word) for word in early.split(".")))
        and (not plus or all(_is_word(word) for word in build.split(".")))
    )


def _is_number(text: str) -> bool:
    return bool(text) and set(text) <= set(digits) and _is_plain(text)


def _is_plain(text: str) -> bool:
    """A number has no zeros before it."""
    return text == "0" or not text.startswith("0") or not set(text) <= set(digits)


def _is_word(text: str) -> bool:
    return bool(text) and _LETTERS.issuperset(text)


def _consumed(field: str, device: Device) -> Mistakes:
    consumed = device.consumes_counters or ()
    yield from device_names.at_most(f"{field}.consumesCounters", consumed, _MAX_CONSUMED)
    for index, each in enumerate(consumed):
        at = f"{field}.consumesCounters[{index}]"
        yield from name_checks.label(f"{at}.counterSet", each.counter_set)
        yield from _counters(f"{at}.counters", each.counters)
    yield from name_checks.unique(f"{field}.consumesCounters", (each.counter_set for each in consumed))


def _counter_sets(spec: ResourceSliceSpec) -> Mistakes:
    sets = spec.shared_counters or ()
    yield from device_names.at_most("spec.sharedCounters", sets, _MAX_COUNTER_SETS)
    for index, each in enumerate(sets):
        yield from name_checks.label(f"spec.sharedCounters[{index}].name", each.name)
        yield from _counters(f"spec.sharedCounters[{index}].counters", each.counters)
    yield from name_checks.unique("spec.sharedCounters", (each.name for each in sets))


def _counters(field: str, counters: dict[str, Counter] | None) -> Mistakes:
    if not counters:
        yield mistake(field, "there are none", "write at least one, with its value")
    yield from device_names.at_most(field, counters, _MAX_COUNTERS)
    for name in counters or {}:
        yield from name_checks.label(f"{field}.{name}", name)


def _conditions(field: str, device: Device) -> Mistakes:
    ready, failed = device.binding_conditions or (), device.binding_failure_conditions or ()
    for name, conditions in (("bindingConditions", ready), ("bindingFailureConditions", failed)):
        yield from device_names.at_most(f"{field}.{name}", conditions, _MAX_CONDITIONS)
        yield from name_checks.unique(f"{field}.{name}", conditions)
        for each in conditions:
            yield from tried(f"{field}.{name}", check_key, each)
    if set(ready) & set(failed):
        yield mistake(f"{field}.bindingFailureConditions", "are among bindingConditions", "keep each in one of the two")
    if bool(ready) != bool(failed):
        at = "bindingFailureConditions" if ready else "bindingConditions"
        yield mistake(f"{field}.{at}", "there are none", "write both kinds of conditions, or neither")


def _amounts(spec: ResourceSliceSpec) -> Iterator[tuple[str, Quantity]]:
    """Every amount, and where it stands."""
    for index, counter_set in enumerate(spec.shared_counters or ()):
        yield from _counter_amounts(f"spec.sharedCounters[{index}]", counter_set.counters)
    for number, device in enumerate(spec.devices or ()):
        at = f"spec.devices[{number}]"
        for index, consumed in enumerate(device.consumes_counters or ()):
            yield from _counter_amounts(f"{at}.consumesCounters[{index}]", consumed.counters)
        for name, capacity in (device.capacity or {}).items():
            yield f"{at}.capacity.{name}.value", capacity.value
            if capacity.request_policy is not None:
                yield from _policy_amounts(f"{at}.capacity.{name}.requestPolicy", capacity.request_policy)


def _counter_amounts(field: str, counters: dict[str, Counter] | None) -> Iterator[tuple[str, Quantity]]:
    for name, each in (counters or {}).items():
        yield f"{field}.counters.{name}.value", each.value


def _policy_amounts(field: str, policy: CapacityRequestPolicy) -> Iterator[tuple[str, Quantity]]:
    if policy.default is not None:
        yield f"{field}.default", policy.default
    for index, each in enumerate(policy.valid_values or ()):
        yield f"{field}.validValues[{index}]", each
    span = policy.valid_range
    for name, amount in (("min", span.min), ("max", span.max), ("step", span.step)) if span is not None else ():
        if amount is not None:
            yield f"{field}.validRange.{name}", amount
