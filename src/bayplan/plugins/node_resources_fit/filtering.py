"""
Does the node have room: the filter of NodeResourcesFit, for one node and for all.

A node's no lists everything that is short.  It is a no that evicting pods could change, unless the pod asks
for more of one of the short resources than the node has in all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.framework import Mask, NodeTable, NodeView, Rows, Status, Verdicts, unresolvable, unschedulable
from bayplan.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Resources, is_extended_name
from bayplan.plugins.resource_columns import allocatable, requested

TOO_MANY_PODS = "Too many pods"

MAX_WANTS = 61
"""What fits into the bits of one integer beside "too many pods" and "unresolvable"."""

_UNRESOLVABLE = 1
_FULL = 2


@dataclass(frozen=True, slots=True)
class Want:
    """An amount the pod asks for."""

    resource: str
    amount: int
    has_devices: bool = False
    """A DeviceClass stands behind it: a node that has none of it itself is left to DynamicResources."""

    @property
    def shortage(self) -> str:
        return f"Insufficient {self.resource}"


def wants(
    asked: Resources,
    ignored: Collection[str] = (),
    ignored_groups: Collection[str] = (),
    has_devices: Callable[[str], bool] = lambda name: False,
) -> tuple[Want, ...]:
    """What a node must have, in the order shortages are told; extended resources may be ignored by name."""
    amounts = (
        (CPU, asked.cpu_milli),
        (MEMORY, asked.memory_bytes),
        (EPHEMERAL_STORAGE, asked.ephemeral_bytes),
        *sorted(asked.scalars.items()),
    )
    return tuple(
        Want(name, amount, name in asked.scalars and has_devices(name))
        for name, amount in amounts
        if amount > 0 and not _is_ignored(name, ignored, ignored_groups)
    )


def _is_ignored(name: str, ignored: Collection[str], groups: Collection[str]) -> bool:
    return (name in ignored or name.partition("/")[0] in groups) and is_extended_name(name)


def shortages(node: NodeView, wanted: tuple[Want, ...]) -> Status | None:
    """Everything this node is short of."""
    reasons = [TOO_MANY_PODS] if node.pods_count + 1 > node.alloc_pods_count else []
    is_too_small = False
    for want in wanted:
        total = allocatable(node, want.resource)
        if want.has_devices and not total:
            continue
        if want.amount > total - requested(node, want.resource):
            reasons.append(want.shortage)
            is_too_small = is_too_small or want.amount > total
    if not reasons:
        return None
    return unresolvable(*reasons) if is_too_small else unschedulable(*reasons)


def judge(nodes: NodeTable, wanted: tuple[Want, ...]) -> Verdicts:
    """The same for all nodes at once; only the rows that fail cost more than a comparison."""
    full: Mask = nodes.pods_count + 1 > nodes.alloc_pods_count
    short: list[Mask] = [_lacks(nodes, want) for want in wanted]
    failing = full
    for lacking in short:
        failing = failing | lacking
    codes = np.zeros(len(nodes), np.uint16)
    rows = np.flatnonzero(failing)
    if not len(rows):
        return Verdicts(codes, ())
    bits = _bits(nodes, wanted, rows, full, short)
    if bits.min() == bits.max():
        # As a rule every node is short of the same, and then there is nothing to sort.
        codes[rows] = 1
        return Verdicts(codes, (_status(int(bits[0]), wanted),))
    distinct, which = np.unique(bits, return_inverse=True)
    codes[rows] = which + 1
    return Verdicts(codes, tuple(_status(int(bits), wanted) for bits in distinct))


def _lacks(nodes: NodeTable, want: Want) -> Mask:
    total = allocatable(nodes, want.resource)
    lacking: Mask = want.amount > total - requested(nodes, want.resource)
    return lacking & (total != 0) if want.has_devices else lacking


def _bits(
    nodes: NodeTable, wanted: tuple[Want, ...], rows: Rows, full: Mask, short: Sequence[Mask]
) -> npt.NDArray[np.int64]:
    """What each failing row is short of, as one number."""
    bits = full[rows] * np.int64(_FULL)
    too_small = np.zeros(len(rows), np.bool_)
    for place, (want, lacking) in enumerate(zip(wanted, short, strict=True), start=2):
        lacks = lacking[rows]
        bits |= lacks * (np.int64(1) << place)
        too_small |= lacks & (want.amount > allocatable(nodes, want.resource)[rows])
    bits |= too_small * np.int64(_UNRESOLVABLE)
    return bits


def _status(bits: int, wanted: tuple[Want, ...]) -> Status:
    reasons = [TOO_MANY_PODS] if bits & _FULL else []
    reasons += [want.shortage for place, want in enumerate(wanted, start=2) if bits & (1 << place)]
    return unresolvable(*reasons) if bits & _UNRESOLVABLE else unschedulable(*reasons)
