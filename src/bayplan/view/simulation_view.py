"""What ``bayplan simulate`` shows of a world in the end: the cluster, the time line, moves and policies."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.report import rebalancing_report
from bayplan.simulator.world import World
from bayplan.view.documents import Document, Origin, fact, pod_facts, view
from bayplan.view.policies import moves_of, policies_of
from bayplan.view.timeline import timeline
from bayplan.view.world_view import world_view


def simulation_view(world: World, origin: Origin) -> Document:
    """The ``View`` of a simulation that came to its end."""
    cluster = world_view(world, command=f"{origin.command} --explain")
    told: dict[str, Any] = {"moves": [], "policies": []}
    if world.rebalancing is not None:
        told = rebalancing_report.document(world.rebalancing, world.workloads)
    facts = pod_facts(cluster["summary"])
    if world.cluster.elapsed_s:
        facts.append(fact("Virtual time", f"{world.cluster.elapsed_s:g} s"))
    return view(
        origin,
        facts=facts,
        clusters=[cluster],
        timeline=timeline(world),
        moves=moves_of(told["moves"]),
        policies=policies_of(told["policies"], world.scheduler),
    )
