"""
What keeps devices from pods for as long as the files stay as they are, and what no API server refuses: templates and
nodes that are not there, pools that stay incomplete or say what cannot be.  ``loading`` warns of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bayplan.engine.store import Store
from bayplan.objects.devices.resource_claim import ResourceClaimTemplate
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.kinds import kind_of
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodResourceClaim
from bayplan.objects.workload import Workload
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.pools import Condition, PoolKey
from bayplan.text_layout import listed

_FEW = 5


def device_warnings(now: Sequence[ApiObject], later: Sequence[ApiObject]) -> Iterator[str]:
    """One line each; what comes ``later`` may put it right."""
    every = [*now, *later]
    yield from _missing_templates(every)
    slices = [each for each in every if isinstance(each, ResourceSlice)]
    if slices:
        yield from _missing_nodes(slices, {each.name for each in every if isinstance(each, Node)})
        changing = {each.pool_key for each in later if isinstance(each, ResourceSlice)}
        yield from _unusable_pools(now, changing)


def _missing_templates(objects: Iterable[ApiObject]) -> Iterator[str]:
    there = {(each.namespace, each.name) for each in objects if isinstance(each, ResourceClaimTemplate)}
    for each in objects:
        for place, wanted in enumerate(_claims(each)):
            name = wanted.resource_claim_template_name
            if name is not None and (each.namespace, name) not in there:
                yield (
                    f"{kind_of(each)} {each.key}: spec.{_spec(each)}resourceClaims[{place}]: there is no "
                    f'ResourceClaimTemplate "{name}" in namespace {each.namespace}: no claim is made, '
                    "and pods wait for it"
                )


def _claims(thing: ApiObject) -> Sequence[PodResourceClaim]:
    if isinstance(thing, Workload):
        return thing.spec.template.spec.resource_claims or ()
    is_waiting = isinstance(thing, Pod) and not (thing.node_name or thing.is_terminal)
    if not isinstance(thing, Pod) or not is_waiting or thing.status.resource_claim_statuses:
        return ()
    return thing.spec.resource_claims or ()


def _spec(thing: ApiObject) -> str:
    return "template.spec." if isinstance(thing, Workload) else ""


def _missing_nodes(slices: Iterable[ResourceSlice], there: set[str]) -> Iterator[str]:
    lost = {
        each.name: each.spec.node_name for each in slices if each.spec.node_name and each.spec.node_name not in there
    }
    if lost:
        nodes = listed(sorted(set(filter(None, lost.values()))), _FEW)
        one = len(lost) == 1
        whose = "ResourceSlice is" if one else "ResourceSlices are"
        yield (
            f"{len(lost)} {whose} for nodes that are not among those given ({nodes}), so nobody gets "
            f"{'its' if one else 'their'} devices: {listed(sorted(lost), _FEW)}"
        )


def _unusable_pools(objects: Iterable[ApiObject], changing: set[PoolKey]) -> Iterator[str]:
    store = Store()
    inventory = Inventory(store)
    nodes = []
    for each in objects:
        if isinstance(each, ResourceSlice):
            store.put(ResourceSlice.__name__, "", each.name, each)
        elif isinstance(each, Node):
            nodes.append(each)
    inventory.catch_up()
    told: dict[PoolKey, str] = {}
    for node in nodes:
        for view in inventory.devices_of(node).pools:
            if view.condition is not Condition.USABLE and view.key not in changing:
                told.setdefault(view.key, f"it is {view.condition.value}, {view.why}")
    for key, why in list(told.items())[:_FEW]:
        yield f"nothing is allocated from the pool {key[1]} of {key[0]}: {why}"
    if len(told) > _FEW:
        yield f"nothing is allocated from {len(told) - _FEW} more pools that are incomplete or invalid"
