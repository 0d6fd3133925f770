"""
A node's spare ledger: what its allocatable leaves when real use, and what is expected on top, is taken off.

Shrinks at once and grows slowly; without a load that is young enough it is closed.  ``deciding`` calls ``ledger_of``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.objects import spare
from bayplan.objects.load_estimate import NOTHING, Use, from_requests, unseen
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import CPU, MEMORY
from bayplan.objects.spare import LEDGER, MIB, Ledger
from bayplan.objects.third_party import crane_annotations
from bayplan.objects.third_party.crane_annotations import is_ahead
from bayplan.objects.times import format_time


class Load(NamedTuple):
    """How much of a node is in use (fractions), and since when that is known."""

    cpu: float
    memory: float
    at: float


def load_of(node: Node, settings: SpareSettings, now: float) -> Load | None:
    """What the node's annotations say; None if something is missing, infinite or from a time to come."""
    cpu = _largest(node.annotations, settings.cpu_metrics)
    memory = _largest(node.annotations, settings.memory_metrics)
    if cpu is None or memory is None:
        return None
    is_sound = math.isfinite(cpu.value) and math.isfinite(memory.value) and not is_ahead(max(cpu.at, memory.at), now)
    return Load(cpu.value, memory.value, min(cpu.at, memory.at)) if is_sound else None


def _largest(annotations: Mapping[str, str], metrics: Iterable[str]) -> crane_annotations.Reading | None:
    readings = [crane_annotations.read(annotations.get(name)) for name in metrics]
    known = [reading for reading in readings if reading is not None]
    if not known or len(known) < len(readings):
        return None
    return crane_annotations.Reading(max(each.value for each in known), min(each.at for each in known))


def ledger_of(
    node: Node, pods: Iterable[Pod], load: Load | None, now: float, settings: SpareSettings, spare_use: Use = NOTHING
) -> Ledger:
    """
    The node's ledger now.

    Args:
        pods: those on the node.
        spare_use: what spare pods use according to measurements of their own, as far as there are any; it is not
            taken off a second time.
    """
    before = spare.read_ledger(node.annotations.get(LEDGER))
    if load is None or now >= load.at + settings.close_after_s:
        return _closed(load, before)
    used = Use(load.cpu * node.allocatable.cpu_milli, load.memory * node.allocatable.memory_bytes)
    cpu_used = max(0.0, used.cpu_milli - spare_use.cpu_milli)
    memory_used = max(0.0, used.memory_bytes - spare_use.memory_bytes)
    expected = _expected(pods, load.at, settings.window_s)
    minutes = _minutes_to_grow(load, before, settings)
    cpu, cpu_because = _spare(
        CPU, node.allocatable.cpu_milli, settings.cpu_share, cpu_used, expected.cpu_milli,
        0 if before is None else before.cpu_milli, minutes, settings,
    )  # fmt: skip
    memory, memory_because = _spare(
        MEMORY, node.allocatable.memory_bytes, settings.memory_share, memory_used, expected.memory_bytes,
        0 if before is None else before.memory_mib * MIB, minutes, settings,
    )  # fmt: skip
    return Ledger(cpu, memory // MIB, load.at, cpu_because, memory_because)


def _minutes_to_grow(load: Load, before: Ledger | None, settings: SpareSettings) -> float:
    """Since the sample before; the same sample lets nothing grow, and a ledger that was closed begins anew."""
    if before is None or spare.is_closed(before.sampled_at, settings.close_after_s, load.at):
        return 1.0
    return max(0.0, load.at - before.sampled_at) / 60


def _closed(load: Load | None, before: Ledger | None) -> Ledger:
    if load is None:
        because = "0: closed, the node's load is not known"
        return Ledger(0, 0, before.sampled_at if before is not None else 0.0, because, because)
    because = f"0: closed, the node's load is from {format_time(load.at)}"
    return Ledger(0, 0, load.at, because, because)


def _expected(pods: Iterable[Pod], sampled_at: float, window_s: float) -> Use:
    """What guaranteed pods will use that the load does not show yet."""
    total = NOTHING
    for pod in pods:
        missing = 0.0 if spare.is_spare(pod) else unseen(pod.start_time, sampled_at, window_s)
        if missing:
            total = total.plus(from_requests(pod).times(missing))
    return total


def _spare(
    resource: str,
    allocatable: int,
    share: float,
    used: float,
    expected: float,
    before: int,
    minutes: float,
    settings: SpareSettings,
) -> tuple[int, str]:
    """The amount, and the sum that gave it."""
    amount = max(0, int(share * allocatable - used - expected))
    most = int(settings.most_share * allocatable)
    reachable = before + int(settings.grow_per_minute * allocatable * minutes)
    shown = [_shown(resource, each) for each in (allocatable, used, expected)]
    because = f"{share:g} x {shown[0]} - {shown[1]} used - {shown[2]} expected"
    if amount > most:
        amount, because = most, f"{because}, but at most {settings.most_share:g} of the node"
    if amount > reachable:
        step = f"{settings.grow_per_minute:.0%} of the node a minute"
        amount, because = reachable, f"{because}, but growing by at most {step}"
    return amount, f"{_shown(resource, amount)} = {because}"


def _shown(resource: str, amount: float) -> str:
    """Cores to the thousandth, memory in GiB to the tenth: the last byte of an average says nothing."""
    return format_resource(CPU, round(amount)) if resource == CPU else f"{amount / 1024**3:.1f}Gi"
