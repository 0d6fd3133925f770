"""Binds a second: over the window, or since the start."""

from __future__ import annotations

from bayplan.app.top.bind_rate import WINDOW_S, BindRate


def test_the_rate_is_that_of_the_window() -> None:
    rate = BindRate(0.0)
    for at in range(100):
        rate.note(float(at))

    assert rate.at(99.0) == 1.0
    assert rate.at(99.0 + WINDOW_S / 2) == 0.5
    assert rate.at(200.0) == 0.0


def test_shortly_after_the_start_it_is_the_rate_since_then() -> None:
    rate = BindRate(50.0)
    for _ in range(8):
        rate.note(51.0)

    assert rate.at(54.0) == 2.0
    assert rate.at(50.1) == 8.0, "less than a second says nothing about a rate"
