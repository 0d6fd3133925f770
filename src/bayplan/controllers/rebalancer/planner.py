"""
The fewest moves that bring a policy's pods to its numbers.  A survey in, moves out; nothing is changed.

A pod moves only out of a domain that has too many into one that lacks some, so every move brings the policy closer by
two, and no pod moves twice.  Where a replacement would go is the engine's own decision in the cluster as all earlier
moves leave it; pods that wait already come first.  If the first choice of pods does not reach what the numbers allow,
others are tried, within limits.  ``controller`` carries moves out, ``simulator.rebalance_plan`` shows them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field

from bayplan.controllers.rebalancer.imagined_moves import leave, place, replacement_of, waiting_pod
from bayplan.controllers.rebalancer.observed import Observed, controller_of, is_ready
from bayplan.controllers.rebalancer.protection import Protection
from bayplan.controllers.rebalancer.survey import Group, Survey, Surveyor
from bayplan.controllers.rebalancer.terms import Terms
from bayplan.engine.what_if import WhatIf
from bayplan.objects.deletion_cost import deletion_cost
from bayplan.objects.pod import Pod
from bayplan.objects.times import parse_time
from bayplan.plugins.leaf_node_workload_policy.reading import Rules

MAX_MOVES = 128
"""Moves looked for at a time: more than a wave ever is, and few enough to be quick."""
EXACT = 16
"""Up to so many needed moves the whole plan is looked for, also where only a few can be made at once."""
MAX_PENDING = 128
SPARE_TRIES = 200
"""Questions to the engine beside the two a move that the numbers ask for."""

Bounced = Collection[tuple[str, str]]
"""(controller, domain): a replacement that was to go there did not, so it is not tried again now."""


@dataclass(frozen=True, slots=True)
class Move:
    """One pod to evict, and where its replacement will go."""

    pod: Pod
    source: str
    """Its domain, or ``NOWHERE``."""
    target: str
    node: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done for one policy."""

    moves: tuple[Move, ...] = ()
    needed: int = 0
    """Moves that the numbers ask for; more than there are where no replacement fits."""
    kept: dict[str, str] = field(default_factory=dict)
    """Pods that would have been moved but for the reason."""
    hold: str = ""
    """Why nothing is planned at all."""


class Planner:
    """Plans for the policies of one cluster."""

    def __init__(self, observed: Observed, surveyor: Surveyor) -> None:
        self._observed = observed
        self._surveyor = surveyor

    def plan(
        self,
        survey: Survey,
        terms: Terms,
        now: float,
        bounced: Bounced = (),
        limit: int = MAX_MOVES,
        few: int | None = None,
    ) -> Plan:
        """
        The moves of all groups of a policy, the most urgent first.

        Args:
            limit: look for no more than these.
            few: where many are needed, so many are enough for now: they will be planned anew after the next wave.
        """
        rules = survey.rules
        if rules is None:
            return Plan(hold="the policy is not valid")
        for domain in survey.domains:
            if not domain.is_ready:
                return Plan(hold=f"domain {domain.name} is not ready: {domain.unready_nodes} of {domain.nodes} nodes")
        protection = Protection(self._observed, survey, terms, now)
        moves: list[Move] = []
        kept: dict[str, str] = {}
        needed = 0
        imagined = self._observed.scheduler.what_if()
        for group in survey.groups:
            search = _Search(self._surveyor, rules, group, protection, imagined, bounced)
            needed += search.prepare()
            most = limit if few is None or needed <= EXACT else min(limit, few)
            moves += search.run(max(0, most - len(moves)))
            kept |= search.kept
        return Plan(tuple(moves), needed, kept)


