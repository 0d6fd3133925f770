"""ImageLocality: sizes, how far an image is spread, names, and the thresholds."""

from __future__ import annotations

import pytest

from bayplan.plugins.image_locality import ImageLocality
from bayplan.testing import NodeBuilder, PodBuilder, assert_forms_agree, cluster, make, node, pod, run_score

APP = "registry.example:5000/app"

CASES: list[tuple[str, list[NodeBuilder], PodBuilder, list[int]]] = [
    ("nobody has it", [node("a"), node("b")], pod("p").image("app:1"), [0, 0]),
    ("one of two has it", [node("a").image("app:1", "250Mi"), node("b")], pod("p").image("app:1"), [10, 0]),
    ("both have it", [node(n).image("app:1", "250Mi") for n in "ab"], pod("p").image("app:1"), [23, 23]),
    ("no tag means latest", [node("a").image("app:latest", "250Mi"), node("b")], pod("p").image("app"), [10, 0]),
    ("a port is no tag", [node("a").image(f"{APP}:latest", "250Mi"), node("b")], pod("p").image(APP), [10, 0]),
    ("another name", [node("a").image(["x", "app:1"], "250Mi"), node("b")], pod("p").image("app:1"), [10, 0]),
    ("small images count for nothing", [node("a").image("app:1", "23Mi")], pod("p").image("app:1"), [0]),
    ("huge images count like 1000Mi", [node("a").image("app:1", "9Gi")], pod("p").image("app:1"), [100]),
    (
        "more containers raise the top",
        [node("a").image("app:1", "1000Mi")],
        pod("p").image("app:1").container("none:1"),
        [49],
    ),
    (
        "init containers count, and the same image twice",
        [node("a").image("app:1", "500Mi")],
        pod("p").image("app:1").init("app:1"),
        [49],
    ),
    (
        "image volumes add to the sum but not to the top",
        [node("a").image("app:1", "300Mi").image("data:1", "200Mi")],
        pod("p").image("app:1").image_volume("data:1"),
        [48],
    ),
    (
        "the first node that reported it says how large it is",
        [node("a").image("app:1", "250Mi"), node("b").image("app:1", "900Mi")],
        pod("p").image("app:1"),
        [23, 23],
    ),
]


@pytest.mark.parametrize(("case", "nodes", "asked", "scores"), CASES, ids=[each[0] for each in CASES])
def test_scores(case: str, nodes: list[NodeBuilder], asked: PodBuilder, scores: list[int]) -> None:
    cache = cluster(nodes)
    plugin = make(ImageLocality, cache)
    assert list(run_score(plugin, asked, cache).values()) == scores
    assert_forms_agree(plugin, [asked], cache)


def test_an_image_that_a_node_lost_counts_no_more() -> None:
    cache = cluster([node("a").image("app:1", "250Mi"), node("b")])
    cache.update_node(node("a").build())
    assert run_score(make(ImageLocality), pod("p").image("app:1"), cache) == {"a": 0, "b": 0}
