"""
Judge: the engine's decision for every pod that somebody else binds, at the state just before that bind was seen.

The engine is told of everything and schedules nothing.  ``app.shadow`` drives it from watches, ``bayplan replay`` from
a recording; decisions are those of ``Scheduler.what_if``, and ``framework.tipping`` says what tipped them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from bayplan.controllers.shadow.event_order import Dated
from bayplan.controllers.shadow.given_claims import GivenClaims, inverse
from bayplan.controllers.shadow.orders import WINDOW_S, Arrival, Order, distinct, is_bind, matters, orders
from bayplan.controllers.shadow.verdict import OF_TIP, QUIET, Finding, Verdict, judged, unjudged
from bayplan.engine.events import Event, PodAdded, PodChanged, PodDeleted
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.tipping import Tip, tip
from bayplan.objects.pod import Pod

MOST_RECENT = 512
"""Events that are kept to be taken back."""

ON_ITS_NODE = "it was on its node when it was first seen: bound by name, or before anybody looked"
LATE = "it was bound while the watch was broken: what the cluster was like then is not known"
OVERLOADED = "too many binds to judge each in time"
SET_ASIDE = "its node had been set aside for it in its status before it was decided"

Ahead = Callable[[], Sequence[Dated]]


@dataclass(frozen=True, slots=True)
class _Noted:
    """A pod whose status got a node after it was decided: what it said before, the pod, and when that was seen."""

    before: str
    pod: Pod
    at: float

    def as_bind(self) -> PodChanged:
        """What the scheduler that decided it counts with already."""
        return PodChanged(self.pod, self.pod.assigned_to(self.pod.nominated_node_name))


class Judge:
    """
    Takes events in the order in which they happened.

    Args:
        engine: knows nothing yet, and is told of the cluster by nobody else.
        profile: the profile that decides for every pod, whatever scheduler the pod asks for; else the pod's own.
    """

    def __init__(self, engine: Scheduler, profile: str = "") -> None:
        self.engine = engine
        self._profile = profile
        self._recent: deque[Dated] = deque(maxlen=MOST_RECENT)
        self._claims = GivenClaims()
        self._arrivals: dict[str, Arrival] = {}
        """When pods came that have no node yet, or got theirs lately."""
        self._bound: deque[tuple[float, str]] = deque()
        self._noted: dict[str, _Noted] = {}
        """Waiting pods that were decided: their status names the node while volumes and devices are prepared."""
        self._number = 0

    def learn(self, event: Event) -> None:
        """What there is already when the watch begins."""
        self._note(event, float("-inf"))
        self.engine.handle(self._of_profile(event))

    def take(self, dated: Dated, ahead: Ahead = tuple, *, in_time: bool = True) -> Verdict | None:
        """
        Something happened; the verdict, if it was a bind.

        Args:
            ahead: gives what is known to have happened afterwards.
            in_time: whether there is time to judge.
        """
        event = dated.event
        verdict = None
        if is_bind(event):
            verdict = self._bind(dated, event, ahead, in_time)
        elif isinstance(event, PodAdded) and event.pod.node_name and not event.pod.is_terminal:
            verdict = unjudged(dated.at, event.pod, LATE if dated.is_late else ON_ITS_NODE)
        self._note(event, dated.at)
        self.engine.handle(self._of_profile(event))
        self._remember(dated)
        return verdict

    # -- one bind --

    def _bind(self, dated: Dated, bind: PodChanged, ahead: Ahead, in_time: bool) -> Verdict:
        at, bound = dated.at, bind.new
        name = self._profile or bound.scheduler_name
        if dated.is_late or not in_time:
            return unjudged(at, bound, LATE if dated.is_late else OVERLOADED)
        if name not in self.engine.profiles:
            return unjudged(at, bound, f'no profile is for the scheduler "{name}"')
        pod = self._undecided(bind.old, bound.node_name).for_scheduler(name)
        came_at = self._arrivals[pod.uid].at if pod.uid in self._arrivals else float("-inf")
        others = [noted for uid, noted in self._noted.items() if uid != pod.uid]
        visible = Order(ahead=tuple(noted.as_bind() for noted in others if noted.at <= came_at))
        with self._claims_as_before(pod):
            verdict = self._verdict(at, bound, pod, visible)
            if not verdict.is_different:
                return verdict
            later = [Dated(noted.at, noted.as_bind()) for noted in others if noted.at > came_at]
            order = self._explaining(pod, bound, verdict, visible, [*later, *ahead()])
            if order is not None:
                return replace(verdict, finding=Finding.RACE, message=f"theirs if {order}")
            if self._may_be_set_aside(pod, bind.old):
                nominated = self._verdict(at, bound, bind.old.for_scheduler(name), visible)
                return verdict if nominated.is_different else unjudged(at, bound, SET_ASIDE)
            return verdict

    def _verdict(self, at: float, bound: Pod, pod: Pod, order: Order) -> Verdict:
        ours, told = self._ask(pod, bound.node_name, order)
        return judged(at, bound, bound.node_name, ours, told)

    def _ask(self, pod: Pod, theirs: str, order: Order) -> tuple[str | None, Tip]:
        with self._set_aside_as_in(order, pod):
            imagined = self.engine.what_if()
            order.apply(imagined.cache)
            decision = imagined.decide(pod)
            return decision.node, tip(decision, theirs)

    def _explaining(
        self, pod: Pod, bound: Pod, verdict: Verdict, visible: Order, ahead: Sequence[Dated]
    ) -> Order | None:
        """The order in which their node is ours, too; ``None`` if there is none."""
        recent = [each for each in self._recent if each.at >= verdict.at - WINDOW_S]
        tried = orders(pod, bound.node_name, verdict.ours, recent, ahead, self._arrivals)
        for order in distinct(tried):
            _, told = self._ask(pod, bound.node_name, order.after(visible))
            if OF_TIP[told.how] in QUIET:
                return order
        return None

    def _undecided(self, pod: Pod, theirs: str) -> Pod:
        """The pod as it was before it was decided: kube-scheduler notes the node that it expects to bind to."""
        noted = self._noted.get(pod.uid)
        is_theirs = noted is not None and pod.nominated_node_name == theirs
        return pod.nominated_to(noted.before) if noted is not None and is_theirs else pod

    def _may_be_set_aside(self, undecided: Pod, pod: Pod) -> bool:
        """Did somebody note a node for a pod that needs no preparing?  It may not have been its scheduler."""
        has_claims = bool(pod.claim_names or pod.spec.resource_claims)
        return undecided.nominated_node_name != pod.nominated_node_name and not has_claims

    @contextmanager
    def _set_aside_as_in(self, order: Order, asked: Pod) -> Iterator[None]:
        """Nodes are set aside for other pods that still wait as they were in that order, and not for placed ones."""
        undone = [
            *(PodChanged(nomination.new, nomination.old) for nomination in order.nominations),
            *(PodChanged(bind.old, bind.old.nominated_to("")) for bind in order.ahead if bind.old.nominated_node_name),
        ]
        undone = [
            event
            for event in undone
            if event.old.uid in self._arrivals
            and event.old.uid != asked.uid
            and self.engine.cache.pod(event.old.uid) is None
        ]
        for event in undone:
            self.engine.handle(self._of_profile(event))
        try:
            yield
        finally:
            for event in reversed(undone):
                self.engine.handle(self._of_profile(PodChanged(event.new, event.old)))

    @contextmanager
    def _claims_as_before(self, pod: Pod) -> Iterator[None]:
        since = self._arrivals[pod.uid].number if pod.uid in self._arrivals else 0
        undoing = self._claims.undoing(pod, since, self.engine.cache.objects)
        for event in undoing:
            self.engine.handle(event)
        try:
            yield
        finally:
            for event in reversed(undoing):
                self.engine.handle(inverse(event))

    def _of_profile(self, event: Event) -> Event:
        """Where one profile decides for all, all pods are its own, so that it knows the nodes that are set aside."""
        if not self._profile:
            return event
        match event:
            case PodAdded(pod):
                return PodAdded(pod.for_scheduler(self._profile))
            case PodChanged(old, new):
                return PodChanged(old.for_scheduler(self._profile), new.for_scheduler(self._profile))
            case PodDeleted(pod):
                return PodDeleted(pod.for_scheduler(self._profile))
        return event

    # -- what is remembered --

    def _note(self, event: Event, at: float) -> None:
        self._number += 1
        self._claims.note(self._number, event)
        match event:
            case PodAdded(pod) if not pod.node_name:
                self._arrivals[pod.uid] = Arrival(self._number, at)
            case PodChanged(old, new) if not new.node_name:
                self._note_nomination(old, new, at)
            case PodDeleted(pod):
                self._arrivals.pop(pod.uid, None)
                self._noted.pop(pod.uid, None)

    def _note_nomination(self, old: Pod, new: Pod, at: float) -> None:
        """A node that preemption made room on comes with the condition that tells of the failed attempt."""
        known = self._noted.get(new.uid)
        if old.nominated_node_name == new.nominated_node_name:
            if known is not None:
                self._noted[new.uid] = _Noted(known.before, new, known.at)
        elif new.nominated_node_name and old.condition("PodScheduled") == new.condition("PodScheduled"):
            self._noted[new.uid] = _Noted(known.before if known else old.nominated_node_name, new, at)
        else:
            self._noted.pop(new.uid, None)

    def _remember(self, dated: Dated) -> None:
        if matters(dated.event):
            self._recent.append(dated)
        if is_bind(dated.event):
            self._noted.pop(dated.event.new.uid, None)
            self._bound.append((dated.at, dated.event.new.uid))
        while self._bound and (self._bound[0][0] < dated.at - WINDOW_S or len(self._bound) > MOST_RECENT):
            self._arrivals.pop(self._bound.popleft()[1], None)
