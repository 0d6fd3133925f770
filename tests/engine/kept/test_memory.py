"""
Answers carried from pod to pod: plugins that promise to look at a node alone are held to the rules of the full pass.

That decisions agree on random clusters is ``tests/properties/test_kept_answers_agree.py``; here are the answers a
plugin may give that the full pass reads in its own way, or refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.engine.evaluation import Evaluator
from bayplan.engine.events import NodeChanged
from bayplan.engine.intents import Bind
from bayplan.engine.kept.memory import Memory
from bayplan.engine.plugin_calls import Calls
from bayplan.framework import Depends, FilterPlugin, Plugin, PreFilterResult, Promise, ScorePlugin, Verdicts
from bayplan.framework.status import SKIP, SUCCESS, Code, Reason, failed, unschedulable
from bayplan.testing import node, pod
from tests.engine.support import SaysPreFilter, World, named, note_of

NODES, PODS = 4, 12
FULL = Reason(Code.UNSCHEDULABLE, "node(s) were full")
BROKEN = Reason(Code.ERROR, "node(s) were broken")


class RowFilter(FilterPlugin):
    """Three pods a node; says yes and no in whatever way a subclass has it."""

    depends = Depends.ROW
    reasons = (FULL,)
    yes: Any = None
    no: Any = FULL

    def promise(self, template: Any) -> Promise | None:
        return Promise(key=(), filter=self.depends)

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return self.no if node.pods_count >= 2 else self.yes


class RowScore(ScorePlugin):
    """Likes full nodes; scores in whatever way a subclass has it."""

    depends = Depends.ROW
    base: Any = 0
    step: Any = 10

    def promise(self, template: Any) -> Promise | None:
        return Promise(key=(), score=self.depends)

    def score_node(self, state: Any, pod: Any, node: Any) -> Any:
        return self.base + self.step * node.pods_count


class TableFilter(FilterPlugin):
    """The same in the all-nodes form, with codes that a subclass can spoil."""

    depends = Depends.ROW
    reasons = (FULL,)
    spoil: Any = staticmethod(lambda codes: codes)

    def promise(self, template: Any) -> Promise | None:
        return Promise(key=(), filter=self.depends)

    def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        return self.spoil((nodes.pods_count >= 2).astype(np.uint8))


def story(plugins: tuple[type[Plugin], ...], remember: bool) -> list[str]:
    """What is decided for one pod after another of one template."""
    world = World(*plugins, remember=remember, seed=7)
    world.add(*(node(f"n{number}") for number in range(NODES)), *(pod(f"p{number}") for number in range(PODS)))
    told = []
    for _ in range(PODS):
        intents = world.schedule()
        first = intents[0]
        told.append(f"{first.decision.node}, {first.decision.ties}" if isinstance(first, Bind) else note_of(intents))
    return told


def varied(rule: type[Plugin], /, **attributes: Any) -> type[Plugin]:
    return type("Varied", (rule,), {"name": "Varied", **attributes})


@pytest.mark.parametrize(
    "plugin",
    [
        varied(RowFilter),
        varied(RowFilter, yes=SUCCESS),
        varied(RowFilter, no=unschedulable("full", "really")),
        varied(RowFilter, no=failed("broken")),
        varied(RowFilter, no=SKIP),
        varied(RowFilter, no=True),
        varied(RowFilter, reasons=(FULL, BROKEN), no=BROKEN),
        varied(TableFilter),
        varied(TableFilter, spoil=staticmethod(lambda codes: codes.astype(float))),
        varied(TableFilter, spoil=staticmethod(lambda codes: codes[:1])),
        varied(TableFilter, spoil=staticmethod(lambda codes: codes * 9)),
        varied(TableFilter, spoil=staticmethod(lambda codes: -codes.astype(int))),
        varied(TableFilter, spoil=staticmethod(lambda codes: codes.tolist())),
        varied(TableFilter, spoil=staticmethod(lambda codes: Verdicts(codes, (BROKEN,)))),
        varied(TableFilter, depends=Depends.ANYTHING, spoil=staticmethod(lambda codes: codes.astype(float))),
        varied(TableFilter, depends=Depends.ANYTHING, spoil=staticmethod(lambda codes: codes[:1])),
        varied(RowScore),
        varied(RowScore, base=0.9, step=0.7),
        varied(RowScore, step=60),
        varied(RowScore, base=-1),
        varied(RowScore, step=float("nan")),
        varied(RowScore, step=np.array([1, 2])),
        varied(RowScore, depends=Depends.ANYTHING, step=60),
        varied(RowScore, normalize=lambda self, state, pod, scores, feasible: scores * 3),
        varied(RowScore, normalize=lambda self, state, pod, scores, feasible: scores[:1]),
        varied(RowScore, depends=Depends.AMOUNTS),
        varied(RowScore, depends=Depends.AMOUNTS, step=5, normalize=lambda self, state, pod, scores, _: 90 - scores),
    ],
)
def test_no_answer_means_more_or_less_than_in_the_full_pass(plugin: type[Plugin]) -> None:
    assert story((plugin,), remember=True) == story((plugin,), remember=False)


@pytest.mark.parametrize(
    "answer", [None, SKIP, unschedulable("no"), failed("broken"), PreFilterResult(frozenset({"n1"}))]
)
def test_so_it_is_with_what_pre_filter_says(answer: Any) -> None:
    prepares = type(
        "Prepares", (SaysPreFilter,), {"name": "Prepares", "answer": answer, "promise": lambda *_: Promise(key=())}
    )
    plugins = (prepares, varied(RowFilter))
    assert story(plugins, remember=True) == story(plugins, remember=False)


def test_a_class_is_decided_from_memory_as_long_as_a_node_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    remembered = []
    decide = Evaluator._from_memory

    def spied(self: Any, *about: Any) -> Any:
        decision = decide(self, *about)
        remembered.append(decision is not None)
        return decision

    monkeypatch.setattr(Evaluator, "_from_memory", spied)
    story((varied(RowFilter),), remember=True)
    assert remembered == [*[True] * 8, *[False] * 4], "the last four fit nowhere, and the full pass says why"


def test_pods_that_differ_only_in_what_they_ask_for_share_what_is_said_of_node_objects() -> None:
    asked = []

    class OfObjects(FilterPlugin):
        name = "OfObjects"

        def promise(self, template: Any) -> Promise | None:
            return Promise(key=(), filter=Depends.OBJECT)

        def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
            asked.append(pod.name)
            return np.zeros(len(nodes), np.uint8)

    world = World(OfObjects, remember=True)
    pods = [pod(f"p{number}").request(cpu=f"{number}m") for number in range(1, 5)]
    world.add(*(node(f"n{number}") for number in range(NODES)), *pods)
    for _ in pods:
        assert isinstance(world.schedule()[0], Bind)
    assert asked == ["p1"]


def test_a_plugin_that_promises_nothing_is_never_carried_over() -> None:
    class Odd(FilterPlugin):
        name = "Odd"
        reasons = (FULL,)

        def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
            return FULL if pod.name.endswith("odd") else None

    world = World(Odd)
    world.add(node("a"), node("b"), *(pod(name) for name in ("one", "two", "three-odd", "four", "five-odd")))

    placed = [isinstance(world.schedule()[0], Bind) for _ in range(5)]

    assert placed == [True, True, False, True, False]


def test_what_is_read_of_a_row_and_of_all_nodes_is_not_kept() -> None:
    class NextToCordoned(FilterPlugin, RowScore):
        """Lets pods in only while some node is cordoned."""

        name = "NextToCordoned"
        reasons = (FULL,)

        def promise(self, template: Any) -> Promise | None:
            return Promise(key=(), filter=Depends.NODES, score=Depends.ROW)

        def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
            is_any = self.handle is not None and self.handle.snapshot().nodes.unschedulable.any()
            return np.full(len(nodes), 0 if is_any else 1, np.uint8)

    def placed(remember: bool) -> list[bool]:
        world = World(NextToCordoned, remember=remember)
        world.add(*(node(f"n{number}") for number in range(20)), node("b").cordoned())
        world.add(*(pod(f"p{number}") for number in range(4)))
        found = [isinstance(world.schedule()[0], Bind) for _ in range(3)]
        world.scheduler.handle(NodeChanged(node("b").cordoned().build(), node("b").build()))
        return [*found, isinstance(world.schedule()[0], Bind)]

    assert placed(remember=True) == placed(remember=False) == [True, True, True, False]


def test_after_a_pod_that_fits_nowhere_those_like_it_are_evaluated_in_full_until_one_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_of_memory = []
    of = Memory.of

    def noted(memory: Memory, calls: Calls) -> Any:
        asked_of_memory.append(calls.pod.name)
        return of(memory, calls)

    monkeypatch.setattr(Memory, "of", noted)
    world = World(named(RowFilter, "Rows"))
    world.add(node("a"), *(pod(f"p{number}") for number in range(4)))
    for _ in range(4):
        world.schedule()
    assert asked_of_memory == ["p0", "p1", "p2"], "p2 fits nowhere, which p3 is not asked to find out first"
    world.add(node("b"))
    for name in ("p4", "p5"):
        world.add(pod(name))
    where = []
    while (outcomes := world.scheduler.schedule(1)) is not None:
        where += [outcome.decision.node for outcome in outcomes if outcome.decision is not None]
    assert where[:2] == ["b", "b"]
    assert asked_of_memory[3] == "p5", "p4 is evaluated in full, and finds a node"
