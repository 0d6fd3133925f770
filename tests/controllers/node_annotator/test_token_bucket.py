"""So many writes a second, a few more at once after a quiet time."""

from __future__ import annotations

from bayplan.controllers.node_annotator.token_bucket import TokenBucket


def sent(pace: TokenBucket, start: float, seconds: float, step: float = 0.001) -> int:
    count, now = 0, start
    while now < start + seconds:
        if pace.wait_s(now) == 0:
            pace.take(now)
            count += 1
        else:
            now += step
    return count


def test_a_burst_goes_out_at_once_and_then_the_rate_holds() -> None:
    pace = TokenBucket(50, 100)
    assert sent(pace, 0, 0.001) == 100
    assert abs(sent(pace, 0.001, 10) - 500) <= 2


def test_the_wait_is_as_long_as_the_next_token_takes() -> None:
    pace = TokenBucket(50, 1)
    pace.take(0.0)
    assert pace.wait_s(0.0) == 0.02
    assert pace.wait_s(0.02) == 0.0


def test_a_server_that_asks_for_quiet_gets_it() -> None:
    pace = TokenBucket(50, 100)
    pace.wait_s(0.0)
    pace.pause(5.0)
    assert pace.wait_s(1.0) > 0
    assert pace.wait_s(4.9) > 0
    assert pace.wait_s(5.1) == 0.0
