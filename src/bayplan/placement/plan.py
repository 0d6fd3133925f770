"""A Placement, read once: what it wants, in a form that is quick to ask, and which fields of clusters it reads.

`evaluation` and `state` work with the `Plan`; `validation` finds the mistakes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, lcm
from typing import Protocol
from weakref import WeakValueDictionary

import msgspec

from bayplan.cel import CelError
from bayplan.errors import InputError
from bayplan.objects.mistakes import told
from bayplan.objects.requirement import Requirement
from bayplan.objects.selector import EVERYTHING, Selector, compile_label_selector
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Toleration
from bayplan.placement import cel, fleet, options, validation
from bayplan.placement.cluster_plugin import ClusterPlugin
from bayplan.placement.table import Key, key_of

DEFAULT_WEIGHTS = {api.ScoreCoordinate(built_in="Balance"): 1, api.ScoreCoordinate(built_in="Steady"): 1}


@dataclass(frozen=True, slots=True)
class Term:
    """One selector of clusters: labels, claims and expressions must all hold."""

    labels: Selector = EVERYTHING
    claims: Selector = EVERYTHING
    program: cel.Expressions | None = None

    def fields(self) -> set[str]:
        found = {fleet.label_field(each.key) for each in self.labels.requirements}
        found |= {fleet.claim_field(each.key) for each in self.claims.requirements}
        return found | ({fleet.ANYTHING, fleet.SCORES} if self.program else set())


@dataclass(frozen=True, slots=True)
class Level:
    """One spread constraint; `unit` is what levels of differently weighted domains are counted in."""

    key: Key
    max_skew: int
    is_hard: bool
    min_domains: int = 1
    weights: Mapping[str, int] = field(default_factory=dict)
    unit: int = 1


@dataclass(frozen=True, slots=True)
class GroupTerm:
    name: str
    term: Term


class Likeness:
    """Plans that hold the same one filter clusters alike."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a placement wants."""

    placement: api.Placement
    number: int | None = None
    sets: frozenset[str] | None = None
    terms: tuple[Term, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    weights: tuple[tuple[api.ScoreCoordinate, int], ...] = ()
    levels: tuple[Level, ...] = ()
    is_flat: bool = False
    max_moves: int = 0
    group: Selector | None = None
    groups: tuple[GroupTerm, ...] = ()
    per_group: int | str = "100%"
    replicas: options.ReplicaOptions | None = None
    fields: frozenset[str] = frozenset()
    """What it reads of clusters."""
    direct: frozenset[str] = frozenset()
    """Those that matter even where the filters say the same as before."""
    moving: frozenset[str] = frozenset()
    """Those that can bring a cluster into another domain."""
    likeness: Likeness = field(default_factory=Likeness)
    mistakes: tuple[InputError, ...] = ()

    topology_keys: tuple[Key, ...] = ()
    own: tuple[ClusterPlugin, ...] = ()
    """Plugins that do not come with Bayplan."""

    @property
    def fresh_for(self) -> float:
        """How long the answers of its plugins hold."""
        return min((each.fresh_for for each in self.own if each.fresh_for is not None), default=inf)

    @property
    def key(self) -> str:
        return self.placement.key

    @property
    def namespace(self) -> str:
        return self.placement.namespace

    @property
    def is_misconfigured(self) -> bool:
        return bool(self.mistakes)

    @property
    def misconfiguration(self) -> str:
        return "; ".join(" ".join(str(each).split()) for each in self.mistakes)


class OwnPluginsOf(Protocol):
    """Who knows the plugins that do not come with Bayplan."""

    @property
    def scorers(self) -> tuple[str, ...]: ...

    def of(self, placement: api.Placement) -> tuple[tuple[ClusterPlugin, ...], list[InputError]]: ...


def compile_placement(placement: api.Placement, built_in: Iterable[str], known: OwnPluginsOf | None = None) -> Plan:
    """The plan; one with mistakes says only what they are."""
    mistakes = validation.mistakes_of(placement, (*built_in, *(known.scorers if known else ())))
    own: tuple[ClusterPlugin, ...] = ()
    terms: tuple[Term, ...] = ()
    if known is not None:
        own, more = known.of(placement)
        mistakes += more
    elif api.PLUGINS_ANNOTATION in placement.annotations:
        field = options.annotation_field(api.PLUGINS_ANNOTATION)
        mistakes.append(InputError("no plugins are known here", field=field))
    if not mistakes:
        terms = _terms(placement.spec.predicates or (), mistakes)
    if mistakes:
        return Plan(placement=placement, mistakes=tuple(mistakes))
    return _plan(placement, terms, own)


def _terms(predicates: Iterable[api.ClusterPredicate], mistakes: list[InputError]) -> tuple[Term, ...]:
    return tuple(
        _term(each.required_cluster_selector, f"spec.predicates[{index}].requiredClusterSelector", mistakes)
        for index, each in enumerate(predicates)
    )


def _plan(placement: api.Placement, terms: tuple[Term, ...], own: tuple[ClusterPlugin, ...]) -> Plan:
    """The plan of a placement without mistakes."""
    spec = placement.spec
    policy = options.spread_policy(placement)
    strategy = spec.decision_strategy.group_strategy
    levels = tuple(_level(each) for each in policy.spread_constraints or ())
    groups = tuple(
        GroupTerm(each.group_name, _term(each.group_cluster_selector or api.ClusterSelector(), "", []))
        for each in strategy.decision_groups or ()
    )
    weights = _weights(spec.prioritizer_policy)
    replicas = options.replica_options(placement)
    direct = _direct_fields(levels, groups, weights, replicas, own)
    fields = {fleet.CLUSTER, fleet.TAINTS} | direct
    for term in terms:
        fields |= term.fields()
    return Plan(
        placement=placement,
        number=spec.number_of_clusters,
        sets=frozenset(spec.cluster_sets) if spec.cluster_sets else None,
        terms=terms,
        tolerations=spec.tolerations or (),
        weights=weights,
        levels=levels,
        is_flat=policy.scope == api.FLAT and len(levels) > 1,
        max_moves=policy.max_moves,
        group=None if policy.group_selector is None else compile_label_selector(policy.group_selector),
        groups=groups,
        per_group=strategy.clusters_per_decision_group,
        replicas=replicas,
        fields=frozenset(fields),
        direct=frozenset(direct),
        moving=frozenset((fleet.CLUSTER, *(_key_field(level.key) for level in levels))),
        # A plugin may look at anything of the placement, so nobody else filters like it.
        likeness=Likeness() if own else _likeness(spec, levels),
        topology_keys=tuple(level.key for level in levels),
        own=own,
    )


def _direct_fields(
    levels: Iterable[Level],
    groups: Iterable[GroupTerm],
    weights: Iterable[tuple[api.ScoreCoordinate, int]],
    replicas: options.ReplicaOptions | None,
    own: Iterable[ClusterPlugin],
) -> set[str]:
    """What matters even where the filters say the same as before."""
    found: set[str] = {_key_field(level.key) for level in levels} | _replica_fields(replicas)
    found |= {_score_fields(coordinate) for coordinate, _ in weights} - {""}
    for group in groups:
        found |= group.term.fields()
    for plugin in own:
        found |= {*plugin.reads}
    return found


_LIKENESSES: WeakValueDictionary[bytes, Likeness] = WeakValueDictionary()


def _likeness(spec: api.PlacementSpec, levels: Iterable[Level]) -> Likeness:
    hard = [level.key for level in levels if level.is_hard]
    written = msgspec.json.encode((spec.predicates, spec.tolerations, hard))
    # Two steps, as nobody but the caller keeps a new one alive.
    known = _LIKENESSES.get(written)
    if known is None:
        known = _LIKENESSES[written] = Likeness()
    return known


def _term(written: api.ClusterSelector, field: str, mistakes: list[InputError]) -> Term:
    labels = EVERYTHING if written.label_selector is None else compile_label_selector(written.label_selector)
    claims = written.claim_selector.match_expressions if written.claim_selector else None
    expressions = written.cel_selector.cel_expressions if written.cel_selector else None
    return Term(
        labels,
        Selector(tuple(Requirement(each.key, each.operator, each.values or ()) for each in claims or ())),
        _program(expressions, f"{field}.celSelector.celExpressions", mistakes) if expressions else None,
    )


def _program(texts: Sequence[str], field: str, mistakes: list[InputError]) -> cel.Expressions | None:
    try:
        return cel.compile_expressions(texts)
    except CelError as error:
        mistakes.append(told(field, error))
        return None


def _level(written: api.SpreadConstraint) -> Level:
    key = key_of(written.topology_key_type, written.topology_key)
    weights = written.weights or {}
    unit = lcm(*weights.values()) if weights else 1
    return Level(key, written.max_skew, written.is_hard, written.min_domains or 1, weights, unit)


def _weights(policy: api.PrioritizerPolicy) -> tuple[tuple[api.ScoreCoordinate, int], ...]:
    weights = {} if policy.mode == api.EXACT else dict(DEFAULT_WEIGHTS)
    for each in policy.configurations or ():
        assert each.score_coordinate is not None
        weights[each.score_coordinate] = each.weight
    return tuple((coordinate, weight) for coordinate, weight in weights.items() if weight)


def _key_field(key: Key) -> str:
    kind, name = key
    return fleet.claim_field(name) if kind == api.CLAIM else fleet.label_field(name)


_RESOURCE_SCORES = {"ResourceAllocatableCPU": "cpu", "ResourceAllocatableMemory": "memory"}


def _score_fields(coordinate: api.ScoreCoordinate) -> str:
    if coordinate.type == api.ADD_ON and coordinate.add_on is not None:
        return fleet.score_field(coordinate.add_on.resource_name)
    resource = _RESOURCE_SCORES.get(coordinate.built_in)
    return fleet.resource_field(resource) if resource else ""


def _replica_fields(written: options.ReplicaOptions | None) -> set[str]:
    if written is None:
        return set()
    found = {fleet.resource_field(name) for name in written.requests or ()}
    for each in written.weights or ():
        found |= {fleet.label_field(need.key) for need in compile_label_selector(each.selector).requirements}
    return found | ({fleet.score_field(written.score.resource_name)} if written.score else set())
