"""
Of many things with a place, the first that each node reaches: volumes, or a driver's pools of storage.

With local disks there are as many volumes as nodes, so asking each volume about all nodes would be their product.
Most of them say "label is one of these values"; those are sorted by value first, and one look at the label's column
answers for all of them.  Called by ``filtering``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayplan.framework import Mask, NodeTable
from bayplan.objects.requirement import IN
from bayplan.objects.selector import NodeRequirement

Positions = npt.NDArray[np.int64]
"""Per row a position in a list, or a number; -1 for none."""

_NONE = np.iinfo(np.int64).max


def first_reached(
    nodes: NodeTable,
    requirements: Sequence[NodeRequirement | None],
    numbers: Sequence[int],
    taken: Sequence[Positions] = (),
) -> Positions:
    """
    Per row, the number of the first thing it reaches and has not taken, or -1.

    Args:
        requirements: from where each thing is reached, in order of preference; ``None`` from everywhere.
        numbers: what each thing is called in ``taken`` and in the answer.
        taken: per row, numbers that are taken there already.
    """
    by_label, others = _sorted_out(requirements, len(taken) + 1)
    by_position = np.array([*numbers, -1], np.int64)
    best = np.full(len(nodes), _NONE, np.int64)

    def offer(positions: Positions) -> None:
        for already in taken:
            chosen = by_position[np.where(positions == _NONE, -1, positions)]
            positions = np.where((chosen == already) & (already >= 0), _NONE, positions)
        np.minimum(best, positions, out=best)

    for key, by_value in by_label.items():
        column = nodes.label(key)
        for layer in range(len(taken) + 1):
            lookup = np.full(len(column.values) + 1, _NONE, np.int64)
            for value, positions in by_value.items():
                if layer < len(positions) and value in column.id_of:
                    lookup[column.id_of[value]] = positions[layer]
            offer(lookup[column.ids])
    for requirement, positions in others.items():
        reached = reached_by(nodes, requirement)
        for position in positions:
            offer(np.where(reached, position, _NONE))
    answer: Positions = by_position[np.where(best == _NONE, -1, best)]
    return answer


def reached_by(nodes: NodeTable, requirement: NodeRequirement | None) -> Mask:
    """The rows that meet a requirement; all of them if there is none."""
    return np.ones(len(nodes), np.bool_) if requirement is None else nodes.matching(requirement)


def reaches_any(nodes: NodeTable, requirements: Sequence[NodeRequirement | None]) -> Mask:
    """The rows that meet at least one of the requirements."""
    found: Mask = first_reached(nodes, requirements, range(len(requirements))) >= 0
    return found


def _sorted_out(
    requirements: Sequence[NodeRequirement | None], most: int
) -> tuple[dict[str, dict[str, list[int]]], dict[NodeRequirement | None, list[int]]]:
    """Positions by label and value where that is all a requirement asks for, and by requirement for the others.

    Only the first few of each are kept: with so many taken, one of these is left.
    """
    by_label: dict[str, dict[str, list[int]]] = {}
    others: dict[NodeRequirement | None, list[int]] = {}
    for position, requirement in enumerate(requirements):
        label = _only_label(requirement)
        if label is None:
            known = [others.setdefault(requirement, [])]
        else:
            by_value = by_label.setdefault(label[0], {})
            known = [by_value.setdefault(value, []) for value in label[1]]
        for positions in known:
            if len(positions) < most:
                positions.append(position)
    return by_label, others


def _only_label(requirement: NodeRequirement | None) -> tuple[str, tuple[str, ...]] | None:
    """The label and its values, if that is the whole requirement."""
    if requirement is None or requirement.node_selector or requirement.terms is None or len(requirement.terms) != 1:
        return None
    (term,) = requirement.terms
    if term.invalid or term.fields or len(term.expressions) != 1 or term.expressions[0].op != IN:
        return None
    return term.expressions[0].key, term.expressions[0].values
