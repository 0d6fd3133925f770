"""How long placement takes to think, in memory; what the API server adds is not in here.

``bayplan bench placement`` and ``benchmarks/bench_placement.py`` call these. A fleet has 20 regions of 5 zones, and
placements spread over both with hard constraints, with the default prioritizers and allocatable CPU.
"""

from __future__ import annotations

import random
import time
from typing import Any

from bayplan.objects.meta import ApiObject, ObjectMeta
from bayplan.objects.third_party import placement as api
from bayplan.objects.toleration import Taint
from bayplan.placement.events import Applied
from bayplan.placement.state import PlacementState

SET, NAMESPACE = "bench", "bench"
REGIONS, ZONES = 20, 5
Result = dict[str, Any]

_TAINT = Taint(key="bench", effect=api.NO_SELECT)


def cluster(number: int, *, is_tainted: bool = False) -> api.ManagedCluster:
    region, zone = number % REGIONS, number // REGIONS % ZONES
    amounts: dict[str, str | int | float] = {"cpu": str(100 + number % 97), "memory": "512Gi"}
    labels = {api.SET_LABEL: SET, "region": f"r{region}", "zone": f"r{region}-z{zone}"}
    return api.ManagedCluster(
        metadata=ObjectMeta(name=f"cluster-{number:05d}", labels=labels),
        spec=api.ManagedClusterSpec(taints=(_TAINT,) if is_tainted else None),
        status=api.ManagedClusterStatus(allocatable=amounts, capacity=amounts),
    )


def placement(number: int, wanted: int) -> api.Placement:
    constraints = tuple(
        api.SpreadConstraint(topology_key=key, topology_key_type=api.LABEL, when_unsatisfiable=api.DO_NOT_SCHEDULE)
        for key in ("region", "zone")
    )
    cpu = api.ScoreCoordinate(built_in="ResourceAllocatableCPU")
    return api.Placement(
        metadata=ObjectMeta(name=f"p{number:05d}", namespace=NAMESPACE),
        spec=api.PlacementSpec(
            number_of_clusters=wanted,
            prioritizer_policy=api.PrioritizerPolicy(configurations=(api.PrioritizerConfig(score_coordinate=cpu),)),
            spread_policy=api.SpreadPolicy(spread_constraints=constraints),
        ),
    )


def access() -> list[ApiObject]:
    """A set, and a namespace that may use it."""
    binding = api.ManagedClusterSetBindingSpec(cluster_set=SET)
    return [
        api.ManagedClusterSet(metadata=ObjectMeta(name=SET)),
        api.ManagedClusterSetBinding(metadata=ObjectMeta(name=SET, namespace=NAMESPACE), spec=binding),
    ]


def fleet(clusters: int) -> PlacementState:
    """A state with this many clusters, in one set that one namespace may use."""
    state = PlacementState()
    state.load([*access(), *(cluster(number) for number in range(clusters))])
    return state


def cold(clusters: int, wanted: int, rounds: int = 10) -> Result:
    """A placement arrives at a fleet that is known: the time until it is decided, the middle of some rounds."""
    state = fleet(clusters)
    state.handle(Applied(placement(0, wanted)))
    times = []
    for number in range(1, rounds + 1):
        watch = _Watch()
        state.handle(Applied(placement(number, wanted)))
        times.append(watch.read())
    return _result("cold", clusters, 1, wanted, sorted(times)[len(times) // 2])


def change(clusters: int, wanted: int, placements: int = 20, rounds: int = 40, tries: int = 7) -> Result:
    """One cluster after the other gets a taint, every second one a chosen one: the time per placement decided again.

    As many again come before, unmeasured, so that every placement has been looked at since the start. The same story is
    told several times, and of each event the fastest time counts: the machine may be shared.
    """
    told = [_changes(clusters, wanted, placements, rounds) for _ in range(tries)]
    decided = sum(number for _, number in told[0])
    walls, cpus = (sum(min(each[kind] for each, _ in same) for same in zip(*told, strict=True)) for kind in (0, 1))
    result = _result("change", clusters, placements, wanted, (walls / decided, cpus / decided))
    return result | {"lookedAt": decided}


def _changes(clusters: int, wanted: int, placements: int, rounds: int) -> list[tuple[tuple[float, float], int]]:
    """What every event took, and how many placements it made decide again."""
    state = fleet(clusters)
    state.load(placement(number, wanted) for number in range(placements))
    pick = random.Random(0)
    spent = []
    for number in range(2 * rounds):
        row = pick.randrange(clusters)
        if number % 2:
            row = int(pick.choice(state.clusters(f"{NAMESPACE}/p00000")).removeprefix("cluster-"))
        event = Applied(cluster(row, is_tainted=True))
        watch = _Watch()
        state.handle(event)
        spent.append((watch.read(), len(state.looked_at)))
    return spent[rounds:]


def storm(clusters: int, placements: int, wanted: int = 100) -> Result:
    """Start with many placements, then one cluster that many of them have goes: the time until all are decided."""
    state = fleet(clusters)
    wants = [placement(number, wanted) for number in range(placements)]
    watch = _Watch()
    state.load(wants)
    start, start_cpu = watch.read()
    busiest = max(
        state.fleet.table.row_of, key=lambda name: state.fleet.table.decisions[state.fleet.table.row_of[name]]
    )
    event = Applied(cluster(int(busiest.removeprefix("cluster-")), is_tainted=True))
    watch = _Watch()
    state.handle(event)
    result = _result("storm", clusters, placements, wanted, watch.read())
    started = {"startMilliseconds": round(start * 1000, 1), "startCpuMilliseconds": round(start_cpu * 1000, 1)}
    return result | started | {"lookedAt": len(state.looked_at)}


def measure() -> list[Result]:
    """The figures that are promised."""
    return [cold(5000, 500), change(5000, 500), storm(1000, 1000)]


class _Watch:
    """Wall and processor time from here on; on a busy machine they differ."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._cpu


def _result(name: str, clusters: int, placements: int, wanted: int, spent: tuple[float, float]) -> Result:
    return {
        "workload": f"placement-{name}",
        "clusters": clusters,
        "placements": placements,
        "chosen": wanted,
        "milliseconds": round(spent[0] * 1000, 3),
        "cpuMilliseconds": round(spent[1] * 1000, 3),
    }
