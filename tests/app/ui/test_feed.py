"""Those who follow a view get it whole, then what changes, and nothing piles up for those who are slow."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from bayplan.app.ui import feed as feeding
from bayplan.app.ui.feed import Channel, Feed
from bayplan.app.ui.rights import EVERYTHING, Rights
from tests.app.ui.test_changes import applied, cluster

pytestmark = pytest.mark.virtual_time


class Changing:
    """A source whose pods are told something else whenever a test says so."""

    def __init__(self) -> None:
        self.revision = 0
        self.problem = ""
        self.messages = ["a"] * 50
        self.asked: list[Rights] = []

    def tell(self, row: int, message: str) -> None:
        self.messages[row] = message
        self.revision += 1

    def view(self, rights: Rights) -> dict[str, Any]:
        self.asked.append(rights)
        return {"made": self.revision, "clusters": [cluster(*self.messages)]}


async def everything() -> Rights:
    return EVERYTHING


async def following(feed: Feed, count: int, rights: Any = everything) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    async with aclosing(feed.follow(rights)) as following:
        async for line in following:
            lines.append(json.loads(line))
            if len(lines) == count:
                break
    return lines


async def test_a_client_gets_the_view_then_changes_then_signs_of_life() -> None:
    source = Changing()
    feed = Feed(source)
    running = asyncio.ensure_future(feed.run())
    client = asyncio.ensure_future(following(feed, 3))
    await asyncio.sleep(0.5)
    source.tell(3, "b")
    first, change, alive = await client
    running.cancel()
    assert first["seq"] + 1 == change["seq"] == alive["seq"]
    assert alive == {"seq": alive["seq"]}
    assert len(json.dumps(change)) < len(json.dumps(first))
    now = applied(first["view"], change["patch"])["clusters"][0]
    assert [now["strings"][number] for number in now["pods"]["message"]] == source.messages
    assert feed.followers == 0


async def test_ten_clients_with_the_same_rights_cost_one_view() -> None:
    source = Changing()
    feed = Feed(source)
    running = asyncio.ensure_future(feed.run())
    clients = [asyncio.ensure_future(following(feed, 2)) for _ in range(10)]
    await asyncio.sleep(0.5)
    source.tell(3, "b")
    lines = await asyncio.gather(*clients)
    running.cancel()
    assert all(each == lines[0] for each in lines)
    assert len(source.asked) == 2


async def test_changes_come_at_most_once_a_second() -> None:
    source = Changing()
    feed = Feed(source)
    running = asyncio.ensure_future(feed.run())
    client = asyncio.ensure_future(following(feed, 4))
    for number in range(40):
        await asyncio.sleep(0.1)
        source.tell(3, f"message {number}")
    await client
    running.cancel()
    assert len(source.asked) <= 6


async def test_who_is_far_behind_gets_the_whole_view() -> None:
    source = Changing()
    channel = Channel(source, EVERYTHING)
    channel.advance()
    begun = channel.seq
    for number in range(feeding.KEPT + 5):
        source.tell(3, f"message {number}")
        channel.advance()
    assert "view" in json.loads(channel.since(begun))
    assert [json.loads(line)["seq"] for line in channel.since(channel.seq - 2).splitlines()] in (
        [channel.seq - 1, channel.seq],
        [channel.seq],
    )
    assert channel.since(channel.seq) == b""


async def test_rights_that_are_taken_away_end_the_stream_and_others_change_the_view() -> None:
    source = Changing()
    feed = Feed(source)
    running = asyncio.ensure_future(feed.run())
    now: list[Rights | int] = [EVERYTHING]

    async def rights() -> Rights | int:
        return now[0]

    client = asyncio.ensure_future(following(feed, 9, rights))
    await asyncio.sleep(0.5)
    now[0] = Rights(frozenset({"a"}))
    await asyncio.sleep(1.5)
    now[0] = 401
    lines = await client
    running.cancel()
    assert [("view" in line) for line in lines] == [True, True]
    assert source.asked[-1] == Rights(frozenset({"a"}))


async def test_a_problem_is_told_with_the_last_view() -> None:
    source = Changing()
    channel = Channel(source, EVERYTHING)
    channel.advance()
    source.problem = "cannot be read"
    channel.advance()
    assert json.loads(channel.whole())["message"] == "cannot be read"
    assert channel.shown["clusters"]
