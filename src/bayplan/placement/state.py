"""PlacementState: all placements of a hub, kept decided while events arrive.

The hub controller and `bayplan place` drive it: `load` what is there, then `handle` one event after the other. An event
touches only the placements that read what it changed. Nothing here knows the network or the clock; times come in with
events, and `next_at` says when the state wants to hear of the time again.

Decisions are taken as made: they count for other placements at once. PlacementDecision objects matter only until their
placement is first decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party import placement as api
from bayplan.placement import own_plugins
from bayplan.placement.evaluation import NO_ROWS, Evaluation
from bayplan.placement.events import Applied, Deleted, Event, PlacementChange, TimePassed
from bayplan.placement.filter_cache import FilterCache
from bayplan.placement.fleet import NOTHING, Fleet, FleetChange
from bayplan.placement.own_plugins import OwnPlugins
from bayplan.placement.plan import Plan, compile_placement
from bayplan.placement.registry import SCORERS
from bayplan.placement.table import FOREVER, Numbers


class PlacementState:
    """All placements of a hub, kept decided."""

    def __init__(
        self,
        now: float = 0.0,
        on_decided: Callable[[str], None] = lambda key: None,
        plugins: OwnPlugins = own_plugins.NONE,
    ) -> None:
        self.now = now
        self._plugins = plugins
        self._on_decided = on_decided
        self.fleet = Fleet()
        self._sieve = FilterCache(self.fleet)
        self._evaluations: dict[str, Evaluation] = {}
        self._readers: dict[str, set[str]] = {}
        self._seeds: dict[str, dict[str, tuple[str, ...]]] = {}
        self._lost: dict[str, tuple[str, ...]] = {}
        self.looked_at: list[str] = []
        """The placements the last event made us look at, in that order."""

    # -- what others ask --

    def placements(self) -> list[str]:
        return sorted(self._evaluations)

    def evaluation(self, key: str) -> Evaluation:
        return self._evaluations[key]

    def clusters(self, key: str) -> tuple[str, ...]:
        """The clusters a placement has."""
        return self._evaluations[key].names()

    @property
    def unsettled(self) -> set[str]:
        """Placements with moves that a budget held back."""
        return {key for key, each in self._evaluations.items() if each.outcome.is_unsettled}

    @property
    def next_at(self) -> float:
        """When some answer is no longer valid: send TimePassed then."""
        return min((each.until for each in self._evaluations.values()), default=FOREVER)

    # -- what happens --

    def load(self, objects: Iterable[ApiObject]) -> list[PlacementChange]:
        """Many objects at once, then every placement decided once, in the order of names."""
        # Placements last, so that they are not looked at for every cluster.
        return self.handle_all(
            Applied(each) for each in sorted(objects, key=lambda each: isinstance(each, api.Placement))
        )

    def handle(self, event: Event) -> list[PlacementChange]:
        """One event; the placements that are different for it."""
        return self.decide(self._note(event))

    def handle_all(self, events: Iterable[Event]) -> list[PlacementChange]:
        """Several events that happened together; every placement is decided at most once."""
        return self.decide(self.note(events))

    def note(self, events: Iterable[Event]) -> set[str]:
        """Take events in without deciding; the placements that `decide` must then be given, all of them.

        For whoever must not be busy for long at a time.
        """
        keys: set[str] = set()
        for event in events:
            keys |= self._note(event)
        return keys

    def _note(self, event: Event) -> set[str]:
        """Take an event in; the placements that must be looked at."""
        if isinstance(event, TimePassed):
            self.now = event.now
            return {key for key, each in self._evaluations.items() if each.until <= event.now}
        thing = event.thing
        if isinstance(thing, api.Placement):
            return self._take(thing) if isinstance(event, Applied) else self._drop(thing)
        return self._affected(self._apply(thing) if isinstance(event, Applied) else self._remove(event))

    def settle(self) -> list[PlacementChange]:
        """Go on with moves that a budget held back."""
        return self.decide(self.unsettled)

    # -- objects --

    def _apply(self, thing: ApiObject) -> FleetChange:
        match thing:
            case api.ManagedCluster():
                return self.fleet.apply_cluster(thing)
            case api.ManagedClusterSet():
                return self.fleet.apply_set(thing)
            case api.ManagedClusterSetBinding():
                return self.fleet.apply_binding(thing)
            case api.AddOnPlacementScore():
                return self.fleet.apply_score(thing)
            case api.PlacementDecision() if thing.placement not in self._evaluations:
                self._seeds.setdefault(thing.placement, {})[thing.name] = thing.clusters
        return NOTHING

    def _remove(self, event: Deleted) -> FleetChange:
        match event.thing:
            case api.ManagedCluster() as cluster:
                row = self.fleet.table.row_of.get(cluster.name)
                for key, each in self._evaluations.items():
                    if row is not None and row < len(each.chosen) and each.chosen[row]:
                        each.forget(row)
                        self._lost[key] = (*self._lost.get(key, ()), cluster.name)
                return self.fleet.remove_cluster(cluster.name)
            case api.ManagedClusterSet() as cluster_set:
                return self.fleet.remove_set(cluster_set.name)
            case api.ManagedClusterSetBinding() as binding:
                return self.fleet.apply_binding(binding, is_gone=True)
            case api.AddOnPlacementScore() as score:
                return self.fleet.apply_score(score, is_gone=True)
            case api.PlacementDecision() as decision:
                self._seeds.get(decision.placement, {}).pop(decision.name, None)
        return NOTHING

    def _take(self, placement: api.Placement) -> set[str]:
        key = placement.key
        known = self._evaluations.get(key)
        if known is not None and _reads_the_same(known.plan.placement, placement):
            return set()
        plan = compile_placement(placement, SCORERS, self._plugins)
        evaluation = Evaluation(plan, self.fleet, self._sieve)
        if known is not None:
            self._unindex(known.plan)
            evaluation.inherit(known)
        self._evaluations[key] = evaluation
        evaluation.adopt(tuple(name for names in self._seeds.pop(key, {}).values() for name in names))
        for field in plan.fields:
            self._readers.setdefault(field, set()).add(key)
        return {key}

    def _drop(self, placement: api.Placement) -> set[str]:
        known = self._evaluations.pop(placement.key, None)
        self._lost.pop(placement.key, None)
        if known is not None:
            self._unindex(known.plan)
            known.release()
        return set()

    def _unindex(self, plan: Plan) -> None:
        for field in plan.fields:
            self._readers[field].discard(plan.key)

    # -- who must be looked at, and looking --

    def _affected(self, change: FleetChange) -> set[str]:
        if change.is_wide:
            keys = {key for key, each in self._evaluations.items() if each.plan.namespace in change.namespaces}
            for key in keys:
                self._evaluations[key].touch_all()
            return keys
        keys = set()
        for field in change.fields:
            keys |= self._readers.get(field, set())
        found = set()
        for key in keys:
            evaluation = self._evaluations[key]
            if not evaluation.sets.isdisjoint(change.sets) and evaluation.touch(change.rows, change.fields, self.now):
                found.add(key)
        return found | self._lost.keys()

    def decide(self, keys: Iterable[str]) -> list[PlacementChange]:
        """Decide these placements in the order of their names; those that are different now."""
        self.looked_at = []
        changes: list[PlacementChange] = []
        for key in sorted(keys):
            evaluation = self._evaluations.get(key)
            if evaluation is None:
                continue
            plan = evaluation.plan
            lost = self._lost.pop(key, ())
            if plan.is_misconfigured or plan.placement.is_disabled or plan.placement.is_terminating:
                # The last good decision stays; the condition says why.
                changes.append(PlacementChange(key))
                self._on_decided(key)
                continue
            self.looked_at.append(key)
            if evaluation.evaluate(self.now, self.others(plan)) or lost:
                changes.append(self._change(key, evaluation, lost))
            self._on_decided(key)
        return changes

    def _change(self, key: str, evaluation: Evaluation, lost: tuple[str, ...]) -> PlacementChange:
        came: list[str] = []
        went = [*lost]
        for row in evaluation.flipped.tolist():
            (came if evaluation.chosen[row] else went).append(self.fleet.table.name(row))
        return PlacementChange(key, tuple(sorted(came)), tuple(sorted(went)))

    def others(self, plan: Plan) -> Numbers:
        """What the other placements of the spread group have."""
        if plan.group is None:
            return NO_ROWS
        rows = [
            np.flatnonzero(each.chosen)
            for key, each in self._evaluations.items()
            if key != plan.key
            and each.plan.namespace == plan.namespace
            and plan.group.matches(each.plan.placement.labels)
        ]
        return np.concatenate(rows) if rows else NO_ROWS


def _reads_the_same(before: api.Placement, after: api.Placement) -> bool:
    return (
        before.spec == after.spec
        and before.annotations == after.annotations
        and before.labels == after.labels
        and before.is_terminating == after.is_terminating
    )
