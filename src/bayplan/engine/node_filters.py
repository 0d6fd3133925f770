"""
The filters of one profile, for one node at a time, with the pods that are nominated there.

``engine.filtering`` asks about single nodes here; preemption reaches it through its handle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bayplan.engine.imagined_filters import ImaginedFilters
from bayplan.engine.nominated_sums import Expected, NominatedSums
from bayplan.engine.plugin_calls import Calls, CycleError
from bayplan.engine.promises import NOTHING, Promises
from bayplan.engine.store import Store
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.handle import NominatedPods
from bayplan.framework.plugin import FilterPlugin, PreFilterExtensions
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.framework.preemption.what_if_rows import WhatIfRows
from bayplan.framework.profile import Profile
from bayplan.framework.promise import Depends
from bayplan.framework.snapshot import NodeView
from bayplan.framework.status import SUCCESS, Code, Status
from bayplan.objects.pod import Pod

_OF_COLUMNS = (Depends.OBJECT, Depends.AMOUNTS)


def first_rejection(
    calls: Calls, plugins: Iterable[FilterPlugin], state: CycleState, pod: Pod, node: NodeView
) -> Status:
    """Ask filters in order about one node; the first rejection, or success.  Any other answer is a ``CycleError``."""
    for plugin in plugins:
        status = calls.verdict(plugin, "Filter", plugin.filter_node, state, pod, node)
        if not status.is_success:
            if not status.is_rejected:
                raise broken(status.by(plugin.name))
            return status
    return SUCCESS


def broken(status: Status) -> CycleError:
    """The error that an answer becomes which no filter may give."""
    text = f'running "{status.plugin}" filter plugin: {Calls.complaint(status)}'
    return CycleError(Status(Code.ERROR, (text,), status.plugin, status.error))


class NodeFilters:
    """A profile's filters and who is nominated where."""

    def __init__(self, profile: Profile, nominated: NominatedPods, objects: Store) -> None:
        self.profile = profile
        self.promises = Promises(profile, objects)
        self.nominated = nominated
        self.expecting = NominatedSums(nominated)
        self._plugins: Sequence[FilterPlugin] = profile.extension("filter")
        self._extensions = tuple(p for p in profile.extension("pre_filter") if isinstance(p, PreFilterExtensions))

    def running(self, state: CycleState) -> list[FilterPlugin]:
        """The filters that take part in this cycle."""
        return [plugin for plugin in self._plugins if plugin.name not in state.skip_filter]

    def fits(self, state: CycleState, pod: Pod, node: NodeView) -> Status:
        """
        The node's first rejection, an error, or success.  Pods nominated here with at least this pod's priority count
        as present; the pod must also fit without them, since they may never come.
        """
        calls = Calls(pod)
        try:
            expected = self.expected(pod, node.name)
            if expected:
                imagined, changed = WhatIfNode(node), state.clone()
                for other in expected:
                    imagined.add_pod(other)
                    self.add_pod(changed, pod, other, imagined)
                status = first_rejection(calls, self.running(changed), changed, pod, imagined)
                if not status.is_success:
                    return status
            return first_rejection(calls, self.running(state), state, pod, node)
        except CycleError as error:
            return error.status

    def goes_by_columns(self, state: CycleState, calls: Calls) -> bool:
        """Do node objects and amounts settle every filter of this cycle?"""
        promised = self.promises.of(calls)
        depends = (promised.get(plugin.name, NOTHING).filter for plugin in self.running(state))
        return all(each in _OF_COLUMNS for each in depends) and not any(True for _ in self._following(state))

    def over_rows(self, state: CycleState, pod: Pod, rows: WhatIfRows) -> ImaginedFilters | None:
        """``fits`` for many nodes at once, where that can be."""
        calls = Calls(pod)
        if not self.goes_by_columns(state, calls):
            return None
        return self.imagined(state, calls, rows, self.expecting.for_pod(pod, rows.whole))

    def imagined(self, state: CycleState, calls: Calls, rows: WhatIfRows, expected: Expected | None) -> ImaginedFilters:
        """The filters of this cycle, which goes by columns, over some rows."""
        running, promised = self.running(state), self.promises.of(calls)
        of_objects = [each for each in running if promised[each.name].filter is Depends.OBJECT]
        return ImaginedFilters(calls, running, of_objects, state, rows, expected)

    def expected(self, pod: Pod, node_name: str) -> list[Pod]:
        """Nominated pods that this pod must leave room for."""
        return [
            other
            for other in self.nominated.nominated(node_name)
            if other.uid != pod.uid and other.priority >= pod.priority
        ]

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        for plugin in self._following(state):
            Calls(pod).run(plugin, "AddPod", plugin.add_pod, state, pod, other, node)

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        for plugin in self._following(state):
            Calls(pod).run(plugin, "RemovePod", plugin.remove_pod, state, pod, other, node)

    def _following(self, state: CycleState) -> Iterable[PreFilterExtensions]:
        return (plugin for plugin in self._extensions if plugin.name not in state.skip_filter)
