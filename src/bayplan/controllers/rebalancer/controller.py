"""
The rebalancer: brings every policy's pods to its numbers in waves, and says in its status how it stands.

``step`` looks at the policies whose pods changed and does what is due; the live app calls it in a loop, the
simulator in virtual time, and both get the same moves.  A wave is as large as the limits allow, goes through the
eviction API, and is over when every replacement is ready; only then is the next one planned, from scratch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import structlog

from bayplan.backoff import Backoff
from bayplan.clock import Clock
from bayplan.controllers.rebalancer.deletion_costs import costs
from bayplan.controllers.rebalancer.flights import BOUNCED, Flights
from bayplan.controllers.rebalancer.observed import Observed
from bayplan.controllers.rebalancer.planner import Move, Plan, Planner
from bayplan.controllers.rebalancer.status import Finding, as_patch, says_the_same, status_of
from bayplan.controllers.rebalancer.survey import Survey, Surveyor
from bayplan.controllers.rebalancer.terms import MoveLimits, Terms, terms_of
from bayplan.errors import BayplanError, ClientError, ConflictError, LeadershipLostError, NotFoundError
from bayplan.framework.ports import EventSink, MetricSink, NoMetrics
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import (
    AUTO,
    DRY_RUN,
    OFF,
    WorkloadPolicy,
    WorkloadPolicySpec,
    WorkloadPolicyStatus,
)

log = structlog.get_logger()

REFUSED_S = 5.0
MAX_REFUSED_S = 60.0
FAILED_S = 5.0
# A message names so many moves; the rest is counted.
NAMED = 5
MAX_COSTS = 100
MOVES = "bayplan_rebalancer_moves_total"


class RebalanceWriter(Protocol):
    """All that the rebalancer does to a cluster."""

    async def evict(self, pod: Pod) -> None:
        """``EvictionRefusedError`` if a disruption budget does not allow it now."""

    async def annotate(self, pod: Pod, annotations: dict[str, str]) -> None: ...

    async def write_status(self, policy: WorkloadPolicy, status: dict[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the command line says."""

    limits: MoveLimits = field(default_factory=MoveLimits)
    writes_costs: bool = True


@dataclass(slots=True)
class _Memory:
    """What is remembered of one policy between two looks."""

    spec: WorkloadPolicySpec
    flights: Flights = field(default_factory=Flights)
    needed_since: float | None = None
    last_wave_at: float = float("-inf")
    refused_until: float = 0.0
    refusals: Backoff = field(default_factory=lambda: Backoff(REFUSED_S, MAX_REFUSED_S))
    refusal: str = ""
    wake_at: float | None = None
    written: WorkloadPolicyStatus | None = None
    told: str = ""


