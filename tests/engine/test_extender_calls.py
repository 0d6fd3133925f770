"""
Extenders in the scheduling and binding cycles: who is asked what, in which order, and what the answers do.

The extenders are scripted; the wire is tested in ``tests/kube/test_extender.py``, and all of it beside the real
kube-scheduler in ``tests/app/test_extenders.py``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from bayplan.engine.events import NodeDeleted, PodDeleted
from bayplan.engine.extender_calls import straight_through
from bayplan.engine.intents import AskExtenders, Bind, Intent
from bayplan.errors import ExtenderError
from bayplan.framework import PreFilterResult, unresolvable, unschedulable
from bayplan.objects.extender import Filtered, VictimIds, Victims
from bayplan.objects.pod import Pod
from bayplan.plugins.default_preemption import DefaultPreemption
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.testing import NodeBuilder, PodBuilder, node, pod
from tests.engine.support import SaysFilter, SaysPreFilter, SaysScore, World, evict_of, named, note_of, patch_of

DOWN = ExtenderError("failed filter with extender at URL http://x/filter, code 500")
NODES = (node("n1"), node("n2"), node("n3"))
GPU = "example.com/gpu"


class Scripted:
    """Says what it is told to each verb; without an answer it does not have that verb."""

    def __init__(self, name: str = "http://x", weight: int = 1, ignorable: bool = False, only: str = "", **says: Any):
        self.name = name
        self.weight = weight
        self.is_ignorable = ignorable
        self._only = only
        self._says = says
        self.filters = "filter" in says
        self.prioritizes = "prioritize" in says
        self.preempts = "preempt" in says
        self.binds = "bind" in says
        self.asked: list[tuple[str, str, Any]] = []

    def is_interested(self, pod: Pod) -> bool:
        return not self._only or self._only in pod.requests.scalars

    async def filter(self, pod: Pod, node_names: Sequence[str]) -> Filtered:
        answer = self._answer("filter", pod, list(node_names))
        return answer if isinstance(answer, Filtered) else Filtered(tuple(answer), {}, {})

    async def prioritize(self, pod: Pod, node_names: Sequence[str]) -> Sequence[tuple[str, int]]:
        return list(self._answer("prioritize", pod, list(node_names)))

    async def preempt(self, pod: Pod, victims: Mapping[str, Victims]) -> Mapping[str, VictimIds]:
        about = {name: ([p.name for p in one.pods], one.pdb_violations) for name, one in victims.items()}
        return dict(self._answer("preempt", pod, about))

    async def bind(self, pod: Pod, node_name: str) -> None:
        self._answer("bind", pod, node_name)

    def _answer(self, verb: str, pod: Pod, about: Any) -> Any:
        self.asked.append((verb, pod.name, about))
        answer = self._says[verb]
        if isinstance(answer, Exception):
            raise answer
        return answer(about) if callable(answer) else answer


def schedule(world: World) -> list[Intent]:
    """Schedule the next pod to the end of its cycle, extenders asked."""
    intents = world.schedule()
    if isinstance(intents[0], AskExtenders):
        return world.scheduler.handle(world.run(world.scheduler.ask(intents[0])))
    return intents


def bound_to(intents: list[Intent]) -> str | None:
    (bind,) = intents
    assert isinstance(bind, Bind)
    return bind.decision.node


def world_of(*extenders: Scripted, plugins: Any = (), nodes: Sequence[NodeBuilder] = NODES) -> World:
    world = World(*plugins, extenders=extenders)
    world.add(*nodes)
    return world


# -- filter --


def test_an_extender_leaves_one_node() -> None:
    extender = Scripted(filter=["n2"])
    world = world_of(extender)
    world.add(pod("a"))
    assert bound_to(schedule(world)) == "n2"
    assert extender.asked == [("filter", "a", ["n1", "n2", "n3"])]


def test_extenders_are_asked_one_after_the_other_with_what_is_left_and_ignorable_ones_last() -> None:
    order: list[tuple[str, list[str]]] = []

    def says(name: str, *passed: str) -> Any:
        def answer(names: list[str]) -> tuple[str, ...]:
            order.append((name, names))
            return passed

        return answer

    world = world_of(
        Scripted("a", ignorable=True, filter=says("a", "n3")),
        Scripted("b", filter=says("b", "n2", "n3")),
        Scripted("c", filter=says("c", "n2", "n3")),
    )
    world.add(pod("p"))
    assert bound_to(schedule(world)) == "n3"
    assert order == [("b", ["n1", "n2", "n3"]), ("c", ["n2", "n3"]), ("a", ["n2", "n3"])]


def test_only_nodes_that_pass_the_plugins_are_shown_and_nobody_is_asked_about_none() -> None:
    plugin = named(SaysFilter, "No", answer=lambda state, pod, node: None if node.name == "n3" else unschedulable("no"))
    extender = Scripted(filter=lambda names: names)
    world = world_of(extender, plugins=(plugin,))
    world.add(pod("a"))
    assert bound_to(schedule(world)) == "n3"
    world.plugin("No").answer = unresolvable("never")
    world.add(pod("b"))
    assert note_of(schedule(world)) == "0/3 nodes are available: 3 never."
    assert extender.asked == [("filter", "a", ["n3"])]


@pytest.mark.parametrize(
    ("title", "answer", "message"),
    [
        (
            "reasons are counted like those of plugins",
            Filtered((), {"n1": "hot", "n2": "hot"}, {"n3": "burnt"}),
            "0/3 nodes are available: 1 burnt, 2 hot.",
        ),
        ("dropped without a word", Filtered((), {"n1": "hot"}, {}), "0/3 nodes are available: 1 hot."),
        ("no words at all", Filtered((), {}, {}), "0/3 nodes are available:"),
        (
            "unresolvable wins over failed",
            Filtered((), {"n1": "hot"}, {"n1": "burnt"}),
            "0/3 nodes are available: 1 burnt.",
        ),
        ("strangers are not counted", Filtered((), {"n9": "hot"}, {}), "0/3 nodes are available:"),
    ],
)
def test_what_an_extender_says_of_nodes_is_told(title: str, answer: Filtered, message: str) -> None:
    world = world_of(Scripted(filter=answer))
    world.add(pod("a"))
    patch = patch_of(schedule(world))
    assert (patch.reason, patch.message) == ("Unschedulable", message), title


def test_an_extender_may_overrule_the_reason_of_a_plugin() -> None:
    plugin = named(SaysFilter, "No", answer=lambda state, pod, node: unschedulable("no") if node.name == "n1" else None)
    world = world_of(Scripted(filter=Filtered((), {"n1": "hot", "n2": "hot"}, {})), plugins=(plugin,))
    world.add(pod("a"))
    assert note_of(schedule(world)) == "0/3 nodes are available: 2 hot."


def test_a_node_left_without_a_word_counts_with_those_that_pre_filter_left_out() -> None:
    narrow = named(SaysPreFilter, "Few", answer=PreFilterResult(frozenset({"n1", "n2"})))
    world = world_of(Scripted(filter=[]), plugins=(narrow,))
    world.add(pod("a"))
    assert note_of(schedule(world)) == "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [Few]."


def test_a_failing_extender_fails_the_pod_unless_it_is_ignorable() -> None:
    world = world_of(Scripted(filter=DOWN))
    world.add(pod("a"))
    patch = patch_of(schedule(world))
    assert (patch.reason, patch.message) == ("SchedulerError", str(DOWN))
    assert world.where(pod("a")) == "backoff"

    world = world_of(Scripted(filter=DOWN, ignorable=True), Scripted(filter=["n2"]))
    world.add(pod("a"))
    assert bound_to(schedule(world)) == "n2"


def test_a_pod_that_an_extender_kept_out_is_tried_again_after_any_event() -> None:
    world = world_of(Scripted(filter=[]))
    world.add(pod("a"))
    schedule(world)
    assert world.where(pod("a")) == "unschedulable"
    world.scheduler.handle(NodeDeleted(node("n3").build()))
    assert world.where(pod("a")) in ("backoff", "active")


def test_a_pod_that_plugins_kept_out_is_not_the_extenders_business() -> None:
    plugin = named(SaysFilter, "No", answer=unresolvable("no"), requeue_on=lambda self: ())
    world = world_of(Scripted(filter=lambda names: names), plugins=(plugin,))
    world.add(pod("a"))
    schedule(world)
    world.scheduler.handle(NodeDeleted(node("n3").build()))
    assert world.where(pod("a")) == "unschedulable"


# -- the nominated node --


def test_the_nominated_node_is_asked_about_alone() -> None:
    extender = Scripted(filter=lambda names: names)
    world = world_of(extender)
    world.add(pod("a").nominated("n2"))
    assert bound_to(schedule(world)) == "n2"
    assert extender.asked == [("filter", "a", ["n2"])]


@pytest.mark.parametrize("first", [[], DOWN], ids=["refused", "failed"])
def test_a_nominated_node_that_is_refused_opens_the_search_again(first: Any) -> None:
    answers = iter([first, ["n2"]])

    def next_answer(names: list[str]) -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    extender = Scripted(filter=next_answer)
    world = world_of(extender)
    world.add(pod("a").nominated("n2"))
    assert bound_to(schedule(world)) == "n2"
    assert [about for _, _, about in extender.asked] == [["n2"], ["n1", "n2", "n3"]]


# -- prioritize --


def test_scores_count_ten_times_their_weight() -> None:
    scores = named(SaysScore, "S", answer=lambda state, pod, nodes: np.array([100, 60, 0]))
    extender = Scripted("e", weight=3, prioritize=[("n1", 0), ("n2", 2), ("n3", 1), ("n3", 1), ("n9", 9)])
    world = world_of(extender, plugins=(scores,))
    world.add(pod("a"))
    (bind,) = schedule(world)
    assert isinstance(bind, Bind)
    decision = bind.decision
    assert decision.node == "n2"
    assert decision.totals.tolist() == [100, 60 + 60, 60]
    assert [(each.plugin, each.weight, each.raw.tolist()) for each in decision.scores][1] == ("e", 30, [0, 2, 2])


def test_a_failing_score_counts_for_nothing_even_if_it_is_not_ignorable() -> None:
    world = world_of(Scripted("down", prioritize=DOWN), Scripted("up", prioritize=[("n3", 1)]))
    world.add(pod("a"))
    assert bound_to(schedule(world)) == "n3"


def test_a_single_feasible_node_is_not_scored() -> None:
    extender = Scripted(filter=["n2"], prioritize=[])
    world = world_of(extender)
    world.add(pod("a"))
    assert bound_to(schedule(world)) == "n2"
    assert [verb for verb, _, _ in extender.asked] == ["filter"]


# -- who is asked --


def test_a_pod_that_nobody_is_interested_in_is_scheduled_at_once() -> None:
    extender = Scripted(only=GPU, filter=["n2"])
    world = world_of(extender, nodes=[made.scalar(GPU, 1) for made in NODES])
    world.add(pod("plain"))
    assert isinstance(world.bind(), Bind)
    world.add(pod("gpu").scalar(GPU, 1))
    assert isinstance(world.schedule()[0], AskExtenders)


def test_an_extender_that_only_binds_does_not_hold_up_scheduling() -> None:
    world = world_of(Scripted(bind=None))
    world.add(pod("a"))
    assert isinstance(world.bind(), Bind)


def test_no_pod_is_scheduled_and_no_news_is_heard_while_an_extender_is_asked() -> None:
    world = world_of(Scripted(filter=lambda names: names[:1]))
    world.add(pod("a"), pod("b"))
    (ask,) = world.schedule()
    assert isinstance(ask, AskExtenders)
    assert world.scheduler.schedule(1) is None
    world.scheduler.handle(NodeDeleted(node("n1").build()))
    world.scheduler.handle(PodDeleted(pod("b").build()))
    assert len(world.cache.nodes) == 3
    intents = world.scheduler.handle(world.run(world.scheduler.ask(ask)))
    assert bound_to(intents) == "n1", "the cycle looked at the cluster as it was"
    assert len(world.cache.nodes) == 2
    assert world.scheduler.schedule(1) is None, "b is gone"


def test_an_event_that_cannot_be_handled_does_not_keep_later_ones_unheard() -> None:
    world = world_of(Scripted(filter=lambda names: names[:1]))
    world.add(pod("a"))
    (ask,) = world.schedule()
    assert isinstance(ask, AskExtenders)
    world.scheduler.handle("nonsense")  # type: ignore[arg-type]
    world.scheduler.handle(NodeDeleted(node("n3").build()))
    world.scheduler.handle(world.run(world.scheduler.ask(ask)))
    assert len(world.cache.nodes) == 2


def test_a_cycle_that_breaks_still_ends() -> None:
    world = world_of(Scripted(filter=lambda names: names, prioritize=[("n1", 2**70)]))
    world.add(pod("a"), pod("b"))
    assert patch_of(schedule(world)).reason == "SchedulerError"
    assert world.scheduler.schedule(1) is not None


def test_work_that_waits_cannot_be_run_straight_through() -> None:
    with pytest.raises(RuntimeError, match="must not wait"):
        straight_through(asyncio.sleep(0))


# -- preempt --

FULL = tuple(node(f"n{index}").cpu(1) for index in (1, 2))
LOW = (pod("low1").cpu(1).priority(1).on("n1"), pod("low2").cpu(1).priority(2).on("n2"))
HIGH = pod("high").cpu(1).priority(10)


def preempting(*extenders: Scripted) -> tuple[World, list[Intent]]:
    world = world_of(*extenders, plugins=(NodeResourcesFit, DefaultPreemption), nodes=FULL)
    world.add(*LOW, HIGH)
    return world, schedule(world)


def uid(made: PodBuilder) -> str:
    return made.build().uid


def test_an_extender_that_preempts_chooses_the_nodes_and_the_victims() -> None:
    extender = Scripted(preempt={"n2": VictimIds((uid(LOW[1]),), 0)})
    _, intents = preempting(extender)
    evict = evict_of(intents)
    assert (evict.node_name, [victim.name for victim in evict.victims]) == ("n2", ["low2"])
    assert patch_of(intents).nominated_node == "n2"
    assert extender.asked == [("preempt", "high", {"n1": (["low1"], 0), "n2": (["low2"], 0)})]


def test_without_an_extender_the_lowest_priority_goes() -> None:
    assert evict_of(preempting()[1]).node_name == "n1"
    assert evict_of(preempting(Scripted(filter=lambda names: names))[1]).node_name == "n1"


def test_the_next_extender_is_asked_about_what_the_last_one_left() -> None:
    first = Scripted(preempt={"n2": VictimIds((uid(LOW[1]),), 3)})
    second = Scripted(preempt={"n2": VictimIds((uid(LOW[1]),), 0)})
    assert evict_of(preempting(first, second)[1]).node_name == "n2"
    assert second.asked == [("preempt", "high", {"n2": (["low2"], 3)})]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({}, "no candidate node for preemption"),
        (DOWN, str(DOWN)),
        ({"n1": VictimIds((), 0)}, 'expected at least one victim pod on node "n1"'),
        ({"n9": VictimIds(("x",), 0)}, 'nodeinfo not found for node name "n9"'),
        (
            {"n1": VictimIds(("x",), 0)},
            "extender: http://x claims to preempt pod (UID: &{x}) on node: n1, but the pod is not found on that node",
        ),
    ],
)
def test_a_preemption_that_an_extender_prevents_is_explained(answer: Any, text: str) -> None:
    _, intents = preempting(Scripted(preempt=answer))
    patch = patch_of(intents)
    assert patch.message == f"0/2 nodes are available: 2 Insufficient cpu. preemption: {text}"
    assert patch.nominated_node is None, "an earlier nomination stays"


def test_an_ignorable_extender_cannot_prevent_a_preemption_by_failing() -> None:
    assert evict_of(preempting(Scripted(preempt=DOWN, ignorable=True))[1]).node_name == "n1"
    half = {"n1": VictimIds((), 0), "n2": VictimIds((uid(LOW[1]),), 0)}
    assert evict_of(preempting(Scripted(preempt=half, ignorable=True))[1]).node_name == "n2"


# -- bind --


@pytest.mark.parametrize(
    ("extender", "event", "calls"),
    [
        (Scripted(bind=None), "Bound", []),
        (Scripted(bind=DOWN), "BindFailed", []),
        (Scripted(bind=DOWN, ignorable=True), "Bound", [("bind", "default/a", "n1")]),
        (Scripted(bind=None, only=GPU), "Bound", [("bind", "default/a", "n1")]),
        (Scripted(filter=["n1"]), "Bound", [("bind", "default/a", "n1")]),
    ],
    ids=["binds", "fails", "fails and is ignorable", "is not interested", "does not bind"],
)
def test_a_binder_replaces_the_bind_plugins(extender: Scripted, event: str, calls: list[Any]) -> None:
    world = world_of(extender, nodes=NODES[:1])
    world.add(pod("a"))
    (bind,) = schedule(world)
    assert isinstance(bind, Bind)
    ended = world.run(world.scheduler.binding_cycle(bind).run())
    assert type(ended).__name__ == event
    assert world.writer.calls == calls
    if event == "BindFailed":
        assert patch_of(world.scheduler.handle(ended)).message == str(DOWN)
