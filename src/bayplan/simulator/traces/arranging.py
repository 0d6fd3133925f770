"""
The pods of a trace in the order and the number that a run wants: shuffled, left out or copied, as the seed says.

``world`` asks for it when a run begins, so that one reading of the files serves every seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources
from bayplan.simulator.sizing import MOST_PODS
from bayplan.simulator.traces.trace_file import Demand


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What a trace wants done to its pods."""

    pods: frozenset[tuple[str, str]]
    """Their namespaces and names."""
    shuffle: bool
    demand: Demand | None
    place: str
    """Where the trace stands, for complaints."""


def arranged(objects: Sequence[ApiObject], arrangement: Arrangement, seed: int) -> list[ApiObject]:
    """Everything that was given, with the pods of the trace as they are wanted, behind all others."""
    ours = [each for each in objects if isinstance(each, Pod) and _key(each) in arrangement.pods]
    mine = {id(each) for each in ours}
    others = [each for each in objects if id(each) not in mine]
    random = Random(seed)
    pods = list(ours)
    if arrangement.shuffle:
        pods.sort(key=_key)
        random.shuffle(pods)
    if arrangement.demand is not None:
        nodes = [each for each in objects if isinstance(each, Node)]
        pods = _demanding(pods, ours, nodes, arrangement, random)
    return [*others, *pods]


def _demanding(
    pods: list[Pod], originals: Sequence[Pod], nodes: Sequence[Node], arrangement: Arrangement, random: Random
) -> list[Pod]:
    """Random pods are taken out while all ask for too much; else random ones are copied until one is too much."""
    assert arrangement.demand is not None
    resource = arrangement.demand.resource
    wanted = arrangement.demand.ofCapacity * sum(amount_of(each.allocatable, resource) for each in nodes)
    asked = sum(amount_of(each.requests, resource) for each in pods)
    if not wanted or not asked:
        who = "nodes have" if not wanted else "pods ask for"
        raise InputError(f"{who} no {resource}", source=arrangement.place, field="spec.demand.resource")
    if wanted / asked * len(pods) > MOST_PODS:
        problem = f"asks for more than {MOST_PODS} pods, which are too many to simulate"
        raise InputError(problem, source=arrangement.place, field="spec.demand.ofCapacity", fix="write a smaller one")
    while asked > wanted:
        asked -= amount_of(pods.pop(random.randrange(len(pods))).requests, resource)
    if asked == wanted or len(pods) < len(originals):
        return pods
    number = 0
    while True:
        pod = originals[random.randrange(len(originals))]
        amount = amount_of(pod.requests, resource)
        if asked + amount > wanted:
            return pods
        asked += amount
        pods.append(_copy(pod, number))
        number += 1


def amount_of(amounts: Resources, resource: str) -> int:
    """How much of a resource there is among amounts."""
    own = {CPU: amounts.cpu_milli, MEMORY: amounts.memory_bytes, EPHEMERAL_STORAGE: amounts.ephemeral_bytes}
    return own[resource] if resource in own else amounts.scalars.get(resource, 0)


def _copy(pod: Pod, number: int) -> Pod:
    name = f"{pod.name}-copy-{number}"
    uid = f"{pod.uid}-copy-{number}" if pod.uid else ""
    return pod.evolve(metadata=replace(pod.metadata, name=name, uid=uid))


def _key(pod: Pod) -> tuple[str, str]:
    return pod.namespace, pod.name
