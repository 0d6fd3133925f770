"""Requeueing: which events each plugin is asked for, what its answer means, and who is not asked at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.clock import VirtualClock
from bayplan.engine.queue.requeueing import QueueProfile, Requeueing, Strategy, requeue_rules
from bayplan.errors import InvalidProfileError
from bayplan.framework.events import (
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    ON_ANYTHING,
    UNSCHEDULABLE_TIMEOUT,
    Change,
    ClusterEvent,
    On,
)
from bayplan.framework.plugin import PermitPlugin, Plugin, PreFilterPlugin, QueuedPod, ReservePlugin, ScorePlugin
from bayplan.framework.ports import NoMetrics
from bayplan.objects.pod import Pod
from tests.engine.queue.support import (
    NODE_ADD,
    NODE_LABEL,
    NODE_TAINT,
    PROFILE,
    Asked,
    Gate,
    World,
    a_pod,
)

TAINT_RULE = On("Node", Change.TAINT)


def plugin_with(*rules: On, base: type[Plugin] = PreFilterPlugin) -> Plugin:
    class Made(base):  # type: ignore[valid-type, misc]
        name = "Made"

        def requeue_on(self) -> Sequence[On]:
            return rules

        def score_node(self, state: object, pod: object, node: object) -> int:
            return 0

    return Made()


# -- which events are registered --


@pytest.mark.parametrize("base", [PreFilterPlugin, ReservePlugin, PermitPlugin])
def test_plugins_that_can_reject_are_registered(base: type[Plugin]) -> None:
    rules = (On("Pod", Change.DELETED),)
    assert requeue_rules([plugin_with(*rules, base=base)]) == {"Made": rules}


def test_plugins_that_cannot_reject_are_not_registered() -> None:
    assert requeue_rules([plugin_with(On("Pod", Change.DELETED), base=ScorePlugin)]) == {}


def test_a_plugin_that_says_nothing_is_asked_after_anything() -> None:
    assert requeue_rules([Gate()]) == {"Gate": ON_ANYTHING}


def test_an_empty_list_means_no_event_helps() -> None:
    assert requeue_rules([plugin_with()]) == {"Made": ()}


@pytest.mark.parametrize("base", [PreFilterPlugin, ScorePlugin], ids=["rejects", "cannot reject"])
@pytest.mark.parametrize(
    ("says", "problem"),
    [
        (KeyError("x"), "requeue_on raised KeyError: 'x'"),
        (SystemExit(7), "requeue_on raised SystemExit: 7"),
        (5, "requeue_on returned 5"),
        (None, "requeue_on returned None"),
        ("Node", "requeue_on returned 'Node'"),
        (("Node",), "requeue_on returned ('Node',)"),
    ],
)
def test_what_makes_no_sense_is_a_mistake_of_the_plugin(says: Any, problem: str, base: type[Plugin]) -> None:
    class Odd(base):  # type: ignore[valid-type, misc]
        name = "Odd"

        def requeue_on(self) -> Any:
            if isinstance(says, BaseException):
                raise says
            return says

        def score_node(self, state: object, pod: object, node: object) -> int:
            return 0

    with pytest.raises(InvalidProfileError) as caught:
        requeue_rules([Odd()])
    assert str(caught.value) == (f'plugin Odd: {problem}; return a tuple of On, such as (On("Node", Change.ADDED),)')


def test_any_collection_of_rules_will_do() -> None:
    class Made(PreFilterPlugin):
        name = "Made"

        def requeue_on(self) -> Any:
            yield TAINT_RULE

    assert requeue_rules([Made()]) == {"Made": (TAINT_RULE,)}


@pytest.mark.parametrize(
    ("rules", "added"),
    [
        ((On("Node", Change.ADDED),), True),
        ((On("Node", Change.ADDED | Change.LABEL),), True),
        ((On("Node", Change.ADDED), On("Node", Change.LABEL)), True),
        ((On("Node", Change.ADDED | Change.TAINT),), False),
        ((On("Node", Change.ADDED), On("Node", Change.TAINT)), False),
        ((On("Node", Change.ANY),), False),
        ((On("Node", Change.LABEL),), False),
        ((On("CSINode", Change.ADDED),), False),
        (ON_ANYTHING, False),
    ],
)
def test_who_waits_for_new_nodes_also_waits_for_taints(rules: tuple[On, ...], added: bool) -> None:
    expected = (*rules, TAINT_RULE) if added else rules
    assert requeue_rules([plugin_with(*rules)])["Made"] == expected


# -- what an answer means --


def worth(
    rules: dict[str, tuple[On, ...]],
    event: ClusterEvent,
    *,
    rejectors: tuple[str, ...] = (),
    pending: tuple[str, ...] = (),
    new: object = None,
) -> Strategy:
    requeueing = Requeueing({PROFILE: QueueProfile((), rules)}, VirtualClock(), NoMetrics())
    queued = QueuedPod(a_pod(), 0.0, unschedulable_plugins=frozenset(rejectors), pending_plugins=frozenset(pending))
    return requeueing.worth(requeueing.interest(event), queued, event, None, new)


YES, NO = (On("Node", Change.ADDED, lambda *_: True),), (On("Node", Change.ADDED, lambda *_: False),)


@pytest.mark.parametrize(
    ("rules", "rejectors", "pending", "expected"),
    [
        ({"A": YES}, ("A",), (), Strategy.AFTER_BACKOFF),
        ({"A": (On("Node", Change.ADDED),)}, ("A",), (), Strategy.AFTER_BACKOFF),
        ({"A": NO}, ("A",), (), Strategy.SKIP),
        ({"A": NO, "B": YES}, ("A",), (), Strategy.SKIP),
        ({"A": NO, "B": YES}, ("A", "B"), (), Strategy.AFTER_BACKOFF),
        ({"A": YES}, (), ("A",), Strategy.IMMEDIATELY),
        ({"A": YES, "B": YES}, ("A",), ("B",), Strategy.IMMEDIATELY),
        ({"A": YES, "B": NO}, ("A",), ("B",), Strategy.AFTER_BACKOFF),
        ({"A": NO, "B": NO}, ("A",), ("B",), Strategy.SKIP),
        ({"A": (*NO, *YES)}, ("A",), (), Strategy.AFTER_BACKOFF),
        ({"A": ()}, ("A",), (), Strategy.SKIP),
        ({"A": NO}, (), (), Strategy.AFTER_BACKOFF),
    ],
)
def test_the_rejectors_hints_decide(
    rules: dict[str, tuple[On, ...]], rejectors: tuple[str, ...], pending: tuple[str, ...], expected: Strategy
) -> None:
    assert worth(rules, NODE_ADD, rejectors=rejectors, pending=pending) is expected


@pytest.mark.parametrize(
    ("event", "new", "expected"),
    [
        (UNSCHEDULABLE_TIMEOUT, None, Strategy.AFTER_BACKOFF),
        (FORCE_ACTIVATE, a_pod(), Strategy.AFTER_BACKOFF),
        (FORCE_ACTIVATE, a_pod("another"), Strategy.SKIP),
    ],
)
def test_a_wildcard_event_is_for_everyone_or_for_the_pod_it_carries(
    event: ClusterEvent, new: object, expected: Strategy
) -> None:
    assert worth({"A": ()}, event, rejectors=("A",), new=new) is expected


@pytest.mark.parametrize(
    ("rule", "event", "matches"),
    [
        (On("Node", Change.ADDED | Change.LABEL), NODE_LABEL, True),
        (On("Node", Change.ADDED), NODE_LABEL, False),
        (On("Pod", Change.DELETED), ASSIGNED_POD_DELETE, True),
        (On("Pod", Change.UPDATED), ClusterEvent("UnschedulablePod", Change.POD_LABEL), True),
        (On("Pod", Change.POD_LABEL), ClusterEvent("UnschedulablePod", Change.UPDATED), False),
        (On("*", Change.ANY), NODE_TAINT, True),
    ],
)
def test_rules_match_events_as_registered(rule: On, event: ClusterEvent, matches: bool) -> None:
    expected = Strategy.AFTER_BACKOFF if matches else Strategy.SKIP
    assert worth({"A": (rule,)}, event, rejectors=("A",)) is expected


def test_a_hint_that_raises_counts_as_yes_and_is_reported_once_per_plugin_and_event() -> None:
    broken = Asked(ValueError("oops"))
    world = World(rules={"Fit": (On("Node", Change.ADDED | Change.LABEL, broken),)})
    for name in ("a", "b", "c"):
        world.park(a_pod(name), "Fit")
    with capture_logs() as logs:
        world.queue.move(NODE_ADD, None, object())
    assert world.queue.pending()["backoff"] == 3
    (line,) = (entry for entry in logs if entry["log_level"] == "error")
    assert (line["plugin"], line["cluster_event"], line["pod"]) == ("Fit", "NodeAdd", "default/a")
    assert line["error"] == "ValueError: oops"
    world.park(a_pod("d"), "Fit")
    with capture_logs() as logs:
        world.queue.move(NODE_LABEL, None, object())
    assert [entry["cluster_event"] for entry in logs if "cluster_event" in entry] == ["NodeUpdateNodeLabel"]


# -- move --


class Looked:
    """Picks all pods or none, and remembers which it was shown."""

    def __init__(self, picks: bool) -> None:
        self.picks = picks
        self.pods: list[str] = []

    def __call__(self, pod: Pod) -> bool:
        self.pods.append(pod.name)
        return self.picks


def test_an_event_nobody_registered_touches_no_pod_and_is_not_kept() -> None:
    hint = Asked()
    world = World(rules={"Fit": (On("Node", Change.ADDED, hint),)})
    world.park(a_pod("waiting"), "Fit")
    world.add(a_pod("flying"))
    queued = world.pop()

    def only(pod: object) -> bool:
        raise AssertionError("nobody should be looked at")

    world.queue.move(NODE_TAINT, None, object(), only=only)
    world.fail(queued, "Fit")
    assert world.queue.pending()["unschedulable"] == 2
    assert hint.pods == []


def test_only_pods_whose_rejectors_are_interested_are_looked_at() -> None:
    looked_at = Looked(False)
    world = World(rules={"Fit": (On("Node", Change.ADDED),), "Affinity": (On("Node", Change.LABEL),)})
    for number in range(50):
        world.park(a_pod(f"fit-{number}"), "Fit")
    world.park(a_pod("affinity"), "Affinity")
    world.park(a_pod("both"), "Fit", "Affinity")
    world.queue.move(NODE_LABEL, None, object(), only=looked_at)
    assert looked_at.pods == ["affinity", "both"]


def test_a_pod_with_several_interested_rejectors_is_asked_once() -> None:
    hint = Asked(False)
    world = World(rules={"A": (On("Node", Change.ADDED, hint),), "B": (On("Node", Change.ADDED),)})
    looked_at = Looked(True)
    world.park(a_pod("x"), "A", "B")
    world.park(a_pod("y"), "B")
    world.queue.move(NODE_ADD, None, object(), only=looked_at)
    assert looked_at.pods == ["x", "y"]
    assert world.queue.pending()["backoff"] == 2


def test_moved_pods_of_equal_key_keep_the_order_in_which_they_were_parked() -> None:
    world = World(max_backoff_s=0.0, rules={"A": (On("Node", Change.ADDED),), "B": (On("Node", Change.ADDED),)})
    rejectors = {"p": ("B",), "q": ("A",), "r": ("A", "B"), "s": ("B",)}
    for name, plugins in rejectors.items():
        world.park(a_pod(name), *plugins)
    world.queue.move(NODE_ADD, None, object())
    assert world.pop_names() == ["p", "q", "r", "s"]


def test_only_restricts_the_move_to_some_pods() -> None:
    world = World()
    for name, priority in (("low", 1), ("high", 9)):
        world.park(a_pod(name, priority=priority), "Fit")
    world.queue.move(NODE_ADD, None, object(), only=lambda pod: pod.priority <= 5)
    assert world.where(a_pod("low")) == "backoff"
    assert world.where(a_pod("high")) == "unschedulable"


def test_a_move_goes_to_active_when_the_backoff_is_over() -> None:
    world = World()
    world.park(a_pod(), "Fit")
    world.wait(2)
    world.queue.move(NODE_ADD, None, object())
    assert world.where(a_pod()) == "active"


def test_a_pending_plugin_s_yes_skips_the_backoff() -> None:
    world = World()
    world.park(a_pod(), pending=("Fit",))
    world.queue.move(NODE_ADD, None, object())
    assert world.where(a_pod()) == "active"


def test_profiles_are_asked_by_their_own_rules() -> None:
    clock = VirtualClock()
    profiles = {
        "eager": QueueProfile((), {"Fit": (On("Node", Change.ADDED),)}),
        "lazy": QueueProfile((), {"Fit": ()}),
    }
    requeueing = Requeueing(profiles, clock, NoMetrics())
    answers = [
        requeueing.worth(
            requeueing.interest(NODE_ADD),
            QueuedPod(a_pod(scheduler=name), 0.0, unschedulable_plugins=frozenset({"Fit"})),
            NODE_ADD,
            None,
            None,
        )
        for name in profiles
    ]
    assert answers == [Strategy.AFTER_BACKOFF, Strategy.SKIP]
