"""Templates become manifests: laid over what is usual, numbered, each template in turn."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.simulator.benchmarks import workload_rendering as rendering
from bayplan.simulator.benchmarks.workload_file import Churn, CreateNodes, CreateObjects, CreatePods, Sizes

SIZES = Sizes(nodes=4, pods=6)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("node-{number}", "node-7"),
        ("zone-{number % 3}", "zone-1"),
        ("node-{number % nodes} of {number%pods}", "node-3 of 1"),
        ("{other}", "{other}"),
        ({"a": ["{number}", 5]}, {"a": ["7", 5]}),
    ],
)
def test_numbers_are_filled_in(template: Any, expected: Any) -> None:
    assert rendering.rendered(template, 7, SIZES) == expected


def test_nodes_have_a_name_and_a_zone_of_three() -> None:
    nodes = list(rendering.nodes(CreateNodes(), SIZES))
    assert [each["metadata"]["name"] for each in nodes] == ["node-0", "node-1", "node-2", "node-3"]
    zones = [each["metadata"]["labels"]["topology.kubernetes.io/zone"] for each in nodes]
    assert zones == ["zone-0", "zone-1", "zone-2", "zone-0"]


def test_a_template_is_laid_over_what_is_usual() -> None:
    template = {"metadata": {"labels": {"disk": "ssd"}}, "status": {"allocatable": {"cpu": "8"}}}
    (node, *_) = rendering.nodes(CreateNodes(template=template), SIZES)
    assert node["metadata"]["labels"]["disk"] == "ssd"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "node-0"
    assert node["status"]["allocatable"] == {"cpu": "8", "memory": "32Gi", "pods": "110"}


def test_pods_take_the_templates_in_turn_and_the_name_of_their_step() -> None:
    templates = [{"metadata": {"labels": {"app": "a"}}}, {"metadata": {"labels": {"app": "b"}}}]
    pods = list(rendering.pods(CreatePods(name="web", count="3", templates=templates), SIZES))
    assert [each["metadata"]["name"] for each in pods] == ["web-0", "web-1", "web-2"]
    assert [each["metadata"]["labels"]["app"] for each in pods] == ["a", "b", "a"]


def test_no_more_pods_are_made_than_at_most() -> None:
    assert len(list(rendering.pods(CreatePods(atMost="nodes"), SIZES))) == 4


def test_objects_are_made_as_they_are_written() -> None:
    template = {"kind": "Service", "metadata": {"name": "s-{number}"}}
    made = list(rendering.objects(CreateObjects(count="2", template=template), SIZES))
    assert made == [{"kind": "Service", "metadata": {"name": f"s-{number}"}} for number in (0, 1)]


def test_churn_makes_pods_unless_another_kind_is_written() -> None:
    assert rendering.churned(Churn(everyPods=1), 3, SIZES)["kind"] == "Pod"
    node = rendering.churned(Churn(everyPods=1, name="extra", template={"kind": "Node"}), 3, SIZES)
    assert node == {"kind": "Node", "metadata": {"name": "extra-3"}}
