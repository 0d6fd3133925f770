"""
Carries out a plan of moves: nodes are closed, then their pods are evicted in waves until the plan is done.

``step`` does what is due, as the ``Rebalancer``'s does, and within the same limits; the live app calls it in a loop.  A
wave is over when every replacement is ready.  What has been done is read off the cluster and nowhere else, so that a
run that was cut short is taken up by starting it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import structlog

from bayplan.backoff import Backoff
from bayplan.clock import Clock
from bayplan.controllers.rebalancer.controller import MAX_REFUSED_S, MOVES, REFUSED_S
from bayplan.controllers.rebalancer.flights import BOUNCED, Flight, Flights
from bayplan.controllers.rebalancer.move_plan import MovePlan
from bayplan.controllers.rebalancer.observed import Observed
from bayplan.controllers.rebalancer.plan_checking import PlanChecker, is_marked
from bayplan.controllers.rebalancer.plan_progress import (
    EMPTY,
    GIVEN_UP,
    GONE,
    MOVED,
    MOVING,
    OPENED,
    PLANNED,
    NodeState,
    Progress,
    Step,
)
from bayplan.controllers.rebalancer.planner import Move
from bayplan.controllers.rebalancer.terms import PROGRESS_DEADLINE_S, MoveLimits
from bayplan.errors import ClientError
from bayplan.framework.ports import EventSink, MetricSink, NoMetrics
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod

log = structlog.get_logger()

CLOSING_S = 5.0
"""After so long a node that does not show as closed is told once more."""


class PlanWriter(Protocol):
    """All that a run does to a cluster."""

    async def evict(self, pod: Pod) -> None:
        """``EvictionRefusedError`` if a disruption budget does not allow it now."""

    async def close(self, node: Node, *, is_for_room: bool) -> None:
        """Cordon it; marked, if it is to be opened again."""

    async def open(self, node: Node) -> None:
        """Take that back, mark and all."""


class PlanRun:
    """One plan on one cluster."""

    def __init__(
        self,
        plan: MovePlan,
        observed: Observed,
        writer: PlanWriter,
        events: EventSink,
        clock: Clock,
        limits: MoveLimits | None = None,
        metrics: MetricSink | None = None,
        deadline_s: float = PROGRESS_DEADLINE_S,
    ) -> None:
        self.progress = Progress(plan)
        self.is_done = False
        self._plan = plan
        self._observed = observed
        self._writer = writer
        self._events = events
        self._clock = clock
        self._limits = limits or MoveLimits()
        self._metrics = metrics or NoMetrics()
        self._deadline_s = deadline_s
        self._checker = PlanChecker(observed, self.progress)
        self._flights: dict[str, Flights] = {}
        """By namespace."""
        self._refusals: dict[str, Backoff] = {}
        self._ending_since: float | None = None
        self._wake_at: float | None = None

    def begin(self) -> None:
        """Look through the whole plan; what cannot be done any more is not begun."""
        for line in self._checker.look_through():
            log.warning("plan", says=line)

    async def step(self) -> float | None:
        """Do what is due; when to come back if nothing happens before, or None."""
        self._observed.take_news()
        self._wake_at = None
        now = self._clock.now()
        self._follow(now)
        self._look(now)
        if not await self._has_closed_nodes(now):
            return self._wake_at
        if not self.moving and all(step.is_settled for step in self.progress.in_state(GONE)):
            await self._wave(now)
        if not self.moving and not self.progress.in_state(PLANNED) and not self._unsettled():
            await self._end(now)
        return self._wake_at

    @property
    def moving(self) -> int:
        """Pods on the move."""
        return sum(1 for _ in self._under_way())

    def _under_way(self) -> Iterator[Flight]:
        return (flight for flights in self._flights.values() for flight in flights.under_way)

    def _unsettled(self) -> list[Step]:
        return [step for step in self.progress.in_state(GONE) if not step.is_settled]

    def _wake(self, at: float) -> None:
        self._wake_at = at if self._wake_at is None else min(self._wake_at, at)

    def _give_up(self, node: str, why: str, at: Step | None = None) -> None:
        log.warning("node given up", node=node, says=self.progress.give_up(node, why, at))

    # -- what happened --

    def _follow(self, now: float) -> None:
        """What became of the moves under way."""
        for namespace, flights in self._flights.items():
            pods = [pod for pod in self._observed.pods(namespace) if not pod.is_terminating]
            flights.follow(pods, self._observed.sizes(namespace))
            nodes = {pod.uid: pod.node_name for pod in pods}
            for landing in flights.landed(nodes, self._plan.nodes):
                self._land(landing.flight, landing.result, landing.domain)
            for flight in flights.late(now, self._deadline_s):
                flights.under_way.remove(flight)
                step = self._step_of(flight)
                why = f"no replacement was ready within {self._deadline_s:g} s"
                self._give_up(step.move.source, why, step)
        flying = {flight.move.pod.uid for flight in self._under_way()}
        for step in self.progress.in_state(MOVING):
            if step.move.uid not in flying:
                step.state, step.why = MOVED, "its controller wants fewer pods now"
        for flight in self._under_way():
            self._wake(flight.started_at + self._deadline_s)

    def _land(self, flight: Flight, result: str, node: str) -> None:
        step = self._step_of(flight)
        step.landed = node
        log.info("replacement ready", step=step.move.step, was=step.move.key, expected=step.expected, node=node)
        self._metrics.counter(MOVES, result=result)
        if result == BOUNCED:
            self._give_up(step.move.source, f"its replacement is on {node}, which is to be closed", step)
        else:
            step.state = MOVED

    def _step_of(self, flight: Flight) -> Step:
        return next(step for step in self.progress.steps if step.move.uid == flight.move.pod.uid)

    def _look(self, now: float) -> None:
        """Nodes and pods that are gone, and whether their controllers have made up for them."""
        for node in self.progress.nodes.values():
            if node.state == PLANNED and self._observed.node(node.name) is None:
                self._lose(node)
        for step in self.progress.in_state(PLANNED):
            pod = self._checker.pod(step.move)
            node = self.progress.nodes[step.move.source]
            if pod is None or pod.is_terminating or node.state == GONE:
                step.state = GONE
                log.info("pod gone already", step=step.move.step, pod=step.move.key)
        for step in self._unsettled():
            why = self._checker.missing(step.move.namespace, step.move.controller)
            if not why:
                step.is_settled, step.why = True, ""
            elif self._is_held_too_long(step, why, now):
                self._give_up(step.move.source, why, step)

    def _lose(self, node: NodeState) -> None:
        if self._plan.opens:
            self._give_up(node.name, f"{node.name} is gone")
        else:
            node.state = GONE
            log.warning("node gone", node=node.name)

    def _is_held_too_long(self, step: Step, why: str, now: float) -> bool:
        if step.held_since is None:
            step.held_since = now
        if step.why != why:
            step.why = why
            log.info("waiting", step=step.move.step, pod=step.move.key, says=why)
        ends_at = step.held_since + self._deadline_s
        self._wake(ends_at)
        return now >= ends_at

    # -- nodes --

    async def _has_closed_nodes(self, now: float) -> bool:
        """Close what is open; whether all are seen closed, since replacements would come back otherwise."""
        is_complete = True
        for state in self.progress.nodes.values():
            node = self._observed.node(state.name)
            if state.state != PLANNED or node is None:
                continue
            if node.unschedulable:
                state.was_closed = True
            elif state.was_closed:
                self._give_up(state.name, f"{state.name} was opened by somebody else")
            else:
                await self._close(node, state, now)
                is_complete = is_complete and state.state == GIVEN_UP
        return is_complete

    async def _close(self, node: Node, state: NodeState, now: float) -> None:
        if state.asked_at is not None and now < state.asked_at + CLOSING_S:
            self._wake(state.asked_at + CLOSING_S)
            return
        try:
            await self._writer.close(node, is_for_room=self._plan.opens)
        except ClientError as error:
            self._give_up(node.name, f"{node.name} could not be closed: {error.message}")
            return
        log.info("node closed", node=node.name)
        state.asked_at = now
        self._wake(now + CLOSING_S)

    async def _end(self, now: float) -> None:
        """All moves have been made or are not possible: pods that are on their way out go, and nodes are as planned."""
        if self._ending_since is None:
            self._ending_since = now
        going = False
        for state in self.progress.nodes.values():
            if state.state == PLANNED:
                going |= self._is_waited_for(state, now)
        if going:
            self._wake(self._ending_since + self._deadline_s)
            return
        if self._plan.opens:
            await self._open()
        self.is_done = True

    def _is_waited_for(self, state: NodeState, now: float) -> bool:
        """Whether pods of the plan are still going; a node that is as it should be is done."""
        left = self._checker.left_on(state.name)
        planned = {step.move.uid for step in self.progress.on(state.name)}
        going = [pod for pod in left if pod.is_terminating and (pod.uid in planned or not self._plan.opens)]
        others = [pod for pod in left if not pod.is_terminating]
        if others and not self._plan.opens:
            why = f"{others[0].key} is there, which the plan does not know: plan again"
            self._give_up(state.name, why)
        elif going:
            assert self._ending_since is not None, "it is ending"
            if now < self._ending_since + self._deadline_s:
                return True
            self._give_up(state.name, f"{going[0].key} is still on its way out")
        elif not self._plan.opens:
            state.state = EMPTY
        return False

    async def _open(self) -> None:
        for state in self.progress.nodes.values():
            node = self._observed.node(state.name)
            if node is None or not is_marked(node):
                continue
            try:
                await self._writer.open(node)
            except ClientError as error:
                self._give_up(node.name, f"{node.name} could not be opened again: {error.message}")
                continue
            log.info("node opened", node=node.name)
            if state.state == PLANNED:
                state.state = OPENED

    # -- moves --

    async def _wave(self, now: float) -> None:
        """As many moves as all limits allow, one for each controller."""
        for step in self.progress.in_state(PLANNED):
            if step.state == PLANNED and self._is_affordable(step):
                await self._try(step, now)

    def _is_affordable(self, step: Step) -> bool:
        limits, move, flying = self._limits, step.move, list(self._under_way())
        own = [flight for flight in flying if flight.move.pod.namespace == move.namespace]
        return (
            len(flying) < limits.moving
            and len(own) < limits.per_namespace
            and sum(flight.move.source == move.source for flight in flying) < limits.per_domain
            and all(flight.controller != move.controller for flight in own)
        )

    async def _try(self, step: Step, now: float) -> None:
        pod = self._checker.pod(step.move)
        if pod is None or pod.is_terminating:
            return  # it went while others were told to: the next look sees it
        why = self._checker.lasting(pod)
        if why:
            self._give_up(step.move.source, why, step)
            return
        why = self._checker.passing(pod)
        if why or now < step.refused_until:
            self._wake(max(step.refused_until, now) if not why else now + self._deadline_s)
            if self._is_held_too_long(step, why or step.why, now):
                self._give_up(step.move.source, why or step.why, step)
            return
        why = self._checker.decide(step, pod, self._under_way())
        if why:
            self._give_up(step.move.source, why, step)
            return
        await self._evict(step, pod, now)

    async def _evict(self, step: Step, pod: Pod, now: float) -> None:
        known = list(self._observed.pods(pod.namespace))
        try:
            await self._writer.evict(pod)
        except ClientError as error:  # a disruption budget, a webhook or a missing permission
            self._metrics.counter(MOVES, result="refused")
            step.refused_until = now + self._refusals.setdefault(pod.uid, Backoff(REFUSED_S, MAX_REFUSED_S)).failed()
            self._wake(step.refused_until)
            if self._is_held_too_long(step, error.message, now):
                self._give_up(step.move.source, error.message, step)
            return
        why = f"{step.move.source} {'makes room' if self._plan.opens else 'is to be empty'}"
        move = Move(pod, step.move.source, step.expected, step.expected, why)
        self._flights.setdefault(pod.namespace, Flights()).begin(move, known, now)
        self._wake(now + self._deadline_s)
        step.state, step.why, step.held_since = MOVING, "", None
        log.info("moving", step=step.move.step, pod=pod.key, source=move.source, target=move.node)
        self._metrics.counter(MOVES, result="begun")
        note = f"plan: {why}; another one will be on {move.node}"
        self._events.emit(pod, type="Normal", reason="Rebalanced", action="Evicting", note=note)
