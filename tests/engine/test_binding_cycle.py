"""The binding cycle: wait on Permit, PreBind, Bind, PostBind, and what each code means there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bayplan.engine.binding_cycle import BIND_DEADLINE_S, POST_BIND_DEADLINE_S, PRE_BIND_DEADLINE_S
from bayplan.engine.events import BindFailed, Bound
from bayplan.errors import ConflictError, TransportError
from bayplan.framework.plugin import Plugin
from bayplan.framework.results import Wait
from bayplan.framework.status import SKIP, SUCCESS, Code, Status, failed, unresolvable, unschedulable
from bayplan.testing import node, pod
from tests.engine.support import SaysBind, SaysPermit, SaysPostBind, SaysPreBind, World, named

pytestmark = pytest.mark.virtual_time

P = pod("p")
UNS, UUR = unschedulable("no room"), unresolvable("wrong")
PENDING, WAIT, ERROR = Status(Code.PENDING, ("not yet",)), Status(Code.WAIT), failed("the disk is gone")
RAISES = RuntimeError("boom")


def later(answer: Any, seconds: float = 1.0) -> Any:
    """The same answer, awaited."""

    async def work(*about: Any) -> Any:
        await asyncio.sleep(seconds)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return work


class Binding(World):
    """One pod on its way to node ``n``."""

    def __init__(self, *plugins: type[Plugin], made: Any = P) -> None:
        super().__init__(*plugins)
        self.add(node("n"), made)
        self.intent = super().bind()
        self.started = self.clock.now()

    def end(self) -> Bound | BindFailed:
        return self.run(self.scheduler.binding_cycle(self.intent).run())

    def failure(self) -> BindFailed:
        event = self.end()
        assert isinstance(event, BindFailed)
        return event

    @property
    def seconds(self) -> float:
        return self.clock.now() - self.started


def raised(point: str) -> str:
    return f"plugin A failed in {point} for pod default/p: RuntimeError: boom"


def test_a_pod_is_bound_with_nothing_else_to_do() -> None:
    binding = Binding()
    assert isinstance(binding.end(), Bound)
    assert binding.writer.calls == [("bind", "default/p", "n")]


# -- codes --


def answers(point: str) -> list[Any]:
    running = f'running {point} plugin "A": '
    return [
        pytest.param(None, None, "", id="None"),
        pytest.param(SUCCESS, None, "", id="Success"),
        pytest.param(UNS, Code.UNSCHEDULABLE, "no room", id="UNS"),
        pytest.param(UUR, Code.UNRESOLVABLE, "wrong", id="UUR"),
        pytest.param(PENDING, Code.PENDING, "not yet", id="Pending"),
        pytest.param(WAIT, Code.ERROR, f"{running}answered Wait", id="Wait"),
        pytest.param(ERROR, Code.ERROR, f"{running}the disk is gone", id="Error"),
        pytest.param(RAISES, Code.ERROR, f"{running}{raised(point)}", id="raises"),
        pytest.param(
            SystemExit(7),
            Code.ERROR,
            f"{running}plugin A failed in {point} for pod default/p: SystemExit: 7",
            id="ends the process",
        ),
        pytest.param(
            True,
            Code.ERROR,
            f"{running}plugin A failed in {point} for pod default/p: "
            "TypeError: expected None, a Reason or a Status, got bool: True",
            id="junk",
        ),
    ]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [*answers("PreBind"), pytest.param(SKIP, Code.ERROR, 'running PreBind plugin "A": answered Skip', id="Skip")],
)
def test_what_pre_bind_may_say(answer: Any, code: Code | None, message: str, awaited: bool) -> None:
    binding = Binding(named(SaysPreBind, "A", answer=later(answer) if awaited else answer))
    event = binding.end()
    if code is None:
        assert isinstance(event, Bound)
        return
    assert isinstance(event, BindFailed)
    assert (event.status.code, event.status.message, event.waited) == (code, message, False)
    assert ("bind", "default/p", "n") not in binding.writer.calls


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(("answer", "code", "message"), answers("Bind"))
def test_what_bind_may_say(answer: Any, code: Code | None, message: str, awaited: bool) -> None:
    first = named(SaysBind, "A", answer=later(answer) if awaited else answer)
    binding = Binding(first, named(SaysBind, "B"), named(SaysPostBind, "After"))
    event = binding.end()
    assert binding.plugin("B").asked == [], "whoever does not skip has the last word"
    assert bool(binding.plugin("After").asked) is (code is None)
    if code is None:
        assert isinstance(event, Bound)
        return
    assert isinstance(event, BindFailed)
    assert (event.status.code, event.status.message, event.waited) == (code, message, False)


@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        ("x", "ValueError: pre_bind_timeout_s returned 'x'; return a number of seconds, or None"),
        (-1, "ValueError: pre_bind_timeout_s returned -1; return a number of seconds, or None"),
        (RAISES, "RuntimeError: boom"),
    ],
)
def test_a_deadline_that_makes_no_sense_is_named(says: Any, complaint: str) -> None:
    class Odd(SaysPreBind):
        name = "A"

        def pre_bind_timeout_s(self) -> Any:
            if isinstance(says, BaseException):
                raise says
            return says

    assert Binding(Odd).failure().status.message == f"plugin A failed in PreBind for pod default/p: {complaint}"


def test_a_bind_plugin_that_skips_leaves_it_to_the_next() -> None:
    binding = Binding(named(SaysBind, "A", answer=SKIP), named(SaysBind, "B", answer=later(None)))
    assert isinstance(binding.end(), Bound)
    assert len(binding.plugin("B").asked) == 1


def test_when_all_bind_plugins_skip_nobody_bound_it() -> None:
    event = Binding(named(SaysBind, "A", answer=SKIP)).failure()
    assert (event.status.code, event.status.message) == (Code.ERROR, "no bind plugin took the pod")


@pytest.mark.parametrize("error", [ConflictError(409, "already assigned"), TransportError("connection lost")])
def test_what_the_api_server_says_no_with_is_told(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    binding = Binding()

    async def refuse(made: Any, node_name: str) -> None:
        raise error

    monkeypatch.setattr(binding.writer, "bind", refuse)
    event = binding.failure()
    assert event.status.message == f'running Bind plugin "DefaultBinder": {error}'


def test_post_bind_has_no_say() -> None:
    plugins = [named(SaysPostBind, "A", answer=RAISES), named(SaysPostBind, "B")]
    binding = Binding(*plugins)
    assert isinstance(binding.end(), Bound)
    assert len(binding.plugin("B").asked) == 1


@pytest.mark.parametrize(("takes_s", "waited_s"), [(5.0, 5.0), (1e6, POST_BIND_DEADLINE_S)])
def test_what_post_bind_has_begun_is_waited_for_up_to_a_minute(takes_s: float, waited_s: float) -> None:
    binding = Binding(named(SaysPostBind, "A", answer=later(None, takes_s)))
    assert isinstance(binding.end(), Bound)
    assert binding.seconds == pytest.approx(waited_s)


# -- time --


@pytest.mark.parametrize(
    ("plugin", "deadline", "message"),
    [
        (named(SaysPreBind, "A", answer=later(None, 1e6)), PRE_BIND_DEADLINE_S, "PreBind"),
        (named(SaysBind, "A", answer=later(None, 1e6)), BIND_DEADLINE_S, "Bind"),
    ],
)
def test_a_plugin_that_never_answers_is_given_up(plugin: type[Plugin], deadline: float, message: str) -> None:
    binding = Binding(plugin)
    event = binding.failure()
    assert event.status.message == f'running {message} plugin "A": no answer within {deadline:g} s'
    assert binding.seconds == pytest.approx(deadline)


def test_a_plugins_own_timeout_is_told_as_such() -> None:
    event = Binding(named(SaysBind, "A", answer=later(TimeoutError("5 s")))).failure()
    assert event.status.message.endswith("plugin A failed in Bind for pod default/p: TimeoutError: 5 s")


@pytest.mark.parametrize("raised", [asyncio.CancelledError, GeneratorExit])
def test_what_would_end_a_task_fails_the_pod_when_a_plugin_raises_it(raised: type[BaseException]) -> None:
    event = Binding(named(SaysBind, "A", answer=later(raised()))).failure()
    assert f"plugin A failed in Bind for pod default/p: {raised.__name__}" in event.status.message


def test_a_cancelled_cycle_ends_as_cancelled() -> None:
    binding = Binding(named(SaysBind, "A", answer=later(None, 10)))

    async def main() -> None:
        task = asyncio.ensure_future(binding.scheduler.binding_cycle(binding.intent).run())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    binding.run(main())


# -- PreBind in groups --


def pre_bind(name: str, seconds: float, parallel: bool, answer: Any = None, flight: Any = None) -> type[Plugin]:
    return named(SaysPreBind, name, answer=later(answer, seconds), allows_parallel=parallel, flight=flight)


@pytest.mark.parametrize(
    ("plugins", "seconds"),
    [
        ([("A", 3, True), ("B", 5, True)], 5),
        ([("A", 3, False), ("B", 5, True)], 8),
        ([("A", 3, True), ("B", 5, False), ("C", 7, True)], 15),
        ([("A", 3, True), ("B", 5, True), ("C", 7, False), ("D", 11, True), ("E", 2, True)], 5 + 7 + 11),
    ],
)
def test_neighbours_that_allow_it_run_side_by_side(plugins: list[Any], seconds: float) -> None:
    binding = Binding(*(pre_bind(*each) for each in plugins))
    assert isinstance(binding.end(), Bound)
    assert binding.seconds == pytest.approx(seconds)


def test_one_that_has_nothing_to_do_still_keeps_its_neighbours_apart() -> None:
    plugins = [pre_bind("A", 3, True), pre_bind("B", 9, False, flight=SKIP), pre_bind("C", 5, True)]
    binding = Binding(*plugins)
    assert isinstance(binding.end(), Bound)
    assert binding.seconds == pytest.approx(8)
    assert binding.plugin("B").asked == []
    assert binding.intent.decision.state.skip_pre_bind == {"B"}


def test_the_first_failure_ends_its_group_and_those_behind_it() -> None:
    plugins = [pre_bind("A", 2, True, answer=UNS), pre_bind("B", 50, True), pre_bind("C", 1, False)]
    binding = Binding(*plugins)
    assert binding.failure().status == UNS.by("A")
    assert binding.seconds == pytest.approx(2)
    assert binding.plugin("C").asked == []


# -- pre-flight and the announcement --

PATCH = ("patch", "default/p", {"nominatedNodeName": "n"})


@pytest.mark.parametrize(
    ("plugins", "made", "announced"),
    [
        ([], P, False),
        ([named(SaysPreBind, "A", flight=SKIP)], P, False),
        ([named(SaysPreBind, "A")], P, True),
        ([named(SaysPreBind, "A", flight=SKIP), named(SaysPreBind, "B")], P, True),
        ([named(SaysPreBind, "A")], P.nominated("n"), False),
    ],
    ids=["no plugin", "nothing to do", "work to do", "work for one", "known already"],
)
def test_where_the_pod_goes_is_announced_when_work_lies_before_the_bind(
    plugins: Any, made: Any, announced: bool
) -> None:
    binding = Binding(*plugins, made=made)
    assert isinstance(binding.end(), Bound)
    assert (PATCH in binding.writer.calls) is announced


def test_an_announcement_that_fails_does_not_stop_the_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    binding = Binding(named(SaysPreBind, "A"))

    async def refuse(made: Any, patch: Any) -> None:
        raise OSError("no route")

    monkeypatch.setattr(binding.writer, "patch_pod_status", refuse)
    assert isinstance(binding.end(), Bound)


@pytest.mark.parametrize(
    ("flight", "text"),
    [
        (UNS, 'running PreBindPreFlight "A": no room'),
        (WAIT, 'running PreBindPreFlight "A": answered Wait'),
        (ERROR, 'running PreBindPreFlight "A": the disk is gone'),
        (RAISES, raised("PreBindPreFlight")),
    ],
)
def test_a_pre_flight_that_says_anything_else_is_an_error(flight: Any, text: str) -> None:
    binding = Binding(named(SaysPreBind, "A", flight=flight))
    event = binding.failure()
    assert (event.status.code, event.status.message) == (Code.ERROR, text)
    assert binding.writer.calls == []


# -- waiting --


def held_pod(*plugins: type[Plugin]) -> Binding:
    return Binding(named(SaysPermit, "X", answer=Wait(300)), *plugins)


def test_a_held_pod_is_announced_and_bound_once_it_is_allowed() -> None:
    binding = held_pod()
    held = binding.scheduler.waiting.get(binding.intent.decision.pod.uid)
    assert held is not None

    async def main() -> Any:
        asyncio.get_running_loop().call_later(7, held.allow, "X")
        return await binding.scheduler.binding_cycle(binding.intent).run()

    assert isinstance(binding.run(main()), Bound)
    assert binding.writer.calls == [PATCH, ("bind", "default/p", "n")]
    assert binding.seconds == pytest.approx(7)
    assert list(binding.scheduler.waiting.list()) == []


def test_a_rejection_while_waiting_is_told_as_permits_no_and_the_pod_stays_in_flight() -> None:
    binding = held_pod(named(SaysPreBind, "A"))
    event = binding.failure()
    assert event.waited
    assert event.status.message == "rejected due to timeout after waiting 5m0s at plugin X"
    assert event.status.plugin == "X"
    assert binding.where(P) == "in_flight"
    assert binding.plugin("A").asked == []


def test_a_preempted_waiting_pod_fails_with_an_error() -> None:
    binding = held_pod()
    held = binding.scheduler.waiting.get(binding.intent.decision.pod.uid)
    assert held is not None
    held.preempt("DefaultPreemption", "preempted")
    event = binding.failure()
    assert not event.waited
    assert (event.status.code, event.status.message) == (Code.ERROR, "waiting on permit for pod: preempted")


def test_after_permit_the_queue_lets_go_of_the_pod() -> None:
    binding = Binding(named(SaysPreBind, "A", answer=UNS))
    assert binding.where(P) == "in_flight"
    binding.failure()
    assert binding.where(P) is None
