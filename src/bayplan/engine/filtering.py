"""
PreFilter and Filter: which nodes can take a pod, and the first reason for each that cannot.

Called by ``scheduling_cycle.decide``.  Plugins answer for the whole table at once; nodes with nominated pods,
and searches narrowed to a few nodes, are judged one by one with the same plugins' one-node form.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayplan.engine.expecting import Expected, ExpectedPods
from bayplan.engine.judging import RowsJudge, answer_of_objects, checked, crowded, is_by_columns
from bayplan.engine.running import Calls
from bayplan.errors import PluginError
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.diagnosis import FEASIBLE, UNVISITED, Diagnosis
from bayplan.framework.handle import NominatedPods
from bayplan.framework.plugin import (
    Depends,
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
)
from bayplan.framework.profile import Profile
from bayplan.framework.snapshot import Codes, Mask, NodeTable, NodeView, Rows
from bayplan.framework.status import SUCCESS, Code, Reason, Status, as_status, unresolvable
from bayplan.framework.what_if import WhatIfNode
from bayplan.framework.what_if_rows import WhatIfRows
from bayplan.objects.pod import Pod

# Up to this many candidate nodes, asking plugins node by node is cheaper than passes over the table.
FEW_NODES = 4


@dataclass(slots=True)
class Narrowed:
    """What PreFilter left: the status that ended it, or the rows still in question (``None``: all)."""

    status: Status
    rows: list[int] | None = None
    plugins: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """What plugins that narrowed the search say of the nodes they left out."""


def pre_filter(calls: Calls, profile: Profile, state: CycleState, pod: Pod, nodes: NodeTable) -> Narrowed:
    """Run every PreFilter plugin: an unresolvable no ends it, an unschedulable no lets the others prepare."""
    names: frozenset[str] | None = None
    narrowing: list[str] = []
    reasons: list[str] = []
    rejected: Status | None = None
    for plugin in profile.extension("pre_filter"):
        assert isinstance(plugin, PreFilterPlugin)
        answer = calls.run(plugin, "PreFilter", plugin.pre_filter, state, pod, nodes)
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
            return Narrowed(_error(text, status))
    if rejected is not None:
        return Narrowed(rejected, plugins=tuple(narrowing))
    rows = None if names is None else sorted(r for r in map(nodes.row_of, names) if r is not None)
    return Narrowed(SUCCESS, rows, tuple(narrowing), tuple(reasons))


def _unsatisfied(narrowing: list[str]) -> str:
    if len(narrowing) == 1:
        return f"node(s) didn't satisfy plugin {narrowing[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowing))}] simultaneously"


def _error(text: str, status: Status) -> Status:
    return Status(Code.ERROR, (text,), status.plugin, status.error)


def _broken(status: Status) -> Status:
    """The error that an answer becomes which no filter may give."""
    return _error(f'running "{status.plugin}" filter plugin: {Calls.complaint(status)}', status)


class Filters:
    """The filters of one profile, for one node at a time.  Preemption reaches them through its handle."""

    def __init__(self, profile: Profile, nominated: NominatedPods) -> None:
        self.profile = profile
        self.nominated = nominated
        self.expecting = ExpectedPods(nominated)
        self._plugins = tuple(p for p in profile.extension("filter") if isinstance(p, FilterPlugin))
        self._extensions = tuple(p for p in profile.extension("pre_filter") if isinstance(p, PreFilterExtensions))

    def running(self, state: CycleState) -> list[FilterPlugin]:
        """The filters that take part in this cycle."""
        return [plugin for plugin in self._plugins if plugin.name not in state.skip_filter]

    def fits(self, state: CycleState, pod: Pod, node: NodeView) -> Status:
        """
        The node's first no, or success.  Pods nominated here with at least this pod's priority count as
        present; the pod must also fit without them, since they may never come.
        """
        expected = self.expected(pod, node.name)
        if expected:
            imagined, changed = WhatIfNode(node), state.clone()
            for other in expected:
                imagined.add_pod(other)
                self.add_pod(changed, pod, other, imagined)
            status = self.first_no(changed, pod, imagined)
            if not status.is_success:
                return status
        return self.first_no(state, pod, node)

    def goes_by_columns(self, state: CycleState) -> bool:
        """Do node objects and amounts settle every filter of this cycle?"""
        return is_by_columns(self.running(state)) and not any(True for _ in self._following(state))

    def over_rows(self, state: CycleState, pod: Pod, rows: WhatIfRows) -> RowsJudge | None:
        """``fits`` for many nodes at once, where that can be."""
        if not self.goes_by_columns(state):
            return None
        return RowsJudge(self.running(state), state, pod, rows, self.expecting.for_pod(pod, rows.whole))

    def expected(self, pod: Pod, node_name: str) -> list[Pod]:
        """Nominated pods that this pod must leave room for."""
        return [
            other
            for other in self.nominated.nominated(node_name)
            if other.uid != pod.uid and other.priority >= pod.priority
        ]

    def first_no(self, state: CycleState, pod: Pod, node: NodeView) -> Status:
        """Ask the plugins in order about one node; stop at the first no."""
        calls = Calls(pod)
        for plugin in self.running(state):
            status = calls.verdict(plugin, "Filter", plugin.filter_node, state, pod, node)
            if not status.is_success:
                return status if status.is_rejected else _broken(status.by(plugin.name))
        return SUCCESS

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        for plugin in self._following(state):
            Calls(pod).run(plugin, "AddPod", plugin.add_pod, state, pod, other, node)

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        for plugin in self._following(state):
            Calls(pod).run(plugin, "RemovePod", plugin.remove_pod, state, pod, other, node)

    def _following(self, state: CycleState) -> Iterable[PreFilterExtensions]:
        return (plugin for plugin in self._extensions if plugin.name not in state.skip_filter)


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
        record_plugin(diagnosis, narrowed.status)
    elif narrowed.rows is not None:
        left_out = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(narrowed.plugins))}]"
        diagnosis.statuses.append(unresolvable(*narrowed.reasons or (left_out,)))
        first_no[:] = 0
        first_no[narrowed.rows] = FEASIBLE
        diagnosis.implicit = frozenset({0})
    return diagnosis


def record_plugin(diagnosis: Diagnosis, status: Status) -> None:
    """Remember who said no: those plugins are asked when something changes."""
    if status.plugin:
        diagnosis.unschedulable_plugins.add(status.plugin)
        if status.code is Code.PENDING:
            diagnosis.pending_plugins.add(status.plugin)


class Search:
    """The Filter stage of one cycle: fills the diagnosis and gives the feasible rows."""

    def __init__(self, calls: Calls, filters: Filters, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> None:
        self._calls = calls
        self._filters = filters
        self._state = state
        self._pod = pod
        self._diagnosis = diagnosis
        self._nodes = diagnosis.nodes
        self._first_no = diagnosis.first_no
        self._numbers: dict[Status, int] = {}

    def nominated_node(self, name: str) -> int | None:
        """The row of the pod's nominated node if it still fits."""
        row = self._nodes.row_of(name)
        if row is None:
            return None
        status = self._filters.fits(self._state, self._pod, self._nodes.node(row))
        if self._first_no[row] != FEASIBLE:
            # PreFilter left it out, so it is not taken; but as in kube-scheduler it is told what its filters say.
            if status.is_rejected:
                self._first_no[row] = self._number(status)
            return None
        # An error here is no reason to give up: the full search meets it again if it is there to stay.
        return row if status.is_success else None

    def run(self, few: list[int] | None) -> Rows:
        """Filter all nodes, or the few that PreFilter left."""
        if few is not None and len(few) <= FEW_NODES:
            self._one_by_one(few)
        else:
            for plugin in self._filters.running(self._state):
                if not self._plugin(plugin):
                    break
            self._consider_expected_pods()
        for status, _ in self._diagnosis.counts():
            record_plugin(self._diagnosis, status)
        return np.flatnonzero(self._first_no == FEASIBLE)

    def _plugin(self, plugin: FilterPlugin) -> bool:
        """One plugin over the table; False once no node is left."""
        open_rows = self._first_no == FEASIBLE
        if not open_rows.any():
            return False
        if plugin._filter_derived:
            self._each(plugin, np.flatnonzero(open_rows))
            return True
        if plugin.filter_depends is Depends.OBJECT:
            codes, reasons = answer_of_objects(self._calls, plugin, self._state, self._nodes)
        else:
            answer = self._calls.run(plugin, "Filter", plugin.filter, self._state, self._pod, self._nodes)
            codes, reasons = checked(self._calls, plugin, answer, len(self._nodes))
        if reasons is not None:
            self._write(plugin, open_rows & (codes != 0), codes, reasons)
        return True

    def _each(self, plugin: FilterPlugin, rows: Rows) -> None:
        for row in rows.tolist():
            status = self._calls.verdict(
                plugin, "Filter", plugin.filter_node, self._state, self._pod, self._nodes.node(row)
            )
            if not status.is_success:
                if not status.is_rejected:
                    raise FilterError(_broken(status.by(plugin.name)))
                self._first_no[row] = self._number(status)

    def _write(self, plugin: FilterPlugin, said_no: Mask, codes: Codes, reasons: tuple[Status | Reason, ...]) -> None:
        """Note the nos of one plugin, each distinct status once."""
        numbers = np.zeros(len(reasons) + 1, np.int32)
        given = codes[said_no]
        for code in np.flatnonzero(np.bincount(given.astype(np.intp, copy=False))).tolist():
            status = as_status(reasons[code - 1]).by(plugin.name)
            if not status.is_rejected:
                raise FilterError(_broken(status))
            numbers[code] = self._number(status)
        self._first_no[said_no] = numbers[given]

    def _number(self, status: Status) -> int:
        number = self._numbers.get(status)
        if number is None:
            number = self._numbers[status] = len(self._diagnosis.statuses)
            self._diagnosis.statuses.append(status)
        return number

    def _consider_expected_pods(self) -> None:
        """Judge nodes with nominated pods once more, with those there: a no then counts, a yes leaves it as it is."""
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
        numbers = np.array([FEASIBLE, *(self._number(as_status(each)) for each in verdicts.statuses)], np.int32)
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
                raise FilterError(status)
            self._first_no[row] = FEASIBLE if status.is_success else self._number(status)


