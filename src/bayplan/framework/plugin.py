"""
The contract: one small base class per extension point.  A plugin's bases say what it takes part in.

Filter and Score exist in two forms.  The bare verb (``filter``, ``score``) takes the whole node table and
answers with one number per node; the ``_node`` form takes one node.  Write either: the base class derives
the other.  The engine calls whichever is cheaper, so both must say the same (``bayplan.testing.
assert_forms_agree`` proves it).

Every method that may say no returns a ``Verdict``: ``None`` is yes, a ``Reason`` or ``Status`` is no.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from bayplan.framework.cycle_state import CycleState
from bayplan.framework.events import ON_ANYTHING, On
from bayplan.framework.promise import Promise
from bayplan.framework.results import PostFilterResult, PreFilterResult, Verdicts, Wait
from bayplan.framework.snapshot import Codes, NodeTable, NodeView, Rows, Scores
from bayplan.framework.status import Reason, Status, Verdict, as_status
from bayplan.objects.kinds import Kind, register
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate

if TYPE_CHECKING:
    from bayplan.framework.diagnosis import Diagnosis
    from bayplan.framework.handle import Handle
    from bayplan.framework.preemption.victims import Candidate

PASS = 0
"""The code of a node that passes a filter."""

MIN_SCORE = 0
MAX_SCORE = 100
MAX_WEIGHT = 2**31 - 1
"""As in kube-scheduler's configuration; so no total of scores is too large."""


class Plugin:
    """What every plugin has: a registered name, its reasons, its settings and when to ask it again."""

    name: ClassVar[str]
    Args: ClassVar[type[Any] | None] = None
    reasons: ClassVar[tuple[Reason, ...]] = ()
    reads: ClassVar[tuple[str | Kind, ...]] = ()
    """
    Kinds it reads through ``handle.objects``; files are read for these, and the live scheduler watches these and no
    others.  A ``Kind`` describes one that Kubernetes does not have by itself.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not isinstance(cls.reasons, tuple) or not all(isinstance(reason, Reason) for reason in cls.reasons):
            raise TypeError(f"{cls.__name__}.reasons is not a tuple of Reason: write reasons = (MY_REASON,)")
        for kind in cls.reads if isinstance(cls.reads, tuple) else ():
            if isinstance(kind, Kind):
                register(kind)

    @classmethod
    def kinds_read(cls) -> tuple[str, ...]:
        """The names of what it ``reads``."""
        return tuple(kind.called if isinstance(kind, Kind) else kind for kind in cls.reads)

    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        self.args = args
        self.handle = handle

    def requeue_on(self) -> Sequence[On]:
        """Which changes could turn this plugin's no into a yes.  Not overridden: any change at all."""
        return ON_ANYTHING

    def promise(self, template: PodTemplate) -> Promise | None:
        """What its answers for the pods of a template depend on; ``None`` promises nothing, and it is always asked."""
        return None

    def tell(self, pod: Pod, node: NodeView) -> Sequence[str]:
        """The numbers it goes by on one node, a line each, for people who ask ``explain``.  Most have none to tell."""
        return ()

    def observe(self, kind: str, old: Any, new: Any) -> None:
        """An object of a kind that it ``reads`` came (no ``old``), changed or went (no ``new``)."""

    async def background(self) -> None:
        """
        Work beside scheduling.  Begun once the whole cluster is known and this scheduler may write to it: up to its
        first wait before any pod is scheduled, then beside that until the end.  What it raises is logged.
        """

    def code(self, reason: Reason) -> int:
        """The number that stands for a reason in the array that ``filter`` returns."""
        return self.reasons.index(reason) + 1


# What a plugin must write raises NotImplementedError until it does.  The methods are not abstract, since of the two
# forms of filter and score a plugin may write either.

# -- before the cycle --


class PreEnqueuePlugin(Plugin):
    def pre_enqueue(self, pod: Pod) -> Verdict:
        """May the pod enter the queue at all?  A no leaves it gated."""
        raise NotImplementedError


@dataclass(slots=True)
class QueuedPod:
    """A pod in the queue, with what the queue knows of it.  Times are epoch seconds."""

    pod: Pod
    timestamp: float
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    initial_attempt_at: float | None = None
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    gating_plugin: str = ""
    flushed_at: float | None = None
    backoff_expires_at: float | None = None


class QueueSortPlugin(Plugin):
    def queue_key(self, queued: QueuedPod) -> Any:
        """The pod with the smallest key is scheduled first."""
        raise NotImplementedError


# -- filtering --


class PreFilterPlugin(Plugin):
    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult | Verdict:
        """Prepare the cycle, narrow the nodes, reject the pod, or return ``SKIP`` to sit this one out."""
        raise NotImplementedError


class PreFilterExtensions(PreFilterPlugin):
    """For plugins whose prepared state must follow when a pod is imagined on, or off, a node."""

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        raise NotImplementedError

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        raise NotImplementedError


