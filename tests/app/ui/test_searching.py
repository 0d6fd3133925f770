"""Searching a view, and one node of it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.app.ui import searching
from bayplan.app.ui.rights import EVERYTHING
from tests.app.ui.support import simulated


@pytest.fixture(scope="module")
def view() -> dict[str, Any]:
    return simulated().view(EVERYTHING)


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("big", {"big"}),
        ("SHOP/", {"web"}),
        ("deployment/web", {"web"}),
        ("insufficient", {"big"}),
        ("pending", {"big"}),
        ("nothing", set()),
        ("", set()),
    ],
)
def test_pods_are_found_by_name_namespace_owner_state_and_reason(
    view: dict[str, Any], asked: str, names: set[str]
) -> None:
    found = searching.search(view, asked)
    assert {each["name"].partition("-")[0] for each in found["pods"]} == names


def test_a_node_is_found_and_its_pods(view: dict[str, Any]) -> None:
    found = searching.search(view, "n1")
    assert found["nodes"] == [{"name": "n1"}]
    node = searching.node(view, "n1")
    assert node is not None
    assert {(each["namespace"], each["name"]) for each in node["pods"]} == {
        (each["namespace"], each["name"]) for each in found["pods"]
    }
    assert node["requested"]["cpu"] == 1000 * len(node["pods"])
    assert searching.node(view, "n9") is None


def test_what_is_found_is_cut(view: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_FOUND", 1)
    found = searching.search(view, "web")
    assert (len(found["pods"]), found["truncated"]) == (1, True)
