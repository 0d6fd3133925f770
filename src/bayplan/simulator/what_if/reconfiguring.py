"""
Another scheduler takes over: the cluster stays as it is, and the new one reads it as after a restart.

``scenario`` does so for ``--with-config`` and ``--with-plugin``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from bayplan.engine.events import NodeAdded, PodAdded
from bayplan.simulator.cluster import added
from bayplan.simulator.loading import Given
from bayplan.simulator.rebalancer import Rebalancing
from bayplan.simulator.world import World, default_config, make_scheduler


def taken_over(world: World, given: Given, seed: int, warn: Callable[[str], None]) -> World:
    """The same cluster with a scheduler of ``given``'s configuration and plugins."""
    cluster, clock = world.cluster, world.clock
    living = cluster.living()
    config = given.config if given.config is not None else default_config(living)
    history = world.history
    scheduler = make_scheduler(given, config, cluster, clock, seed, warn, remember_classes=history is None)
    if history is not None:
        history.follow(scheduler.queue)
    happenings = [each for each in world.happenings if not isinstance(each, Rebalancing)]
    new = dataclasses.replace(world, scheduler=scheduler, happenings=happenings)
    cluster.events.clear()  # they were for the other; this one reads everything as it is now
    cluster.events.extend(added(each) for each in cluster.others())
    cluster.events.extend(NodeAdded(each) for each in world.workloads.nodes.values())
    cluster.events.extend(PodAdded(pod) for pod in sorted(living, key=lambda pod: not pod.node_name))
    new.deliver()
    return new
