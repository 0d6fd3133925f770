"""What Dynamic knows of a node, in numbers, for ``bayplan explain``."""

from __future__ import annotations

from collections.abc import Iterator

from bayplan.framework import NodeView
from bayplan.objects.pod import Pod
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import CPU, MEMORY
from bayplan.objects.spare import MIB
from bayplan.objects.third_party.crane_annotations import SKEW_S, Reading, is_ahead
from bayplan.plugins.dynamic.estimating import Estimates, Shares
from bayplan.plugins.dynamic.judging import Judge, added, decimal
from bayplan.plugins.dynamic.reading import HOT


def lines(
    judge: Judge, estimates: Estimates | None, expected: Shares | None, pod: Pod, node: NodeView, now: float
) -> list[str]:
    """Every metric with its limit, its weight and its age; then what is added or taken off."""
    return [*_metrics(judge, expected, node, now), *_estimated(estimates, pod, node), *_hot(judge, node, now)]


def _metrics(judge: Judge, expected: Shares | None, node: NodeView, now: float) -> Iterator[str]:
    limits = {rule.name: rule for rule in judge.limits}
    weights = {rule.name: rule for rule in judge.weights}
    for name in judge.policy.metrics:
        rule = limits.get(name) or weights.get(name)
        if rule is None or rule.metric is None:
            continue
        limit = f", limit {decimal(limits[name].number)}" if name in limits else ""
        weight = f", weight {weights[name].number:g}" if name in weights else ""
        found = judge.reading(node.object, rule, now)
        metric, reading = found or (rule.metric, judge.loads.reading(node.object, rule.metric))
        if reading is None:
            yield f"{name} not known{limit}{weight}"
            continue
        known_as = name if metric.name == name else f"{metric.name} in the place of {name}"
        more = added(rule, expected) if found else 0.0
        and_more = f" + {decimal(more)} expected" if more else ""
        verdict = "" if found else _why_not(reading, now)
        if found and name in limits and reading.value + more > limits[name].number:
            verdict = ", too high"
        yield f"{known_as} {decimal(reading.value)}{and_more}{limit}{weight}, {_age(now - reading.at)}{verdict}"


def _why_not(reading: Reading, now: float) -> str:
    """Why a value is not one to go by."""
    return ", from a time to come: does not count" if is_ahead(reading.at, now) else ", too old to count"


def _age(seconds: float) -> str:
    """In whole minutes, up to a day."""
    if seconds < -SKEW_S:
        return f"dated {_span(-seconds)} ahead"
    return f"{_span(seconds)} old" if seconds >= 60 else "under 1m old"


def _span(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes}m" if minutes < 24 * 60 else f"{minutes // (24 * 60)}d"


def _estimated(estimates: Estimates | None, pod: Pod, node: NodeView) -> Iterator[str]:
    if estimates is None:
        return
    own, unseen = estimates.use(pod), estimates.unseen_on(node)
    for resource, mine, others, unit in (
        (CPU, own.cpu_milli, unseen.cpu_milli, 1),
        (MEMORY, own.memory_bytes, unseen.memory_bytes, MIB),
    ):
        amounts = (format_resource(resource, round(amount / unit) * unit) for amount in (others, mine))
        yield "expected {}: {} of pods the load does not show yet, {} of this pod".format(resource, *amounts)


def _hot(judge: Judge, node: NodeView, now: float) -> Iterator[str]:
    reading = judge.loads.good(node.object, HOT, now)
    if reading is not None and reading.value:
        yield f"hot value {reading.value:g}, which costs {int(reading.value * 10)} points"
