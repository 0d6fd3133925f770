"""
After any sequence of events, cycles and ticks, every pod the queue was given is in exactly one place.

A state machine drives the queue next to a plain account of which pods exist, and compares after every step.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bayplan.engine.queue.unschedulable import UnschedulablePods
from bayplan.framework.events import Change, ClusterEvent, On
from bayplan.framework.plugin import QueuedPod
from bayplan.objects.pod import Pod
from tests.engine.queue.support import Gate, World, a_pod

NAMES = st.sampled_from([f"pod-{number}" for number in range(6)])
PLUGINS = st.frozensets(st.sampled_from(["Fit", "Affinity", "Held", "Deaf", "Broken"]), max_size=3)
EVENTS = st.sampled_from(
    [
        ClusterEvent("Node", Change.ADDED),
        ClusterEvent("Node", Change.LABEL),
        ClusterEvent("Node", Change.TAINT),
        ClusterEvent("AssignedPod", Change.DELETED),
        ClusterEvent("AssignedPod", Change.UPDATED),
    ]
)
PLACES = {"active", "backoff", "unschedulable", "gated", "in_flight"}


def broken(pod: Pod, old: object, new: object) -> bool:
    raise RuntimeError("this hint never works")


RULES = {
    "Fit": (On("Node", Change.ADDED), On("Pod", Change.DELETED | Change.POD_SCALE_DOWN)),
    "Affinity": (On("Node", Change.ADDED | Change.LABEL, lambda pod, old, new: pod.priority > 1),),
    "Held": (On("Node", Change.TAINT),),
    "Deaf": (),
    "Broken": (On("Node", Change.LABEL, broken),),
    "Gate": (On("Node", Change.LABEL), On("Pod", Change.POD_LABEL)),
}


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate()
        self.world = World(gates=(self.gate,), rules=RULES)
        self.queue = self.world.queue
        self.pods: dict[str, Pod] = {}
        self.flying: dict[str, QueuedPod] = {}
        self.made = 0

    # -- what the cluster does --

    @rule(name=NAMES, priority=st.integers(0, 3), nominated=st.sampled_from(["", "n1"]))
    def create(self, name: str, priority: int, nominated: str) -> None:
        if name not in self.pods:
            self.made += 1
            self.pods[name] = a_pod(name, uid=f"{name}-{self.made}", priority=priority, nominated=nominated)
        self.queue.add(self.pods[name])

    @rule(
        name=NAMES,
        priority=st.integers(0, 3),
        label=st.sampled_from("ab"),
        cpu=st.sampled_from(["1", "2"]),
        nominated=st.sampled_from(["", "n1", "n2"]),
        made_again=st.booleans(),
    )
    def change(self, name: str, priority: int, label: str, cpu: str, nominated: str, made_again: bool) -> None:
        if name in self.pods:
            old = self.pods[name]
            self.made += made_again
            self.pods[name] = a_pod(
                name,
                uid=f"{name}-{self.made}" if made_again else old.uid,
                priority=priority,
                labels={"x": label},
                cpu=cpu,
                nominated=nominated,
            )
            self.queue.update(old, self.pods[name])

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        if name in self.pods:
            self.queue.delete(self.pods.pop(name))

    @rule(event=EVENTS, most=st.integers(0, 3))
    def happen(self, event: ClusterEvent, most: int) -> None:
        self.queue.move(event, None, object(), only=None if most == 3 else lambda pod: pod.priority <= most)

    @rule(names=st.frozensets(NAMES))
    def close_the_gate_for(self, names: frozenset[str]) -> None:
        self.gate.closed_for = set(names)

    # -- what the scheduler does --

    @rule()
    def pop(self) -> None:
        queued = self.queue.pop()
        if queued is not None:
            assert queued.pod.uid not in self.flying
            self.flying[queued.pod.uid] = queued

    @rule(data=st.data(), unschedulable=PLUGINS, pending=PLUGINS)
    def fail(self, data: st.DataObject, unschedulable: frozenset[str], pending: frozenset[str]) -> None:
        if self.flying:
            queued = self.flying.pop(data.draw(st.sampled_from(sorted(self.flying))))
            newest = self.pods.get(queued.pod.name)
            if newest is None:
                self.queue.done(queued.pod.uid)
            else:
                self.queue.requeue_failed(
                    queued, unschedulable_plugins=unschedulable, pending_plugins=pending, pod=newest
                )

    @rule(data=st.data())
    def bind(self, data: st.DataObject) -> None:
        if self.flying:
            queued = self.flying.pop(data.draw(st.sampled_from(sorted(self.flying))))
            if self.pods.get(queued.pod.name, queued.pod).uid == queued.pod.uid:
                self.pods.pop(queued.pod.name, None)
            self.queue.done(queued.pod.uid)
            self.queue.delete(queued.pod)

    @rule(names=st.frozensets(NAMES))
    def activate(self, names: frozenset[str]) -> None:
        self.queue.activate([self.pods.get(name, a_pod(name)) for name in sorted(names)])

    @rule(name=NAMES, node=st.sampled_from(["", "n1", "n2"]))
    def nominate(self, name: str, node: str) -> None:
        if name in self.pods:
            self.queue.nominations.nominate(self.pods[name], node)

    @rule(seconds=st.sampled_from([0.0, 0.3, 1.0, 5.0, 31.0, 301.0]))
    def let_time_pass(self, seconds: float) -> None:
        self.world.wait(seconds)

    @rule()
    def wait_until_woken(self) -> None:
        wake_at = self.queue.next_wakeup()
        if wake_at is not None and wake_at > self.world.clock.now():
            self.world.clock.advance_to(wake_at)
            before = list(self.queue.entries()), [queued.flushed_at for _, queued in self.queue.entries()]
            self.queue.flush()
            after = list(self.queue.entries()), [queued.flushed_at for _, queued in self.queue.entries()]
            assert before != after, "woken for nothing"

    # -- what must always hold --

    @invariant()
    def every_pod_is_in_exactly_one_place(self) -> None:
        expected = {pod.uid for pod in self.pods.values()} | self.flying.keys()
        entries = [(place, queued.pod.uid) for place, queued in self.queue.entries()]
        assert sorted(uid for _, uid in entries) == sorted(expected)
        for place, uid in entries:
            assert place in PLACES
            assert place == self.queue.where(uid)
            assert (place == "in_flight") == (uid in self.flying)
            assert (place == "gated") == (self.queue.gated_reason(uid) is not None)

    @invariant()
    def the_counts_agree_with_the_places(self) -> None:
        places = [place for place, _ in self.queue.entries()]
        assert self.queue.pending() == {
            place: places.count(place) for place in ("active", "backoff", "unschedulable", "gated")
        }
        for name in self.pods:
            assert f"default/{name}" in self.queue

    @invariant()
    def waiting_pods_are_in_their_newest_version(self) -> None:
        for place, queued in self.queue.entries():
            if place != "in_flight":
                assert queued.pod is self.pods[queued.pod.name]

    @invariant()
    def nominations_belong_to_pods_that_exist(self) -> None:
        uids = {pod.uid for pod in self.pods.values()}
        nominated = [
            pod.uid
            for node in self.queue.nominations.nominated_nodes()
            for pod in self.queue.nominations.nominated(node)
        ]
        assert len(nominated) == len(set(nominated))
        assert set(nominated) <= uids

    @invariant()
    def the_index_of_waiting_pods_holds_exactly_those_who_wait(self) -> None:
        part: UnschedulablePods = self.queue._unschedulable
        indexed = {uid for index in (part._by_rejector, part._by_gate) for bucket in index.values() for uid in bucket}
        assert indexed == {queued.pod.uid for queued in part}

    @invariant()
    def events_are_kept_only_for_pods_in_flight(self) -> None:
        if not self.flying:
            assert not self.queue._in_flight.event_counts()


TestQueueLosesNoPod = QueueMachine.TestCase
TestQueueLosesNoPod.settings = settings(
    max_examples=150, stateful_step_count=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
