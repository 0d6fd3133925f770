"""How many binds at once: half as many when the server has too many or grows slow, one more for each round in time."""

from __future__ import annotations

import asyncio

import pytest

from bayplan.kube.bind_window import FEWEST, SLOW_S, WINDOW_S, BindWindow

pytestmark = pytest.mark.virtual_time


class Watch:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def watch() -> Watch:
    return Watch()


def answers(pace: BindWindow, watch: Watch, took_s: float, times: int = 1) -> None:
    for _ in range(times):
        began = watch.now
        watch.now += took_s
        pace.answered(began)


async def test_turns_are_given_up_to_the_limit_and_in_order(watch: Watch) -> None:
    pace = BindWindow(2, watch)
    order: list[int] = []

    async def one(number: int) -> None:
        await pace.turn()
        order.append(number)
        await asyncio.sleep(0.01)
        pace.ended()

    tasks = [asyncio.ensure_future(one(number)) for number in range(5)]
    await asyncio.sleep(0)
    assert order == [0, 1]
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3, 4]


async def test_a_refusal_halves_the_limit_once_for_all_that_were_sent_together(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    began = [await pace.turn() for _ in range(10)]
    watch.now += 1
    for each in began:
        pace.refused(each)
    assert pace.limit == 32
    watch.now += 1
    pace.refused(watch.now)
    assert pace.limit == 16


def test_there_is_always_a_turn_left(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    for _ in range(20):
        watch.now += 1
        pace.refused(watch.now)
    assert pace.limit == FEWEST


def test_answers_in_time_bring_the_limit_back_and_no_further(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    pace.refused(watch.now)
    answers(pace, watch, 0.01, 32)
    assert 32.9 < pace.limit < 33.1
    answers(pace, watch, 0.01, 3000)
    assert pace.limit == 64


def test_an_answer_far_slower_than_usual_counts_as_a_refusal(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    answers(pace, watch, 0.01, 5)
    answers(pace, watch, SLOW_S * 0.9)
    assert pace.limit == 64, "slower, but nobody would call that slow"
    answers(pace, watch, SLOW_S * 1.1)
    assert pace.limit == 32


def test_a_long_wait_for_nothing_counts_as_a_refusal_and_a_short_one_as_nothing(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    answers(pace, watch, 0.01, 5)
    began, watch.now = watch.now, watch.now + 0.01
    pace.unanswered(began)
    assert pace.limit == 64, "a server that is not there is not one that has too much to do"
    began, watch.now = watch.now, watch.now + 15
    pace.unanswered(began)
    assert pace.limit == 32


def test_a_server_that_is_always_slow_is_not_held_back(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    answers(pace, watch, 2.0, 20)
    assert pace.limit == 64


def test_a_server_that_stays_slower_becomes_the_usual_one(watch: Watch) -> None:
    pace = BindWindow(64, watch)
    answers(pace, watch, 0.01, 5)
    answers(pace, watch, 1.0, 6)
    assert pace.limit == FEWEST
    answers(pace, watch, 1.0, int(2 * WINDOW_S))
    assert pace.limit > FEWEST
    answers(pace, watch, 1.0, 3000)
    assert pace.limit == 64


async def test_a_turn_that_is_not_taken_goes_to_the_next(watch: Watch) -> None:
    pace = BindWindow(1, watch)
    await pace.turn()
    waiting = [asyncio.ensure_future(pace.turn()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    await asyncio.sleep(0)
    pace.ended()
    waiting[1].cancel()  # in the very moment it got its turn
    await asyncio.wait_for(waiting[2], 1)
    assert waiting[0].cancelled()
    assert waiting[1].cancelled()


async def test_a_turn_that_ends_while_those_who_wait_are_cancelled_changes_nothing_for_them(watch: Watch) -> None:
    pace = BindWindow(1, watch)
    await pace.turn()
    waiting = [asyncio.ensure_future(pace.turn()) for _ in range(3)]
    await asyncio.sleep(0)
    for each in waiting:
        each.cancel()
    pace.ended()
    ends = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError] * 3
    await asyncio.wait_for(pace.turn(), 1)


async def test_a_lower_limit_holds_for_those_who_wait(watch: Watch) -> None:
    pace = BindWindow(4, watch)
    began = [await pace.turn() for _ in range(4)]
    waiting = asyncio.ensure_future(pace.turn())
    await asyncio.sleep(0)
    pace.refused(began[0])
    pace.ended()
    pace.ended()
    await asyncio.sleep(0)
    assert not waiting.done()
    pace.ended()
    await asyncio.wait_for(waiting, 1)
