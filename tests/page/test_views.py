"""Every view opened in Chromium under the server's content security policy: what it shows, and that it complains of nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.page.documents import everything
from tests.page.opened import OpenedPage
from tests.page.parts import pending_view
from tests.page.serving import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

POD = "team-0/training-00176"
VIEWS = {
    "": "zone-a",
    "pods": "180 of 180 pods",
    "pods?q=node:node-0001": "node-0001",
    f"pod/{POD}": "no node has 12 cpu free",
    "pod/team-0/web-0-00000": "PodTopologySpread",
    "pending": "4 pods in 1 group",
    "nodes": "24 of 24 nodes",
    "node/node-0007": "dedicated=batch:NoSchedule",
    "node/none": "There is no node none.",
    "compare": "Pods that are elsewhere",
    "time": "node-0009 is not ready",
    "placements": "2 of 3 clusters",
    "policies": "Satisfied is False: zone-b has 2 too few",
    "moves": "zone-a has 2 too many",
    "tables": "1.44",
    "nowhere": "There is no such page.",
}


def pod_pages() -> dict[str, Any]:
    """What a server says of the pods that the tests open."""
    waiting = pending_view(24, "training-00176", "0/24 nodes are available: 24 Insufficient cpu.")
    scores = {
        "plugins": [{"name": "NodeResourcesFit", "weight": 1}, {"name": "PodTopologySpread", "weight": 2}],
        "nodes": [
            {"name": "node-0003", "total": 170, "scores": [90, 80]},
            {"name": "node-0007", "total": 160.5, "scores": [60.5, 100]},
        ],
    }
    fields = {"bars": [], "groups": [], "nearest": [], "help": [], "blocker": None, "scores": scores}
    bound = (
        waiting
        | fields
        | {"name": "web-0-00000", "verdict": "Bound", "node": "node-0003", "sentence": "It is on node-0003."}
        | {"policy": waiting["policy"] | {"domain": "zone-a"}}
    )
    return {POD: waiting, "*": bound}


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(everything(), pods=pod_pages()) as running:
        yield running


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("route", VIEWS)
def test_every_view_opens(server: PageServer, open_page: Callable[..., OpenedPage], route: str, width: int) -> None:
    opened = open_page(f"{server.address}#/{route}", width=width)
    opened.sees(VIEWS[route])
    wider = opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0, "the page must not scroll sideways"


def test_a_pods_page_shows_its_policy(server: PageServer, open_page: Callable[..., OpenedPage]) -> None:
    opened = open_page(f"{server.address}#/pod/{POD}")
    domains = opened.page.get_by_role("table", name="Domains of checkout")
    expect(domains.get_by_role("row")).to_have_count(3)
    expect(domains.get_by_role("row").filter(has_text="zone-b")).to_contain_text("3112")
    opened = open_page(f"{server.address}#/pod/team-0/web-0-00000")
    opened.sees("team-0/checkout; this pod is in zone zone-a.")


def test_a_search_finds_by_every_field(server: PageServer, open_page: Callable[..., OpenedPage]) -> None:
    opened = open_page(f"{server.address}#/pods")
    for words, found in {
        "insufficient cpu": 4,
        "owner:training": 4,
        "state:pending team-1": 1,
        "web-3-00003": 1,
        "nothing-like-it": 0,
    }.items():
        opened.page.get_by_role("searchbox").fill(words)
        opened.sees(f"{found} of 180 pods")
        expect(opened.page.locator("table.rows tbody:not(.spacer) tr")).to_have_count(found)
    assert opened.page.url.endswith("q=nothing-like-it")
