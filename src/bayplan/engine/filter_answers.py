"""
What filters answer for many nodes at once: checked, and folded into one number per distinct rejection.

``engine.filtering`` (real nodes) and ``engine.imagined_filters`` (imagined ones) read every such answer through here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.engine.plugin_calls import Calls
from bayplan.framework.cycle_state import CycleState, Key
from bayplan.framework.plugin import FilterPlugin, Verdicts
from bayplan.framework.snapshot import Codes, Mask, NodeTable
from bayplan.framework.status import REJECTED, Reason, Status, as_status

Reasons: TypeAlias = tuple[Status | Reason, ...]


def asked(calls: Calls, plugin: FilterPlugin, state: CycleState, nodes: Any) -> tuple[Codes, Reasons | None]:
    """Ask a filter about a table of nodes: its codes, and what they mean (``None`` if all nodes pass)."""
    answer = calls.run(plugin, "Filter", plugin.filter, state, calls.pod, nodes)
    return checked(calls, plugin, answer, len(nodes))


def asked_of_objects(
    calls: Calls, plugin: FilterPlugin, state: CycleState, nodes: NodeTable
) -> tuple[Codes, Reasons | None]:
    """As ``asked``, of a filter that goes by node objects: it is asked once in a cycle."""
    kept = state.get(_OF_OBJECTS)
    if kept is None or kept.generation != nodes.objects_generation or kept.nodes is not nodes:
        kept = state[_OF_OBJECTS] = _OfObjects(nodes, nodes.objects_generation, {})
    known = kept.by_plugin.get(plugin.name)
    if known is None:
        known = kept.by_plugin[plugin.name] = asked(calls, plugin, state, nodes)
    return known


def forget_objects(state: CycleState) -> None:
    """Drop what ``asked_of_objects`` keeps, where a state outlives its cycle."""
    state.discard(_OF_OBJECTS)


class _OfObjects(NamedTuple):
    """What filters have said of the objects of all nodes, as they are now."""

    nodes: NodeTable
    generation: int
    by_plugin: dict[str, tuple[Codes, Reasons | None]]


_OF_OBJECTS: Key[_OfObjects] = Key("engine.filter_answers.of_objects")


def checked(calls: Calls, plugin: FilterPlugin, answer: object, count: int) -> tuple[Codes, Reasons | None]:
    """The codes of an answer and what they mean (``None`` if all pass), or a ``PluginError`` for anything else."""
    codes: Any
    reasons: Reasons
    if isinstance(answer, Verdicts):
        codes, reasons = answer.codes, answer.statuses
    else:
        codes, reasons = answer, plugin.reasons
    if not isinstance(codes, np.ndarray) or codes.dtype.kind not in "iu":
        kind = getattr(codes, "dtype", type(codes).__name__)
        raise calls.refuse(plugin, "Filter", f"filter must return an array of integers, got {kind}")
    if codes.shape != (count,):
        raise calls.refuse(plugin, "Filter", f"filter returned shape {codes.shape} for {count} nodes")
    if not count:
        return codes, None
    highest = int(np.maximum.reduce(codes))
    lowest = int(np.minimum.reduce(codes)) if codes.dtype.kind == "i" else 0
    if highest > len(reasons) or lowest < 0:
        code = highest if highest > len(reasons) else lowest
        raise calls.refuse(plugin, "Filter", f"filter returned code {code}, but has {len(reasons)} reasons")
    return codes, reasons if highest else None


def all_reject(reasons: Reasons) -> bool:
    """Is every reason a rejection, whichever nodes have it?"""
    return all(reason.code in REJECTED for reason in reasons)


def fold(
    plugin: FilterPlugin,
    codes: Codes,
    where: Mask,
    reasons: Reasons,
    number_of: Callable[[Status], int],
    broken: Callable[[Status], Exception],
) -> npt.NDArray[np.int64]:
    """The number of the rejection of each node in ``where``, each distinct one asked for once."""
    given = codes[where]
    numbers = np.zeros(len(reasons) + 1, np.int64)
    for code in np.flatnonzero(np.bincount(given.astype(np.intp, copy=False))).tolist():
        status = as_status(reasons[code - 1]).by(plugin.name)
        if not status.is_rejected:
            raise broken(status)
        numbers[code] = number_of(status)
    return numbers[given]
