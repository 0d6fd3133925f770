"""The controller against a cluster that does as it pleases: replacements that bounce, that never come, that are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bayplan.controllers.rebalancer.controller import Rebalancer, Settings
from bayplan.controllers.rebalancer.observed import POLICY, Observed
from bayplan.controllers.rebalancer.terms import MoveLimits
from bayplan.engine.events import Event, ObjectChanged, ObjectDeleted, PodAdded, PodDeleted
from bayplan.errors import EvictionRefusedError, ForbiddenError, LeadershipLostError, ServerError
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import DomainAllocation, Rebalance, WorkloadPolicy, WorkloadPolicyStatus
from bayplan.simulator.rebalance_plan import observed_of
from tests.controllers.rebalancer.support import REGIONS, pods, policy, replica_set
from tests.simulator.support import Manifest, world

AT_ONCE = {"mode": "Auto", "stabilizationSeconds": 0, "intervalSeconds": 0, "progressDeadlineSeconds": 100}


class Desk:
    """A rebalancer, its writer, and what becomes of the pods it evicts."""

    def __init__(self, *manifests: Manifest, settings: Settings | None = None) -> None:
        self.world = world(*REGIONS, *manifests)
        self.observed: Observed = observed_of(self.world)
        self.evicted: list[str] = []
        self.statuses: list[str] = []
        self.annotated: list[str] = []
        self.replace_on: Callable[[Pod], str | None] = lambda pod: "b1"
        self.refusal: Exception | None = None
        self.rebalancer = Rebalancer(self.observed, self, self.world.cluster, self.world.clock, settings)

    async def evict(self, pod: Pod) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.evicted.append(pod.name)
        self.tell(PodDeleted(pod))
        on = self.replace_on(pod)
        if on is not None:
            meta = replace(pod.metadata, name=f"{pod.name}x", uid=f"{pod.uid}x", annotations=None)
            self.tell(PodAdded(pod.evolve(metadata=meta).assigned_to(on)))

    async def annotate(self, pod: Pod, annotations: dict[str, str]) -> None:
        self.annotated.append(pod.name)

    async def write_status(self, policy: WorkloadPolicy, status: dict[str, Any]) -> None:
        self.statuses.append(policy.name)
        (known,) = (each for each in self.observed.policies() if each.key == policy.key)
        written = replace(known, status=msgspec.convert(status, WorkloadPolicyStatus))
        self.tell(ObjectChanged(POLICY, known, written))

    def tell(self, event: Event) -> None:
        self.world.scheduler.handle(event)
        self.observed.note(event)

    def run(self, after_s: float = 0.0) -> float | None:
        """Look again and again until there is no more news."""
        self.world.clock.advance(after_s)
        wake_at = asyncio.run(self.rebalancer.step())
        while self.observed.has_news:
            wake_at = asyncio.run(self.rebalancer.step())
        return None if wake_at is None else wake_at - self.world.clock.now()

    def says(self, kind: str = "Rebalancing", name: str = "regions") -> tuple[str, str]:
        (found,) = (each for each in self.observed.policies() if each.name == name)
        (condition,) = (each for each in found.status.conditions or () if each.type == kind)
        return condition.reason, condition.message


def desk(numbers: dict[str, int] | None = None, settings: Settings | None = None, **terms: Any) -> Desk:
    given = policy(numbers or {"regionA": 3, "regionB": 5}, rebalance={**AT_ONCE, **terms})
    return Desk(given, replica_set(8), *pods({"a1": 5, "b1": 3}), settings=settings)


def test_it_moves_what_is_needed_and_stops() -> None:
    made = desk()
    assert made.run() is None
    assert len(made.evicted) == 2
    assert made.says() == ("NothingToMove", "")
    assert made.says("Satisfied") == ("NumbersMet", "")
    count = len(made.statuses)
    made.run(1000)
    assert (len(made.evicted), len(made.statuses)) == (2, count)


def test_a_replacement_that_bounced_back_is_remembered_and_tried_again_much_later() -> None:
    made = desk()
    made.replace_on = lambda pod: "a1"
    wakes_in = made.run()
    assert len(made.evicted) == 1
    assert wakes_in == 600.0
    assert made.says()[0] == "NoMovePossible"
    assert "its replacement did not stay in regionB before" in made.says()[1]
    made.run(599)
    assert len(made.evicted) == 1
    assert made.run(1) == 1200.0
    assert len(made.evicted) == 2
    made.replace_on = lambda pod: "b1"
    made.run(1200)
    assert made.says("Satisfied") == ("NumbersMet", "")


def test_new_numbers_make_it_forget_what_bounced() -> None:
    made = desk()
    made.replace_on = lambda pod: "a1"
    made.run()
    made.replace_on = lambda pod: "b1"
    (known,) = made.observed.policies()
    spec = replace(known.spec, allocation_policy=known.domains[::-1])
    made.tell(ObjectChanged(POLICY, known, replace(known, spec=spec)))
    made.run()
    assert made.says("Satisfied") == ("NumbersMet", "")


def test_without_a_replacement_it_waits_and_then_says_that_it_is_stuck() -> None:
    made = desk()
    made.replace_on = lambda pod: None
    assert made.run() == 100.0
    assert made.says()[0] == "Moving"
    assert made.run(100) is None
    reason, message = made.says()
    assert reason == "Degraded"
    assert message == f"no replacement of {made.evicted[0]} was ready within 100 s"
    assert len(made.evicted) == 1, "no further pod is touched"


def test_one_that_starts_while_a_pod_is_missing_waits_for_it() -> None:
    """As after a restart in the middle of a move."""
    given = policy({"regionA": 2, "regionB": 6}, rebalance=AT_ONCE)
    made = Desk(given, replica_set(8), *pods({"a1": 4, "b1": 3}))
    missing = next(record for record in made.world.cluster.records.values() if not record.pod.node_name)
    made.run()
    assert made.evicted == []
    assert made.says() == ("PodsUnavailable", "1 of 8 pods are not ready, and maxUnavailable is 1")
    made.tell(PodDeleted(missing.pod))
    made.tell(PodAdded(missing.pod.assigned_to("b1")))
    made.run()
    assert len(made.evicted) == 2


def test_refusals_are_waited_out_longer_each_time() -> None:
    made = desk()
    made.refusal = EvictionRefusedError(429, "not now")
    assert made.run() == 5.0
    assert made.says()[0] == "EvictionRefused"
    assert made.run(5) == 10.0
    assert made.run(10) == 20.0
    made.refusal = None
    made.run(20)
    assert len(made.evicted) == 2


@pytest.mark.parametrize(
    "limits",
    [MoveLimits(moving=2), MoveLimits(per_namespace=2), MoveLimits(per_domain=2)],
    ids=["all", "namespace", "domain"],
)
def test_limits_of_the_process_go_before_those_of_the_policy(limits: MoveLimits) -> None:
    made = desk({"regionA": 0, "regionB": 8}, Settings(limits=limits), maxUnavailable=5)
    made.replace_on = lambda pod: None
    made.run()
    assert len(made.evicted) == 2


def test_a_budget_of_nothing_moves_nothing() -> None:
    made = desk(settings=Settings(limits=MoveLimits(moving=0)))
    made.run()
    assert (made.evicted, made.says()[0]) == ([], "BudgetSpent")


def test_one_policy_that_fails_does_not_hold_up_the_others() -> None:
    other = policy({"regionA": 0}, "broken")
    other["spec"]["labelSelector"] = {"matchLabels": {"app": "other"}}
    given = policy({"regionA": 3, "regionB": 5}, rebalance=AT_ONCE)
    made = Desk(other, given, replica_set(8), *pods({"a1": 5, "b1": 3}))
    real = made.write_status

    async def write_status(of: WorkloadPolicy, status: dict[str, Any]) -> None:
        if of.name == "broken":
            raise ServerError(500, "no")
        await real(of, status)

    vars(made)["write_status"] = write_status
    made.run()
    assert len(made.evicted) == 2
    assert made.says("Satisfied") == ("NumbersMet", "")


def test_a_policy_that_cannot_be_used_says_what_is_wrong_and_holds_nobody_up() -> None:
    other = policy({"regionA": 0}, "broken")
    given = policy({"regionA": 3, "regionB": 5}, rebalance=AT_ONCE)
    made = Desk(other, given, replica_set(8), *pods({"a1": 5, "b1": 3}))
    (known,) = (each for each in made.observed.policies() if each.name == "broken")
    spec = replace(known.spec, topology_key="", label_selector=None, allocation_type="odd")
    made.tell(ObjectChanged(POLICY, known, replace(known, spec=spec)))
    made.run()
    reason, message = made.says("Valid", "broken")
    assert reason == "Invalid"
    for field in ("spec.topologyKey: there is none", "spec.labelSelector: there is none", 'spec.allocationType: "odd"'):
        assert field in message
    assert made.says("Satisfied", "broken")[0] == "Invalid"
    assert made.says("Satisfied") == ("NumbersMet", "")


@pytest.mark.parametrize("written", ["abc", "5", "-3%", -2])
def test_terms_that_cannot_be_read_stop_nobody_else(written: int | str) -> None:
    other = policy({"regionA": 0}, "broken")
    given = policy({"regionA": 3, "regionB": 5}, rebalance=AT_ONCE)
    made = Desk(other, given, replica_set(8), *pods({"a1": 5, "b1": 3}))
    (known,) = (each for each in made.observed.policies() if each.name == "broken")
    spec = replace(known.spec, rebalance=Rebalance(mode="Auto", max_unavailable=written))
    made.tell(ObjectChanged(POLICY, known, replace(known, spec=spec)))
    made.run()
    assert made.says("Valid", "broken")[1].startswith("spec.rebalance.maxUnavailable: ")
    assert made.says("Satisfied") == ("NumbersMet", "")


def test_an_eviction_that_is_forbidden_is_told_and_asked_for_later() -> None:
    made = desk()
    made.refusal = ForbiddenError(403, "a webhook says no")
    assert made.run() == 5.0
    reason, message = made.says()
    assert (reason, message.partition(": ")[2]) == ("EvictionRefused", "a webhook says no")


def test_a_replacement_on_its_way_while_the_policy_changes_has_not_bounced() -> None:
    made = desk()
    made.replace_on = lambda pod: None
    made.run()
    (known,) = made.observed.policies()
    back = replace(known.spec, allocation_policy=_domains(5, 3))
    made.tell(ObjectChanged(POLICY, known, replace(known, spec=back)))
    (one, *_) = (pod for pod in made.observed.pods("default") if pod.node_name == "a1")
    made.tell(PodAdded(one.evolve(metadata=replace(one.metadata, name="new", uid="new"))))
    assert made.run() is None, "nothing is remembered that could be tried again"
    assert made.says() == ("NothingToMove", "")
    assert len(made.evicted) == 1


def _domains(a: int, b: int) -> tuple[DomainAllocation, ...]:
    return DomainAllocation(name="regionA", replicas=a), DomainAllocation(name="regionB", replicas=b)


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_policy_that_changes_while_others_are_looked_at_is_taken_as_it_is_then(is_gone: bool) -> None:
    first = policy({"regionA": 1}, "first", rebalance={"mode": "Off"})
    first["spec"]["labelSelector"] = {"matchLabels": {"app": "other"}}
    made = Desk(first, policy({"regionA": 3, "regionB": 5}, rebalance=AT_ONCE), replica_set(8),
                *pods({"a1": 5, "b1": 3}))  # fmt: skip
    real = made.write_status

    async def write_status(of: WorkloadPolicy, status: dict[str, Any]) -> None:
        await real(of, status)
        (known,) = (each for each in made.observed.policies() if each.name == "regions")
        if of.name != "first":
            return
        if is_gone:
            made.tell(ObjectDeleted(POLICY, known))
        else:
            made.tell(ObjectChanged(POLICY, known, replace(known, spec=replace(known.spec, rebalance=None))))

    vars(made)["write_status"] = write_status
    asyncio.run(made.rebalancer.step())
    assert made.evicted == []


def test_a_lost_lease_ends_it() -> None:
    made = desk()
    made.refusal = LeadershipLostError("not the leader any more: nothing was written")
    with pytest.raises(LeadershipLostError):
        made.run()


def test_costs_are_written_unless_the_policy_only_wants_a_plan_or_they_are_switched_off() -> None:
    for mode, settings, wanted in (
        ("Off", None, 8), ("Auto", None, 8), ("DryRun", None, 0), ("Off", Settings(writes_costs=False), 0),
    ):  # fmt: skip
        made = desk({"regionA": 5, "regionB": 3}, settings, mode=mode)
        asyncio.run(made.rebalancer.step())
        assert len(made.annotated) == wanted, (mode, settings)


def test_a_policy_that_is_gone_is_forgotten() -> None:
    made = desk()
    made.replace_on = lambda pod: None
    made.run()
    assert made.rebalancer.moving == 1
    (known,) = made.observed.policies()
    made.world.scheduler.cache.objects.drop(POLICY, known.namespace, known.name)
    asyncio.run(made.rebalancer.step())
    assert made.rebalancer.moving == 0
