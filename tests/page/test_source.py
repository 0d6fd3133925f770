"""The page and its server: changes arrive, a lost connection is said and mended, a token is asked for and not kept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.page.documents import cluster, view
from tests.page.opened import OpenedPage
from tests.page.serving import PageServer
from tests.page.test_views import pod_pages

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Open = Callable[..., OpenedPage]


def test_a_change_is_shown_where_it_happened(open_page: Open) -> None:
    with PageServer(view(cluster())) as server:
        opened = open_page(f"{server.address}#/pods?q=training-00168")
        expect(opened.page.locator("tbody:not(.spacer) tr")).to_contain_text("Pending")
        bound = server.view["clusters"][0]["strings"].index("Bound")
        server.send(
            patch=[
                {"path": ["clusters", 0, "pods", "node"], "rows": [168], "values": [3]},
                {"path": ["clusters", 0, "pods", "state"], "rows": [168], "values": [bound]},
            ]
        )
        expect(opened.page.locator("tbody:not(.spacer) tr")).to_contain_text("node-0003")
        expect(opened.page.get_by_role("searchbox")).to_have_value("training-00168")
        opened.page.close()


def test_rows_come_and_go(open_page: Open) -> None:
    with PageServer(view(cluster())) as server:
        opened = open_page(f"{server.address}#/pods")
        opened.sees("180 of 180 pods")
        columns = server.view["clusters"][0]["pods"]
        server.send(patch=[{"path": ["clusters", 0, "pods", name], "length": 170} for name in columns])
        opened.sees("170 of 170 pods")
        added = {name: column[0] for name, column in columns.items()} | {"name": "new-comer"}
        server.send(
            patch=[
                {"path": ["clusters", 0, "pods", name], "rows": [170], "values": [value]}
                for name, value in added.items()
            ]
        )
        opened.sees("171 of 171 pods")
        opened.page.get_by_role("searchbox").fill("new-comer")
        opened.sees("1 of 171 pods")
        opened.page.close()


def test_a_lost_connection_is_said_and_mended(open_page: Open) -> None:
    with PageServer(view(cluster())) as server:
        opened = open_page(f"{server.address}#/", complaints=True)
        state = opened.page.get_by_role("status")
        expect(state).to_have_text("live")
        server.away = True
        server.drop()
        expect(state).to_have_text("Connection lost, trying again")
        expect(opened.page.locator("canvas")).to_be_visible()
        server.away = False
        expect(state).to_have_text("live", timeout=15_000)
        opened.close()


def test_a_missed_change_makes_the_page_read_everything_again(open_page: Open) -> None:
    with PageServer(view(cluster())) as server:
        opened = open_page(f"{server.address}#/pods")
        opened.sees("180 of 180 pods")
        server.view = view(cluster(pods=150))
        server.seq += 5
        server.send(patch=[])
        expect(opened.page.locator(".found")).to_have_text("150 of 150 pods", timeout=15_000)
        opened.page.close()


def test_a_token_is_asked_for_sent_and_kept_nowhere(open_page: Open) -> None:
    with PageServer(view(cluster()), token="let-me-in") as server:
        opened = open_page(server.address, complaints=True)
        field = opened.page.get_by_label("Token")
        field.fill("wrong")
        field.press("Enter")
        opened.sees("the token is not known")
        opened.page.get_by_label("Token").fill("let-me-in")
        opened.page.get_by_role("button", name="Show the cluster").click()
        expect(opened.page.locator("canvas")).to_be_visible()
        kept = opened.page.evaluate(
            "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}, location.href])"
        )
        assert "let-me-in" not in kept
        assert not any("let-me-in" in url for url in opened.requests)
        server.token = "another"
        server.drop()
        opened.page.get_by_label("Token").fill("another")
        opened.page.get_by_label("Token").press("Enter")
        expect(opened.page.locator("canvas")).to_be_visible()
        expect(opened.page.get_by_role("contentinfo")).to_contain_text("bayplan simulate -f")
        opened.close()


def test_a_servers_message_is_shown(open_page: Open) -> None:
    with PageServer(view(cluster())) as server:
        opened = open_page(server.address)
        expect(opened.page.get_by_role("status")).to_have_text("live")
        server.send(message="cluster.yaml: cannot be read")
        expect(opened.page.get_by_role("status")).to_have_text("cluster.yaml: cannot be read")
        opened.page.close()


def test_what_a_person_is_about_to_use_stays_while_the_page_follows(open_page: Open) -> None:
    with PageServer(view(cluster()), pods=pod_pages()) as server:
        opened = open_page(f"{server.address}#/pods?q=team-1")
        link = opened.page.get_by_role("link", name="web-1-00001")
        link.focus()
        server.send(patch=[{"path": ["clusters", 0, "pods", "node"], "rows": [5], "values": [4]}])
        expect(opened.page.get_by_role("row", name="web-5-00005")).to_contain_text("node-0004")
        expect(link).to_be_focused()
        link.hover()
        opened.page.mouse.down()
        server.send(patch=[{"path": ["clusters", 0, "pods", "node"], "rows": [5], "values": [6]}])
        server.send(patch=[{"path": ["facts"], "value": []}])
        opened.page.mouse.up()
        expect(opened.page).to_have_url(re.compile("#/pod/team-1/web-1-00001"))
        opened.page.close()
