"""The page without a mouse and without eyes: the keyboard reaches all of it, and axe finds nothing serious."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.page.documents import everything
from tests.page.opened import OpenedPage
from tests.page.serving import PageServer
from tests.page.test_views import POD, VIEWS, pod_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(everything(), pods=pod_pages()) as running:
        yield running


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(server: PageServer, open_page: Callable[..., OpenedPage], dark: bool) -> None:
    opened = open_page(f"{server.address}#/", dark=dark)
    for route, text in VIEWS.items():
        opened.go(route)
        opened.sees(text)
        found = Axe().run(opened.page).response["violations"]
        assert [
            (each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")
        ] == [], route


def test_arrow_keys_go_from_node_to_node_and_enter_opens_one(
    server: PageServer, open_page: Callable[..., OpenedPage]
) -> None:
    opened = open_page(f"{server.address}#/")
    opened.page.locator("canvas").focus()
    said = opened.page.locator(".map [aria-live]")
    opened.page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("node-0000")
    opened.page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("node-0003, zone-a · rack-a0, cpu")
    opened.page.keyboard.press("End")
    expect(said).to_contain_text("node-0023")
    expect(opened.page.get_by_label("Chosen node")).to_contain_text("node-0023")
    opened.page.keyboard.press("Enter")
    expect(opened.page.get_by_role("heading", level=1)).to_have_text("node-0023")


def test_tab_reaches_everything_that_can_be_used(server: PageServer, open_page: Callable[..., OpenedPage]) -> None:
    opened = open_page(f"{server.address}#/")
    opened.sees("zone-a")
    reached = set()
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.add(
            opened.page.evaluate(
                "(document.activeElement.textContent || document.activeElement.tagName).trim().slice(0, 12)"
            )
        )
    assert {"Skip to the ", "Map", "Tables", "CANVAS", "Copy"} <= reached


def test_a_tap_shows_the_pods_of_a_node(server: PageServer, open_page: Callable[..., OpenedPage]) -> None:
    opened = open_page(f"{server.address}#/", width=390)
    opened.sees("zone-a")
    opened.page.locator("canvas").tap(position={"x": 200, "y": 60})
    panel = opened.page.get_by_label("Chosen node")
    expect(panel).to_contain_text("Pods (")
    panel.get_by_role("link").nth(1).click()
    expect(opened.page.get_by_role("heading", level=1)).to_contain_text("web-")


def test_a_command_can_be_copied(server: PageServer, open_page: Callable[..., OpenedPage]) -> None:
    opened = open_page(f"{server.address}#/pod/{POD}")
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.page.locator("main").get_by_role("button", name="Copy").click()
    expect(opened.page.locator("main").get_by_role("button", name="Copied")).to_be_visible()
    assert opened.page.evaluate("navigator.clipboard.readText()").startswith("bayplan explain pod training-")
