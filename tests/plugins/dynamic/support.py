"""Nodes with a load, for the tests of Dynamic."""

from __future__ import annotations

from bayplan.clock import VirtualClock
from bayplan.objects.third_party.crane_annotations import format_hot_value, format_load
from bayplan.testing.builders import NodeBuilder, node

NOW = 1_750_000_000.0


def clock() -> VirtualClock:
    return VirtualClock(NOW)


def loaded(name: str, hot: float | None = None, age_s: float = 0.0, **loads: float) -> NodeBuilder:
    """A node whose annotations were written so many seconds ago."""
    made = node(name).annotation({metric: format_load(value, NOW - age_s) for metric, value in loads.items()})
    return made if hot is None else made.annotation(node_hot_value=format_hot_value(int(hot), NOW - age_s))


def all_loads(value: float) -> dict[str, float]:
    """The same value for every metric of the published policy."""
    spans = ("avg_5m", "max_avg_1h", "max_avg_1d")
    return {f"{what}_usage_{span}": value for what in ("cpu", "mem") for span in spans}