class FilterError(Exception):
    """A filter ended the cycle with an error status."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


def how_many(total: int, percentage: int) -> int:
    """How many feasible nodes are enough; ``percentage`` 0 adapts to the size as kube-scheduler does."""
    if total < 100:
        return total
    if percentage == 0:
        percentage = max(5, 50 - total // 125)
    return total if percentage >= 100 else max(100, total * percentage // 100)


def stop_early(diagnosis: Diagnosis, order: Rows, start: int, enough: int) -> tuple[Rows, int]:
    """
    Keep only what a search that starts at ``start`` and stops after ``enough`` feasible nodes would have
    seen.  Gives the feasible rows and where the next search starts.
    """
    first_no = diagnosis.first_no
    rotated = np.roll(order, -start)
    is_feasible = first_no[rotated] == FEASIBLE
    feasible_at = np.flatnonzero(is_feasible)
    if len(feasible_at) > enough:
        # The search ends on finding one more than enough; that one is dropped with everything behind it.
        first_no[rotated[feasible_at[enough] :]] = UNVISITED
    feasible = np.flatnonzero(first_no == FEASIBLE)
    explicit = int(np.count_nonzero(first_no >= 0))
    if diagnosis.implicit:
        explicit -= int(np.count_nonzero(np.isin(first_no, list(diagnosis.implicit))))
    return feasible, (start + len(feasible) + explicit) % max(len(order), 1)


def error_status(error: PluginError) -> Status:
    """The status of a cycle that a plugin broke."""
    text = {
        "PreFilter": f'running PreFilter plugin "{error.plugin}": {error}',
        "Filter": f'running "{error.plugin}" filter plugin: {error}',
        "PreScore": f'running PreScore plugin "{error.plugin}": {error}',
        "AddPod": f'running AddPod on PreFilter plugin "{error.plugin}": {error}',
        "RemovePod": f'running RemovePod on PreFilter plugin "{error.plugin}": {error}',
        "Score": f'running Score plugins: plugin "{error.plugin}" failed with: {error}',
        "NormalizeScore": f"running Normalize on Score plugins: {error}",
    }.get(error.extension_point, f'running {error.extension_point} plugin "{error.plugin}": {error}')
    return Status(Code.ERROR, (text,), error.plugin, error)
