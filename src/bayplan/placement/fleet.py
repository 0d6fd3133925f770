"""Fleet: the clusters, the sets they are in, and which namespaces may choose from which set.

`state` applies every object to it and learns what changed, field by field, so that only placements that read one of
those fields are looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from bayplan.objects.meta import LabelSelector
from bayplan.objects.selector import EVERYTHING, Selector, compile_label_selector
from bayplan.objects.selector import NOTHING as EMPTY
from bayplan.objects.third_party import placement as api
from bayplan.placement.table import ClusterTable, Mask, grown

CLUSTER, TAINTS, ANYTHING, SCORES = "cluster", "taints", "anything", "scores"
"""Fields a placement may depend on: being there at all, taints, and, for expressions, every part and every score."""


def label_field(key: str) -> str:
    return f"label {key}"


def claim_field(name: str) -> str:
    return f"claim {name}"


def resource_field(name: str) -> str:
    return f"resource {name}"


def score_field(resource: str) -> str:
    return f"score {resource}"


@dataclass(frozen=True, slots=True)
class FleetChange:
    """What an object changed: rows with fields, or everything that namespaces or sets can see."""

    rows: tuple[int, ...] = ()
    fields: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    is_wide: bool = False
    """Whether more than the rows must be looked at."""


NOTHING = FleetChange()


class Fleet:
    """Sole owner of the cluster table."""

    def __init__(self) -> None:
        self.table = ClusterTable()
        self._sets: dict[str, api.ManagedClusterSet] = {}
        self._selectors: dict[str, Selector] = {}
        self._masks: dict[str, Mask] = {}
        self._bindings: dict[str, set[str]] = {}
        self.generation = 0
        """Another one after everything that happens."""

    # -- what placements ask --

    def bound_sets(self, namespace: str) -> frozenset[str]:
        """The sets that exist and that the namespace may choose from."""
        return frozenset(name for name in self._bindings.get(namespace, ()) if name in self._sets)

    def members(self, sets: Iterable[str]) -> Mask:
        """Clusters of any of these sets that are not going away."""
        mask = np.zeros(self.table.capacity, np.bool_)
        for name in sets:
            mask |= self._mask(name)
        mask &= self.table.alive
        return mask

    def is_member(self, row: int, sets: Iterable[str]) -> bool:
        return bool(self.table.alive[row]) and any(self._mask(name)[row] for name in sets)

    # -- what happens --

    def apply_cluster(self, cluster: api.ManagedCluster) -> FleetChange:
        self.generation += 1
        row = self.table.row_of.get(cluster.name)
        before = None if row is None else self.table.clusters[row]
        sets = self._sets_of(row)
        row = self.table.apply(cluster)
        self._join(row, cluster)
        after = self._sets_of(row)
        is_other = before is None or sets != after or before.is_terminating != cluster.is_terminating
        fields = {CLUSTER} if is_other else set()
        fields |= _differences(before, cluster)
        return FleetChange((row,), frozenset(fields), sets | after) if fields else NOTHING

    def remove_cluster(self, name: str) -> FleetChange:
        self.generation += 1
        row = self.table.row_of.get(name)
        if row is None:
            return NOTHING
        sets = self._sets_of(row)
        self.table.remove(name)
        for mask in self._masks.values():
            if len(mask) > row:
                mask[row] = False
        return FleetChange((row,), frozenset((CLUSTER,)), sets)

    def apply_set(self, thing: api.ManagedClusterSet) -> FleetChange:
        self.generation += 1
        if self._sets.get(thing.name) is not None and self._sets[thing.name].spec == thing.spec:
            return NOTHING
        self._sets[thing.name] = thing
        chosen = thing.spec.cluster_selector
        if chosen.selector_type == api.BY_LABELS:
            self._selectors[thing.name] = _selector(chosen.label_selector)
        else:
            self._selectors.pop(thing.name, None)
        self._masks.pop(thing.name, None)
        return FleetChange(namespaces=self._namespaces_of(thing.name), is_wide=True)

    def remove_set(self, name: str) -> FleetChange:
        self.generation += 1
        if self._sets.pop(name, None) is None:
            return NOTHING
        self._selectors.pop(name, None)
        self._masks.pop(name, None)
        return FleetChange(namespaces=self._namespaces_of(name), is_wide=True)

    def apply_binding(self, binding: api.ManagedClusterSetBinding, *, is_gone: bool = False) -> FleetChange:
        self.generation += 1
        bound = self._bindings.setdefault(binding.namespace, set())
        name = binding.name
        if (name in bound) != is_gone or binding.spec.cluster_set not in ("", name):
            return NOTHING
        (bound.discard if is_gone else bound.add)(name)
        return FleetChange(namespaces=frozenset((binding.namespace,)), is_wide=True)

    def apply_score(self, score: api.AddOnPlacementScore, *, is_gone: bool = False) -> FleetChange:
        self.generation += 1
        row = self.table.apply_score(score, is_gone=is_gone)
        if row is None:
            return NOTHING
        return FleetChange((row,), frozenset((score_field(score.name), SCORES)), self._sets_of(row))

    # -- inside --

    def _namespaces_of(self, name: str) -> frozenset[str]:
        return frozenset(namespace for namespace, bound in self._bindings.items() if name in bound)

    def _mask(self, name: str) -> Mask:
        mask = self._masks.get(name)
        if mask is None:
            mask = np.zeros(self.table.capacity, np.bool_)
            if name in self._sets:
                for row, cluster in self.table.rows():
                    mask[row] = self._contains(name, cluster)
            self._masks[name] = mask
        elif len(mask) < self.table.capacity:
            mask = self._masks[name] = grown(mask, self.table.capacity)
        return mask

    def _contains(self, name: str, cluster: api.ManagedCluster) -> bool:
        selector = self._selectors.get(name)
        if selector is None:
            return cluster.labels.get(api.SET_LABEL) == name
        return selector.matches(cluster.labels)

    def _join(self, row: int, cluster: api.ManagedCluster) -> None:
        for name in self._sets:
            self._mask(name)[row] = self._contains(name, cluster)

    def _sets_of(self, row: int | None) -> frozenset[str]:
        if row is None:
            return frozenset()
        return frozenset(name for name in self._sets if self._mask(name)[row])


def _selector(written: LabelSelector | None) -> Selector:
    """An empty selector, or none, stands for the global set; one that makes no sense, for nothing."""
    try:
        return EVERYTHING if written is None else compile_label_selector(written)
    except ValueError:
        return EMPTY


def _differences(before: api.ManagedCluster | None, after: api.ManagedCluster) -> set[str]:
    if before is None:
        return set()
    fields = {label_field(key) for key in _changed(before.labels, after.labels)}
    fields |= {claim_field(name) for name in _changed(before.claims, after.claims)}
    if before.taints != after.taints:
        fields.add(TAINTS)
    old, new = before.status, after.status
    for name in {*(old.allocatable or ()), *(new.allocatable or ()), *(old.capacity or ()), *(new.capacity or ())}:
        if _amount(old, name) != _amount(new, name):
            fields.add(resource_field(name))
    if (before.spec, old, before.metadata) != (after.spec, new, after.metadata):
        fields.add(ANYTHING)
    return fields


def _amount(status: api.ManagedClusterStatus, name: str) -> tuple[object, bool]:
    return (status.allocatable or {}).get(name), name in (status.capacity or {})


def _changed(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    return {key for key in {*before, *after} if before.get(key) != after.get(key)}
