"""
Which nodes a compiled selector, or a list of tolerations, accepts: questions over labels and taints.

Answers are remembered on the table: pods of one template ask the same question, and nodes change rarely.
Called through ``NodeTable.matching``, ``NodeTable.tolerating`` and ``NodeTable.untolerated``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from bayplan.bounded_cache import BoundedCache
from bayplan.objects.requirement import Requirement
from bayplan.objects.selector import NodeRequirement, NodeTerm
from bayplan.objects.toleration import tolerates

if TYPE_CHECKING:
    from bayplan.framework.snapshot import LabelColumn, Mask, NodeTable

# Bounds memory when every pod asks something else; a class of pods needs one entry.
MAX_ANSWERS = 512


class _Answers:
    """What was asked of one table before."""

    __slots__ = ("masks", "taints")

    def __init__(self) -> None:
        self.masks: BoundedCache[NodeRequirement, tuple[int, Mask]] = BoundedCache(MAX_ANSWERS)
        self.taints: BoundedCache[tuple[Any, ...], npt.NDArray[np.int64]] = BoundedCache(MAX_ANSWERS)


_remembered: WeakKeyDictionary[NodeTable, _Answers] = WeakKeyDictionary()


def _answers(table: NodeTable) -> _Answers:
    answers = _remembered.get(table)
    if answers is None:
        answers = _remembered[table] = _Answers()
    return answers


def matching(table: NodeTable, requirement: NodeRequirement) -> Mask:
    """The nodes that a node selector and required node affinity accept."""
    masks = _answers(table).masks
    known = masks.get(requirement)
    if known is not None and known[0] == table.objects_generation:
        return known[1]
    mask = _match(table, requirement)
    mask.flags.writeable = False
    masks[requirement] = (table.objects_generation, mask)
    return mask


def _match(table: NodeTable, requirement: NodeRequirement) -> Mask:
    mask = np.ones(len(table), np.bool_)
    for key, value in requirement.node_selector:
        column = table.label(key)
        mask &= column.ids == column.id_of.get(value, -2)
    if requirement.terms is not None:
        any_term = np.zeros(len(table), np.bool_)
        for term in requirement.terms:
            any_term |= _match_term(table, term)
        mask &= any_term
    return mask


def _match_term(table: NodeTable, term: NodeTerm) -> Mask:
    if term.invalid or not (term.expressions or term.fields):
        return np.zeros(len(table), np.bool_)
    mask = np.ones(len(table), np.bool_)
    for expression in term.expressions:
        mask &= match_requirement(table.label(expression.key), expression)
    for field in term.fields:
        mask &= _match_field(table, field)
    return mask


def match_requirement(column: LabelColumn, requirement: Requirement) -> Mask:
    """One requirement over a label column, by asking once per distinct value."""
    ids = column.ids
    if requirement.op == "Exists":
        return ids >= 0
    if requirement.op == "DoesNotExist":
        return ids < 0
    if requirement.op in ("In", "NotIn"):
        wanted = [column.id_of[value] for value in requirement.values if value in column.id_of]
        inside: Mask = np.isin(ids, wanted) if len(wanted) != 1 else ids == wanted[0]
        return inside if requirement.op == "In" else ~inside
    # Gt and Lt parse the label: ask once per distinct value, then spread over the rows.
    answers = column.zeros(np.bool_)
    for value, number in column.id_of.items():
        answers[number] = requirement.matches({column.key: value})
    answer: Mask = answers[ids]
    return answer


def _match_field(table: NodeTable, field: Requirement) -> Mask:
    """Only ``metadata.name`` exists as a field of a node."""
    if field.key != "metadata.name":
        return np.full(len(table), ("" in field.values) == (field.op == "In"))
    mask = np.zeros(len(table), np.bool_)
    for name in field.values:
        row = table.row_of(name)
        if row is not None:
            mask[row] = True
    return mask if field.op == "In" else ~mask


def untolerated_counts(
    table: NodeTable, tolerations: tuple[Any, ...], effects: frozenset[str]
) -> npt.NDArray[np.int64]:
    """Untolerated taints of the given effects per node, worked out once per distinct taint list."""
    known = _answers(table).taints
    key = (effects, tolerations)
    per_set = known.get(key)
    have = 0 if per_set is None else len(per_set)
    if per_set is None or have < len(table.taint_sets):
        fresh = [_count(tolerations, taints, effects) for taints in table.taint_sets[have:]]
        grown = np.array(fresh, np.int64)
        per_set = grown if per_set is None else np.concatenate([per_set, grown])
        known[key] = per_set
    answer: npt.NDArray[np.int64] = per_set[table.taints_id]
    return answer


def _count(tolerations: tuple[Any, ...], taints: tuple[Any, ...], effects: frozenset[str]) -> int:
    return sum(
        1
        for taint in taints
        if taint.effect in effects and not any(tolerates(toleration, taint) for toleration in tolerations)
    )
