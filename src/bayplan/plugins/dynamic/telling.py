"""What Dynamic knows of a node, in numbers, for ``bayplan explain``."""

from __future__ import annotations

from collections.abc import Iterator

from bayplan.framework import NodeView
from bayplan.objects.pod import Pod
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import CPU, MEMORY
from bayplan.plugins.dynamic.estimating import Estimates
from bayplan.plugins.dynamic.judging import Judge, age, decimal
from bayplan.plugins.dynamic.reading import HOT


def lines(judge: Judge, estimates: Estimates | None, pod: Pod, node: NodeView, now: float) -> list[str]:
    """Every metric with its limit, its weight and its age; then what is added or taken off."""
    return [*_metrics(judge, node, now), *_estimated(estimates, pod, node), *_hot(judge, node, now)]


def _metrics(judge: Judge, node: NodeView, now: float) -> Iterator[str]:
    limits = {rule.name: rule for rule in judge.limits}
    weights = {rule.name: rule for rule in judge.weights}
    for name in judge.policy.metrics:
        rule = limits.get(name) or weights.get(name)
        if rule is None or rule.metric is None:
            continue
        reading = judge.loads.reading(node.object, rule.metric)
        limit = f", limit {decimal(limits[name].number)}" if name in limits else ""
        weight = f", weight {weights[name].number:g}" if name in weights else ""
        if reading is None:
            yield f"{name} not known{limit}{weight}"
            continue
        old = age(int((now - reading.at) // 60))
        stale = "" if judge.loads.fresh(node.object, rule.metric, now) else ", too old to count"
        yield f"{name} {decimal(reading.value)}{limit}{weight}, {old}{stale}"


def _estimated(estimates: Estimates | None, pod: Pod, node: NodeView) -> Iterator[str]:
    if estimates is None:
        return
    own, unseen = estimates.use(pod), estimates.unseen_on(node)
    for resource, mine, others in (
        (CPU, own.cpu_milli, unseen.cpu_milli),
        (MEMORY, own.memory_bytes, unseen.memory_bytes),
    ):
        amounts = (format_resource(resource, round(amount)) for amount in (others, mine))
        yield "expected {}: {} of pods the load does not show yet, {} of this pod".format(resource, *amounts)


def _hot(judge: Judge, node: NodeView, now: float) -> Iterator[str]:
    reading = judge.loads.fresh(node.object, HOT, now)
    if reading is not None and reading.value:
        yield f"hot value {reading.value:g}, which costs {int(reading.value * 10)} points"
