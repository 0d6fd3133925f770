"""What informer events mean for cache and queue, row by row of the sheet, and which events they bring about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bayplan.engine.events import (
    BindFailed,
    KindRefused,
    NodeAdded,
    NodeChanged,
    NodeDeleted,
    ObjectAdded,
    ObjectChanged,
    ObjectDeleted,
    PodAdded,
    PodChanged,
    PodDeleted,
    Tick,
)
from bayplan.framework.results import Wait
from bayplan.framework.snapshot import TermKind
from bayplan.framework.status import unschedulable
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Namespace, Service
from bayplan.testing import PodBuilder, node, pod
from tests.engine.support import SaysFilter, SaysPermit, SaysPreBind, SaysPreEnqueue, World, named

P = pod("p").cpu(1)
REJECTS = named(SaysFilter, "Rejects", answer=unschedulable("no"))
Moves = list[tuple[str, Any, Any]]


def versioned(made: PodBuilder, version: str) -> Pod:
    built = made.build()
    return built.evolve(metadata=msgspec.structs.replace(built.metadata, resource_version=version))


class Told(World):
    """A scheduler, with what the queue was told kept beside it."""

    def __init__(self, *plugins: Any) -> None:
        super().__init__(*plugins)
        self.moves: Moves = []
        self.asked_for: list[Callable[[Pod], bool] | None] = []
        move = self.queue.move

        def told(event: Any, old: Any, new: Any, *, only: Any = None) -> None:
            self.moves.append((event.label, old, new))
            self.asked_for.append(only)
            move(event, old, new, only=only)

        self.queue.move = told  # type: ignore[method-assign]

    def tell(self, event: Any) -> Moves:
        """Hand in one event; gives what the queue was told because of it."""
        self.moves.clear()
        self.asked_for.clear()
        assert self.scheduler.handle(event) == []
        return list(self.moves)

    def park(self, made: PodBuilder) -> None:
        """Let the pod be rejected."""
        self.add(made)
        self.schedule()
        assert self.where(made) == "unschedulable"

    def version(self, made: PodBuilder) -> Pod:
        """The pod as the queue has it."""
        (found,) = [queued.pod for _, queued in self.queue.entries() if queued.pod.uid == made.build().uid]
        return found


# -- unassigned pods --


@pytest.mark.parametrize(
    ("made", "place"),
    [(P, "active"), (P.scheduler("another"), None), (P.phase("Succeeded"), None), (P.phase("Failed"), None)],
    ids=["ours", "another scheduler's", "ended well", "ended badly"],
)
def test_a_new_pod_is_queued_if_it_is_ours_and_alive(made: PodBuilder, place: str | None) -> None:
    told = Told()
    assert told.tell(PodAdded(made.build())) == []
    assert told.where(made) == place


def test_a_new_pod_that_may_not_enter_is_gated() -> None:
    told = Told(named(SaysPreEnqueue, "Gate", answer=unschedulable("closed")))
    told.tell(PodAdded(P.build()))
    assert told.where(P) == "gated"


def test_an_update_replaces_the_pod_where_it_waits() -> None:
    told = Told()
    told.add(P)
    assert told.tell(PodChanged(P.build(), P.label(v="2").build())) == []
    assert told.where(P) == "active"
    assert told.version(P).labels == {"v": "2"}


def test_an_update_of_an_unknown_pod_adds_it() -> None:
    told = Told()
    told.tell(PodChanged(P.build(), P.label(v="2").build()))
    assert told.where(P) == "active"


def test_an_update_of_a_rejected_pod_is_a_reason_to_try_again_if_the_plugin_says_so() -> None:
    told = Told(REJECTS)
    told.add(node("n"))
    told.park(P)
    told.tell(PodChanged(P.build(), P.label(v="2").build()))
    assert told.where(P) == "backoff"


def test_a_resync_is_no_news() -> None:
    told = Told(REJECTS)
    told.add(node("n"))
    told.park(P)
    told.tell(PodChanged(versioned(P, "7"), versioned(P, "7")))
    assert told.where(P) == "unschedulable"
    told.tell(PodChanged(versioned(P, "7"), versioned(P, "8")))
    assert told.where(P) == "backoff"


def test_an_update_during_the_pods_cycle_counts_when_it_comes_back() -> None:
    told = Told(named(SaysPermit, "Holds", answer=Wait(60)))
    told.add(node("n"), P)
    bind = told.bind()
    told.cache.forget(P.on("n").build())
    told.tell(PodChanged(P.build(), P.label(v="2").build()))
    assert told.where(P) == "in_flight"
    rejected = unschedulable("no").by("Holds")
    told.scheduler.handle(BindFailed(bind.queued, bind.decision, rejected, waited=True))
    assert told.where(P) == "backoff"
    assert told.version(P).labels == {"v": "2"}


@pytest.mark.parametrize("before", [P.priority(5).nominated("n"), P.priority(5).nominated("m")])
@pytest.mark.parametrize("after", [P.priority(5), P.priority(5).nominated("k")])
def test_a_nomination_that_went_is_told_to_pods_up_to_its_priority(before: PodBuilder, after: PodBuilder) -> None:
    told = Told()
    told.add(before)
    old, new = before.build(), after.build()
    assert told.tell(PodChanged(old, new)) == [("AssignedPodDelete", old, None)]
    (only,) = told.asked_for
    assert only is not None
    assert [only(pod("x").priority(priority).build()) for priority in (4, 5, 6)] == [True, True, False]


def test_a_nomination_that_came_is_nothing_to_tell() -> None:
    told = Told()
    told.add(P)
    assert told.tell(PodChanged(P.build(), P.nominated("n").build())) == []
    assert told.tell(PodChanged(P.nominated("n").build(), P.nominated("n").label(v="2").build())) == []


@pytest.mark.parametrize(
    ("made", "moves"),
    [(P, []), (P.nominated("n"), [("AssignedPodDelete", P.nominated("n").build(), None)])],
    ids=["plain", "nominated"],
)
def test_a_pod_that_is_deleted_leaves_the_queue(made: PodBuilder, moves: Moves) -> None:
    told = Told()
    told.add(made)
    assert told.tell(PodDeleted(made.build())) == moves
    assert told.where(made) is None
    assert list(told.queue.nominations.nominated("n")) == []


def test_a_pod_made_anew_under_the_same_name_is_another_pod() -> None:
    told = Told()
    told.add(P)
    told.tell(PodChanged(P.build(), P.uid("new").build()))
    assert told.where(P) is None
    assert told.queue.where("new") == "active"


# -- assumed pods --


def assumed(*plugins: Any) -> Told:
    told = Told(*plugins)
    told.add(node("n"), P)
    told.bind()
    assert told.cache.is_assumed(P.build().uid)
    return told


def test_updates_of_an_assumed_pod_change_nothing() -> None:
    told = assumed()
    assert told.tell(PodChanged(P.build(), P.label(v="2").nominated("n").build())) == []
    assert told.tell(PodChanged(P.terminating().build(), P.terminating().label(v="2").build())) == []
    assert told.cache.is_assumed(P.build().uid)
    assert told.cache.nodes.req_cpu_milli.tolist() == [1000]


@pytest.mark.parametrize("event", [PodChanged(P.build(), P.terminating().build()), PodDeleted(P.build())])
def test_an_assumed_pod_that_is_going_away_gives_its_room_back(event: Any) -> None:
    told = assumed(named(SaysPreBind, "Slow"))
    ((label, old, new),) = told.tell(event)
    assert (label, old.node_name, new) == ("AssignedPodDelete", "n", None)
    assert told.cache.pod_count == 0


@pytest.mark.parametrize("event", [PodChanged(P.build(), P.terminating().build()), PodDeleted(P.build())])
def test_a_held_pod_that_is_going_away_is_rejected_and_keeps_its_room_until_then(event: Any) -> None:
    told = assumed(named(SaysPermit, "Holds", answer=Wait(60)))
    assert told.tell(event) == []
    assert told.cache.is_assumed(P.build().uid)
    held = told.scheduler.waiting.get(P.build().uid)
    assert held is not None
    status = told.run(held.wait())
    assert (status.message, status.plugin) == ("removed", "")


# -- assigned pods --


@pytest.mark.parametrize("event", [PodAdded(P.on("n").build()), PodChanged(P.build(), P.on("n").build())])
def test_a_pod_that_gets_a_node_moves_from_queue_to_cache(event: Any) -> None:
    told = Told()
    told.add(node("n"), P)
    assert told.tell(event) == [("AssignedPodAdd", None, P.on("n").build())]
    assert told.where(P) is None
    assert told.cache.nodes.req_cpu_milli.tolist() == [1000]


def test_an_assumed_pod_is_confirmed_wherever_it_is() -> None:
    told = assumed()
    told.add(node("other"))
    told.tell(PodChanged(P.build(), P.on("other").build()))
    assert not told.cache.is_assumed(P.build().uid)
    assert told.cache.nodes.req_cpu_milli.tolist() == [0, 1000]


def test_pods_of_other_schedulers_count_on_their_nodes() -> None:
    told = Told()
    told.add(node("n"), P.scheduler("another").on("n"))
    assert told.cache.nodes.req_cpu_milli.tolist() == [1000]


@pytest.mark.parametrize(
    ("after", "labels"),
    [
        (P.on("n").label(v="2"), ["AssignedPodUpdatePodLabel"]),
        (P.on("n").cpu("500m"), ["AssignedPodUpdatePodScaleDown"]),
        (P.on("n").cpu("500m").label(v="2"), ["AssignedPodUpdatePodLabel", "AssignedPodUpdatePodScaleDown"]),
        (P.on("n").annotation(v="2"), ["AssignedPodUpdate"]),
    ],
)
def test_an_update_of_an_assigned_pod_is_told_by_what_changed(after: PodBuilder, labels: list[str]) -> None:
    told = Told()
    told.add(node("n"), P.on("n"))
    moves = told.tell(PodChanged(P.on("n").build(), after.build()))
    assert [label for label, _, _ in moves] == labels
    assert told.cache.pod(P.build().uid) == after.build()


def test_a_deleted_pod_frees_its_node() -> None:
    told = Told()
    told.add(node("n"), P.on("n"))
    assert told.tell(PodDeleted(P.on("n").build())) == [("AssignedPodDelete", P.on("n").build(), None)]
    assert told.cache.pod_count == 0


def test_a_pod_that_ends_frees_its_node_and_its_deletion_later_is_no_news() -> None:
    told = Told()
    told.add(node("n"), P.on("n"))
    ended = P.on("n").phase("Succeeded").build()
    assert told.tell(PodChanged(P.on("n").build(), ended)) == [("AssignedPodDelete", P.on("n").build(), None)]
    assert told.cache.pod_count == 0
    assert told.tell(PodChanged(ended, ended)) == []
    assert told.tell(PodDeleted(ended)) == []


@pytest.mark.parametrize("after", [P.phase("Failed"), P.on("n").phase("Succeeded")])
def test_a_waiting_pod_that_ends_unseen_is_waited_for_no_longer(after: PodBuilder) -> None:
    told = Told()
    told.add(node("n"), P)
    told.tell(PodChanged(P.build(), after.build()))
    assert told.where(P) is None
    assert told.scheduler._informed.newest(P.build()) is None
    assert told.cache.pod_count == 0


# -- nodes and the rest --


def test_nodes_are_told_by_what_changed() -> None:
    told = Told()
    plain, better = node("n").build(), node("n").cpu(8).taint("gpu").build()
    assert told.tell(NodeAdded(plain)) == [("NodeAdd", None, plain)]
    moves = told.tell(NodeChanged(plain, better))
    assert [label for label, _, _ in moves] == ["NodeUpdateNodeAllocatable", "NodeUpdateNodeTaint"]
    assert told.cache.nodes.alloc_cpu_milli.tolist() == [8000]
    assert told.tell(NodeChanged(better, better)) == []
    assert told.tell(NodeDeleted(better)) == [("NodeDelete", better, None)]
    assert len(told.cache.nodes) == 0


def test_other_objects_are_kept_and_told_by_kind() -> None:
    told = Told()
    web = Service(metadata=ObjectMeta(name="web", namespace="default"))
    assert told.tell(ObjectAdded("Service", web)) == [("ServiceAdd", None, web)]
    assert told.cache.objects.get("Service", "default", "web") is web
    assert told.tell(ObjectChanged("Service", web, web)) == [("ServiceUpdate", web, web)]
    assert told.tell(ObjectDeleted("Service", web)) == [("ServiceDelete", web, None)]
    assert told.cache.objects.get("Service", "default", "web") is None


def test_a_namespaces_new_labels_are_asked_about_at_once() -> None:
    told = Told()
    told.add(node("n"), pod("shy").on("n").anti_affinity({}, "host", ns_selector={"team": "blue"}))

    def selected() -> int:
        return len(told.cache.nodes.terms(TermKind.REQUIRED_ANTI_AFFINITY, P.build()))

    assert selected() == 0
    blue = Namespace(metadata=ObjectMeta(name="default", labels={"team": "blue"}))
    told.tell(ObjectAdded("Namespace", blue))
    assert selected() == 1
    told.tell(ObjectDeleted("Namespace", blue))
    assert selected() == 0


def test_what_is_no_event_of_the_cluster_is_refused() -> None:
    with pytest.raises(TypeError, match="not an event of the cluster"):
        Told().scheduler._informed.handle(Tick())


# -- plugins that want to know --


class Observing(SaysFilter):
    """Keeps what it hears of the kinds it reads."""

    name = "Observing"
    reads = ("Service", "Node", "Pod")

    def __init__(self, args: Any = None, handle: Any = None) -> None:
        super().__init__(args, handle)
        self.heard: list[tuple[str, str | None, str | None]] = []

    def observe(self, kind: str, old: Any, new: Any) -> None:
        if new is not None and new.name == "bad":
            raise ValueError("on purpose")
        self.heard.append((kind, old and old.name, new and new.name))


def test_a_plugin_hears_of_the_kinds_it_reads_once_the_cache_knows() -> None:
    told = Told(Observing)
    n1, service = node("n1").build(), Service(metadata=ObjectMeta(name="s", namespace="default"))
    bad = Service(metadata=ObjectMeta(name="bad", namespace="default"))
    for event in (
        NodeAdded(n1),
        NodeChanged(n1, n1),
        ObjectAdded("Service", bad),
        ObjectAdded("Service", service),
        ObjectChanged("Service", service, service),
        ObjectDeleted("Service", service),
        ObjectAdded("Namespace", Namespace(metadata=ObjectMeta(name="x"))),
        PodAdded(P.build()),
        PodChanged(P.build(), P.build()),
        PodDeleted(P.build()),
        NodeDeleted(n1),
    ):
        told.tell(event)
    assert told.plugin("Observing").heard == [
        ("Node", None, "n1"),
        ("Node", "n1", "n1"),
        ("Service", None, "s"),
        ("Service", "s", "s"),
        ("Service", "s", None),
        ("Pod", None, "p"),
        ("Pod", "p", "p"),
        ("Pod", "p", None),
        ("Node", "n1", None),
    ]


def test_why_a_kind_cannot_be_read_is_kept_until_it_can() -> None:
    told = Told()
    objects = told.cache.objects
    told.tell(KindRefused("Service", "may not"))
    assert objects.unreadable("Service") == "may not"
    assert objects.unreadable("Node") == ""
    told.tell(KindRefused("Service", ""))
    assert objects.unreadable("Service") == ""
