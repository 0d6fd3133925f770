"""
Plain pods of one template that follow one another: decided one after another, committed together.

Where only sums decide, and no plugin has anything to do for such a pod but to filter and score it, one pod's decision
and the next have nothing between them but the sums of one node.  So these are stepped, and the columns follow when the
batch is committed.  ``Scheduler.schedule`` makes a batch; decisions are those of one pod at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from bayplan.engine import committing
from bayplan.engine.cache import ClusterCache
from bayplan.engine.kept.class_answers import ClassAnswers
from bayplan.engine.table import plain_sums
from bayplan.framework.decision import Decision
from bayplan.objects.pod import Pod


class Batch:
    """Some pods of one class, from now until ``commit``; nothing else may happen in between."""

    __slots__ = ("_answers", "_begin", "_cache", "_decisions", "_rows", "_sums", "_takes_more")

    def __init__(self, answers: ClassAnswers, pod: Pod, cache: ClusterCache, begin: Callable[[Pod], Decision]) -> None:
        self._answers = answers
        self._begin = begin
        self._sums = plain_sums(pod)
        self._cache = cache
        self._decisions: list[Decision] = []
        self._rows: list[int] = []
        self._takes_more = True

    @property
    def takes_more(self) -> bool:
        """May another pod be placed in this batch?"""
        return self._takes_more and self._answers.best.has_best

    def place(self, pod: Pod, number: int) -> Decision:
        """Decide for the next pod, of the same template, and count it on its node."""
        answers, nodes = self._answers, self._cache.nodes
        decision = self._begin(pod)
        row = answers.choose(decision, nodes, number)
        assert row is not None, "takes_more says whether there is one"
        # If it is not known what the sums come to then, the next pod is evaluated with the columns as they are then.
        self._takes_more = answers.takes(row, self._sums, nodes.sums)
        self._decisions.append(decision)
        self._rows.append(row)
        return decision

    def commit(self) -> None:
        """Enter everyone into the columns."""
        stepped = len(self._rows) - (not self._takes_more)
        if stepped > 0:
            committing.commit_alike(self._decisions[:stepped], self._rows[:stepped], self._cache)
            self._answers.position = self._cache.journal.position
        for decision in self._decisions[max(stepped, 0) :]:
            committing.assume(decision, self._cache)
        self._decisions, self._rows = [], []
