"""
Other orders in which things may have happened, seen from the scheduler that bound a pod.

A scheduler decides pods one after another and counts each on its node at once, while binds go to the API server side
by side and become visible a little later, in any order; and what it knew of nodes and other pods is a little older
than its bind.  So for a moment around each bind several states are possible.  ``judge`` asks about them when its own
state, that of the binds in their visible order, gives another node: if one of them gives theirs, nobody can tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from bayplan.controllers.shadow.event_order import Dated, subject_of
from bayplan.engine.cache import ClusterCache, counts_the_same
from bayplan.engine.events import Event, NodeAdded, NodeChanged, NodeDeleted, PodAdded, PodChanged, PodDeleted
from bayplan.engine.update_events import node_update_events
from bayplan.objects.pod import Pod

WINDOW_S = 30.0
"""How long before its bind is seen a pod may have been decided.  With its default limits kube-scheduler sends 50
requests a second, so that the last of a thousand pods is bound 20 s after it was decided."""
LAG_S = 2.0
"""How much later than we a scheduler may hear of what others do.  What it did itself it knows at once."""
MOST_BINDS = 6
MOST_CHANGES = 6
NEAR = 12
MOST_MOVES = 2
"""How many of the last and next binds, of other changes, and of the binds nearby that concern the two nodes in question
are put elsewhere at most.  More would explain anything: a scheduler hands out its binds about in the order in which it
decided them."""


@dataclass(frozen=True, slots=True)
class Order:
    """One possible state: what of the visible one has not happened yet, and what has happened already."""

    undone: tuple[Event, ...] = ()
    """The newest first."""
    ahead: tuple[PodChanged, ...] = ()

    def after(self, other: Order) -> Order:
        """This order, on top of what is certain."""
        return Order((*self.undone, *other.undone), (*other.ahead, *self.ahead))

    @property
    def nominations(self) -> tuple[PodChanged, ...]:
        """Of what is undone: nodes that were set aside for pods.  The queue keeps them, and not the cluster."""
        return tuple(event for event in self.undone if _is_nomination(event))

    def apply(self, cache: ClusterCache) -> None:
        for event in self.undone:
            _undo(cache, event)
        for bind in self.ahead:
            if cache.pod(bind.new.uid) is None:
                cache.add_pod(bind.new)

    def __str__(self) -> str:
        before = [_told(event) for event in self.undone]
        parts = [f"before {_few(before)}"] if before else []
        after = [bind.new.key for bind in self.ahead]
        parts += [f"after the bind of {_few(after)}"] if after else []
        return "decided " + " and ".join(parts)


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a pod came: in which place of all events, and at what time."""

    number: int
    at: float


Arrivals = Mapping[str, Arrival]
"""Of the pods that wait or were bound lately, by uid."""


def orders(
    pod: Pod, theirs: str, ours: str | None, recent: Sequence[Dated], ahead: Sequence[Dated], arrivals: Arrivals
) -> Iterator[Order]:
    """
    States in which the pod may have been decided, the likeliest first.

    It was decided after it came.  So binds that were seen before that had been decided, too, and other changes were
    known a moment later; and of the binds that were seen afterwards only those of pods that were there already count.

    Args:
        recent: what happened within ``WINDOW_S`` before the bind and matters, the oldest first.
        ahead: what is known to have happened afterwards.
        arrivals: a queue of one priority goes by that.
    """
    came_at = arrivals[pod.uid].at if pod.uid in arrivals else float("-inf")
    past = [
        dated.event for dated in reversed(recent) if dated.at >= (came_at if is_bind(dated.event) else came_at - LAG_S)
    ]
    binds = [event for event in past if is_bind(event)]
    changes = [event for event in past if not is_bind(event)][:MOST_CHANGES]
    known = {event.new.uid: event for dated in ahead if is_bind(event := dated.event) and event.new.uid in arrivals}
    later = list(known.values())
    queued = Order(
        tuple(bind for bind in binds if _is_before(pod, bind.new, arrivals)),
        tuple(bind for bind in later if _is_before(bind.new, pod, arrivals)),
    )
    yield queued
    for number in range(1, len(changes) + 1):
        yield Order(tuple(changes[:number]))
        yield Order((*changes[:number], *queued.undone), queued.ahead)
    for number in range(1, min(len(past), MOST_BINDS) + 1):
        yield Order(tuple(past[:number]))
    for number in range(1, min(len(later), MOST_BINDS) + 1):
        yield Order(ahead=tuple(later[:number]))
    there = [bind for bind in binds[:NEAR] if bind.new.node_name == theirs][:MOST_MOVES]
    here = [bind for bind in later[:NEAR] if bind.new.node_name == ours][:MOST_MOVES]
    for first in range(len(there) + 1):
        for last in range(len(here) + 1):
            yield Order(tuple(there[:first]), tuple(here[:last]))


def distinct(given: Iterable[Order]) -> Iterator[Order]:
    """Each state once, and not the visible one."""
    seen: set[tuple[frozenset[int], frozenset[int]]] = {(frozenset(), frozenset())}
    for order in given:
        key = frozenset(map(id, order.undone)), frozenset(map(id, order.ahead))
        if key not in seen:
            seen.add(key)
            yield order


def is_bind(event: Event) -> TypeGuard[PodChanged]:
    """Does it show that a waiting pod has a node now?"""
    return (
        isinstance(event, PodChanged)
        and event.old.uid == event.new.uid
        and not event.old.node_name
        and bool(event.new.node_name)
    )


def matters(event: Event) -> bool:
    """Does it change nodes, what is on them, or what they are set aside for?  Other objects cannot be taken back."""
    match event:
        case PodAdded(pod) | PodDeleted(pod):
            return bool(pod.node_name)
        case PodChanged(before, pod):
            if not pod.node_name:
                return _is_nomination(event)
            return not (before.node_name and counts_the_same(before, pod))
        case NodeAdded() | NodeDeleted():
            return True
        case NodeChanged(old, new):
            return old.spec != new.spec or bool(node_update_events(old, new))
    return False


def _is_nomination(event: Event) -> TypeGuard[PodChanged]:
    """Does it set a node aside for a waiting pod, or no longer?"""
    return (
        isinstance(event, PodChanged)
        and not event.new.node_name
        and event.old.nominated_node_name != event.new.nominated_node_name
    )


def _is_before(pod: Pod, other: Pod, arrivals: Arrivals) -> bool:
    """Would a queue hand out this pod before the other?"""
    first, second = (arrivals.get(each.uid) for each in (pod, other))
    if first is None or second is None:
        return False
    return (-pod.priority, first.number) < (-other.priority, second.number)


def _undo(cache: ClusterCache, event: Event) -> None:
    match event:
        case PodAdded(pod):
            cache.remove_pod(pod)
        case PodChanged(old, new) if old.uid == new.uid:
            if old.node_name:
                cache.add_pod(old)
            else:
                cache.remove_pod(new)
        case PodDeleted(pod) if pod.node_name and cache.pod(pod.uid) is None:
            cache.add_pod(pod)
        case NodeAdded(node):
            cache.remove_node(node.name)
        case NodeChanged(old_node, _) | NodeDeleted(old_node):
            cache.add_node(old_node)


def _told(event: Event) -> str:
    thing = subject_of(event)
    key = thing.key if thing is not None else ""
    if is_bind(event):
        return f"the bind of {key}"
    match event:
        case PodAdded() | NodeAdded():
            return f"{key} came"
        case PodDeleted() | NodeDeleted():
            return f"{key} went"
    return f"{key} changed"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
