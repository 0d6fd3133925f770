"""Calling plugins: whoever raises, talks nonsense or is slow is named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bayplan.engine.running import SLOW_S, Calls
from bayplan.errors import PluginError
from bayplan.framework.ports import NoMetrics
from bayplan.framework.status import SKIP, Status, unschedulable
from bayplan.testing import pod
from tests.engine.support import SaysFilter, named

POD = pod("p").build()
PLUGIN = named(SaysFilter, "A")()


class Counted(NoMetrics):
    def __init__(self) -> None:
        self.counted: list[tuple[str, ...]] = []

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None:
        self.counted.append((name, *labels.values()))


def ticking(seconds: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += seconds


def test_what_a_plugin_raises_names_plugin_point_and_pod() -> None:
    cause = KeyError("zone")
    with pytest.raises(PluginError, match="plugin A failed in Filter for pod default/p: KeyError: 'zone'") as caught:
        Calls(POD).run(PLUGIN, "Filter", lambda: (_ for _ in ()).throw(cause))
    assert caught.value.cause is cause
    assert (caught.value.plugin, caught.value.extension_point) == ("A", "Filter")


def test_a_verdict_is_stamped_with_the_plugins_name() -> None:
    assert Calls(POD).verdict(PLUGIN, "Filter", lambda: unschedulable("no")) == unschedulable("no").by("A")


def test_what_is_no_verdict_names_plugin_and_point() -> None:
    with pytest.raises(PluginError, match=r"A failed in Permit .* expected None, a Reason or a Status, got bool"):
        Calls(POD).verdict(PLUGIN, "Permit", lambda: True)


def test_a_slow_call_is_remembered_and_counted_also_when_it_fails() -> None:
    metrics = Counted()
    calls = Calls(POD, metrics, ticking(2 * SLOW_S).__next__)
    calls.run(PLUGIN, "Filter", lambda: None)
    with pytest.raises(PluginError):
        calls.run(PLUGIN, "Score", lambda: 1 // 0)
    assert calls.slow == pytest.approx({"A/Filter": 2 * SLOW_S, "A/Score": 2 * SLOW_S})
    assert metrics.counted == [("slow_plugin_calls_total", "A", "Filter"), ("slow_plugin_calls_total", "A", "Score")]


def test_a_quick_call_leaves_no_trace() -> None:
    calls = Calls(POD, timer=ticking(SLOW_S / 2).__next__)
    calls.run(PLUGIN, "Filter", lambda: None)
    assert calls.slow == {}


@pytest.mark.parametrize(("status", "text"), [(unschedulable("a", "b"), "a, b"), (SKIP, "answered Skip")])
def test_an_answer_that_has_no_place_here_is_told_by_its_text_or_its_name(status: Status, text: str) -> None:
    assert Calls.complaint(status) == text
