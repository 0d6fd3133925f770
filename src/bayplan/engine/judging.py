"""
The filters of a cycle over many imagined nodes at once, with nominated pods considered: ``Filters.fits`` in columns.

Possible where every filter that takes part goes by node objects or amounts (``Depends``): then what is imagined is a
matter of numbers.  ``engine.filtering`` asks about nodes with nominated pods, preemption through its handle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.engine.expecting import Expected
from bayplan.engine.running import Calls
from bayplan.framework.cycle_state import CycleState, Key
from bayplan.framework.plugin import Depends, FilterPlugin, Verdicts
from bayplan.framework.snapshot import Codes, NodeTable, Rows
from bayplan.framework.status import Reason, Status, as_status
from bayplan.framework.what_if_rows import Amounts, WhatIfRows
from bayplan.objects.pod import Pod

Reasons = tuple[Status | Reason, ...]


def is_by_columns(plugins: Sequence[FilterPlugin]) -> bool:
    """Do these filters go by node objects and amounts alone?"""
    return all(plugin.filter_depends in (Depends.OBJECT, Depends.AMOUNTS) for plugin in plugins)


class RowsJudge:
    """One pod's filters over some rows, whatever is imagined on them when it is asked."""

    def __init__(
        self,
        plugins: Sequence[FilterPlugin],
        state: CycleState,
        pod: Pod,
        rows: WhatIfRows,
        expected: Expected | None,
    ) -> None:
        self._calls = Calls(pod)
        self._plugins = plugins
        self._state = state
        self._rows = rows
        self._expecting, self._which = _common(rows, expected) if expected is not None else (_NONE, _NONE)
        self._expected = expected

    def first_nos(self, *, amounts_only: bool = False) -> Verdicts:
        """Per row the first no with expected pods there, else without them, since they may never come."""
        statuses: dict[Status, int] = {}
        codes = self._ask(self._rows, statuses, amounts_only)
        if len(self._expecting):
            with_them = self._ask(self._crowded(), statuses, amounts_only)
            codes[self._expecting] = np.where(with_them, with_them, codes[self._expecting])
        return Verdicts(codes, tuple(statuses))

    def _crowded(self) -> WhatIfRows:
        assert self._expected is not None
        return crowded(self._rows.part(self._expecting), self._expected.amounts[self._which], self._expected)

    def _ask(self, rows: WhatIfRows, statuses: dict[Status, int], amounts_only: bool) -> npt.NDArray[np.int64]:
        first = np.zeros(len(rows), np.int64)
        for plugin in self._plugins:
            if plugin.filter_depends is Depends.OBJECT:
                if amounts_only:
                    continue
                codes, reasons = self._of_objects(plugin, rows)
            else:
                codes, reasons = self._answer(plugin, rows)
            if reasons is None:
                continue
            said_no = (first == 0) & (codes != 0)
            given = codes[said_no]
            numbers = np.zeros(len(reasons) + 1, np.int64)
            for code in np.flatnonzero(np.bincount(given.astype(np.intp, copy=False))).tolist():
                status = as_status(reasons[code - 1]).by(plugin.name)
                if not status.is_rejected:
                    raise self._calls.refuse(plugin, "Filter", f"filter answered {status.code.title}")
                numbers[code] = statuses.setdefault(status, len(statuses) + 1)
            first[said_no] = numbers[given]
        return first

    def _of_objects(self, plugin: FilterPlugin, rows: WhatIfRows) -> tuple[Codes, Reasons | None]:
        """Asked about the real nodes, since nothing that is imagined changes the answer."""
        codes, reasons = answer_of_objects(self._calls, plugin, self._state, rows.whole)
        return (codes if reasons is None else codes[rows.rows]), reasons

    def _answer(self, plugin: FilterPlugin, nodes: Any) -> tuple[Codes, Reasons | None]:
        answer = self._calls.run(plugin, "Filter", plugin.filter, self._state, self._calls.pod, nodes)
        return checked(self._calls, plugin, answer, len(nodes))


def crowded(rows: WhatIfRows, amounts: Amounts, expected: Expected) -> WhatIfRows:
    """Rows on which pods are expected, now with them there; ``amounts`` is what they take, in the order of the rows."""
    rows.move(slice(None), amounts, 1)
    for at, row in enumerate(rows.rows.tolist()) if expected.scalars else ():
        for resource, amount in expected.scalars.get(row, {}).items():
            rows.move_scalar(resource, np.array([at]), np.array([amount]), 1)
    return rows


def answer_of_objects(
    calls: Calls, plugin: FilterPlugin, state: CycleState, nodes: NodeTable
) -> tuple[Codes, Reasons | None]:
    """What a filter that goes by node objects says of all nodes; it is asked once in a cycle."""
    answers = state.get(_ANSWERS)
    if answers is None or answers.generation != nodes.objects_generation or answers.nodes is not nodes:
        answers = state[_ANSWERS] = _Answers(nodes, nodes.objects_generation, {})
    known = answers.by_plugin.get(plugin.name)
    if known is None:
        answer = calls.run(plugin, "Filter", plugin.filter, state, calls.pod, nodes)
        known = answers.by_plugin[plugin.name] = checked(calls, plugin, answer, len(nodes))
    return known


class _Answers(NamedTuple):
    """What filters have said of the objects of all nodes, as they are now."""

    nodes: NodeTable
    generation: int
    by_plugin: dict[str, tuple[Codes, Reasons | None]]


_ANSWERS: Key[_Answers] = Key("engine.judging.answers")
_NONE: Rows = np.empty(0, np.intp)


def _common(rows: WhatIfRows, expected: Expected) -> tuple[Rows, Rows]:
    """Where in the rows pods are expected, and which of the expectations that is."""
    which = np.full(len(rows.whole), -1, np.intp)
    which[expected.rows] = np.arange(len(expected.rows))
    at = np.flatnonzero(which[rows.rows] >= 0)
    return at, which[rows.rows[at]]


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
    highest = int(codes.max())
    lowest = int(codes.min()) if codes.dtype.kind == "i" else 0
    if highest > len(reasons) or lowest < 0:
        code = highest if highest > len(reasons) else lowest
        raise calls.refuse(plugin, "Filter", f"filter returned code {code}, but has {len(reasons)} reasons")
    return codes, reasons if highest else None