class FilterPlugin(Plugin):
    _filter_derived: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._filter_derived = _derived(cls, FilterPlugin, "filter", "filter_node")

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes | Verdicts:
        """For every node 0 (it fits) or the number of the reason it does not."""
        codes = np.zeros(len(nodes), np.uint16)
        statuses: dict[Status, int] = {}
        for row in range(len(nodes)):
            status = as_status(self.filter_node(state, pod, nodes.node(row)))
            if not status.is_success:
                codes[row] = statuses.setdefault(status, len(statuses) + 1)
        return Verdicts(codes, tuple(statuses))

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        """Why this node does not fit, or ``None``."""
        answer = self.filter(state, pod, node.as_table())
        codes, reasons = (answer.codes, answer.statuses) if isinstance(answer, Verdicts) else (answer, self.reasons)
        if len(codes) != 1 or not 0 <= codes[0] <= len(reasons):
            raise ValueError(f"filter returned {codes!r} for one node, and there are {len(reasons)} reasons")
        return reasons[int(codes[0]) - 1] if codes[0] else None


# -- after filtering --


class PostFilterPlugin(Plugin):
    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PostFilterResult | Verdict:
        """No node fits: can this plugin make room?  Success ends the search for help."""
        raise NotImplementedError

    def choose(self, candidates: tuple[Candidate, ...] | Status) -> PostFilterResult | Verdict:
        """
        Choose anew: this is what extenders left of the result's ``candidates``, or why they could not say.

        Only a plugin whose result has candidates needs it.
        """
        raise NotImplementedError


# -- scoring --


class PreScorePlugin(Plugin):
    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        """Prepare scoring over the feasible rows; ``SKIP`` leaves this plugin's score out (it adds 0)."""
        raise NotImplementedError


class ScorePlugin(Plugin):
    default_weight: ClassVar[int] = 1
    """How much its scores count where the profile writes no weight."""
    _score_derived: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._score_derived = _derived(cls, ScorePlugin, "score", "score_node")

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        """One integer for every node; after ``normalize`` it must lie in 0..100."""
        scores = [self.score_node(state, pod, nodes.node(row)) for row in range(len(nodes))]
        return np.array(scores, np.int64)

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        """One node's score."""
        return int(self.score(state, pod, node.as_table())[0])

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        """Bring raw scores of the feasible rows (in their order) into 0..100.  By default they are there."""
        return scores


# -- committing and binding --


class ReservePlugin(Plugin):
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        """The pod is assumed on the node: take what it needs."""
        raise NotImplementedError

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Give it back.  Also called when ``reserve`` never ran, so it must not mind."""
        raise NotImplementedError


class PermitPlugin(Plugin):
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Verdict | Wait:
        raise NotImplementedError


MaybeAwaitable: TypeAlias = "Verdict | Awaitable[Verdict]"


class PreBindPlugin(Plugin):
    allows_parallel: ClassVar[bool] = False

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Verdict:
        """``None``: there will be work to do.  ``SKIP``: nothing to do for this pod."""
        return None

    def pre_bind_timeout_s(self) -> float | None:
        """How long ``pre_bind`` may take; ``None`` leaves it to the engine, which waits 15 minutes."""
        return None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> MaybeAwaitable:
        raise NotImplementedError


class BindPlugin(Plugin):
    binds_every_pod: ClassVar[bool] = False
    """It never returns ``SKIP``, so that bind plugins behind it have nothing to do."""

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> MaybeAwaitable:
        """Bind the pod, or return ``SKIP`` to leave it to the next bind plugin."""
        raise NotImplementedError


class PostBindPlugin(Plugin):
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> Awaitable[None] | None:
        """The pod is bound.  What is returned is waited for before the pod's binding cycle ends, up to a minute."""
        raise NotImplementedError


EXTENSION_POINTS: dict[str, type[Plugin]] = {
    "pre_enqueue": PreEnqueuePlugin,
    "queue_sort": QueueSortPlugin,
    "pre_filter": PreFilterPlugin,
    "filter": FilterPlugin,
    "post_filter": PostFilterPlugin,
    "pre_score": PreScorePlugin,
    "score": ScorePlugin,
    "reserve": ReservePlugin,
    "permit": PermitPlugin,
    "pre_bind": PreBindPlugin,
    "bind": BindPlugin,
    "post_bind": PostBindPlugin,
}
"""Extension points in the order a pod meets them; PreFilterExtensions and normalize ride along."""


def _derived(cls: type[Plugin], base: type[Plugin], table: str, one: str) -> bool:
    """Is the all-nodes form derived from the one-node form?  A class that has neither is refused."""
    has_table = getattr(cls, table) is not getattr(base, table)
    has_one = getattr(cls, one) is not getattr(base, one)
    abstract = "name" not in {attr for klass in cls.__mro__ for attr in vars(klass)}
    if not has_table and not has_one and not abstract:
        raise TypeError(
            f"{cls.__name__} is a {base.__name__} but defines neither {one}(state, pod, node) "
            f"nor {table}(state, pod, nodes): write one of them"
        )
    return not has_table
