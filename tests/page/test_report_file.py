"""Every view opened from a report file: nothing is fetched, nothing is complained of, and paper gets what the screen has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bayplan.view.report import html
from tests.page.documents import everything, large
from tests.page.opened import OpenedPage
from tests.page.test_views import VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., OpenedPage]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_bytes(html(everything()))
    return path


def test_every_view_opens_and_nothing_is_fetched(report: Path, open_page: Open) -> None:
    opened = open_page(report.as_uri())
    for route, text in VIEWS.items():
        opened.go(route)
        opened.sees(text)
    assert {url.partition("#")[0] for url in opened.requests if not url.startswith("data:")} == {report.as_uri()}


def test_a_pod_that_waits_has_the_page_of_its_group(report: Path, open_page: Open) -> None:
    opened = open_page(f"{report.as_uri()}#/pod/team-3/training-00179")
    opened.sees("no node has 12 cpu free")
    opened.sees("2.5 missing")
    opened.sees("All 24 nodes, by what they said")


def test_a_bound_pod_shows_why_it_is_there(report: Path, open_page: Open) -> None:
    opened = open_page(f"{report.as_uri()}#/pod/team-0/web-0-00000?in=before")
    opened.sees("It is on node-")
    table = opened.page.get_by_role("region", name="Scores by plugin and node")
    expect(table).to_contain_text("PodTopologySpread")
    expect(table).to_contain_text("160.5")


def test_the_cluster_that_is_chosen_stays_chosen(report: Path, open_page: Open) -> None:
    opened = open_page(f"{report.as_uri()}#/pending")
    opened.sees("4 pods in 1 group")
    opened.page.get_by_role("group", name="Cluster").get_by_role("link", name="before").click()
    opened.sees("12 pods in 1 group")
    opened.page.get_by_role("link", name="Pods 180").click()
    opened.page.get_by_role("searchbox").fill("state:pending")
    opened.sees("12 of 180 pods")


def test_paper_has_the_map_and_many_rows(report: Path, open_page: Open) -> None:
    opened = open_page(f"{report.as_uri()}#/", dark=True)
    opened.sees("zone-a")
    on_screen = opened.page.evaluate("document.querySelector('canvas').width")
    opened.page.emulate_media(media="print")
    expect(opened.page.get_by_role("navigation")).to_be_hidden()
    opened.page.locator("canvas[style*='100%']").wait_for()
    assert opened.page.evaluate("document.querySelector('canvas').width") == 2100 != on_screen
    opened.go("pods")
    expect(opened.page.locator("table.rows tbody:not(.spacer) tr")).to_have_count(180)
    assert opened.page.pdf().startswith(b"%PDF")


def test_fifty_thousand_pods_are_searched_with_few_rows_in_the_page(tmp_path: Path, open_page: Open) -> None:
    path = tmp_path / "large.html"
    path.write_bytes(html(large()))
    assert path.stat().st_size < 15_000_000
    opened = open_page(f"{path.as_uri()}#/pods")
    opened.sees("50,000 of 50,000 pods")
    opened.page.evaluate("scrollTo(0, 1e9)")
    expect(opened.page.get_by_role("link", name="training-49999")).to_be_visible()
    assert opened.page.locator("tr").count() < 200
    opened.page.get_by_role("searchbox").fill("owner:web-3 node:node-0007")
    expect(opened.page.locator("tbody:not(.spacer) tr").first).to_contain_text("node-0007")
    opened.go("")
    expect(opened.page.locator("canvas")).to_be_visible()
