"""No plugin can stop the scheduler, whatever it raises or returns: it fails its pod, and is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs

from bayplan.engine.events import Bound
from bayplan.engine.intents import Bind, Emit
from bayplan.engine.plugin_calls import queue_key_of
from bayplan.errors import PluginError
from bayplan.framework.plugin import Plugin, QueuedPod, QueueSortPlugin
from bayplan.framework.promise import Depends, Promise
from bayplan.framework.results import PreFilterResult, Wait
from bayplan.framework.status import Status, unschedulable
from bayplan.testing import node, pod
from tests.engine.support import (
    SaysBind,
    SaysFilter,
    SaysFilterTable,
    SaysPermit,
    SaysPostBind,
    SaysPostFilter,
    SaysPreBind,
    SaysPreFilter,
    SaysPreScore,
    SaysReserve,
    SaysScore,
    World,
    named,
    note_of,
    patch_of,
)

P = pod("p")
NO = unschedulable("no")


def for_bad(answer: Any, good: Any = None) -> Any:
    """An answer for pods called bad; all others are welcome."""

    def says(*about: Any) -> Any:
        made = next(each for each in about if hasattr(each, "scheduler_name"))
        if not made.name.startswith("bad"):
            return good
        if isinstance(answer, BaseException):
            raise answer
        return answer() if callable(answer) else answer

    return says


BOOM = RuntimeError("boom")
NODES = 3
ZEROS = np.zeros(NODES, np.int64)
EVERYWHERE: list[tuple[type[Plugin], str, Any]] = [
    (SaysPreFilter, "PreFilter", None),
    (SaysFilter, "Filter", None),
    (SaysFilterTable, "Filter", ZEROS),
    (SaysPreScore, "PreScore", None),
    (SaysScore, "Score", ZEROS),
    (SaysReserve, "Reserve", None),
    (SaysPermit, "Permit", None),
    (SaysPreBind, "PreBind", None),
    (SaysBind, "Bind", None),
]


@pytest.mark.parametrize("same_class", [False, True])
@pytest.mark.parametrize(
    ("plugin", "point"),
    [
        (named(SaysPreFilter, "X", answer=for_bad(BOOM)), "PreFilter"),
        *(
            (named(says, "X", answer=for_bad(raised, good)), point)
            for raised in (SystemExit(7), BaseException("bare"))
            for says, point, good in EVERYWHERE
        ),
        (named(SaysPreFilter, "X", answer=for_bad("no")), "PreFilter"),
        (named(SaysPreFilter, "X", answer=for_bad(lambda: PreFilterResult(["a"]))), "PreFilter"),  # type: ignore[arg-type]
        (named(SaysFilter, "X", answer=for_bad(BOOM)), "Filter"),
        (named(SaysFilter, "X", answer=for_bad(True)), "Filter"),
        (named(SaysFilter, "X", answer=for_bad(lambda: Status(2))), "Filter"),  # type: ignore[arg-type]
        (named(SaysFilterTable, "X", answer=for_bad(BOOM, ZEROS)), "Filter"),
        (named(SaysFilterTable, "X", answer=for_bad(np.full(NODES, np.nan), ZEROS)), "Filter"),
        (named(SaysFilterTable, "X", answer=for_bad(np.zeros(NODES), ZEROS)), "Filter"),
        (named(SaysFilterTable, "X", answer=for_bad(np.zeros(1, np.uint8), ZEROS)), "Filter"),
        (named(SaysFilterTable, "X", answer=for_bad(np.array([0, 9, 0]), ZEROS)), "Filter"),
        (named(SaysFilterTable, "X", answer=for_bad(None, ZEROS)), "Filter"),
        (named(SaysPreScore, "X", answer=for_bad(BOOM)), "PreScore"),
        (named(SaysPreScore, "X", answer=for_bad(1)), "PreScore"),
        (named(SaysScore, "X", answer=for_bad(BOOM, ZEROS)), "Score"),
        (named(SaysScore, "X", answer=for_bad(np.full(NODES, np.nan), ZEROS)), "Score"),
        (named(SaysScore, "X", answer=for_bad(np.zeros(NODES + 1, np.int64), ZEROS)), "Score"),
        (named(SaysScore, "X", answer=for_bad(np.array(["a", "b", "c"]), ZEROS)), "Score"),
        (named(SaysScore, "X", answer=for_bad(np.array([0, 101, 0]), ZEROS)), "Score"),
        (named(SaysScore, "X", answer=for_bad("high", ZEROS)), "Score"),
        (named(SaysReserve, "X", answer=for_bad(BOOM)), "Reserve"),
        (named(SaysReserve, "X", answer=for_bad(0)), "Reserve"),
        (named(SaysPermit, "X", answer=for_bad(BOOM)), "Permit"),
        (named(SaysPermit, "X", answer=for_bad(30.0)), "Permit"),
        (named(SaysPermit, "X", answer=for_bad(lambda: Wait(float("nan")))), "Permit"),
        (named(SaysPermit, "X", answer=for_bad(lambda: Wait(-5))), "Permit"),
        (named(SaysPreBind, "X", answer=for_bad(BOOM)), "PreBind"),
        (named(SaysPreBind, "X", answer=for_bad("done")), "PreBind"),
        (named(SaysBind, "X", answer=for_bad(BOOM)), "Bind"),
        (named(SaysBind, "X", answer=for_bad(True)), "Bind"),
    ],
)
def test_a_plugin_that_breaks_fails_its_pod_alone_and_is_named(
    plugin: type[Plugin], point: str, same_class: bool
) -> None:
    world = World(plugin)
    others = [f"bad{number}" for number in range(3)] if same_class else []
    world.add(*(node(f"n{number}") for number in range(NODES)), *map(pod, ["bad", *others, "good"]))
    for _ in range(1 + len(others)):
        (first, *rest) = world.schedule()
        intents = world.finish(first) if isinstance(first, Bind) else [first, *rest]
        assert f"plugin X failed in {point} for pod default/bad" in note_of(intents)
        assert patch_of(intents).reason == "SchedulerError"
    assert world.where(pod("bad")) == "backoff"
    good = world.bind()
    assert good.decision.pod.name == "good"
    assert isinstance(world.scheduler.handle(Bound(good.queued, good.decision))[0], Emit)
    assert world.cache.assumed_count == 1, "nothing of the bad pods is left"


def test_plugins_without_a_say_cannot_fail_a_pod_either() -> None:
    def breaks(plugin: Any) -> None:
        raise BOOM

    plugins = [
        named(SaysReserve, "R", undone=staticmethod(breaks)),
        named(SaysPermit, "No", answer=for_bad(NO)),
        named(SaysPostFilter, "Post", answer=BOOM),
        named(SaysPostBind, "Post2", answer=BOOM),
    ]
    world = World(*plugins)
    world.add(node("n"), pod("bad"), pod("good"))
    assert note_of(world.schedule()) == "0/1 nodes are available: 1 no."
    (event,) = world.finish(world.bind())
    assert isinstance(event, Emit)
    assert event.reason == "Scheduled"


def test_a_queue_sort_that_breaks_is_named() -> None:
    class BadSort(QueueSortPlugin):
        name = "BadSort"

        def queue_key(self, queued: QueuedPod) -> Any:
            raise SystemExit(7)

    plugin = BadSort()
    with pytest.raises(PluginError) as caught:
        queue_key_of(plugin)(QueuedPod(P.build(), 0.0))
    assert str(caught.value) == "plugin BadSort failed in QueueSort for pod default/p: SystemExit: 7"


class Promising(SaysFilter):
    """Its answers are kept from pod to pod, so that it is asked another way."""

    name = "Promising"
    promised: Any = Promise(key=1, filter=Depends.ROW)

    def promise(self, template: Any) -> Any:
        if isinstance(self.promised, BaseException):
            raise self.promised
        return self.promised


def test_a_plugin_whose_answers_are_kept_cannot_end_the_scheduler_either() -> None:
    world = World(named(Promising, "X", answer=SystemExit(7)))
    world.add(node("n"), pod("a"), pod("b"))
    for name in "ab":
        assert f"plugin X failed in Filter for pod default/{name}: SystemExit: 7" in note_of(world.schedule())


@pytest.mark.parametrize(
    ("promised", "error"),
    [
        (SystemExit(7), "plugin X failed in Promise for pod default/a: SystemExit: 7"),
        (Depends.ROW, "promise returned <Depends.ROW: 3>; return Promise(key=...) or None"),
        (Promise(key=1, filter="row"), "filter is 'row'; write Depends.ANYTHING"),  # type: ignore[arg-type]
        (Promise(key=[1]), "the key of a promise must be hashable: unhashable type: 'list'"),
    ],
)
def test_a_promise_that_cannot_be_used_only_costs_time_and_is_told_once(promised: Any, error: str) -> None:
    world = World(named(Promising, "X", promised=promised))
    world.add(node("n"), pod("a"), pod("b").label(x="y"))
    with capture_logs() as logs:
        assert [world.bind().decision.node for _ in range(2)] == ["n", "n"]
    told = [entry for entry in logs if entry["log_level"] == "error"]
    assert [line["plugin"] for line in told] == ["X"]
    assert error in told[0]["error"]


def test_an_observer_that_ends_the_process_does_not() -> None:
    class Observing(SaysFilter):
        name = "Observing"
        reads = ("Pod",)

        def observe(self, kind: str, old: Any, new: Any) -> None:
            raise SystemExit(7)

    with capture_logs() as logs:
        World(Observing).add(node("n"), pod("a"))
    lines = [entry for entry in logs if entry["log_level"] == "error"]
    assert {(line["plugin"], line["kind"], line["error"]) for line in lines} == {("Observing", "Pod", "SystemExit: 7")}
