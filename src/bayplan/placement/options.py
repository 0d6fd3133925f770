"""What a Placement says in annotations: spread fields that a hub's schema may not know, replicas to divide, plugins.

`validation` reports what is wrong with them, `plan` uses them. The annotations hold JSON or YAML.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict, replace

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds
from bayplan.objects.admission import api_fields
from bayplan.objects.files import yaml_reading
from bayplan.objects.meta import LabelSelector, Wire
from bayplan.objects.quantity import Quantity
from bayplan.objects.third_party.placement import (
    LABEL,
    PLUGINS_ANNOTATION,
    REPLICAS_ANNOTATION,
    SPREAD_ANNOTATION,
    AddOnCoordinate,
    Placement,
    SpreadConstraint,
    SpreadPolicy,
)

EVEN, WEIGHTED, CAPACITY, AGGREGATED = "Even", "Weighted", "Capacity", "Aggregated"
STRATEGIES = (EVEN, WEIGHTED, CAPACITY, AGGREGATED)


class WeightedClusters(Wire, frozen=True, kw_only=True):
    """Clusters by their labels, and how much each of them counts."""

    selector: LabelSelector = LabelSelector()
    weight: int = 1


class ReplicaOptions(Wire, frozen=True, kw_only=True):
    """How replicas are divided over the chosen clusters."""

    replicas: int = 0
    strategy: str = EVEN
    weights: tuple[WeightedClusters, ...] | None = None
    requests: dict[str, Quantity] | None = None
    score: AddOnCoordinate | None = None


class _Constraint(Wire, frozen=True, kw_only=True):
    """A constraint of the annotation: what it says goes before what the one with the same key says."""

    topology_key: str = ""
    topology_key_type: str | None = None
    max_skew: int | None = None
    when_unsatisfiable: str | None = None
    min_domains: int | None = None
    weights: dict[str, int] | None = None


class _SpreadOptions(Wire, frozen=True, kw_only=True):
    scope: str | None = None
    max_moves: int | None = None
    group_selector: LabelSelector | None = None
    spread_constraints: tuple[_Constraint, ...] | None = None


def spread_policy(placement: Placement) -> SpreadPolicy:
    """The spread policy with what the annotation adds; InputErrors if the annotation cannot be read."""
    policy = placement.spec.spread_policy
    text = placement.annotations.get(SPREAD_ANNOTATION)
    if not text:
        return policy
    extra: _SpreadOptions = _read(text, SPREAD_ANNOTATION, _SpreadOptions, "Placement.spec.spreadPolicy")
    merged = list(policy.spread_constraints or ())
    seen: set[tuple[str, str | None]] = set()
    for index, each in enumerate(extra.spread_constraints or ()):
        if (each.topology_key, each.topology_key_type) in seen:
            problem, field = f'"{each.topology_key}" is there already', f"spreadConstraints[{index}].topologyKey"
            raise _wrong(SPREAD_ANNOTATION, InputError(problem, field=field, fix="remove one of the two"))
        seen.add((each.topology_key, each.topology_key_type))
        given = {name: value for name, value in asdict(each).items() if value is not None}
        at = next((index for index, one in enumerate(merged) if _is_about(each, one)), None)
        if at is None:
            merged.append(SpreadConstraint(**({"topology_key_type": LABEL} | given)))
        else:
            merged[at] = replace(merged[at], **given)
    return replace(
        policy,
        spread_constraints=tuple(merged),
        scope=extra.scope or policy.scope,
        max_moves=policy.max_moves if extra.max_moves is None else extra.max_moves,
        group_selector=extra.group_selector or policy.group_selector,
    )


def _is_about(extra: _Constraint, written: SpreadConstraint) -> bool:
    return extra.topology_key == written.topology_key and extra.topology_key_type in (None, written.topology_key_type)


def replica_options(placement: Placement) -> ReplicaOptions | None:
    """How replicas are to be divided, None if there are none; InputErrors if the annotation cannot be read."""
    text = placement.annotations.get(REPLICAS_ANNOTATION)
    if not text:
        return None
    found: ReplicaOptions = _read(text, REPLICAS_ANNOTATION, ReplicaOptions, "ReplicaOptions", shorthand="replicas")
    return found


def plugin_args(placement: Placement) -> dict[str, Any]:
    """Plugins of one's own that the placement names, each with its args; InputErrors if they cannot be read."""
    text = placement.annotations.get(PLUGINS_ANNOTATION)
    return _mapping(text, PLUGINS_ANNOTATION, "Certified: {level: gold}") if text else {}


def annotation_field(name: str, below: str = "") -> str:
    """How a field of an annotation is called in a mistake."""
    return f"metadata.annotations[{name}]" + (f".{below}" if below else "")


def _read(text: str, name: str, struct: type[Any], fields: str, shorthand: str = "") -> Any:
    example = f"{shorthand}: 6" if shorthand else "spreadConstraints: [{topologyKey: region, minDomains: 2}]"
    value = _mapping(text, name, example, shorthand)
    unknown = api_fields.check_fields(fields, value)
    if unknown:
        raise _wrong(name, *unknown)
    try:
        return kinds.convert(value, struct)
    except InputError as error:
        raise _wrong(name, error) from None


def _mapping(text: str, name: str, example: str, shorthand: str = "") -> dict[str, Any]:
    try:
        documents = [*yaml_reading.documents(text, "")]
    except InputError as error:
        raise _wrong(name, InputError(f"cannot be read: {error.problem}", fix="write JSON or YAML")) from None
    value = documents[0].value if len(documents) == 1 else None
    if shorthand and isinstance(value, int):
        value = {shorthand: value}
    if not isinstance(value, dict):
        raise _wrong(name, InputError("must be a mapping", fix=f"write fields, such as {{{example}}}"))
    return value


def _wrong(name: str, *errors: InputError) -> InputErrors:
    return InputErrors(
        [InputError(each.problem, field=annotation_field(name, each.field), fix=each.fix) for each in errors]
    )
