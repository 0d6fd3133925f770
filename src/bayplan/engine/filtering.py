"""
PreFilter and Filter: which nodes can take a pod, and the first reason for each that cannot.

``engine.evaluation`` asks for one pod, ``engine.kept`` for all pods of a class.  Plugins answer for the whole table at
once; nodes with nominated pods, and searches narrowed to a few nodes, are judged one by one with the same plugins'
one-node form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.engine import filter_answers
from bayplan.engine.expecting import Expected
from bayplan.engine.filter_answers import Reasons
from bayplan.engine.judging import RowsJudge, crowded
from bayplan.engine.node_filters import NodeFilters, broken, first_rejection
from bayplan.engine.running import Calls, CycleError
from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.diagnosis import FEASIBLE, Diagnosis
from bayplan.framework.plugin import Depends, FilterPlugin, PreFilterPlugin, PreFilterResult
from bayplan.framework.snapshot import Codes, Mask, NodeTable, Rows
from bayplan.framework.status import SUCCESS, Code, Status, as_status, unresolvable
from bayplan.framework.what_if_rows import WhatIfRows

# Up to this many candidate nodes, asking plugins node by node is cheaper than passes over the table.
FEW_NODES = 4

_UNTOLD = unresolvable("rejected")
"""Stands for every rejection where nobody wants to know which it was."""


@dataclass(slots=True)
class Narrowed:
    """What PreFilter left: the status that ended it, or the rows still in question (``None``: all)."""

    status: Status
    rows: list[int] | None = None
    plugins: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """What plugins that narrowed the search say of the nodes they left out."""

    @property
    def is_all(self) -> bool:
        """Are all nodes still in question?"""
        return self.rows is None and self.status.is_success


def pre_filter(calls: Calls, plugins: Iterable[PreFilterPlugin], state: CycleState, nodes: NodeTable) -> Narrowed:
    """Run PreFilter: an unresolvable rejection ends it, an unschedulable one lets the others prepare."""
    names: frozenset[str] | None = None
    narrowing: list[str] = []
    reasons: list[str] = []
    rejected: Status | None = None
    for plugin in plugins:
        answer = calls.run(plugin, "PreFilter", plugin.pre_filter, state, calls.pod, nodes)
        if isinstance(answer, PreFilterResult):
            narrowing.append(plugin.name)
            reasons += [answer.reason] if answer.reason else []
            names = answer.node_names if names is None else names & answer.node_names
            if not names:
                return Narrowed(unresolvable(_unsatisfied(narrowing), *reasons), plugins=tuple(narrowing))
            continue
        status = calls.status(plugin, "PreFilter", answer)
        if status.is_skip:
            state.skip_filter.add(plugin.name)
        elif status.code is Code.UNSCHEDULABLE:
            rejected = status
        elif status.code is Code.UNRESOLVABLE:
            return Narrowed(status)
        elif not status.is_success:
            text = f'running PreFilter plugin "{plugin.name}": {calls.complaint(status)}'
            raise CycleError(Status(Code.ERROR, (text,), status.plugin, status.error))
    if rejected is not None:
        return Narrowed(rejected, plugins=tuple(narrowing))
    rows = None if names is None else sorted(r for r in map(nodes.row_of, names) if r is not None)
    return Narrowed(SUCCESS, rows, tuple(narrowing), tuple(reasons))


def _unsatisfied(narrowing: list[str]) -> str:
    if len(narrowing) == 1:
        return f"node(s) didn't satisfy plugin {narrowing[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowing))}] simultaneously"


def new_diagnosis(nodes: NodeTable, narrowed: Narrowed) -> Diagnosis:
    """An empty diagnosis; nodes that PreFilter left out have their reason already."""
    first_no = np.full(len(nodes), FEASIBLE, np.int32)
    diagnosis = Diagnosis(nodes, first_no)
    diagnosis.unschedulable_plugins.update(narrowed.plugins)
    if not narrowed.status.is_success:
        diagnosis.statuses.append(narrowed.status)
        first_no[:] = 0
        diagnosis.implicit = frozenset({0})
        diagnosis.pre_filter_message = narrowed.status.message
        _record_plugin(diagnosis, narrowed.status)
    elif narrowed.rows is not None:
        left_out = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed.plugins))}]"
        diagnosis.statuses.append(unresolvable(*narrowed.reasons or (left_out,)))
        first_no[:] = 0
        first_no[narrowed.rows] = FEASIBLE
        diagnosis.implicit = frozenset({0})
    return diagnosis


def _record_plugin(diagnosis: Diagnosis, status: Status) -> None:
    if status.plugin:
        diagnosis.unschedulable_plugins.add(status.plugin)
        if status.code is Code.PENDING:
            diagnosis.pending_plugins.add(status.plugin)


class Rejections:
    """Which nodes are rejected while filters are asked; and by whom and why, if somebody wants to know."""

    __slots__ = ("diagnosis", "first_no", "_is_told", "_numbers")

    def __init__(self, diagnosis: Diagnosis, *, is_told: bool) -> None:
        self.diagnosis = diagnosis
        self.first_no = diagnosis.first_no
        self._is_told = is_told
        self._numbers: dict[Status, int] = {}

    @classmethod
    def untold(cls, nodes: NodeTable, open_rows: Mask | None = None) -> Rejections:
        """Where the reasons do not matter; all rows are open, or some."""
        first_no = np.full(len(nodes), FEASIBLE, np.int32)
        if open_rows is not None:
            first_no[~open_rows] = 0
        return cls(Diagnosis(nodes, first_no, [_UNTOLD], implicit=frozenset({0})), is_told=False)

    def keep_only(self, rows: list[int]) -> None:
        """Reject all rows but these."""
        kept = self.first_no[rows]
        self.first_no[:] = 0
        self.first_no[rows] = kept

    def open_rows(self) -> Mask:
        """The rows that nobody rejected."""
        rows: Mask = self.first_no == FEASIBLE
        return rows

    def number(self, status: Status) -> int:
        """The number of a rejection."""
        if not self._is_told:
            return 0
        number = self._numbers.get(status)
        if number is None:
            number = self._numbers[status] = len(self.diagnosis.statuses)
            self.diagnosis.statuses.append(status)
        return number

    def record_plugins(self) -> None:
        """Remember who rejected nodes: those plugins are asked when something changes."""
        if self._is_told:
            for status, _ in self.diagnosis.counts():
                _record_plugin(self.diagnosis, status)

    def write(self, plugin: FilterPlugin, where: Mask, codes: Codes, reasons: Reasons) -> None:
        """Note what one plugin rejected."""
        if self._is_told or not filter_answers.all_reject(reasons):
            self.first_no[where] = filter_answers.fold(plugin, codes, where, reasons, self.number, broken)
        else:
            self.first_no[where] = 0


def filter_table(
    calls: Calls, plugins: Iterable[FilterPlugin], state: CycleState, nodes: NodeTable, rejections: Rejections
) -> None:
    """Ask filters in order about all nodes, until none is left that fits."""
    for plugin in plugins:
        if plugin.name in state.skip_filter:
            continue
        open_rows = rejections.open_rows()
        if not open_rows.any():
            return
        if plugin._filter_derived:
            _filter_each(calls, plugin, state, nodes, rejections, np.flatnonzero(open_rows))
            continue
        by_objects = plugin.filter_depends is Depends.OBJECT
        ask = filter_answers.asked_of_objects if by_objects else filter_answers.asked
        codes, reasons = ask(calls, plugin, state, nodes)
        if reasons is not None:
            rejections.write(plugin, open_rows & (codes != 0), codes, reasons)


def _filter_each(
    calls: Calls, plugin: FilterPlugin, state: CycleState, nodes: NodeTable, rejections: Rejections, rows: Rows
) -> None:
    for row in rows.tolist():
        status = first_rejection(calls, (plugin,), state, calls.pod, nodes.node(row))
        if not status.is_success:
            rejections.first_no[row] = rejections.number(status)


class Search:
    """The Filter stage of one cycle: which rows are feasible, nominated pods considered."""

    def __init__(
        self,
        calls: Calls,
        filters: NodeFilters,
        plugins: Sequence[FilterPlugin],
        state: CycleState,
        rejections: Rejections,
    ) -> None:
        self._calls = calls
        self._filters = filters
        self._plugins = plugins
        self._state = state
        self._pod = calls.pod
        self._rejections = rejections
        self._diagnosis = rejections.diagnosis
        self._nodes = rejections.diagnosis.nodes
        self._first_no = rejections.first_no

    def nominated_node(self, name: str) -> int | None:
        """The row of the pod's nominated node if it still fits."""
        row = self._nodes.row_of(name)
        if row is None:
            return None
        status = self._filters.fits(self._state, self._pod, self._nodes.node(row))
        if self._first_no[row] != FEASIBLE:
            # PreFilter left it out, so it is not taken; but as in kube-scheduler it is told what its filters say.
            if status.is_rejected:
                self._first_no[row] = self._rejections.number(status)
            return None
        # An error here is no reason to give up: the full search meets it again if it is there to stay.
        return row if status.is_success else None

    def run(self, few: list[int] | None) -> Rows:
        """Filter all nodes, or the few that PreFilter left."""
        if few is not None and len(few) <= FEW_NODES:
            self._one_by_one(few)
        else:
            filter_table(self._calls, self._plugins, self._state, self._nodes, self._rejections)
            self._consider_expected_pods()
        self._rejections.record_plugins()
        return np.flatnonzero(self._first_no == FEASIBLE)

    def _consider_expected_pods(self) -> None:
        """Judge nodes with nominated pods once more, with those there: a no then counts, a yes leaves it as it is."""
        if not any(True for _ in self._filters.nominated.nominated_nodes()):
            return
        if not self._filters.goes_by_columns(self._state):
            self._one_by_one(self._rows_with_expected_pods())
            return
        expected = self._filters.expecting.for_pod(self._pod, self._nodes)
        if expected is None:
            return
        try:
            self._judge_with(expected)
        except PluginError:
            # Node by node it is found again, if it was not the form of the question.
            self._one_by_one(self._rows_with_expected_pods())

    def _judge_with(self, expected: Expected) -> None:
        rows, first_no = expected.rows, self._first_no
        imagined = crowded(WhatIfRows(self._nodes, rows), expected.amounts, expected)
        judge = RowsJudge(self._filters.running(self._state), self._state, self._pod, imagined, None)
        verdicts = judge.first_nos()
        number = self._rejections.number
        numbers = np.array([FEASIBLE, *(number(as_status(each)) for each in verdicts.statuses)], np.int32)
        said_no = verdicts.codes != 0
        if self._diagnosis.implicit:
            said_no &= ~np.isin(first_no[rows], list(self._diagnosis.implicit))
        first_no[rows[said_no]] = numbers[verdicts.codes[said_no]]

    def _rows_with_expected_pods(self) -> Iterable[int]:
        for name in list(self._filters.nominated.nominated_nodes()):
            row = self._nodes.row_of(name)
            if row is None or int(self._first_no[row]) in self._diagnosis.implicit:
                continue
            if self._filters.expected(self._pod, name):
                yield row

    def _one_by_one(self, rows: Iterable[int]) -> None:
        for row in rows:
            status = self._filters.fits(self._state, self._pod, self._nodes.node(row))
            if status.is_error:
                raise CycleError(status)
            self._first_no[row] = FEASIBLE if status.is_success else self._rejections.number(status)
