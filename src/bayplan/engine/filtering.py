"""
PreFilter and Filter: which nodes can take a pod, and the first reason for each that cannot.

``engine.evaluation`` asks for one pod, ``engine.kept`` for all pods of a class.  Plugins answer for the whole table at
once; nodes with nominated pods, and searches narrowed to a few nodes, are judged one by one with the same plugins'
one-node form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayplan.engine import filter_answers
from bayplan.engine.filter_answers import Reasons
from bayplan.engine.imagined_filters import crowded
from bayplan.engine.node_filters import NodeFilters, broken, first_rejection
from bayplan.engine.plugin_calls import Calls, CycleError
from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.diagnosis import FEASIBLE, Diagnosis
from bayplan.framework.plugin import FilterPlugin, PreFilterPlugin
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.results import PreFilterResult, Verdicts
from bayplan.framework.snapshot import Codes, Mask, NodeTable, Rows
from bayplan.framework.status import SUCCESS, Code, Status, as_status, unresolvable

# Up to this many candidate nodes, asking plugins node by node is cheaper than passes over the table.
FEW_NODES = 4


@dataclass(frozen=True, slots=True)
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


ALL_NODES = Narrowed(SUCCESS)


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
            raise CycleError(calls.misplaced(plugin, "PreFilter", status))
    if rejected is not None:
        return Narrowed(rejected, plugins=tuple(narrowing))
    if names is None:
        return ALL_NODES
    rows = sorted(row for row in map(nodes.row_of, names) if row is not None)
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
    """Which nodes are still in question while filters are asked; and why the others are not, if that is to be told."""

    __slots__ = ("diagnosis", "nodes", "open", "_numbers")

    def __init__(self, nodes: NodeTable, open_rows: Mask, diagnosis: Diagnosis | None = None) -> None:
        self.nodes = nodes
        self.open = open_rows
        """Rows that nobody rejected."""
        self.diagnosis = diagnosis
        self._numbers: dict[Status, int] = {}

    @classmethod
    def told(cls, diagnosis: Diagnosis) -> Rejections:
        """Where every rejection goes into a diagnosis, in which some rows may be rejected already."""
        return cls(diagnosis.nodes, diagnosis.first_no == FEASIBLE, diagnosis)

    def reject(self, row: int, status: Status) -> None:
        """One node is rejected."""
        self.open[row] = False
        if self.diagnosis is not None:
            self.diagnosis.first_no[row] = self._number(self.diagnosis, status)

    def accept(self, row: int) -> None:
        """One node is in question again."""
        self.open[row] = True
        if self.diagnosis is not None:
            self.diagnosis.first_no[row] = FEASIBLE

    def reject_some(self, plugin: FilterPlugin, codes: Codes, reasons: Reasons) -> None:
        """What one plugin rejected; of the open rows that counts."""
        diagnosis = self.diagnosis
        if diagnosis is not None or not filter_answers.all_reject(reasons):
            where = self.open & (codes != 0)
            number_of = partial(self._number, diagnosis) if diagnosis is not None else _unnumbered
            numbers = filter_answers.fold(plugin, codes, where, reasons, number_of, broken)
            if diagnosis is not None:
                diagnosis.first_no[where] = numbers
        self.open &= codes == 0

    def reject_rows(self, rows: Rows, verdicts: Verdicts) -> None:
        """What was found of some rows, those that were never in question excepted."""
        rejected = verdicts.codes != 0
        diagnosis = self.diagnosis
        if diagnosis is not None:
            if diagnosis.implicit:
                rejected &= ~np.isin(diagnosis.first_no[rows], list(diagnosis.implicit))
            numbers = [self._number(diagnosis, as_status(each)) for each in verdicts.statuses]
            diagnosis.first_no[rows[rejected]] = np.array([FEASIBLE, *numbers], np.int32)[verdicts.codes[rejected]]
        self.open[rows[rejected]] = False

    def is_left_out(self, row: int) -> bool:
        """Was the row never in question?  Where nothing is told, one that is rejected need not be asked about again."""
        if self.diagnosis is None:
            return not self.open[row]
        return int(self.diagnosis.first_no[row]) in self.diagnosis.implicit

    def feasible(self) -> Rows:
        """The rows that are left, with everybody who rejected the others on record."""
        if self.diagnosis is not None:
            for status, _ in self.diagnosis.counts():
                _record_plugin(self.diagnosis, status)
        return self.open.nonzero()[0]

    def _number(self, diagnosis: Diagnosis, status: Status) -> int:
        number = self._numbers.get(status)
        if number is None:
            number = self._numbers[status] = len(diagnosis.statuses)
            diagnosis.statuses.append(status)
        return number


def _unnumbered(status: Status) -> int:
    return 0


def filter_table(calls: Calls, plugins: Iterable[FilterPlugin], state: CycleState, rejections: Rejections) -> None:
    """Ask filters in order about all nodes, until none is left that fits."""
    nodes, skipped = rejections.nodes, state.skip_filter
    for plugin in plugins:
        if plugin.name in skipped:
            continue
        if not np.count_nonzero(rejections.open):
            return
        if plugin._filter_derived:
            for row in rejections.open.nonzero()[0].tolist():
                status = first_rejection(calls, (plugin,), state, calls.pod, nodes.node(row))
                if not status.is_success:
                    rejections.reject(row, status)
            continue
        codes, reasons = filter_answers.asked(calls, plugin, state, nodes)
        if rejections.diagnosis is not None:
            filter_answers.keep(state, plugin, nodes, (codes, reasons))
        if reasons is not None:
            rejections.reject_some(plugin, codes, reasons)


def nominated_row(
    name: str, calls: Calls, filters: NodeFilters, state: CycleState, rejections: Rejections
) -> int | None:
    """The row of a pod's nominated node if the pod still fits there."""
    nodes = rejections.nodes
    row = nodes.row_of(name)
    if row is None:
        return None
    status = filters.fits(state, calls.pod, nodes.node(row))
    if not rejections.open[row]:
        # PreFilter left it out, so it is not taken; but as in kube-scheduler it is told what its filters say.
        if status.is_rejected:
            rejections.reject(row, status)
        return None
    # An error here is no reason to give up: the full search meets it again if it is there to stay.
    return row if status.is_success else None


