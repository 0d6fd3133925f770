"""DynamicSchedulerPolicy (scheduler.policy.crane.io/v1alpha1): which loads are measured, and what follows from them.

The annotator and the Dynamic plugin read the same policy, from a file or from a ConfigMap. It is never an object of
the API server. `crane_reading` makes a policy of a document and lists every mistake in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayplan.objects.cached_property import cached_property

API_VERSION = "scheduler.policy.crane.io/v1alpha1"
KIND = "DynamicSchedulerPolicy"


@dataclass(frozen=True, slots=True)
class SyncRule:
    """A metric, and how often it is written to the nodes."""

    name: str
    period_s: float


@dataclass(frozen=True, slots=True)
class LoadLimit:
    """A node is refused while the metric is above `limit` (a fraction; 0 switches the rule off)."""

    name: str
    limit: float


@dataclass(frozen=True, slots=True)
class LoadWeight:
    """How much a metric counts among the others when nodes are scored."""

    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class HotValueRule:
    """Every `count` pods that a node got within the last `range_s` seconds make it hotter by one."""

    range_s: float
    count: int


@dataclass(frozen=True)
class DynamicSchedulerPolicy:
    """The lists in the order of the file; a list that is not written is empty."""

    sync_policy: tuple[SyncRule, ...] = ()
    predicate: tuple[LoadLimit, ...] = ()
    priority: tuple[LoadWeight, ...] = ()
    hot_value: tuple[HotValueRule, ...] = ()

    @cached_property
    def periods(self) -> dict[str, float]:
        """Seconds between two values of a metric, by its name."""
        return {rule.name: rule.period_s for rule in self.sync_policy}

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is measured, in the order of the file."""
        return tuple(rule.name for rule in self.sync_policy)


_SAMPLED = (("avg_5m", 180.0, 0.65, 0.2), ("max_avg_1h", 900.0, 0.75, 0.3), ("max_avg_1d", 10800.0, None, 0.5))


def published_policy() -> DynamicSchedulerPolicy:
    """The policy that Crane publishes as its default: CPU and memory over five minutes, an hour and a day."""
    rows = [(f"{what}_usage_{span}", *rest) for what in ("cpu", "mem") for span, *rest in _SAMPLED]
    return DynamicSchedulerPolicy(
        sync_policy=tuple(SyncRule(name, period) for name, period, _, _ in rows),
        predicate=tuple(LoadLimit(name, limit) for name, _, limit, _ in rows if limit is not None),
        priority=tuple(LoadWeight(name, weight) for name, _, _, weight in rows),
        hot_value=(HotValueRule(300.0, 5), HotValueRule(60.0, 2)),
    )
