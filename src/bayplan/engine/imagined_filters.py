"""
``NodeFilters.fits`` in columns: the filters of a cycle over many imagined nodes at once.

Possible where every filter that takes part promises to go by node objects or amounts: then what is imagined is a
matter of numbers.  ``engine.filtering`` asks about nodes with nominated pods, preemption through its handle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from bayplan.engine import filter_answers
from bayplan.engine.filter_answers import Reasons
from bayplan.engine.nominated_sums import Expected
from bayplan.engine.plugin_calls import Calls
from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import FilterPlugin
from bayplan.framework.preemption.what_if_rows import Amounts, WhatIfRows
from bayplan.framework.results import Verdicts
from bayplan.framework.snapshot import Codes, Rows
from bayplan.framework.status import Status


class ImaginedFilters:
    """One pod's filters over some rows, whatever is imagined on them when it is asked."""

    def __init__(
        self,
        calls: Calls,
        plugins: Sequence[FilterPlugin],
        of_objects: Collection[FilterPlugin],
        state: CycleState,
        rows: WhatIfRows,
        expected: Expected | None,
    ) -> None:
        self._calls = calls
        self._plugins = plugins
        self._of_objects_alone = of_objects
        self._state = state
        self._rows = rows
        self._expecting, self._which = _common(rows, expected) if expected is not None else (_NONE, _NONE)
        self._expected = expected

    def first_rejections(self, *, amounts_only: bool = False) -> Verdicts:
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
            if plugin not in self._of_objects_alone:
                codes, reasons = filter_answers.asked(self._calls, plugin, self._state, rows)
            elif amounts_only:
                continue
            else:
                codes, reasons = self._of_objects(plugin, rows)
            if reasons is not None:
                rejected = (first == 0) & (codes != 0)
                first[rejected] = filter_answers.fold(
                    plugin,
                    codes,
                    rejected,
                    reasons,
                    lambda status: statuses.setdefault(status, len(statuses) + 1),
                    partial(self._broken, plugin),
                )
        return first

    def _broken(self, plugin: FilterPlugin, status: Status) -> PluginError:
        return self._calls.refuse(plugin, "Filter", f"filter answered {status.code.title}")

    def _of_objects(self, plugin: FilterPlugin, rows: WhatIfRows) -> tuple[Codes, Reasons | None]:
        """Asked about the real nodes, since nothing that is imagined changes the answer."""
        codes, reasons = filter_answers.asked_of_objects(self._calls, plugin, self._state, rows.whole)
        return (codes if reasons is None else codes[rows.rows]), reasons


def crowded(rows: WhatIfRows, amounts: Amounts, expected: Expected) -> WhatIfRows:
    """Rows on which pods are expected, now with them there; ``amounts`` is what they take, in the order of the rows."""
    rows.move(slice(None), amounts, 1)
    for at, row in enumerate(rows.rows.tolist()) if expected.scalars else ():
        for resource, amount in expected.scalars.get(row, {}).items():
            rows.move_scalar(resource, np.array([at]), np.array([amount]), 1)
    return rows


_NONE: Rows = np.empty(0, np.intp)


def _common(rows: WhatIfRows, expected: Expected) -> tuple[Rows, Rows]:
    """Where in the rows pods are expected, and which of the expectations that is."""
    which = np.full(len(rows.whole), -1, np.intp)
    which[expected.rows] = np.arange(len(expected.rows))
    at = np.flatnonzero(which[rows.rows] >= 0)
    return at, which[rows.rows[at]]
