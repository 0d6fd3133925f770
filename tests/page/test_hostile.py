"""Names that others chose are text, and are cut: script tags, ten megabytes, letters that turn the line around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.page.documents import everything
from tests.page.opened import OpenedPage
from tests.page.serving import PageServer
from tests.page.test_views import VIEWS, pod_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCRIPT = "<script>window.harmed = 1</script><img src=x onerror='window.harmed = 1'>"
TURNED = "\u202egnirts\u202c\u2066"
LONG = "x" * 10_000_000


def spoiled(value: Any, by: str) -> Any:
    """Every text of a document with something hostile in front; keys and the names of series stay."""
    if isinstance(value, str):
        return by + value
    if isinstance(value, list):
        return [spoiled(each, by) for each in value]
    if isinstance(value, dict):
        return {key: spoiled(each, by) for key, each in value.items()}
    return value


@pytest.mark.parametrize("by", [SCRIPT, TURNED], ids=["script", "turned"])
def test_hostile_text_is_shown_as_text(open_page: Callable[..., OpenedPage], by: str) -> None:
    document = everything()
    for part in document["clusters"]:
        part["strings"] = [text and by + text for text in part["strings"]]
        for columns in (part["nodes"], part["pods"]):
            columns["name"] = [by + name for name in columns["name"]]
        part["pending"] = [spoiled(group, by) for group in part["pending"]]
    for key in ("title", "command", "facts", "placements", "policies", "moves", "tables", "timeline"):
        document[key] = spoiled(document[key], by)
    with PageServer(document, pods=spoiled(pod_pages(), by)) as server:
        opened = open_page(f"{server.address}#/")
        for route in VIEWS:
            opened.go(route)
            expect(opened.page.locator("main > :nth-child(2)")).to_be_attached()
            assert opened.page.evaluate("window.harmed") is None
            assert opened.page.locator("main script, main img, header script").count() == 0
        opened.page.close()


def test_ten_megabytes_are_cut(open_page: Callable[..., OpenedPage]) -> None:
    document = everything()
    part = document["clusters"][-1]
    part["nodes"]["name"][0] = LONG
    part["pods"]["name"][0] = LONG
    part["pending"][0]["message"] = part["pending"][0]["view"]["sentence"] = LONG
    part["strings"] = [LONG if "Insufficient" in text else text for text in part["strings"]]
    document["title"] = LONG
    with PageServer(document) as server:
        opened = open_page(f"{server.address}#/")
        for route in ("", "pods", "pending", "nodes"):
            opened.go(route)
            expect(opened.page.locator("main > :nth-child(2)")).to_be_attached()
            assert opened.page.evaluate("document.documentElement.outerHTML.length") < 1_000_000
            assert opened.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.page.close()