class _Search:
    """Looks for the moves of one group."""

    def __init__(
        self,
        surveyor: Surveyor,
        rules: Rules,
        group: Group,
        protection: Protection,
        imagined: WhatIf,
        bounced: Bounced,
    ) -> None:
        self._surveyor = surveyor
        self._rules = rules
        self._group = group
        self._protection = protection
        self._imagined = imagined
        self._bounced = bounced
        self._counts: Counter[str] = Counter(group.current)
        self._tries = 0
        self._most = 0
        self._best: list[Move] = []
        self.kept: dict[str, str] = {}

    def prepare(self) -> int:
        """Let pods that wait go first; how many moves the numbers ask for then."""
        if not self._over():
            return 0  # nothing can move, so there is nothing to find out
        for pod in self._group.pending[:MAX_PENDING]:
            if pod.gates or not self._is_known(pod):
                continue
            node = self._imagined.decide(waiting_pod(pod)).node
            if node is not None:
                place(self._imagined, pod, node)
                self._counts[self._domain(pod.assigned_to(node))] += 1
        return min(self._over(), self._lacking())

    def run(self, limit: int) -> list[Move]:
        """The moves; the imagined cluster is left as they make it."""
        self._most = min(self._over(), self._lacking(), limit)
        if not self._most:
            return []
        self._tries = 2 * self._most + SPARE_TRIES
        self._go([], self._candidates(), self._imagined)
        for move in self._best:
            leave(self._imagined, move.pod)
            place(self._imagined, replacement_of(move.pod), move.node)
        return self._best

    # -- searching --

    def _go(self, path: list[Move], candidates: dict[str, list[Pod]], then: WhatIf) -> bool:
        """Go on from the moves made so far; true when it cannot get better, or no question is left."""
        if len(path) > len(self._best):
            self._best = list(path)
        if len(self._best) >= self._most:
            return True
        tried: set[Hashable] = set()
        taken = {move.pod.uid for move in path}
        for name in sorted(candidates, key=self._urgency):
            if self._missing(name) >= 0:
                continue
            for pod in candidates[name]:
                shape = _shape(pod)
                if pod.uid in taken or shape in tried:
                    continue
                tried.add(shape)
                if self._tries <= 0:
                    return True
                if self._try(pod, name, path, candidates, then):
                    return True
        return False

    def _try(self, pod: Pod, source: str, path: list[Move], candidates: dict[str, list[Pod]], then: WhatIf) -> bool:
        """Imagine one move more; if it is one, go on from there."""
        self._tries -= 1
        moved = then.fork()
        leave(moved, pod)
        self._counts[source] -= 1
        move = self._judged(pod, source, moved)
        if move is not None:
            place(moved, replacement_of(pod), move.node)
            self._counts[move.target] += 1
            if self._go([*path, move], candidates, moved):
                return True
            self._counts[move.target] -= 1
        self._counts[source] += 1
        return False

    def _judged(self, pod: Pod, source: str, then: WhatIf) -> Move | None:
        """Where the engine would put the replacement, if that helps."""
        replacement = replacement_of(pod)
        decision = then.decide(replacement)
        if decision.node is None:
            self.kept.setdefault(pod.key, f"its replacement fits nowhere: {decision.message}")
            return None
        target = self._domain(replacement.assigned_to(decision.node))
        if self._missing(target) <= 0:
            self.kept.setdefault(pod.key, f"its replacement would go to {target} ({decision.node})")
            return None
        if (controller_of(pod), target) in self._bounced:
            self.kept.setdefault(pod.key, f"its replacement did not stay in {target} before")
            return None
        self.kept.pop(pod.key, None)
        return Move(pod, source, target, decision.node, self._why(source, target))

    def _why(self, source: str, target: str) -> str:
        wanted = self._group.desired
        has = (
            f"{source} has {self._counts[source] + 1}/{wanted[source]}"
            if source in wanted
            else "its node is not listed"
        )
        return f"{has}, {target} has {self._counts[target]}/{wanted[target]}"

    # -- what there is --

    def _candidates(self) -> dict[str, list[Pod]]:
        """Pods that may be moved, by domain, in the order in which they should go."""
        found: dict[str, list[Pod]] = {}
        for pod in self._group.bound:
            name = self._domain(pod)
            if self._missing(name) >= 0:
                continue
            reason = self._protection.reason(pod)
            if reason:
                self.kept[pod.key] = reason
            else:
                found.setdefault(name, []).append(pod)
        for pods in found.values():
            pods.sort(key=_expendable)
        return found

    def _over(self) -> int:
        """How many pods are too many where they are."""
        return sum(max(0, -self._missing(name)) for name in self._counts)

    def _lacking(self) -> int:
        return sum(max(0, self._missing(name)) for name in self._group.desired)

    def _urgency(self, name: str) -> tuple[bool, int]:
        """Nodes of no listed domain first, then the domain that has most too many."""
        return name in self._group.desired, self._missing(name)

    def _missing(self, name: str) -> int:
        """How many pods a domain lacks; less than nothing where there are too many."""
        return self._group.desired.get(name, 0) - self._counts[name]

    def _domain(self, pod: Pod) -> str:
        return self._surveyor.domain_of(pod, self._rules)

    def _is_known(self, pod: Pod) -> bool:
        return self._surveyor.has_profile(pod)


def _shape(pod: Pod) -> Hashable:
    """What makes two pods alike to the engine: if one does not fit elsewhere, the other does not either."""
    return controller_of(pod), pod.node_name, pod.uid if pod.claim_names else ""


def _expendable(pod: Pod) -> tuple[bool, int, int, float, str]:
    """Not ready ones first, then lower priority, lower deletion cost, the youngest."""
    return is_ready(pod), pod.priority, deletion_cost(pod), -_created(pod), pod.name


def _created(pod: Pod) -> float:
    try:
        return parse_time(pod.metadata.creation_timestamp) or 0.0
    except ValueError:
        return 0.0


def waves(moves: Iterable[Move], size: int) -> list[int]:
    """The wave each move belongs to, counted from 1, for waves of that size."""
    return [1 + at // max(1, size) for at, _ in enumerate(moves)]
