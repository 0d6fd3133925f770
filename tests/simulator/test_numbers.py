"""The numbers of plugins in an explanation."""

from __future__ import annotations

from bayplan.objects.crane_annotations import format_load
from bayplan.simulator.explaining import explain_pod
from bayplan.simulator.telling import as_text
from tests.simulator.seed_experiment import load_aware
from tests.simulator.support import START, node, pod, world


def test_an_explanation_has_the_numbers_of_every_node() -> None:
    hot, unknown = node("n1"), node("n2")
    hot["metadata"]["annotations"] = {"cpu_usage_avg_5m": format_load(0.9, START - 130)}
    document = explain_pod(world(hot, unknown, pod("p"), load_aware()), "default", "p")
    numbers = {each["name"]: each["numbers"]["Dynamic"] for each in document["nodes"]}
    assert "cpu_usage_avg_5m 0.9, limit 0.65, weight 0.2, 2m old" in numbers["n1"]
    assert "cpu_usage_avg_5m not known, limit 0.65, weight 0.2" in numbers["n2"]
    assert "n1     Dynamic   cpu_usage_avg_5m 0.9, limit 0.65, weight 0.2, 2m old" in as_text(document).splitlines()


def test_where_nobody_has_numbers_nothing_is_added() -> None:
    document = explain_pod(world(node("n1"), pod("p")), "default", "p")
    assert "numbers" not in document["nodes"][0]
    assert "NUMBERS" not in as_text(document)