def search(
    calls: Calls,
    filters: NodeFilters,
    plugins: Sequence[FilterPlugin],
    state: CycleState,
    rejections: Rejections,
    few: list[int] | None,
) -> Rows:
    """Filter all nodes, or the few that PreFilter left, nominated pods considered: the feasible rows."""
    if few is not None and len(few) <= FEW_NODES:
        _one_by_one(few, calls, filters, state, rejections)
    else:
        filter_table(calls, plugins, state, rejections)
        if any(True for _ in filters.nominated.nominated_nodes()):
            _consider_expected_pods(calls, filters, state, rejections)
    return rejections.feasible()


def _consider_expected_pods(calls: Calls, filters: NodeFilters, state: CycleState, rejections: Rejections) -> None:
    """Judge nodes with nominated pods once more, with those there: a no then counts, a yes leaves it as it is."""
    pod, nodes = calls.pod, rejections.nodes
    if filters.goes_by_columns(state, calls):
        expected = filters.expecting.for_pod(pod, nodes)
        if expected is None:
            return
        imagined = crowded(WhatIfRows(nodes, expected.rows), expected.amounts, expected)
        try:
            verdicts = filters.imagined(state, calls, imagined, None).first_rejections()
        except PluginError:
            pass  # node by node it is found again, if it was not the form of the question
        else:
            rejections.reject_rows(expected.rows, verdicts)
            return
    rows = (nodes.row_of(name) for name in list(filters.nominated.nominated_nodes()) if filters.expected(pod, name))
    asked = (row for row in rows if row is not None and not rejections.is_left_out(row))
    _one_by_one(asked, calls, filters, state, rejections)


def _one_by_one(
    rows: Iterable[int], calls: Calls, filters: NodeFilters, state: CycleState, rejections: Rejections
) -> None:
    for row in rows:
        status = filters.fits(state, calls.pod, rejections.nodes.node(row))
        if status.is_error:
            raise CycleError(status)
        if status.is_success:
            rejections.accept(row)
        else:
            rejections.reject(row, status)