class Rebalancer:
    """Looks after all policies of a cluster."""

    def __init__(
        self,
        observed: Observed,
        writer: RebalanceWriter,
        events: EventSink,
        clock: Clock,
        settings: Settings | None = None,
        metrics: MetricSink | None = None,
    ) -> None:
        self._observed = observed
        self._writer = writer
        self._events = events
        self._clock = clock
        self._settings = settings or Settings()
        self._metrics = metrics or NoMetrics()
        self._surveyor = Surveyor(observed)
        self._planner = Planner(observed, self._surveyor)
        self._memories: dict[str, _Memory] = {}
        self.on_move: Callable[[WorkloadPolicy, Move], None] = lambda policy, move: None
        """Who wants to hear of every move that is begun."""

    async def step(self) -> float | None:
        """Do what is due; when to come back if nothing happens before, or None."""
        news = self._observed.take_news()
        policies = self._observed.policies()
        known = {policy.uid or policy.key for policy in policies}
        for gone in self._memories.keys() - known:
            del self._memories[gone]
        for listed in policies:
            # Looking at others takes time, and this one may say something else by now, or be gone.
            policy = self._observed.policy(listed.namespace, listed.name)
            if policy is None or policy.uid != listed.uid:
                continue
            memory = self._memory(policy)
            is_due = memory.wake_at is not None and memory.wake_at <= self._clock.now()
            if is_due or news is None or policy.namespace in news:
                await self._look(policy, memory)
                await asyncio.sleep(0)  # the lease is renewed in between, however many policies there are
        return min((each.wake_at for each in self._memories.values() if each.wake_at is not None), default=None)

    @property
    def moving(self) -> int:
        """Pods on the move."""
        return sum(len(memory.flights.under_way) for memory in self._memories.values())

    # -- one policy --

    def _memory(self, policy: WorkloadPolicy) -> _Memory:
        memory = self._memories.setdefault(policy.uid or policy.key, _Memory(policy.spec))
        if memory.spec != policy.spec:
            memory.spec = policy.spec
            memory.needed_since = None
            memory.refused_until = 0.0
            memory.flights.forget_targets()
        return memory

    async def _look(self, policy: WorkloadPolicy, memory: _Memory) -> None:
        memory.wake_at = None
        try:
            survey = self._surveyor.survey(policy)
            terms = terms_of(policy, survey.expected)
            self._follow(survey, memory)
            finding = await self._rebalance(survey, terms, memory)
            writes_costs = self._settings.writes_costs and terms.mode != DRY_RUN
            if writes_costs:
                await self._write_costs(survey, memory)
            await self._write_status(survey, finding, memory, writes_costs)
        except LeadershipLostError:
            raise
        except BayplanError as error:
            # One policy that fails must not hold up the others.
            log.warning("policy not looked after", policy=policy.key, error=str(error))
            self._wake(memory, self._clock.now() + FAILED_S)

    def _wake(self, memory: _Memory, at: float) -> None:
        memory.wake_at = at if memory.wake_at is None else min(memory.wake_at, at)

    def _follow(self, survey: Survey, memory: _Memory) -> None:
        """What became of the moves under way."""
        flights, rules = memory.flights, survey.rules
        if not flights.under_way:
            return
        pods = [pod for pod in self._observed.pods(survey.policy.namespace) if not pod.is_terminating]
        flights.follow(pods, self._observed.sizes(survey.policy.namespace))
        if rules is None:
            return
        domains = {pod.uid: self._surveyor.domain_of(pod, rules) for pod in pods if pod.node_name}
        full = {
            name
            for group in survey.groups
            for name, count in group.current.items()
            if count > group.desired.get(name, 0)
        }
        for landing in flights.landed(domains, full):
            move = landing.flight.move
            log.info("replacement ready", policy=survey.policy.key, was=move.pod.key, result=landing.result,
                     planned=move.target, domain=landing.domain)  # fmt: skip
            self._metrics.counter(MOVES, result=landing.result)
            if landing.result == BOUNCED:
                flights.remember(landing, self._clock.now())

    # -- moving --

    async def _rebalance(self, survey: Survey, terms: Terms, memory: _Memory) -> Finding | None:
        """Begin the next wave if it is time; what the condition Rebalancing says."""
        if survey.rules is None or terms.mode == OFF:
            memory.needed_since = None
            return None
        now = self._clock.now()
        if memory.flights.under_way:
            return self._under_way(terms, memory, now)
        limits = self._settings.limits
        wave = max(NAMED, min(terms.max_unavailable, limits.moving, limits.per_namespace))
        plan = self._planner.plan(survey, terms, now, memory.flights.bounced(now), few=wave)
        finding = _without_moves(plan)
        if finding is not None:
            memory.needed_since = None
            if plan.needed and terms.min_pod_age_s:
                self._wake(memory, now + terms.min_pod_age_s)
            if (retry := memory.flights.next_retry(now)) is not None:
                self._wake(memory, retry)
            return finding
        if terms.mode == DRY_RUN:
            return False, "DryRun", f"would move {_told(plan.moves, plan.needed)}"
        return self._not_yet(survey, terms, memory, plan, now) or await self._wave(survey, terms, memory, plan, now)

    def _under_way(self, terms: Terms, memory: _Memory, now: float) -> Finding:
        flights = memory.flights
        late = flights.late(now, terms.progress_deadline_s)
        if late:
            names = ", ".join(sorted(flight.move.pod.name for flight in late))
            return False, "Degraded", f"no replacement of {names} was ready within {terms.progress_deadline_s:g} s"
        first = min(flight.started_at for flight in flights.under_way)
        self._wake(memory, first + terms.progress_deadline_s)
        return True, "Moving", f"waiting for replacements: {_told([flight.move for flight in flights.under_way])}"

    def _not_yet(self, survey: Survey, terms: Terms, memory: _Memory, plan: Plan, now: float) -> Finding | None:
        """Why the next wave has to wait, if it has to."""
        if memory.needed_since is None:
            memory.needed_since = now
        settled_at = memory.needed_since + terms.stabilization_s
        if now < settled_at:
            self._wake(memory, settled_at)
            return False, "Stabilizing", f"will move {_told(plan.moves)}"
        next_at = max(memory.last_wave_at + terms.interval_s, memory.refused_until)
        if now < next_at:
            self._wake(memory, next_at)
            if now < memory.refused_until:
                return False, "EvictionRefused", memory.refusal
            return False, "BetweenWaves", f"will move {_told(plan.moves)}"
        if survey.unavailable >= terms.max_unavailable:
            missing = f"{survey.unavailable} of {survey.expected} pods are not ready"
            return False, "PodsUnavailable", f"{missing}, and maxUnavailable is {terms.max_unavailable}"
        return None

    async def _wave(self, survey: Survey, terms: Terms, memory: _Memory, plan: Plan, now: float) -> Finding:
        """As many moves as all limits allow."""
        wave = list(self._affordable(survey, plan.moves, terms.max_unavailable - survey.unavailable))
        if not wave:
            self._wake(memory, now + FAILED_S)
            return False, "BudgetSpent", "as many pods as the rebalancer may move at once are on the move"
        pods = list(self._observed.pods(survey.policy.namespace))
        for move in wave:
            try:
                await self._writer.evict(move.pod)
            except ClientError as error:  # a disruption budget, a webhook or a missing permission
                return self._refused(move, error, memory, now)
            memory.flights.begin(move, pods, now)
            memory.last_wave_at = now
            memory.refusals.succeeded()
            self._tell(survey.policy, move)
        return self._under_way(terms, memory, now)

    def _refused(self, move: Move, error: ClientError, memory: _Memory, now: float) -> Finding:
        self._metrics.counter(MOVES, result="refused")
        memory.refused_until = now + memory.refusals.failed()
        self._wake(memory, memory.refused_until)
        memory.refusal = f"{move.pod.name}: {error.message}"
        return False, "EvictionRefused", memory.refusal

    def _affordable(self, survey: Survey, moves: Iterable[Move], allowed: int) -> Iterable[Move]:
        limits = self._settings.limits
        flying = [
            (flight.move.pod.namespace, memory.spec.topology_key, flight.move.source)
            for memory in self._memories.values()
            for flight in memory.flights.under_way
        ]
        for move in moves:
            place = move.pod.namespace, survey.policy.spec.topology_key, move.source
            in_namespace = sum(each[0] == place[0] for each in flying)
            if allowed <= 0 or len(flying) >= limits.moving or in_namespace >= limits.per_namespace:
                return
            if flying.count(place) < limits.per_domain:
                flying.append(place)
                allowed -= 1
                yield move

    def _tell(self, policy: WorkloadPolicy, move: Move) -> None:
        log.info("moving", policy=policy.key, pod=move.pod.key, source=move.source, target=move.target, why=move.why)
        self._metrics.counter(MOVES, result="begun")
        self.on_move(policy, move)
        self._events.emit(
            move.pod,
            type="Normal",
            reason="Rebalanced",
            action="Evicting",
            note=f"WorkloadPolicy {policy.name}: {move.why}; another one will be in {move.target}",
        )

    # -- writing --

    async def _write_costs(self, survey: Survey, memory: _Memory) -> None:
        """A few at a time: other policies want their turn."""
        missing = costs(survey, self._surveyor)
        if len(missing) > MAX_COSTS:
            self._wake(memory, self._clock.now())
        for cost in missing[:MAX_COSTS]:
            try:
                await self._writer.annotate(cost.pod, cost.annotations)
            except (NotFoundError, ConflictError):
                continue  # gone meanwhile, or changed: an event will tell

    async def _write_status(self, survey: Survey, finding: Finding | None, memory: _Memory, writes_costs: bool) -> None:
        policy = survey.policy
        status = status_of(survey, finding, self._clock.now(), writes_costs=writes_costs)
        told = "" if finding is None else f"{finding[1]}: {finding[2]}"
        if told != memory.told:
            memory.told = told
            log.info("rebalancing", policy=policy.key, says=told or OFF)
        if says_the_same(status, policy.status):
            memory.written = None
            return
        if memory.written is not None and says_the_same(status, memory.written):
            return  # written already, and not heard of yet
        try:
            await self._writer.write_status(policy, as_patch(status))
            memory.written = status
        except NotFoundError:
            return


def _without_moves(plan: Plan) -> Finding | None:
    """What to say when there is nothing to do, or nothing can be done."""
    if plan.hold:
        return False, "OnHold", plan.hold
    if plan.moves:
        return None
    if not plan.needed:
        return False, "NothingToMove", ""
    reasons = sorted(set(plan.kept.values()))
    told = "; ".join(reasons[:NAMED]) or "no replacement fits"
    return False, "NoMovePossible", f"{plan.needed} pods are in the wrong domain: {told}"


def _told(moves: Iterable[Move], needed: int = 0) -> str:
    listed = list(moves)
    named = ", ".join(f"{move.pod.name} ({move.source} -> {move.target})" for move in listed[:NAMED])
    others = max(len(listed), needed) - len(listed[:NAMED])
    return f"{named} and up to {others} more" if others else named


def is_automatic(policy: WorkloadPolicy) -> bool:
    """Does the policy ask for pods to be moved?"""
    return terms_of(policy, 1).mode == AUTO
