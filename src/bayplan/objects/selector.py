"""Label, node and pod selectors, compiled once and then only asked.

`pod`, `workload`, `policy` and `volume` compile what they carry; plugins and the cache call `matches`.
Everything here is immutable and hashable, so a selector can be the key of a count. `selector_parsing` reads
the text form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayplan.objects.meta import LabelSelector
from bayplan.objects.requirement import (
    IN,
    LABEL_OPERATORS,
    NODE_OPERATORS,
    NOT_IN,
    Requirement,
    requirement,
)

if TYPE_CHECKING:
    from bayplan.objects.affinity import NodeSelector, NodeSelectorTerm

NODE_NAME_FIELD = "metadata.name"


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold. None at all matches everything; `nothing` matches no object whatever.

    Requirements are kept sorted and without repeats, so that selectors that mean the same compare equal.
    """

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        ordered = () if self.nothing else tuple(sorted(set(self.requirements)))
        object.__setattr__(self, "requirements", ordered)
        object.__setattr__(self, "_hash", hash((ordered, self.nothing)))

    def __hash__(self) -> int:
        return self._hash

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.nothing:
            return False
        for condition in self.requirements:  # noqa: SIM110  the hot path; all() costs a generator
            if not condition.matches(labels):
                return False
        return True

    @property
    def is_empty(self) -> bool:
        """Whether it matches everything because it asks for nothing."""
        return not self.requirements and not self.nothing

    def plus(self, extra: Iterable[Requirement]) -> Selector:
        """This and more; what matches nothing stays so."""
        return self if self.nothing else Selector((*self.requirements, *extra))

    def __str__(self) -> str:
        return "<nothing>" if self.nothing else ",".join(map(str, self.requirements)) or "<everything>"


EVERYTHING = Selector()
NOTHING = Selector(nothing=True)


def compile_label_selector(written: LabelSelector | None) -> Selector:
    """None matches nothing, ``{}`` matches everything; ValueError if an operator, key or value is wrong."""
    if written is None:
        return NOTHING
    conditions = [requirement(key, IN, (value,)) for key, value in (written.match_labels or {}).items()]
    conditions += [
        requirement(each.key, each.operator, each.values, LABEL_OPERATORS) for each in written.match_expressions or ()
    ]
    return Selector(tuple(conditions)) if conditions else EVERYTHING


def label_selector_from_map(labels: Mapping[str, str] | None) -> Selector:
    """The old form, `key: value` pairs only, not checked. None matches nothing, ``{}`` everything."""
    if labels is None:
        return NOTHING
    return Selector(tuple(Requirement(key, IN, (value,)) for key, value in labels.items()))


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One term of a node selector: all label expressions and all field conditions must hold.

    A term that asks for nothing matches nothing, and so does one that is `invalid`. Its fields are kept all
    the same, since the node names in them narrow the search before mistakes are looked for.
    """

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    invalid: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.invalid and not self.expressions and not self.fields

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        if self.invalid or not (self.expressions or self.fields):
            return False
        for condition in self.expressions:
            if not condition.matches(labels):
                return False
        return not self.fields or not name or self._fields_match(name)

    def _fields_match(self, name: str) -> bool:
        for condition in self.fields:
            actual = name if condition.key == NODE_NAME_FIELD else ""
            if (actual == condition.values[0]) != (condition.op == IN):
                return False
        return True


@dataclass(frozen=True, slots=True)
class NodeRequirement:
    """Where a pod must run: every pair of its nodeSelector, and any one of its affinity terms.

    `terms` is None without a required node affinity; an empty tuple is one that nothing satisfies.
    """

    node_selector: tuple[tuple[str, str], ...] = ()
    terms: tuple[NodeTerm, ...] | None = None

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        for key, value in self.node_selector:
            if labels.get(key) != value:
                return False
        return self.terms is None or any(term.matches(name, labels) for term in self.terms)


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One (anti-)affinity term: which pods, of which namespaces, within which topology.

    `namespaces` already holds the pod's own namespace where the term named none. `namespace_selector` is None
    unless the term has one; then namespaces whose labels it matches count too.
    """

    namespaces: frozenset[str]
    namespace_selector: Selector | None
    selector: Selector
    topology_key: str

    def matches(self, namespace: str, namespace_labels: Mapping[str, str], labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels, in this namespace, is meant."""
        if namespace not in self.namespaces:
            chosen = self.namespace_selector
            if chosen is None or not chosen.matches(namespace_labels):
                return False
        return self.selector.matches(labels)


def compile_node_term(written: NodeSelectorTerm) -> NodeTerm:
    """A mistake in a term never raises: the term is marked invalid, as the scheduler treats it."""
    fields = tuple(
        Requirement(each.key, each.operator, tuple(each.values or ())) for each in written.match_fields or ()
    )
    invalid = any(each.op not in (IN, NOT_IN) or len(each.values) != 1 for each in fields)
    expressions: list[Requirement] = []
    for each in written.match_expressions or ():
        try:
            expressions.append(requirement(each.key, each.operator, each.values, NODE_OPERATORS))
        except ValueError:
            invalid = True
    return NodeTerm(tuple(expressions), fields, invalid)


def compile_node_selector(written: NodeSelector) -> tuple[NodeTerm, ...]:
    """The terms of a node selector, any one of which is enough."""
    return tuple(compile_node_term(term) for term in written.node_selector_terms or ())
