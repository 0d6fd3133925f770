"""One Chromium for all tests of a process, and pages that record what they ask for and what they complain about."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.page.opened import OpenedPage
from tests.support.chromium import browser_or_skip


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with browser_or_skip() as found:
        yield found


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., OpenedPage]]:
    """Opens an address; what is not right with it fails the test when it ends."""
    opened: list[OpenedPage] = []

    def open_one(address: str, *, width: int = 1280, dark: bool = False, complaints: bool = False) -> OpenedPage:
        page = OpenedPage(browser, address, width=width, dark=dark)
        if not complaints:
            opened.append(page)
        return page

    yield open_one
    for page in opened:
        assert page.complaints == []
        assert page.elsewhere() == []
        page.close()
