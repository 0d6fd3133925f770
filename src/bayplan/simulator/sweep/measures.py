"""
The values of a row: what a run came to, as numbers.

``scenario_run`` calls ``values``.  Nothing here depends on how long a run took or where, so that equal runs give equal
rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev

from bayplan.objects.resources import CPU, MEMORY, Resources
from bayplan.simulator.pod_records import Record
from bayplan.simulator.report.simulation_report import STATES, state_of
from bayplan.simulator.sweep.sweep_file import Measure
from bayplan.simulator.traces.arranging import amount_of
from bayplan.simulator.world import World

Value = int | float | str | None

COUNTS = ("nodes", "pods", *(state.lower() for state in STATES), "gone", "nodesUsed", "elapsed")
BALANCED = (CPU, MEMORY)
LAST = ("stopped",)


def columns(resources: Sequence[str], measures: Iterable[str]) -> list[str]:
    """Their names, in order."""
    return [
        *COUNTS,
        *(f"allocated:{name}" for name in resources),
        *(f"deviation:{name}" for name in BALANCED),
        *measures,
        *LAST,
    ]


def values(world: World, stopped: str, resources: Sequence[str], measures: Mapping[str, Measure]) -> dict[str, Value]:
    """A value for each column: counts, shares in percent, and why the run ended too early."""
    records = list(world.cluster.records.values())
    states = Counter(state_of(world, record)[0] for record in records)
    nodes = world.scheduler.cache.nodes
    has = [nodes.object_at(row).allocatable for row in range(len(nodes))]
    taken = [_requested(world, row) for row in range(len(nodes))]
    row: dict[str, Value] = {
        "nodes": len(nodes),
        "pods": len(records),
        **{state.lower(): states.pop(state, 0) for state in STATES},
        "gone": states.total(),
        "nodesUsed": int((nodes.pods_count > 0).sum()),
        "elapsed": round(world.cluster.elapsed_s, 3),
    }
    for name in resources:
        row[f"allocated:{name}"] = _percent(sum(_of(taken, name)), sum(_of(has, name)))
    for name in BALANCED:
        row[f"deviation:{name}"] = _deviation([*_of(taken, name)], [*_of(has, name)])
    for name, measure in measures.items():
        capacity = sum(_of(has, measure.resource))
        row[name] = at_arrival(records, measure.resource, capacity, measure.atArrival)
    row["stopped"] = stopped
    return row


def at_arrival(records: Iterable[Record], resource: str, capacity: int, percent: int) -> float | None:
    """
    What was allocated, in percent of the capacity, when pods that ask for ``percent`` of it had come: the mean over all
    arrivals that round to it, or else of those at most one percent away.  None if there is none.
    """
    arrived = bound = 0
    found: list[float] = []
    near: list[float] = []
    for record in records:
        amount = amount_of(record.pod.requests, resource)
        arrived += amount
        bound += amount if record.pod.node_name else 0
        came = round(arrived * 100 / capacity) if capacity else -1
        if came == percent:
            found.append(bound * 100 / capacity)
        elif abs(came - percent) == 1:
            near.append(bound * 100 / capacity)
    return round(fmean(found or near), 4) if found or near else None


def _requested(world: World, row: int) -> Resources:
    nodes = world.scheduler.cache.nodes
    node = nodes.node(row)
    scalars = {name: node.scalar_req(name) for name in node.object.allocatable.scalars}
    return Resources(node.req_cpu_milli, node.req_mem_bytes, node.req_eph_bytes, 0, scalars)


def _of(amounts: Iterable[Resources], name: str) -> Iterator[int]:
    return (amount_of(each, name) for each in amounts)


def _percent(part: int, whole: int) -> float | None:
    return round(part * 100 / whole, 4) if whole else None


def _deviation(taken: Sequence[int], has: Sequence[int]) -> float | None:
    """How far nodes are from being equally full: the standard deviation of their shares, in percent."""
    shares = [part * 100 / whole for part, whole in zip(taken, has, strict=True) if whole]
    return round(pstdev(shares), 4) if shares else None
