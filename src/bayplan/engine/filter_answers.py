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
from bayplan.framework.plugin import FilterPlugin
from bayplan.framework.results import Verdicts
from bayplan.framework.snapshot import Codes, Mask, NodeTable
from bayplan.framework.status import REJECTED, Reason, Status, as_status

Reasons: TypeAlias = tuple[Status | Reason, ...]


def asked(calls: Calls, plugin: FilterPlugin, state: CycleState, nodes: Any) -> tuple[Codes, Reasons | None]:
    """Ask a filter about a table of nodes: its codes, and what they mean (``None`` if all nodes pass)."""
    answer = calls.run(plugin, "Filter", plugin.filter, state, calls.pod, nodes)
    return checked(calls, plugin, answer, len(nodes))


def keep(state: CycleState, plugin: FilterPlugin, nodes: NodeTable, answer: tuple[Codes, Reasons | None]) -> None:
    """Remember for the rest of the cycle what a filter said of all nodes."""
    kept = state.get(_SAID)
    if kept is None or kept.generation != nodes.objects_generation or kept.nodes is not nodes:
        kept = state[_SAID] = _Said(nodes, nodes.objects_generation, {})
    kept.by_plugin[plugin.name] = answer


def asked_of_objects(
    calls: Calls, plugin: FilterPlugin, state: CycleState, nodes: NodeTable
) -> tuple[Codes, Reasons | None]:
    """As ``asked``, of a filter that goes by node objects: what it said in this cycle still holds."""
    kept = state.get(_SAID)
    if kept is not None and kept.generation == nodes.objects_generation and kept.nodes is nodes:
        known = kept.by_plugin.get(plugin.name)
        if known is not None:
            return known
    answer = asked(calls, plugin, state, nodes)
    keep(state, plugin, nodes, answer)
    return answer


class _Said(NamedTuple):
    """What filters have said of all nodes in this cycle, by the objects that nodes had then."""

    nodes: NodeTable
    generation: int
    by_plugin: dict[str, tuple[Codes, Reasons | None]]


_SAID: Key[_Said] = Key("engine.filter_answers.said")


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
