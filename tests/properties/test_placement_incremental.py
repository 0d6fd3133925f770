"""
After every event the state has what a full recompute would give: a placement that was looked at decided as a state made
from nothing would, and one that was not looked at would decide the same again.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from bayplan.objects.meta import ApiObject, LabelSelector, ObjectMeta
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Taint, Toleration
from bayplan.placement.evaluation import NO_ROWS, Evaluation
from bayplan.placement.events import Applied, Deleted, Event, TimePassed
from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import compile_placement
from bayplan.placement.registry import SCORERS
from bayplan.placement.state import PlacementState
from tests.placement.fleet_building import NAMESPACE, bound_set, cluster, constraint, placement

EVENTS = 60
START = 1_000_000.0
TIME = "1970-01-12T13:46:{:02d}Z"
"""START, and some seconds."""


class World:
    """The objects that are there, and random events that change them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = START
        self.clusters = {f"c{number:02d}": self._cluster(f"c{number:02d}") for number in range(12)}
        self.sets: list[ApiObject] = [*bound_set("all"), *bound_set("more")]
        self.scores: dict[str, api.AddOnPlacementScore] = {}
        self.placements = {f"p{number}": self._placement(f"p{number}") for number in range(5)}

    def objects(self) -> list[ApiObject]:
        things: list[ApiObject] = [*self.clusters.values(), *self.sets, *self.scores.values()]
        self.random.shuffle(things)
        return things

    def event(self) -> Event:
        pick = self.random.random()
        name = f"c{self.random.randrange(16):02d}"
        if pick < 0.1 and name in self.clusters:
            return Deleted(self.clusters.pop(name))
        if pick < 0.65:
            self.clusters[name] = self._cluster(name)
            return Applied(self.clusters[name])
        if pick < 0.75 and self.clusters:
            score = self._score(self.random.choice(sorted(self.clusters)))
            self.scores[score.namespace] = score
            return Applied(score)
        if pick < 0.85:
            self.now += self.random.randrange(20)
            return TimePassed(self.now)
        wanted = f"p{self.random.randrange(6)}"
        if pick < 0.88 and wanted in self.placements:
            return Deleted(self.placements.pop(wanted))
        self.placements[wanted] = self._placement(wanted)
        return Applied(self.placements[wanted])

    def _cluster(self, name: str) -> api.ManagedCluster:
        pick = self.random
        labels = {"region": pick.choice("ab"), "zone": pick.choice("xyz"), "tier": pick.choice("12")}
        for key in list(labels):
            if pick.random() < 0.15:
                del labels[key]
        effects = (api.NO_SELECT, api.PREFER_NO_SELECT, api.NO_SELECT_IF_NEW)
        taints = tuple(
            Taint(key="t", effect=pick.choice(effects), time_added=TIME.format(40 + pick.randrange(20)))
            for _ in range(pick.choice((0, 0, 0, 1, 2)))
        )
        return cluster(
            name,
            labels,
            claims={"cloud": pick.choice("uv")},
            taints=taints,
            cpu=pick.choice((None, 4, 8, 16)),
            cluster_set=pick.choice(("all", "all", "more", "none")),
        )

    def _score(self, name: str) -> api.AddOnPlacementScore:
        until = self.random.choice((None, TIME.format(50)))
        items = (api.ScoreItem(name="s", value=self.random.randrange(-100, 101)),)
        return api.AddOnPlacementScore(
            metadata=ObjectMeta(name="addon", namespace=name),
            status=api.AddOnPlacementScoreStatus(scores=items, valid_until=until),
        )

    def _placement(self, name: str) -> api.Placement:
        pick = self.random
        weights = pick.choice((None, None, {"a": 2}))
        levels = [constraint("region", skew=pick.choice((1, 2)), hard=pick.random() < 0.5, weights=weights)]
        levels.append(constraint("zone", skew=pick.choice((1, 2)), hard=pick.random() < 0.5))
        tolerations = (Toleration(key="t", operator="Exists", toleration_seconds=pick.choice((None, 5, 15))),)
        coordinates = [
            api.ScoreCoordinate(built_in=each) for each in ("Balance", "Steady", "ResourceAllocatableCPU", "Spread")
        ]
        addon = api.AddOnCoordinate(resource_name="addon", score_name="s")
        coordinates.append(api.ScoreCoordinate(type=api.ADD_ON, add_on=addon))
        configurations = tuple(
            api.PrioritizerConfig(score_coordinate=each, weight=pick.choice((0, 1, 2))) for each in coordinates
        )
        selector = api.ClusterSelector(label_selector=LabelSelector(match_labels={"tier": "1"}))
        return placement(
            name,
            pick.choice((None, 0, 2, 4, 7)),
            *levels[: pick.choice((0, 1, 2, 2))],
            scope=pick.choice((api.NESTED, api.NESTED, api.FLAT)),
            max_moves=pick.choice((0, 0, 1, 3)),
            tolerations=tolerations if pick.random() < 0.6 else (),
            cluster_sets=pick.choice((None, ("all",))),
            predicates=(api.ClusterPredicate(required_cluster_selector=selector),) if pick.random() < 0.3 else None,
            prioritizer_policy=api.PrioritizerPolicy(configurations=configurations),
        )


def recomputed(
    world: World, wanted: api.Placement, has: tuple[str, ...], counts: Counter[str], now: float
) -> tuple[str, ...]:
    """What a state made from nothing decides, given what everybody had."""
    fleet = Fleet()
    state = PlacementState(now)
    state.fleet = fleet
    state.load(world.objects())
    evaluation = Evaluation(compile_placement(wanted, SCORERS), fleet)
    evaluation.adopt(has)
    for name, row in fleet.table.row_of.items():
        fleet.table.decisions[row] = counts[name] + bool(evaluation.chosen[row])
    evaluation.evaluate(now, NO_ROWS)
    return evaluation.names()


@pytest.mark.parametrize("seed", range(16))
def test_the_incremental_state_equals_a_full_recompute_after_every_event(seed: int) -> None:
    world = World(seed)
    state = PlacementState(world.now)
    state.load([*world.objects(), *world.placements.values()])
    has = {name: state.clusters(f"{NAMESPACE}/{name}") for name in world.placements}
    # They were decided in the order of names, so each saw those before it.
    seen = {name: others({each: has[each] for each in has if each < name}, name) for name in world.placements}
    for number in range(EVENTS):
        event = world.event()
        before = dict(has)
        state.handle(event)
        told = [key.partition("/")[2] for key in state.looked_at]
        running = {name: clusters for name, clusters in before.items() if name in world.placements}
        for name in told:
            alive = {each: tuple(c for c in clusters if c in world.clusters) for each, clusters in running.items()}
            seen[name] = others(alive, name)
            expected = recomputed(world, world.placements[name], before.get(name, ()), seen[name], world.now)
            got = state.clusters(f"{NAMESPACE}/{name}")
            assert got == expected, f"event {number} {event}: {name}"
            running[name] = got
        for name in world.placements:
            if name in told or state.evaluation(f"{NAMESPACE}/{name}").outcome.is_unsettled:
                continue
            got = state.clusters(f"{NAMESPACE}/{name}")
            again = recomputed(world, world.placements[name], got, seen[name], world.now)
            assert got == again, f"event {number} {event}: {name} was passed over"
            running[name] = got
        has = running


def others(has: dict[str, tuple[str, ...]], name: str) -> Counter[str]:
    return Counter(cluster for other, clusters in has.items() if other != name for cluster in clusters)
