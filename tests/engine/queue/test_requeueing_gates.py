"""Gates: PreEnqueue keeps pods out of active and backoff, and only the gating plugin's events matter to them."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.framework.events import Change, ClusterEvent, On
from bayplan.framework.plugin import PreEnqueuePlugin
from bayplan.framework.status import SUCCESS, Code, Reason, Verdict
from bayplan.objects.pod import Pod
from tests.engine.queue.support import (
    NODE_ADD,
    NODE_LABEL,
    NODE_TAINT,
    POD_DELETE,
    START,
    Asked,
    Gate,
    SecondGate,
    World,
    a_pod,
)

WITH_GATE = {"Gate": (On("Node", Change.LABEL),), "Fit": (On("Node", Change.ADDED),)}


def test_a_pod_that_does_not_pass_is_gated_and_says_why() -> None:
    world = World(gates=(Gate("web"),))
    world.add(a_pod())
    assert world.where(a_pod()) == "gated"
    assert world.queue.pop() is None
    reason = world.queue.gated_reason("uid-web")
    assert reason is not None
    assert (reason.code, reason.plugin, reason.message) == (Code.UNRESOLVABLE, "Gate", "the gate is closed")
    assert world.queue.pending() == {"active": 0, "backoff": 0, "unschedulable": 0, "gated": 1}


def test_a_pod_that_passes_has_no_reason() -> None:
    world = World(gates=(Gate(), SecondGate()))
    world.add(a_pod())
    assert world.where(a_pod()) == "active"
    assert world.queue.gated_reason("uid-web") is None
    assert world.queue.gated_reason("uid-nobody") is None


def test_the_first_gate_that_says_no_ends_the_asking() -> None:
    first, second = Gate("web"), SecondGate("web")
    world = World(gates=(first, second))
    world.add(a_pod())
    assert (first.asked, second.asked) == (["web"], [])


def test_a_gated_pod_comes_in_by_its_gate_s_event_once_the_gate_is_open() -> None:
    gate = Gate("web")
    world = World(gates=(gate,), rules=WITH_GATE)
    world.add(a_pod())
    world.queue.move(NODE_LABEL, None, object())
    assert world.where(a_pod()) == "gated"
    gate.closed_for.clear()
    world.queue.move(NODE_LABEL, None, object())
    assert world.where(a_pod()) == "active"
    queued = world.pop()
    assert queued.gating_plugin == ""
    assert queued.initial_attempt_at == START


def test_a_gated_pod_does_not_react_to_other_plugins_events() -> None:
    gate, fit = Gate("web"), Asked()
    world = World(
        gates=(gate,),
        rules={"Gate": (On("Node", Change.LABEL),), "Fit": (On("Node", Change.ADDED, fit),)},
    )
    queued = world.park(a_pod("other"), "Fit")
    gate.closed_for.add("other")
    world.queue.move(NODE_ADD, None, object())
    assert world.where(queued.pod) == "gated"
    assert queued.unschedulable_plugins == {"Fit", "Gate"}
    gate.closed_for.clear()
    asked = len(fit.pods), len(gate.asked)
    for event in (NODE_ADD, NODE_TAINT, POD_DELETE):
        world.queue.move(event, None, object())
    assert world.where(queued.pod) == "gated"
    assert (len(fit.pods), len(gate.asked)) == asked
    world.queue.move(NODE_LABEL, None, object())
    assert world.where(queued.pod) == "backoff"


def test_a_gate_without_hints_is_asked_again_only_when_its_hint_agrees() -> None:
    gate, hint = Gate("web"), Asked(False)
    world = World(gates=(gate,), rules={"Gate": (On("Node", Change.LABEL, hint),)})
    world.add(a_pod())
    gate.closed_for.clear()
    world.queue.move(NODE_LABEL, None, object())
    assert hint.pods == ["web"]
    assert gate.asked == ["web"]
    assert world.where(a_pod()) == "gated"


def test_whoever_gates_the_pod_is_asked_first_next_time() -> None:
    first, second = Gate(), SecondGate("web")
    world = World(gates=(first, second), rules={"SecondGate": (On("Node", Change.ADDED),)})
    world.add(a_pod())
    assert first.asked == ["web"]
    world.queue.move(NODE_ADD, None, object())
    assert (len(first.asked), len(second.asked)) == (1, 2)


def test_another_gate_may_take_over() -> None:
    first, second = Gate("web"), SecondGate("web")
    world = World(
        gates=(first, second), rules={"Gate": (On("Node", Change.ADDED),), "SecondGate": (On("Node", Change.LABEL),)}
    )
    world.add(a_pod())
    first.closed_for.clear()
    world.queue.move(NODE_ADD, None, object())
    reason = world.queue.gated_reason("uid-web")
    assert reason is not None
    assert reason.plugin == "SecondGate"
    second.closed_for.clear()
    world.queue.move(NODE_ADD, None, object())
    assert world.where(a_pod()) == "gated"
    world.queue.move(NODE_LABEL, None, object())
    assert world.where(a_pod()) == "active"


def test_removing_the_last_scheduling_gate_lets_the_pod_in() -> None:
    class SchedulingGates(PreEnqueuePlugin):
        name = "SchedulingGates"

        def pre_enqueue(self, pod: Pod) -> Verdict:
            return Reason(Code.UNRESOLVABLE, f"waiting for {pod.gates}") if pod.gates else None

    own = On("Pod", Change.POD_GATES_ELIMINATED, lambda pod, old, new: new.uid == pod.uid)
    world = World(gates=(SchedulingGates(),), rules={"SchedulingGates": (own,)})
    two, one, none = a_pod(gates=("a", "b")), a_pod(gates=("a",)), a_pod()
    world.add(two)
    world.queue.update(two, one)
    assert world.where(one) == "gated"
    world.queue.update(one, none)
    assert world.where(none) == "active"
    assert world.pop().pod is none


def test_a_failed_pod_is_gated_on_its_way_to_backoff() -> None:
    gate = Gate()
    world = World(gates=(gate,), rules=WITH_GATE)
    world.add(a_pod())
    queued = world.pop()
    gate.closed_for.add("web")
    world.fail(queued)
    assert world.where(a_pod()) == "gated"
    gate.closed_for.clear()
    world.queue.move(NODE_LABEL, None, object())
    assert world.where(a_pod()) == "backoff"


def test_a_gated_pod_in_reach_of_the_timeout_is_asked_again_and_then_left_for_as_long() -> None:
    gate = Gate("web")
    world = World(gates=(gate,))
    world.add(a_pod())
    world.wait(330)
    assert len(gate.asked) == 2
    assert world.where(a_pod()) == "gated"
    for _ in range(10):
        world.wait(30)
    assert len(gate.asked) == 2
    world.wait(30)
    assert len(gate.asked) == 3


async def _a_coroutine() -> None:
    return None


@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        (RuntimeError("no idea"), "RuntimeError: no idea"),
        (KeyError("x"), "KeyError: 'x'"),
        (SystemExit(7), "SystemExit: 7"),
        (BaseException(), "BaseException"),
        (5, "TypeError: expected None, a Reason or a Status, got int: 5"),
        (_a_coroutine, "TypeError: expected None, a Reason or a Status, got coroutine: "),
    ],
)
def test_a_gate_that_breaks_keeps_the_pod_and_is_reported(says: Any, complaint: str) -> None:
    class Broken(PreEnqueuePlugin):
        name = "Broken"

        def pre_enqueue(self, pod: Pod) -> Verdict:
            if isinstance(says, BaseException):
                raise says
            return says() if callable(says) else says  # type: ignore[no-any-return]

    world = World(gates=(Broken(),))
    with capture_logs() as logs:
        world.add(a_pod())
    reason = world.queue.gated_reason("uid-web")
    assert reason is not None
    assert reason.is_error
    assert reason.message.startswith(f"plugin Broken failed in PreEnqueue for pod default/web: {complaint}")
    (line,) = (entry for entry in logs if entry["log_level"] == "error")
    assert (line["plugin"], line["pod"]) == ("Broken", "default/web")
    assert line["error"].startswith(complaint)
    assert "exc_info" not in line


def test_a_gate_may_also_say_yes_with_a_status() -> None:
    class Polite(PreEnqueuePlugin):
        name = "Polite"

        def pre_enqueue(self, pod: Pod) -> Verdict:
            return SUCCESS

    world = World(gates=(Polite(),))
    world.add(a_pod())
    assert world.where(a_pod()) == "active"


def test_deleting_a_gated_pod_forgets_it() -> None:
    world = World(gates=(Gate("web"),))
    world.add(a_pod())
    world.queue.delete(a_pod())
    assert world.where(a_pod()) is None
    assert world.queue.pending()["gated"] == 0


def test_an_assigned_pod_s_label_event_is_of_interest_to_a_gate_on_pods() -> None:
    world = World(gates=(gate := Gate("web"),))
    world.add(a_pod())
    gate.closed_for.clear()
    world.queue.move(ClusterEvent("AssignedPod", Change.POD_LABEL), a_pod("x"), a_pod("x"))
    assert world.where(a_pod()) == "active"
