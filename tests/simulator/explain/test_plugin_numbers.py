"""The numbers of plugins in an explanation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.framework.plugin import FilterPlugin
from bayplan.objects.third_party.crane_annotations import format_load
from bayplan.simulator.explain import plugin_numbers
from bayplan.simulator.explain.explanation import explain_pod
from bayplan.simulator.explain.text import as_text
from tests.simulator.seed_experiment import load_aware
from tests.simulator.support import START, node, pod, world


def test_an_explanation_has_the_numbers_of_every_node() -> None:
    hot, unknown = node("n1"), node("n2")
    hot["metadata"]["annotations"] = {"cpu_usage_avg_5m": format_load(0.9, START - 130)}
    document = explain_pod(world(hot, unknown, pod("p"), load_aware()), "default", "p")
    plugin_numbers = {each["name"]: each["numbers"]["Dynamic"] for each in document["nodes"]}
    assert "cpu_usage_avg_5m 0.9, limit 0.65, weight 0.2, 2m old, too high" in plugin_numbers["n1"]
    assert "cpu_usage_avg_5m not known, limit 0.65, weight 0.2" in plugin_numbers["n2"]
    told = as_text(document).splitlines()
    assert "n1     Dynamic   cpu_usage_avg_5m 0.9, limit 0.65, weight 0.2, 2m old, too high" in told


def test_where_nobody_has_numbers_nothing_is_added() -> None:
    document = explain_pod(world(node("n1"), pod("p")), "default", "p")
    assert "numbers" not in document["nodes"][0]
    assert "NUMBERS" not in as_text(document)


class Telling(FilterPlugin):
    name = "Telling"
    says: Any = None

    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        return None

    def tell(self, pod: Any, node: Any) -> Any:
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says


@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        (ValueError("tell"), "ValueError: tell"),
        (SystemExit(7), "SystemExit: 7"),
        (5, "TypeError: 'int' object is not iterable"),
        ([1], "TypeError: expected lines of text, got [1]"),
    ],
)
def test_who_cannot_tell_is_left_out_and_named_once(says: Any, complaint: str) -> None:
    made = world(node("n1"), node("n2"), pod("p"))
    profile = made.scheduler.profiles["default-scheduler"]
    odd, good = Telling(), Telling()
    odd.says, good.says = says, ["all is well"]
    profile.instances.update(Odd=odd, Good=good)  # type: ignore[attr-defined]
    odd.name, good.name = "Odd", "Good"  # type: ignore[misc]
    with capture_logs() as logs:
        document = explain_pod(made, "default", "p")
    assert [each["numbers"] for each in document["nodes"]] == [{"Good": ["all is well"]}] * 2
    (line,) = (entry for entry in logs if entry["log_level"] == "error")
    assert (line["plugin"], line["pod"]) == ("Odd", "default/p")
    # What was raised is told with its place.
    place = r" \(tests/simulator/explain/test_plugin_numbers\.py:\d+\)" if isinstance(says, BaseException) else ""
    assert re.fullmatch(re.escape(complaint) + place, line["error"])


def test_one_line_need_not_be_a_list() -> None:
    made = world(node("n1"), pod("p"))
    teller = Telling()
    teller.says = "all is well"
    made.scheduler.profiles["default-scheduler"].instances["Telling"] = teller  # type: ignore[index]
    document = explain_pod(made, "default", "p")
    assert document["nodes"][0]["numbers"] == {"Telling": ["all is well"]}
    assert plugin_numbers.as_lines(document, 3)[1].split(maxsplit=2) == ["n1", "Telling", "all is well"]
