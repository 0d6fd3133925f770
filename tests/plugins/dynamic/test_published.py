"""Dynamic on thousands of random nodes against the published rules, written down here a second time."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bayplan.framework.cycle_state import CycleState
from bayplan.framework.status import as_status
from bayplan.plugins.dynamic import Dynamic
from bayplan.testing import cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.harness import built_pod
from tests.plugins.dynamic.support import NOW, clock

NODES = 1500
METRICS = ("cpu_usage_avg_5m", "mem_usage_avg_5m", "gpu_usage_max_avg_1h", "disk")
GARBAGE = (
    "", ",", "abc", "0.5", "0.5,", ",2025-06-15T15:06:40Z", "0.5;2025-06-15T15:06:40Z", "0.5,yesterday",
    "0.5,2025-06-15T15:06:40Z,1", "0.5,2025-06-15 15:06:40", "0.5,2025-13-15T15:06:40Z", "nan,2025-06-15T15:06:40Z",
    "1e400,2025-06-15T15:06:40Z", "-1e400,2025-06-15T15:06:40Z", "0,5,2025-06-15T15:06:40Z", "1_0,2025-06-15T15:06:40Z",
    " 0.9,2025-06-15T15:06:40Z", "0.9 ,2025-06-15T15:06:40Z", "0x,2025-06-15T15:06:40Z", "\u0660.\u0669,2025-06-15T15:06:40Z",
)  # fmt: skip


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Published:
    """A policy, and what follows from it according to the published sources."""

    def __init__(self, rng: random.Random) -> None:
        measured = rng.sample(METRICS, rng.randint(1, len(METRICS)))
        self.periods = {name: rng.choice((60, 180, 900, 10800)) for name in measured}
        self.limits = {name: rng.choice((0, 0.3, 0.65, 0.75, 1)) for name in measured if rng.random() < 0.8}
        self.weights = {name: rng.choice((0.1, 0.2, 0.3, 1, 2.5)) for name in measured if rng.random() < 0.8}

    def text(self) -> str:
        sync = ", ".join(f"{{name: {name}, period: {seconds}s}}" for name, seconds in self.periods.items())
        limits = ", ".join(f"{{name: {name}, maxLimitPecent: {limit}}}" for name, limit in self.limits.items())
        weights = ", ".join(f"{{name: {name}, weight: {weight}}}" for name, weight in self.weights.items())
        return (
            "apiVersion: scheduler.policy.crane.io/v1alpha1\nkind: DynamicSchedulerPolicy\n"
            f"spec: {{syncPolicy: [{sync}], predicate: [{limits}], priority: [{weights}]}}\n"
        )

    def usage(self, annotations: dict[str, str], name: str, lifetime_s: float) -> float | None:
        """None where the published readers give an error."""
        parts = annotations.get(name, "").split(",")
        if len(parts) != 2 or len(parts[1]) < 5:
            return None
        try:
            at = datetime.strptime(parts[1], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
            value = float(parts[0])
        except ValueError:
            return None
        is_number = parts[0].isascii() and "_" not in parts[0] and parts[0].strip() == parts[0]
        # The published readers take what is dated in the future; here that is the one thing that is not as published.
        if not is_number or not math.isfinite(value) or at + lifetime_s <= NOW or at > NOW + 60 or value < 0:
            return None
        return value

    def refusal(self, annotations: dict[str, str]) -> str | None:
        for name, limit in self.limits.items():
            usage = self.usage(annotations, name, self.periods[name] + 300)
            if usage is not None and limit != 0 and usage > limit:
                return name
        return None

    def score(self, annotations: dict[str, str]) -> int:
        total = weights = 0.0
        for name, weight in self.weights.items():
            usage = self.usage(annotations, name, self.periods[name] + 300)
            weights += weight
            total += 0.0 if usage is None else (1.0 - usage) * weight * 100.0
        hot = self.usage(annotations, "node_hot_value", 300) or 0.0
        raw = math.trunc(total / weights) if weights else 0
        return min(max(raw - math.trunc(hot * 10), 0), 100)


def random_annotations(rng: random.Random) -> dict[str, str]:
    found = {}
    for name in (*METRICS, "node_hot_value"):
        kind = rng.random()
        if kind < 0.1:
            continue
        if kind < 0.2:
            found[name] = rng.choice(GARBAGE)
            continue
        value = rng.choice((0.0, 0.3, 0.30001, 0.65, 0.65001, 0.75, 0.75001, 1.0, rng.random(), rng.random() * 3, 1e9))
        if name == "node_hot_value":
            value = rng.choice((0, 1, 2, 7, 1e12, 0.55))
        age = rng.choice(
            (0, 1, 299, 300, 301, 359, 360, 479, 480, 481, 1199, 1200, 11099, 11100, -1, -60, -61, -86400, 10**6)
        )
        found[name] = f"{value:.5f},{stamp(NOW - age)}"
    return found


@pytest.mark.parametrize("seed", range(8))
def test_every_node_is_judged_as_published_by_both_forms(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    published = Published(rng)
    file = tmp_path / "policy.yaml"
    file.write_text(published.text())
    known = {f"n{number}": random_annotations(rng) for number in range(NODES)}
    cache = cluster([node(name).annotation(texts) for name, texts in known.items()])
    plugin = make(Dynamic, cache, clock=clock(), policyConfigPath=str(file), reasonNumbers=seed % 2 == 0)
    refused = reasons(run_filter(plugin, pod("p"), cache))
    scores = run_score(plugin, pod("p"), cache)
    table, state, asking = cache.nodes, CycleState(), built_pod(pod("p"))
    for row, name in enumerate(table.names):
        texts, view = known[name], table.node(row)
        metric = published.refusal(texts)
        one = as_status(plugin.filter_node(state, asking, view))
        if metric is None:
            assert one.is_success, texts
            assert name not in refused, texts
        else:
            as_published = f"Load[{metric}] of node[{name}] is too high"
            grouped = f"node(s) whose Load[{metric}] is too high (above {published.limits[metric]:g})"
            assert refused[name] == [as_published if seed % 2 else grouped], texts
            assert list(one.reasons) == refused[name], texts
        expected = published.score(texts)
        assert (scores[name], plugin.score_node(state, asking, view)) == (expected, expected), texts
