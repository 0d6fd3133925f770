"""
Pods of one template in a row: decided one after another, entered into the columns together.

Where only sums decide, and no plugin has anything to do for such a pod but to filter and score it, one pod's decision
and the next have nothing between them but the sums of one node.  So they are stepped, and what every column must know
waits until the run ends.  ``Scheduler.schedule_some`` asks ``engine.class_cache`` for a run; decisions are the same as
without.
"""

from __future__ import annotations

from bayplan.engine.amounts import Sums
from bayplan.engine.cache import ClusterCache
from bayplan.engine.class_entry import ClassEntry
from bayplan.framework.decision import Decision
from bayplan.objects.pod import Pod


class ClassRun:
    """Some pods of one class, from now until ``end``; nothing else may happen in between."""

    __slots__ = ("_cache", "_change", "_entry", "_is_over", "_pods", "_profile_name", "_rows")

    def __init__(self, entry: ClassEntry, change: Sums, cache: ClusterCache, profile_name: str) -> None:
        self._entry = entry
        self._change = change
        self._cache = cache
        self._profile_name = profile_name
        self._pods: list[Pod] = []
        self._rows: list[int] = []
        self._is_over = False

    @property
    def goes_on(self) -> bool:
        """May another pod be placed in this run?"""
        return not self._is_over and self._entry.blocks.has_best

    def place(self, pod: Pod, number: int) -> Decision:
        """Decide for the next pod, of the same template, and count it on its node."""
        entry, cache = self._entry, self._cache
        picked = entry.blocks.pick(number)
        assert picked is not None, "goes_on says whether there is one"
        row, ties = picked
        name = cache.nodes.names[row]
        placed = pod.assigned_to(name)
        if entry.takes(row, self._change, cache.nodes.amounts):
            self._pods.append(placed)
            self._rows.append(row)
        else:
            # What this sum leads to is not known yet.  The next pod asks for it, with the columns as they are then.
            self.end()
            cache.assume(placed)
            self._is_over = True
        return Decision(pod, self._profile_name, name, ties=ties, state=entry.answers.state.copy())

    def end(self) -> None:
        """Enter everyone into the columns."""
        if self._rows:
            self._cache.assume_alike(self._pods, self._rows)
            self._entry.position = self._cache.position()
            self._pods, self._rows = [], []
