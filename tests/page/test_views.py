"""Every view opened in Chromium under the server's content security policy: what it shows, and that it complains of nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.page.documents import everything
from tests.page.opened import OpenedPage
from tests.page.serving import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VIEWS = {
    "": "zone-a",
    "pods": "180 of 180 pods",
    "pods?q=node:node-0001": "node-0001",
    "pending": "4 pods in 1 group",
    "nodes": "24 of 24 nodes",
    "node/node-0007": "dedicated=batch:NoSchedule",
    "node/none": "There is no node none.",
}


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(everything()) as running:
        yield running


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("route", VIEWS)
def test_every_view_opens(server: PageServer, open_page: Callable[..., OpenedPage], route: str, width: int) -> None:
    opened = open_page(f"{server.address}#/{route}", width=width)
    opened.sees(VIEWS[route])
    wider = opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0, "the page must not scroll sideways"


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
