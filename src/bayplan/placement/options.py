"""What a Placement says in annotations: spread fields that a hub's schema may not know, and replicas to divide.

`validating` reports what is wrong with them, `compiling` uses them. Both annotations hold JSON or YAML.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects import yaml_reading
from bayplan.objects.meta import LabelSelector, Wire
from bayplan.objects.placement import (
    REPLICAS_ANNOTATION,
    SPREAD_ANNOTATION,
    AddOnCoordinate,
    Placement,
    SpreadConstraint,
    SpreadPolicy,
)
from bayplan.objects.quantity import Quantity

EVEN, WEIGHTED, CAPACITY, AGGREGATED = "Even", "Weighted", "Capacity", "Aggregated"
STRATEGIES = (EVEN, WEIGHTED, CAPACITY, AGGREGATED)


class WeightedClusters(Wire, frozen=True, kw_only=True):
    """Clusters by their labels, and how much each of them counts."""

    selector: LabelSelector = LabelSelector()
    weight: int = 1


class ReplicaOptions(Wire, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How replicas are divided over the chosen clusters."""

    replicas: int = 0
    strategy: str = EVEN
    weights: tuple[WeightedClusters, ...] | None = None
    requests: dict[str, Quantity] | None = None
    score: AddOnCoordinate | None = None


class _SpreadOptions(Wire, frozen=True, kw_only=True, forbid_unknown_fields=True):
    scope: str | None = None
    max_moves: int | None = None
    group_selector: LabelSelector | None = None
    spread_constraints: tuple[SpreadConstraint, ...] | None = None


def spread_policy(placement: Placement) -> SpreadPolicy:
    """The spread policy with what the annotation adds; ValueError if the annotation cannot be read."""
    policy = placement.spec.spread_policy
    text = placement.annotations.get(SPREAD_ANNOTATION)
    if not text:
        return policy
    extra = _read(text, SPREAD_ANNOTATION, _SpreadOptions)
    added = {each.topology_key: each for each in extra.spread_constraints or ()}
    merged = [_merge(each, added.pop(each.topology_key, None)) for each in policy.spread_constraints or ()]
    return replace(
        policy,
        spread_constraints=(*merged, *added.values()),
        scope=extra.scope or policy.scope,
        max_moves=policy.max_moves if extra.max_moves is None else extra.max_moves,
        group_selector=extra.group_selector or policy.group_selector,
    )


def replica_options(placement: Placement) -> ReplicaOptions | None:
    """How replicas are to be divided, None if there are none; ValueError if the annotation cannot be read."""
    text = placement.annotations.get(REPLICAS_ANNOTATION)
    if not text:
        return None
    found: ReplicaOptions = _read(text, REPLICAS_ANNOTATION, ReplicaOptions, shorthand="replicas")
    return found


def _merge(written: SpreadConstraint, extra: SpreadConstraint | None) -> SpreadConstraint:
    if extra is None:
        return written
    domains = written.min_domains if extra.min_domains is None else extra.min_domains
    return replace(written, min_domains=domains, weights=extra.weights or written.weights)


def _read(text: str, name: str, struct: type[Any], shorthand: str = "") -> Any:
    try:
        value = next((each.value for each in yaml_reading.documents(text, "")), None)
    except InputError as error:
        raise ValueError(f"cannot be read: {error.problem}; write JSON or YAML in {name}") from None
    if shorthand and isinstance(value, int):
        value = {shorthand: value}
    try:
        return msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}; write the fields that docs/placement lists") from None
