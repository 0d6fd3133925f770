"""Pictures of views: what they say can be read in the SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from bayplan.view.documents import Origin, view
from bayplan.view.pictures import picture
from bayplan.view.simulation_view import simulation_view
from tests.simulator.support import ZONE, node, pod
from tests.view.support import ORIGIN, ran


def words(svg: bytes) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_picture_names_zones_nodes_reasons_and_the_command() -> None:
    world = ran(
        node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"}), node("n3", labels={ZONE: "b"}), pod("big", "9")
    )
    said = words(picture(simulation_view(world, ORIGIN), "svg"))
    assert {"a", "b", "n1", "Why pods are pending", "1  Insufficient cpu", "Time line"} <= set(said)
    assert f"$ {ORIGIN.command}" in said


def test_equal_views_are_equal_pictures() -> None:
    made = simulation_view(ran(node("n1"), pod("a")), ORIGIN)
    assert picture(made, "svg") == picture(made, "svg")


def test_many_nodes_are_boxes_without_names() -> None:
    made = simulation_view(ran(*(node(f"n{n}") for n in range(60))), ORIGIN)
    assert "n7" not in words(picture(made, "svg"))


def test_an_empty_view_and_hostile_text() -> None:
    empty = view(Origin("place", "$x^{2}$ <script>"))
    assert picture(empty, "png").startswith(b"\x89PNG")
    assert "$ $x^{2}$ <script>" in words(picture(empty, "svg"))
